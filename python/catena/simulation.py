"""Simulating training transitions with a simulator in Python, alone or on many workers.

The simulator is one function on whole batches, step(theta [N, d], x [N, n], rng) → x_next [N, n]. It may leave out rng,
and declare t if its transitions depend on time.
"""

from __future__ import annotations

import concurrent.futures
import inspect
import json
import os
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _core
from ._arrays import ArrayLike, as_array, as_rows, as_seed, to_json
from .priors import Prior, as_prior
from .proposals import Proposal, as_proposal
from .tasks import Task
from .transitions import Transitions

_FILE_ROWS = 8192  # a file is safe after so many; enough that writing costs a few per cent of a quick simulator
_TIMES = ("t", "time")
_GENERATORS = ("rng", "generator", "random_state")


class Step:
    """The user's function with what it wants to be given. Pickles if the function does."""

    def __init__(self, function: Callable[..., Any]) -> None:
        if not callable(function):
            kind = type(function).__name__
            raise TypeError(f"simulate: the simulator is a {kind}, but must be a function step(theta, x, rng)")
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)
        self.extra = self._extra_arguments()

    def _extra_arguments(self) -> list[str]:
        """Which of t and rng follow theta and x, in the function's order."""
        try:
            parameters = list(inspect.signature(self.function).parameters.values())
        except (TypeError, ValueError):  # a builtin does not say
            return ["rng"]
        if any(p.kind is p.VAR_POSITIONAL for p in parameters):
            return ["rng"]
        extra = []
        for parameter in parameters[2:]:
            if parameter.name in _TIMES:
                extra.append("t")
            elif parameter.name in _GENERATORS:
                extra.append("rng")
            elif parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD:
                raise TypeError(
                    f"simulate: {self.name} has an argument {parameter.name!r}, but after theta and x there may only be"
                    " t (the time) and rng (a NumPy generator)"
                )
            else:
                break
        if len(parameters) < 2:
            raise TypeError(f"simulate: {self.name} has {len(parameters)} arguments, but must be step(theta, x, rng)")
        return extra

    @property
    def uses_time(self) -> bool:
        return "t" in self.extra

    def __call__(self, theta: np.ndarray, x: np.ndarray, t: np.ndarray | None, seed: int) -> np.ndarray:
        given = {"t": t, "rng": np.random.Generator(np.random.PCG64(seed)) if "rng" in self.extra else None}
        result = self.function(theta, x, *(given[name] for name in self.extra))
        x_next = as_array(result, "simulate", f"what {self.name} returns")
        if x_next.ndim == 1 and x.shape[1] == 1:
            x_next = x_next[:, np.newaxis]
        if x_next.shape != x.shape:
            raise ValueError(
                f"simulate: {self.name} returned an array of shape {x_next.shape}, but must return {x.shape}, as x"
            )
        return np.ascontiguousarray(x_next)


def vectorize(function: Callable[..., Any]) -> Callable[..., np.ndarray]:
    """A simulator on batches from one on single rows: step(theta [d], x [n], rng) → x_next [n].

    It is called once for each row, which is slow: a simulator written on whole arrays is often a hundred times as fast.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     step = vectorize(lambda theta, x: x + theta[0])
    >>> step(np.ones((3, 1)), np.zeros((3, 2))).shape
    (3, 2)
    """
    warnings.warn(
        "vectorize: the function is called row by row, which is slow; a step on whole arrays [N, n] is faster",
        stacklevel=2,
    )
    return _RowByRow(function)


class _RowByRow:
    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__name__ = getattr(function, "__name__", "function")
        self.__signature__ = inspect.signature(function)
        self.extra = Step(function).extra

    def __call__(self, theta: np.ndarray, x: np.ndarray, *extra: Any) -> np.ndarray:
        rows = []
        for i in range(len(x)):
            more = [value[i] if name == "t" else value for name, value in zip(self.extra, extra, strict=True)]
            rows.append(as_array(self.function(theta[i], x[i], *more), "vectorize", "a row").reshape(x.shape[1]))
        return np.array(rows).reshape(x.shape)


class _Caller:
    """What C++ calls for a batch: here or on a worker. An exception goes on as itself, with a note of the batch."""

    def __init__(self, step: Step, executor: Any) -> None:
        self.step = step
        self.executor = executor

    def __call__(self, theta: np.ndarray, x: np.ndarray, t: np.ndarray | None, seed: int) -> np.ndarray:
        try:
            if self.executor is None:
                return self.step(theta, x, t, seed)
            return self.executor.submit(self.step, theta, x, t, seed).result()
        except Exception as error:
            with np.printoptions(precision=6, threshold=8):
                note = (
                    f"catena.simulate: {self.step.name} raised this for a batch of {len(x)} transitions, the first with"
                    f" theta = {theta[0]}, x = {x[0]}; the whole batch is in this exception's attribute catena_batch"
                )
            if hasattr(error, "add_note"):
                error.add_note(note)
            error.catena_batch = {"theta": theta, "x": x, "t": t, "seed": seed}  # type: ignore[attr-defined]
            raise


