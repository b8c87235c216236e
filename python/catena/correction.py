"""Correction by simulation: posteriors that are right whatever the network learned, and how good the learned ones are.

Posterior.correct and Posterior.check are the way in; what they return is here. docs/theory/correction.md has the formulas.
"""

from __future__ import annotations

import json
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _html, tasks
from ._arrays import ArrayLike, as_seed, draw_count, to_json
from ._settings import Settings
from .figures import Figures
from .draws import Draws, Panel, figures_of
from .posteriors import Posterior, theta_rows
from .prediction import Predictive, predict_posterior
from .priors import Prior
from .simulation import Step, _Caller, _executor_of, initial_depends_on_theta, initial_states
from .tasks import Task, warn_findings, warn_outcome

if TYPE_CHECKING:
    import arviz
    import pandas

_LARGEST_BATCH = 1024  # rows that C++ asks for at once, whatever the number of threads


@dataclass(frozen=True)
class ParameterCertificate:
    """How far the learned posterior of one parameter is off, with standard errors."""

    name: str
    shift: float  #: where it should be minus where it is, in standard deviations of the learned posterior
    shift_error: float
    width: float  #: what its standard deviation should be over what it is
    width_error: float


@dataclass(frozen=True, repr=False)
class Certificate:
    """How good a learned posterior is, said without a reference, from transitions simulated at the observed states.

    >>> certificate = walk_posterior.check(x=walk_series, budget=2000, show_progress_bars=False)
    >>> certificate.parameters["theta_1"].shift_error > 0
    True
    """

    parameters: dict[str, ParameterCertificate]
    p_value: float  #: of "the learned score has mean zero", as it has if what was learned is right
    false_alarms: float  #: the rate at which a posterior that is right is accused of a shift
    shifted: bool
    mis_sized: bool  #: a width is off by more than 15 % beyond its own error
    alarm: bool  #: shifted or mis_sized
    transitions: int  #: of the observed series
    budget_needed: int  #: simulated transitions after which a correction is within a fifth of a standard deviation
    sentences: list[str]  #: the same in words, and what to do
    rough: bool = False  #: too few transitions for sizes: shifts are rough, widths are not judged
    outcome: str = "ok"  #: of the learned draws: of the sampler, or of the first finding
    findings: list[dict[str, str]] = field(default_factory=list)  #: what is wrong with series and draws: outcome, sentence, advice

    @staticmethod
    def from_json(text: str, names: Sequence[str]) -> Certificate:
        """From what the attribute `certificate` of a file of corrected draws says; `names` are its parameters."""
        found = json.loads(text)

        def one(name: str) -> ParameterCertificate:
            values = found["parameters"][name]
            numbers = (values[key] for key in ("shift", "shift_error", "width", "width_error"))
            return ParameterCertificate(name, *(np.nan if number is None else number for number in numbers))

        rest = {each.name: found[each.name] for each in fields(Certificate) if each.name in found and each.name != "parameters"}
        return Certificate({name: one(name) for name in names}, **rest)

    def _rows(self) -> list[list[str]]:
        return [
            [one.name, f"{one.shift:+.2f} ± {one.shift_error:.2f}", f"{one.width:.2f} ± {one.width_error:.2f}"]
            for one in self.parameters.values()
        ]

    def __repr__(self) -> str:
        rows = [["parameter", "truth − learned", "right/learned width"], *self._rows()]
        sizes = [max(len(row[i]) for row in rows) for i in range(3)]
        lines = [f"{row[0]:<{sizes[0]}}  {row[1]:>{sizes[1]}}  {row[2]:>{sizes[2]}}" for row in rows]
        return "\n".join([*lines, *self.sentences, *self._found()])

    def _found(self) -> list[str]:
        return [f"{one['outcome']}: {one['sentence']}" for one in self.findings]

    def _repr_html_(self) -> str:
        grid = _html.grid("Certificate", ["parameter", "truth − learned", "right/learned width"], self._rows())
        return grid + _html.lines([*self.sentences, *self._found()])


