"""Posteriors: draws, densities and modes of θ for an observed series, by a trained estimator.

In the examples `posterior` was built by an estimator of one parameter, and `series` is an array [T + 1, 1].
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _html
from ._arrays import ArrayLike, as_array, as_rows, as_seed, draw_count, names_of, to_json
from ._covariates import as_table, of_rows, split_covariates
from ._settings import Settings, entries
from ._times import Dates, as_times, split_time
from .draws import Draws, Panel, Series, figures_of
from .figures import Figures
from .priors import Prior
from .errors import SamplingFailure
from .tasks import Observation, Task, warn_findings, warn_outcome

if TYPE_CHECKING:
    import arviz
    import pandas

    from .correction import Certificate, CorrectedPosterior
    from .prediction import Predictive

_MOST_LIKELIHOODS = 1_000_000  # of draws and transitions, as in files of `catena sample`


def theta_rows(theta: ArrayLike, function: str, dimension: int) -> tuple[np.ndarray, tuple[int, ...]]:
    """θ of any shape that ends in the number of parameters, as rows, and the shape before that end."""
    array = as_array(theta, function, "theta")
    if array.ndim == 0 or array.shape[-1] != dimension:
        raise ValueError(
            f"{function}: theta is of shape {array.shape}, but must end in {dimension}, the number of parameters"
        )
    return np.ascontiguousarray(array.reshape(-1, dimension)), array.shape[:-1]


def _depth(value: Any) -> int:
    """Dimensions of an array, or of lists in lists, which need not be of one length."""
    if hasattr(value, "ndim"):
        return int(value.ndim)
    return 1 + _depth(value[0]) if isinstance(value, (list, tuple)) and value else 0


def _parts(function: str, name: str, value: Any, x: Sequence[Any]) -> list[Any]:
    """One for each series of x, or None for all."""
    each = [None] * len(x) if value is None else list(value)
    if len(each) != len(x):
        raise ValueError(f"{function}: {name} has {len(each)} parts, but must have {len(x)}, one for each series of x")
    return each


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
        self.pending = Series(*(part[:0] for part in self.pending))


class Posterior:
    """p(θ | series) by a trained estimator. Keywords are settings of the sampler; help_text() lists them.

    x is one series [T + 1, n], or a list of several with the same θ, of any lengths. A row of NaN is a missing state,
    which the chain steps over if the estimator knows such steps (catena.simulate(…, gaps=(1, 6))); cut_gaps=True lets
    the series end there and a new one begin. times= are those of the rows (of each series, in a list, if x is one):
    their differences are the steps, in units of step_length=. A DataFrame's column `time`, `date`, … or its index are
    the times, too. Dates count in time_unit= ("day", "month", …) since time_origin=, or the first of them. Covariates of
    an estimator that takes them are columns of x, a DataFrame, or covariates=, a row for each row of x (of each series,
    in a list, if x is one).

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

    @property
    def covariate_names(self) -> list[str]:
        """Of the known inputs that transitions take."""
        return list(self._about["covariate_names"])

    def set_default_x(
        self, x: ArrayLike, times: ArrayLike | None = None, *, covariates: Any = None, **settings: Any
    ) -> Posterior:
        """The series that sample(), log_prob() and map() use if none is given. Returns the posterior. Keywords say how
        dates are read (time_unit=, time_origin=).

        >>> posterior.set_default_x(series).sample((10,)).shape
        (10, 1)
        """
        self._default = self._panel("set_default_x", x, times, covariates, settings)
        self._stream = None
        return self

    def update(self, x_new: ArrayLike, times: ArrayLike | None = None, *, covariates: Any = None) -> Posterior:
        """New observations: rows that follow those of the default series, or begin one. Returns the posterior.

        With FNSE (a separable network, the rule gauss) sampling after an update costs the same however long the series
        has become; with other methods the whole series is looked at again.

        >>> growing = estimator.build_posterior().update(series[:4])
        >>> growing.update(series[4:]).sample((10,)).shape
        (10, 1)
        """
        x_new, column = split_time(x_new, "posterior.update")
        times = column if times is None else as_times(times, "posterior.update")
        if self._default is not None and len(self._default) > 1:
            raise ValueError(f"posterior.update: the default x has {len(self._default)} series, but must be one to go on")
        known = None if self._default is None else self._default[0]
        if times is None and known is not None and self._about["uses_time"]:
            times = known.times[-1] + 1 + np.arange(len(x_new), dtype=np.float64)
        calendar = "" if self._default is None else self._default.calendar
        scale = json.loads(calendar) if calendar else {}
        begun = {"time_unit": scale["unit"], "time_origin": scale["origin"]} if scale else {}
        added = self._numbered("posterior.update", [self._series("posterior.update", x_new, times, covariates)], begun)
        new = added[0]
        neither = known is None or (len(known.times) == 0) == (len(new.times) == 0)
        if not neither or (known is not None and bool(calendar) != bool(added.calendar)):
            raise ValueError(
                "posterior.update: the rows before or these have times (or dates), but must have them both or neither"
            )
        self._default = Panel([new if known is None else known.followed_by(new)], calendar or added.calendar)
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

    def _panel(self, function: str, x: Any, times: Any, covariates: Any, settings: Mapping[str, Any]) -> Panel:
        """What was given as x, or else the default series: all series of one θ."""
        if x is None:
            if self._default is None:
                raise ValueError(f"{function}: x is missing, but must be the observed series (or call set_default_x)")
            if covariates is not None:
                raise TypeError(f"{function}: covariates are given without x, but must come with it")
            return self._default
        if not _is_panel(x):
            return self._numbered(function, [self._series(function, x, times, covariates)], settings)
        parts = (_parts(function, "times", times, x), _parts(function, "covariates", covariates, x))
        series = [self._series(function, *each) for each in zip(x, *parts, strict=True)]
        return self._numbered(function, series, settings)

    def _numbered(self, function: str, series: list[Series], settings: Mapping[str, Any]) -> Panel:
        """The series with dates as numbers, in the unit that the settings name."""
        dated = [isinstance(one.times, Dates) for one in series]
        if not any(dated):
            return Panel(series)
        if not all(dated):
            raise ValueError(f"{function}: some series have dates, but all or none must have them")
        chosen = {**self.settings, **settings}
        paths = to_json({name: chosen[name] for name in ("time_unit", "time_origin") if name in chosen})
        matters = self._about["uses_time"] or self._about["uses_step"]
        dates = [one.times.view(np.ndarray) for one in series]
        numbers, calendar = _core.number_dates(function, dates, paths, matters)
        return Panel([one._replace(times=its) for one, its in zip(series, numbers, strict=True)], calendar)

    def _series(self, function: str, x: Any, times: ArrayLike | None, covariates: Any = None) -> Series:
        if isinstance(x, Observation):
            times, covariates = x.times if times is None else times, x.covariates if covariates is None else covariates
            x = x.series
        x, column = split_time(x, function)
        times = column if times is None else times
        x, inputs = split_covariates(x, self.state_names, self.covariate_names, covariates, function)
        names = names_of(x)
        if names is not None and sorted(names) == sorted(self.state_names):
            x = x[self.state_names]
        rows = as_rows(x, function, "x", len(self.state_names))
        inputs = of_rows(inputs, len(rows), function)
        if times is None:
            return Series(rows, np.arange(len(rows) if self._about["uses_time"] else 0, dtype=np.float64), inputs)
        return Series(rows, as_times(times, function), inputs)

    def sample(
        self,
        sample_shape: Sequence[int] | int = (),
        x: ArrayLike | Observation | None = None,
        *,
        times: ArrayLike | None = None,
        covariates: Any = None,
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
        series = self._panel("posterior.sample", x, times, covariates, settings)
        stream = self._stream if x is None else None
        whole = as_seed(seed, "posterior.sample")
        self.draws = self._draw(series, count, whole, threads, show_progress_bars, settings, stream)
        return self.draws.theta.reshape(*shape, self.prior.dimension)

    def _draw(
        self, panel: Panel, count: int, seed: int, threads: int, shown: bool, settings: Any, stream: Stream | None = None
    ) -> Draws:
        all_settings = {**self.settings, **settings}
        chosen = self._chosen(settings)
        changed = all_settings.get("rule", "gauss") != "gauss" or all_settings.get("precisions", "auto") not in ("auto", "amortised")
        if changed or all_settings.get("preset"):
            stream = None  # its sums are for this rule alone
        if not panel[0].complete() or (len(panel[0].times) > 0 and not self._about["uses_time"]):
            stream = None  # and for single steps
        parts = zip(*(panel if stream is None else [stream.pending]), strict=True)
        file = "" if stream is None else stream.file
        found = _core.draw_posterior(self._model, self._companions, *parts, *chosen, count, seed, threads, shown, file)
        if stream is not None:
            stream.taken_in()
        findings = json.loads(found["info"])["findings"]
        if found["warning"] and all(one["outcome"] != "outside_training" for one in findings):
            warnings.warn(f"posterior.sample: {found['warning']}", stacklevel=3)
        if found["refusal"]:
            raise SamplingFailure(
                f"posterior.sample: {found['refusal']}: {_core.advice(found['outcome'], 'posterior.sample')}"
            )
        warn_findings("posterior.sample", found["outcome"], findings, stacklevel=4)
        return Draws(
            theta=found["theta"],
            parameters=self.prior.names,
            series=list(panel),
            state_names=self.state_names,
            covariate_names=self.covariate_names,
            chains=found["chains"],
            record=json.loads(found["record"]),
            calendar=panel.calendar,
            health=found["health"] if len(found["health"]) else None,
            _make=functools.partial(self._groups, panel, chosen),
        )

    def _groups(self, panel: Panel, chosen: tuple[str, str], theta: np.ndarray) -> dict[str, np.ndarray]:
        """Draws.groups of draws that were made with these settings."""
        groups = {"prior": self.prior.sample((len(theta),))}
        transitions = sum(len(one.rows) - 1 for one in panel)
        has_density = entries(_core.methods())[self._model.method]["density"]
        if not has_density or len(theta) * transitions > _MOST_LIKELIHOODS:
            return groups
        if not np.isfinite(theta).all():
            return groups
        parts = zip(*panel, strict=True)
        request = (self._model, self._companions, *parts, *chosen, np.ascontiguousarray(theta), 0)
        groups["log_density"] = _core.log_prob(*request)
        if self._model.method == "fnle" and not self._companions:
            groups["log_likelihood"] = _core.log_likelihood(*request)
        return groups

    def log_likelihood(
        self,
        theta: ArrayLike,
        x: ArrayLike | Observation | None = None,
        *,
        times: ArrayLike | None = None,
        covariates: Any = None,
        threads: int = 0,
        **settings: Any,
    ) -> np.ndarray:
        """log q(x^(t+1) | x^t, θ) of each transition, of shape theta.shape[:-1] + (transitions,). For FNLE.

        >>> posterior.log_likelihood([[0.0], [0.5]], x=series).shape
        (2, 6)
        """
        found, shape = self._at_theta("log_likelihood", theta, x, times, covariates, threads, settings)
        return found.reshape(*shape, -1)

    def sample_batched(
        self,
        sample_shape: Sequence[int] | int,
        x: Sequence[ArrayLike],
        *,
        times: Sequence[ArrayLike] | None = None,
        covariates: Sequence[Any] | None = None,
        seed: int | None = 0,
        threads: int = 0,
        show_progress_bars: bool = True,
        **settings: Any,
    ) -> np.ndarray:
        """Draws for several series, each with a θ of its own: sample_shape + (number of series, d). Lengths may differ;
        times= and covariates= have those of each series, and rows of NaN are missing states, as for sample().

        >>> posterior.sample_batched((10,), [series, series[:4]]).shape
        (10, 2, 1)
        """
        shape, count = draw_count(sample_shape, "posterior.sample_batched")
        root = as_seed(seed, "posterior.sample_batched")
        parts = []
        function = "posterior.sample_batched"
        each = (_parts(function, "times", times, x), _parts(function, "covariates", covariates, x))
        for i, (one, its, inputs) in enumerate(zip(x, *each, strict=True)):
            series = self._panel(function, one, its, inputs, settings)
            child = _core.child_seed(root, "sample_batched", i)
            parts.append(self._draw(series, count, child, threads, show_progress_bars, settings).theta)
        return np.stack(parts, axis=1).reshape(*shape, len(parts), self.prior.dimension)

    def log_prob(
        self,
        theta: ArrayLike,
        x: ArrayLike | Observation | None = None,
        *,
        times: ArrayLike | None = None,
        covariates: Any = None,
        threads: int = 0,
        **settings: Any,
    ) -> np.ndarray:
        """log p(θ) + Σ_t log q(x^(t+1) | x^t, θ), of shape theta.shape[:-1]: the log density of θ given the series up to
        one constant; −inf outside the prior's support. For methods that learn a density or a ratio (FNLE, FNRE).

        >>> posterior.log_prob([[0.0], [0.5]], x=series).shape
        (2,)
        """
        found, shape = self._at_theta("log_prob", theta, x, times, covariates, threads, settings)
        return found.reshape(shape)

    def _at_theta(
        self, name: str, theta: ArrayLike, x: Any, times: Any, covariates: Any, threads: int, settings: dict[str, Any]
    ) -> tuple[np.ndarray, tuple[int, ...]]:
        """What C++'s function of that name says of each θ and the series, and the shape that the θs came in."""
        rows, shape = theta_rows(theta, f"posterior.{name}", self.prior.dimension)
        parts = zip(*self._panel(f"posterior.{name}", x, times, covariates, settings), strict=True)
        request = (self._model, self._companions, *parts, *self._chosen(settings))
        return getattr(_core, name)(*request, rows, threads), shape

    def map(
        self,
        x: ArrayLike | Observation | None = None,
        *,
        times: ArrayLike | None = None,
        covariates: Any = None,
        seed: int | None = 0,
        threads: int = 0,
        show_progress_bars: bool = True,
        **settings: Any,
    ) -> np.ndarray:
        """The most probable θ given the series, of shape (d,).

        >>> posterior.map(x=series).shape
        (1,)
        """
        parts = zip(*self._panel("posterior.map", x, times, covariates, settings), strict=True)
        found = _core.map(
            self._model, self._companions, *parts, *self._chosen(settings), as_seed(seed, "posterior.map"), threads,
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
        covariates: Any = None,
        budget: int = 100_000,
        n: int = 1000,
        seed: int | None = 0,
        initial_state: Any = None,
        batch_size: int = 1024,
        executor: Any = None,
        workers: int | None = None,
        threads: int = 0,
        checkpoint: str | os.PathLike[str] | None = None,
        resume: bool = False,
        show_progress_bars: bool = True,
        **settings: Any,
    ) -> CorrectedPosterior:
        """The posterior of this series, right whatever the network learned, by simulating `budget` transitions from the
        observed states themselves; as `catena correct`.

        simulator: as for catena.simulate, step(theta, x, rng[, u, t, dt, past]) or a task; the task that the estimator was
        trained on, if it is left out. batch_size, executor, workers and, where x⁰ depends on θ, initial_state are as
        there; without an executor the step is never called by two threads at once. The order of the chain is the
        model's. n: draws to begin with. Keywords: those of sample(), and max_invalid, degree and false_alarms. The same
        seed gives the same result on any number of threads and workers. With checkpoint="corrected.partial", what a slow
        simulator has answered is kept there, and a run that died goes on if it is called again with resume=True.

        Series that are too short for it are not corrected: a warning says so, and the answers are the learned ones.

        >>> corrected = walk_posterior.correct(x=walk_series, budget=3000, show_progress_bars=False)
        >>> corrected.draws.save("corrected.nc")
        """
        from . import correction

        if resume and checkpoint is None:
            raise ValueError("posterior.correct: resume is given without checkpoint, but must come with the file to go on with")
        panel = self._panel("posterior.correct", x, times, covariates, settings)
        work = partial(_core.correct_posterior, checkpoint=os.fspath(checkpoint) if checkpoint else "", resume=resume)
        found, sampler = correction.run(
            "posterior.correct", work, self, panel, simulator, n, seed, threads, show_progress_bars,
            initial_state, batch_size, executor, workers, budget, settings,
        )  # fmt: skip
        if found["not_corrected"]:
            warnings.warn(f"posterior.correct: not corrected: {found['not_corrected']}", stacklevel=2)
        return correction.CorrectedPosterior(self, panel, sampler, found)

    def check(
        self,
        simulator: Callable[..., ArrayLike] | Task | None = None,
        x: ArrayLike | Observation | None = None,
        *,
        times: ArrayLike | None = None,
        covariates: Any = None,
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

        panel = self._panel("posterior.check", x, times, covariates, settings)
        found, _ = correction.run(
            "posterior.check", _core.check_posterior, self, panel, simulator, n, seed, threads, show_progress_bars,
            initial_state, batch_size, executor, workers, budget, settings,
        )  # fmt: skip
        certificate = correction.Certificate.from_json(found["certificate"], self.prior.names)
        about = json.loads(found["info"])
        return replace(certificate, outcome=about["outcome"], findings=about["findings"])

    def _last(self, function: str) -> Draws:
        if self.draws is None:
            raise ValueError(f"posterior.{function}: there are no draws yet: call posterior.sample() first")
        return self.draws

    def to_arviz(self) -> arviz.InferenceData:
        """The last draws as ArviZ's InferenceData.

        >>> theta = posterior.sample((100,), x=series)
        >>> posterior.to_arviz().posterior["drift"].shape
        (10, 10)
        """
        return self._last("to_arviz").to_arviz()

    def summary(self, interval: float = 0.9) -> pandas.DataFrame:
        """Means, intervals, R-hat and effective sample sizes of the last draws, a row for each parameter.

        >>> theta = posterior.sample((100,), x=series)
        >>> bool(posterior.summary().loc["drift", "r_hat"] < 1.05)
        True
        """
        return self._last("summary").summary(interval)

    def predict(
        self,
        simulator: Callable[..., ArrayLike] | Task | None = None,
        n: int = 200,
        *,
        x: ArrayLike | Observation | None = None,
        times: ArrayLike | None = None,
        covariates: Any = None,
        horizon: int = 0,
        series: int = 0,
        seed: int | None = 0,
        batch_size: int = 1024,
        executor: Any = None,
        workers: int | None = None,
        threads: int = 0,
        show_progress_bars: bool = True,
        **settings: Any,
    ) -> Predictive:
        """Series that the simulator makes of n of the last draws, spread over them; as `catena predict`. If x is given, or
        there are no draws yet, 1000 are made first, with the keywords of sample().

        simulator: as for catena.simulate, step(theta, x, rng[, u, t, dt, past]) or a task; the task that the estimator was
        trained on, if it is left out. From row to row it makes as many steps as the times are apart. horizon: steps to
        forecast beyond the last observed state. series: which one, if the draws are of several. covariates: of the rows
        beyond the last one, which a forecast needs; if x is given, those of its rows stand before them.

        >>> predictive = walk_posterior.predict(x=walk_series, n=50, horizon=3, show_progress_bars=False)
        >>> predictive.forecast.shape
        (50, 3, 1)
        """
        from .prediction import predict_posterior

        if x is not None or self.draws is None:
            of_x, covariates = self._split_ahead(x, covariates)
            self.sample(
                (1000,), x=x, times=times, covariates=of_x, seed=seed, threads=threads,
                show_progress_bars=show_progress_bars, **settings,
            )  # fmt: skip
        elif settings or times is not None:
            raise TypeError("posterior.predict: settings or times are given, but they must come with x, to make draws anew")
        draws = self._last("predict")
        found = predict_posterior(
            self, draws, simulator, n, horizon, covariates, series, seed, batch_size, executor, workers, threads,
            show_progress_bars,
        )  # fmt: skip
        if series == 0:  # the one that figures show
            self.draws = replace(draws, predictive=found)
        return found

    def _split_ahead(self, x: Any, covariates: Any) -> tuple[Any, Any]:
        """Covariates of the rows of x, and of those beyond them. Several series have theirs with them."""
        function = "posterior.predict"
        if _is_panel(x):
            return None, covariates
        names = names_of(split_time(x, function)[0]) if x is not None and not isinstance(x, Observation) else None
        own = isinstance(x, Observation) or set(self.covariate_names) <= set(names or [])
        if x is None or covariates is None or own or not self.covariate_names:
            return None, covariates
        rows = as_table(covariates, function, self.covariate_names)[0]
        return rows[: len(x)], rows[len(x) :]

    def plot(
        self,
        *,
        truth: ArrayLike | None = None,
        reference: ArrayLike | None = None,
        labels: Mapping[str, str] | None = None,
        interval: float = 0.9,
    ) -> Figures:
        """Figures of the last draws: pair plot, marginals with the prior, the (first) series (with what predict() made of
        it) and which of its transitions told most; with the true θ and draws of a reference [N, d] if they are given. A
        notebook shows them, save("posterior.html") writes the page that `catena report` would write.

        labels: what parameters and states are called, {"theta_1": "growth rate (1/yr)"}. interval: the share of the
        intervals in tables, bands and the wider regions.

        >>> theta = posterior.sample((100,), x=series)
        >>> "pair_plot" in posterior.plot(truth=[0.4]).names
        True
        """
        return figures_of(self._last("plot"), self._model, truth, reference, labels, interval)

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
