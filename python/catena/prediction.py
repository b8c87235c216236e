"""Predictive checks and forecasts: what the simulator makes of draws from a posterior or a prior.

Posterior.predict and Prior.predict are the way in; what they return is here.
"""

from __future__ import annotations

import os
import pathlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._arrays import ArrayLike, as_rows, as_seed, names_of, to_json
from ._covariates import NONE, as_table, of_rows
from ._times import Dates, as_times, split_time, to_datetime64
from .figures import Figures

if TYPE_CHECKING:
    import arviz
    import pandas

    from .draws import Draws, Series
    from .posteriors import Posterior
    from .priors import Prior
    from .tasks import Task



@dataclass(frozen=True, repr=False)
class Predictive:
    """Series that a simulator makes of draws of θ, to lay beside what was observed, and forecasts beyond it.

    >>> predictive = walk_posterior.predict(x=walk_series, n=50, horizon=3, show_progress_bars=False)
    >>> predictive.series.shape, predictive.one_step.shape, predictive.forecast.shape
    ((50, 101, 1), (50, 101, 1), (50, 3, 1))
    """

    theta: np.ndarray  #: [n, d], the draws
    series: np.ndarray  #: [n, T + 1, states], on and on from the first observed state
    one_step: np.ndarray  #: [n, T + 1, states], each row from the observed one before it
    forecast: np.ndarray  #: [n, horizon, states], on and on from the last observed state
    observed: Series  #: states in .rows (NaN where there are none), times in .times
    forecast_times: np.ndarray  #: [horizon], on the scale of observed.times
    state_names: list[str]
    calendar: str = ""  #: of times that are dates: their unit and origin, as JSON
    group: str = "posterior_predictive"  #: of ArviZ: that, or prior_predictive
    record: dict[str, Any] = field(default_factory=dict)
    covariate_names: list[str] = field(default_factory=list)  #: of the columns of observed.covariates

    @property
    def times(self) -> np.ndarray:
        """Of the rows of series and one_step: dates, or numbers."""
        return self._shown(self.observed.times if len(self.observed.times) else np.arange(len(self.observed.rows), dtype=float))

    @property
    def times_ahead(self) -> np.ndarray:
        """Of the rows of forecast: dates, or numbers."""
        return self._shown(self.forecast_times)

    def _shown(self, numbers: np.ndarray) -> np.ndarray:
        return to_datetime64(self.calendar, numbers) if self.calendar else numbers

    def bands(self, of: str = "series", interval: float = 0.9) -> pandas.DataFrame:
        """Median and central interval of "series", "one_step" or "forecast": a row for each time, and the columns
        NAME_low, NAME_median and NAME_high for each state. Draws that are not finite are left out.

        >>> predictive = walk_posterior.predict(x=walk_series, n=50, horizon=3, show_progress_bars=False)
        >>> list(predictive.bands("forecast").columns)
        ['x_1_low', 'x_1_median', 'x_1_high']
        """
        import pandas

        if of not in ("series", "one_step", "forecast"):
            raise ValueError(f"bands: of is {of!r}, but must be one of series, one_step and forecast")
        if not 0 < interval < 1:
            raise ValueError(f"bands: interval is {interval!r}, but must be between 0 and 1")
        values = np.where(np.isfinite(getattr(self, of)), getattr(self, of), np.nan)
        ends = np.nanquantile(values, [(1 - interval) / 2, 0.5, (1 + interval) / 2], axis=0)
        columns = {
            f"{state}_{end}": ends[k, :, i]
            for i, state in enumerate(self.state_names)
            for k, end in enumerate(("low", "median", "high"))
        }
        index = pandas.Index(self.times_ahead if of == "forecast" else self.times, name="time")
        return pandas.DataFrame(columns, index=index)

    def save(self, path: str | os.PathLike[str]) -> None:
        """A netCDF file as `catena predict` writes it, for `catena report` and ArviZ."""
        _core.write_predictive(
            os.fspath(path), self.state_names, self.series, self.one_step, self.forecast, *self.observed,
            self.forecast_times, self.calendar, to_json(self.record), self.covariate_names,
        )  # fmt: skip

    def groups(self) -> dict[str, Any]:
        """The keywords of arviz.from_dict that these series are."""
        coordinates = {"state": self.state_names, "time": self.times}
        dims = {"series": ["time", "state"], "one_step": ["time", "state"]}
        made = {"series": self.series[np.newaxis], "one_step": self.one_step[np.newaxis]}
        return {self.group: made, "coords": coordinates, "dims": dims}

    def with_forecast(self, data: arviz.InferenceData) -> arviz.InferenceData:
        """The data with the forecast, if there is one, as the group predictions, which has times of its own."""
        import xarray

        if self.forecast.shape[1] > 0:
            dims = ("chain", "draw", "time", "state")
            coordinates = {"chain": [0], "draw": np.arange(len(self.theta)), "time": self.times_ahead, "state": self.state_names}
            data.add_groups({"predictions": xarray.Dataset({"series": (dims, self.forecast[np.newaxis])}, coordinates)})
        return data

    def to_arviz(self) -> arviz.InferenceData:
        """ArviZ's InferenceData with the group posterior_predictive (or prior_predictive), observed_data, and predictions
        if there is a forecast."""
        import arviz

        return self.with_forecast(arviz.from_dict(observed_data={"series": self.observed.rows}, **self.groups()))

    def plot(self, *, interval: float = 0.9, labels: Mapping[str, str] | None = None) -> Figures:
        """The series with the band of what the simulator makes of the draws and the forecast beyond it, and one step
        ahead of each observed state. labels: of states, by their names.

        >>> walk_posterior.predict(x=walk_series, n=50, show_progress_bars=False).plot()
        Figures(series, one_step)
        """
        with tempfile.TemporaryDirectory(prefix="catena-figures-") as folder:
            file = pathlib.Path(folder) / "predictive.nc"
            self.save(file)
            results = _core.read_results([str(file)], float(interval))
        results.set_labels(to_json(dict(labels or {})))
        return Figures(results)

    def __repr__(self) -> str:
        ahead = f", {self.forecast.shape[1]} steps ahead" if self.forecast.shape[1] else ""
        rows = self.series.shape[1] - 1
        return f"Predictive({len(self.theta)} series of {rows} transitions{ahead}; states {', '.join(self.state_names)})"


