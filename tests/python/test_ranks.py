"""The same bits on any number of ranks; ranks that die, hang or are asked to stop; programs without MPI.

Ranks are processes of mpirun on this machine, more of them than it has cores.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import time

import pytest
from compare import contents, litter, rows, tree
from ranks import end, needs_mpi, processes, run, start, succeed, wait_for_ranks

pytestmark = needs_mpi
TRAIN = ["--seed", "1", "-q", "--threads", "1"]
QUICK = {"fnle": [], "fnre": [], "fnse": ["--ensemble", "3"], "fnbe": []}


@pytest.fixture(scope="module")
def inputs(program, tmp_path_factory):
    """Transitions, a series, a model and a sweep, made by one process."""
    folder = tmp_path_factory.mktemp("inputs")
    subprocess.run([program, "simulate", "gaussian_rw", "--budget", "2000", "-q", "-o", folder / "t.nc"], check=True)
    subprocess.run([program, "observe", "gaussian_rw", "--transitions", "40", "--seed", "3", "-q", "-o", folder / "s.csv"], check=True)
    model = [program, "train", folder / "t.nc", "--method", "fnle", "--density", "gaussian", "--decay", "0.1", "--steps", "200", *TRAIN]
    subprocess.run([*model, "-o", folder / "m.safetensors"], check=True)
    methods = [{"method": "fnle", "train": {"steps": 50, "density": "gaussian", "decay": 0.1}}, {"method": "fnre", "train": {"steps": 20}}]
    sweep = {"tasks": [{"name": "gaussian_rw", "options": {"dim": 1}}], "methods": methods, "budgets": [500], "transitions": [1, 4],
             "observations": 3, "draws": 200, "metrics": ["c2st", "sw1"]}  # fmt: skip
    (folder / "sweep.json").write_text(json.dumps(sweep))
    return folder


def command(name, program, inputs, output):
    if name in QUICK:
        return [program, "train", inputs / "t.nc", "--method", name, "--steps", "40", *QUICK[name], *TRAIN, "-o", output]
    one_thread = ["-q", "--threads", "1", "-o", output]
    return {
        "simulate": [program, "simulate", "double_well", "--budget", "1e5", "--seed", "1", *one_thread],
        "long": [program, "simulate", "double_well", "--budget", "1e6", "--seed", "1", "--resume", *one_thread],
        "steps": [program, "train", inputs / "t.nc", "--method", "fnle", "--density", "gaussian", "--decay", "0.1", "--steps", "1500",
                  "--checkpoint-seconds", "0.1", "--resume", *TRAIN, "-o", output],
        "correct": [program, "correct", inputs / "m.safetensors", "--observation", inputs / "s.csv", "--budget", "30000", "-n", "100",
                    *one_thread],
        "calibrate": [program, "calibrate", inputs / "m.safetensors", "gaussian_rw", "--series", "11", "--draws", "20", "--transitions",
                      "5", *one_thread],
        "experiment": [program, "experiment", "benchmark", "--sweep", inputs / "sweep.json", *one_thread],
    }[name]  # fmt: skip


def read(name, output):
    if name == "experiment":
        return rows(output)
    if name == "correct":  # which notes how long it took
        return tree(output)
    # A file that was resumed has the same contents, in other places.
    return contents(output) if name == "long" or output.suffix == ".safetensors" else output.read_bytes()


ENDINGS = {"simulate": ".nc", "long": ".nc", "correct": ".nc", "calibrate": ".nc", "experiment": ""}


@pytest.mark.parametrize("name", ["simulate", "fnle", "fnre", "fnse", "fnbe", "correct", "calibrate", "experiment"])
def test_one_two_three_and_four_ranks_give_the_same_bits(name, program, inputs, tmp_path):
    said = []
    for count in (0, 1, 2, 3, 4):
        folder = tmp_path / str(count)
        folder.mkdir()
        output = folder / f"out{ENDINGS.get(name, '.safetensors')}"
        succeed(count, *command(name, program, inputs, output))
        said.append(read(name, output))
        assert litter(folder) == []
    assert said[0] == said[1] == said[2] == said[3] == said[4]


def test_threads_and_ranks_go_together(program, inputs, tmp_path):
    simulate = [program, "simulate", "lotka_volterra", "--budget", "30000", "--seed", "2", "-q"]
    train = [program, "train", inputs / "t.nc", "--method", "fnse", "--ensemble", "3", "--steps", "40", "--seed", "1", "-q"]
    for count, threads in ((0, 3), (2, 2)):
        succeed(count, *simulate, "--threads", threads, "-o", tmp_path / f"{count}.nc")
        succeed(count, *train, "--threads", threads, "-o", tmp_path / f"{count}.safetensors")
    assert (tmp_path / "0.nc").read_bytes() == (tmp_path / "2.nc").read_bytes()
    assert contents(tmp_path / "0.safetensors") == contents(tmp_path / "2.safetensors")


def test_one_rank_speaks_for_all(program, tmp_path):
    result = succeed(3, program, "simulate", "gaussian_rw", "--proposal", "fixed", "--budget", "5000", "--json", "-o", tmp_path / "t.nc")
    assert json.loads(result.stdout)["transitions"] == 5000
    result = run(3, program, "simulate", "gaussian_rw", "--budget", "0", "-o", tmp_path / "t.nc")
    assert result.returncode == 2 and result.stderr.count("simulate: budget is 0, but must be at least 1") == 1
    result = run(2, program, "tasks")
    assert result.returncode == 2 and result.stderr.count("catena tasks: mpirun has started 2 tasks") == 1


def test_a_program_without_mpi_says_so(program, tmp_path):
    (tmp_path / "catena").symlink_to(program)
    shutil.copy(program, tmp_path / "copy")
    result = run(2, tmp_path / "copy", "simulate", "gaussian_rw", "-o", tmp_path / "t.nc")
    assert result.returncode == 2
    assert result.stderr.count("catena: mpirun has started 2 tasks, but this catena was built without MPI") == 1
    assert not (tmp_path / "t.nc").exists()


def test_srun_without_mpi_is_no_set_of_ranks(program, tmp_path):
    slurm = os.environ | {"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "0"}
    result = subprocess.run([program, "simulate", "gaussian_rw", "-o", tmp_path / "t.nc"], env=slurm, capture_output=True, text=True, timeout=60)
    assert result.returncode == 2 and "srun has started 4 tasks, but MPI" in result.stderr
    batch = os.environ | {"SLURM_NTASKS": "4", "SLURM_PROCID": "0"}  # in the batch script itself: one process
    subprocess.run([program, "simulate", "gaussian_rw", "-q", "-o", tmp_path / "t.nc"], env=batch, check=True, timeout=60)


def kill_one(name, program, inputs, folder, rng, seconds):
    """Kills one of two to four ranks at a random moment; returns whether it had not yet ended."""
    count = rng.choice([2, 3, 4])
    launcher = start(count, *command(name, program, inputs, folder / f"out{ENDINGS.get(name, '.safetensors')}"))
    try:
        ranks = wait_for_ranks(launcher, count)
        time.sleep(rng.uniform(0, seconds))
        alive = [pid for pid in ranks if pid in processes(launcher)]
        if alive:
            os.kill(rng.choice(alive), signal.SIGKILL)
        try:
            launcher.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            # Open MPI 4.1: of a hundred kills while ranks start, one leaves mpirun waiting for nobody (a futex of its own).
            assert processes(launcher) == []
    finally:
        end(launcher)
    return launcher.returncode != 0


def kill_and_resume(name, kills, seed, program, inputs, tmp_path):
    ending = ENDINGS.get(name, ".safetensors")
    (tmp_path / "whole").mkdir()
    (tmp_path / "killed").mkdir()
    expected = tmp_path / "whole" / f"out{ending}"
    succeed(0, *command(name, program, inputs, expected))
    rng = random.Random(seed)
    began = time.monotonic()
    succeed(2, *command(name, program, inputs, tmp_path / "whole" / f"again{ending}"))
    seconds = time.monotonic() - began
    output = tmp_path / "killed" / f"out{ending}"
    met = 0
    for _ in range(kills):
        met += kill_one(name, program, inputs, tmp_path / "killed", rng, seconds)
        if output.is_file():
            assert read(name, output) == read(name, expected)  # whole, or not there
    succeed(rng.choice([0, 1, 2, 3]), *command(name, program, inputs, output))
    assert read(name, output) == read(name, expected)
    assert litter(tmp_path / "killed") == []
    return met


@pytest.mark.parametrize("name", ["long", "steps", "experiment"])
def test_kill_nine_of_one_rank_costs_no_bit(name, program, inputs, tmp_path):
    kill_and_resume(name, 1, 1, program, inputs, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["long", "steps", "experiment"])
def test_twenty_kills_of_one_rank(name, program, inputs, tmp_path):
    assert kill_and_resume(name, 20, 2, program, inputs, tmp_path) > 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1])
@pytest.mark.parametrize("whom", ["one rank", "all ranks"])
def test_a_signal_of_the_batch_system_checkpoints_and_ends_in_seconds(number, whom, program, inputs, tmp_path):
    output = tmp_path / "m.safetensors"
    steps = [program, "train", inputs / "t.nc", "--method", "fnle", "--density", "gaussian", "--decay", "0.1", "--steps", "100000", *TRAIN]
    launcher = start(2, *steps, "--checkpoint-seconds", "1000", "-o", output)
    try:
        ranks = wait_for_ranks(launcher, 2)
        time.sleep(1.5)  # until they train
        for pid in ranks if whom == "all ranks" else ranks[1:]:
            os.kill(pid, number)
        said = launcher.communicate(timeout=10)[1]
    finally:
        end(launcher)
    assert launcher.returncode == 130, said
    assert said.count("catena: interrupted; catena train with the same arguments and --resume goes on") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["m.safetensors.gaussian-decay-0.1.checkpoint"]


def test_long_work_of_one_rank_alone_is_no_hang(program, inputs, tmp_path):
    """Two networks on two ranks need no messages for longer than a piece of work may take; its steps are signs of life."""
    limit, steps, took = 4, 3000, 0.0
    while took <= limit:  # by the clock: as many steps as this machine needs for it
        networks = ["--method", "fnse", "--network", "separable", "--ensemble", "2", "--steps", str(steps)]
        began = time.monotonic()
        succeed(2, program, "train", inputs / "t.nc", *networks, *TRAIN, "--piece-seconds", str(limit), "-o", tmp_path / "m.safetensors")
        took, steps = time.monotonic() - began, 3 * steps


def test_a_rank_that_hangs_is_named(program, inputs, tmp_path):
    train = command("steps", program, inputs, tmp_path / "m.safetensors")
    train[train.index("--steps") + 1] = "100000"
    launcher = start(3, *train, "--rank-seconds", "3")
    try:
        ranks = wait_for_ranks(launcher, 3)
        time.sleep(1)
        os.kill(ranks[2], signal.SIGSTOP)
        said = launcher.communicate(timeout=30)[1]
    finally:
        end(launcher)
    assert launcher.returncode == 1
    assert "has not been heard of for 3 s (--rank-seconds)" in said and said.count("catena train: rank 2 on ") == 1


SLOW = """
#include <unistd.h>
#include "catena_simulator.h"
static const char* const names[] = {"x"};
static const double initial[] = {0.0};
static const catena_description description = {
    sizeof(catena_description), "odd", 1, names, initial, "{\\"factors\\": [{\\"family\\": \\"normal\\", \\"names\\": [\\"a\\"]}]}",
    "{\\"proposal\\": \\"fixed\\", \\"states\\": {\\"factors\\": [{\\"family\\": \\"normal\\", \\"names\\": [\\"x\\"]}]}}", 0, 1, 0, 0};
