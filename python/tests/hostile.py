"""Hostile situations: a simulator, a series, and the exact posterior.

What catena has to say is decided before it is asked: of a series that the simulator did not make, something other than
`ok`; of one that it did, `ok` if the draws are right by the exact posterior, and something else if they are wrong.
`test_hostile.py` runs them, and compares what catena says with the table of docs/guide/hostile-data.md, row by row.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import catena
import numpy as np

BUDGET = 3000
QUICK = {"FNLE": {"density": "gaussian", "decay": 0.1}, "FNRE": {"decay": 0.1, "ensemble": 1}}
STEPS = {"FNLE": 800, "FNRE": 800}


@dataclass
class Situation:
    """`series(rng)` is given to a model of `step`; `exact` are the mean and deviation of the posterior of a series that
    `step` made, and None for any other series."""

    step: Callable[..., np.ndarray]
    series: Callable[[np.random.Generator], np.ndarray]
    exact: Callable[[np.ndarray], tuple[float, float]] | None = None
    prior: Any = field(default_factory=lambda: catena.priors.Independent({"drift": catena.priors.Normal(0, 1)}))
    proposal: Any = field(default_factory=lambda: catena.proposals.Box(-4, 4))
    method: str = "FNLE"
    budget: int = BUDGET
    model: str = ""  # situations of one name share a trained model
    settings: dict[str, Any] | None = None  # of the estimator, in place of the quicker ones
    steps: int | None = None  # of training, in place of the quicker ones; 0: the default's
    check: bool = False  # ask posterior.check with the simulator, and not posterior.sample


def walk(theta, x, rng):
    return x + theta + 0.5 * rng.standard_normal(x.shape)


def series_of(step, theta, start, length):
    """A maker of series of a simulator."""

    def make(rng):
        rows = [np.atleast_1d(np.asarray(start, float))]
        for _ in range(length):
            rows.append(step(np.atleast_2d(theta), rows[-1][None, :], rng)[0])
        return np.array(rows)

    return make


def walk_posterior(sd=0.5, scale=1.0):
    """Of the drift, times scale, of a walk with noise of that deviation, under N(0, 1)."""

    def exact(series):
        increments = np.diff(series[:, 0]) / scale
        precision = 1 + len(increments) / sd**2
        return increments.sum() / sd**2 / precision, precision**-0.5

    return exact


def scaled(size):
    return lambda theta, x, rng: x + size * (theta + 0.5 * rng.standard_normal(x.shape))


def with_constant(theta, x, rng):
    return np.concatenate([walk(theta, x[:, :1], rng), x[:, 1:]], axis=1)


def counts(theta, x, rng):
    return np.floor(rng.poisson(np.exp(1 + 0.5 * theta), x.shape)).astype(float)


def heavy(theta, x, rng):
    return 0.5 * x + theta + 0.5 * rng.standard_t(3, x.shape)


def growing(theta, x, rng):
    return x * np.exp(0.1 * theta + 0.1 * rng.standard_normal(x.shape))


def without_influence(theta, x, rng):
    return 0.5 * x + theta[:, :1] + 0.5 * rng.standard_normal(x.shape)


def still(theta, x, rng):
    return 0.5 * x + theta + 1e-3 * rng.standard_normal(x.shape)


def pulled(theta, x, rng):
    return 0.5 * x + theta + 0.5 * rng.standard_normal(x.shape)


def pulled_posterior(series):
    rest = series[1:, 0] - 0.5 * series[:-1, 0]
    precision = 1 + len(rest) / 0.25
    return rest.sum() / 0.25 / precision, precision**-0.5


def on_grid(log_step, sd=1.0, width=2.0):
    """The posterior's mean and deviation under N(0, sd²), by a sum over a fine grid."""

    def exact(series):
        theta = np.linspace(-width, width, 80_001)[:, None]
        x, following = series[:-1, 0], series[1:, 0]
        log_prior = -((theta[:, 0] / sd) ** 2) / 2
        log_density = sum(log_step(theta[:, 0], a, b) for a, b in zip(x, following, strict=True)) + log_prior
        weight = np.exp(log_density - log_density.max())
        weight /= weight.sum()
        mean = (weight * theta[:, 0]).sum()
        return mean, ((weight * (theta[:, 0] - mean) ** 2).sum()) ** 0.5

    return exact


