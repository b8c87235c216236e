"""Where training transitions start: proposals p̃(x) for the states.

A transition that is never simulated cannot be learned: the proposal must cover the states of the series that will be
observed. Target(series) is the simplest choice when they are at hand, Predictive when they are not.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _core
from ._arrays import ArrayLike, as_array, as_rows, to_json
from ._covariates import as_table, as_tables
from ._settings import Settings, entries
from ._times import Dates, split_time
from .priors import Family, Independent, Normal, Prior, Uniform


class Proposal:
    """What files record of a proposal, and how many states it has (None: not known before it is used)."""

    def __init__(self, description: Mapping[str, Any], states: int | None = None, names: list[str] | None = None) -> None:
        self.description = dict(description)
        self.states = states
        self.names = names
        self.series: list[np.ndarray] = []
        self.times: list[np.ndarray] = []  # of the rows of each series; empty where they are not known
        self.covariates: list[np.ndarray] = []  # of the rows of each series; none where there are none
        self.covariate_names: list[str] = []
        self.draw: Callable[..., Any] | None = None

    def __repr__(self) -> str:
        settings = ", ".join(f"{k}={v!r}" for k, v in self.description.items() if k not in ("proposal", "states"))
        return f"{type(self).__name__}({settings})"


def _checked(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    entry = entries(_core.proposals())[name]
    return json.loads(Settings(f"proposals.{name.title()}", json.dumps(entry["settings"])).json_of(settings))


class Fixed(Proposal):
    """A distribution for every coordinate of the state; t is uniform on 0 … times − 1 for simulators that use it.

    >>> from catena import priors
    >>> Fixed({"prey": priors.Uniform(0, 100), "predators": priors.Uniform(0, 50)}).states
    2
    """

    def __init__(self, states: Mapping[Any, Family] | Prior, times: int = 1) -> None:
        prior = states if isinstance(states, Prior) else Independent(states)
        description = {"proposal": "fixed", "states": prior.to_dict(), "times": times}
        super().__init__(description, prior.dimension, prior.names)


def _each(function: str, first: ArrayLike, second: ArrayLike, make: Callable[[float, float], Family]) -> dict[str, Family]:
    pairs = np.broadcast_arrays(
        np.atleast_1d(as_array(first, function, "the first argument")),
        np.atleast_1d(as_array(second, function, "the second argument")),
    )
    return {f"x_{i + 1}": make(float(a), float(b)) for i, (a, b) in enumerate(zip(*pairs, strict=True))}


class Box(Fixed):
    """Every coordinate uniform between its low and its high.

    >>> Box([0, 0], [100, 50]).states
    2
    """

    def __init__(self, low: ArrayLike, high: ArrayLike, times: int = 1) -> None:
        super().__init__(_each("proposals.Box", low, high, Uniform), times)


class Gaussian(Fixed):
    """Every coordinate N(mean, sd²).

    >>> Gaussian([0, 0], 2).states
    2
    """

    def __init__(self, mean: ArrayLike, sd: ArrayLike, times: int = 1) -> None:
        super().__init__(_each("proposals.Gaussian", mean, sd, Normal), times)


class Target(Proposal):
    """States of given series (the observed one, say), plus noise: good for these series, not beyond them. A DataFrame's
    column `time` is the time of its rows, for simulators that use it; dates count in time_unit= ("day", "month", …) since
    time_origin= or the first of them, which must be as for the posterior. covariates: the names of those columns of a
    DataFrame that are known inputs of the step (or the rows themselves, for an array), from which training draws.

    >>> Target([[0.0, 1.0], [0.5, 1.2]], noise=0.2).states
    2
    """

    def __init__(
        self,
        series: ArrayLike | Sequence[ArrayLike],
        *,
        covariates: Any = None,
        time_unit: str = "auto",
        time_origin: str = "",
        **settings: Any,
    ) -> None:
        given = series if isinstance(series, (list, tuple)) and np.ndim(series[0]) >= 2 else [series]
        parts = [split_time(one, "proposals.Target") for one in given]
        states = [one for one, _ in parts]
        names, tables = [], []
        if covariates is not None:
            named = [covariates] if isinstance(covariates, str) else covariates
            if isinstance(named, (list, tuple)) and all(isinstance(name, str) for name in named):
                names = [str(name) for name in named]
                tables = [as_table(one, "proposals.Target", names)[0] for one in states]
                states = [one.drop(columns=names) if hasattr(one, "drop") else one for one in states]
            else:
                tables, names = as_tables(covariates, "proposals.Target")
        columns = [as_rows(one, "proposals.Target", "series") for one in states]
        super().__init__({"proposal": "target", **_checked("target", settings)}, columns[0].shape[1])
        self.series = columns
        self.covariates, self.covariate_names = tables, names
        self.times = [np.empty(0) if times is None else np.ascontiguousarray(times) for _, times in parts]
        dated = [isinstance(times, Dates) for _, times in parts]
        if any(dated):
            if not all(dated):
                raise ValueError("proposals.Target: some series have dates, but all or none must have them")
            paths = to_json({"time_unit": time_unit, "time_origin": time_origin})
            dates = [times.view(np.ndarray) for times in self.times]
            self.times, _ = _core.number_dates("proposals.Target", dates, paths, False)
        self.unit_is_guessed = any(dated) and time_unit == "auto"


class Predictive(Proposal):
    """States of a few series simulated from the prior, plus noise; needs initial_state=, costs their transitions.

    >>> Predictive(series=20, length=50)
    Predictive(series=20, length=50)
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__({"proposal": "predictive", **_checked("predictive", settings)})


class Rollout(Proposal):
    """Initial states carried on with a fresh θ at each of `length` transitions; needs initial_state=.

    >>> Rollout(length=20)
    Rollout(length=20)
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__({"proposal": "rollout", **_checked("rollout", settings)})


class Callback(Proposal):
    """States from a function draw(count, rng) → x [count, n], or (x, t) for simulators that use time.

    >>> Callback(lambda count, rng: rng.uniform(0, 10, (count, 2)))
    Callback(function='<lambda>')
    """

    def __init__(self, draw: Callable[..., Any]) -> None:
        name = getattr(draw, "__qualname__", type(draw).__name__)
        super().__init__({"proposal": "python", "function": name})
        self.draw = draw


def as_proposal(value: Any, function: str) -> Proposal:
    """What may be given as proposal=: one of these, a prior on the states, a name, a function."""
    if isinstance(value, Proposal):
        return value
    if isinstance(value, (Prior, Mapping)):
        return Fixed(value)
    if value == "fixed":
        return Proposal({"proposal": "fixed"})
    if value == "predictive":
        return Predictive()
    if value == "rollout":
        return Rollout()
    if callable(value) and not inspect.isclass(value):
        return Callback(value)
    raise TypeError(
        f"{function}: proposal is {value!r}, but must be one of catena.proposals, a distribution for each state, a"
        " function draw(count, rng), 'predictive', 'rollout' or, for a task, 'fixed'"
    )
