"""From transitions to draws: what is learned, what is kept, and that seeds and threads do what they should."""

import pickle

import catena
import numpy as np
import pytest
import scipy.stats
from drift_walk import NOISE, QUIET, exact_drift


@pytest.mark.parametrize("method", ["fnle", "fnse", "fnbe"])
def test_the_posterior_is_near_the_exact_one(method, series, request):
    posterior = request.getfixturevalue(method).build_posterior()
    theta = posterior.sample((1000,), x=series, seed=4, **QUIET)
    mean, deviation = exact_drift(series)
    assert theta.shape == (1000, 1)
    # A network of 400 steps (fnse: 1,500) is not exact: half a standard deviation and a quarter of its size are what separates a
    # posterior from a prior (mean 0, deviation 1) here, not a claim about accuracy.
    assert abs(theta.mean() - mean) < 0.5 * deviation
    assert abs(theta.std() / deviation - 1) < 0.25


def test_draws_do_not_depend_on_threads_but_on_the_seed(fnse, series):
    posterior = fnse.build_posterior()
    one = posterior.sample((300,), x=series, seed=5, threads=1, **QUIET)
    two = posterior.sample((300,), x=series, seed=5, threads=2, **QUIET)
    other = posterior.sample((300,), x=series, seed=6, threads=2, **QUIET)
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, other)


def test_training_does_not_depend_on_threads(prior, transitions):
    def weights(threads):
        estimator = catena.FNLE(prior).append_simulations(transitions)
        return estimator.train(steps=60, seed=3, threads=threads, **QUIET).describe()["networks"]

    one, two = weights(1), weights(2)
    assert {name: network["held_out_loss"] for name, network in one.items()} == {
        name: network["held_out_loss"] for name, network in two.items()
    }


def test_estimator_and_posterior_survive_a_pickle(fnle, series):
    wanted = fnle.build_posterior().sample((50,), x=series, seed=1, **QUIET)
    estimator = pickle.loads(pickle.dumps(fnle))
    np.testing.assert_array_equal(estimator.build_posterior().sample((50,), x=series, seed=1, **QUIET), wanted)
    posterior = pickle.loads(pickle.dumps(fnle.build_posterior().set_default_x(series)))
    np.testing.assert_array_equal(posterior.sample((50,), seed=1, **QUIET), wanted)


def test_transitions_and_tasks_survive_a_pickle(transitions):
    again = pickle.loads(pickle.dumps(transitions))
    np.testing.assert_array_equal(again.x_next, transitions.x_next)
    assert again.provenance == transitions.provenance
    task = pickle.loads(pickle.dumps(catena.tasks.get("gaussian_rw")))
    assert repr(task) == repr(catena.tasks.get("gaussian_rw"))


def test_a_saved_estimator_loads(fnle, series, tmp_path):
    fnle.save(tmp_path / "model.safetensors")
    loaded = catena.load(tmp_path / "model.safetensors")
    assert isinstance(loaded, catena.FNLE) and loaded.prior == fnle.prior
    wanted = fnle.build_posterior().sample((50,), x=series, seed=1, **QUIET)
    np.testing.assert_array_equal(loaded.build_posterior().sample((50,), x=series, seed=1, **QUIET), wanted)


def test_the_shape_of_the_draws_is_what_was_asked_for(fnle, series):
    posterior = fnle.build_posterior().set_default_x(series)
    assert posterior.sample(**QUIET).shape == (1,)
    assert posterior.sample((3, 4), **QUIET).shape == (3, 4, 1)
    batched = posterior.sample_batched((200,), [series, series[:3], series[1:]], **QUIET)
    assert batched.shape == (200, 3, 1)
    assert batched[:, 1].std() > batched[:, 0].std()  # two transitions say less than six


def test_log_prob_of_fnle_integrates_to_the_prior_over_the_next_state(fnle, prior):
    """log p(θ) + log p(x' | x, θ): exact over x', so its integral is p(θ), whatever the network learned."""
    posterior = fnle.build_posterior()
    theta = np.array([[-1.0], [0.0], [1.5]])
    grid = np.linspace(-12, 12, 1201)
    densities = np.exp([posterior.log_prob(theta, x=[[0.5], [after]]) for after in grid])
    integral = densities.sum(axis=0) * (grid[1] - grid[0])
    np.testing.assert_allclose(integral, np.exp(prior.log_prob(theta)), rtol=1e-4)


def test_log_prob_of_fnle_is_near_the_exact_density(fnle, prior, series):
    """x' = x + θ + N(0, 0.25): 0.1 nats a transition; a mean off by half a standard deviation would cost 0.125."""
    theta = np.linspace(-1, 1.5, 6)[:, np.newaxis]
    steps = np.diff(series[:, 0])
    exact = scipy.stats.norm.logpdf(steps, theta, NOISE).sum(axis=1)
    found = fnle.build_posterior().log_prob(theta, x=series) - prior.log_prob(theta)
    near = exact > exact.max() - 4
    np.testing.assert_allclose(found[near] / len(steps), exact[near] / len(steps), atol=0.1)


