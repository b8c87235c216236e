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
    """One distribution, of one parameter or (MultivariateNormal, Dirichlet) of several."""

    def __init__(self, family: str, settings: Mapping[str, Any], size: int = 1) -> None:
        self.family = family
        self.settings = {name: _setting(type(self).__name__, name, value) for name, value in settings.items()}
        self.size = size
        self._check()

    def _check(self) -> None:
        """A wrong setting is an error here."""
        self._prior([f"x_{i + 1}" for i in range(self.size)])

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


def _setting(kind: str, name: str, value: Any) -> Any:
    """A number or numbers, all finite, as a plain one; what is no number goes on to be refused by name."""
    if isinstance(value, Mapping):
        return dict(value)
    array = as_array(value, kind, name)
    for number in array.ravel():
        if not np.isfinite(number):
            raise ValueError(f"{kind}: {name} is {number}, but must be finite")
    return value if isinstance(value, (int, float)) else array.tolist()


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


class LogitNormal(Family):
    """low + (high − low) · sigmoid of N(location, scale²): a rate or a share between two bounds.

    >>> LogitNormal(0, 1, low=1, high=3)
    LogitNormal(location=0, scale=1, low=1, high=3)
    """

    def __init__(self, location: float = 0.0, scale: float = 1.0, low: float = 0.0, high: float = 1.0) -> None:
        super().__init__("logit_normal", {"location": location, "scale": scale, "low": low, "high": high})


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
        finite = {name: value for name, value in bounds.items() if value is not None and not np.isinf(value)}
        super().__init__("truncated_normal", {"mean": mean, "sd": sd, **finite})


class StudentT(Family):
    """Student's t with df degrees of freedom, about location.

    >>> StudentT(4, scale=0.5)
    StudentT(df=4, location=0.0, scale=0.5)
    """

    def __init__(self, df: float, location: float = 0.0, scale: float = 1.0) -> None:
        super().__init__("student_t", {"df": df, "location": location, "scale": scale})


class Cauchy(Family):
    """Cauchy about location.

    >>> Cauchy(0, 2)
    Cauchy(location=0, scale=2)
    """

    def __init__(self, location: float = 0.0, scale: float = 1.0) -> None:
        super().__init__("cauchy", {"location": location, "scale": scale})


class HalfCauchy(Family):
    """|Cauchy(0, scale)|.

    >>> HalfCauchy(2.5)
    HalfCauchy(scale=2.5)
    """

    def __init__(self, scale: float = 1.0) -> None:
        super().__init__("half_cauchy", {"scale": scale})


class Laplace(Family):
    """Laplace: e^(-|theta - location|/scale)/(2 scale).

    >>> Laplace(0, 0.5)
    Laplace(location=0, scale=0.5)
    """

    def __init__(self, location: float = 0.0, scale: float = 1.0) -> None:
        super().__init__("laplace", {"location": location, "scale": scale})


class Logistic(Family):
    """Logistic about location, with variance (pi scale)²/3.

    >>> Logistic(1, 0.5)
    Logistic(location=1, scale=0.5)
    """

    def __init__(self, location: float = 0.0, scale: float = 1.0) -> None:
        super().__init__("logistic", {"location": location, "scale": scale})


class InverseGamma(Family):
    """1/Gamma(shape, 1/scale), with mean scale/(shape − 1).

    >>> InverseGamma(3, 2)
    InverseGamma(shape=3, scale=2)
    """

    def __init__(self, shape: float, scale: float = 1.0) -> None:
        super().__init__("inverse_gamma", {"shape": shape, "scale": scale})


class LogUniform(Family):
    """exp of a uniform distribution: as likely between 0.01 and 0.1 as between 0.1 and 1.

    >>> LogUniform(0.01, 10)
    LogUniform(low=0.01, high=10)
    """

    def __init__(self, low: float, high: float) -> None:
        super().__init__("log_uniform", {"low": low, "high": high})


class Weibull(Family):
    """P(theta > x) = e^(-(x/scale)^shape).

    >>> Weibull(1.5, 2)
    Weibull(shape=1.5, scale=2)
    """

    def __init__(self, shape: float, scale: float = 1.0) -> None:
        super().__init__("weibull", {"shape": shape, "scale": scale})


class Truncated(Family):
    """A distribution of one parameter between low and high; None is no bound.

    >>> Truncated(StudentT(4), low=0)
    Truncated(StudentT(df=4, location=0.0, scale=1.0), low=0)
    """

    def __init__(self, base: Any, low: float | None = None, high: float | None = None) -> None:
        self.base = as_family(base, "Truncated")
        if self.base.size != 1:
            raise ValueError(f"Truncated: {self.base!r} is of {self.base.size} parameters, but must be of one")
        bounds = {"low": low, "high": high}
        finite = {name: value for name, value in bounds.items() if value is not None and not np.isinf(value)}
        super().__init__("truncated", {"base": {"family": self.base.family, **self.base.settings}, **finite})

    def __repr__(self) -> str:
        bounds = "".join(f", {name}={value!r}" for name, value in self.settings.items() if name != "base")
        return f"Truncated({self.base!r}{bounds})"


