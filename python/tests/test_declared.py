"""What a simulator in Python declares by its arguments: earlier states, a step, an initial state that depends on θ; and
second rounds. Each against the exact posterior of the built-in task that it repeats."""

import catena
import numpy as np
import pytest
from catena import priors, proposals

QUICK = {"density": "gaussian", "width": 24, "layers": 2, "decay": 0.1}
N = 1000


def draws_of(data, series, **keywords):
    estimator = catena.FNLE(**QUICK).append_simulations(data).train(steps=1200, seed=2, show_progress_bars=False)
    return estimator.build_posterior(**keywords).sample((N,), x=series, show_progress_bars=False)


def assert_close(draws, exact, tolerance=0.5):
    """Means within a share of the exact deviation, deviations within a factor e^±tolerance/2: a small network's error,
    not Monte Carlo's."""
    assert np.all(np.abs(draws.mean(0) - exact.mean(0)) < tolerance * exact.std(0))
    assert np.all(np.abs(np.log(draws.std(0) / exact.std(0))) < tolerance / 2)


def autoregression(theta, x, past, rng):
    return 0.3 * (theta[:, :1] * x + theta[:, 1:2] * past[:, 0] + theta[:, 2:] * past[:, 1]) + rng.standard_normal(x.shape)


def normals(*names):
    return priors.Independent({name: priors.Normal() for name in names})


def test_earlier_states_make_a_chain_of_higher_order():
    task = catena.tasks.get("ar", order=3)
    series = task.observe(50, seed=7).series
    data = catena.simulate(
        autoregression, normals("a", "b", "c"), order=3, proposal=proposals.Gaussian(0, 2), budget=8000,
        show_progress_bars=False,
    )  # fmt: skip
    assert data.x.shape == (8000, 3) and data.x_next.shape == (8000, 1)
    assert_close(draws_of(data, series), task.reference(series, n=N, show_progress_bars=False))


def test_proposals_of_a_chain_of_higher_order_propose_its_states_together():
    window = [[0.0], [1.0], [2.0]]  # as they follow each other

    def step(theta, x, past, rng):
        assert x.shape == (len(theta), 1) and past.shape == (len(theta), 2, 1)
        return x + 1

    def latest_first(count, rng):
        return np.tile([[2.0], [1.0], [0.0]], (count, 1, 1))

    for keywords in (
        {"proposal": "predictive", "initial_state": window},
        {"proposal": proposals.Predictive(series=2, length=3, noise=0), "initial_state": lambda rng: window},
        {"proposal": latest_first},
        {"proposal": proposals.Target(np.arange(6.0)[:, None], noise=0)},
        {"proposal": proposals.Rollout(length=3), "initial_state": window},
    ):
        data = catena.simulate(step, normals("a"), order=3, budget=6000, show_progress_bars=False, **keywords)
        if keywords["proposal"] != "predictive":  # whose default adds noise
            assert np.all(data.x[:, 0] == data.x[:, 1] + 1) and np.all(data.x[:, 1] == data.x[:, 2] + 1)
        assert np.all(data.x_next[:, 0] == data.x[:, 0] + 1)


def test_a_step_of_its_own_takes_any_gap():
    """x' = e^(−dt) x + θ (1 − e^(−dt)) + noise of variance (1 − e^(−2dt))/2: an Ornstein–Uhlenbeck process."""

    def step(theta, x, dt, rng):
        keep = np.exp(-dt)[:, None]
        return keep * x + theta * (1 - keep) + np.sqrt((1 - keep**2) / 2) * rng.standard_normal(x.shape)

    prior = normals("level")
    data = catena.simulate(step, prior, gaps=(0.1, 2.0), proposal=proposals.Gaussian(0, 2), budget=8000, show_progress_bars=False)
    assert len(data) == 8000 and data.step.min() >= 0.1 and data.step.max() <= 2
    rng = np.random.default_rng(3)
    times = np.cumsum(rng.uniform(0.1, 2, 40))
    x, series = 0.0, []
    for dt in np.diff(times, prepend=times[0]):
        x = step(np.array([[0.7]]), np.array([[x]]), np.array([dt]), rng)[0, 0]
        series.append(x)
    series = np.array(series)[:, None]
    keep = np.exp(-np.diff(times))
    weight = (1 - keep) ** 2 / ((1 - keep**2) / 2)
    precision = 1 + weight.sum()
    mean = ((1 - keep) * (series[1:, 0] - keep * series[:-1, 0]) / ((1 - keep**2) / 2)).sum() / precision
    exact = mean + rng.standard_normal((N, 1)) / np.sqrt(precision)
    estimator = catena.FNLE(**QUICK).append_simulations(data).train(steps=1200, seed=2, show_progress_bars=False)
    draws = estimator.build_posterior().sample((N,), x=series, times=times, step_length=1.0, show_progress_bars=False)
    assert_close(draws, exact)


