"""Simulating training transitions with a simulator in Python, alone or on many workers.

The simulator is one function on whole batches, step(theta [N, d], x [N, n], rng) → x_next [N, n]. It may leave out rng,
and says by its further arguments what else it wants:

    u     known inputs of the transition (covariates), [N, k], from the table simulate(…, covariates=table)
    t     the time of x, [N]: transitions depend on time
    dt    the time to move on by, [N]: any step will do, not only whole ones
    past  the states before x, latest first, [N, m − 1, n]: a chain of order m (simulate(…, order=m))
"""

from __future__ import annotations

import concurrent.futures
import inspect
import json
import math
import os
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _core
from ._arrays import ArrayLike, as_array, as_rows, as_seed, to_json
from ._covariates import as_tables
from .priors import Prior, as_prior
from .proposals import Proposal, as_proposal
from .series import SeriesSet
from .tasks import Task
from .transitions import Transitions

_FILE_ROWS = 8192  # a file is safe after so many; enough that writing costs a few per cent of a quick simulator
# What a simulator may declare, by the names its argument may have.
_DECLARED = {
    "u": ("u", "covariates"),
    "t": ("t", "time"),
    "dt": ("dt", "delta_t"),
    "past": ("past",),
    "rng": ("rng", "generator", "random_state"),
}


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
        """Which of u, t, dt, past and rng follow theta and x, in the function's order."""
        try:
            parameters = list(inspect.signature(self.function).parameters.values())
        except (TypeError, ValueError):  # a builtin does not say
            return ["rng"]
        if any(p.kind is p.VAR_POSITIONAL for p in parameters):
            return ["rng"]
        known = {name: wanted for wanted, names in _DECLARED.items() for name in names}
        extra = []
        for parameter in parameters[2:]:
            if parameter.name in known:
                extra.append(known[parameter.name])
            elif parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD:
                raise TypeError(
                    f"simulate: {self.name} has an argument {parameter.name!r}, but after theta and x there may only be"
                    " u (covariates), t (the time), dt (the step), past (earlier states) and rng (a NumPy generator)"
                )
            else:
                break
        if len(parameters) < 2:
            raise TypeError(f"simulate: {self.name} has {len(parameters)} arguments, but must be step(theta, x, rng)")
        return extra

    @property
    def uses_time(self) -> bool:
        return "t" in self.extra

    @property
    def uses_covariates(self) -> bool:
        return "u" in self.extra

    def check_order(self, order: int) -> None:
        """Whether the function takes as many states as the chain's order says."""
        if int(order) != order or order < 1:
            raise ValueError(f"simulate: order is {order!r}, but must be a whole number, 1 or more")
        if order > 1 and "past" not in self.extra:
            raise TypeError(f"simulate: order is {order}, but {self.name} has no argument past for the earlier states")
        if order == 1 and "past" in self.extra:
            raise TypeError(f"simulate: {self.name} has an argument past, but order= does not say how many states it needs")

    def __call__(
        self,
        theta: np.ndarray,
        x: np.ndarray,
        t: np.ndarray | None,
        dt: np.ndarray | None,
        u: np.ndarray | None,
        seed: int,
        order: int = 1,
    ) -> np.ndarray:
        states = x.shape[1] // order
        latest = x if order == 1 else np.ascontiguousarray(x[:, :states])
        given = {
            "u": u,
            "t": t,
            "dt": dt,
            "past": x[:, states:].reshape(len(x), order - 1, states),
            "rng": np.random.Generator(np.random.PCG64(seed)) if "rng" in self.extra else None,
        }
        result = self.function(theta, latest, *(given[name] for name in self.extra))
        x_next = as_array(result, "simulate", f"what {self.name} returns")
        if x_next.ndim == 1 and states == 1:
            x_next = x_next[:, np.newaxis]
        if x_next.shape != latest.shape:
            raise ValueError(
                f"simulate: {self.name} returned an array of shape {x_next.shape}, but must return {latest.shape}, as x"
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
            more = [value if name == "rng" else value[i] for name, value in zip(self.extra, extra, strict=True)]
            rows.append(as_array(self.function(theta[i], x[i], *more), "vectorize", "a row").reshape(x.shape[1]))
        return np.array(rows).reshape(x.shape)


class _Caller:
    """What C++ calls for a batch: here or on a worker. An exception goes on as itself, with a note of the batch."""

    def __init__(self, step: Step, executor: Any, order: int, function: str = "catena.simulate") -> None:
        self.function = function
        self.step = step
        self.executor = executor
        self.order = order

    def __call__(
        self,
        theta: np.ndarray,
        x: np.ndarray,
        t: np.ndarray | None,
        dt: np.ndarray | None,
        u: np.ndarray | None,
        seed: int,
    ) -> np.ndarray:
        try:
            if self.executor is None:
                return self.step(theta, x, t, dt, u, seed, self.order)
            return self.executor.submit(self.step, theta, x, t, dt, u, seed, self.order).result()
        except Exception as error:
            with np.printoptions(precision=6, threshold=8):
                note = (
                    f"{self.function}: {self.step.name} raised this for a batch of {len(x)} transitions, the first with"
                    f" theta = {theta[0]}, x = {x[0]}; the whole batch is in this exception's attribute catena_batch"
                )
            if hasattr(error, "add_note"):
                error.add_note(note)
            batch = {"theta": theta, "x": x, "t": t, "dt": dt, "seed": seed}
            error.catena_batch = batch if u is None else {**batch, "u": u}  # type: ignore[attr-defined]
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


def initial_depends_on_theta(value: Any) -> bool:
    """Whether x⁰ is a function of θ: its first argument is called theta."""
    if not callable(value) or isinstance(value, Prior):
        return False
    try:
        return next(iter(inspect.signature(value).parameters), "") == "theta"
    except (TypeError, ValueError):  # a builtin does not say
        return False


def initial_states(
    value: Any, states: int | None, order: int = 1, prior: Prior | None = None
) -> tuple[Callable[[Any, int], np.ndarray] | None, int | None]:
    """The first m states of a chain of order m, and n: draw(count, seed) → [count, mn], latest first, from an array, a
    prior or a function of rng; from a function of theta and rng, draw(theta [N, d], seed) → [N, mn]."""
    if value is None:
        return None, states
    if isinstance(value, Prior):
        if order > 1:
            raise TypeError(f"simulate: initial_state is a prior, but must be {order} states in a row for order={order}")
        return lambda count, seed: value.sample((count,), seed=seed), value.dimension

    def windows(rows: Any, count: int) -> np.ndarray:
        """[count, m, n] or [count, n] in the order of a series → [count, mn], latest first."""
        array = as_array(rows, "simulate", "initial_state")
        if array.size % (count * order) != 0 or array.size == 0:
            raise ValueError(
                f"simulate: initial_state is of shape {array.shape}, but must be {order} states for each of {count} series"
            )
        return np.ascontiguousarray(array.reshape(count, order, -1)[:, ::-1].reshape(count, -1))

    if initial_depends_on_theta(value):
        wants_rng = len(inspect.signature(value).parameters) > 1

        def given_theta(theta: np.ndarray, seed: int) -> np.ndarray:
            rng = np.random.Generator(np.random.PCG64(seed))
            return windows(value(theta, rng) if wants_rng else value(theta), len(theta))

        if prior is None:
            raise TypeError("simulate: initial_state depends on theta, but there is no prior to draw it from")
        return given_theta, given_theta(prior.complete(prior.sample((1,))), 0).shape[1] // order
    if callable(value):

        def rows(count: int, seed: int) -> np.ndarray:
            rng = np.random.Generator(np.random.PCG64(seed))
            return np.concatenate([windows(value(rng), 1) for _ in range(count)])

        return rows, rows(1, 0).shape[1] // order
    window = windows(value, 1)
    return lambda count, seed: np.tile(window, (count, 1)), window.shape[1] // order


def _draw_of(proposal: Proposal, states: int | None, uses_time: bool, order: int) -> tuple[Any, int | None]:
    """A function's draws, checked: draw(count, seed) → x [count, mn], or (x, t); and n. Of a chain of order m > 1 the
    function returns [count, m, n], latest first."""
    if proposal.draw is None:
        return None, proposal.states or states
    function = proposal.draw
    if states is None:
        first = function(1, np.random.Generator(np.random.PCG64(0)))
        rows = as_array(first[0] if uses_time else first, "simulate", "what proposal(1, rng) returns")
        states = rows.shape[-1] if rows.ndim > 1 else 1

    def draw(count: int, seed: int) -> Any:
        drawn = function(count, np.random.Generator(np.random.PCG64(seed)))
        if uses_time and not (isinstance(drawn, tuple) and len(drawn) == 2):
            raise TypeError("simulate: the proposal must return (x, t), because the simulator uses time")
        x, t = drawn if uses_time else (drawn, None)
        if order > 1:
            windows = as_array(x, "simulate", "what the proposal returns")
            if windows.shape != (count, order, states):
                raise ValueError(
                    f"simulate: the proposal returned an array of shape {windows.shape}, but must return"
                    f" {(count, order, states)}: {order} states for each transition, latest first"
                )
            x = windows.reshape(count, order * states)
        rows = as_rows(x, "simulate", "what the proposal returns", order * states)
        if len(rows) != count:
            raise ValueError(f"simulate: the proposal returned {len(rows)} states, but must return {count}")
        if not uses_time:
            return rows
        return rows, np.ascontiguousarray(as_array(t, "simulate", "t of the proposal").reshape(count))

    return draw, states


def _covariates_of(step: Step, given: Any, proposal: Proposal, initial: bool) -> tuple[list[np.ndarray], list[str]]:
    """The tables to draw covariates from, and their names: those given, or those of the proposal's series."""
    if given is not None:
        tables, names = as_tables(given, "simulate", proposal.covariate_names or None)
    else:
        tables, names = proposal.covariates, proposal.covariate_names
    if not step.uses_covariates:
        if tables:
            raise TypeError(f"simulate: covariates are given, but {step.name} has no argument u to take them")
        return [], []
    if not tables and not initial:
        raise TypeError(
            f"simulate: covariates is missing, but must be a table of what {step.name} takes as u: a DataFrame or an array"
            " of rows in time order, or those of a series, proposal=catena.proposals.Target(series, covariates=…)"
        )
    return tables, names


def _in_order(proposal: Proposal, names: list[str]) -> list[np.ndarray]:
    """The covariates of a proposal's series, their columns in the order of the simulator's names."""
    given = proposal.covariate_names
    if not proposal.covariates or not given or given == names:
        return proposal.covariates
    if sorted(given) != sorted(names):
        raise ValueError(
            f"simulate: the covariates of the proposal are {', '.join(given)}, but must be those of the simulator,"
            f" {', '.join(names) or 'none'}"
        )
    return [np.ascontiguousarray(table[:, [given.index(name) for name in names]]) for table in proposal.covariates]


def _shape_text(shape: Sequence[int]) -> str:
    """As the command line has it: (2, 64, 64) → "2x64x64"."""
    sizes = [int(size) for size in shape]
    if len(sizes) != 3 or min(sizes) < 1 or sizes != list(shape):
        raise ValueError(f"simulate: state_shape is {tuple(shape)!r}, but must be channels, rows and columns, as (2, 64, 64)")
    return "x".join(str(size) for size in sizes)


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
    preset: str | None = None,
    budget: int = 10_000,
    seed: int | None = 0,
    initial_state: Any = None,
    state_names: Sequence[str] | None = None,
    state_shape: Sequence[int] | None = None,
    order: int = 1,
    gaps: float | tuple[float, float] | None = None,
    block: int = 1,
    initial: bool = False,
    series: int | None = None,
    from_initial: bool = False,
    around: ArrayLike | None = None,
    widen: float = 2.0,
    covariates: Any = None,
    max_invalid: float = 0.1,
    batch_size: int = 1024,
    executor: Any = None,
    workers: int | None = None,
    path: str | os.PathLike[str] | None = None,
    resume: bool = False,
    threads: int = 0,
    show_progress_bars: bool = True,
) -> Transitions | SeriesSet:
    """Simulates `budget` training transitions: θ from the prior, x from the proposal, x_next by the simulator.

    simulator: step(theta [N, d], x [N, n], rng) → x_next [N, n], on whole batches (catena.vectorize makes one of a
    function on single rows), or one of catena.tasks. It may also declare t (the time), dt (the step), u (covariates,
    below) and, with order=m, past (the m − 1 states before x, latest first, [N, m − 1, n]). proposal: see
    catena.proposals; without one, states that series from initial_state reach, and some far away, found with at most a
    tenth of the budget. initial_state: an array, a prior, a function of rng, or of theta and rng where x⁰ depends on θ;
    for order=m it has m states in a row. Transitions with a result that is not finite are dropped and reported; more
    than a share of max_invalid is an error.

    gaps=(1, 6): records over 1, 2, …, 6 steps in turn, for series with missing states; with a simulator that takes dt,
    over steps drawn evenly from that range. block=5: records of 5 transitions in a row. initial=True: initial states
    instead of transitions, where they depend on θ. Each inner step counts in the budget. preset="paper": as the paper
    did, with the task's fixed proposal unless another one is given.

    series=10: whole series of 10 transitions each in place of single ones, with one θ each, for methods that learn from
    them (NPE); they start from the proposal or, with from_initial=True, from the simulator's initial states. Returns a
    SeriesSet; with path= it is written there at the end.

    around=draws, of a posterior: a second round, with θ from a normal around each of their modes, `widen` times as wide,
    in place of the prior; see docs/extensions/.

    covariates: a table of the known inputs u that the step takes, a row for each step in time order (a DataFrame, an
    array, the path of a CSV file, or a list of them); the proposal's, if it is a Target with covariates. Training draws
    from its rows, with a tenth of their spread as noise; series that proposals simulate walk through it.

    state_shape=(2, 64, 64): states are fields on a grid, 2 channels of 64 × 64, which stand in x one after the other,
    row by row. They are kept in single precision, each once where transitions follow each other (a Rollout proposal),
    and FNSE(embedding="conv") learns from them.

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
    if preset is not None and preset not in _core.preset_names():
        raise ValueError(f"simulate: preset is {preset!r}, but must be one of {', '.join(_core.preset_names())}")
    if int(block) != block or block < 1:
        raise ValueError(f"simulate: block is {block!r}, but must be a whole number, 1 or more")
    plan["records"] = {"block": int(block), "initial": bool(initial)}
    if gaps is not None:
        plan["records"]["gaps"] = _range_text(gaps)
    if series is not None:
        if int(series) != series or series < 1:
            raise ValueError(f"simulate: series is {series!r}, but must be a whole number of transitions, 1 or more")
        if block != 1 or initial or gaps is not None or resume:
            raise TypeError("simulate: block, initial, gaps or resume is given beside series, which makes no use of them")
        plan["series"] = {"transitions": int(series), "from_initial": bool(from_initial)}
    elif from_initial:
        raise TypeError("simulate: from_initial is given, but only series=… uses it")
    if resume and path is None:
        raise ValueError("simulate: resume is given without path, but must come with the file to go on with")
    if isinstance(simulator, Task):
        if prior is not None or order != 1 or initial_state is not None or state_shape is not None:
            raise TypeError("simulate: prior, order, initial_state or state_shape is given, but a task has its own")
        second = None if around is None else simulator.prior.around(around, widen)._core
        if proposal is None and preset is not None and not (initial or from_initial):
            proposal = "fixed"  # the paper's
        chosen = None if proposal is None else as_proposal(proposal, "simulate")
        if chosen is not None and chosen.draw is not None:
            raise TypeError("simulate: the proposal is a function, but must be one of catena.proposals for a task")
        plan |= {"proposal": chosen and chosen.description, "options": simulator.options, "chunk_rows": 0}
        tables = _in_order(chosen, simulator.covariate_names) if chosen else []
        if covariates is not None:
            tables, _ = as_tables(covariates, "simulate", simulator.covariate_names or None)
        core, whole, record = _core.simulate_task(
            simulator._core, second, to_json(plan), chosen.series if chosen else [], chosen.times if chosen else [], tables,
            file, resume, threads, show_progress_bars,
        )  # fmt: skip
        return _finished(core, whole, record, file)

    step = Step(simulator)
    step.check_order(order)
    shape = "" if state_shape is None else _shape_text(state_shape)
    if state_shape is not None:
        values = math.prod(state_shape)
        state_names = state_names or [f"x_{i + 1}" for i in range(values)]
        if len(state_names) != values:
            raise ValueError(f"simulate: state_shape has {values} values, but state_names has {len(state_names)} names")
    prior = as_prior(prior, "simulate")
    if around is not None:
        prior = prior.around(around, widen)
    if proposal is None and not initial:
        if from_initial and initial_state is None:
            raise ValueError("simulate: initial_state is missing, but must say where series start for from_initial=True")
        if initial_state is None:
            raise ValueError(
                "simulate: proposal is missing, but must say where transitions start, for example"
                " proposal=catena.proposals.Target(series) for the states of an observed series,"
                " catena.proposals.Box(low, high), or initial_state= for states that the simulator reaches"
            )
    # Without one, C++ chooses; nothing comes before initial states.
    chosen = as_proposal(proposal, "simulate") if proposal is not None else Proposal({"proposal": None})
    if step.uses_time and getattr(chosen, "unit_is_guessed", False):
        raise ValueError("simulate: the series of the proposal have dates, but time_unit= of Target must say what t counts in")
    draw, states = _draw_of(chosen, len(state_names) if state_names else None, step.uses_time, order)
    start, states_of_start = initial_states(initial_state, states, order, prior)
    names = _state_names(state_names, chosen, states or states_of_start)
    if start is not None and states_of_start != len(names):
        raise ValueError(f"simulate: initial_state has {states_of_start} states, but must have {len(names)}")
    if chosen.description["proposal"] in ("predictive", "rollout") and start is None:
        raise ValueError(f"simulate: initial_state is missing, but the proposal {chosen!r} starts series from it")
    tables, covariate_names = _covariates_of(step, covariates, chosen, initial)
    description = None if proposal is None else chosen.description
    plan |= {"proposal": description, "options": {}, "chunk_rows": _FILE_ROWS}

    declared = {
        "uses_time": step.uses_time,
        "uses_step": "dt" in step.extra,
        "order": order,
        "initial_depends_on_theta": initial_depends_on_theta(initial_state),
        "covariates": covariate_names,
        "state_shape": shape,
    }
    pool, batches, own = _executor_of(executor, workers)
    try:
        core, whole, record = _core.simulate_python(
            step.name, prior._core, names, _Caller(step, pool, order), start, draw, to_json(description),
            to_json(declared), to_json(plan), chosen.series, chosen.times, tables, file, resume, batches,
            show_progress_bars,
        )  # fmt: skip
    finally:
        if own:
            pool.shutdown()
    return _finished(core, whole, record, file)


def _range_text(gaps: float | tuple[float, float]) -> str:
    """As the command line has it: (1, 6) → "1..6"."""
    return "..".join(str(end) for end in (gaps if isinstance(gaps, (tuple, list)) else (gaps,)))


def _finished(
    core: _core.TransitionSet | None, whole: _core.SeriesSet | None, record: str, file: str
) -> Transitions | SeriesSet:
    about = json.loads(record)
    data: Transitions | SeriesSet
    if whole is not None:
        data = SeriesSet(whole)
        if file:
            data.save(file)
    else:
        data = Transitions(core) if core is not None else Transitions.load(file)
    if "first_failure" in about:
        warnings.warn(
            f"simulate: the simulator failed in {about['failed_blocks']} calls, first with: {about['first_failure']}", stacklevel=3
        )
    invalid = about.get("invalid", 0)
    if invalid:
        what = "transitions" if whole is None else "series"
        lost = f"simulate: {invalid} of {len(data) + invalid} {what} were dropped because their result is not finite"
        warnings.warn(lost, stacklevel=3)
    return data
