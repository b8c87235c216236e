"""Predictive series and forecasts in Python: the same as the command line's, and for any simulator."""

import json

import catena
import numpy as np
import pytest
from drift_walk import QUIET, drift_step


def sure_step(theta, x, rng):
    """Without noise: a series is its first state plus so many drifts."""
    return x + theta


@pytest.fixture(scope="module")
def posterior(fnle, series):
    posterior = fnle.build_posterior().set_default_x(series)
    posterior.sample((64,), seed=1, **QUIET)
    return posterior


def test_series_go_on_from_the_observed_states(posterior, series):
    found = posterior.predict(sure_step, 10, horizon=3, **QUIET)
    assert found.series.shape == (10, 7, 1) and found.forecast.shape == (10, 3, 1)
    steps = np.arange(7)[:, np.newaxis]
    np.testing.assert_allclose(found.series, series[0] + steps * found.theta[:, np.newaxis], atol=1e-12)
    np.testing.assert_allclose(found.one_step[:, 1:], series[:-1] + found.theta[:, np.newaxis], atol=1e-12)
    np.testing.assert_allclose(found.forecast, series[-1] + steps[1:4] * found.theta[:, np.newaxis], atol=1e-12)
    np.testing.assert_array_equal(found.times_ahead, [7, 8, 9])
    np.testing.assert_array_equal(found.theta, posterior.draws.theta[np.arange(10) * 64 // 10])


def test_gaps_are_stepped_over(fnle, series):
    posterior, holed = fnle.build_posterior(cut_gaps=True), series.copy()
    holed[[2, 3]] = np.nan
    posterior.sample((64,), x=holed, **QUIET)
    found = posterior.predict(sure_step, 10, **QUIET)
    np.testing.assert_allclose(found.one_step[:, 4], holed[1] + 3 * found.theta, atol=1e-12)
    there = np.isfinite(holed[:, 0])
    posterior.sample((64,), x=holed[there], times=2.0 * np.flatnonzero(there), **QUIET)
    by_times = posterior.predict(sure_step, 10, horizon=1, **QUIET)
    np.testing.assert_allclose(by_times.one_step[:, 2], holed[1] + 3 * by_times.theta, atol=1e-12)
    np.testing.assert_array_equal(by_times.forecast_times, [14.0])


def test_a_seed_is_a_result_on_any_number_of_threads_and_workers(posterior):
    one = posterior.predict(drift_step, 64, horizon=2, seed=5, threads=1, **QUIET)
    three = posterior.predict(drift_step, 64, horizon=2, seed=5, threads=3, **QUIET)
    workers = posterior.predict(drift_step, 64, horizon=2, seed=5, workers=2, **QUIET)
    for other in (three, workers):
        np.testing.assert_array_equal(one.series, other.series)
        np.testing.assert_array_equal(one.forecast, other.forecast)
    assert (one.series != posterior.predict(drift_step, 64, horizon=2, seed=6, **QUIET).series).any()


def test_the_command_line_makes_the_same_series(run_program, tmp_path):
    task = catena.tasks.get("gaussian_rw")
    estimator = catena.FNLE().append_simulations(task.simulate(budget=1000, **QUIET)).train(steps=100, **QUIET)
    posterior = estimator.build_posterior()
    posterior.sample((64,), x=task.observe(5), **QUIET)
    mine = posterior.predict(n=20, horizon=4, seed=7, **QUIET)
    posterior.draws.save(tmp_path / "posterior.nc")
    flags = ["-n", "20", "--horizon", "4", "--seed", "7", "--json"]
    made = run_program("predict", tmp_path / "posterior.nc", *flags, "-o", tmp_path / "predictive.nc")
    report = json.loads(made.stdout)
    assert report["horizon"] == 4
    import arviz

    theirs = arviz.from_netcdf(tmp_path / "predictive.nc")
    np.testing.assert_array_equal(theirs.posterior_predictive["series"][0], mine.series)
    np.testing.assert_array_equal(theirs.predictions["series"][0], mine.forecast)
    np.testing.assert_array_equal(theirs.predictions["time"], [6, 7, 8, 9])


def test_the_earlier_states_of_a_chain_of_higher_order_are_carried_on(prior):
    def oscillate(theta, x, past, rng):
        return x - past[:, 0] + theta + 0.05 * rng.standard_normal(x.shape)

    data = catena.simulate(
        oscillate, prior, proposal=lambda n, rng: rng.uniform(-3, 3, (n, 2, 1)), state_names=["x"], order=2, budget=1000, **QUIET
    )
    posterior = catena.FNLE(prior).append_simulations(data).train(steps=100, **QUIET).build_posterior()
    x = np.array([[0.0], [1.0], [1.2], [0.4], [-0.5]])
    posterior.sample((32,), x=x, **QUIET)
    found = posterior.predict(lambda theta, x, past: x - past[:, 0] + theta, 8, horizon=1, **QUIET)
    np.testing.assert_array_equal(found.series[:, :2], np.broadcast_to(x[:2], (8, 2, 1)))
    np.testing.assert_allclose(found.series[:, 2], x[1] - x[0] + found.theta, atol=1e-12)
    np.testing.assert_allclose(found.forecast[:, 0], x[4] - x[3] + found.theta, atol=1e-12)


def test_prior_predictive_series_begin_where_they_are_told(prior, series):
    found = prior.predict(sure_step, 30, x=series, **QUIET)
    np.testing.assert_allclose(found.series[:, 6], series[0] + 6 * found.theta, atol=1e-12)
    assert found.to_arviz().prior_predictive["series"].shape == (1, 30, 7, 1)
    drawn = prior.predict(sure_step, 30, initial_state=lambda theta: 10 + theta, transitions=4, **QUIET)
    np.testing.assert_allclose(drawn.series[:, 4], 10 + 5 * drawn.theta, atol=1e-12)
    task = catena.tasks.get("lotka_volterra")
    assert task.prior.predict(task, 5, transitions=3, **QUIET).series.shape == (5, 4, 2)
    with pytest.raises(ValueError, match="x and transitions are missing"):
        prior.predict(sure_step, 5, initial_state=[0.0], **QUIET)
    with pytest.raises(ValueError, match="x and initial_state are missing"):
        prior.predict(sure_step, 5, transitions=3, **QUIET)


def test_bands_hold_the_share_that_they_say(posterior):
    found = posterior.predict(drift_step, 64, horizon=2, **QUIET)
    bands = found.bands("forecast", 0.5)
    inside = (found.forecast[:, :, 0] >= bands["x_1_low"].to_numpy()) & (
        found.forecast[:, :, 0] <= bands["x_1_high"].to_numpy()
    )
    np.testing.assert_allclose(inside.mean(axis=0), 0.5, atol=0.02)
    with pytest.raises(ValueError, match="of is 'all', but must be one of"):
        found.bands("all")


def test_figures_show_the_forecast(posterior, tmp_path):
    found = posterior.predict(drift_step, 64, horizon=2, **QUIET)
    assert found.plot().names == ["series", "one_step"]
    layers = posterior.plot()["series"]["concat"][0]["layer"]
    assert [len(layer["data"]["values"]) for layer in layers] == [7, 7, 2, 2, 7]  # band, median, forecast, its median, observed


def test_misuse_is_one_sentence(posterior, fnle):
    with pytest.raises(ValueError, match="horizon is -1, but must be a whole number, 0 or more"):
        posterior.predict(drift_step, horizon=-1)
    with pytest.raises(ValueError, match="series is 1, but must be between 0 and 0"):
        posterior.predict(drift_step, series=1)
    with pytest.raises(TypeError, match="the simulator is missing"):
        posterior.predict()
    with pytest.raises(TypeError, match="must come with x"):
        posterior.predict(drift_step, chains=3)
    with pytest.raises(TypeError, match="has an argument t, but the estimator was trained without time"):
        posterior.predict(lambda theta, x, t: x)
