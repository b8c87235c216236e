"""Whole series as training data, and the estimators that learn from them."""

import pickle

import catena
import numpy as np
import pytest
from drift_walk import QUIET

SMALL = {"summaries": 8, "flow_width": 12, "flow_layers": 2, "bins": 4, "decay": 0.1}
SETTINGS = {
    "npe": SMALL,
    "npe_windows": SMALL,
    "npe_summary": {**SMALL, "summary": "sliced", "summary_epochs": 20},
    "nle_summary": {"units": 8, "flow_width": 12, "flow_layers": 2, "decay": 0.1, "summary_epochs": 20},
    "nse": {"summaries": 8, "width": 16, "decay": 0.1},
}


@pytest.fixture(scope="module")
def task():
    return catena.tasks.get("gaussian_rw")


@pytest.fixture(scope="module")
def series(task):
    return task.simulate(series=5, budget=5000, proposal="fixed", seed=1, **QUIET)


@pytest.fixture(scope="module", params=SETTINGS)
def estimator(request, series):
    return catena.METHODS[request.param](**SETTINGS[request.param]).append_simulations(series).train(steps=150, batch_size=300, seed=1, **QUIET)


def test_series_are_simulated_saved_and_read_back(series, tmp_path):
    assert len(series) == 1000 and series.theta.shape == (1000, 1) and series.x[7].shape == (6, 1)
    assert series.times is None and series.provenance["series"] == {"transitions": 5, "start": "proposal"}
    series.save(tmp_path / "series.nc")
    for again in (catena.SeriesSet.load(tmp_path / "series.nc"), pickle.loads(pickle.dumps(series))):
        np.testing.assert_array_equal(again.theta, series.theta)
        np.testing.assert_array_equal(np.array(again.x), np.array(series.x))
        assert again.prior == series.prior and again.provenance == series.provenance


def test_a_python_simulator_makes_series_of_one_theta_each():
    def step(theta, x, rng):
        return x + theta

    prior = catena.priors.Independent({"drift": catena.priors.Normal(0, 1)})
    box = catena.proposals.Box(-5, 5)
    data = catena.simulate(step, prior, proposal=box, series=4, budget=200, **QUIET)
    assert len(data) == 50
    for theta, x in zip(data.theta, data.x, strict=True):
        np.testing.assert_allclose(np.diff(x[:, 0]), theta[0], atol=1e-12)
    start = catena.simulate(step, prior, initial_state=[2.0], series=4, from_initial=True, budget=200, **QUIET)
    assert all(x[0, 0] == 2 for x in start.x) and len(start) == 50
    with pytest.raises(TypeError, match="block, initial, gaps or resume is given beside series"):
        catena.simulate(step, prior, proposal=box, series=4, block=2, **QUIET)
    with pytest.raises(TypeError, match="only series=… uses it"):
        catena.simulate(step, prior, proposal=box, from_initial=True, **QUIET)


def test_times_are_kept_where_the_simulator_uses_them():
    data = catena.tasks.get("ti_gaussian_rw").simulate(series=3, budget=300, proposal="fixed", **QUIET)
    assert all(list(np.diff(times)) == [1, 1, 1] for times in data.times)


def test_series_made_elsewhere_may_differ_in_length():
    rng = np.random.default_rng(0)
    prior = catena.priors.Independent({"drift": catena.priors.Normal(0, 1)})
    theta = rng.standard_normal((60, 1))
    x = [np.cumsum(drift + rng.standard_normal((2 + i % 7, 1)), axis=0) for i, drift in enumerate(theta)]
    estimator = catena.NPE(prior, **SMALL).append_simulations(theta, x)
    assert repr(estimator) == "NPE(60 series, not trained; parameters drift)"
    estimator.train(steps=20, **QUIET)
    assert estimator.describe()["notes"]["series"] == {"count": 60, "longest": 7}
    whole = catena.SeriesSet.from_arrays(prior, theta, rng.standard_normal((60, 4, 2)), state_names=["a", "b"])
    assert whole.state_names == ["a", "b"] and whole.x[3].shape == (4, 2)
    x[3][0] = np.nan
    with pytest.warns(UserWarning, match="1 of 60 series are not finite and were dropped"):
        assert len(catena.SeriesSet.from_arrays(prior, theta, x)) == 59
    with pytest.raises(ValueError, match="there are 59 series, but must be 60"):
        catena.SeriesSet.from_arrays(prior, theta, x[1:])
    with pytest.raises(ValueError, match="series 1 has 1 rows, but must have 2 or more"):
        catena.SeriesSet.from_arrays(prior, theta[:1], [np.zeros((1, 1))])


def test_data_of_the_wrong_kind_are_refused(task, series):
    transitions = task.simulate(budget=100, **QUIET)
    with pytest.raises(TypeError, match="NPE learns from whole series, not from single transitions"):
        catena.NPE().append_simulations(transitions)
    with pytest.raises(TypeError, match="FNLE learns from single transitions, not from series"):
        catena.FNLE().append_simulations(series)
    with pytest.raises(ValueError, match="there are no series"):
        catena.NPE(task.prior).train()


def test_the_words_of_sbi_work(estimator, task, tmp_path):
    observed = task.observe(5, seed=3)
    posterior = estimator.build_posterior()
    theta = posterior.sample((300,), x=observed, **QUIET)
    assert theta.shape == (300, 1) and np.isfinite(theta).all()
    if estimator.method == "nse":  # a score has no density
        with pytest.raises(ValueError, match="one that learns a density"):
            posterior.log_prob(theta, x=observed)
        assert np.isfinite(posterior.map(x=observed, **QUIET)).all()
    else:
        grid = np.linspace(-8, 8, 1601)[:, np.newaxis]
        density = np.exp(posterior.log_prob(grid, x=observed))
        if estimator.method != "nle_summary":  # up to the probability of the summaries
            assert density.sum() * 0.01 == pytest.approx(1, abs=2e-3)  # normalised
        assert posterior.map(x=observed, **QUIET)[0] == pytest.approx(grid[density.argmax(), 0], abs=0.02)
    estimator.save(tmp_path / "model.safetensors")
    again = catena.load(tmp_path / "model.safetensors")
    assert type(again) is type(estimator)
    np.testing.assert_array_equal(again.build_posterior().sample((300,), x=observed, **QUIET), theta)
    batched = posterior.sample_batched((50,), x=[task.observe(n, seed=n).series for n in (2, 5)], **QUIET)
    assert np.shape(batched) == (50, 2, 1)


def test_a_longer_series_is_read_with_a_warning(estimator, task):
    with pytest.warns(RuntimeWarning, match="longest series of the training set has 5"):
        estimator.build_posterior().sample((20,), x=task.observe(8, seed=1), **QUIET)


def test_gaps_are_left_out_of_a_sum_and_refused_by_a_recurrence(estimator, task):
    series = task.observe(5, seed=2).series.copy()
    series[2] = np.nan
    posterior = estimator.build_posterior()
    if estimator.method == "npe_windows":
        assert posterior.sample((20,), x=series, **QUIET).shape == (20, 1)
        assert posterior.draws.info["transitions"] == 3
    else:
        with pytest.raises(ValueError, match="cut_gaps"):
            posterior.sample((20,), x=series, **QUIET)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # a small network, hardly trained
def test_calibration_knows_it(estimator, task):
    found = catena.calibrate(estimator.build_posterior(), task, transitions=5, series=20, draws=30, **QUIET)
    assert np.shape(found.ranks) == (1, 20)