def log_poisson(theta, x, following):
    return following * (1 + 0.5 * theta) - np.exp(1 + 0.5 * theta)


def log_heavy(theta, x, following):
    return -2 * np.log1p(((following - 0.5 * x - theta) / 0.5) ** 2 / 3)


def log_still(theta, x, following):
    return -(((following - 0.5 * x - theta) / 1e-3) ** 2) / 2


NORMAL = catena.priors.Normal(0, 1)
TWO = catena.priors.Independent({"drift": NORMAL, "idle": NORMAL})
WIDE = catena.priors.Independent({"drift": catena.priors.Normal(0, 2)})


def noise(sd):
    return lambda theta, x, rng: 0.5 * x + theta + sd * rng.standard_normal(x.shape)


def changing(rng):
    first = series_of(pulled, 1.0, 0.0, 40)(rng)
    return np.concatenate([first, series_of(pulled, -1.0, first[-1], 40)(rng)[1:]])


def observed_with_noise(rng):
    series = series_of(pulled, 0.4, 0.0, 100)(rng)
    return series + 0.8 * rng.standard_normal(series.shape)


def cauchy(theta, x, rng):
    return 0.5 * x + theta + 0.5 * rng.standard_cauchy(x.shape)


def log_cauchy(theta, x, following):
    return -np.log1p(((following - 0.5 * x - theta) / 0.5) ** 2)


def squared(theta, x, rng):
    """Two modes that are alike, ±θ."""
    return 0.5 * x + theta**2 + rng.standard_normal(x.shape)


def log_squared(theta, x, following):
    return -((following - 0.5 * x - theta**2) ** 2) / 2


def spread(theta, x, rng):
    """The noise is what is unknown: an autoregression whose deviation is e^θ/2."""
    return 0.5 * x + 0.5 * np.exp(theta) * rng.standard_normal(x.shape)


def log_spread(theta, x, following):
    return -theta - ((following - 0.5 * x) / (0.5 * np.exp(theta))) ** 2 / 2


PEOPLE = 5000


def epidemic(theta, x, rng):
    """A day: the susceptible and the infected of a town."""
    beta, gamma = theta.T
    susceptible, infected = x.T.astype(int)
    new = rng.binomial(susceptible, -np.expm1(-beta * infected / PEOPLE))
    recovered = rng.binomial(infected, -np.expm1(-gamma))
    return np.column_stack([susceptible - new, infected + new - recovered]).astype(float)


def days(count, rng):
    """States that an epidemic can have."""
    infected = np.round(np.exp(rng.uniform(0, np.log(PEOPLE / 2), count)))
    share = np.minimum(1, rng.uniform(0, 1.1, count))  # of those not infected; at the start it is all of them
    return np.column_stack([np.round(share * (PEOPLE - infected)), infected])


RATES = catena.priors.Independent({"beta": catena.priors.LogNormal(np.log(0.5), 0.6), "gamma": catena.priors.LogNormal(np.log(0.2), 0.6)})
outbreak = series_of(epidemic, [0.45, 0.18], [PEOPLE - 5.0, 5.0], 60)


def reported(rng):
    """30 % of the infected, and of those who have been, are known of."""
    series = outbreak(rng)
    infected = rng.binomial(series[:, 1].astype(int), 0.3)
    return np.column_stack([PEOPLE - np.round(0.3 * (PEOPLE - series[:, 0])), infected]).astype(float)


def counted(rng):
    """The infected are counted with an error of 20 %."""
    series = outbreak(rng)
    series[:, 1] = np.round(np.maximum(0, series[:, 1] * (1 + 0.2 * rng.standard_normal(len(series)))))
    return series


def autoregression(theta, x, rng):
    return theta[:, 1:] * x + np.exp(theta[:, :1]) * rng.standard_normal(x.shape)


def log_sigma_of_autoregression(series):
    """Of the logarithm of the noise, the slope integrated out: both by sums over fine grids."""
    log_sigma, slope = np.linspace(-3, -1, 801)[:, None], np.linspace(0, 1.5, 601)
    x, following = series[:-1, 0], series[1:, 0]
    squares = (following**2).sum() - 2 * slope * (x * following).sum() + slope**2 * (x**2).sum()
    log_density = -len(x) * log_sigma - squares / np.exp(2 * log_sigma) / 2 - slope**2 / 2 - (log_sigma / 5) ** 2 / 2
    weight = np.exp(log_density - log_density.max()).sum(axis=1)
    weight /= weight.sum()
    mean = (weight * log_sigma[:, 0]).sum()
    return mean, ((weight * (log_sigma[:, 0] - mean) ** 2).sum()) ** 0.5


