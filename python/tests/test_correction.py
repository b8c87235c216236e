"""Correction by simulation with simulators in Python: a bad network, and the exact posterior all the same."""

import concurrent.futures
import json
import pickle
import time

import catena
import numpy as np
import pytest
from drift_walk import NOISE, QUIET, drift_step, exact_drift

TRANSITIONS = 150


@pytest.fixture(scope="module")
def bad(prior):
    """A network that was trained for 100 steps of small batches: it has seen what a transition is, no more."""
    data = catena.simulate(drift_step, prior, proposal=catena.proposals.Box(-20, 20), budget=2000, seed=1, **QUIET)
    return catena.FNLE(prior).append_simulations(data).train(steps=100, batch_size=100, seed=2, **QUIET).build_posterior()


@pytest.fixture(scope="module")
def long_series():
    rng = np.random.default_rng(5)
    return np.cumsum(np.r_[0.0, 0.05 + NOISE * rng.standard_normal(TRANSITIONS)])[:, np.newaxis]


@pytest.fixture(scope="module")
def corrected(bad, long_series):
    return bad.correct(drift_step, x=long_series, budget=40_000, seed=3, **QUIET)


def test_a_bad_network_is_corrected_to_the_exact_posterior(corrected, long_series):
    mean, deviation = exact_drift(long_series)
    theta = corrected.draws.theta
    assert corrected.not_corrected == "" and theta.shape == (1000, 1)
    assert corrected.info["spent"] <= 40_000
    # The regression's noise is √(1.25 T/M) = 0.07 standard deviations, that of 400 effective draws 0.05: 0.3 is 3.5
    # standard errors, 5e-4. The width has the factor 1 + T h, one per cent, and the noise of draws, 4 %.
    assert abs(theta.mean() - mean) < 0.3 * deviation
    assert abs(theta.std() / deviation - 1) < 0.2


def test_density_mode_and_draws_are_of_one_posterior(corrected, long_series):
    mean, deviation = exact_drift(long_series)
    grid = mean + deviation * np.linspace(-5, 5, 201)[:, np.newaxis]
    density = np.exp(corrected.log_prob(grid) - corrected.log_prob(grid).max())
    middle = np.average(grid[:, 0], weights=density)
    spread = np.average((grid[:, 0] - middle) ** 2, weights=density) ** 0.5
    theta = corrected.sample((2, 500), seed=8, **QUIET)
    assert theta.shape == (2, 500, 1) and corrected.draws.record["seed"] == 8
    # At least 400 effective draws: 4.5 standard errors, two checks of 7e-6.
    assert abs(theta.mean() - middle) < 4.5 * spread / 400**0.5
    assert abs(theta.std() / spread - 1) < 4.5 / (2 * 400) ** 0.5
    # The density is near to normal: its mode is its mean but for the skewness, which a cubic bounds.
    assert abs(corrected.map(**QUIET)[0] - middle) < 0.1 * spread
    assert corrected.log_prob(np.zeros((2, 3, 1))).shape == (2, 3)


@pytest.mark.parametrize("how", [{"threads": 1}, {"threads": 2}, {"executor": concurrent.futures.ThreadPoolExecutor(2)}])
def test_the_result_depends_on_the_seed_alone(bad, long_series, how):
    wanted = bad.correct(drift_step, x=long_series, budget=3000, seed=4, n=100, **QUIET)
    found = bad.correct(drift_step, x=long_series, budget=3000, seed=4, n=100, **how, **QUIET)
    np.testing.assert_array_equal(found.draws.theta, wanted.draws.theta)
    assert found.certificate == wanted.certificate


def test_the_first_draws_are_those_of_their_seed(bad, long_series):
    found = bad.correct(drift_step, x=long_series, budget=3000, seed=4, n=100, **QUIET)
    first = found.draws.theta
    np.testing.assert_array_equal(found.sample((100,), seed=4, **QUIET), first)
    assert not np.array_equal(found.sample((100,), seed=5, **QUIET), first)


def test_batches_are_as_small_as_asked_for_and_never_two_at_once(bad, long_series):
    sizes, running = [], []

    def step(theta, x, rng):
        running.append(1)
        assert len(running) == 1
        sizes.append(len(x))
        running.pop()
        return drift_step(theta, x, rng)

    bad.check(step, x=long_series, budget=3000, batch_size=100, threads=2, **QUIET)
    assert max(sizes) == 100 and 2900 <= sum(sizes) <= 3000


def test_the_certificate_sees_what_is_wrong(bad, corrected, long_series):
    certificate = bad.check(drift_step, x=long_series, **QUIET)
    mean, deviation = exact_drift(long_series)
    learned = corrected.learned.theta
    off = (mean - learned.mean()) / learned.std()
    one = certificate.parameters["drift"]
    assert certificate.transitions == TRANSITIONS
    assert certificate.alarm == (certificate.shifted or certificate.mis_sized)
    # Four standard errors (6e-5), and what a first-order expansion leaves where the shift is large.
    assert abs(one.shift - off) < 4 * one.shift_error + 0.2 * max(1, abs(off))
    assert "drift" in repr(certificate) and certificate.sentences[-1] in repr(certificate)
    assert certificate._repr_html_().count("<tr>") == 2
    assert "Certificate" in corrected._repr_html_()


