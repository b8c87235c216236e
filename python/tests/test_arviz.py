"""Draws in ArviZ: the chains as they ran, what leave-one-out needs, and the numbers of a summary."""

import arviz
import catena
import numpy as np
import pytest
from drift_walk import QUIET


@pytest.fixture(scope="module")
def posterior(fnle, series):
    posterior = fnle.build_posterior().set_default_x(series)
    posterior.sample((1000,), seed=1, **QUIET)
    return posterior


def test_chains_are_those_that_ran(posterior):
    data = posterior.to_arviz()
    assert data.posterior.sizes == {"chain": 25, "draw": 40}  # as many of 32 as divide 1000
    assert float(arviz.rhat(data)["drift"]) < 1.05
    assert float(arviz.ess(data)["drift"]) > 400
    np.testing.assert_array_equal(data.posterior["drift"].values.ravel(), posterior.draws.theta[:, 0])


def test_a_chain_that_is_apart_shows_in_r_hat(posterior):
    draws = posterior.draws
    shifted = draws.theta.copy().reshape(draws.chains, -1)
    shifted[0] += 5
    apart = catena.Draws(shifted.reshape(-1, 1), draws.parameters, draws.series, draws.state_names, draws.chains)
    assert float(arviz.rhat(apart.to_arviz())["drift"]) > 1.1
    assert apart.summary().loc["drift", "r_hat"] > 1.1


def test_a_prime_number_of_draws_is_one_chain(fnle, series):
    posterior = fnle.build_posterior()
    assert posterior.sample((101,), x=series, **QUIET).shape == (101, 1)
    assert posterior.draws.chains == 1


def test_log_likelihoods_add_up_to_the_log_density(posterior, prior):
    draws = posterior.draws
    transitions = draws.groups["log_likelihood"]
    assert transitions.shape == (1000, 6)
    whole = posterior.log_prob(draws.theta)
    np.testing.assert_allclose(transitions.sum(axis=1) + prior.log_prob(draws.theta), whole, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(draws.groups["log_density"], whole, rtol=1e-6)
    np.testing.assert_array_equal(posterior.log_likelihood(draws.theta[:5]), transitions[:5])


@pytest.mark.filterwarnings("ignore:Estimated shape parameter")  # of six transitions, one may be telling
@pytest.mark.filterwarnings("ignore:The inplace keyword")  # ArviZ's own
def test_loo_and_compare_work(posterior, prior, transitions, series):
    data = posterior.to_arviz()
    loo = arviz.loo(data)
    # Each transition is a normal of variance 1/4 (tests/drift_walk): its expected log density is about −0.7.
    assert -2 < loo.elpd_loo / 6 < 0
    other = catena.FNLE(prior, density="gaussian").append_simulations(transitions).train(steps=200, seed=3, **QUIET)
    second = other.build_posterior()
    second.sample((1000,), x=series, **QUIET)
    table = arviz.compare({"nsf": data, "gaussian": second.to_arviz()})
    assert sorted(table.index) == ["gaussian", "nsf"]
    assert abs(table["elpd_loo"].diff().iloc[1]) < 2


@pytest.mark.filterwarnings("ignore:Estimated shape parameter")
def test_groups_survive_the_file(posterior, tmp_path):
    posterior.draws.save(tmp_path / "posterior.nc")
    read = arviz.from_netcdf(tmp_path / "posterior.nc")
    assert {"posterior", "observed_data", "log_likelihood", "sample_stats", "prior"} <= set(read.groups())
    assert arviz.loo(read).elpd_loo == pytest.approx(arviz.loo(posterior.to_arviz()).elpd_loo)
    again = catena.Draws.load(tmp_path / "posterior.nc")
    assert again.chains == 25
    for name, values in posterior.draws.groups.items():
        np.testing.assert_array_equal(again.groups[name], values)
    np.testing.assert_array_equal(again.health, posterior.draws.health)


@pytest.mark.filterwarnings("ignore:Estimated shape parameter")
def test_the_command_line_writes_the_same_groups(run_program, tmp_path, fnle, series):
    fnle.save(tmp_path / "model.safetensors")
    np.savetxt(tmp_path / "series.csv", series, header="x_1", comments="")
    model, observed = tmp_path / "model.safetensors", tmp_path / "series.csv"
    run_program("sample", model, "--observation", observed, "-n", "500", "-o", tmp_path / "p.nc")
    read = arviz.from_netcdf(tmp_path / "p.nc")
    assert read.posterior.sizes == {"chain": 20, "draw": 25}
    draws = catena.Draws.load(tmp_path / "p.nc")
    np.testing.assert_allclose(draws.groups["log_density"], fnle.build_posterior().log_prob(draws.theta, x=series), rtol=1e-6)
    assert np.isfinite(arviz.loo(read).elpd_loo)
    assert abs(float(read.prior["drift"].mean())) < 0.25  # of 500 standard normals: 5 standard deviations


def test_scores_have_neither_density_nor_chains(fnse, series):
    posterior = fnse.build_posterior()
    posterior.sample((100,), x=series, steps=20, **QUIET)
    data = posterior.to_arviz()
    assert "log_likelihood" not in data.groups() and "prior" in data.groups()
    assert data.posterior.sizes == {"chain": 1, "draw": 100}
    assert np.isfinite(posterior.summary()["r_hat"]).all()
    with pytest.raises(ValueError, match="the method is fnse, but must be fnle"):
        posterior.log_likelihood([[0.0]], x=series)


def test_a_summary_has_means_intervals_and_health(posterior):
    table = posterior.summary(interval=0.8)
    theta = posterior.draws.theta[:, 0]
    row = table.loc["drift"]
    assert row["mean"] == pytest.approx(theta.mean()) and row["sd"] == pytest.approx(theta.std(ddof=1))
    assert (row["q10"], row["q90"]) == pytest.approx(tuple(np.quantile(theta, [0.1, 0.9])))
    assert row["r_hat"] < 1.01 and row["ess_bulk"] > 400
    with pytest.raises(ValueError, match="interval is 1.5, but must be between 0 and 1"):
        posterior.summary(1.5)


def test_draws_pickle_with_their_groups(posterior):
    import pickle

    again = pickle.loads(pickle.dumps(posterior.draws))
    np.testing.assert_array_equal(again.groups["log_likelihood"], posterior.draws.groups["log_likelihood"])
