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
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _core, _html
from ._arrays import ArrayLike, as_array, as_rows, as_seed, draw_count, names_of, split_time, to_json
from ._settings import Settings
from .figures import Figures
from .priors import Prior
from .tasks import Observation, warn_outcome

if TYPE_CHECKING:
    import arviz


@dataclass(frozen=True)
class Draws:
    """Draws of θ and how they were made."""

    theta: np.ndarray  #: [n, d], the chains one after the other
    parameters: list[str]
    series: np.ndarray  #: the observed series, one state a row
    state_names: list[str]
    info: dict[str, Any]  #: evaluations, settings, seconds, R-hat, outcome, …
    warning: str  #: about transitions outside the training range; empty if there are none
    chains: int
    seed: int

    def save(self, path: str | os.PathLike[str]) -> None:
        """A netCDF file that ArviZ and `catena report` open.

        >>> theta = posterior.sample((100,), x=series)
        >>> posterior.draws.save("posterior.nc")
        """
        record = {"method": self.info["method"], "seed": self.seed, "info": json.dumps(self.info)}
        record |= {"outcome": self.info["outcome"], "warning": self.warning}
        _core.write_draws(
            os.fspath(path), self.parameters, self.theta, self.chains, self.state_names, self.series, to_json(record)
        )

    def to_arviz(self) -> arviz.InferenceData:
        """ArviZ's InferenceData: posterior (chain, draw) with a variable per parameter, and observed_data."""
        import arviz

        theta = self.theta.reshape(self.chains, -1, len(self.parameters))
        return arviz.from_dict(
            posterior={name: theta[:, :, i] for i, name in enumerate(self.parameters)},
            observed_data={"series": self.series},
            dims={"series": ["time", "state"]},
            coords={"state": self.state_names},
        )


