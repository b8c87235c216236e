"""Distributions of scipy.stats and of torch as catena's own, by name and parameters: files stay readable without them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import priors
from ._arrays import as_array
from .priors import Family


def _at_zero(function: Callable[..., Family]) -> Callable[..., Family]:
    """A family that has no location: scipy's loc must be 0."""

    def made(loc: float, *rest: float) -> Family:
        if loc != 0:
            raise ValueError(f"loc is {loc}, but must be 0")
        return function(*rest)

    return made


# scipy's name → catena's family of (loc, scale, scipy's shapes in their order).
_SCIPY: dict[str, Callable[..., Family]] = {
    "norm": priors.Normal,
    "uniform": lambda loc, scale: priors.Uniform(loc, loc + scale),
    "lognorm": _at_zero(lambda scale, s: priors.LogNormal(np.log(scale), s)),
    "gamma": _at_zero(lambda scale, a: priors.Gamma(a, scale)),
    "erlang": _at_zero(lambda scale, a: priors.Gamma(a, scale)),
    "chi2": _at_zero(lambda scale, df: priors.Gamma(df / 2, 2 * scale)),
    "beta": lambda loc, scale, a, b: priors.Beta(a, b, loc, loc + scale),
    "expon": _at_zero(lambda scale: priors.Exponential(1 / scale)),
    "halfnorm": _at_zero(priors.HalfNormal),
    "truncnorm": lambda loc, scale, a, b: priors.TruncatedNormal(loc, scale, loc + a * scale, loc + b * scale),
    "t": lambda loc, scale, df: priors.StudentT(df, loc, scale),
    "cauchy": priors.Cauchy,
    "halfcauchy": _at_zero(priors.HalfCauchy),
    "laplace": priors.Laplace,
    "logistic": priors.Logistic,
    "invgamma": _at_zero(lambda scale, a: priors.InverseGamma(a, scale)),
    "loguniform": _at_zero(lambda scale, a, b: priors.LogUniform(a * scale, b * scale)),
    "reciprocal": _at_zero(lambda scale, a, b: priors.LogUniform(a * scale, b * scale)),
    "weibull_min": _at_zero(lambda scale, c: priors.Weibull(c, scale)),
}

# torch's class → catena's family of the distribution's own attributes.
_TORCH: dict[str, tuple[tuple[str, ...], Callable[..., Family]]] = {
    "Normal": (("loc", "scale"), priors.Normal),
    "Uniform": (("low", "high"), priors.Uniform),
    "LogNormal": (("loc", "scale"), priors.LogNormal),
    "Gamma": (("concentration", "rate"), lambda shape, rate: priors.Gamma(shape, 1 / rate)),
    "Chi2": (("df",), lambda df: priors.Gamma(df / 2, 2.0)),
    "Beta": (("concentration1", "concentration0"), priors.Beta),
    "Exponential": (("rate",), priors.Exponential),
    "HalfNormal": (("scale",), priors.HalfNormal),
    "StudentT": (("df", "loc", "scale"), priors.StudentT),
    "Cauchy": (("loc", "scale"), priors.Cauchy),
    "HalfCauchy": (("scale",), priors.HalfCauchy),
    "Laplace": (("loc", "scale"), priors.Laplace),
    "InverseGamma": (("concentration", "rate"), priors.InverseGamma),
    "Weibull": (("concentration", "scale"), priors.Weibull),
    "Dirichlet": (("concentration",), priors.Dirichlet),
    "MultivariateNormal": (("loc", "covariance_matrix"), priors.MultivariateNormal),
}


def _refused(function: str, name: str, what: str, known: Any) -> TypeError:
    return TypeError(
        f"{function}: {name} is {what}, which has no counterpart here, but must be one of {', '.join(known)}, or a"
        f" distribution of catena.priors: {priors.families_text()}"
    )


def _one_number(value: Any, what: str, function: str, name: str) -> float:
    array = as_array(value, function, what)
    if array.size != 1:
        raise ValueError(
            f"{function}: {name} has a {what} of shape {array.shape}, but must be a distribution of one parameter: give a"
            " name to each"
        )
    return float(array.reshape(()) if array.ndim == 0 else array.ravel()[0])


def _of_scipy(value: Any, function: str, name: str) -> Family:
    kind = type(value).__name__
    if kind == "multivariate_normal_frozen":
        return priors.MultivariateNormal(value.mean, value.cov_object.covariance)
    if kind == "dirichlet_frozen":
        return priors.Dirichlet(value.alpha)
    several = ("multivariate_normal", "dirichlet")
    law = getattr(getattr(value, "dist", None), "name", kind)
    if law not in _SCIPY or not hasattr(value, "args"):
        raise _refused(function, name, f"scipy.stats' {law}", (*_SCIPY, *several))
    shapes, loc, scale = value.dist._parse_args(*value.args, **value.kwds)
    numbers = [_one_number(number, "parameter", function, name) for number in (loc, scale, *shapes)]
    try:
        return _SCIPY[law](*numbers)
    except ValueError as error:
        raise ValueError(f"{function}: {name} is scipy.stats' {law}, whose {error}") from None


def _of_torch(value: Any, function: str, name: str) -> Family:
    law = type(value).__name__
    if law == "Independent":  # of torch: the last dimensions are one event
        return _of_torch(value.base_dist, function, name)
    if law not in _TORCH:
        raise _refused(function, name, f"torch's {law}", _TORCH)
    attributes, family = _TORCH[law]
    numbers: list[Any] = [getattr(value, attribute) for attribute in attributes]
    if law not in ("Dirichlet", "MultivariateNormal"):
        numbers = [_one_number(number, attribute, function, name) for attribute, number in zip(attributes, numbers, strict=True)]
    else:
        numbers = [as_array(number, function, name) for number in numbers]
    return family(*numbers)


def converted(value: Any, function: str, name: str) -> Family:
    """The counterpart of a frozen distribution of scipy.stats, or of one of torch."""
    return (_of_torch if type(value).__module__.startswith("torch") else _of_scipy)(value, function, name)
