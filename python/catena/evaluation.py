"""How far two sets of draws are apart, and whether posteriors are calibrated."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from ._arrays import ArrayLike, as_rows, as_seed, to_json
from ._covariates import as_table
from ._settings import entries
from .figures import Figures
from .posteriors import Posterior
from .simulation import Step, initial_depends_on_theta, initial_states
from .tasks import Task

_OUTSIDE_SHARE = 0.01  # of the transitions: fewer outside the training range are its edge


def metrics() -> dict[str, str]:
    """The metrics by name, with what they measure.

    >>> metrics()["sw1"]
    'sliced Wasserstein-1 distance, 1,000 projections'
    """
    return {name: entry["help"] for name, entry in entries(_core.metrics()).items()}


def _draws_of(value: Any, name: str) -> tuple[list[str] | None, np.ndarray]:
    if isinstance(value, (str, os.PathLike)):
        draws = _core.read_draws(os.fspath(value))
        return list(draws["parameters"]) or None, draws["theta"]
    return None, as_rows(value, "evaluate", name)


def evaluate(
    a: ArrayLike | str | os.PathLike[str],
    b: ArrayLike | str | os.PathLike[str],
    metrics: str | Sequence[str] | None = None,
    *,
    seed: int | None = 0,
    threads: int = 0,
) -> dict[str, Any]:
    """Compares draws a [N, d] with those of the reference b by the metrics named, or by all; files of draws are read.

    A metric is a number, or a list with one for each parameter.

    >>> a = np.random.default_rng(0).standard_normal((200, 2))
    >>> evaluate(a, a + 3, "mean_difference")["mean_difference"][0] < -2
    True
    """
    names_a, rows_a = _draws_of(a, "a")
    names_b, rows_b = _draws_of(b, "b")
    if names_a is not None and names_b is not None and names_a != names_b:
        if sorted(names_a) != sorted(names_b):
            raise ValueError(f"evaluate: the parameters of b are {', '.join(names_b)}, but must be {', '.join(names_a)}")
        rows_b = np.ascontiguousarray(rows_b[:, [names_b.index(name) for name in names_a]])
    chosen = [metrics] if isinstance(metrics, str) else list(metrics or entries(_core.metrics()))
    return json.loads(_core.evaluate(rows_a, rows_b, chosen, as_seed(seed, "evaluate"), threads))


@dataclass(frozen=True)
class Calibration:
    """Ranks of true parameters among draws of their posteriors; uniform if the posteriors are calibrated."""

    parameters: list[str]
    ranks: np.ndarray  #: [d, series], whole numbers from 0 to draws
    tarp: np.ndarray  #: [series], of all parameters together (TARP)
    draws: int
    summary: dict[str, Any]  #: p-values, coverage, and what went wrong

    @property
    def calibrated(self) -> bool:
        """Whether the ranks of every parameter stay inside the band of 95 %."""
        return all(entry["inside"] for entry in self.summary["parameters"].values())

    def plot(self) -> Figures:
        """The distribution of ranks minus the uniform one, with its band."""
        results = _core.Results()
        results.set_calibration(self.parameters, np.ascontiguousarray(self.ranks, dtype=float), self.draws)
        return Figures(results)

    def __repr__(self) -> str:
        judged = ", ".join(f"{name} p={entry['p_value']:.2g}" for name, entry in self.summary["parameters"].items())
        return f"Calibration({self.ranks.shape[1]} series, {self.draws} draws each: {judged})"


def calibrate(
    posterior: Posterior,
    simulator: Task | Callable[..., ArrayLike],
    *,
    transitions: int = 10,
    times: ArrayLike | None = None,
    covariates: Any = None,
    series: int = 200,
    draws: int = 100,
    initial_state: Any = None,
    seed: int | None = 0,
    threads: int = 0,
    path: str | os.PathLike[str] | None = None,
    show_progress_bars: bool = True,
    **settings: Any,
) -> Calibration:
    """Simulates `series` series of known θ from the prior, draws from the posterior of each, and ranks θ among the draws.

    simulator: one of catena.tasks, or the step function of catena.simulate with its initial_state. times: of the rows of
    every series, numbers or dates, in place of `transitions`: those of an observed series, so that the simulated ones
    have its gaps; one step of the simulator is step_length= of them, and dates count in time_unit=. covariates: a table
    of what the step takes as u, a row for each step in time order (default: the task's own). With path= the
    ranks go to a netCDF file for `catena report`. Keywords are settings of the sampler.

    >>> import catena
    >>> task = catena.tasks.get("gaussian_rw")
    >>> quiet = {"show_progress_bars": False}
    >>> estimator = catena.FNBE().append_simulations(task.simulate(budget=500, **quiet)).train(steps=50, **quiet)
    >>> calibrate(estimator.build_posterior(), task, series=5, draws=10, steps=20, **quiet).ranks.shape
    (1, 5)
    """
    root = as_seed(seed, "calibrate")
    if posterior._companions:
        raise ValueError("calibrate: the posterior has companions, but must be of one estimator")
    chosen, _ = posterior._chosen(settings)
    at = np.arange(transitions + 1, dtype=float) if times is None else _steps(posterior, times, settings)
    transitions = len(at) - 1
    table = None
    if covariates is not None or (posterior.covariate_names and not isinstance(simulator, Task)):
        if covariates is None:
            wanted = ", ".join(posterior.covariate_names)
            raise TypeError(f"calibrate: covariates is missing, but must be a table of {wanted}, a row for each step")
        table = as_table(covariates, "calibrate", posterior.covariate_names)[0]
    if isinstance(simulator, Task):
        whole = np.round(at)
        if not np.allclose(at, whole, atol=1e-3):
            raise ValueError("calibrate: times are no whole numbers of the task's steps apart, but must be (step_length)")
        tables = [] if table is None else [table]
        known = _core.known_series(simulator._core, series, whole.astype(int).tolist(), root, tables)
        theta, all_series, all_times, inputs = (known[key] for key in ("theta", "series", "times", "covariates"))
    else:
        theta, all_series, all_times, inputs = _python_series(posterior, simulator, initial_state, series, at, table, root)
    needed = posterior._about["uses_time"] or times is not None
    record = {"catena_version": _core.version(), "method": posterior._model.method, "transitions": transitions, "seed": root}
    found = _core.calibrate(
        posterior._model, theta, all_series, all_times if needed else [], inputs, draws, chosen, root, threads,
        show_progress_bars, "" if path is None else os.fspath(path), to_json(record),
        to_json({} if times is None else {"step_length": 1.0}),
    )  # fmt: skip
    ranks, tarp = found["ranks"].astype(np.int64), found["tarp"].astype(np.int64)
    summary = json.loads(found["summary"])
    outside = summary["transitions_outside_training_range"]
    if outside > _OUTSIDE_SHARE * series * transitions:
        warnings.warn(
            f"calibrate: {outside} of {series * transitions} transitions lie outside the training range, where estimates"
            " extrapolate; simulate with a wider proposal",
            stacklevel=2,
        )
    return Calibration(posterior.prior.names, ranks, tarp, draws, summary)


def _steps(posterior: Posterior, times: ArrayLike, settings: dict[str, Any]) -> np.ndarray:
    """When the rows are, in steps of the simulator since the first."""
    empty = np.full((len(times), len(posterior.state_names)), np.nan)
    none = np.full((len(times), len(posterior.covariate_names)), np.nan) if posterior.covariate_names else None
    numbers = posterior._panel("calibrate", empty, times, none, settings)[0].times
    if len(numbers) < 2 or (np.diff(numbers) <= 0).any():
        raise ValueError("calibrate: times must be two or more that rise")
    length = {**posterior.settings, **settings}.get("step_length", 0)
    if not length:
        length = 1.0 if posterior._about["uses_step"] else float(np.diff(numbers).min())
    return (numbers - numbers[0]) / length


def _python_series(
    posterior: Posterior,
    simulator: Callable[..., Any],
    initial_state: Any,
    count: int,
    at: np.ndarray,
    table: np.ndarray | None,
    seed: int,
) -> tuple[np.ndarray, list[np.ndarray], list[np.ndarray], list[np.ndarray]]:
    """θ from the prior and a series for each, all moved together by the user's step to where the rows are; step k takes
    row k of the table of covariates, and after its last row the first again."""
    step = Step(simulator)
    step.check_order(1)
    if step.uses_covariates != (table is not None):
        raise TypeError(f"calibrate: {step.name} must have an argument u if there are covariates, and only then")
    draw, states = initial_states(initial_state, None, prior=posterior.prior)
    if draw is None or states != len(posterior.state_names):
        wanted = len(posterior.state_names)
        raise ValueError(f"calibrate: initial_state must be given, with {wanted} states, where the series start")
    theta = posterior.prior.sample((count,), seed=_core.child_seed(seed, "theta", 0))
    seen = posterior.prior.complete(theta)
    given = seen if initial_depends_on_theta(initial_state) else count
    steps = [draw(given, _core.child_seed(seed, "initial_state", 0))]
    made, used = 0, []
    for t, length in zip(at[:-1], np.diff(at), strict=True):
        # In one step of its length, for simulators that take it; others make as many as fit.
        inner, dt = (1, length) if "dt" in step.extra else (max(1, round(length)), 1.0)
        state = steps[-1]
        used.append(made)
        for k in range(inner):
            time = np.full(count, float(t + k))
            u = None if table is None else np.tile(table[made % len(table)], (count, 1))
            state = step(seen, state, time, np.full(count, dt), u, _core.child_seed(seed, "step", made))
            made += 1
        steps.append(state)
    whole = np.stack(steps, axis=1)
    if not np.isfinite(whole).all():
        bad = int((~np.isfinite(whole).all(axis=(1, 2))).sum())
        raise ValueError(f"calibrate: {bad} of {count} series are not finite, but all must be: mend the simulator or prior")
    inputs = [] if table is None else [np.ascontiguousarray(table[np.array([*used, made]) % len(table)])] * count
    return theta, [np.ascontiguousarray(one) for one in whole], [np.ascontiguousarray(at)] * count, inputs
