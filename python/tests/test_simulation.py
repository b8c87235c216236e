"""Simulators in Python: what they are given, what may come back, and that workers and interruptions change nothing."""

import concurrent.futures

import catena
import joblib
import numpy as np
import pytest
from drift_walk import QUIET, drift_step

BOX = catena.proposals.Box(-4, 4)


def equal(a, b):
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("theta", "x", "x_next"))


def test_transitions_follow_prior_proposal_and_simulator(transitions):
    assert transitions.x.min() >= -4 and transitions.x.max() <= 4
    residual = transitions.x_next - transitions.x - transitions.theta
    # Means of 3,000 normals within 4.5 standard errors: three checks of 7e-6 each.
    for value, deviation in ((transitions.theta, 1), (residual, 0.5), (transitions.x, 8 / 12**0.5)):
        assert abs(value.mean()) < 4.5 * deviation / 3000**0.5


def test_arguments_are_given_by_name(prior):
    seen = {}

    def step(theta, x, t, rng):
        seen.update(t=t.copy(), kind=type(rng))
        return x + t[:, np.newaxis]

    data = catena.simulate(step, prior, proposal=catena.proposals.Box(0, 1, times=5), budget=200, **QUIET)
    assert seen["kind"] is np.random.Generator
    assert set(data.time) == {0, 1, 2, 3, 4}
    np.testing.assert_array_equal(data.x_next[:, 0], data.x[:, 0] + data.time)
    without_rng = catena.simulate(lambda theta, x: x, prior, proposal=BOX, budget=50, **QUIET)
    np.testing.assert_array_equal(without_rng.x, without_rng.x_next)
    with pytest.raises(TypeError, match="argument 'speed'"):
        catena.simulate(lambda theta, x, speed: x, prior, proposal=BOX)


def test_the_data_are_a_function_of_the_seed(prior, transitions):
    again = catena.simulate(drift_step, prior, proposal=BOX, budget=3000, seed=1, **QUIET)
    other = catena.simulate(drift_step, prior, proposal=BOX, budget=3000, seed=2, **QUIET)
    assert equal(again, transitions) and not equal(other, transitions)


def test_workers_do_not_change_the_data(prior, transitions):
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        threads = catena.simulate(drift_step, prior, proposal=BOX, budget=3000, seed=1, executor=pool, **QUIET)
    assert equal(threads, transitions)
    jobs = joblib.Parallel(n_jobs=2)
    processes = catena.simulate(drift_step, prior, proposal=BOX, budget=3000, seed=1, executor=jobs, **QUIET)
    assert equal(processes, transitions)


def test_a_file_holds_the_same_transitions(prior, transitions, tmp_path):
    data = catena.simulate(drift_step, prior, proposal=BOX, budget=3000, seed=1, path=tmp_path / "a.nc", **QUIET)
    assert equal(data, transitions) and data.provenance == transitions.provenance
    transitions.save(tmp_path / "b.nc")
    saved = catena.Transitions.load(tmp_path / "b.nc")
    assert equal(saved, transitions) and saved.provenance == transitions.provenance
    assert saved.prior == transitions.prior


def test_a_run_that_died_goes_on_where_it_was(prior, tmp_path):
    calls = []

    def step(theta, x, rng):
        calls.append(len(x))
        if len(calls) == fails_at:
            raise ZeroDivisionError("the machine is gone")
        return drift_step(theta, x, rng)

    file, budget = tmp_path / "a.nc", 20_000
    fails_at = 18  # of 20 batches; two chunks of eight are on disk by then
    with pytest.raises(ZeroDivisionError):
        catena.simulate(step, prior, proposal=BOX, budget=budget, path=file, **QUIET)
    assert not file.exists()
    calls.clear()
    fails_at = 0
    resumed = catena.simulate(step, prior, proposal=BOX, budget=budget, path=file, resume=True, **QUIET)
    assert 0 < sum(calls) < budget
    assert equal(resumed, catena.simulate(drift_step, prior, proposal=BOX, budget=budget, **QUIET))


def test_an_exception_comes_back_as_itself_with_its_batch(prior):
    class Mine(Exception):
        pass

    def step(theta, x):
        raise Mine("no")

    with pytest.raises(Mine) as caught:
        catena.simulate(step, prior, proposal=BOX, budget=100, **QUIET)
    assert "a batch of 100 transitions" in caught.value.__notes__[0]
    assert caught.value.catena_batch["x"].shape == (100, 1)
    with concurrent.futures.ThreadPoolExecutor(2) as pool, pytest.raises(Mine):
        catena.simulate(step, prior, proposal=BOX, budget=5000, executor=pool, **QUIET)


def test_rows_that_are_not_finite_are_dropped_counted_and_reported(prior):
    def step(theta, x):
        return np.where(x > 3.6, np.nan, x)

    with pytest.warns(UserWarning, match=r"\d+ of 2000 transitions were dropped"):
        data = catena.simulate(step, prior, proposal=BOX, budget=2000, **QUIET)
    assert len(data) + data.provenance["invalid"] == 2000 and np.isfinite(data.x_next).all()
    with pytest.raises(ValueError, match="max_invalid"):
        catena.simulate(step, prior, proposal=BOX, budget=2000, max_invalid=0.01, **QUIET)


