"""--shard and catena merge: the parts of a job array put together are what one job writes, bit for bit."""

import json
import random
import signal
import subprocess
import time

import pytest
from compare import litter, rows


def simulate(program, output, *flags, task=("double_well",), seed=1):
    command = [program, "simulate", *task, "--proposal", "fixed", "--budget", "100000", "--seed", seed, "-q", "-o", output, *flags]
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=60)


@pytest.fixture(scope="module")
def folder(program, tmp_path_factory):
    """All of three shards, and the file of one job."""
    folder = tmp_path_factory.mktemp("shards")
    assert simulate(program, folder / "one.nc").returncode == 0
    for number in (1, 2, 3):
        assert simulate(program, folder / "t.nc", "--shard", f"{number}/3").returncode == 0
    return folder


def shards(folder, *numbers):
    return [folder / f"t.{number}-of-3.nc" for number in numbers]


def test_merged_shards_are_the_file_of_one_job(catena, folder, tmp_path):
    result = catena("merge", *shards(folder, 3, 1, 2), "-o", tmp_path / "all.nc", "--json")
    assert result.returncode == 0 and json.loads(result.stdout)["transitions"] == 100000
    assert (tmp_path / "all.nc").read_bytes() == (folder / "one.nc").read_bytes()
    assert catena("merge", folder / "t.nc", "-q").returncode == 0  # the name that all were given
    assert (folder / "t.nc").read_bytes() == (folder / "one.nc").read_bytes()
    (folder / "t.nc").unlink()
    assert litter(folder) == litter(tmp_path) == []


@pytest.mark.parametrize(
    ("task", "count", "budget"),
    [("lotka_volterra", 2, 3000), ("lotka_volterra", 7, 3000), ("lotka_volterra", 5, 40000), ("driven_ar", 2, 5000)],
)
def test_any_number_of_shards_even_more_than_blocks(catena, task, count, budget, tmp_path):
    flags = ["--budget", budget, "--seed", 2, "-q", "-o"]
    assert catena("simulate", task, *flags, tmp_path / "one.nc").returncode == 0
    for number in range(1, count + 1):
        assert catena("simulate", task, *flags, tmp_path / "t.nc", "--shard", f"{number}/{count}").returncode == 0
    assert catena("merge", tmp_path / "t.nc", "-q").returncode == 0
    assert (tmp_path / "t.nc").read_bytes() == (tmp_path / "one.nc").read_bytes()


PLUGIN = """
#include <math.h>
#include "catena_simulator.h"
static const char* const names[] = {"x"};
static const double initial[] = {0.0};
static const catena_description description = {
    sizeof(catena_description), "odd", 1, names, initial, "{\\"factors\\": [{\\"family\\": \\"normal\\", \\"names\\": [\\"a\\"]}]}",
    "{\\"proposal\\": \\"fixed\\", \\"states\\": {\\"factors\\": [{\\"family\\": \\"normal\\", \\"names\\": [\\"x\\"]}]}}", 0, 1, 0, 0};
int catena_plugin_version(void) { return CATENA_PLUGIN_VERSION; }
const catena_description* catena_plugin_describe(void) { return &description; }
int catena_plugin_step(const catena_step_input* input, catena_random* random, double* next, char* message, size_t size) {
  (void)random, (void)message, (void)size;
  for (size_t l = 0; l < input->lanes; ++l) next[l] = input->theta[l] > 1.5 ? NAN : input->state[l] + input->theta[l];
  return 0;
}
"""


def test_invalid_transitions_are_dropped_when_shards_are_merged(catena, program, root, tmp_path):
    (tmp_path / "odd.c").write_text(PLUGIN)
    subprocess.run(["cc", "-shared", "-fPIC", "-I", root / "src/catena/simulate", tmp_path / "odd.c", "-o", tmp_path / "odd.so"], check=True)
    task = ("--plugin", tmp_path / "odd.so")
    assert simulate(program, tmp_path / "one.nc", task=task).returncode == 0
    for number in (1, 2, 3):
        assert simulate(program, tmp_path / "t.nc", "--shard", f"{number}/3", task=task).returncode == 0
    result = catena("merge", tmp_path / "t.nc")
    assert result.returncode == 0 and "dropped because their result was not finite" in result.stdout
    assert (tmp_path / "t.nc").read_bytes() == (tmp_path / "one.nc").read_bytes()


