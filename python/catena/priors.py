"""Priors: a distribution for each parameter, with names.

>>> import catena
>>> prior = catena.priors.Independent({"alpha": catena.priors.Uniform(1, 3), "beta": catena.priors.LogNormal(0, 0.5)})
>>> prior.sample((1000,), seed=0).shape
(1000, 2)
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _html
from ._arrays import ArrayLike, as_array, as_rows, as_seed, draw_count, to_json

if TYPE_CHECKING:
    from .prediction import Predictive


class Family:
    """One distribution, of one parameter or (MultivariateNormal) of several."""

    def __init__(self, family: str, settings: Mapping[str, Any], size: int = 1) -> None:
        self.family = family
        self.settings = dict(settings)
        self.size = size
        self._prior([f"x_{i + 1}" for i in range(size)])  # so that a wrong setting is an error here

    def _factor(self, names: Sequence[str]) -> dict[str, Any]:
        return {"family": self.family, "names": list(names), **self.settings}

    def _prior(self, names: Sequence[str]) -> _core.Prior:
        return _core.Prior.from_json(to_json({"factors": [self._factor(names)]}))

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        return f"{type(self).__name__}({settings})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Family) and to_json(self._factor([])) == to_json(other._factor([]))

    __hash__ = None  # type: ignore[assignment]


class Normal(Family):
    """N(mean, sd²).

    >>> Normal(0, 2)
    Normal(mean=0, sd=2)
    """

    def __init__(self, mean: float = 0.0, sd: float = 1.0) -> None:
        super().__init__("normal", {"mean": mean, "sd": sd})


class Uniform(Family):
    """Uniform between low and high.

    >>> Uniform(1, 3)
    Uniform(low=1, high=3)
    """

    def __init__(self, low: float, high: float) -> None:
        super().__init__("uniform", {"low": low, "high": high})


class LogNormal(Family):
    """exp of N(log_mean, log_sd²).

    >>> LogNormal(0, 0.5)
    LogNormal(log_mean=0, log_sd=0.5)
    """

    def __init__(self, log_mean: float = 0.0, log_sd: float = 1.0) -> None:
        super().__init__("log_normal", {"log_mean": log_mean, "log_sd": log_sd})


class Gamma(Family):
    """Gamma with mean shape · scale.

    >>> Gamma(2, 0.5)
    Gamma(shape=2, scale=0.5)
    """

    def __init__(self, shape: float, scale: float = 1.0) -> None:
        super().__init__("gamma", {"shape": shape, "scale": scale})


class Beta(Family):
    """Beta(a, b), stretched to the interval from low to high.

    >>> Beta(2, 5)
    Beta(a=2, b=5, low=0.0, high=1.0)
    """

    def __init__(self, a: float, b: float, low: float = 0.0, high: float = 1.0) -> None:
        super().__init__("beta", {"a": a, "b": b, "low": low, "high": high})


class Exponential(Family):
    """Exponential with mean 1/rate.

    >>> Exponential(2.0)
    Exponential(rate=2.0)
    """

    def __init__(self, rate: float = 1.0) -> None:
        super().__init__("exponential", {"rate": rate})


class HalfNormal(Family):
    """|N(0, sd²)|.

    >>> HalfNormal(0.3)
    HalfNormal(sd=0.3)
    """

    def __init__(self, sd: float = 1.0) -> None:
        super().__init__("half_normal", {"sd": sd})


class TruncatedNormal(Family):
    """N(mean, sd²) between low and high; None is no bound.

    >>> TruncatedNormal(0, 1, low=0)
    TruncatedNormal(mean=0, sd=1, low=0)
    """

    def __init__(self, mean: float, sd: float, low: float | None = None, high: float | None = None) -> None:
        bounds = {"low": low, "high": high}
        finite = {name: value for name, value in bounds.items() if value is not None and np.isfinite(value)}
        super().__init__("truncated_normal", {"mean": mean, "sd": sd, **finite})


class MultivariateNormal(Family):
    """N(mean, covariance) of several parameters, for example Independent({("a", "b"): MultivariateNormal(…)}).

    >>> MultivariateNormal([0, 0], [[1, 0.5], [0.5, 1]]).size
    2
    """

    def __init__(self, mean: ArrayLike, covariance: ArrayLike) -> None:
        centre = as_array(mean, "MultivariateNormal", "mean").ravel()
        spread = as_rows(covariance, "MultivariateNormal", "covariance", len(centre))
        super().__init__("correlated_normal", {"mean": centre.tolist(), "covariance": spread.tolist()}, len(centre))


class Prior:
    """A product of independent parts with a name for every parameter; made by Independent, or read from a file."""

    def __init__(self, core: _core.Prior) -> None:
        self._core = core

    @property
    def names(self) -> list[str]:
        """The parameters' names."""
        return list(self._core.names)

    @property
    def dimension(self) -> int:
        """d, the number of parameters."""
        return len(self._core.names)

    def sample(self, sample_shape: Sequence[int] | int = (), *, seed: int | None = 0) -> np.ndarray:
        """Draws of θ, of shape sample_shape + (d,). The same seed gives the same draws; None takes a fresh one.

        >>> Independent({"a": Uniform(0, 1)}).sample((3, 2), seed=1).shape
        (3, 2, 1)
        """
        shape, count = draw_count(sample_shape, "prior.sample")
        return self._core.sample(count, as_seed(seed, "prior.sample")).reshape(*shape, self.dimension)

    def log_prob(self, theta: ArrayLike) -> np.ndarray:
        """log p(θ), of shape theta.shape[:-1]; −inf outside the support.

        >>> Independent({"a": Uniform(0, 2)}).log_prob([[1.0], [3.0]]).round(3).tolist()
        [-0.693, -inf]
        """
        array = as_array(theta, "prior.log_prob", "theta")
        if array.ndim == 0 or array.shape[-1] != self.dimension:
            raise ValueError(
                f"prior.log_prob: theta is of shape {array.shape}, but must end in {self.dimension}, the number of"
                " parameters"
            )
        rows = np.ascontiguousarray(array.reshape(-1, self.dimension))
        return self._core.log_prob(rows).reshape(array.shape[:-1])

    def around(self, theta: ArrayLike, widen: float = 2.0) -> Prior:
        """A normal at each mode of the draws θ of a posterior, `widen` times as wide as it, in place of this prior: for a
        second round of simulations (catena.simulate(…, around=draws)).

        >>> prior = Independent({"a": Uniform(0, 2)})
        >>> second = prior.around(prior.sample((100,)) / 10 + 1.5)
        >>> second.base == prior, bool(second.sample((100,)).min() > 1)
        (True, True)
        """
        return Prior(self._core.around(as_rows(theta, "prior.around", "theta", self.dimension), float(widen)))

    def predict(
        self,
        simulator: Any,
        n: int = 200,
        *,
        x: ArrayLike | None = None,
        times: Any = None,
        initial_state: Any = None,
        transitions: int | None = None,
        order: int = 1,
        state_names: Sequence[str] | None = None,
        step_length: float | None = None,
        time_unit: str = "auto",
        seed: int | None = 0,
        batch_size: int = 1024,
        executor: Any = None,
        workers: int | None = None,
        threads: int = 0,
        show_progress_bars: bool = True,
    ) -> Predictive:
        """Series that the simulator makes of n draws from the prior, before anything is learned: like x (from its first
        state on, at its times or times=), or of so many `transitions` from initial_state=, as catena.simulate takes it.

        One step of the simulator is step_length= of the times: the shortest difference, unless it is given; dates count
        in time_unit=.

        >>> def step(theta, x, rng):
        ...     return x + theta + 0.1 * rng.standard_normal(x.shape)
        >>> prior = Independent({"drift": Normal(0, 1)})
        >>> prior.predict(step, 50, initial_state=[0.0], transitions=10, show_progress_bars=False)
        Predictive(50 series of 10 transitions; states x_1)
        """
        from .prediction import predict_prior

        return predict_prior(
            self, simulator, n, x, times, initial_state, transitions, order, state_names, step_length, time_unit, seed,
            batch_size, executor, workers, threads, show_progress_bars,
        )  # fmt: skip

    @property
    def base(self) -> Prior:
        """The prior that around() started from; any other prior is its own base."""
        return Prior(self._core.base)

    def to_dict(self) -> dict[str, Any]:
        """The prior as files keep it."""
        return json.loads(self._core.to_json())

    def __repr__(self) -> str:
        parts = []
        for factor in self.to_dict()["factors"]:
            settings = ", ".join(f"{k}={v}" for k, v in factor.items() if k not in ("family", "names"))
            parts.append(f"{', '.join(factor['names'])}: {factor['family']}({settings})")
        return f"Prior({'; '.join(parts)})"

    def _repr_html_(self) -> str:
        rows = {}
        for factor in self.to_dict()["factors"]:
            settings = ", ".join(f"{k}={v}" for k, v in factor.items() if k not in ("family", "names"))
            rows[", ".join(factor["names"])] = f"{factor['family']}({settings})"
        return _html.table("Prior", rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Prior) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return _prior_from, (self._core.to_json(),)


