"""What was learned of one transition: densities, ratios and draws in the simulator's units, and their gradients."""

import catena
import numpy as np
import pytest
import scipy.stats
from drift_walk import QUIET

POSITIVE = catena.priors.Independent({"growth": catena.priors.Uniform(-0.5, 0.5), "sd": catena.priors.LogUniform(0.1, 0.4)})


def growing(theta, x, rng):
    """Noise multiplies: what is learned is the density of an increment of log x."""
    return x * np.exp(theta[:, :1] + theta[:, 1:] * rng.standard_normal(x.shape))


@pytest.fixture(scope="module")
def multiplied():
    data = catena.simulate(growing, POSITIVE, proposal=catena.proposals.Box(1, 50), budget=2000, seed=1, **QUIET)
    estimator = catena.FNLE(density="gaussian", log_increments="x_1", decay=0.5)
    return estimator.append_simulations(data).train(steps=300, seed=2, **QUIET)


@pytest.fixture(scope="module")
def fnre(prior, transitions):
    return catena.FNRE(prior, network="gaussian", decay=0.5).append_simulations(transitions).train(steps=300, **QUIET)


def differences(function, theta, h):
    """Central differences in each coordinate of θ."""
    columns = []
    for j in range(theta.shape[1]):
        shift = np.zeros_like(theta)
        shift[:, j] = h
        columns.append((function(theta + shift) - function(theta - shift)) / (2 * h))
    return np.stack(columns, axis=1)


def test_a_density_is_that_of_the_walk(fnle):
    rng = np.random.default_rng(5)
    theta, x = rng.standard_normal((2000, 1)), rng.uniform(-3, 3, (2000, 1))
    x_next = x + theta + 0.5 * rng.standard_normal(x.shape)
    excess = scipy.stats.norm(x + theta, 0.5).logpdf(x_next)[:, 0] - fnle.log_density(theta, x, x_next)
    # Its mean is a Kullback-Leibler divergence: what 400 steps leave, and 4.5 standard errors.
    error = 4.5 * excess.std() / np.sqrt(len(excess))
    assert -error < excess.mean() < 0.05 + error


@pytest.mark.parametrize("name", ["fnle", "fnbe", "multiplied"])
def test_a_density_of_the_next_state_is_normalised_in_the_simulators_units(name, request):
    estimator = request.getfixturevalue(name)
    theta, x, grid = ([[0.1, 0.3]], 10.0, np.linspace(0.5, 120, 4001)) if name == "multiplied" else (
        [[0.4]], 1.0, np.linspace(-6, 9, 4001)
    )
    density = np.exp(estimator.log_density(theta, [[x]], grid[:, None]))
    # A Gaussian in the network's coordinates, whose tails the grid has: the trapezoidal rule, and floats.
    assert abs(np.trapezoid(density, grid) - 1) < 1e-3


@pytest.mark.parametrize("name", ["fnle", "fnbe"])
def test_gradients_in_theta_are_those_of_differences(name, request):
    estimator = request.getfixturevalue(name)
    theta, x = np.linspace(-1, 1, 5)[:, None], np.zeros((5, 1))
    values, slopes = estimator.log_density(theta, x, x + 0.5, grad=True)
    found = differences(lambda at: estimator.log_density(at, x, x + 0.5), theta, 0.01)
    # Networks are floats: 1e-6 of a value of 1, over a difference of 0.02, and the third derivative.
    np.testing.assert_allclose(slopes, found, atol=5e-3 * (1 + abs(found).max()))
    np.testing.assert_array_equal(values, estimator.log_density(theta, x, x + 0.5, threads=1))


def test_gradients_go_through_the_prior(multiplied):
    theta = np.array([[0.2, 0.15], [-0.3, 0.35], [0.0, 0.2]])
    values, slopes = multiplied.log_density(theta, [[10.0]], [[11.0]], grad=True)
    found = differences(lambda at: multiplied.log_density(at, [[10.0]], [[11.0]]), theta, 0.002)
    assert values.shape == (3,)
    np.testing.assert_allclose(slopes, found, rtol=0.02, atol=0.02 * abs(found).max())