def test_initial_states_that_depend_on_theta():
    """stationary_ar1: x⁰ ~ N(10 θ, 1/0.19), then x' = 0.9 x + θ + ε."""

    def first(theta, rng):
        return 10 * theta + rng.standard_normal(theta.shape) / np.sqrt(0.19)

    def step(theta, x, rng):
        return 0.9 * x + theta + rng.standard_normal(x.shape)

    task = catena.tasks.get("stationary_ar1")
    series = task.observe(5, seed=7).series
    common = {"initial_state": first, "show_progress_bars": False}
    states = catena.simulate(step, normals("theta_1"), initial=True, budget=2000, **common)
    assert states.x.shape == (2000, 0)
    proposal = proposals.Predictive(series=100, length=10, noise=0, relative_noise=1.0)
    moves = catena.simulate(step, normals("theta_1"), proposal=proposal, budget=7000, **common)
    settings = {"steps": 1200, "seed": 2, "show_progress_bars": False}
    both = [catena.FNLE(**QUICK).append_simulations(data).train(**settings) for data in (moves, states)]
    posterior = both[0].build_posterior().with_companions(both[1])
    draws = posterior.sample((N,), x=series, show_progress_bars=False)
    assert_close(draws, task.reference(series, n=N, show_progress_bars=False))
    ranks = catena.calibrate(both[0].build_posterior(), step, initial_state=first, series=20, draws=50, transitions=5, show_progress_bars=False)
    assert ranks.ranks.shape == (1, 20)


@pytest.mark.parametrize("method", ["fnle", "fnbe"])
def test_a_second_round_around_the_posterior_of_the_first(method):
    task = catena.tasks.get("gaussian_rw", proposal_sd=5.0)
    series = task.observe(30, seed=5).series
    exact = task.reference(series, n=N, show_progress_bars=False)
    settings = {"steps": 1200, "seed": 2, "show_progress_bars": False}
    first = task.simulate(budget=4000, show_progress_bars=False)
    found = draws_of(first, series)
    second = task.simulate(
        budget=4000, seed=1, around=found, proposal=proposals.Target(series), show_progress_bars=False
    )
    assert second.prior.base == task.prior and np.abs(second.theta.mean() - found.mean()) < found.std()
    if method == "fnle":  # a likelihood learns from both
        estimator = catena.FNLE(**QUICK).append_simulations(first).append_simulations(second)
        alone = catena.FNLE(**QUICK).append_simulations(second).train(**settings)
        assert alone.build_posterior().prior == task.prior
    else:  # a score from the second, with that normal as its prior
        with pytest.raises(ValueError, match="the prior is"):
            catena.FNBE().append_simulations(first).append_simulations(second)
        estimator = catena.FNBE(**QUICK).append_simulations(second)
    draws = estimator.train(**settings).build_posterior().sample((N,), x=series, show_progress_bars=False)
    assert_close(draws, exact)


@pytest.mark.parametrize("method", ["fnle", "fnbe"])
def test_a_second_round_keeps_both_modes(method):
    # The step sees θ² alone, so that the posterior has two modes of equal weight.
    def step(theta, x, rng):
        return 0.5 * x + theta**2 + 0.5 * rng.standard_normal(x.shape)

    common = {"proposal": proposals.Box(-2, 5), "budget": 4000, "show_progress_bars": False}
    rng = np.random.default_rng(1)
    series = [np.zeros(1)]
    for _ in range(20):
        series.append(step(np.array([1.0]), series[-1], rng))
    series = np.array(series)
    settings = {"steps": 1200, "seed": 2, "show_progress_bars": False}
    first = catena.simulate(step, normals("a"), **common)
    estimator = catena.FNLE(**QUICK).append_simulations(first).train(**settings)
    found = np.asarray(estimator.build_posterior().sample((N,), x=series, show_progress_bars=False))
    assert 0.1 < (found > 0).mean() < 0.9
    second = catena.simulate(step, normals("a"), seed=1, around=found, **common)
    assert 0.1 < (second.theta > 0).mean() < 0.9
    assert (np.abs(second.theta) < 0.3).mean() < 0.05  # one normal around both modes would be there
    estimator = (catena.FNLE if method == "fnle" else catena.FNBE)(**QUICK).append_simulations(second)
    draws = np.asarray(estimator.train(**settings).build_posterior().sample((N,), x=series, show_progress_bars=False))
    assert 0.1 < (draws > 0).mean() < 0.9  # their weights are the small network's, the modes themselves must be there
    assert np.abs(np.abs(draws).mean() - 1) < 0.2


def test_asking_for_what_a_step_does_not_declare_is_an_error():
    def plain(theta, x, rng):
        return x

    def deep(theta, x, past):
        return x

    proposal = proposals.Box(-1, 1)
    with pytest.raises(TypeError, match="order is 2, but plain has no argument past"):
        catena.simulate(plain, normals("a"), order=2, proposal=proposal)
    with pytest.raises(TypeError, match="deep has an argument past, but order="):
        catena.simulate(deep, normals("a"), proposal=proposal)
    with pytest.raises(ValueError, match="order is 0"):
        catena.simulate(deep, normals("a"), order=0, proposal=proposal)
    with pytest.raises(ValueError, match="whole numbers: this simulator does not declare a step of its own"):
        catena.simulate(plain, normals("a"), gaps=(0.5, 2), proposal=proposal, show_progress_bars=False)
    with pytest.raises(ValueError, match="declared as a function of theta"):
        catena.simulate(plain, normals("a"), initial=True, initial_state=[0.0], show_progress_bars=False)
    with pytest.raises(ValueError, match="must be 2 states for each"):
        catena.simulate(deep, normals("a"), order=2, initial_state=[0.0], proposal="predictive", show_progress_bars=False)
    with pytest.raises(TypeError, match="a task has its own"):
        catena.tasks.get("gaussian_rw").simulate(order=2)