class Series(NamedTuple):
    """States, one a row, and the time of each (none unless the model uses them)."""

    rows: np.ndarray
    times: np.ndarray

    def followed_by(self, other: Series) -> Series:
        return Series(*(np.concatenate(pair) for pair in zip(self, other, strict=True)))


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

    >>> posterior
    Posterior(fnle, default x of 7 rows; parameters drift)
    """

    def __init__(self, model: _core.Model, **settings: Any) -> None:
        self._model = model
        self._about = json.loads(model.describe())
        self.settings = settings
        self._sampler_settings().check_names(settings)
        self._default: Series | None = None
        self._stream: Stream | None = None  # what is known of the default series, if it grows by update()
        self.draws: Draws | None = None  #: those of the last call of sample()

    def _sampler_settings(self) -> Settings:
        return Settings("posterior.sample", _core.sampler_settings(self._model.method))

    def help_text(self) -> str:
        """The settings of the sampler, one a line.

        >>> "chains=" in posterior.help_text()
        True
        """
        return self._sampler_settings().help()

    @property
    def prior(self) -> Prior:
        return Prior(self._model.prior)

    @property
    def state_names(self) -> list[str]:
        return list(self._about["state_names"])

    def set_default_x(self, x: ArrayLike, times: ArrayLike | None = None) -> Posterior:
        """The series that sample(), log_prob() and map() use if none is given. Returns the posterior.

        >>> posterior.set_default_x(series).sample((10,)).shape
        (10, 1)
        """
        self._default = self._series("set_default_x", x, times)
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
        if times is None and self._default is not None and self._about["uses_time"]:
            times = self._default.times[-1] + 1 + np.arange(len(x_new), dtype=np.float64)
        new = self._series("posterior.update", x_new, times)
        self._default = new if self._default is None else self._default.followed_by(new)
        if self._stream is not None:
            self._stream.pending = self._stream.pending.followed_by(new)
        elif _core.can_stream(self._model):
            self._stream = Stream(self._default)
        return self

    def _series(self, function: str, x: Any, times: ArrayLike | None) -> Series:
        """What was given as x, or else the default series."""
        if x is None:
            if self._default is None:
                raise ValueError(f"{function}: x is missing, but must be the observed series (or call set_default_x)")
            return self._default
        if isinstance(x, Observation):
            x, times = x.series, x.times if times is None else times
        x, column = split_time(x)
        times = column if times is None else times
        names = names_of(x)
        if names is not None and sorted(names) == sorted(self.state_names):
            x = x[self.state_names]
        rows = as_rows(x, function, "x", len(self.state_names))
        missing = int((~np.isfinite(rows)).any(axis=1).sum())
        if missing:
            raise ValueError(
                f"{function}: {missing} of the {len(rows)} rows of x are not finite, but all must be: give the parts"
                " between them as series of their own, or fill them in"
            )
        if not self._about["uses_time"]:
            return Series(rows, np.empty(0))
        if times is None:
            times = np.arange(len(rows), dtype=np.float64)
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
        """Draws of θ given the series x [T + 1, n], of shape sample_shape + (d,).

        times: of the rows of x, for simulators that use time (default 0, 1, …). The draws and what is known about them
        stay in `posterior.draws`. The same seed gives the same draws on any number of threads.

        >>> theta = posterior.sample((100,), x=series, seed=1)
        >>> posterior.draws.info["outcome"]
        'ok'
        """
        shape, count = draw_count(sample_shape, "posterior.sample")
        series = self._series("posterior.sample", x, times)
        stream = self._stream if x is None else None
        whole = as_seed(seed, "posterior.sample")
        self.draws = self._draw(series, count, whole, threads, show_progress_bars, settings, stream)
        return self.draws.theta.reshape(*shape, self.prior.dimension)

    def _draw(
        self, series: Series, count: int, seed: int, threads: int, shown: bool, settings: Any, stream: Stream | None = None
    ) -> Draws:
        all_settings = {**self.settings, **settings}
        chosen = self._sampler_settings().json_of(all_settings)
        if all_settings.get("rule", "gauss") != "gauss" or all_settings.get("precisions", "amortised") != "amortised":
            stream = None  # its sums are for this rule alone
        rows, times = series if stream is None else stream.pending
        file = "" if stream is None else stream.file
        found = _core.draw_posterior(self._model, rows, times, count, chosen, seed, threads, shown, file)
        if stream is not None:
            stream.taken_in()
        if found["warning"]:
            warnings.warn(f"posterior.sample: {found['warning']}", stacklevel=3)
        warn_outcome("posterior.sample", found["outcome"])
        return Draws(
            theta=found["theta"],
            parameters=self.prior.names,
            series=series.rows,
            state_names=self.state_names,
            info=json.loads(found["info"]),
            warning=found["warning"],
            chains=found["chains"],
            seed=seed,
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
        """Draws for several series, which may differ in length: sample_shape + (number of series, d).

        >>> posterior.sample_batched((10,), [series, series[:4]]).shape
        (10, 2, 1)
        """
        shape, count = draw_count(sample_shape, "posterior.sample_batched")
        root = as_seed(seed, "posterior.sample_batched")
        parts = []
        for i, one in enumerate(x):
            series = self._series("posterior.sample_batched", one, None)
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
        array = as_array(theta, "posterior.log_prob", "theta")
        if array.ndim == 0 or array.shape[-1] != self.prior.dimension:
            raise ValueError(
                f"posterior.log_prob: theta is of shape {array.shape}, but must end in {self.prior.dimension}, the"
                " number of parameters"
            )
        rows = np.ascontiguousarray(array.reshape(-1, self.prior.dimension))
        series = self._series("posterior.log_prob", x, times)
        chosen = self._sampler_settings().json_of({**self.settings, **settings})
        return _core.log_prob(self._model, *series, rows, chosen, threads).reshape(array.shape[:-1])

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
        series = self._series("posterior.map", x, times)
        chosen = self._sampler_settings().json_of({**self.settings, **settings})
        found = _core.map(
            self._model, *series, chosen, as_seed(seed, "posterior.map"), threads, show_progress_bars
        )
        if found["warning"]:
            warnings.warn(f"posterior.map: {found['warning']}", stacklevel=2)
        warn_outcome("posterior.map", found["outcome"])
        return found["theta"]

    def _last(self, function: str) -> Draws:
        if self.draws is None:
            raise RuntimeError(f"posterior.{function}: there are no draws yet: call posterior.sample() first")
        return self.draws

    def to_arviz(self) -> arviz.InferenceData:
        """The last draws as ArviZ's InferenceData.

        >>> theta = posterior.sample((100,), x=series)
        >>> posterior.to_arviz().posterior["drift"].shape
        (1, 100)
        """
        return self._last("to_arviz").to_arviz()

    def plot(self, *, truth: ArrayLike | None = None, reference: ArrayLike | None = None) -> Figures:
        """Figures of the last draws: pair plot, marginals, the series and which of its transitions told most; with the
        true θ and draws of a reference [N, d] if they are given. A notebook shows them, save("posterior.html") writes a
        page.

        >>> theta = posterior.sample((100,), x=series)
        >>> "pair_plot" in posterior.plot(truth=[0.4]).names
        True
        """
        draws = self._last("plot")
        results = _core.Results()
        results.set_posterior(draws.parameters, draws.theta, draws.chains)
        results.set_observed(draws.state_names, draws.series, np.empty(0))
        results.add_information(self._model, 0)
        dimension = self.prior.dimension
        if truth is not None:
            results.set_truth(as_rows(truth, "posterior.plot", "truth", dimension).ravel())
        if reference is not None:
            results.set_reference(draws.parameters, as_rows(reference, "posterior.plot", "reference", dimension))
        return Figures(results)

    def __repr__(self) -> str:
        series = "" if self._default is None else f", default x of {len(self._default.rows)} rows"
        return f"Posterior({self._model.method}{series}; parameters {', '.join(self.prior.names)})"

    def _repr_html_(self) -> str:
        rows = {"method": self._model.method, "prior": repr(self.prior), "states": ", ".join(self.state_names)}
        if self.draws is not None:
            rows["last draws"] = str(len(self.draws.theta))
        return _html.table("Posterior", {**rows, **self.settings})

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_model": self._model.to_bytes(), "_stream": None}  # made again from the whole series

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._model = _core.parse_model(state["_model"])
