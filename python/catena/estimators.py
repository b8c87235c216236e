"""Estimators: FNLE, FNSE, FNRE and FNBE, each trained on single transitions, and NPE, NPESummary, NLESummary and
NSE, trained on whole series.

In the examples below `estimator` is a trained FNLE of one parameter.

>>> import catena
>>> task = catena.tasks.get("gaussian_rw")
>>> walk = catena.FNLE().append_simulations(task.simulate(budget=500)).train(steps=50, show_progress_bars=False)
>>> walk.build_posterior().sample((100,), x=task.observe(5), show_progress_bars=False).shape
(100, 1)
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core, _html
from ._arrays import ArrayLike, as_rows, as_seed, to_json
from ._settings import Settings, entries
from .errors import FileError
from .figures import Figures
from .posteriors import Posterior
from .priors import Prior, as_prior
from .series import SeriesSet
from .tasks import warn_outcome
from .transitions import PARTS, Transitions


class Estimator:
    """What the methods have in common; the keywords of each are settings of the method, listed by help_text().

    preset="paper" is the paper's own recipe, for the network and for train(); what is named beside it wins. A setting
    that the others make no use of is an error.

    >>> FNSE(preset="paper")
    FNSE(not trained)
    """

    method = ""

    def __init__(self, prior: Prior | None = None, **settings: Any) -> None:
        self.prior = None if prior is None else as_prior(prior, type(self).__name__)
        self.settings = settings
        self._method_settings().check_names(settings)
        self._data: list[Any] = []  # of Transitions, or of SeriesSet
        self._model: _core.Model | None = None

    @classmethod
    def _method_settings(cls) -> Settings:
        return Settings(cls.__name__, json.dumps(entries(_core.methods())[cls.method]["settings"]))

    @property
    def _any_prior(self) -> bool:
        """Whether transitions around a posterior go together with others: a likelihood does not care how θ was drawn."""
        return entries(_core.methods())[self.method]["any_prior"]

    @property
    def _whole_series(self) -> bool:
        """Whether it learns from whole series and not from single transitions."""
        return entries(_core.methods())[self.method]["whole_series"]

    @classmethod
    def help_text(cls) -> str:
        """The settings of the method and of train(), one a line.

        >>> "learning_rate" in FNSE.help_text()
        True
        """
        loop = Settings("train", _core.loop_settings())
        return f"{cls.__name__}(prior, …)\n{cls._method_settings().help()}\n\ntrain(…)\n{loop.help()}"

    def append_simulations(
        self,
        theta: ArrayLike | Transitions | str | os.PathLike[str],
        x: ArrayLike | None = None,
        x_next: ArrayLike | None = None,
        time: ArrayLike | None = None,
        *,
        u: ArrayLike | None = None,
        state_names: Sequence[str] | None = None,
        max_invalid: float = 0.1,
    ) -> Estimator:
        """Adds training data: Transitions, the path of a netCDF file, an xarray Dataset with theta, x and x_next, or the
        three as arrays or DataFrames, with the covariates u of each if there are any. Returns the estimator.

        >>> import catena, numpy as np
        >>> rng = np.random.default_rng(0)
        >>> theta, x = rng.standard_normal((100, 1)), rng.standard_normal((100, 2))
        >>> prior = catena.priors.Independent({"drift": catena.priors.Normal()})
        >>> FNSE(prior).append_simulations(theta, x, x + theta)
        FNSE(100 transitions, not trained; parameters drift)
        """
        if isinstance(theta, SeriesSet):
            raise TypeError(f"append_simulations: {type(self).__name__} learns from single transitions, not from series")
        if isinstance(theta, (str, os.PathLike)):
            theta = Transitions.load(theta)
        if not isinstance(theta, Transitions):
            if x is None and all(hasattr(theta, name) for name in ("x", "x_next", "theta")):  # an xarray Dataset
                dataset: Any = theta
                if "step" in dataset:
                    raise ValueError("append_simulations: the Dataset has steps, but must have none: give its file instead")
                theta, x, x_next = dataset["theta"], dataset["x"], dataset["x_next"]
                time = dataset["time"] if time is None and "time" in dataset else time
                if u is None and "u" in dataset:
                    u = dataset["u"].to_pandas() if "covariate" in dataset.coords else dataset["u"]
                if state_names is None and "state" in getattr(dataset, "coords", ()):
                    state_names = [str(name) for name in dataset["state"].values]
            if x is None or x_next is None:
                raise TypeError("append_simulations: x and x_next are missing, but must come with theta")
            if self.prior is None:
                raise TypeError(f"append_simulations: the prior of theta is missing: make {type(self).__name__}(prior)")
            theta = Transitions.from_arrays(
                self.prior, theta, x, x_next, time, u=u, state_names=state_names, max_invalid=max_invalid
            )
        elif x is not None:
            raise TypeError("append_simulations: x is given beside Transitions, but must come with theta as an array")
        if self.prior is None:
            self.prior = theta.prior
        if theta.prior != self.prior and not (self._any_prior and theta.prior.base == self.prior.base):
            raise ValueError(f"append_simulations: the prior is {theta.prior!r}, but must be {self.prior!r}")
        if self._data and theta.state_names != self._data[0].state_names:
            wanted = ", ".join(self._data[0].state_names)
            raise ValueError(f"append_simulations: the states are {', '.join(theta.state_names)}, but must be {wanted}")
        if self._data and theta.covariate_names != self._data[0].covariate_names:
            has, wanted = (", ".join(each.covariate_names) or "none" for each in (theta, self._data[0]))
            raise ValueError(f"append_simulations: the covariates are {has}, but must be {wanted}")
        if self._data and _record_shape(theta) != _record_shape(self._data[0]):
            raise ValueError("append_simulations: the records have another shape (gaps, block, initial) than those before")
        self._data.append(theta)
        return self

    def _all_data(self) -> tuple[_core.TransitionSet | None, _core.SeriesSet | None, str]:
        """The set in memory, or the file if there is just one and nobody has looked into it."""
        if not self._data:
            raise ValueError(f"train: there are no {self._kind}, but there must be: call append_simulations first")
        if self._whole_series:
            return None, _core.join_series([data._core for data in self._data]), ""
        data = self._data[0]
        if len(self._data) == 1 and not (self._any_prior and data.prior != data.prior.base):
            return (None, None, data.path) if data.path is not None else (data._core, None, "")
        return _core.join_transitions(self.method, [data._core for data in self._data]), None, ""

    @property
    def _kind(self) -> str:
        return "series" if self._whole_series else "transitions"

    def train(
        self,
        *,
        seed: int | None = 0,
        threads: int = 0,
        held_out: float | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_seconds: float = 60.0,
        resume: bool = False,
        show_progress_bars: bool = True,
        **settings: Any,
    ) -> Estimator:
        """Trains the networks and returns the estimator. Keywords: steps, batch_size, learning_rate, … (help_text()).

        `held_out` is the share of the transitions that decides when to stop: 0.1, or what the preset says.
        With checkpoint="model.safetensors", a run that dies goes on where it was, if it is called with resume=True.

        >>> import catena
        >>> data = catena.tasks.get("gaussian_rw").simulate(budget=500)
        >>> FNLE().append_simulations(data).train(steps=50, show_progress_bars=False)
        FNLE(450 transitions, trained; parameters theta_1)
        """
        loop = Settings("train", _core.loop_settings()).json_of(settings)
        transitions, series, file = self._all_data()
        self._model = _core.train(
            self.method, transitions, series, file, self._method_settings().json_of(self.settings), loop, held_out,
            as_seed(seed, "train"), threads, show_progress_bars, os.fspath(checkpoint) if checkpoint else "",
            checkpoint_seconds, resume,
        )  # fmt: skip
        for network in self.describe()["networks"].values():
            if network["outcome"] == "diverged":
                warn_outcome("train", "diverged")
                break
        return self

    @property
    def _trained(self) -> _core.Model:
        if self._model is None:
            raise ValueError(f"{type(self).__name__} is not trained: call train() first")
        return self._model

    def build_posterior(self, **settings: Any) -> Posterior:
        """The posterior as a function of the series; the keywords are settings of its sampler.

        >>> estimator.build_posterior(chains=50)
        Posterior(fnle; parameters drift)
        """
        return Posterior(self._trained, **settings)

    def describe(self) -> dict[str, Any]:
        """Everything that the model file says, but for the weights.

        >>> estimator.describe()["method"]
        'fnle'
        """
        return json.loads(self._trained.describe())

    def _transition_values(
        self,
        function: str,
        theta: ArrayLike,
        x: ArrayLike,
        x_next: ArrayLike,
        t: Any,
        dt: Any,
        u: Any,
        grad: bool,
        threads: int,
    ) -> Any:
        rows = _LearnedRows(self, function, theta, x, x_next, t, dt, u)
        values, gradients = _core.transition_values(
            function, self._trained, rows.theta, rows.x, rows.x_next, rows.t, rows.dt, rows.u, grad, threads
        )
        return (values, gradients) if grad else values

    def plot(self) -> Figures:
        """The learning curve.

        >>> estimator.plot()
        Figures(learning_curve)
        """
        about = self.describe()
        results = _core.Results()
        results.set_learning_curve(json.dumps(about["networks"][about["main_network"]]["learning_curve"]))
        return Figures(results)

    def save(self, path: str | os.PathLike[str]) -> None:
        """A safetensors file, for catena.load() and `catena sample`.

        >>> estimator.save("model.safetensors")
        """
        self._trained.write(os.fspath(path))

    def _transitions(self) -> str:
        if self._data:
            return f"{sum(len(data) for data in self._data)} {self._kind}, "
        return ""

    def __repr__(self) -> str:
        state = "trained" if self._model is not None else "not trained"
        names = f"; parameters {', '.join(self.prior.names)}" if self.prior is not None else ""
        return f"{type(self).__name__}({self._transitions()}{state}{names})"

    def _repr_html_(self) -> str:
        rows: dict[str, Any] = {"prior": repr(self.prior), "data": self._transitions() or "none", **self.settings}
        if self._model is not None:
            for name, network in self.describe()["networks"].items():
                rows[name] = f"held-out loss {network['held_out_loss']:.4f} after {network['best_step']} steps"
        return _html.table(type(self).__name__, rows)

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state["_model"] = None if self._model is None else self._model.to_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if state["_model"] is not None:
            self._model = _core.parse_model(state["_model"])


class _LearnedRows:
    """θ and transitions in rows of one length: one θ for all transitions, and one transition for all θ, are repeated."""

    def __init__(
        self,
        estimator: Estimator,
        function: str,
        theta: ArrayLike,
        x: ArrayLike,
        x_next: ArrayLike | None,
        t: Any,
        dt: Any,
        u: Any,
    ) -> None:
        shape = json.loads(estimator._trained.record_shape())
        names = Prior(estimator._trained.prior).names
        given = {
            "theta": as_rows(theta, function, "theta", len(names)),
            "x": as_rows(x, function, "x", shape["order"] * shape["states"]),
        }
        if x_next is not None:
            given["x_next"] = as_rows(x_next, function, "x_next", shape["block"] * shape["states"])
        for name, value, wanted in (("t", t, shape["time"]), ("dt", dt, shape["step"])):
            if wanted != (value is not None):
                needs = "must be given, because the transitions have" if wanted else "must not be given: they have no"
                raise TypeError(f"{function}: {name} is {'missing' if wanted else 'there'}, but {needs} such a time")
            if wanted:
                given[name] = as_rows(np.atleast_1d(value), function, name, 1)
        inputs = shape["block"] * shape["covariates"]
        if (inputs > 0) != (u is not None):
            needs = "must be given, for the transitions take it" if inputs else "must be left out: the transitions take none"
            raise TypeError(f"{function}: u is {'missing' if inputs else 'there'}, but {needs}")
        if inputs:
            given["u"] = as_rows(u, function, "u", inputs)
        count = max(len(rows) for rows in given.values())
        for name, rows in given.items():
            if len(rows) not in (1, count):
                raise ValueError(f"{function}: {name} has {len(rows)} rows, but must have {count}, or one for all")
            given[name] = np.ascontiguousarray(np.broadcast_to(rows, (count, rows.shape[1])))
        none = np.empty(0)
        self.theta, self.x, self.x_next = given["theta"], given["x"], given.get("x_next")
        self.t, self.dt = given["t"].ravel() if "t" in given else none, given["dt"].ravel() if "dt" in given else none
        self.u = given.get("u", np.empty((count, 0)))


def _record_shape(data: Transitions) -> list[int]:
    return [getattr(data._core, name).shape[1] for name in PARTS]


class _Density(Estimator):
    """What methods that learn a density of the next state have in common."""

    def log_density(
        self,
        theta: ArrayLike,
        x: ArrayLike,
        x_next: ArrayLike,
        *,
        t: ArrayLike | None = None,
        dt: ArrayLike | None = None,
        u: ArrayLike | None = None,
        grad: bool = False,
        threads: int = 0,
    ) -> Any:
        """log q(x_next | x, θ), [N]: the learned density of the next state, normalised, in the simulator's units; with
        grad=True also its gradient in θ, [N, d]. One θ may go with many transitions, and the other way round. t, dt and u
        are needed where the simulator takes them. Whole numbers and point masses have probabilities in place of densities.

        >>> values, slopes = estimator.log_density([[0.0], [0.5]], [1.0], [1.2], grad=True)
        >>> values.shape, slopes.shape
        ((2,), (2, 1))
        """
        return self._transition_values("log_density", theta, x, x_next, t, dt, u, grad, threads)


class FNLE(_Density):
    """Factorised neural likelihood estimation: the density of one transition, multiplied over the series.

    >>> FNLE(density="gaussian")
    FNLE(not trained)
    """

    method = "fnle"

    def simulate(
        self,
        theta: ArrayLike,
        x: ArrayLike,
        *,
        t: ArrayLike | None = None,
        u: ArrayLike | None = None,
        seed: int | None = 0,
    ) -> np.ndarray:
        """x_next ~ q(x_next | x, θ), [N, n]: draws from the learned density, as the simulator's step would make them.

        >>> estimator.simulate([[0.0], [0.5]], [1.0]).shape
        (2, 1)
        """
        rows = _LearnedRows(self, "simulate", theta, x, None, t, None, u)
        return _core.draw_transitions(self._trained, rows.theta, rows.x, rows.t, rows.u, as_seed(seed, "simulate"))


class FNSE(Estimator):
    """Factorised neural score estimation: the score of each local posterior by denoising score matching, composed over
    the series.

    >>> FNSE(network="separable", ensemble=2)
    FNSE(not trained)
    """

    method = "fnse"


class FNRE(Estimator):
    """Factorised neural ratio estimation: the ratio of likelihood to evidence of one transition by classification,
    multiplied over the series.

    >>> FNRE(network="separable")
    FNRE(not trained)
    """

    method = "fnre"

    def log_ratio(
        self,
        theta: ArrayLike,
        x: ArrayLike,
        x_next: ArrayLike,
        *,
        t: ArrayLike | None = None,
        dt: ArrayLike | None = None,
        u: ArrayLike | None = None,
        grad: bool = False,
        threads: int = 0,
    ) -> Any:
        """log p(x_next | x, θ)/p(x_next | x), [N], up to a constant of each transition that no posterior depends on; with
        grad=True also its gradient in θ, [N, d]. Rows go together as in FNLE.log_density.

        >>> FNRE().log_ratio([[0.0]], [1.0], [1.2])
        Traceback (most recent call last):
        ValueError: FNRE is not trained: call train() first
        """
        return self._transition_values("log_ratio", theta, x, x_next, t, dt, u, grad, threads)


class FNBE(_Density):
    """Factorised neural estimation by a blurred likelihood: the score of each local posterior as the gradient of a
    likelihood with blurred parameters, composed over the series. Not in the paper; draws are made as FNSE makes them.

    >>> FNBE(density="gaussian", decay=0.1)
    FNBE(not trained)
    """

    method = "fnbe"


class SeriesEstimator(Estimator):
    """What methods that learn from whole series have in common."""

    def append_simulations(
        self,
        theta: ArrayLike | SeriesSet | str | os.PathLike[str],
        x: Sequence[ArrayLike] | None = None,
        times: Sequence[ArrayLike] | None = None,
        *,
        state_names: Sequence[str] | None = None,
        max_invalid: float = 0.1,
    ) -> Estimator:
        """Adds training data: a SeriesSet, the path of a netCDF file of series, or parameters [N, d] with a list of N
        arrays [T + 1, n], whose lengths may differ (or one array [N, T + 1, n]); with times, networks see time. Returns the
        estimator.

        >>> import catena, numpy as np
        >>> rng = np.random.default_rng(0)
        >>> theta = rng.standard_normal((100, 1))
        >>> x = [np.cumsum(drift + rng.standard_normal((11, 1)), axis=0) for drift in theta]
        >>> NPE(catena.priors.Independent({"drift": catena.priors.Normal()})).append_simulations(theta, x)
        NPE(100 series, not trained; parameters drift)
        """
        if isinstance(theta, (str, os.PathLike)):
            theta = SeriesSet.load(theta)
        if isinstance(theta, Transitions):
            raise TypeError(
                f"append_simulations: {type(self).__name__} learns from whole series, not from single transitions:"
                " simulate(…, series=10)"
            )
        if not isinstance(theta, SeriesSet):
            if x is None:
                raise TypeError("append_simulations: x is missing, but must come with theta: a list of series")
            if self.prior is None:
                raise TypeError(f"append_simulations: the prior of theta is missing: make {type(self).__name__}(prior)")
            theta = SeriesSet.from_arrays(self.prior, theta, x, times, state_names=state_names, max_invalid=max_invalid)
        elif x is not None:
            raise TypeError("append_simulations: x is given beside a SeriesSet, but must come with theta as an array")
        if self.prior is None:
            self.prior = theta.prior
        if theta.prior != self.prior:
            raise ValueError(f"append_simulations: the prior is {theta.prior!r}, but must be {self.prior!r}")
        if self._data and theta.state_names != self._data[0].state_names:
            wanted = ", ".join(self._data[0].state_names)
            raise ValueError(f"append_simulations: the states are {', '.join(theta.state_names)}, but must be {wanted}")
        self._data.append(theta)
        return self


class NPE(SeriesEstimator):
    """Neural posterior estimation from whole series: a spline flow of θ given an embedding of the series. Draws come
    without Markov chains, in milliseconds, for series no longer than those it was trained on.

    >>> import catena
    >>> task = catena.tasks.get("gaussian_rw")
    >>> data = task.simulate(series=10, budget=2000, show_progress_bars=False)
    >>> npe = NPE().append_simulations(data).train(steps=50, show_progress_bars=False)
    >>> npe.build_posterior().sample((100,), x=task.observe(10), show_progress_bars=False).shape
    (100, 1)
    """

    method = "npe"


class NPESummary(SeriesEstimator):
    """NPE in two stages: summaries of the series that are trained to correlate with θ (summary="infomax", by distance
    correlation, or "sliced", with random directions of θ), and then a spline flow of θ given them.

    >>> NPESummary(summary="sliced")
    NPESummary(not trained)
    """

    method = "npe_summary"


class NLESummary(SeriesEstimator):
    """Neural likelihood estimation on such summaries: a masked autoregressive flow of them given θ, sampled by Markov
    chains.

    >>> NLESummary(summary="infomax", summaries=5)
    NLESummary(not trained)
    """

    method = "nle_summary"


class NSE(SeriesEstimator):
    """Neural score estimation from whole series: the posterior's score given an embedding of the series, sampled by
    diffusion.

    >>> NSE(width=50)
    NSE(not trained)
    """

    method = "nse"


def _class_of(method: str, help_text: str, whole_series: bool) -> type[Estimator]:
    """The class of a method of C++'s registry: one of those above, or one made of its description."""
    for known in (FNLE, FNSE, FNRE, FNBE, NPE, NPESummary, NLESummary, NSE):
        if known.method == method:
            return known
    base = SeriesEstimator if whole_series else Estimator
    return type(method.upper(), (base,), {"method": method, "__doc__": help_text, "__module__": __name__})


METHODS = {
    name: _class_of(name, entry["help"], entry["whole_series"]) for name, entry in entries(_core.methods()).items()
}
globals().update({each.__name__: each for each in METHODS.values()})  # so that they pickle


def load(path: str | os.PathLike[str]) -> Estimator:
    """A trained estimator from a file that save() or `catena train` wrote.

    >>> estimator.save("model.safetensors")
    >>> load("model.safetensors")
    FNLE(trained; parameters drift)
    """
    model = _core.read_model(os.fspath(path))
    if model.method not in METHODS:
        raise FileError(f"{os.fspath(path)}: its method is {model.method}, but must be one of {', '.join(METHODS)}")
    estimator = METHODS[model.method](Prior(model.prior))
    estimator._model = model
    estimator.settings = json.loads(_core.worth_naming(model.method, to_json(json.loads(model.describe())["settings"])))
    return estimator