def _whole(function: str, name: str, value: Any, least: int) -> int:
    if int(value) != value or value < least:
        raise ValueError(f"{function}: {name} is {value!r}, but must be a whole number, {least} or more")
    return int(value)


def predict_posterior(
    posterior: Posterior,
    draws: Draws,
    simulator: Any,
    n: int,
    horizon: int,
    ahead: Any,
    which: int,
    seed: int | None,
    batch_size: int,
    executor: Any,
    workers: int | None,
    threads: int,
    show_progress_bars: bool,
) -> Predictive:
    """n of the draws, spread over all of them; `ahead`: the covariates of the rows beyond the last one."""
    from . import correction
    from .simulation import _executor_of

    function = "posterior.predict"
    n, horizon = _whole(function, "n", n, 1), _whole(function, "horizon", horizon, 0)
    if not 0 <= which < len(draws.series):
        raise ValueError(f"{function}: series is {which!r}, but must be between 0 and {len(draws.series) - 1}")
    series = draws.series[which]
    finite = draws.theta[np.isfinite(draws.theta).all(axis=1)]
    if len(finite) == 0:
        raise ValueError(f"{function}: no draw is finite, but at least one must be")
    count = min(n, len(finite))
    theta = np.ascontiguousarray(finite[np.arange(count) * len(finite) // count])
    inputs = NONE
    if ahead is not None:
        if not draws.covariate_names:
            raise TypeError(f"{function}: covariates are given, but must be left out: the transitions take none")
        inputs = as_table(ahead, function, draws.covariate_names)[0]
    pool, _, own = _executor_of(executor, workers)
    try:
        made = correction.simulator_of(function, posterior, simulator, None, pool, batch_size)
        found = _core.predict(
            made, theta, *series, _core.step_length(to_json(draws.record), *series[:2]), horizon,
            np.empty((0, series.rows.shape[1])), inputs, as_seed(seed, function), threads, show_progress_bars,
        )  # fmt: skip
    finally:
        if own:
            pool.shutdown()
    record = {"catena_version": _core.version(), "seed": as_seed(seed, function) if seed is not None else None}
    return Predictive(
        theta, found["run"], found["one_step"], found["forecast"], series, found["forecast_times"], draws.state_names,
        draws.calendar, record={key: value for key, value in record.items() if value is not None},
        covariate_names=draws.covariate_names,
    )  # fmt: skip


def predict_prior(
    prior: Prior,
    simulator: Callable[..., ArrayLike] | Task,
    n: int,
    x: ArrayLike | None,
    times: Any,
    covariates: Any,
    initial_state: Any,
    transitions: int | None,
    order: int,
    state_names: Sequence[str] | None,
    step_length: float | None,
    time_unit: str,
    seed: int | None,
    batch_size: int,
    executor: Any,
    workers: int | None,
    threads: int,
    show_progress_bars: bool,
) -> Predictive:
    """θ from the prior; series like x, from its first states, or of so many transitions from the initial state."""
    from . import correction
    from .draws import Series
    from .simulation import _executor_of, initial_depends_on_theta, initial_states
    from .tasks import Observation, Task

    function = "prior.predict"
    n, root = _whole(function, "n", n, 1), as_seed(seed, function)
    theta = prior.sample((n,), seed=_core.child_seed(root, "theta", 0))
    names = list(state_names or (simulator.state_names if isinstance(simulator, Task) else []))
    calendar = ""
    if isinstance(x, Observation):
        times, covariates = x.times if times is None else times, x.covariates if covariates is None else covariates
        x = x.series
    inputs, known = NONE, None
    if isinstance(simulator, Task):
        known = simulator.covariate_names
        covariates = simulator.covariates if covariates is None and known else covariates
    if covariates is not None:
        inputs, known = as_table(covariates, function, known)
    if x is not None:
        x, column = split_time(x, function)
        times = column if times is None else times
        names = names or names_of(x) or []
        rows = as_rows(x, function, "x", len(names) or None)
        starts = np.empty((0, rows.shape[1]))
    else:
        if transitions is None:
            raise ValueError(f"{function}: x and transitions are missing, but one must say how long the series are")
        draw, states = initial_states(initial_state, len(names) or None, order, prior)
        if isinstance(simulator, Task):
            if initial_state is not None:
                raise TypeError(f"{function}: initial_state is given, but a task has its own")
            one = [simulator.observe(1, theta=row, seed=_core.child_seed(root, "start", i)) for i, row in enumerate(theta)]
            starts = np.stack([each.series[0] for each in one])
            states = starts.shape[1]
        elif draw is None or states is None:
            raise ValueError(f"{function}: x and initial_state are missing, but one must say where the series start")
        else:
            starts = draw(theta if initial_depends_on_theta(initial_state) else n, _core.child_seed(root, "start", 0))
        rows = np.full((_whole(function, "transitions", transitions, 1) + 1, states), np.nan)
    if covariates is not None and x is None:  # after its last row the first again
        inputs = np.ascontiguousarray(inputs[np.arange(len(rows)) % len(inputs)])
    elif covariates is not None:
        inputs = of_rows(inputs[: len(rows)], len(rows), function)
    numbers = np.empty(0) if times is None else as_times(times, function)
    if isinstance(numbers, Dates):
        paths = to_json({"time_unit": time_unit})
        (numbers,), calendar = _core.number_dates(function, [numbers.view(np.ndarray)], paths, False)
    if step_length is None:
        step_length = float(np.diff(numbers).min()) if len(numbers) > 1 else 1.0
    names = names or [f"x_{i + 1}" for i in range(rows.shape[1])]
    pool, _, own = _executor_of(executor, workers)
    try:
        made = correction.made_simulator(function, simulator, prior, names, order, None, pool, batch_size, known or [])
        found = _core.predict(
            made, theta, rows, numbers, inputs, float(step_length), 0, starts, NONE, root, threads, show_progress_bars
        )
    finally:
        if own:
            pool.shutdown()
    return Predictive(
        theta, found["run"], found["one_step"], found["forecast"], Series(rows, numbers, inputs), found["forecast_times"],
        names, calendar, "prior_predictive", {"catena_version": _core.version(), "seed": root}, known or [],
    )  # fmt: skip