class CorrectedPosterior:
    """p(θ | series) of one series, made right by simulating from its states; see Posterior.correct.

    Where it could not be corrected, `not_corrected` says why, and all answers are those of the learned posterior.

    >>> corrected = walk_posterior.correct(x=walk_series, budget=3000, show_progress_bars=False)
    >>> list(corrected.certificate.parameters)
    ['theta_1']
    >>> corrected.log_prob([[0.0], [0.5]]).shape, corrected.map(show_progress_bars=False).shape
    ((2,), (1,))
    """

    def __init__(self, posterior: Posterior, panel: Panel, settings: dict[str, Any], found: dict[str, Any]) -> None:
        self._posterior = posterior
        self._panel = panel
        self._settings = settings
        self._density: _core.CorrectedDensity | None = found["density"]
        self.not_corrected: str = found["not_corrected"]  #: why not; empty if it was
        self.info: dict[str, Any] = json.loads(found["info"])  #: budget, transitions spent, rounds, degree, seconds, …
        self.certificate = Certificate.from_json(found["certificate"], posterior.prior.names)
        #: As Posterior.sample gives them.
        self.learned = replace(self._draws_of(found["learned"], found["learned_record"]), _make=None)
        #: Those of the correction itself, until sample() makes others.
        self.draws = self._draws_of(found["corrected"], found["record"])
        if self._density is not None:
            self.draws = replace(self.draws, learned=self.learned.theta)

    def _draws_of(self, part: dict[str, Any], record: str) -> Draws:
        return Draws(
            theta=part["theta"],
            parameters=self._posterior.prior.names,
            series=list(self._panel),
            state_names=self._posterior.state_names,
            covariate_names=self._posterior.covariate_names,
            chains=part["chains"],
            record=json.loads(record),
            calendar=self._panel.calendar,
            _make=self._groups,
        )

    @property
    def prior(self) -> Prior:
        return self._posterior.prior

    def sample(
        self,
        sample_shape: Sequence[int] | int = (),
        *,
        seed: int | None = 0,
        threads: int = 0,
        show_progress_bars: bool = True,
    ) -> np.ndarray:
        """Draws of θ, of shape sample_shape + (d,). They stay in `draws`; nothing is simulated for them.

        >>> corrected = walk_posterior.correct(x=walk_series, budget=3000, show_progress_bars=False)
        >>> corrected.sample((100,), show_progress_bars=False).shape
        (100, 1)
        """
        shape, count = draw_count(sample_shape, "sample")
        whole = as_seed(seed, "sample")
        record = {**self.draws.record, "seed": whole}
        if self._density is None:
            learned = self._posterior._draw(
                self._panel, count, whole, threads, show_progress_bars, self._settings
            )
            self.draws = replace(learned, record={**record, **learned.record})
        else:
            found = self._density.draw(count, whole, threads, show_progress_bars)
            warn_outcome("sample", found["outcome"])
            record |= {"info": found["info"], "outcome": found["outcome"]}
            made = self._draws_of(found, to_json(record))
            self.draws = replace(made, learned=self.learned.theta)
        return self.draws.theta.reshape(*shape, self.prior.dimension)

    def log_prob(self, theta: ArrayLike, *, threads: int = 0) -> np.ndarray:
        """The log density of θ up to a constant, of shape theta.shape[:-1]; −inf outside the prior's support."""
        if self._density is None:
            return self._posterior.log_prob(theta, **self._series(), threads=threads, **self._settings)
        rows, shape = theta_rows(theta, "log_prob", self.prior.dimension)
        return self._density.log_prob(rows, threads).reshape(shape)

    def map(self, *, seed: int | None = 0, show_progress_bars: bool = True) -> np.ndarray:
        """The most probable θ, of shape (d,)."""
        if self._density is None:
            shown = show_progress_bars
            return self._posterior.map(**self._series(), seed=seed, show_progress_bars=shown, **self._settings)
        found = self._density.map(as_seed(seed, "map"), show_progress_bars)
        warn_outcome("map", found["outcome"])
        return found["theta"]

    def _series(self) -> dict[str, Any]:
        """The panel as x=, times= and covariates= of a posterior."""
        rows, times, inputs = (list(part) for part in zip(*self._panel, strict=True))
        known = {"times": times if any(len(each) > 0 for each in times) else None}
        return {"x": rows, **known, "covariates": inputs if self._posterior.covariate_names else None}

    def to_arviz(self) -> arviz.InferenceData:
        """The draws as ArviZ's InferenceData."""
        return self.draws.to_arviz()

    def plot(
        self,
        *,
        truth: ArrayLike | None = None,
        reference: ArrayLike | None = None,
        labels: Mapping[str, str] | None = None,
        interval: float = 0.9,
    ) -> Figures:
        """Figures of the draws, as Posterior.plot has them."""
        return figures_of(self.draws, self._posterior._model, truth, reference, labels, interval)

    def summary(self, interval: float = 0.9) -> pandas.DataFrame:
        """As Posterior.summary."""
        return self.draws.summary(interval)

    def predict(
        self,
        simulator: Callable[..., ArrayLike] | Task | None = None,
        n: int = 200,
        *,
        horizon: int = 0,
        covariates: Any = None,
        series: int = 0,
        seed: int | None = 0,
        batch_size: int = 1024,
        executor: Any = None,
        workers: int | None = None,
        threads: int = 0,
        show_progress_bars: bool = True,
    ) -> Predictive:
        """Series that the simulator makes of n of the draws, as Posterior.predict has them."""
        found = predict_posterior(
            self._posterior, self.draws, simulator, n, horizon, covariates, series, seed, batch_size, executor, workers,
            threads, show_progress_bars,
        )  # fmt: skip
        if series == 0:  # the one that figures show
            self.draws = replace(self.draws, predictive=found)
        return found

    def _groups(self, theta: np.ndarray) -> dict[str, np.ndarray]:
        groups = {"prior": self.prior.sample((len(theta),))}
        if self._density is not None and np.isfinite(theta).all():
            groups["log_density"] = self._density.log_prob(np.ascontiguousarray(theta), 0)
        return groups

    def __repr__(self) -> str:
        spent = f"{self.info['spent']} simulated transitions" + ("" if self._density else ", not corrected")
        return f"CorrectedPosterior({self.info['method']}, {spent}; parameters {', '.join(self.prior.names)})"

    def _repr_html_(self) -> str:
        rows = {"method": self.info["method"], "simulated transitions": self.info["spent"]}
        if self.not_corrected:
            rows["not corrected"] = self.not_corrected
        return _html.table("CorrectedPosterior", rows) + self.certificate._repr_html_()

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("CorrectedPosterior does not pickle: pickle its draws and its certificate, or call draws.save(path)")