int catena_plugin_version(void) { return CATENA_PLUGIN_VERSION; }
const catena_description* catena_plugin_describe(void) { return &description; }
int catena_plugin_step(const catena_step_input* input, catena_random* random, double* next, char* message, size_t size) {
  (void)random;
  WHAT
  for (size_t l = 0; l < input->lanes; ++l) next[l] = 0.5 * input->state[l] + input->theta[l];
  return 0;
}
"""
# θ of a block tells which one it is: one in ten fails, for the same blocks on any rank.
FAILS = """
  unsigned long bits = (unsigned long)(input->theta[0] * 1e6 + 1e9);
  if (bits % 10 == 3) { const char* text = "no convergence"; for (size_t i = 0; i < 15 && i < size; ++i) message[i] = text[i]; return 7; }
"""


def plugin(name, what, root, folder):
    (folder / f"{name}.c").write_text(SLOW.replace("WHAT", what))
    library = folder / f"{name}.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-I", root / "src/catena/simulate", folder / f"{name}.c", "-o", library], check=True)
    return library


def test_a_block_whose_simulator_fails_is_reported_and_does_not_end_the_run(program, root, tmp_path):
    library = plugin("fails", FAILS, root, tmp_path)
    simulate = [program, "simulate", "--plugin", library, "--budget", "60000", "--seed", "1"]
    said = []
    for count in (0, 2, 3):
        result = succeed(count, *simulate, "--json", "--max-invalid", "0.5", "-o", tmp_path / f"{count}.nc")
        said.append(json.loads(result.stdout))
        assert result.stderr.count("the first time: plugin: catena_plugin_step") == 1
        assert "failed with code 7: no convergence" in result.stderr
    assert 0 < said[0]["failed_blocks"] < 59 and said[0]["invalid"] >= 1024 * (said[0]["failed_blocks"] - 1)
    assert all(each["failed_blocks"] == said[0]["failed_blocks"] for each in said)
    assert (tmp_path / "0.nc").read_bytes() == (tmp_path / "2.nc").read_bytes() == (tmp_path / "3.nc").read_bytes()
    result = run(2, *simulate, "--max-invalid", "0.001", "-o", tmp_path / "few.nc")
    assert result.returncode == 2 and result.stderr.count("failed with code 7: no convergence") == 1
    assert not (tmp_path / "few.nc").exists()


def test_an_isolated_plugin_works_on_ranks(program, root, tmp_path):
    library = plugin("fine", "(void)message, (void)size;", root, tmp_path)
    simulate = [program, "simulate", "--plugin", library, "--budget", "20000", "--seed", "1", "-q", "--isolate"]
    for count in (0, 2):
        succeed(count, *simulate, "-o", tmp_path / f"{count}.nc")
    assert (tmp_path / "0.nc").read_bytes() == (tmp_path / "2.nc").read_bytes()
    # A rank whose plug-in crashes ends the run with one sentence.
    library = plugin("crash", "(void)message, (void)size; if (input->theta[0] > 1) *(volatile int*)0 = 1;", root, tmp_path)
    simulate[simulate.index("--plugin") + 1] = library
    result = run(2, *simulate, "-o", tmp_path / "t.nc")
    assert result.returncode == 2 and "crashed (Segmentation fault)" in result.stderr
    assert not (tmp_path / "t.nc").exists()


def test_a_simulator_that_does_not_come_back_is_named(program, root, tmp_path):
    library = plugin("endless", "(void)message, (void)size; if (input->theta[0] > 1.5) for (;;) sleep(1);", root, tmp_path)
    simulate = [program, "simulate", "--plugin", library, "--budget", "60000", "--seed", "1", "-q", "--piece-seconds", "2"]
    result = run(2, *simulate, "-o", tmp_path / "t.nc", seconds=60)
    assert result.returncode == 1, result.stderr
    assert "has been at one piece of work for 2 s (--piece-seconds): it hangs" in result.stderr
