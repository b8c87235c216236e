"""A full disk, a read-only directory, a closed output, little memory, a signal: every verb ends with one sentence and leaves no half file.

Full and read-only disks are file systems in memory, mounted in a namespace of the test's own; without the right to do that these are skipped.
"""

import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import time

import pytest
from compare import litter

CODES = {0: "success", 1: "a numerical failure", 2: "misuse"}
LITTLE = 600 << 20  # bytes of addresses


@pytest.fixture(scope="module")
def inputs(catena, tmp_path_factory):
    """One of each file that verbs read."""
    folder = tmp_path_factory.mktemp("inputs")
    catena("simulate", "gaussian_rw", "--budget", "600", "-o", folder / "t.nc")
    for k in (1, 2):
        catena("simulate", "gaussian_rw", "--budget", "600", "--shard", f"{k}/2", "-o", folder / f"s{k}.nc")
    train = ("--method", "fnle", "--density", "gaussian", "--decay", "0.1", "--steps", "100", "--log-increments", "none")
    catena("train", folder / "t.nc", *train, "-o", folder / "m.safetensors")
    catena("observe", "gaussian_rw", "--transitions", "30", "-o", folder / "x.csv")
    catena("sample", folder / "m.safetensors", "--observation", folder / "x.csv", "-n", "100", "-o", folder / "p.nc")
    catena("reference", "gaussian_rw", "--observation", folder / "x.csv", "-n", "100", "-o", folder / "r.nc")
    method = {"method": "fnle", "train": {"steps": 20, "density": "gaussian", "decay": 0.1}}
    sweep = {"tasks": [{"name": "gaussian_rw", "options": {"dim": 1}}], "methods": [method], "budgets": [200], "transitions": [2],
             "observations": 1, "draws": 50, "metrics": ["sw1"]}  # fmt: skip
    (folder / "sweep.json").write_text(json.dumps(sweep))
    assert len(list(folder.iterdir())) == 9  # the series has its true parameters beside it
    return folder


def commands(inputs, output):
    """Every verb that writes a file: its arguments, and the name of what it writes."""
    model, series = inputs / "m.safetensors", ("--observation", inputs / "x.csv")
    quick = ("--method", "fnle", "--density", "gaussian", "--decay", "0.1", "--steps", "20", "--log-increments", "none")
    return {
        "simulate": ["simulate", "double_well", "--budget", "30000", "-o", output / "a.nc"],
        "merge": ["merge", inputs / "s1.nc", inputs / "s2.nc", "-o", output / "a.nc"],
        "train": ["train", inputs / "t.nc", *quick, "-o", output / "a.safetensors"],
        "observe": ["observe", "gaussian_rw", "--transitions", "30000", "-o", output / "a.csv"],
        "sample": ["sample", model, *series, "-n", "100", "-o", output / "a.nc"],
        "correct": ["correct", model, *series, "--budget", "2000", "-n", "100", "-o", output / "a.nc"],
        "reference": ["reference", "gaussian_rw", *series, "-n", "100", "-o", output / "a.nc"],
        "calibrate": ["calibrate", model, "gaussian_rw", "--series", "5", "--draws", "20", "--transitions", "5", "-o", output / "a.nc"],
        "predict": ["predict", inputs / "p.nc", "-o", output / "a.nc"],
        "report": ["report", model, inputs / "p.nc", inputs / "r.nc", "-o", output / "a.html"],
        "experiment": ["experiment", "benchmark", "--sweep", inputs / "sweep.json", "-o", output / "results"],
    }  # fmt: skip


VERBS = list(commands(pathlib.Path(), pathlib.Path()))
SPEAKING = {
    "tasks": ["tasks"],
    "settings": ["settings"],
    "evaluate": ["evaluate", "p.nc", "r.nc", "--json", "-q"],
    "map": ["map", "m.safetensors", "--observation", "x.csv", "--json", "-q"],
    "log-prob": ["log-prob", "m.safetensors", "--observation", "x.csv", "--theta", "p.nc", "--json", "-q"],
    "check": ["check", "m.safetensors", "--observation", "x.csv", "--budget", "400", "--json", "-q"],
    "bench": ["bench", "--only", "peak", "--run-seconds", "0.002", "-q"],
}