class _Pieces(_Caller):
    """Batches of at most so many rows; without an executor one after the other, whatever thread asks for them."""

    def __init__(self, function: str, step: Step, executor: Any, order: int, rows: int) -> None:
        super().__init__(step, executor, order, function)
        self.rows = rows
        self.lock = threading.Lock()

    def __call__(
        self,
        theta: np.ndarray,
        x: np.ndarray,
        t: np.ndarray | None,
        dt: np.ndarray | None,
        u: np.ndarray | None,
        seed: int,
    ) -> np.ndarray:
        if self.executor is not None:
            return self._in_pieces(theta, x, t, dt, u, seed)
        with self.lock:
            return self._in_pieces(theta, x, t, dt, u, seed)

    def _in_pieces(
        self,
        theta: np.ndarray,
        x: np.ndarray,
        t: np.ndarray | None,
        dt: np.ndarray | None,
        u: np.ndarray | None,
        seed: int,
    ) -> np.ndarray:
        if len(x) <= self.rows:
            return super().__call__(theta, x, t, dt, u, seed)
        pieces = []
        for begin in range(0, len(x), self.rows):
            part = slice(begin, begin + self.rows)
            lanes = [None if each is None else each[part] for each in (theta, x, t, dt, u)]
            pieces.append(super().__call__(*lanes, _core.child_seed(seed, "piece", begin)))
        return np.concatenate(pieces)


def _task_of(function: str, about: dict[str, Any]) -> Task:
    """The task that the estimator was trained on."""
    made_by = about["transitions"] or {}
    if made_by.get("model") not in tasks.names():
        raise TypeError(
            f"{function}: the simulator is missing, but must be given: the estimator was not trained on a task of catena"
        )
    return tasks.get(made_by["model"], **made_by.get("options", {}))


