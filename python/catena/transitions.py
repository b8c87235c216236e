"""Training data: triples (θ, x^t, x^(t+1)), in memory or in a netCDF file that may be larger than memory."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _html
from ._arrays import ArrayLike, as_rows, names_of, to_json
from ._covariates import as_table
from .priors import Prior, as_prior

if TYPE_CHECKING:
    import xarray


class Transitions:
    """Transitions with the prior of θ and the record of how they were made.

    >>> import catena
    >>> task = catena.tasks.get("gaussian_rw")
    >>> data = task.simulate(budget=100, seed=1)
    >>> data.theta.shape, data.x.shape, data.x_next.shape
    ((90, 1), (90, 1), (90, 1))
    """

    def __init__(self, core: _core.TransitionSet | _core.TransitionFile, path: str | None = None) -> None:
        self._about = core  # names, prior and record
        self._loaded: _core.TransitionSet | None = None
        self.path = path

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Transitions:
        """The transitions of a file, written by save() or by `catena simulate`; read when they are first looked at."""
        return cls(_core.TransitionFile(os.fspath(path)), os.fspath(path))

    @classmethod
    def from_arrays(
        cls,
        prior: Prior,
        theta: ArrayLike,
        x: ArrayLike,
        x_next: ArrayLike,
        time: ArrayLike | None = None,
        *,
        u: ArrayLike | None = None,
        state_names: Sequence[str] | None = None,
        max_invalid: float = 0.1,
    ) -> Transitions:
        """Transitions made elsewhere, one a row; u: the covariates of each. Rows that are not finite are dropped, counted
        and reported.

        >>> import catena, numpy as np
        >>> prior = catena.priors.Independent({"drift": catena.priors.Normal()})
        >>> len(Transitions.from_arrays(prior, np.zeros((50, 1)), np.zeros((50, 2)), np.ones((50, 2))))
        50
        """
        function = "append_simulations"
        prior = as_prior(prior, function)
        columns = names_of(theta)
        if columns is not None and sorted(columns) == sorted(prior.names):
            theta = theta[prior.names]  # a DataFrame may have its columns in any order
        names = list(state_names or names_of(x) or [])
        parts = {
            "theta": as_rows(theta, function, "theta", prior.dimension),
            "x": as_rows(x, function, "x"),
            "x_next": as_rows(x_next, function, "x_next"),
        }
        if time is not None:
            parts["time"] = as_rows(time, function, "time", 1)
        else:
            parts["time"] = np.empty((len(parts["x"]), 0))
        parts["step"] = np.empty((len(parts["x"]), 0))
        parts["u"], inputs = (np.empty((len(parts["x"]), 0)), []) if u is None else as_table(u, function)
        for name, part in parts.items():
            if len(part) != len(parts["x"]):
                raise ValueError(f"{function}: {name} has {len(part)} rows, but must have {len(parts['x'])}, as x")
        if parts["x_next"].shape != parts["x"].shape:
            raise ValueError(f"{function}: x_next is of shape {parts['x_next'].shape}, but must be as x, {parts['x'].shape}")
        states = parts["x"].shape[1]
        names = names or [f"x_{i + 1}" for i in range(states)]
        if len(names) != states:
            raise ValueError(f"{function}: state_names has {len(names)} names, but must have {states}")
        finite = np.all([np.isfinite(part).all(axis=1) for part in parts.values()], axis=0)
        invalid = int(len(finite) - finite.sum())
        report_invalid(function, invalid, len(finite), max_invalid)
        if invalid:
            parts = {name: np.ascontiguousarray(part[finite]) for name, part in parts.items()}
        provenance = {"catena_version": _core.version(), "model": "given arrays", "budget": len(finite), "invalid": invalid}
        return cls(make_set(prior, parts, names, inputs, to_json(provenance)))

    @property
    def _core(self) -> _core.TransitionSet:
        if self._loaded is None:
            self._loaded = self._about.read() if isinstance(self._about, _core.TransitionFile) else self._about
        return self._loaded

    @property
    def theta(self) -> np.ndarray:
        """Parameters, [N, d]; read-only, no copy."""
        return self._core.theta

    @property
    def x(self) -> np.ndarray:
        """States before the transition, [N, n]; read-only, no copy. Of a chain of order m: [N, mn], latest first."""
        return self._core.x

    @property
    def x_next(self) -> np.ndarray:
        """States after the transition, [N, n]; read-only, no copy. Of blocks of M: [N, Mn], in their order."""
        return self._core.x_next

    @property
    def time(self) -> np.ndarray | None:
        """t of each transition, [N]; None unless the simulator uses time."""
        time = self._core.time
        return time[:, 0] if time.shape[1] else None

    @property
    def step(self) -> np.ndarray | None:
        """Δ of each transition in steps of the simulator, [N]; None unless they were simulated with gaps."""
        step = self._core.step
        return step[:, 0] if step.shape[1] else None

    @property
    def u(self) -> np.ndarray | None:
        """Covariates of each transition, [N, k], or of blocks of M [N, Mk]; None if the simulator takes none."""
        return self._core.u if self.covariate_names else None

    @property
    def prior(self) -> Prior:
        return Prior(self._about.prior)

    @property
    def state_names(self) -> list[str]:
        return list(self._about.state_names)

    @property
    def covariate_names(self) -> list[str]:
        return list(self._about.covariate_names)

    @property
    def provenance(self) -> dict[str, Any]:
        """How they were made: model, proposal, budget, seed, number of rows dropped."""
        return json.loads(self._about.provenance)

    def __len__(self) -> int:
        return len(self._about)

    def save(self, path: str | os.PathLike[str]) -> None:
        """A netCDF file, for `catena train` and xarray.

        >>> import catena
        >>> catena.tasks.get("gaussian_rw").simulate(budget=100).save("transitions.nc")
        >>> len(Transitions.load("transitions.nc"))
        90
        """
        self._core.write(os.fspath(path))

    def to_xarray(self) -> xarray.Dataset:
        """An xarray Dataset with named parameters and states."""
        import xarray

        plain = self.x.shape == self.x_next.shape  # names of dimensions as in the file
        variables: dict[str, Any] = {
            "theta": (("transition", "parameter"), self.theta),
            "x": (("transition", "state" if plain else "state_before"), self.x),
            "x_next": (("transition", "state" if plain else "state_after"), self.x_next),
        }
        if self.step is not None:
            variables["step"] = (("transition",), self.step)
        if self.time is not None:
            variables["time"] = (("transition",), self.time)
        coordinates = {"parameter": self.prior.names, "state": self.state_names}
        if self.u is not None:
            single = self.u.shape[1] == len(self.covariate_names)
            variables["u"] = (("transition", "covariate" if single else "covariate_column"), self.u)
            coordinates["covariate"] = self.covariate_names
        return xarray.Dataset(variables, coordinates, {"provenance": self._core.provenance})

    def __repr__(self) -> str:
        states = ", ".join(self.state_names)
        return f"Transitions({len(self)} of {states}; parameters {', '.join(self.prior.names)})"

    def _repr_html_(self) -> str:
        rows = {"transitions": len(self), "states": ", ".join(self.state_names), "prior": repr(self.prior)}
        return _html.table("Transitions", {**rows, **self.provenance})

    def __reduce__(self) -> tuple[Any, ...]:
        if self.path is not None:
            return Transitions.load, (self.path,)
        parts = {name: np.array(getattr(self._core, name)) for name in PARTS}
        return _from_parts, (self.prior, parts, self.state_names, self.covariate_names, self._core.provenance)


PARTS = ("theta", "x", "x_next", "time", "step", "u")


def make_set(
    prior: Prior, parts: dict[str, np.ndarray], state_names: list[str], covariate_names: list[str], provenance: str
) -> _core.TransitionSet:
    """The C++ set of arrays by name, which must be float64 rows."""
    arrays = (parts[name] for name in PARTS)
    return _core.make_transitions(prior._core, *arrays, state_names, covariate_names, provenance)


def _from_parts(*parts: Any) -> Transitions:
    return Transitions(make_set(*parts))


def report_invalid(function: str, invalid: int, rows: int, max_invalid: float, what: str = "transitions") -> None:
    """A warning for dropped rows, an error for too many."""
    if invalid == 0:
        return
    lost = f"{function}: {invalid} of {rows} {what} are not finite"
    if invalid == rows or invalid > max_invalid * rows:
        raise ValueError(
            f"{lost}, but at most a share of {max_invalid:g} may be (max_invalid): narrow the prior or the proposal, or"
            " mend the simulator"
        )
    warnings.warn(f"{lost} and were dropped", stacklevel=3)