def one_sentence(result, codes=(2,)):
    said = result.stderr if isinstance(result.stderr, str) else result.stderr.decode()
    assert result.returncode in codes, (result.returncode, said)
    assert said.count("\n") == 1 and said.endswith("\n") and "bug" not in said, said
    return said


def mounted(program, arguments, place, mount, **options):
    """Runs the program while a file system is mounted at `place` for it alone; then lists what is there."""
    line = f'{mount} && cd / && "$@"; code=$?; ls -A "{place}" >&3; exit $code'
    read, write = os.pipe()
    try:
        script = ["unshare", "-m", "bash", "-c", line.replace(">&3", f">&{write}"), "bash", str(program), *map(str, arguments)]
        result = subprocess.run(script, capture_output=True, text=True, timeout=120, pass_fds=(write,), **options)
    finally:
        os.close(write)
    with os.fdopen(read) as there:
        return result, there.read().split()


@pytest.fixture(scope="module")
def may_mount(tmp_path_factory):
    place = tmp_path_factory.mktemp("mount")
    tried = subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", place], capture_output=True)
    if tried.returncode != 0:
        pytest.skip("no right to mount a file system")


@pytest.mark.parametrize("verb", VERBS)
def test_a_full_disk_is_said_and_leaves_nothing(verb, program, inputs, tmp_path, may_mount):
    arguments = [*commands(inputs, tmp_path)[verb], "-q"]
    result, left = mounted(program, arguments, tmp_path, f'mount -t tmpfs -o size=4k none "{tmp_path}"')
    said = one_sentence(result)
    assert "cannot be written: the disk is full" in said, said
    # A sweep keeps its rows and a long simulation its beginning, both whole; temporary files go.
    assert [name for name in left if name.startswith(".")] == []


@pytest.mark.parametrize("verb", VERBS)
def test_a_read_only_directory_is_said(verb, program, inputs, tmp_path, may_mount):
    arguments = [*commands(inputs, tmp_path)[verb], "-q"]
    result, left = mounted(program, arguments, tmp_path, f'mount -t tmpfs -o ro none "{tmp_path}"')
    assert "read-only" in one_sentence(result)
    assert left == []


@pytest.mark.parametrize("verb", [*VERBS, *SPEAKING])
def test_a_closed_output_is_said_or_not_needed(verb, program, inputs, tmp_path):
    arguments = SPEAKING.get(verb) or [*commands(inputs, tmp_path)[verb], "--json", "-q"]
    line = 'exec 1>&-; exec "$@"'
    result = subprocess.run(["sh", "-c", line, "sh", program, *map(str, arguments)], cwd=inputs, stderr=subprocess.PIPE, text=True, timeout=120)
    said = one_sentence(result)
    assert "standard output" in said
    assert litter(tmp_path) == []


@pytest.mark.parametrize("verb", [*VERBS, *SPEAKING])
def test_600_megabytes_are_enough_or_it_says_so(verb, program, inputs, tmp_path):
    arguments = SPEAKING.get(verb) or [*commands(inputs, tmp_path)[verb], "-q"]
    result = subprocess.run(
        [program, *map(str, arguments)], cwd=inputs, capture_output=True, text=True, timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (LITTLE, LITTLE)),
    )  # fmt: skip
    if result.returncode == 2:
        assert "memory" in one_sentence(result)
    else:
        assert result.returncode in CODES, (result.returncode, result.stderr)
    assert litter(tmp_path) == []


def signalled(program, arguments, folder, number, seconds):
    process = subprocess.Popen([program, *map(str, arguments)], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    time.sleep(seconds)
    process.send_signal(number)
    said = process.communicate(timeout=60)[1]
    return process.returncode, said


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("verb", VERBS)
def test_a_signal_at_any_moment_ends_every_verb_in_a_sentence(verb, number, program, inputs, tmp_path):
    rng = random.Random(5)
    began = time.monotonic()
    subprocess.run([program, *map(str, commands(inputs, tmp_path)[verb]), "-q"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    whole = time.monotonic() - began
    for k in range(8):
        folder = tmp_path / str(k)
        folder.mkdir()
        code, said = signalled(program, [*commands(inputs, folder)[verb], "-q"], inputs, number, rng.uniform(0, whole))
        # -number: before the program had begun to listen.
        assert code in {0, 1, 130, -number}, (code, said)
        assert code != 130 or said.startswith("catena: interrupted"), said
        assert [name for name in litter(folder) if name.endswith(".tmp")] == []
