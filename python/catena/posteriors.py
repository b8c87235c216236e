"""Posteriors: draws, densities and modes of θ for an observed series, by a trained estimator.

In the examples `posterior` was built by an estimator of one parameter, and `series` is an array [T + 1, 1].
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _core, _html
from ._arrays import ArrayLike, as_array, as_rows, as_seed, draw_count, names_of, split_time, to_json
from ._settings import Settings
from .figures import Figures
from .priors import Prior
from .errors import SamplingFailure
from .tasks import Observation, Task, warn_outcome

if TYPE_CHECKING:
    import arviz

    from .correction import Certificate, CorrectedPosterior


class Series(NamedTuple):
    """States, one a row, NaN where they are missing, and the time of each (none if they do not matter)."""

    rows: np.ndarray
    times: np.ndarray

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
        rows, times = [list(part) for part in zip(*self.series, strict=True)] or ([], [])
        learned = np.empty((0, len(self.parameters))) if self.learned is None else self.learned
        _core.write_draws(
            os.fspath(path), self.parameters, self.theta, self.chains, self.state_names, rows, times, learned,
            to_json(self.record),
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
        return Draws(
            theta=found["theta"],
            parameters=list(found["parameters"]),
            series=[Series(rows, times) for rows, times in zip(found["series"], found["times"], strict=True)],
            state_names=list(found["states"][0]) if found["states"] else [],
            chains=found["chains"],
            record=json.loads(found["record"]),
            learned=found["learned"],
        )

    def to_arviz(self) -> arviz.InferenceData:
        """ArviZ's InferenceData: posterior (chain, draw) with a variable per parameter, and observed_data:
        series, and series_2, … if there are more, with the coordinates time, time_2, … where times are known."""
        import arviz

        ends = ["", *(f"_{s + 2}" for s in range(len(self.series) - 1))]
        known = {f"time{end}": one.times for end, one in zip(ends, self.series, strict=False) if len(one.times) > 0}
        theta = self.theta.reshape(self.chains, -1, len(self.parameters))
        return arviz.from_dict(
            posterior={name: theta[:, :, i] for i, name in enumerate(self.parameters)},
            observed_data={f"series{end}": one.rows for end, one in zip(ends, self.series, strict=False)},
            dims={f"series{end}": [f"time{end}", "state"] for end in ends},
            coords={"state": self.state_names, **known},
        )


Panel = list[Series]  # those of one θ


def theta_rows(theta: ArrayLike, function: str, dimension: int) -> tuple[np.ndarray, tuple[int, ...]]:
    """θ of any shape that ends in the number of parameters, as rows, and the shape before that end."""
    array = as_array(theta, function, "theta")
    if array.ndim == 0 or array.shape[-1] != dimension:
        raise ValueError(
            f"{function}: theta is of shape {array.shape}, but must end in {dimension}, the number of parameters"
        )
    return np.ascontiguousarray(array.reshape(-1, dimension)), array.shape[:-1]


def figures_of(draws: Draws, model: _core.Model, truth: ArrayLike | None, reference: ArrayLike | None) -> Figures:
    """Pair plot, marginals, the (first) series and which of its transitions told most."""
    results = _core.Results()
    results.set_posterior(draws.parameters, draws.theta, draws.chains)
    if draws.learned is not None:
        parts = {name: json.loads(draws.record[name]) for name in ("correction", "certificate")}
        results.set_correction(to_json(parts), draws.learned)
    results.set_observed(draws.state_names, *draws.series[0])
    results.set_paths(draws.record["paths"])
    results.add_information(model, 0)
    dimension = len(draws.parameters)
    if truth is not None:
        results.set_truth(as_rows(truth, "posterior.plot", "truth", dimension).ravel())
    if reference is not None:
        results.set_reference(draws.parameters, as_rows(reference, "posterior.plot", "reference", dimension))
    return Figures(results)


def _depth(value: Any) -> int:
    """Dimensions of an array, or of lists in lists, which need not be of one length."""
    if hasattr(value, "ndim"):
        return int(value.ndim)
    return 1 + _depth(value[0]) if isinstance(value, (list, tuple)) and value else 0


def _is_panel(x: Any) -> bool:
    """A list of tables, not of rows."""
    return isinstance(x, (list, tuple)) and len(x) > 0 and (isinstance(x[0], Observation) or _depth(x) == 3)


class Stream:
    """A growing series: the file with the sums over what was taken in, and the rows that were not yet."""

    def __init__(self, begun: Series) -> None:
        folder = tempfile.mkdtemp(prefix="catena-stream-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.file = os.path.join(folder, "state.safetensors")
        self.pending = begun

    def taken_in(self) -> None:
        self.pending = Series(self.pending.rows[:0], self.pending.times[:0])


class Posterior:
    """p(θ | series) by a trained estimator. Keywords are settings of the sampler; help_text() lists them.

    x is one series [T + 1, n], or a list of several with the same θ, of any lengths. A row of NaN is a missing state,
    which the chain steps over if the estimator knows such steps (catena.simulate(…, gaps=(1, 6))); cut_gaps=True lets
    the series end there and a new one begin. times= are those of the rows (of each series, in a list, if x is one):
    their differences are the steps, in units of step_length=.

    >>> posterior
    Posterior(fnle, default x of 7 rows; parameters drift)
    """

    def __init__(self, model: _core.Model, **settings: Any) -> None:
        self._model = model
        self._about = json.loads(model.describe())
        self.settings = settings
        self._sampler_settings().check_names(settings)
        self._companions: list[_core.Model] = []
        self._default: Panel | None = None
        self._stream: Stream | None = None  # what is known of the default series, if it grows by update()
        self.draws: Draws | None = None  #: those of the last call of sample()

    def _sampler_settings(self) -> Settings:
        """Those of the sampler and of how series are read."""
        fields = json.loads(_core.sampler_settings(self._model.method)) + json.loads(_core.path_settings())
        return Settings("posterior.sample", json.dumps(fields))

    def _chosen(self, given: dict[str, Any]) -> tuple[str, str]:
        """The settings of the sampler and those of how series are read, as JSON."""
        known, chosen = self._sampler_settings(), {**self.settings, **given}
        known.check_names(chosen)
        paths = {field["name"] for field in json.loads(_core.path_settings())}
        sampler = known.json_of({name: value for name, value in chosen.items() if name not in paths})
        return sampler, known.json_of({name: value for name, value in chosen.items() if name in paths})

    def help_text(self) -> str:
        """The settings of the sampler, one a line.

        >>> "chains=" in posterior.help_text()
        True
        """
        return self._sampler_settings().help()

    @property
    def prior(self) -> Prior:
        """The prior that answers are given under; that of the first round, if the estimator was trained around a
        posterior."""
        return Prior(self._model.prior.base)

    @property
    def state_names(self) -> list[str]:
        return list(self._about["state_names"])

    def set_default_x(self, x: ArrayLike, times: ArrayLike | None = None) -> Posterior:
        """The series that sample(), log_prob() and map() use if none is given. Returns the posterior.

        >>> posterior.set_default_x(series).sample((10,)).shape
        (10, 1)
        """
        self._default = self._panel("set_default_x", x, times)
        self._stream = None
        return self

    def update(self, x_new: ArrayLike, times: ArrayLike | None = None) -> Posterior:
        """New observations: rows that follow those of the default series, or begin one. Returns the posterior.

        With FNSE (a separable network, the rule gauss) sampling after an update costs the same however long the series
        has become; with other methods the whole series is looked at again.

        >>> growing = estimator.build_posterior().update(series[:4])
        >>> growing.update(series[4:]).sample((10,)).shape
        (10, 1)
        """
        x_new, column = split_time(x_new)
        times = column if times is None else times
        if self._default is not None and len(self._default) > 1:
            raise ValueError(f"posterior.update: the default x has {len(self._default)} series, but must be one to go on")
        known = None if self._default is None else self._default[0]
        if times is None and known is not None and self._about["uses_time"]:
            times = known.times[-1] + 1 + np.arange(len(x_new), dtype=np.float64)
        new = self._series("posterior.update", x_new, times)
        if known is not None and (len(known.times) == 0) != (len(new.times) == 0):
            raise ValueError("posterior.update: the rows before or these have times, but must have them both or neither")
        self._default = [new if known is None else known.followed_by(new)]
        if self._stream is not None:
            self._stream.pending = self._stream.pending.followed_by(new)
        elif _core.can_stream(self._model):
            self._stream = Stream(self._default[0])
        return self

    def with_companions(self, *others: Any) -> Posterior:
        """This posterior with estimators (or posteriors) of other records of the same chain beside its own: of initial
        states, or of the single transitions that blocks leave over. One prior, every state used once.

        >>> import catena
        >>> task, quiet = catena.tasks.get("gaussian_rw"), {"show_progress_bars": False}
        >>> def trained(**records):
        ...     return catena.FNLE().append_simulations(task.simulate(budget=500, **records)).train(steps=50, **quiet)
        >>> both = trained(block=5).build_posterior().with_companions(trained())
        >>> both.sample((10,), x=task.observe(12), **quiet).shape
        (10, 1)
        """
        models = [getattr(other, "_model", None) for other in others]
        if not all(isinstance(model, _core.Model) for model in models):
            raise TypeError("with_companions: a companion is no trained estimator or posterior, but must be one")
        joined = Posterior(self._model, **self.settings)
        joined._companions = [*self._companions, *models]
        joined._default = self._default
        return joined

    def _panel(self, function: str, x: Any, times: Any) -> Panel:
        """What was given as x, or else the default series: all series of one θ."""
        if x is None:
            if self._default is None:
                raise ValueError(f"{function}: x is missing, but must be the observed series (or call set_default_x)")
            return self._default
        if not _is_panel(x):
            return [self._series(function, x, times)]
        each = [None] * len(x) if times is None else list(times)
        if len(each) != len(x):
            raise ValueError(f"{function}: times has {len(each)} parts, but must have {len(x)}, one for each series of x")
        return [self._series(function, one, its) for one, its in zip(x, each, strict=True)]

    def _series(self, function: str, x: Any, times: ArrayLike | None) -> Series:
        if isinstance(x, Observation):
            x, times = x.series, x.times if times is None else times
        x, column = split_time(x)
        times = column if times is None else times
        names = names_of(x)
        if names is not None and sorted(names) == sorted(self.state_names):
            x = x[self.state_names]
        rows = as_rows(x, function, "x", len(self.state_names))
        if times is None:
            return Series(rows, np.arange(len(rows) if self._about["uses_time"] else 0, dtype=np.float64))
        return Series(rows, np.ascontiguousarray(as_array(times, function, "times").ravel()))

    def sample(
        self,
        sample_shape: Sequence[int] | int = (),
        x: ArrayLike | Observation | None = None,
        *,
        times: ArrayLike | None = None,
        seed: int | None = 0,
        threads: int = 0,
        show_progress_bars: bool = True,
        **settings: Any,
    ) -> np.ndarray:
        """Draws of θ given the series x [T + 1, n], or a list of series with this θ, of shape sample_shape + (d,).

        times: of the rows of x (default 0, 1, …). The draws and what is known about them stay in `posterior.draws`. The
        same seed gives the same draws on any number of threads.

        >>> theta = posterior.sample((100,), x=series, seed=1)
        >>> posterior.draws.info["outcome"]
        'ok'
        >>> theta = posterior.sample((100,), x=[series, series[:4]])
        >>> posterior.draws.info["transitions"]
        9
        """
        shape, count = draw_count(sample_shape, "posterior.sample")
        series = self._panel("posterior.sample", x, times)
        stream = self._stream if x is None else None
        whole = as_seed(seed, "posterior.sample")
        self.draws = self._draw(series, count, whole, threads, show_progress_bars, settings, stream)
        return self.draws.theta.reshape(*shape, self.prior.dimension)

    def _draw(
        self, panel: Panel, count: int, seed: int, threads: int, shown: bool, settings: Any, stream: Stream | None = None
    ) -> Draws:
        all_settings = {**self.settings, **settings}
        chosen = self._chosen(settings)
        changed = all_settings.get("rule", "gauss") != "gauss" or all_settings.get("precisions", "amortised") != "amortised"
        if changed or all_settings.get("preset"):
            stream = None  # its sums are for this rule alone
        if not panel[0].complete() or (len(panel[0].times) > 0 and not self._about["uses_time"]):
            stream = None  # and for single steps
        rows, times = zip(*(panel if stream is None else [stream.pending]), strict=True)
        file = "" if stream is None else stream.file
        found = _core.draw_posterior(
            self._model, self._companions, rows, times, *chosen, count, seed, threads, shown, file
        )
        if stream is not None:
            stream.taken_in()
        findings = json.loads(found["info"])["findings"]
        if found["warning"] and all(one["outcome"] != "outside_training" for one in findings):
            warnings.warn(f"posterior.sample: {found['warning']}", stacklevel=3)
        if found["refusal"]:
            raise SamplingFailure(
                f"posterior.sample: {found['refusal']}: {_core.advice(found['outcome'], 'posterior.sample')}"
            )
        for one in findings:
            sentence = f"posterior.sample: {one['outcome']}: {one['sentence']}; {one['advice']}"
            warnings.warn(sentence, RuntimeWarning, stacklevel=3)
        if not findings:
            warn_outcome("posterior.sample", found["outcome"])
        return Draws(
            theta=found["theta"],
            parameters=self.prior.names,
            series=list(panel),
            state_names=self.state_names,
            chains=found["chains"],
            record=json.loads(found["record"]),
        )

    def sample_batched(
        self,
        sample_shape: Sequence[int] | int,
        x: Sequence[ArrayLike],
        *,
        seed: int | None = 0,
        threads: int = 0,
        show_progress_bars: bool = True,
        **settings: Any,
    ) -> np.ndarray:
        """Draws for several series, each with a θ of its own: sample_shape + (number of series, d). Lengths may differ.

        >>> posterior.sample_batched((10,), [series, series[:4]]).shape
        (10, 2, 1)
        """
        shape, count = draw_count(sample_shape, "posterior.sample_batched")
        root = as_seed(seed, "posterior.sample_batched")
        parts = []
        for i, one in enumerate(x):
            series = self._panel("posterior.sample_batched", one, None)
            child = _core.child_seed(root, "sample_batched", i)
            parts.append(self._draw(series, count, child, threads, show_progress_bars, settings).theta)
        return np.stack(parts, axis=1).reshape(*shape, len(parts), self.prior.dimension)

    def log_prob(
        self,
        theta: ArrayLike,
        x: ArrayLike | Observation | None = None,
        *,
        times: ArrayLike | None = None,
        threads: int = 0,
        **settings: Any,
    ) -> np.ndarray:
        """log p(θ) + Σ_t log q(x^(t+1) | x^t, θ), of shape theta.shape[:-1]: the log density of θ given the series up to
        one constant; −inf outside the prior's support. For methods that learn a density or a ratio (FNLE, FNRE).

        >>> posterior.log_prob([[0.0], [0.5]], x=series).shape
        (2,)
        """
        rows, shape = theta_rows(theta, "posterior.log_prob", self.prior.dimension)
        series, times = zip(*self._panel("posterior.log_prob", x, times), strict=True)
        chosen = self._chosen(settings)
        found = _core.log_prob(self._model, self._companions, series, times, *chosen, rows, threads)
        return found.reshape(shape)

    def map(
        self,
        x: ArrayLike | Observation | None = None,
        *,
        times: ArrayLike | None = None,
        seed: int | None = 0,
        threads: int = 0,
        show_progress_bars: bool = True,
        **settings: Any,
    ) -> np.ndarray:
        """The most probable θ given the series, of shape (d,).

        >>> posterior.map(x=series).shape
        (1,)
        """
        series, times = zip(*self._panel("posterior.map", x, times), strict=True)
        found = _core.map(
            self._model, self._companions, series, times, *self._chosen(settings), as_seed(seed, "posterior.map"), threads,
            show_progress_bars,
        )  # fmt: skip
        if found["warning"]:
            warnings.warn(f"posterior.map: {found['warning']}", stacklevel=2)
        warn_outcome("posterior.map", found["outcome"])
        return found["theta"]

    def correct(
        self,
        simulator: Callable[..., ArrayLike] | Task | None = None,
        x: ArrayLike | Observation | None = None,
        *,
        times: ArrayLike | None = None,
        budget: int = 100_000,
        n: int = 1000,
        seed: int | None = 0,
        initial_state: Any = None,
        batch_size: int = 1024,
        executor: Any = None,
        workers: int | None = None,
        threads: int = 0,
        show_progress_bars: bool = True,
        **settings: Any,
    ) -> CorrectedPosterior:
        """The posterior of this series, right whatever the network learned, by simulating `budget` transitions from the
        observed states themselves; as `catena correct`.

        simulator: as for catena.simulate, step(theta, x, rng[, t, dt, past]) or a task; the task that the estimator was
        trained on, if it is left out. batch_size, executor, workers and, where x⁰ depends on θ, initial_state are as
        there; without an executor the step is never called by two threads at once. The order of the chain is the
        model's. n: draws to begin with. Keywords: those of sample(), and max_invalid, degree and false_alarms. The same
        seed gives the same result on any number of threads and workers.

        Series that are too short for it are not corrected: a warning says so, and the answers are the learned ones.

        >>> corrected = walk_posterior.correct(x=walk_series, budget=3000, show_progress_bars=False)
        >>> corrected.draws.save("corrected.nc")
        """
        from . import correction

        panel = self._panel("posterior.correct", x, times)
        found, sampler = correction.run(
            "posterior.correct", _core.correct_posterior, self, panel, simulator, n, seed, threads, show_progress_bars,
            initial_state, batch_size, executor, workers, budget, settings,
        )  # fmt: skip
        if found["not_corrected"]:
            warnings.warn(f"posterior.correct: not corrected: {found['not_corrected']}", stacklevel=2)
        warn_outcome("posterior.correct", found["corrected"]["outcome"])
        return correction.CorrectedPosterior(self, panel, sampler, found)

    def check(
        self,
        simulator: Callable[..., ArrayLike] | Task | None = None,
        x: ArrayLike | Observation | None = None,
        *,
        times: ArrayLike | None = None,
        budget: int = 5_000,
        n: int = 1000,
        seed: int | None = 0,
        initial_state: Any = None,
        batch_size: int = 1024,
        executor: Any = None,
        workers: int | None = None,
        threads: int = 0,
        show_progress_bars: bool = True,
        **settings: Any,
    ) -> Certificate:
        """How far the learned posterior of this series is shifted and too wide or narrow, by simulating `budget`
        transitions from the observed states; as `catena check`. The arguments are those of correct().

        >>> walk_posterior.check(x=walk_series, show_progress_bars=False).transitions
        100
        """
        from . import correction

        panel = self._panel("posterior.check", x, times)
        found, _ = correction.run(
            "posterior.check", _core.check_posterior, self, panel, simulator, n, seed, threads, show_progress_bars,
            initial_state, batch_size, executor, workers, budget, settings,
        )  # fmt: skip
        warn_outcome("posterior.check", found["outcome"])
        return correction.Certificate.from_json(found["certificate"], self.prior.names)

    def _last(self, function: str) -> Draws:
        if self.draws is None:
            raise ValueError(f"posterior.{function}: there are no draws yet: call posterior.sample() first")
        return self.draws

    def to_arviz(self) -> arviz.InferenceData:
        """The last draws as ArviZ's InferenceData.

        >>> theta = posterior.sample((100,), x=series)
        >>> posterior.to_arviz().posterior["drift"].shape
        (1, 100)
        """
        return self._last("to_arviz").to_arviz()

    def plot(self, *, truth: ArrayLike | None = None, reference: ArrayLike | None = None) -> Figures:
        """Figures of the last draws: pair plot, marginals, the (first) series and which of its transitions told most; with the
        true θ and draws of a reference [N, d] if they are given. A notebook shows them, save("posterior.html") writes a
        page.

        >>> theta = posterior.sample((100,), x=series)
        >>> "pair_plot" in posterior.plot(truth=[0.4]).names
        True
        """
        return figures_of(self._last("plot"), self._model, truth, reference)

    def __repr__(self) -> str:
        rows = " and ".join(str(len(series.rows)) for series in self._default or [])
        series = f", default x of {rows} rows" if rows else ""
        return f"Posterior({self._model.method}{series}; parameters {', '.join(self.prior.names)})"

    def _repr_html_(self) -> str:
        rows = {"method": self._model.method, "prior": repr(self.prior), "states": ", ".join(self.state_names)}
        if self.draws is not None:
            rows["last draws"] = str(len(self.draws.theta))
        return _html.table("Posterior", {**rows, **self.settings})

    def __getstate__(self) -> dict[str, Any]:
        models = {"_model": self._model.to_bytes(), "_companions": [each.to_bytes() for each in self._companions]}
        return {**self.__dict__, **models, "_stream": None}  # made again from the whole series

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._model = _core.parse_model(state["_model"])
        self._companions = [_core.parse_model(each) for each in state["_companions"]]
