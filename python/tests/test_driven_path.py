"""The whole path of a user with field data: a dated CSV with gaps and covariates becomes a posterior, a summary, a
comparison of models, a predictive picture, a forecast and a report, in Python and on the command line."""

import json

import catena
import numpy as np
import pandas as pd
import pytest
from drift_walk import QUIET

DAYS = 80
TRUTH = (0.6, 0.4)


def step(theta, x, u, rng):
    """Log abundance with a return to its mean, which temperature and fishing effort shift."""
    temperature, effort = u[:, :1], u[:, 1:]
    return 0.7 * x + 0.5 + theta[:, :1] * temperature - theta[:, 1:] * effort + 0.2 * rng.standard_normal(x.shape)


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    """A file as a field station keeps it: a row a day, the last week without counts, and some days missed."""
    rng = np.random.default_rng(4)
    days = np.arange(DAYS)
    table = pd.DataFrame({
        "date": pd.date_range("2021-04-01", periods=DAYS, freq="D").date,
        "temperature": np.round(np.sin(days / 8) + 0.3 * rng.standard_normal(DAYS), 2),
        "effort": np.round(rng.uniform(0, 2, DAYS), 2),
    })  # fmt: skip
    x, rows = np.array([[1.5]]), []
    for u in table[["temperature", "effort"]].to_numpy():
        rows.append(x[0, 0])
        x = step(np.array([TRUTH]), x, u[None, :], rng)
    table["log_abundance"] = np.round(rows, 3)
    table.loc[[20, 21, 47], "log_abundance"] = np.nan  # the boat did not go out
    table.loc[DAYS - 7 :, "log_abundance"] = np.nan  # not yet; the weather forecast is there
    path = tmp_path_factory.mktemp("survey") / "survey.csv"
    table.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def estimator(survey):
    table = pd.read_csv(survey, parse_dates=["date"])
    prior = catena.priors.Independent({"warming": catena.priors.Normal(0, 1), "catch": catena.priors.HalfNormal(1)})
    data = catena.simulate(
        step, prior, initial_state=[1.5], state_names=["log_abundance"], budget=8000, seed=1,
        covariates=table[["temperature", "effort"]], proposal=catena.proposals.Predictive(series=30, length=70), **QUIET,
    )  # fmt: skip
    quick = {"density": "gaussian", "width": 24, "layers": 2, "decay": 0.1}
    return catena.FNLE(**quick).append_simulations(data).train(steps=1200, seed=2, **QUIET)


def test_from_a_dated_table_to_a_report_in_python(estimator, survey, tmp_path):
    arviz = pytest.importorskip("arviz")
    table = pd.read_csv(survey, parse_dates=["date"])
    posterior = estimator.build_posterior(cut_gaps=True)
    theta = posterior.sample((1000,), x=table, seed=1, **QUIET)
    # 70 transitions, of which five begin or end in a gap; the truth within four deviations of each posterior.
    assert posterior.draws.info["transitions"] == DAYS - 7 - 1 - 5
    assert np.all(np.abs(theta.mean(0) - TRUTH) < 4 * theta.std(0)) and np.all(theta.std(0) < 0.1)
    summary = posterior.summary()
    assert (summary["r_hat"] < 1.05).all() and list(summary.index) == ["warming", "catch"]

    predictive = posterior.predict(step, 100, horizon=7, seed=1, **QUIET)
    assert predictive.forecast.shape == (100, 7, 1)
    assert str(predictive.times_ahead[0])[:10] == "2021-06-13" and str(predictive.times_ahead[-1])[:10] == "2021-06-19"
    bands = predictive.bands("forecast", interval=0.9)
    assert (bands["log_abundance_low"] < bands["log_abundance_high"]).all()
    assert predictive.plot().names == ["series", "one_step"]

    inference = posterior.to_arviz()
    assert {"posterior", "constant_data", "posterior_predictive", "predictions", "log_likelihood"} <= set(inference.groups())
    assert list(inference.constant_data["covariate"].values) == ["temperature", "effort"]
    assert inference.constant_data["covariates"].shape == (DAYS, 2)
    loo = arviz.loo(inference, var_name="transitions")
    assert np.isfinite(loo.elpd_loo) and loo.n_data_points == DAYS - 7 - 1 - 5

    posterior.draws.save(tmp_path / "posterior.nc")
    again = catena.Draws.load(tmp_path / "posterior.nc")
    np.testing.assert_array_equal(again.series[0].covariates, table[["temperature", "effort"]])
    page = tmp_path / "report.html"
    posterior.plot(truth=[TRUTH]).save(page)
    text = page.read_text(encoding="utf-8")
    first = int(pd.Timestamp("2021-04-01", tz="UTC").timestamp() * 1000)  # as figures have dates
    assert "warming" in text and str(first) in text and "temperature" in text


def test_the_command_line_goes_the_same_way(estimator, survey, run_program, tmp_path):
    estimator.save(tmp_path / "model.safetensors")
    run_program(
        "sample", tmp_path / "model.safetensors", "--observation", survey, "--cut-gaps", "-n", 500, "--seed", 1, "-o",
        tmp_path / "posterior.nc",
    )  # fmt: skip
    mine = estimator.build_posterior(cut_gaps=True)
    theta = mine.sample((500,), x=pd.read_csv(survey, parse_dates=["date"]), seed=1, **QUIET)
    draws = catena.Draws.load(tmp_path / "posterior.nc")
    np.testing.assert_array_equal(draws.theta, theta)
    assert draws.covariate_names == ["temperature", "effort"]
    run_program(
        "predict", tmp_path / "posterior.nc", "--model", tmp_path / "model.safetensors", "--horizon", 7, "-n", 50, "-o",
        tmp_path / "predictive.nc",
    )  # fmt: skip
    report = run_program(
        "report", tmp_path / "model.safetensors", tmp_path / "posterior.nc", tmp_path / "predictive.nc", survey, "-o",
        tmp_path / "report.html", "--json",
    )  # fmt: skip
    assert json.loads(report.stdout)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "another series" not in text and "temperature" in text
