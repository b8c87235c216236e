"""The built-in simulators: each with its prior, one transition, test series and, where it is known, the exact posterior.

>>> import catena
>>> 'lotka_volterra' in catena.tasks.names()
True
"""

from __future__ import annotations

import json
import os
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _html
from ._arrays import LARGEST_COUNT, ArrayLike, as_array, as_rows, as_seed, to_json
from ._covariates import as_tables, split_covariates
from ._settings import Settings, entries
from ._times import split_time
from .errors import SamplingFailure
from .priors import Prior

if TYPE_CHECKING:
    from .series import SeriesSet
    from .transitions import Transitions


@dataclass(frozen=True)
class Observation:
    """One test series with the parameters behind it."""

    series: np.ndarray  #: x⁰ … x^T, one state a row
    theta: np.ndarray  #: the true parameters
    times: np.ndarray | None  #: of the rows, for simulators that use time
    covariates: np.ndarray | None = None  #: of the rows, for simulators that take them


class Task:
    """A built-in simulator, from get(), or a plug-in, from load_plugin()."""

    def __init__(self, core: _core.Task) -> None:
        self._core = core

    @property
    def name(self) -> str:
        return self._core.name

    @property
    def options(self) -> dict[str, Any]:
        """All options, defaults included."""
        return json.loads(self._core.options)

    @property
    def prior(self) -> Prior:
        return Prior(self._core.prior)

    @property
    def state_names(self) -> list[str]:
        return list(self._core.state_names)

    @property
    def uses_time(self) -> bool:
        """Whether transitions depend on t."""
        return self._core.uses_time

    @property
    def covariate_names(self) -> list[str]:
        """Of the known inputs that transitions take."""
        return list(self._core.covariate_names)

    @property
    def covariates(self) -> np.ndarray:
        """The task's own table of them, a row for each step in time order."""
        return self._core.covariates

    def step(
        self,
        theta: ArrayLike,
        x: ArrayLike,
        t: ArrayLike | None = None,
        *,
        u: ArrayLike | None = None,
        seed: int | None = 0,
        threads: int = 0,
    ) -> np.ndarray:
        """One transition for every row; u: the covariates of each, for tasks that take them.

        >>> get("lotka_volterra").step(np.full((5, 4), 2.0), np.ones((5, 2)), seed=1).shape
        (5, 2)
        """
        rows = as_rows(x, "step", "x", len(self.state_names))
        parameters = as_rows(theta, "step", "theta", self.prior.dimension)
        times = np.zeros(len(rows)) if t is None else np.broadcast_to(as_array(t, "step", "t"), (len(rows),))
        _, inputs = split_covariates(rows, self.state_names, self.covariate_names, u, "step")
        inputs = np.broadcast_to(inputs, (len(rows), inputs.shape[1])) if len(inputs) else np.empty((len(rows), 0))
        times, inputs = np.ascontiguousarray(times), np.ascontiguousarray(inputs)
        return self._core.step(parameters, rows, times, inputs, as_seed(seed, "step"), threads)

    def simulate(self, **keywords: Any) -> Transitions | SeriesSet:
        """Training transitions, or whole series with series=10: catena.simulate(task, …).

        >>> get("gaussian_rw").simulate(budget=50)
        Transitions(45 of x_1; parameters theta_1)
        """
        from .simulation import simulate

        return simulate(self, **keywords)

    def observe(
        self,
        transitions: int = 10,
        *,
        theta: ArrayLike | None = None,
        covariates: ArrayLike | None = None,
        seed: int | None = 0,
    ) -> Observation:
        """A test series of so many transitions; θ is drawn from the prior unless it is given. covariates: a table of them
        in place of the task's own.

        >>> get("gaussian_rw").observe(10, seed=7).series.shape
        (11, 1)
        """
        given = np.empty(0) if theta is None else np.ascontiguousarray(as_array(theta, "observe", "theta").ravel())
        if not isinstance(transitions, (int, float, np.number)) or not 1 <= transitions <= LARGEST_COUNT or transitions % 1:
            raise ValueError(
                f"observe: transitions is {transitions!r}, but must be a whole number between 1 and {LARGEST_COUNT:,}"
            )
        tables = [] if covariates is None else as_tables(covariates, "observe", self.covariate_names)[0]
        found = self._core.observe(int(transitions), as_seed(seed, "observe"), given, tables)
        inputs = found["covariates"] if self.covariate_names else None
        return Observation(found["series"], found["theta"], found["times"] if self.uses_time else None, inputs)

    def reference(
        self,
        series: ArrayLike | Observation,
        n: int = 1000,
        *,
        seed: int | None = 0,
        threads: int = 0,
        show_progress_bars: bool = True,
        **settings: Any,
    ) -> np.ndarray:
        """Draws from the exact posterior of a series, [n, d]. Chains that have not mixed are an error.

        >>> task = get("gaussian_rw")
        >>> task.reference(task.observe(10), n=100).shape
        (100, 1)
        """
        given = None
        if isinstance(series, Observation):
            series, given = series.series, series.covariates
        rows, inputs = split_covariates(
            split_time(series, "reference")[0], self.state_names, self.covariate_names, given, "reference"
        )
        fields = Settings("reference", _core.reference_settings())
        found = self._core.reference(
            as_rows(rows, "reference", "series", len(self.state_names)), inputs,
            n, fields.json_of(settings), as_seed(seed, "reference"), threads, show_progress_bars,
        )  # fmt: skip
        if found["outcome"] != "ok":
            raise SamplingFailure(f"reference: {found['outcome']}: {_core.advice(found['outcome'], 'reference')}")
        return found["theta"]

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"Task({self.name!r}{options})"

    def _repr_html_(self) -> str:
        rows = {"states": ", ".join(self.state_names), "prior": repr(self.prior), **self.options}
        return _html.table(f"Task {self.name}", rows)

    def __reduce__(self) -> tuple[Any, ...]:
        return _make, (self.name, to_json(self.options))


