"""Training data of methods that learn from whole series: series of any lengths, each with its θ."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core, _html
from ._arrays import ArrayLike, as_rows, names_of, to_json
from .priors import Prior, as_prior
from .transitions import report_invalid


class SeriesSet:
    """Whole series with their parameters, the prior of these and the record of how they were made.

    >>> import catena
    >>> data = catena.tasks.get("gaussian_rw").simulate(series=10, budget=100, proposal="fixed", show_progress_bars=False)
    >>> data.theta.shape, len(data), data.x[0].shape
    ((10, 1), 10, (11, 1))
    """

    def __init__(self, core: _core.SeriesSet) -> None:
        self._core = core

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SeriesSet:
        """The series of a file, written by save() or by `catena simulate --series`."""
        return cls(_core.read_series_set(os.fspath(path)))

    @classmethod
    def from_arrays(
        cls,
        prior: Prior,
        theta: ArrayLike,
        x: Sequence[ArrayLike],
        times: Sequence[ArrayLike] | None = None,
        *,
        state_names: Sequence[str] | None = None,
        max_invalid: float = 0.1,
    ) -> SeriesSet:
        """Series made elsewhere: x is a list of arrays [T + 1, n], one for each row of theta, of lengths that may differ,
        or one array [N, T + 1, n]. With times, one list of them for each series, the networks see time. Series that are
        not finite are dropped, counted and reported.

        >>> import catena, numpy as np
        >>> prior = catena.priors.Independent({"drift": catena.priors.Normal()})
        >>> SeriesSet.from_arrays(prior, [[0.1], [0.2]], [np.zeros((11, 2)), np.ones((5, 2))])
        SeriesSet(2 of x_1, x_2, 4 to 10 transitions; parameters drift)
        """
        function = "append_simulations"
        prior = as_prior(prior, function)
        columns = names_of(theta)
        if columns is not None and sorted(columns) == sorted(prior.names):
            theta = theta[prior.names]
        rows = as_rows(theta, function, "theta", prior.dimension)
        names = list(state_names or (names_of(x[0]) if len(x) else None) or [])
        series = [as_rows(each, function, f"series {i + 1}") for i, each in enumerate(x)]
        if len(series) != len(rows):
            raise ValueError(f"{function}: there are {len(series)} series, but must be {len(rows)}, as rows of theta")
        if not series:
            raise ValueError(f"{function}: there are no series, but must be")
        states = series[0].shape[1]
        names = names or [f"x_{i + 1}" for i in range(states)]
        if len(names) != states:
            raise ValueError(f"{function}: state_names has {len(names)} names, but must have {states}")
        given = None if times is None else [as_rows(each, function, "times", 1)[:, 0].copy() for each in times]
        for i, each in enumerate(series):
            if each.shape[1] != states:
                raise ValueError(f"{function}: series {i + 1} has {each.shape[1]} states, but must have {states}, as the first")
            if len(each) < 2:
                raise ValueError(f"{function}: series {i + 1} has {len(each)} rows, but must have 2 or more")
            if given is not None and (len(given) != len(series) or len(given[i]) != len(each)):
                raise ValueError(f"{function}: times must be one for each row of each series")
        finite = [
            bool(np.isfinite(each).all() and np.isfinite(rows[i]).all() and (given is None or np.isfinite(given[i]).all()))
            for i, each in enumerate(series)
        ]
        invalid = len(finite) - sum(finite)
        report_invalid(function, invalid, len(finite), max_invalid, "series")
        kept = [i for i, right in enumerate(finite) if right]
        budget = sum(len(each) - 1 for each in series)
        record = {"catena_version": _core.version(), "model": "given arrays", "budget": budget, "invalid": invalid}
        core = _core.make_series_set(
            prior._core, np.ascontiguousarray(rows[kept]), [series[i] for i in kept],
            [] if given is None else [given[i] for i in kept], names, given is not None, to_json(record),
        )  # fmt: skip
        return cls(core)

    @property
    def theta(self) -> np.ndarray:
        """Parameters, [N, d]; read-only, no copy."""
        return self._core.theta

    @property
    def x(self) -> list[np.ndarray]:
        """The states of each series, [T + 1, n]; read-only, no copy."""
        return np.split(self._core.states, self._core.offsets[1:-1])

    @property
    def times(self) -> list[np.ndarray] | None:
        """The times of each series' states; None unless the simulator uses time."""
        return np.split(self._core.times[:, 0], self._core.offsets[1:-1]) if self._core.uses_time else None

    @property
    def prior(self) -> Prior:
        return Prior(self._core.prior)

    @property
    def state_names(self) -> list[str]:
        return list(self._core.state_names)

    @property
    def provenance(self) -> dict[str, Any]:
        """How they were made: model, proposal, budget, seed, number of series dropped."""
        return json.loads(self._core.provenance)

    def __len__(self) -> int:
        return len(self._core)

    def save(self, path: str | os.PathLike[str]) -> None:
        """A netCDF file, for `catena train`; its ragged array is that of the CF conventions.

        >>> import catena
        >>> data = catena.tasks.get("gaussian_rw").simulate(series=5, budget=100, proposal="fixed", show_progress_bars=False)
        >>> data.save("series.nc")
        >>> len(SeriesSet.load("series.nc"))
        20
        """
        self._core.write(os.fspath(path))

    def _lengths(self) -> str:
        lengths = np.diff(self._core.offsets) - 1
        low, high = (int(lengths.min()), int(lengths.max())) if len(lengths) else (0, 0)
        return f"{low} transitions" if low == high else f"{low} to {high} transitions"

    def __repr__(self) -> str:
        states = ", ".join(self.state_names)
        return f"SeriesSet({len(self)} of {states}, {self._lengths()}; parameters {', '.join(self.prior.names)})"

    def _repr_html_(self) -> str:
        rows = {"series": len(self), "lengths": self._lengths(), "states": ", ".join(self.state_names)}
        return _html.table("SeriesSet", {**rows, "prior": repr(self.prior), **self.provenance})

    def __reduce__(self) -> tuple[Any, ...]:
        times = [np.array(each) for each in np.split(self._core.times[:, 0], self._core.offsets[1:-1])]
        x = [np.array(each) for each in self.x]
        return _from_parts, (
            self.prior, np.array(self.theta), x, times, self.state_names, self._core.uses_time, self._core.provenance,
        )  # fmt: skip


def _from_parts(prior: Prior, *parts: Any) -> SeriesSet:
    return SeriesSet(_core.make_series_set(prior._core, *parts))