class Dirichlet(Family):
    """Parts of 1, for example Independent({("s", "i", "r"): Dirichlet([1, 1, 1])}). The simulator sees all of them; the
    last follows from the others, and only those are inferred.

    >>> prior = Independent({("s", "i", "r"): Dirichlet([2, 1, 1])})
    >>> prior.names, prior.seen_names
    (['s', 'i'], ['s', 'i', 'r'])
    """

    def __init__(self, concentration: ArrayLike) -> None:
        parts = as_array(concentration, "Dirichlet", "concentration").ravel()
        super().__init__("dirichlet", {"concentration": parts.tolist()}, len(parts))


class Fixed(Family):
    """A parameter that is known: the simulator sees its value, and nobody infers it.

    >>> prior = Independent({"growth": Uniform(0, 1), "capacity": Fixed(100.0)})
    >>> prior.names, prior.complete([[0.5]]).tolist()
    (['growth'], [[0.5, 100.0]])
    """

    def __init__(self, value: float) -> None:
        super().__init__("fixed", {"value": value})

    def _check(self) -> None:
        pass  # a prior of it alone has nothing to infer


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
    def seen_names(self) -> list[str]:
        """The names of all that a simulator sees: the parameters, and what is Fixed or the last part of a Dirichlet."""
        return list(self._core.seen_names)

    def complete(self, theta: ArrayLike) -> np.ndarray:
        """θ as a simulator sees it, [N, d] → [N, len(seen_names)]: with what is Fixed or the last part of a Dirichlet.

        >>> Independent({"a": Normal(), "b": Fixed(2.0)}).complete([[0.5]]).tolist()
        [[0.5, 2.0]]
        """
        return self._core.complete(as_rows(theta, "prior.complete", "theta", self.dimension))

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
        covariates: Any = None,
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
        in time_unit=. covariates: a table of what a step takes as u, in time order (default: a task's own).

        >>> def step(theta, x, rng):
        ...     return x + theta + 0.1 * rng.standard_normal(x.shape)
        >>> prior = Independent({"drift": Normal(0, 1)})
        >>> prior.predict(step, 50, initial_state=[0.0], transitions=10, show_progress_bars=False)
        Predictive(50 series of 10 transitions; states x_1)
        """
        from .prediction import predict_prior

        return predict_prior(
            self, simulator, n, x, times, covariates, initial_state, transitions, order, state_names, step_length,
            time_unit, seed, batch_size, executor, workers, threads, show_progress_bars,
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
    """A distribution for each parameter: {name: distribution}, where a tuple of names has one of several dimensions. A
    number is a Fixed value; frozen distributions of scipy.stats and those of torch become catena's own.

    >>> prior = Independent({"alpha": Uniform(1, 3), ("b", "c"): MultivariateNormal([0, 0], [[1, 0], [0, 1]])})
    >>> prior.names
    ['alpha', 'b', 'c']
    """

    def __init__(self, parameters: Mapping[Any, Any]) -> None:
        if not isinstance(parameters, Mapping):
            kind = type(parameters).__name__
            raise TypeError(
                f"Independent: the distributions are a {kind}, but must be a dictionary {{name: distribution}}, because"
                " every parameter has a name"
            )
        factors, inferred = [], 0
        for key, given in parameters.items():
            names = [key] if isinstance(key, str) else list(key) if isinstance(key, Sequence) else []
            if not names or not all(isinstance(name, str) for name in names):
                raise TypeError(f"Independent: {key!r} is a name, but must be a text or a tuple of texts")
            family = as_family(given, "Independent", names[0])
            if len(names) != family.size:
                raise ValueError(
                    f"Independent: {family!r} has {family.size} dimensions, but {key!r} gives {len(names)} names"
                )
            factors.append(family._factor(names))
            inferred += not isinstance(family, Fixed)
        if not inferred:
            what = "only known values" if factors else "empty"
            raise ValueError(f"Independent: the dictionary is {what}, but must have a distribution for at least one name")
        super().__init__(_core.Prior.from_json(to_json({"factors": factors})))


def as_family(value: Any, function: str, name: str = "the distribution") -> Family:
    """A distribution of catena.priors from one, from a number (a known value), from a frozen distribution of scipy.stats
    or from one of torch.distributions."""
    if isinstance(value, Family):
        return value
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
        return Fixed(float(value))
    module = type(value).__module__.partition(".")[0]
    if module in ("scipy", "torch"):
        from . import _foreign_priors

        return _foreign_priors.converted(value, function, name)
    kind = type(value).__name__
    raise TypeError(f"{function}: {name} is a {kind}, but must be a distribution of catena.priors: {families_text()}")


def families_text() -> str:
    """What there is: "Normal, Uniform, …".

    >>> "HalfCauchy" in families_text()
    True
    """
    return ", ".join(sorted(family.__name__ for family in Family.__subclasses__()))


def as_prior(value: Any, function: str) -> Prior:
    """A Prior, or a dictionary of distributions."""
    if isinstance(value, Prior):
        return value
    if isinstance(value, Mapping):
        return Independent(value)
    kind = type(value).__name__
    raise TypeError(f"{function}: prior is a {kind}, but must be a catena.priors.Independent or a dictionary of such")