def test_log_prob_is_the_density_of_the_draws(fnle, series):
    grid = np.linspace(-2, 2, 401)[:, np.newaxis]
    density = np.exp(fnle.build_posterior().log_prob(grid, x=series))
    mean = np.average(grid[:, 0], weights=density)
    deviation = np.average((grid[:, 0] - mean) ** 2, weights=density) ** 0.5
    draws = fnle.build_posterior().sample((1000,), x=series, seed=4, **QUIET)
    # At least 400 effective draws (the sampler's own condition): 4.5 standard errors of the mean, two checks of 7e-6.
    assert abs(draws.mean() - mean) < 4.5 * deviation / 400**0.5
    assert abs(draws.std() / deviation - 1) < 4.5 / (2 * 400) ** 0.5
    assert fnle.build_posterior().log_prob(np.zeros((2, 3, 1)), x=series).shape == (2, 3)


def test_map_is_near_the_exact_one(fnle, series):
    mean, deviation = exact_drift(series)
    found = fnle.build_posterior().map(x=series, **QUIET)
    assert found.shape == (1,)
    assert abs(found[0] - mean) < 0.5 * deviation


def test_arviz_gets_chains_draws_and_the_series(fnle, series):
    posterior = fnle.build_posterior()
    with pytest.raises(ValueError, match="call posterior.sample"):
        posterior.to_arviz()
    theta = posterior.sample((100,), x=series, **QUIET)
    data = posterior.to_arviz()
    np.testing.assert_array_equal(data.posterior["drift"].values.ravel(), theta[:, 0])
    np.testing.assert_array_equal(data.observed_data["series"].values, series)


def test_a_series_outside_the_training_range_is_a_warning(fnle, series):
    with pytest.warns(RuntimeWarning, match="outside the training range"):
        fnle.build_posterior().sample((10,), x=series + 30, **QUIET)


@pytest.mark.parametrize("method", ["fnle", "fnse", "fnbe"])
def test_a_growing_series_gives_the_posterior_of_the_whole(method, series, request):
    estimator = request.getfixturevalue(method)
    growing = estimator.build_posterior().set_default_x(series[:3])
    growing.sample((10,), **QUIET)
    growing.update(series[3:4]).sample((10,), **QUIET)
    growing.update(series[4:])
    first, again = growing.sample((500,), seed=1, **QUIET), growing.sample((500,), seed=1, **QUIET)
    np.testing.assert_array_equal(first, again)
    whole = estimator.build_posterior().sample((500,), x=series, seed=1, **QUIET)
    # The sums of a stream are added in another order than those of a whole series: equal up to single precision.
    np.testing.assert_allclose(first, whole, rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(growing.draws.series[0].rows, series)


def test_a_posterior_that_grows_survives_a_pickle(fnse, series):
    growing = fnse.build_posterior().update(series[:4]).update(series[4:6])
    again = pickle.loads(pickle.dumps(growing)).update(series[6:])
    growing.update(series[6:])
    np.testing.assert_allclose(again.sample((50,), **QUIET), growing.sample((50,), **QUIET), rtol=1e-3, atol=1e-3)


def test_every_method_of_the_registry_is_a_class():
    for name, estimator in catena.METHODS.items():
        assert getattr(catena, estimator.__name__) is estimator and estimator.method == name
        assert pickle.loads(pickle.dumps(estimator())).method == name


def test_the_papers_recipe_is_one_keyword(prior, transitions, series, tmp_path):
    estimator = catena.FNLE(prior, preset="paper").append_simulations(transitions).train(steps=20, seed=2, **QUIET)
    about = estimator.describe()
    assert about["preset"] == "paper" and about["settings"]["density"] == "maf" and about["training"]["learning_rate"] == 1e-3
    posterior = estimator.build_posterior(preset="paper", most_steps=50)
    with pytest.warns(RuntimeWarning, match="not_mixed"):  # fifty steps are not enough
        posterior.sample((10,), x=series, **QUIET)
    assert posterior.draws.info["kernel"] == "slice" and posterior.draws.info["chains"] == 100
    estimator.save(tmp_path / "model.safetensors")
    again = catena.load(tmp_path / "model.safetensors")
    assert again.settings["density"] == "maf" and "bins" not in again.settings


def test_a_loaded_estimator_can_be_trained_again(fnle, transitions, tmp_path):
    fnle.save(tmp_path / "model.safetensors")
    again = catena.load(tmp_path / "model.safetensors")
    assert again.settings["density"] != "auto"
    again.append_simulations(transitions).train(steps=20, **QUIET)