def _executor_of(executor: Any, workers: int | None) -> tuple[Any, int, bool]:
    """(the executor or None, batches at the same time, whether it is ours to shut down)."""
    if executor is None:
        if workers is None or workers == 1:
            return None, 1, False
        try:
            from joblib.externals.loky import ProcessPoolExecutor  # pickles lambdas and notebook functions too
        except ImportError:
            import multiprocessing

            context = multiprocessing.get_context("spawn")  # fork would copy locks that threads of ours hold
            return concurrent.futures.ProcessPoolExecutor(workers, mp_context=context), workers, True
        return ProcessPoolExecutor(workers), workers, True
    if hasattr(executor, "n_jobs") and callable(executor):  # joblib.Parallel(n_jobs=…)
        from joblib import effective_n_jobs
        from joblib.externals.loky import ProcessPoolExecutor

        count = workers or effective_n_jobs(executor.n_jobs)
        if getattr(executor, "backend", None) == "threading" or getattr(executor, "prefer", None) == "threads":
            return concurrent.futures.ThreadPoolExecutor(count), count, True
        return ProcessPoolExecutor(count), count, True
    if not hasattr(executor, "submit"):
        kind = type(executor).__name__
        raise TypeError(f"simulate: executor is a {kind}, but must have a method submit, or be a joblib.Parallel")
    return executor, workers or getattr(executor, "_max_workers", None) or 32, False


def initial_states(value: Any, states: int | None) -> tuple[Callable[[int, int], np.ndarray] | None, int | None]:
    """x⁰ as draw(count, seed) → [count, n], from an array, a prior or a function of rng; and n."""
    if value is None:
        return None, states
    if isinstance(value, Prior):
        return lambda count, seed: value.sample((count,), seed=seed), value.dimension
    if callable(value):

        def rows(count: int, seed: int) -> np.ndarray:
            rng = np.random.Generator(np.random.PCG64(seed))
            states = [as_array(value(rng), "simulate", "initial_state(rng)").ravel() for _ in range(count)]
            return np.ascontiguousarray(states)

        return rows, rows(1, 0).shape[1]
    state = as_array(value, "simulate", "initial_state").ravel()
    return lambda count, seed: np.tile(state, (count, 1)), len(state)


def _draw_of(proposal: Proposal, states: int | None, uses_time: bool) -> tuple[Any, int | None]:
    """A function's draws, checked: draw(count, seed) → x [count, n], or (x, t); and n."""
    if proposal.draw is None:
        return None, proposal.states or states
    function = proposal.draw
    if states is None:
        first = function(1, np.random.Generator(np.random.PCG64(0)))
        states = as_rows(first[0] if uses_time else first, "simulate", "what proposal(1, rng) returns").shape[1]

    def draw(count: int, seed: int) -> Any:
        drawn = function(count, np.random.Generator(np.random.PCG64(seed)))
        if uses_time and not (isinstance(drawn, tuple) and len(drawn) == 2):
            raise TypeError("simulate: the proposal must return (x, t), because the simulator uses time")
        x, t = drawn if uses_time else (drawn, None)
        rows = as_rows(x, "simulate", "what the proposal returns", states)
        if len(rows) != count:
            raise ValueError(f"simulate: the proposal returned {len(rows)} states, but must return {count}")
        if not uses_time:
            return rows
        return rows, np.ascontiguousarray(as_array(t, "simulate", "t of the proposal").reshape(count))

    return draw, states


def _state_names(given: Sequence[str] | None, proposal: Proposal, states: int | None) -> list[str]:
    names = list(given or proposal.names or [])
    if not names and states is None:
        raise ValueError("simulate: the number of states is not known, but must be: give state_names or initial_state")
    names = names or [f"x_{i + 1}" for i in range(states or 0)]
    if states is not None and len(names) != states:
        raise ValueError(f"simulate: state_names has {len(names)} names, but the proposal has {states} states")
    return names


