"""Draws of θ and what they are of: series, how they were made, files, tables, ArviZ, figures.

In the examples `posterior` was built by an estimator of one parameter, and `series` is an array [T + 1, 1].
"""

from __future__ import annotations

import json
import os
import pathlib
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _core
from ._arrays import ArrayLike, as_rows, to_json
from ._covariates import NONE
from ._times import to_datetime64
from .figures import Figures

if TYPE_CHECKING:
    import arviz
    import pandas

    from .prediction import Predictive


class Series(NamedTuple):
    """States, one a row, NaN where they are missing, the time of each (none if they do not matter) and its covariates
    (without columns if the model takes none)."""

    rows: np.ndarray
    times: np.ndarray
    covariates: np.ndarray = NONE

    def followed_by(self, other: Series) -> Series:
        return Series(*(np.concatenate(pair) for pair in zip(self, other, strict=True)))

    def complete(self) -> bool:
        return bool(np.isfinite(self.rows).all())


@dataclass(frozen=True)
class Draws:
    """Draws of θ and how they were made: what `catena sample` writes to a file and `catena predict`, `catena report` and
    Draws.load read."""

    theta: np.ndarray  #: [n, d], the chains one after the other
    parameters: list[str]
    series: list[Series]  #: the observed ones, all of one θ: states in .rows, times in .times
    state_names: list[str]
    chains: int = 1
    record: dict[str, Any] = field(default_factory=dict)  #: method, model, seed, transitions, paths, info, outcome, …
    learned: np.ndarray | None = None  #: [N, d], of corrected draws: those before the correction
    calendar: str = ""  #: of times that are dates: their unit and origin, as JSON
    health: np.ndarray | None = None  #: [d, 3], R-hat, bulk and tail ESS of all that the chains kept
    predictive: Predictive | None = None  #: what Posterior.predict made of them last
    covariate_names: list[str] = field(default_factory=list)  #: of the columns of .covariates of the series
    _known: dict[str, np.ndarray] = field(default_factory=dict, repr=False, compare=False)
    _make: Callable[[np.ndarray], dict[str, np.ndarray]] | None = field(default=None, repr=False, compare=False)

    @property
    def groups(self) -> dict[str, np.ndarray]:
        """What ArviZ makes use of beside the draws, as far as the method has it: prior [n, d], log_density [n] and
        log_likelihood [n, transitions]."""
        if self._make is not None and not self._known:
            self._known.update(self._make(self.theta))
        return self._known

    @property
    def times(self) -> list[np.ndarray]:
        """Of the rows of each series: dates, or numbers; empty where they do not matter."""
        return [to_datetime64(self.calendar, one.times) if self.calendar else one.times for one in self.series]

    @property
    def info(self) -> dict[str, Any]:
        """Evaluations, settings, seconds, R-hat, outcome, …"""
        return json.loads(self.record.get("info", "{}"))

    @property
    def warning(self) -> str:
        """About transitions outside the training range; empty if there are none."""
        return self.record.get("warning", "")

    def save(self, path: str | os.PathLike[str]) -> None:
        """A netCDF file that ArviZ, `catena predict` and `catena report` open. Draws that are not finite are left out.

        >>> theta = posterior.sample((100,), x=series)
        >>> posterior.draws.save("posterior.nc")
        """
        rows, times, inputs = [list(part) for part in zip(*self.series, strict=True)] or ([], [], [])
        none, known = np.empty((0, len(self.parameters))), self.groups
        _core.write_draws(
            os.fspath(path), self.parameters, self.theta, self.chains, self.state_names, rows, times, inputs,
            none if self.learned is None else self.learned, to_json(self.record),
            np.empty((0, 3)) if self.health is None else self.health, known.get("log_likelihood", np.empty((0, 0))),
            known.get("log_density", np.empty(0)), known.get("prior", none), self.calendar, self.covariate_names,
        )  # fmt: skip

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Draws:
        """Draws from a file that catena or ArviZ wrote, or from a CSV file with one draw a row.

        >>> theta = posterior.sample((100,), x=series)
        >>> posterior.draws.save("posterior.nc")
        >>> bool((Draws.load("posterior.nc").theta == theta).all())
        True
        """
        found = _core.read_draws(os.fspath(path))
        names = ("prior", "log_density", "log_likelihood")
        return Draws(
            theta=found["theta"],
            parameters=list(found["parameters"]),
            series=[Series(*each) for each in zip(found["series"], found["times"], found["covariates"], strict=True)],
            covariate_names=list(found["covariate_names"]),
            state_names=list(found["states"][0]) if found["states"] else [],
            chains=found["chains"],
            record=json.loads(found["record"]),
            learned=found["learned"],
            calendar=found["calendar"],
            health=found["health"] if len(found["health"]) else None,
            _known={name: found[name] for name in names if len(found[name])},
        )

    def summary(self, interval: float = 0.9) -> pandas.DataFrame:
        """Mean, standard deviation, median, the ends of the central interval, R-hat and effective sample sizes: a row for
        each parameter.

        >>> theta = posterior.sample((100,), x=series)
        >>> list(posterior.summary().columns)
        ['mean', 'sd', 'q5', 'median', 'q95', 'r_hat', 'ess_bulk', 'ess_tail']
        """
        import pandas

        if not 0 < interval < 1:
            raise ValueError(f"summary: interval is {interval!r}, but must be between 0 and 1")
        finite = self.theta[np.isfinite(self.theta).all(axis=1)]
        whole = len(finite) == len(self.theta) and len(finite) // self.chains >= 4
        health = self.health
        if health is None:
            health = _core.chain_health(self.theta, self.chains) if whole else np.full((len(self.parameters), 3), np.nan)
        low, middle, high = np.quantile(finite, [(1 - interval) / 2, 0.5, (1 + interval) / 2], axis=0)
        columns = {
            "mean": finite.mean(axis=0),
            "sd": finite.std(axis=0, ddof=1) if len(finite) > 1 else np.full(len(self.parameters), np.nan),
            f"q{50 * (1 - interval):.6g}": low,
            "median": middle,
            f"q{50 * (1 + interval):.6g}": high,
            **{name: health[:, k] for k, name in enumerate(("r_hat", "ess_bulk", "ess_tail"))},
        }
        return pandas.DataFrame(columns, index=pandas.Index(self.parameters, name="parameter"))

    def to_arviz(self) -> arviz.InferenceData:
        """ArviZ's InferenceData: posterior (chain, draw) with a variable per parameter, and observed_data:
        series, and series_2, … if there are more, with the coordinates time, time_2, … where times are known (dates, if
        they are), and constant_data with the covariates of each, if the model takes any. As far as the method has them:
        log_likelihood (`transitions`, for arviz.loo and compare), sample_stats (`lp`), prior, and, after
        Posterior.predict, posterior_predictive and predictions."""
        import arviz

        ends = ["", *(f"_{s + 2}" for s in range(len(self.series) - 1))]
        known = {f"time{end}": times for end, times in zip(ends, self.times, strict=False) if len(times) > 0}
        chains = (self.chains, len(self.theta) // self.chains)

        def by_name(theta: np.ndarray, shape: tuple[int, int]) -> dict[str, np.ndarray]:
            return {name: theta[:, i].reshape(shape) for i, name in enumerate(self.parameters)}

        groups: dict[str, Any] = {} if self.predictive is None else self.predictive.groups()
        coords = {"state": self.state_names, **groups.pop("coords", {}), **known}
        dims = {**groups.pop("dims", {}), **{f"series{end}": [f"time{end}", "state"] for end in ends}}
        if "prior" in self.groups:
            groups["prior"] = by_name(self.groups["prior"], (1, -1))
        if "log_density" in self.groups:
            groups["sample_stats"] = {"lp": self.groups["log_density"].reshape(chains)}
        if "log_likelihood" in self.groups:
            groups["log_likelihood"] = {"transitions": self.groups["log_likelihood"].reshape(*chains, -1)}
            dims["transitions"] = ["transition"]
        if self.covariate_names:
            coords["covariate"] = self.covariate_names
            dims |= {f"covariates{end}": [f"time{end}", "covariate"] for end in ends}
            groups["constant_data"] = {
                f"covariates{end}": one.covariates for end, one in zip(ends, self.series, strict=False)
            }
        data = arviz.from_dict(
            posterior=by_name(self.theta, chains),
            observed_data={f"series{end}": one.rows for end, one in zip(ends, self.series, strict=False)},
            dims=dims,
            coords=coords,
            **groups,
        )
        return data if self.predictive is None else self.predictive.with_forecast(data)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_known": self.groups, "_make": None}


class Panel(list[Series]):
    """The series of one θ, and, where their times are dates, the calendar that these count in (as JSON)."""

    def __init__(self, series: Iterable[Series] = (), calendar: str = "") -> None:
        super().__init__(series)
        self.calendar = calendar


def figures_of(
    draws: Draws,
    model: _core.Model,
    truth: ArrayLike | None,
    reference: ArrayLike | None,
    labels: Mapping[str, str] | None,
    interval: float,
) -> Figures:
    """Pair plot, marginals, the (first) series and which of its transitions told most: what `catena report` makes of the
    draws, what was predicted from them and the model, as files."""
    with tempfile.TemporaryDirectory(prefix="catena-figures-") as folder:
        files = [pathlib.Path(folder) / name for name in ("model.safetensors", "posterior.nc", "predictive.nc")]
        model.write(str(files[0]))
        draws.save(files[1])
        if draws.predictive is None:
            files.pop()
        else:
            draws.predictive.save(files[2])
        results = _core.read_results([str(file) for file in files], float(interval))
    results.add_information(model, 0)
    dimension = len(draws.parameters)
    if truth is not None:
        results.set_truth(as_rows(truth, "posterior.plot", "truth", dimension).ravel())
    if reference is not None:
        results.set_reference(draws.parameters, as_rows(reference, "posterior.plot", "reference", dimension))
    results.set_labels(to_json(dict(labels or {})))
    return Figures(results)
