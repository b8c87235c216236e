"""--isolate: what a plug-in does wrong is one sentence with exit code 2."""

import subprocess

import pytest

SOURCE = """
#include <signal.h>
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
  WHAT;
  for (size_t l = 0; l < input->lanes; ++l) next[l] = 0.5 * input->state[l] + input->theta[l];
  return 0;
}
"""
FAULTS = {"fine": "", "crash": "raise(SIGSEGV)", "loop": "for (volatile int i = 0;; i = i + 1) {}"}


@pytest.fixture(scope="module")
def plugins(tmp_path_factory, root):
    folder = tmp_path_factory.mktemp("plugins")
    for name, fault in FAULTS.items():
        source = folder / f"{name}.c"
        source.write_text(SOURCE.replace("WHAT", fault))
        subprocess.run(["cc", "-shared", "-fPIC", "-I", root / "src/catena/simulate", source, "-o", folder / f"{name}.so"], check=True)
    return folder


def simulate(catena, plugin, output, *flags):
    return catena("simulate", "--plugin", plugin, "--budget", "2000", "--seed", "1", "-q", "-o", output, *flags)


def test_a_plugin_that_is_right_gives_the_same_bits(catena, plugins, tmp_path):
    assert simulate(catena, plugins / "fine.so", tmp_path / "here.nc").returncode == 0
    assert simulate(catena, plugins / "fine.so", tmp_path / "apart.nc", "--isolate").returncode == 0
    assert (tmp_path / "here.nc").read_bytes() == (tmp_path / "apart.nc").read_bytes()


@pytest.mark.parametrize(
    ("fault", "flags", "sentence"),
    [
        ("crash", [], "crashed (Segmentation fault)"),
        ("loop", ["--batch-seconds", "0.3"], "did not come back from a batch within 0.3 s, the limit of --batch-seconds"),
    ],
)
def test_a_fault_is_one_sentence(catena, plugins, tmp_path, fault, flags, sentence):
    result = simulate(catena, plugins / f"{fault}.so", tmp_path / "t.nc", "--isolate", *flags)
    assert result.returncode == 2
    assert result.stderr.startswith(f"catena simulate: the plug-in {plugins / fault}.so {sentence}")
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "t.nc").exists()


def test_it_is_for_plugins_alone(catena, tmp_path):
    result = catena("simulate", "gaussian_rw", "--isolate", "-o", tmp_path / "t.nc")
    assert result.returncode == 2
    assert result.stderr == "catena simulate: --isolate is given, but only --plugin needs it\n"