ALL: dict[str, Situation] = {
    "a series of the model itself": Situation(pulled, series_of(pulled, 0.4, 0.0, 60), pulled_posterior, model="pulled"),
    "the same, by ratios": Situation(pulled, series_of(pulled, 0.4, 0.0, 60), pulled_posterior, method="FNRE", model="ratio"),
    "a series of the model itself, checked": Situation(
        pulled, series_of(pulled, 0.4, 0.0, 60), pulled_posterior, model="pulled", check=True
    ),
    "three times the noise": Situation(pulled, series_of(noise(1.5), 0.4, 0.0, 60), model="pulled"),
    "three times the noise, by ratios": Situation(pulled, series_of(noise(1.5), 0.4, 0.0, 100), method="FNRE", model="ratio"),
    "three times the noise, by ratios, checked": Situation(
        pulled, series_of(noise(1.5), 0.4, 0.0, 100), method="FNRE", model="ratio", check=True
    ),
    "a tenth of the noise": Situation(pulled, series_of(noise(0.05), 0.4, 0.0, 60), model="pulled"),
    "signs that alternate": Situation(pulled, lambda rng: ((-1.0) ** np.arange(60))[:, None], model="pulled"),
    "signs that alternate, by ratios": Situation(
        pulled, lambda rng: ((-1.0) ** np.arange(60))[:, None], method="FNRE", model="ratio"
    ),
    "a constant series": Situation(pulled, lambda rng: np.zeros((60, 1)), model="pulled"),
    "a drift that changes its sign half-way": Situation(pulled, changing, model="pulled"),
    "a drift that changes its sign half-way, by ratios": Situation(pulled, changing, method="FNRE", model="ratio"),
    "states observed with noise": Situation(pulled, observed_with_noise, model="pulled"),
    "Cauchy noise in the data alone": Situation(pulled, series_of(cauchy, 0.4, 0.0, 60), model="pulled"),
    "a series that starts far away": Situation(walk, lambda rng: 50 + series_of(walk, 0.2, 0.0, 30)(rng), model="walk"),
    "a parameter far out in its prior": Situation(pulled, series_of(pulled, 9.0, 18.0, 60), model="pulled"),
    "steps that no state of this size makes": Situation(
        growing, lambda rng: 1 + (np.arange(40) % 2)[:, None] * 1.5, proposal=catena.proposals.Box(0.5, 40), model="growing"
    ),
    "a series longer than the budget": Situation(pulled, series_of(pulled, 0.4, 0.0, 4000), pulled_posterior, model="pulled"),
    "200 simulated transitions": Situation(pulled, series_of(pulled, 0.4, 0.0, 100), pulled_posterior, budget=200, model="few"),
    "a parameter without influence": Situation(
        without_influence, series_of(without_influence, [0.4, 0.0], 0.0, 60), pulled_posterior, prior=TWO, model="idle"
    ),
    "states of size 1e-12": Situation(
        scaled(1e-12), lambda rng: 1e-12 * series_of(walk, 0.3, -2.0, 12)(rng), walk_posterior(scale=1e-12),
        proposal=catena.proposals.Box(-4e-12, 4e-12), model="tiny",
    ),
    "states of size 1e12": Situation(
        scaled(1e12), lambda rng: 1e12 * series_of(walk, 0.3, -2.0, 12)(rng), walk_posterior(scale=1e12),
        proposal=catena.proposals.Box(-4e12, 4e12), model="huge",
    ),
    "a coordinate that never changes": Situation(
        with_constant, series_of(with_constant, 0.3, [-2.0, 5.1], 12), walk_posterior(),
        proposal=catena.proposals.Box([-4, 4.1], [4, 6.1]), model="constant",
    ),
    "a coordinate that never changes, by ratios": Situation(
        with_constant, series_of(with_constant, 0.3, [-2.0, 5.1], 12), walk_posterior(),
        proposal=catena.proposals.Box([-4, 4.1], [4, 6.1]), method="FNRE", model="constant",
    ),
    "counts": Situation(counts, series_of(counts, 0.4, 3.0, 60), on_grid(log_poisson), proposal=catena.proposals.Box(0, 20), model="counts"),
    "heavy tails learned as a Gaussian": Situation(heavy, series_of(heavy, 0.4, 0.0, 60), on_grid(log_heavy), proposal=catena.proposals.Box(-8, 8), model="heavy"),
    "Cauchy noise in the simulator": Situation(
        cauchy, series_of(cauchy, 0.4, 0.0, 60), on_grid(log_cauchy), proposal=catena.proposals.Box(-8, 8), model="cauchy",
        settings={"effort": "quick"},
    ),
    "Cauchy noise in the simulator, learned as a Gaussian": Situation(
        cauchy, series_of(cauchy, 0.4, 0.0, 60), on_grid(log_cauchy), proposal=catena.proposals.Box(-8, 8), model="wild",
    ),
    "Cauchy noise in the simulator, by ratios, checked": Situation(
        cauchy, series_of(cauchy, 0.4, 0.0, 60), on_grid(log_cauchy), proposal=catena.proposals.Box(-8, 8), model="wild",
        method="FNRE", check=True,
    ),
    "two equal modes": Situation(
        squared, series_of(squared, 2.0, 8.0, 60), on_grid(log_squared, sd=2.0, width=5.0), prior=WIDE,
        proposal=catena.proposals.Box(-4, 16), model="squared", budget=10_000,
    ),
    "an unknown noise": Situation(spread, series_of(spread, 0.3, 0.0, 60), on_grid(log_spread), model="spread"),
    "an epidemic of which 30 % is reported": Situation(epidemic, reported, prior=RATES, proposal=days, model="epidemic"),
    "an epidemic counted with an error of 20 %": Situation(epidemic, counted, prior=RATES, proposal=days, model="epidemic"),
    "an epidemic counted with an error of 20 %, by ratios": Situation(
        epidemic, counted, prior=RATES, proposal=days, model="epidemic", method="FNRE", budget=10_000, settings={"effort": "quick"}, steps=0
    ),
    "an epidemic counted with an error of 20 %, by scores": Situation(
        epidemic, counted, prior=RATES, proposal=days, model="epidemic", method="FNSE", budget=10_000, settings={"effort": "quick"}, steps=0
    ),
    "states observed with noise, by ratios": Situation(pulled, observed_with_noise, method="FNRE", model="ratio"),
    "a prior a hundred times as wide as the posterior": Situation(
        autoregression, series_of(autoregression, [np.log(0.15), 0.7], 0.0, 200), log_sigma_of_autoregression,
        prior=catena.priors.Independent({"log_sigma": catena.priors.Normal(0, 5), "slope": NORMAL}), model="autoregression",
        budget=10_000, settings={"effort": "quick"}, steps=0,
    ),
    "next to no noise": Situation(still, series_of(still, 0.4, 0.0, 60), on_grid(log_still), model="still"),
}  # fmt: skip


class Models:
    """Trained models, each made once."""

    def __init__(self):
        self.made = {}

    def of(self, one: Situation):
        key = (one.model, one.method, one.budget)
        settings = QUICK[one.method] if one.settings is None else one.settings
        steps = STEPS[one.method] if one.steps is None else one.steps
        if key not in self.made:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                data = catena.simulate(one.step, one.prior, proposal=one.proposal, budget=one.budget, seed=1, show_progress_bars=False)
                estimator = getattr(catena, one.method)(one.prior, **settings).append_simulations(data)
                self.made[key] = estimator.train(seed=1, steps=steps, show_progress_bars=False).build_posterior()
        return self.made[key]


def verdict(models: Models, one: Situation):
    """What catena says, the first parameter's draws, and the exact mean and deviation (None of series that the simulator
    did not make)."""
    series = one.series(np.random.default_rng(7))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        posterior = models.of(one)
        theta = posterior.sample((400,), x=series, seed=1, show_progress_bars=False)
        said = posterior.draws.info["outcome"]
        if one.check:
            said = posterior.check(one.step, x=series, seed=1, show_progress_bars=False).outcome
    return said, theta[:, 0], one.exact(series) if one.exact else None
