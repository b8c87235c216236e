"""Work that is killed at random moments goes on to the same bits, leaves no half file and no litter.

Each run of a verb is killed again and again until it gets to its end between two kills; what it then leaves is compared with what
an undisturbed run leaves. A few rounds belong to `make test`, a hundred kills to `make test-slow`.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest
from compare import contents, litter, rows, tree

PYTHON = """
import sys, numpy as np, catena
def step(theta, x, rng):
    return x + theta + 0.5 * rng.standard_normal(x.shape)
prior = catena.priors.Independent({"drift": catena.priors.Normal(0, 1)})
catena.simulate(step, prior, proposal=catena.proposals.Box(-4, 4), budget=10_000, seed=1, path=sys.argv[1], resume=True,
                batch_size=64, show_progress_bars=False)
"""

VERBS = ["simulate", "train", "correct", "experiment", "callable"]


class Work:
    """One verb: its command for an output, and what the output says."""

    def __init__(self, command, output, read, seconds):
        self.command, self.output, self.read, self.seconds = command, output, read, seconds

    def start(self, folder, environment):
        folder.mkdir(parents=True, exist_ok=True)
        return subprocess.Popen(
            [str(part) for part in self.command(folder / self.output)],
            cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip


@pytest.fixture(scope="module")
def works(program, tmp_path_factory):
    inputs = tmp_path_factory.mktemp("inputs")
    subprocess.run([program, "simulate", "gaussian_rw", "--budget", "2000", "-q", "-o", inputs / "t.nc"], check=True)
    method = {"method": "fnle", "train": {"steps": 50, "density": "gaussian", "decay": 0.1}}
    sweep = {"tasks": [{"name": "gaussian_rw", "options": {"dim": 1}}], "methods": [method], "budgets": [500], "transitions": [1, 4],
             "observations": 3, "draws": 200, "metrics": ["c2st", "sw1"]}  # fmt: skip
    (inputs / "sweep.json").write_text(json.dumps(sweep))
    simulate = [program, "simulate", "double_well", "--budget", "3e5", "--seed", "1", "-q", "--threads", "1", "--resume", "-o"]
    train = [program, "train", inputs / "t.nc", "--method", "fnle", "--density", "gaussian", "--decay", "0.1", "--steps", "500",
             "--seed", "1", "-q", "--threads", "1", "--checkpoint-seconds", "0.05", "--resume", "-o"]  # fmt: skip
    made = inputs / "t.nc.safetensors"
    subprocess.run([*map(str, train), made], check=True)
    subprocess.run([program, "observe", "gaussian_rw", "--transitions", "300", "-q", "-o", inputs / "x.csv"], check=True)
    correct = [program, "correct", made, "--observation", inputs / "x.csv", "--budget", "60000", "-n", "200", "--seed", "1", "-q",
               "--threads", "1", "--resume", "-o"]  # fmt: skip
    experiment = [program, "experiment", "benchmark", "--sweep", inputs / "sweep.json", "-q", "--threads", "1", "-o"]
    return {
        "simulate": Work(lambda out: [*simulate, out], "set.nc", contents, 1.0),
        "train": Work(lambda out: [*train, out], "model.safetensors", contents, 1.0),
        "correct": Work(lambda out: [*correct, out], "corrected.nc", tree, 1.0),
        "experiment": Work(lambda out: [*experiment, out], "results", rows, 1.0),
        "callable": Work(lambda out: [sys.executable, "-c", PYTHON, out], "set.nc", contents, 2.0),
    }


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    cache = tmp_path_factory.mktemp("cache")
    return dict(os.environ, PYTHONPATH=os.pathsep.join(path for path in sys.path if path), XDG_CACHE_HOME=str(cache))


def finish(work, folder, environment):
    process = work.start(folder, environment)
    said = process.communicate(timeout=300)[1]
    assert process.returncode == 0, said


def undisturbed(work, folder, environment):
    began = time.monotonic()
    finish(work, folder, environment)
    return work.read(folder / work.output), time.monotonic() - began


def disturb(work, folder, environment, rng, number, kills, seconds):
    """Kills it so often, at random moments; then lets it come to its end. Returns the exit codes of those that a signal met."""
    codes = []
    for _ in range(kills):
        process = work.start(folder, environment)
        time.sleep(rng.uniform(0, seconds))
        process.send_signal(number)
        process.communicate(timeout=60)
        codes.append(process.returncode)
        final = folder / work.output
        if final.is_file():
            work.read(final)  # whole, or not there
    finish(work, folder, environment)
    return codes


def run(name, works, environment, tmp_path, number, kills, seed):
    work = works[name]
    expected, seconds = undisturbed(work, tmp_path / "whole", environment)
    rng = random.Random(seed)
    codes = disturb(work, tmp_path / "killed", environment, rng, number, kills, seconds)
    assert work.read(tmp_path / "killed" / work.output) == expected
    assert litter(tmp_path / "killed") == []
    return codes


@pytest.mark.parametrize("name", VERBS)
def test_kill_nine_at_random_moments_costs_no_bit(name, works, environment, tmp_path):
    run(name, works, environment, tmp_path, signal.SIGKILL, 2, 1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_asked_for_stop_is_exit_code_130_and_costs_no_bit(number, works, environment, tmp_path):
    codes = run("train", works, environment, tmp_path, number, 2, 2)
    # -number: before the program had begun to listen.
    assert set(codes) <= {0, 130, -number}


@pytest.mark.slow
@pytest.mark.parametrize("name", VERBS)
def test_a_hundred_kills(name, works, environment, tmp_path):
    run(name, works, environment, tmp_path, signal.SIGKILL, 20, 3)


@pytest.mark.slow
@pytest.mark.parametrize("name", VERBS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_at_random_moments_in_every_verb(name, number, works, environment, tmp_path):
    run(name, works, environment, tmp_path, number, 10, 4)

