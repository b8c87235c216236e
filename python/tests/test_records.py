"""Missing states, several series, gaps, blocks, companions and initial states, against identities and exact posteriors."""

import pickle

import catena
import numpy as np
import pytest
from drift_walk import QUIET, drift_step

GRID = np.linspace(-2, 2, 5)[:, np.newaxis]


@pytest.fixture(scope="module")
def walk():
    return catena.tasks.get("gaussian_rw", proposal_sd=5.0)


@pytest.fixture(scope="module")
def fit(walk):
    def fit(task=walk, **records):
        data = task.simulate(budget=30_000, seed=2, **records, **QUIET)
        estimator = catena.FNLE(density="gaussian", width=24, layers=2, decay=0.5).append_simulations(data)
        return estimator.train(steps=2500, batch_size=500, seed=1, **QUIET)

    return fit


@pytest.fixture(scope="module")
def gaps(fit):
    return fit(gaps=(1, 6)).build_posterior()


@pytest.fixture(scope="module")
def single(fit):
    return fit().build_posterior()


@pytest.fixture(scope="module")
def holed(walk):
    """A series of 20 transitions without the states of three gaps, of 5, 4 and 3 steps, and one of 10."""
    first = walk.observe(20, theta=[1.0], seed=1).series.copy()
    first[[1, 2, 3, 4, 6, 7, 8, 11, 12]] = np.nan
    return first, walk.observe(10, theta=[1.0], seed=3).series


def exact(*many):
    """Mean and deviation of p(θ | series) of gaussian_rw: x^(t+k) ~ N(a^k x^t + θ (1 − a^k)/(1 − a), (1 − a^2k)/(1 − a²)),
    a = 0.9, θ ~ N(0, 1)."""
    precision, weighted = 1.0, 0.0
    for series in many:
        there = np.flatnonzero(~np.isnan(series[:, 0]))
        power, x = 0.9 ** np.diff(there), series[there, 0]
        slope, variance = (1 - power) / 0.1, (1 - power**2) / 0.19
        precision += np.sum(slope**2 / variance)
        weighted += np.sum(slope * (x[1:] - power * x[:-1]) / variance)
    return weighted / precision, precision**-0.5


def assert_near(theta, mean, deviation):
    """A small network is not exact. With other seeds (40 runs with gaps, 25 with companions) the errors had standard
    deviations of at most 0.23 (mean, in posterior deviations) and 0.07 (log width), and none reached a bound (largest: 0.54
    and 0.21). Were they normal, a bound would alarm falsely in about 2 of 100,000 runs."""
    assert abs(theta.mean() - mean) < deviation
    assert abs(np.log(theta.std() / deviation)) < 0.35


def test_missing_states_and_two_series_give_the_exact_posterior(gaps, holed):
    theta = gaps.sample((1000,), x=list(holed), seed=4, **QUIET)
    assert gaps.draws.info["series"] == 2 and gaps.draws.info["transitions"] == 11 + 10
    mean, deviation = exact(*holed)
    assert_near(theta, mean, deviation)
    assert abs(gaps.map(x=list(holed), **QUIET)[0] - mean) < deviation
    without_gaps = holed[0][~np.isnan(holed[0][:, 0])]
    assert abs(exact(without_gaps, holed[1])[0] - mean) > 1.4 * deviation  # so that steps of 1 would be noticed


def test_several_series_add_their_log_likelihoods(gaps, holed):
    first, second = holed
    prior = gaps.prior.log_prob(GRID)
    both = gaps.log_prob(GRID, x=[first, second])
    np.testing.assert_allclose(both, gaps.log_prob(GRID, x=first) + gaps.log_prob(GRID, x=second) - prior, rtol=1e-5)


def test_missing_rows_are_times_left_out(gaps, holed):
    first = holed[0]
    there = np.flatnonzero(~np.isnan(first[:, 0]))
    wanted = gaps.log_prob(GRID, x=first)
    np.testing.assert_array_equal(gaps.log_prob(GRID, x=first[there], times=there), wanted)
    np.testing.assert_array_equal(gaps.log_prob(GRID, x=first[there], times=0.25 * there, step_length=0.25), wanted)
    assert not np.allclose(gaps.log_prob(GRID, x=first[there]), wanted, rtol=1e-3)
    with pytest.raises(ValueError, match="times has 1 parts, but must have 2"):
        gaps.log_prob(GRID, x=[first, first], times=[there])


def test_a_model_of_single_steps_refuses_gaps_or_cuts_them(single, holed):
    first = holed[0][5:12]  # one gap, and a missing end
    with pytest.raises(ValueError, match="must be what the model knows, 1; simulate with gaps up to it, or set cut_gaps"):
        single.sample((10,), x=first, **QUIET)
    parts = single.log_prob(GRID, x=[first[4:6]])
    np.testing.assert_array_equal(single.log_prob(GRID, x=first, cut_gaps=True), parts)


def test_sample_batched_keeps_one_posterior_for_each_series(gaps, holed):
    theta = gaps.sample_batched((500,), list(holed), seed=4, **QUIET)
    assert theta.shape == (500, 2, 1)
    for i, series in enumerate(holed):
        assert_near(theta[:, i], *exact(series))