def test_draws_are_those_of_the_density(fnle, multiplied):
    x_next = fnle.simulate([[0.5]], np.full((4000, 1), 1.0), seed=3)
    assert x_next.shape == (4000, 1)
    # A learned mean and deviation, 400 steps: within 0.05 of 1.5 and 0.5; the mean of 4,000 draws has 0.008 more.
    assert abs(x_next.mean() - 1.5) < 0.1
    assert abs(x_next.std() - 0.5) < 0.06
    # Against the learned density itself: mean of the log density of draws is minus its entropy.
    entropy = -fnle.log_density([[0.5]], [[1.0]], x_next).mean()
    assert abs(entropy - (0.5 * np.log(2 * np.pi * np.e) + np.log(x_next.std()))) < 4.5 * np.sqrt(0.5 / 4000) + 0.02
    np.testing.assert_array_equal(x_next, fnle.simulate([[0.5]], np.full((4000, 1), 1.0), seed=3))
    assert multiplied.simulate([[0.4, 0.2]], np.full((100, 1), 5.0)).min() > 0


def test_a_ratio_has_the_gradient_of_the_likelihood(fnre):
    theta = np.array([[-0.5], [0.0], [0.5]])
    values, slopes = fnre.log_ratio(theta, [[1.0]], [[1.4]], grad=True)
    # ∂/∂θ log N(1.4; 1 + θ, ¼) = 4 (0.4 − θ), as well as 300 steps learn it.
    np.testing.assert_allclose(slopes[:, 0], 4 * (0.4 - theta[:, 0]), atol=0.8)
    found = differences(lambda at: fnre.log_ratio(at, [[1.0]], [[1.4]]), theta, 0.01)
    np.testing.assert_allclose(slopes, found, atol=5e-3 * (1 + abs(found).max()))
    assert values.shape == (3,)


def test_misuse_is_one_sentence(fnle, multiplied):
    with pytest.raises(ValueError, match=r"log_density: x has 2 rows, but must have 3, or one for all"):
        fnle.log_density(np.zeros((3, 1)), np.zeros((2, 1)), [[0.0]])
    with pytest.raises(TypeError, match="log_density: t is there, but must not be given"):
        fnle.log_density([[0.0]], [[0.0]], [[0.0]], t=3)
    with pytest.raises(ValueError, match="growth is 2, but must be between -0.5 and 0.5"):
        multiplied.log_density([[2.0, 0.2]], [[1.0]], [[1.0]])
    with pytest.raises(ValueError, match="log_density: a value of the state x_1 is -1, but must be positive"):
        multiplied.log_density([[0.2, 0.2]], [[1.0]], [[-1.0]])
    with pytest.raises(ValueError, match="log_density: x_next.* is nan, but must be finite"):
        fnle.log_density([[0.0]], [[0.0]], [[np.nan]])


def test_time_is_given_where_the_simulator_takes_it():
    def step(theta, x, t, rng):
        return 0.8 * x + theta * np.cos(2 * np.pi * t / 12)[:, None] + 0.3 * rng.standard_normal(x.shape)

    prior = {"size": catena.priors.Normal(0, 1)}
    data = catena.simulate(step, prior, proposal=catena.proposals.Box(-4, 4, times=48), budget=2000, seed=1, **QUIET)
    estimator = catena.FNLE(density="gaussian", decay=0.5, period=12).append_simulations(data).train(steps=400, **QUIET)
    assert estimator.describe()["settings"]["period"] == "12"
    found = estimator.log_density([[1.0]], np.zeros((3, 1)), [[1.0], [0.0], [-1.0]], t=[0, 3, 6])
    exact = scipy.stats.norm(0, 0.3).logpdf(0)
    np.testing.assert_allclose(found, exact, atol=0.4)
    assert estimator.simulate([[1.0]], np.zeros((3, 1)), t=[0, 3, 6]).shape == (3, 1)
    with pytest.raises(TypeError, match="log_density: t is missing, but must be given"):
        estimator.log_density([[1.0]], [[0.0]], [[1.0]])
    with pytest.raises(ValueError, match="train: period is -1, but must be auto, none, or positive numbers"):
        catena.FNLE(period=-1).append_simulations(data).train(steps=5, **QUIET)
