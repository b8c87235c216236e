"""catena: parameters of a simulator from a time series, by learning single transitions.

>>> import catena
>>> def step(theta, x, rng):  # a random walk with unknown drift
...     return x + theta + 0.1 * rng.standard_normal(x.shape)
>>> prior = catena.priors.Independent({"drift": catena.priors.Normal(0, 1)})
>>> data = catena.simulate(step, prior, proposal=catena.proposals.Box(-5, 5), budget=2000, show_progress_bars=False)
>>> estimator = catena.FNLE(prior).append_simulations(data).train(steps=200, show_progress_bars=False)
>>> posterior = estimator.build_posterior()
>>> posterior.sample((100,), x=[[0.0], [0.5], [1.1], [1.4]], show_progress_bars=False).shape
(100, 1)
"""

from . import priors, proposals, tasks
from ._core import FileError, __version__
from .estimators import FNLE, FNSE, Estimator, load
from .evaluation import evaluate, metrics
from .posteriors import Draws, Posterior
from .simulation import simulate, vectorize
from .transitions import Transitions

__all__ = [
    "FNLE",
    "FNSE",
    "Draws",
    "Estimator",
    "FileError",
    "Posterior",
    "Transitions",
    "__version__",
    "evaluate",
    "load",
    "metrics",
    "priors",
    "proposals",
    "simulate",
    "tasks",
    "vectorize",
]
