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
from ._core import version as _version
from .correction import Certificate, CorrectedPosterior
from .draws import Draws
from .errors import FileError, SamplingFailure
from .estimators import FNBE, FNLE, FNRE, FNSE, METHODS, NPE, NSE, Estimator, NLESummary, NPESummary, load
from .evaluation import Calibration, calibrate, evaluate, metrics
from .figures import Figures
from .posteriors import Posterior
from .prediction import Predictive
from .series import SeriesSet
from .simulation import simulate, vectorize
from .transitions import Transitions

__version__ = _version()

__all__ = [
    "Calibration",
    "Certificate",
    "CorrectedPosterior",
    "FNBE",
    "FNLE",
    "FNRE",
    "FNSE",
    "METHODS",
    "NLESummary",
    "NPE",
    "NPESummary",
    "NSE",
    "Draws",
    "Estimator",
    "Figures",
    "FileError",
    "SamplingFailure",
    "SeriesSet",
    "Posterior",
    "Predictive",
    "Transitions",
    "__version__",
    "calibrate",
    "evaluate",
    "load",
    "metrics",
    "priors",
    "proposals",
    "simulate",
    "tasks",
    "vectorize",
]

# Every method of the registry is a class of its name in capitals, also one that has no docstring above.
globals().update({each.__name__: each for each in METHODS.values()})
__all__ += [each.__name__ for each in METHODS.values() if each.__name__ not in __all__]
