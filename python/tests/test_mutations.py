"""Damaged files and absurd arguments end in a sentence, in a process with little memory (mutate.py)."""

import pathlib
import resource
import subprocess
import sys

import catena
import numpy as np
import pytest
from drift_walk import QUIET

SCRIPT = pathlib.Path(__file__).with_name("mutate.py")
MEMORY = 4 << 30  # addresses; threads, libraries and NumPy take two gigabytes of them before anything is done


@pytest.fixture(scope="module")
def files(prior, transitions, fnle, fnse, fnbe, series, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    fnre = catena.FNRE(prior, decay=0.1, ensemble=1).append_simulations(transitions).train(steps=50, seed=2, **QUIET)
    for estimator in (fnle, fnse, fnbe, fnre):
        estimator.save(folder / f"{estimator.method}.safetensors")
    transitions.save(folder / "set.nc")
    posterior = fnle.build_posterior()
    posterior.sample((50,), x=series, **QUIET)
    posterior.draws.save(folder / "draws.nc")
    return folder


def mutate(files, count, seed):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    environment = {"PYTHONPATH": ":".join(path for path in sys.path if path), "PATH": "/usr/bin:/bin"}
    result = subprocess.run(
        [sys.executable, SCRIPT, files, str(count), str(seed)],
        env=environment, preexec_fn=limit, capture_output=True, text=True, timeout=3600,
    )  # fmt: skip
    assert result.returncode == 0, result.stdout + result.stderr


def test_damaged_files_end_in_a_sentence(files):
    mutate(files, 240, 1)


@pytest.mark.slow
def test_thousands_of_damaged_files_end_in_a_sentence(files):
    mutate(files, 6000, 2)


ABSURD = [0, -1, 2**31, 2**63, 2**64, 1e308, -1e308, float("nan"), float("inf"), "x", None, [], (3, -1)]
SETTINGS = ["chains", "population", "moves", "warm_up", "round", "most_steps", "largest_r_hat", "ess_per_draw", "least_ess"]


@pytest.mark.parametrize("name", SETTINGS)
def test_absurd_settings_of_a_sampler_end_in_a_sentence(name, fnle, series):
    posterior = fnle.build_posterior()
    for value in (0, -1, -(2**31), 2**64, 1e308, float("nan"), float("inf"), "x", None, []):
        if name == "moves" and value == 0:
            continue
        try:
            posterior.sample((4,), x=series, **QUIET, **{name: value})
        except (ValueError, TypeError) as error:
            assert "bug of ours" not in str(error)


@pytest.mark.parametrize("value", ABSURD)
def test_absurd_lengths_end_in_a_sentence(value, fnle, series):
    task = catena.tasks.get("gaussian_rw")
    posterior = fnle.build_posterior()
    for call in (
        lambda: task.observe(value),
        lambda: task.observe(5, seed=value),
        lambda: posterior.sample(value, x=series, **QUIET),
        lambda: posterior.sample((4,), x=np.full((3, 1), np.nan), **QUIET),
    ):
        try:
            call()
        except (ValueError, TypeError, MemoryError) as error:
            assert "bug of ours" not in str(error)