def simulate(
    simulator: Callable[..., ArrayLike] | Task,
    prior: Prior | None = None,
    *,
    proposal: Any = None,
    budget: int = 10_000,
    seed: int | None = 0,
    initial_state: Any = None,
    state_names: Sequence[str] | None = None,
    gaps: float | tuple[float, float] | None = None,
    block: int = 1,
    initial: bool = False,
    max_invalid: float = 0.1,
    batch_size: int = 1024,
    executor: Any = None,
    workers: int | None = None,
    path: str | os.PathLike[str] | None = None,
    resume: bool = False,
    threads: int = 0,
    show_progress_bars: bool = True,
) -> Transitions:
    """Simulates `budget` training transitions: θ from the prior, x from the proposal, x_next by the simulator.

    simulator: step(theta [N, d], x [N, n], rng) → x_next [N, n], on whole batches (catena.vectorize makes one of a
    function on single rows), or one of catena.tasks. proposal: see catena.proposals. initial_state: an array, a prior
    or a function of rng, for the proposals that follow series. Transitions with a result that is not finite are
    dropped and reported; more than a share of max_invalid is an error.

    gaps=(1, 6): records over 1, 2, …, 6 steps in turn, for series with missing states. block=5: records of 5 transitions
    in a row. initial=True: initial states instead of transitions, for tasks whose initial state depends on θ. Each inner
    step counts in the budget.

    workers=8 runs batches in eight processes, executor= on anything with `submit` (concurrent.futures, Dask, Ray, MPI)
    or on joblib.Parallel; the data do not depend on it. With path= they go to a netCDF file as they are made, and
    resume=True goes on with a run that died. A built-in task uses `threads` instead.

    >>> import catena
    >>> def step(theta, x, rng):
    ...     return x + theta + 0.1 * rng.standard_normal(x.shape)
    >>> prior = catena.priors.Independent({"drift": catena.priors.Normal(0, 1)})
    >>> catena.simulate(step, prior, proposal=catena.proposals.Box(-5, 5), budget=1000)
    Transitions(1000 of x_1; parameters drift)
    >>> catena.simulate(step, prior, proposal=catena.proposals.Box(-5, 5), gaps=(1, 4), budget=1000).step[:5]
    array([1., 2., 3., 4., 1.])
    """
    seed = as_seed(seed, "simulate")
    file = "" if path is None else os.fspath(path)
    plan: dict[str, Any] = {"budget": int(budget), "seed": seed, "max_invalid": max_invalid, "lanes": int(batch_size)}
    if int(budget) != budget or budget < 1:
        raise ValueError(f"simulate: budget is {budget!r}, but must be a whole number, 1 or more")
    if not 1 <= batch_size <= 2**24:
        raise ValueError(f"simulate: batch_size is {batch_size!r}, but must be between 1 and {2**24}")
    if int(block) != block or block < 1:
        raise ValueError(f"simulate: block is {block!r}, but must be a whole number, 1 or more")
    plan["records"] = {"block": int(block), "initial": bool(initial), "gaps": _range_text(gaps)}
    if resume and path is None:
        raise ValueError("simulate: resume is given without path, but must come with the file to go on with")
    if isinstance(simulator, Task):
        chosen = None if proposal is None else as_proposal(proposal, "simulate")
        if chosen is not None and chosen.draw is not None:
            raise TypeError("simulate: the proposal is a function, but must be one of catena.proposals for a task")
        plan |= {"proposal": chosen and chosen.description, "options": simulator.options, "chunk_rows": 0}
        core, record = _core.simulate_task(
            simulator._core, to_json(plan), chosen.series if chosen else [], file, resume, threads, show_progress_bars
        )
        return _finished(core, record, file)

    step = Step(simulator)
    prior = as_prior(prior, "simulate")
    if proposal is None:
        if initial_state is None:
            raise ValueError(
                "simulate: proposal is missing, but must say where transitions start, for example"
                " proposal=catena.proposals.Target(series) for the states of an observed series,"
                " catena.proposals.Box(low, high), or initial_state= for states that the simulator reaches"
            )
        proposal = "predictive"
    chosen = as_proposal(proposal, "simulate")
    draw, states = _draw_of(chosen, len(state_names) if state_names else None, step.uses_time)
    start, states_of_start = initial_states(initial_state, states)
    names = _state_names(state_names, chosen, states or states_of_start)
    if start is not None and states_of_start != len(names):
        raise ValueError(f"simulate: initial_state has {states_of_start} states, but must have {len(names)}")
    if chosen.description["proposal"] in ("predictive", "rollout") and start is None:
        raise ValueError(f"simulate: initial_state is missing, but the proposal {chosen!r} starts series from it")
    plan |= {"proposal": chosen.description, "options": {}, "chunk_rows": _FILE_ROWS}

    pool, batches, own = _executor_of(executor, workers)
    try:
        core, record = _core.simulate_python(
            step.name, prior._core, names, _Caller(step, pool), start, draw, to_json(chosen.description),
            step.uses_time, to_json(plan), chosen.series, file, resume, batches, show_progress_bars,
        )  # fmt: skip
    finally:
        if own:
            pool.shutdown()
    return _finished(core, record, file)


def _range_text(gaps: float | tuple[float, float] | None) -> str:
    """As the command line has it: (1, 6) → "1..6"."""
    if gaps is None:
        return ""
    return "..".join(str(end) for end in (gaps if isinstance(gaps, (tuple, list)) else (gaps,)))


def _finished(core: _core.TransitionSet | None, record: str, file: str) -> Transitions:
    data = Transitions(core) if core is not None else Transitions.load(file)
    invalid = json.loads(record).get("invalid", 0)
    if invalid:
        lost = f"simulate: {invalid} of {len(data) + invalid} transitions were dropped because their result is not finite"
        warnings.warn(lost, stacklevel=3)
    return data