def test_results_of_a_wrong_shape_are_refused(prior):
    with pytest.raises(ValueError, match=r"returned an array of shape \(100, 2\), but must return \(100, 1\)"):
        catena.simulate(lambda theta, x: np.zeros((len(x), 2)), prior, proposal=BOX, budget=100, **QUIET)


def test_a_function_on_rows_is_vectorised_with_a_warning(prior):
    def row(theta, x, rng):
        return [x[0] + theta[0] + rng.standard_normal()]

    with pytest.warns(UserWarning, match="row by row"):
        step = catena.vectorize(row)
    data = catena.simulate(step, prior, proposal=BOX, budget=200, **QUIET)
    assert 0.5 < (data.x_next - data.x - data.theta).std() < 2


@pytest.mark.parametrize(
    "proposal",
    [
        "predictive",
        "rollout",
        catena.proposals.Rollout(length=5),
        catena.proposals.Predictive(series=5, length=20),
        catena.proposals.Gaussian([0, 0], 1),
        catena.proposals.Target(np.zeros((4, 2))),
        catena.proposals.Target([np.zeros((4, 2)), np.ones((3, 2))], noise=0.5),
        lambda count, rng: rng.uniform(size=(count, 2)),
    ],
    ids=repr,
)
def test_every_proposal(proposal):
    prior = {"drift": catena.priors.Normal()}
    start = {"initial_state": [1.0, 2.0]}
    data = catena.simulate(drift_step, prior, proposal=proposal, budget=6000, **start, **QUIET)
    assert data.x.shape[1] == 2 and len(data) + data.provenance["proposal_cost"] == 6000
    assert len(np.unique(data.theta)) == len(data)


def test_misuse_is_one_sentence(prior, tmp_path):
    with pytest.raises(ValueError, match="proposal is missing"):
        catena.simulate(drift_step, prior)
    with pytest.raises(ValueError, match="initial_state is missing"):
        catena.simulate(drift_step, prior, proposal="predictive", state_names=["a"])
    with pytest.raises(ValueError, match="budget is 0"):
        catena.simulate(drift_step, prior, proposal=BOX, budget=0)
    with pytest.raises(TypeError, match="prior is a str"):
        catena.simulate(drift_step, "normal", proposal=BOX)
    with pytest.raises(ValueError, match="resume is given without path"):
        catena.simulate(drift_step, prior, proposal=BOX, resume=True)
    with pytest.raises(TypeError, match="'nois' is unknown.*did you mean noise"):
        catena.proposals.Target(np.zeros((4, 2)), nois=1)
    with pytest.raises(catena.FileError):
        catena.simulate(drift_step, prior, proposal=BOX, path=tmp_path / "none" / "a.nc", **QUIET)


def test_initial_states_may_be_a_function_or_a_prior(prior):
    walk = {"proposal": "rollout", "budget": 500, **QUIET}
    by_function = catena.simulate(drift_step, prior, initial_state=lambda rng: [rng.uniform(5, 6)], **walk)
    start = catena.priors.Independent({"position": catena.priors.Uniform(5, 6)})
    by_prior = catena.simulate(drift_step, prior, initial_state=start, **walk)
    assert abs(by_function.x.mean() - by_prior.x.mean()) < 2


@pytest.mark.filterwarnings("ignore:posterior.sample")  # an embedding of 100 steps: anything may lie outside its range
def test_states_on_a_grid_are_kept_once_and_embedded(prior, tmp_path):
    def lift(theta, x, rng):
        return 0.9 * x + 0.3 * theta[:, :1] + 0.1 * rng.standard_normal(x.shape)

    def start(rng):
        return rng.standard_normal(144)

    path = tmp_path / "fields.nc"
    data = catena.simulate(
        lift, prior, initial_state=start, state_shape=(1, 12, 12), budget=600, path=path,
        proposal=catena.proposals.Rollout(length=20), **QUIET
    )  # fmt: skip
    assert data.provenance["state_shape"] == "1x12x12"
    assert path.stat().st_size < 600 * 144 * 4 * 1.3  # each state once, in floats
    assert len(data.state_names) == 144
    estimator = catena.FNSE(
        embedding="conv", convolutions="8x4/2,8x3", embedding_width=8, embedding_steps=100, effort="quick"
    )  # fmt: skip
    estimator.append_simulations(data).train(steps=30, seed=1, **QUIET)
    draws = estimator.build_posterior().sample((50,), x=data.x[:6], seed=2, **QUIET)
    assert draws.shape == (50, 1)
    with pytest.raises(ValueError, match="state_shape is \\(2, 64\\), but must be channels, rows and columns"):
        catena.simulate(lift, prior, initial_state=start, state_shape=(2, 64), **QUIET)
    with pytest.raises(ValueError, match="state_shape has 100 values, but state_names has 144 names"):
        names = [f"x{i}" for i in range(144)]
        catena.simulate(lift, prior, initial_state=start, state_shape=(1, 10, 10), state_names=names, **QUIET)