def test_a_shard_that_is_missing_doubled_or_of_other_settings_is_named(catena, program, folder, tmp_path):
    def refused(*files):
        result = catena("merge", *files, "-o", tmp_path / "all.nc")
        assert result.returncode == 2 and not (tmp_path / "all.nc").exists() and litter(tmp_path) == []
        return result.stderr

    assert refused(*shards(folder, 1, 3)) == "merge: shard 2/3 is missing\n"
    assert refused(*shards(folder, 1, 2)) == "merge: shard 3/3 is missing\n"
    copy = tmp_path / "copy.nc"
    copy.write_bytes(shards(folder, 2)[0].read_bytes())
    assert refused(*shards(folder, 1, 2, 3), copy) == f"merge: shard 2/3 is there twice: {shards(folder, 2)[0]} and {copy}\n"
    assert simulate(program, tmp_path / "t.nc", "--shard", "2/3", seed=5).returncode == 0
    assert "was made with other settings" in refused(*shards(folder, 1, 3), tmp_path / "t.2-of-3.nc")
    assert "is no shard of transitions" in refused(folder / "one.nc")
    assert "there is no such file" in refused(tmp_path / "nothing.nc")
    assert "catena merge puts all of them together" in catena("train", shards(folder, 1)[0], "-o", tmp_path / "m.safetensors").stderr


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "1/0", "x/3", "1/3/5"])
def test_a_shard_that_cannot_be_is_misuse(catena, text, tmp_path):
    result = catena("simulate", "double_well", "--shard", text, "-o", tmp_path / "t.nc")
    assert result.returncode == 2 and result.stderr.startswith(f"catena simulate: --shard is {text}, but must be ")


def test_a_killed_shard_goes_on(program, folder, tmp_path):
    rng = random.Random(1)
    command = [program, "simulate", "double_well", "--budget", "3e6", "--seed", "1", "-q", "--threads", "1", "--resume"]
    subprocess.run([*command, "-o", tmp_path / "whole.nc", "--shard", "2/3"], check=True)
    for _ in range(3):
        process = subprocess.Popen([*command, "-o", tmp_path / "t.nc", "--shard", "2/3"])
        time.sleep(rng.uniform(0, 0.5))
        process.send_signal(signal.SIGKILL)
        process.wait()
    subprocess.run([*command, "-o", tmp_path / "t.nc", "--shard", "2/3"], check=True)
    assert (tmp_path / "t.2-of-3.nc").read_bytes() == (tmp_path / "whole.2-of-3.nc").read_bytes()
    assert litter(tmp_path) == []


def test_the_shards_of_a_sweep_go_together(catena, tmp_path):
    methods = [{"method": "fnle", "train": {"steps": 50, "density": "gaussian", "decay": 0.1}}, {"method": "fnre", "train": {"steps": 20}}]
    sweep = {"tasks": [{"name": "gaussian_rw", "options": {"dim": 1}}], "methods": methods, "budgets": [500], "transitions": [1, 4],
             "observations": 2, "draws": 100, "metrics": ["sw1"]}  # fmt: skip
    (tmp_path / "sweep.json").write_text(json.dumps(sweep))
    run = ["experiment", "benchmark", "--sweep", tmp_path / "sweep.json", "-q", "--threads", "1", "-o"]
    assert catena(*run, tmp_path / "one").returncode == 0
    assert catena(*run, tmp_path / "all", "--shard", "2/2").returncode == 0
    result = catena("merge", tmp_path / "all")
    assert result.returncode == 2 and result.stderr == "merge: shard 1/2 is missing\n"
    assert catena(*run, tmp_path / "all", "--shard", "1/2").returncode == 0
    table = tmp_path / "all/rows.1-of-2.csv"
    whole = table.read_text()
    table.write_text("".join(whole.splitlines(keepends=True)[:-1]))
    result = catena("merge", tmp_path / "all")
    assert result.returncode == 2 and result.stderr.startswith("merge: shard 1/2 lacks the row gaussian_rw,fnle,500,1,4,1002")
    assert catena(*run, tmp_path / "all", "--shard", "1/2").returncode == 0  # goes on where it was
    assert catena("merge", tmp_path / "all", "-q").returncode == 0
    assert [row[:8] for row in rows(tmp_path / "all")] == [row[:8] for row in rows(tmp_path / "one")]
    (tmp_path / "more").mkdir()
    for name in ("rows.1-of-2.csv", "sweep.1-of-2.json"):
        (tmp_path / "more" / name).write_bytes((tmp_path / "all" / name).read_bytes())
    result = catena("merge", tmp_path / "all", tmp_path / "more", "-o", tmp_path / "third")
    assert result.returncode == 2 and result.stderr.startswith("merge: shard 1/2 is there twice: ")