def test_an_estimator_of_a_task_knows_its_simulator():
    task = catena.tasks.get("gaussian_rw", dim=2)
    estimator = catena.FNLE().append_simulations(task.simulate(budget=1000)).train(steps=100, **QUIET)
    observed = task.observe(60, theta=[0.0, 0.0], seed=1)
    posterior = estimator.build_posterior()
    named = posterior.check(task, x=observed, budget=1000, **QUIET)
    assert posterior.check(x=observed, budget=1000, **QUIET) == named
    assert list(named.parameters) == task.prior.names
    with pytest.raises(ValueError, match="the parameters of the simulator"):
        posterior.check(catena.tasks.get("lotka_volterra"), x=observed, budget=1000, **QUIET)


def test_a_file_has_what_the_program_writes(corrected, tmp_path, run_program):
    corrected.draws.save(tmp_path / "corrected.nc")
    again = catena.Draws.load(tmp_path / "corrected.nc")
    np.testing.assert_array_equal(again.theta, corrected.draws.theta)
    np.testing.assert_array_equal(again.learned, corrected.learned.theta)
    certificate = catena.Certificate.from_json(again.record["certificate"], again.parameters)
    assert certificate == corrected.certificate
    assert json.loads(again.record["correction"])["corrected"] is True


def test_the_figures_show_learned_against_corrected(corrected):
    figures = corrected.plot(truth=[0.05])
    assert "correction" in figures.names


def test_a_short_series_is_not_corrected_and_says_so(bad, long_series):
    with pytest.warns(UserWarning, match="not corrected: .*too few"):
        found = bad.correct(drift_step, x=long_series[:11], budget=2000, seed=1, n=200, **QUIET)
    assert "too few" in found.not_corrected and "not corrected" in repr(found)
    np.testing.assert_array_equal(found.draws.theta, found.learned.theta)
    assert found.draws.learned is None
    at = np.zeros((3, 1))
    np.testing.assert_array_equal(found.log_prob(at), bad.log_prob(at, x=long_series[:11]))
    assert found.map(**QUIET).shape == (1,) and found.sample((20,), **QUIET).shape == (20, 1)


def test_what_cannot_be_done_is_said(bad, corrected, long_series):
    def not_finite(theta, x, rng):
        return np.where(rng.random(x.shape) < 0.5, np.nan, x)

    with pytest.raises(ValueError, match="not finite.*max_invalid"):
        bad.correct(not_finite, x=long_series, budget=2000, **QUIET)
    with pytest.raises(TypeError, match="the simulator is missing"):
        bad.correct(x=long_series, budget=2000, **QUIET)
    with pytest.raises(ValueError, match="the parameters of the simulator"):
        bad.correct(catena.tasks.get("gaussian_rw"), x=long_series, budget=2000, **QUIET)
    with pytest.raises(ValueError, match="budget"):
        bad.correct(drift_step, x=long_series, budget=10, **QUIET)
    with pytest.raises(TypeError, match="unknown"):
        bad.correct(drift_step, x=long_series, budjet=10, **QUIET)
    with pytest.raises(ValueError, match="batch_size"):
        bad.correct(drift_step, x=long_series, batch_size=5000, **QUIET)
    with pytest.raises(TypeError, match="does not pickle"):
        pickle.dumps(corrected)


def test_an_exception_of_the_simulator_arrives_with_its_batch(bad, long_series):
    def broken(theta, x, rng):
        raise KeyError("no such state")

    with pytest.raises(KeyError, match="no such state") as caught:
        bad.check(broken, x=long_series, budget=2000, **QUIET)
    assert caught.value.catena_batch["theta"].shape[1] == 1


def test_what_a_slow_simulator_has_answered_outlives_a_crash(bad, long_series, tmp_path):
    calls = []

    def slow(theta, x, rng):
        calls.append(len(x))
        if len(calls) == crash_at:
            raise MemoryError("killed")
        time.sleep(0.21)  # what takes less is asked again
        return drift_step(theta, x, rng)

    crash_at, kept = 4, tmp_path / "corrected.partial"
    wanted = bad.correct(drift_step, x=long_series, budget=3000, seed=4, n=100, **QUIET)
    with pytest.raises(MemoryError):
        bad.correct(slow, x=long_series, budget=3000, seed=4, n=100, checkpoint=kept, **QUIET)
    assert kept.exists()
    before, crash_at = sum(calls[:-1]), 0
    found = bad.correct(slow, x=long_series, budget=3000, seed=4, n=100, checkpoint=kept, resume=True, **QUIET)
    np.testing.assert_array_equal(found.draws.theta, wanted.draws.theta)
    assert found.info["resumed"] == before and sum(calls) == wanted.info["spent"] + calls[3]
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="without checkpoint"):
        bad.correct(drift_step, x=long_series, resume=True, **QUIET)
    kept.write_bytes(b"no answers")
    with pytest.raises(catena.FileError):
        bad.correct(drift_step, x=long_series, checkpoint=kept, resume=True, **QUIET)