def _prior_from(text: str) -> Prior:
    return Prior(_core.Prior.from_json(text))


class Independent(Prior):
    """A distribution for each parameter: {name: distribution}, where a tuple of names has a MultivariateNormal.

    >>> prior = Independent({"alpha": Uniform(1, 3), ("b", "c"): MultivariateNormal([0, 0], [[1, 0], [0, 1]])})
    >>> prior.names
    ['alpha', 'b', 'c']
    """

    def __init__(self, parameters: Mapping[Any, Family]) -> None:
        factors = []
        for key, family in parameters.items():
            names = [key] if isinstance(key, str) else list(key)
            if not isinstance(family, Family):
                kind = type(family).__name__
                raise TypeError(f"Independent: {names[0]} is a {kind}, but must be a distribution of catena.priors")
            if len(names) != family.size:
                raise ValueError(
                    f"Independent: {family!r} has {family.size} dimensions, but {key!r} gives {len(names)} names"
                )
            factors.append(family._factor(names))
        super().__init__(_core.Prior.from_json(to_json({"factors": factors})))


def as_prior(value: Any, function: str) -> Prior:
    """A Prior, or a dictionary of distributions."""
    if isinstance(value, Prior):
        return value
    if isinstance(value, Mapping):
        return Independent(value)
    kind = type(value).__name__
    raise TypeError(f"{function}: prior is a {kind}, but must be a catena.priors.Independent or a dictionary of such")
