"""From a series to its exact posterior to a comparison, as a user runs it; and the file as ArviZ sees it."""

import json

import arviz
import pytest


def run(catena, *arguments):
    result = catena(*arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def posterior(catena, tmp_path_factory):
    folder = tmp_path_factory.mktemp("reference")
    series = folder / "s.csv"
    run(catena, "observe", "lotka_volterra", "--transitions", "10", "--seed", "7", "-o", series)
    for seed in (1, 2):
        run(catena, "reference", "lotka_volterra", "--observation", series, "-n", "1000", "--seed", str(seed),
             "-o", folder / f"{seed}.nc", "--no-cache")
    return folder


def test_arviz_opens_a_reference(posterior):
    data = arviz.from_netcdf(posterior / "1.nc")
    assert data.posterior.sizes["chain"] * data.posterior.sizes["draw"] == 1000
    assert list(data.posterior.data_vars) == ["alpha", "beta", "gamma", "delta"]
    assert data.posterior.attrs["inference_library"] == "catena"
    assert data.observed_data.sizes
    # The prior's deviation is 0.42, and ten transitions narrow alpha down.
    assert 0.05 < float(data.posterior["alpha"].std()) < 0.38


def test_two_references_of_one_series_agree(catena, posterior):
    printed = run(catena, "evaluate", posterior / "1.nc", posterior / "2.nc", "--json", "--quiet")
    scores = json.loads(printed)
    assert set(scores) >= {"c2st", "c2st_mlp", "sw1", "sw1_normalised", "mmd", "mean_difference", "log_sd_ratio"}
    # 0.5 with a standard error of 0.011: 4.5 of them, a false alarm in 150,000.
    assert abs(scores["c2st"] - 0.5) < 0.05
    assert max(abs(v) for v in scores["mean_difference"].values()) < 0.2


def test_a_posterior_against_another_series_is_told_apart(catena, posterior):
    series = posterior / "other.csv"
    run(catena, "observe", "lotka_volterra", "--transitions", "100", "--seed", "8", "-o", series)
    run(catena, "reference", "lotka_volterra", "--observation", series, "-n", "1000", "-o", posterior / "3.nc",
                    "--no-cache")
    printed = run(catena, "evaluate", posterior / "1.nc", posterior / "3.nc", "--metrics", "c2st", "--json")
    assert json.loads(printed)["c2st"] > 0.7


def test_a_posterior_far_narrower_than_the_prior_starts_from_a_fit(catena, tmp_path):
    task = ["kolmogorov_flow", "--grid", "32", "--inner-steps", "20"]
    run(catena, "observe", *task, "--transitions", "3", "--theta", "0.4,150", "--seed", "7", "-o", tmp_path / "s.csv")
    printed = run(catena, "reference", *task, "--observation", tmp_path / "s.csv", "-n", "500", "--round", "64", "--no-cache",
                  "--json", "--quiet", "-o", tmp_path / "r.nc")
    report = json.loads(printed)
    assert (report["outcome"], report["method"], report["start"]) == ("ok", "mcmc", "least squares")
    posterior = arviz.from_netcdf(tmp_path / "r.nc").posterior
    # z of the density has a deviation of about 0.005; five of them, and the truth inside, a false alarm of 1e-6.
    for name, truth in (("density", 0.4), ("reynolds", 150)):
        draws = posterior[name].values
        assert abs(draws.mean() - truth) < 5 * draws.std()
    assert posterior["density"].values.std() < 0.01