def test_draws_of_several_series_are_kept(gaps, holed, tmp_path):
    posterior = pickle.loads(pickle.dumps(gaps)).set_default_x(list(holed))
    assert "default x of 21 and 11 rows" in repr(posterior)
    posterior.sample((20,), **QUIET)
    posterior.draws.save(tmp_path / "posterior.nc")
    data = posterior.to_arviz().observed_data
    np.testing.assert_array_equal(data["series_2"], holed[1])
    with pytest.raises(ValueError, match="the default x has 2 series, but must be one"):
        posterior.update(holed[1])


def test_a_growing_series_may_have_missing_states(prior, holed):
    data = catena.simulate(drift_step, prior, proposal=catena.proposals.Box(-20, 20), budget=1000, seed=1, **QUIET)
    posterior = catena.FNSE(prior, network="separable", ensemble=1).append_simulations(data).train(steps=30, seed=1, **QUIET).build_posterior()
    first, keywords = holed[0], {"steps": 20, "cut_gaps": True, "seed": 1, **QUIET}
    grown = posterior.update(first[9:12]).update(first[12:]).sample((20,), **keywords)
    np.testing.assert_array_equal(grown, posterior.sample((20,), x=first[9:], **keywords))


def test_blocks_with_single_transitions_beside_them(walk, fit, single):
    series = walk.observe(23, theta=[1.0], seed=1).series
    blocks = fit(block=5).build_posterior()
    with pytest.raises(ValueError, match="must be a multiple of 5"):
        blocks.sample((10,), x=series, **QUIET)
    both = pickle.loads(pickle.dumps(blocks.with_companions(single)))
    theta = both.sample((1000,), x=series, seed=4, **QUIET)
    assert both.draws.info["transitions"] == 4 + 3
    assert_near(theta, *exact(series))
    with pytest.raises(ValueError, match="but must be the initial states or, beside blocks"):
        single.with_companions(blocks).sample((10,), x=series, **QUIET)
    with pytest.raises(TypeError, match="no trained estimator"):
        single.with_companions(catena.FNLE())


def test_initial_states_beside_transitions(fit):
    task = catena.tasks.get("stationary_ar1", proposal_sd=12.0)
    both = fit(task).build_posterior().with_companions(fit(task, initial=True))
    observed = task.observe(10, seed=1)
    theta = both.sample((1000,), x=observed, seed=4, **QUIET)
    assert both.draws.info["transitions"] == 11  # and x⁰
    reference = task.reference(observed, n=2000, **QUIET)
    assert_near(theta, reference.mean(), reference.std())


def test_a_step_function_makes_records_of_every_shape(prior, tmp_path):
    def exact_step(theta, x):
        return x + theta

    def records(**keywords):
        return catena.simulate(exact_step, prior, proposal=catena.proposals.Box(-1, 1), budget=600, seed=1, **keywords, **QUIET)

    data = records(gaps=(2, 4))
    assert len(data) == 200 and set(data.step) == {2, 3, 4}
    np.testing.assert_allclose(data.x_next[:, 0], data.x[:, 0] + data.step * data.theta[:, 0], rtol=1e-12)
    again = pickle.loads(pickle.dumps(data))
    np.testing.assert_array_equal(again.step, data.step)
    data.save(tmp_path / "gaps.nc")
    np.testing.assert_array_equal(catena.Transitions.load(tmp_path / "gaps.nc").step, data.step)

    blocks = records(block=3)
    np.testing.assert_allclose(blocks.x_next, blocks.x + np.arange(1, 4) * blocks.theta, rtol=1e-12)
    assert blocks.to_xarray()["x_next"].dims == ("transition", "state_after")
    with pytest.raises(ValueError, match="another shape"):
        catena.FNLE().append_simulations(data).append_simulations(blocks)
    with pytest.raises(ValueError, match="the Dataset has steps"):
        catena.FNLE(prior).append_simulations(data.to_xarray())
    joined = catena.FNLE().append_simulations(data).append_simulations(records(gaps=(1, 2))).train(steps=20, **QUIET)
    series = np.array([0.0, np.nan, np.nan, 1.0, 2.0])[:, np.newaxis]  # steps 3 and 1, one of each set
    assert joined.build_posterior().log_prob([[0.5]], x=series).shape == (1,)


@pytest.mark.parametrize(
    ("keywords", "sentence"),
    [
        ({"gaps": (3, 1)}, "gaps is 3..1, but must be LOW..HIGH"),
        ({"gaps": (0.5, 2)}, "whole numbers: this simulator does not declare a step of its own"),
        ({"block": 0}, "block is 0, but must be"),
        ({"initial": True}, "initial state of this simulator is independent of theta"),
        ({"gaps": (1, 2), "block": 2}, "but must be"),
    ],
)
def test_records_that_cannot_be_made_are_refused_in_a_sentence(walk, keywords, sentence):
    with pytest.raises(ValueError, match=sentence) as error:
        walk.simulate(budget=100, **keywords, **QUIET)
    assert "\n" not in str(error.value)
