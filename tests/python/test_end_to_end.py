"""The whole path that a scientist takes, on the command line and in Python: a dated CSV with gaps → posterior → summary, loo, predictive
plot, forecast, report."""

import json

import numpy as np
import pytest

arviz = pytest.importorskip("arviz")
catena_package = pytest.importorskip("catena", reason="the Python package is not built")
QUIET = {"show_progress_bars": False}
pytestmark = pytest.mark.filterwarnings("ignore:Estimated shape parameter")


@pytest.fixture(scope="module")
def folder(catena, tmp_path_factory):
    """A series of 30 months, five of which are missing, and a model that steps over gaps."""
    folder = tmp_path_factory.mktemp("path")
    rng = np.random.default_rng(4)
    walk = np.cumsum(np.r_[0.0, 0.3 + rng.standard_normal(29)])
    months = np.arange("2001-01", "2003-07", dtype="datetime64[M]")
    lines = [f"{month}-01,{value:.3f}" for i, (month, value) in enumerate(zip(months, walk, strict=True)) if i not in (4, 5, 11, 12, 20)]
    (folder / "series.csv").write_text("date,x_1\n" + "\n".join(lines) + "\n")

    def run(*arguments):
        result = catena(*arguments, cwd=folder)
        assert result.returncode == 0, result.stderr
        return result

    run("simulate", "gaussian_rw", "--budget", "6000", "--gaps", "1..4", "--seed", "1", "-o", "transitions.nc")
    run("train", "transitions.nc", "--steps", "400", "-o", "model.safetensors")
    run("sample", "model.safetensors", "--observation", "series.csv", "--time-unit", "month", "-n", "400", "-o", "posterior.nc")
    run("predict", "posterior.nc", "-n", "100", "--horizon", "6", "-o", "predictive.nc")
    return folder


def test_the_unit_must_be_said(catena, folder):
    result = catena("sample", "model.safetensors", "--observation", "series.csv", "-o", "p.nc", cwd=folder)
    assert result.returncode == 2 and "(--time-unit)" in result.stderr


def test_the_command_line_goes_all_the_way(catena, folder):
    data = arviz.from_netcdf(folder / "posterior.nc")
    times = data.observed_data["time"].values
    assert times[0] == np.datetime64("2001-01-01") and times[-1] == np.datetime64("2003-06-01") and len(times) == 25
    assert data.posterior.sizes["chain"] > 1 and float(arviz.rhat(data)["theta_1"]) < 1.1
    loo = arviz.loo(data)
    assert np.isfinite(loo.elpd_loo) and loo.n_data_points == 24

    made = arviz.from_netcdf(folder / "predictive.nc")
    assert list(made.predictions["time"].values.astype("datetime64[D]").astype(str)) == [f"2003-{m:02}-01" for m in range(7, 13)]
    assert made.posterior_predictive["one_step"].shape == (1, 100, 25, 1)

    files = ["model.safetensors", "posterior.nc", "predictive.nc", "series.csv"]
    result = catena("report", *files, "--label", "theta_1=drift (1/month)", "--interval", "0.8", "-o", "report.html", "--json", cwd=folder)
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert "series" in report["figures"] and "one_step" in report["figures"]
    assert {"q10", "q90", "r_hat"} <= set(report["parameters"][0]) and report["parameters"][0]["name"] == "drift (1/month)"
    page = (folder / "report.html").read_text()
    assert "drift (1/month)" in page and '"temporal"' in page and "forecast, median and 80 %" in page

    result = catena("calibrate", "model.safetensors", "gaussian_rw", "--observation", "series.csv", "--time-unit", "month", "--series", "10",
                    "--draws", "20", "-o", "calibration.nc", cwd=folder)
    assert result.returncode == 0, result.stderr


def test_python_goes_the_same_way(folder):
    import pandas as pd

    estimator = catena_package.load(folder / "model.safetensors")
    table = pd.read_csv(folder / "series.csv", parse_dates=["date"])
    posterior = estimator.build_posterior(time_unit="month")
    theta = posterior.sample((400,), x=table, **QUIET)
    np.testing.assert_array_equal(theta, catena_package.Draws.load(folder / "posterior.nc").theta)  # the same bits

    summary = posterior.summary()
    assert summary.loc["theta_1", "q5"] < summary.loc["theta_1", "mean"] < summary.loc["theta_1", "q95"]
    predictive = posterior.predict(n=100, horizon=6, **QUIET)
    made = arviz.from_netcdf(folder / "predictive.nc")
    np.testing.assert_array_equal(predictive.forecast, made.predictions["series"].values[0])
    assert predictive.bands("forecast").index[0] == pd.Timestamp("2003-07-01")
    predictive.plot().save(folder / "predictive.svg")
    assert (folder / "predictive.svg").read_text().startswith("<svg")

    data = posterior.to_arviz()
    assert {"posterior", "log_likelihood", "sample_stats", "prior", "posterior_predictive", "predictions", "observed_data"} <= set(data.groups())
    assert arviz.loo(data).elpd_loo == pytest.approx(arviz.loo(arviz.from_netcdf(folder / "posterior.nc")).elpd_loo)


def test_the_page_of_python_is_that_of_the_command_line(catena, folder):
    files = ["model.safetensors", "posterior.nc", "predictive.nc"]
    assert catena("report", *files, "-o", "theirs.html", cwd=folder).returncode == 0
    estimator = catena_package.load(folder / "model.safetensors")
    import pandas as pd

    posterior = estimator.build_posterior(time_unit="month")
    posterior.sample((400,), x=pd.read_csv(folder / "series.csv", parse_dates=["date"]), **QUIET)
    posterior.predict(n=100, horizon=6, **QUIET)
    posterior.plot().save(folder / "mine.html")

    def told(name):
        page = (folder / name).read_text()
        head, tail = page.split("<h2>What to know</h2>", 1)[1].split("</section>", 1)
        return head, page.split("<h2>In numbers</h2>", 1)[1].split("</section>", 1)[0]

    mine, theirs = told("mine.html"), told("theirs.html")
    assert mine[1] == theirs[1]
    assert mine[0] == theirs[0]
