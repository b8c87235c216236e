"""What the tests of the Python package share: a random walk as simulator, and models that are trained once."""

import os
import pathlib
import subprocess
import sys

import catena
import numpy as np
import pytest
from drift_walk import QUIET, drift_step

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def prior():
    return catena.priors.Independent({"drift": catena.priors.Normal(0, 1)})


@pytest.fixture(scope="session")
def transitions(prior):
    return catena.simulate(drift_step, prior, proposal=catena.proposals.Box(-4, 4), budget=3000, seed=1, **QUIET)


@pytest.fixture(scope="session")
def series():
    rng = np.random.default_rng(3)
    return np.cumsum(np.r_[0.0, 0.4 + 0.5 * rng.standard_normal(6)])[:, np.newaxis] - 1


@pytest.fixture(scope="session")
def fnle(prior, transitions):
    return catena.FNLE(prior).append_simulations(transitions).train(steps=400, seed=2, **QUIET)


@pytest.fixture(scope="session")
def fnse(prior, transitions):
    estimator = catena.FNSE(prior, network="separable", ensemble=1).append_simulations(transitions)
    return estimator.train(steps=1500, seed=2, **QUIET)


@pytest.fixture(scope="session")
def fnbe(prior, transitions):
    return catena.FNBE(prior).append_simulations(transitions).train(steps=400, seed=2, **QUIET)


@pytest.fixture(scope="session")
def program():
    return pathlib.Path(os.environ.get("CATENA_PROGRAM", ROOT / "build/catena"))


@pytest.fixture(scope="session")
def run_program(program):
    def run(*arguments):
        command = [program, *map(str, arguments)]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)

    return run


@pytest.fixture
def run_python():
    """A script in a Python of its own, with the package in its path; it does not outlive the test."""
    started = []

    def start(script, *arguments):
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(path for path in sys.path if path))
        started.append(subprocess.Popen([sys.executable, "-c", script, *map(str, arguments)], env=environment,
                                        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()