def _make(name: str, options: str) -> Task:
    return Task(_core.make_task(name, options))


def names() -> list[str]:
    """The names that get() knows.

    >>> "sir" in names()
    True
    """
    return list(entries(_core.tasks()))


def get(name: str, **options: Any) -> Task:
    """The task of that name, with options that differ from its defaults.

    >>> get("lotka_volterra").state_names
    ['prey', 'predators']
    """
    known = entries(_core.tasks())
    if name in known:  # otherwise C++ has the sentence
        Settings(f"tasks.get({name!r})", json.dumps(known[name]["settings"])).check_names(options)
    return _make(name, to_json(options))


def load_plugin(path: str | os.PathLike[str]) -> Task:
    """A simulator from a shared library with the interface of catena_simulator.h, as `catena simulate --plugin`."""
    return Task(_core.load_plugin(os.fspath(path)))


def warn_outcome(function: str, outcome: str) -> None:
    """A warning with its remedy for a result that is not what it should be."""
    if outcome != "ok":
        warnings.warn(f"{function}: {outcome}: {_core.advice(outcome, function)}", RuntimeWarning, stacklevel=3)


def warn_findings(function: str, outcome: str, findings: list[dict[str, str]], stacklevel: int = 3) -> None:
    """A warning for each thing that is wrong with draws; for their outcome if that is not one of them."""
    for one in findings:
        sentence = f"{function}: {one['outcome']}: {one['sentence']}; {one['advice']}"
        warnings.warn(sentence, RuntimeWarning, stacklevel=stacklevel)
    if outcome != "ok" and all(one["outcome"] != outcome for one in findings):
        warnings.warn(f"{function}: {outcome}: {_core.advice(outcome, function)}", RuntimeWarning, stacklevel=stacklevel)