def simulator_of(
    function: str, posterior: Posterior, simulator: Any, initial_state: Any, executor: Any, batch_size: int
) -> _core.Simulator:
    """The simulator that the estimator was trained with, or one like it."""
    about = posterior._about
    if simulator is None:
        simulator = _task_of(function, about)
    if not isinstance(simulator, Task) and Step(simulator).uses_time and not about["uses_time"]:
        name = Step(simulator).name
        raise TypeError(f"{function}: {name} has an argument t, but the estimator was trained without time")
    return made_simulator(
        function, simulator, posterior.prior, posterior.state_names, about["order"], initial_state, executor, batch_size,
        posterior.covariate_names,
    )  # fmt: skip


def made_simulator(
    function: str,
    simulator: Any,
    prior: Prior,
    names: list[str],
    order: int,
    initial_state: Any,
    executor: Any,
    batch_size: int,
    covariates: list[str],
) -> _core.Simulator:
    """A task, or the user's function, as C++ calls it; covariates: the names of those that there are."""
    if not 1 <= batch_size <= _LARGEST_BATCH:
        raise ValueError(f"{function}: batch_size is {batch_size!r}, but must be between 1 and {_LARGEST_BATCH}")
    if isinstance(simulator, Task):
        if initial_state is not None:
            raise TypeError(f"{function}: initial_state is given, but a task has its own")
        return simulator._core
    step = Step(simulator)
    step.check_order(order)
    if step.uses_covariates != bool(covariates):
        there, what = ("an", "there are no covariates") if step.uses_covariates else ("no", "there are covariates")
        raise TypeError(f"{function}: {step.name} has {there} argument u, but {what}: {', '.join(covariates) or 'none'}")
    start, states = initial_states(initial_state, len(names), order, prior)
    if start is not None and states != len(names):
        raise ValueError(f"{function}: initial_state has {states} states, but must have {len(names)}")
    declared = {
        "uses_time": step.uses_time,
        "uses_step": "dt" in step.extra,
        "order": order,
        "initial_depends_on_theta": initial_depends_on_theta(initial_state),
        "covariates": covariates,
    }
    caller = _Pieces(f"catena.{function}", step, executor, order, int(batch_size))
    return _core.python_simulator(step.name, prior._core, names, caller, start, to_json(declared))


def correction_settings(function: str) -> Settings:
    """Those of the correction beside its budget: max_invalid, degree, false_alarms."""
    others = [field for field in json.loads(_core.correction_settings()) if field["name"] != "budget"]
    return Settings(function, json.dumps(others))


def run(
    function: str,
    work: Callable[..., dict[str, Any]],
    posterior: Posterior,
    panel: Panel,
    simulator: Any,
    n: int,
    seed: int | None,
    threads: int,
    show_progress_bars: bool,
    initial_state: Any,
    batch_size: int,
    executor: Any,
    workers: int | None,
    budget: int,
    settings: dict[str, Any],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What `work` (correct_posterior or check_posterior of C++) returns, and those of the settings that are the
    sampler's."""
    if int(budget) != budget:
        raise ValueError(f"{function}: budget is {budget!r}, but must be a whole number")
    if int(n) != n or n < 10:
        raise ValueError(f"{function}: n is {n!r}, but must be a whole number, 10 or more")
    own = correction_settings(function)
    mine = {name: value for name, value in settings.items() if name in own.fields}
    others = {name: value for name, value in settings.items() if name not in own.fields}
    chosen = posterior._chosen(others)
    correction = to_json({**json.loads(own.json_of(mine)), "budget": int(budget)})
    whole = as_seed(seed, function)
    parts = zip(*panel, strict=True)
    pool, batches, shut_down = _executor_of(executor, workers)
    try:
        made = simulator_of(function, posterior, simulator, initial_state, pool, batch_size)
        found = work(
            posterior._model, posterior._companions, *parts, *chosen, made, correction, int(n), whole,
            threads if pool is None else max(threads, batches), show_progress_bars,
        )  # fmt: skip
    finally:
        if shut_down:
            pool.shutdown()
    findings = json.loads(found["info"])["findings"]
    if found["warning"] and all(one["outcome"] != "outside_training" for one in findings):
        warnings.warn(f"{function}: {found['warning']}", stacklevel=3)
    warn_findings(function, found["outcome"], findings, stacklevel=4)
    return found, others
