"""The command line as scripts see it: exit codes, one sentence for misuse, one JSON object with --json."""

import json
import re
import subprocess

import pytest


def verbs(catena):
    """The verbs as --help lists them."""
    listing = catena("--help").stdout.split("Verbs:\n")[1].split("\n\n")[0]
    return re.findall(r"^  (\S+) ", listing, re.MULTILINE)


def test_help_lists_the_verbs_with_a_line_each(catena):
    result = catena("--help")
    assert result.returncode == 0
    assert result.stderr == ""
    assert "Usage: catena" in result.stdout
    assert "bench" in verbs(catena)


def test_every_verb_has_help_that_names_the_common_options(catena):
    whole = [[verb] for verb in verbs(catena) if verb != "experiment"]
    for verb in whole + [["experiment", "benchmark"], ["experiment", "show"]]:
        result = catena(*verb, "--help")
        verb = " ".join(verb)
        assert result.returncode == 0, verb
        assert f"Usage: catena {verb}" in result.stdout
        assert "--json" in result.stdout, verb


def test_version_is_the_one_of_the_build_file(catena, root):
    declared = re.search(r"project\(catena VERSION (\S+)", (root / "CMakeLists.txt").read_text())[1]
    result = catena("--version")
    assert (result.returncode, result.stdout, result.stderr) == (0, f"catena {declared}\n", "")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "catena: a verb is missing; see catena --help"),
        (["fly"], 'catena: verb is "fly", but must be one of '),
        (["--fly"], 'catena: verb is "--fly", but must be one of '),
        (["bench", "--fly"], "catena bench: the following argument was not expected: --fly"),
        (["bench", "fly"], "catena bench: the following argument was not expected: fly"),
        (["bench", "--threads"], "catena bench: --threads: 1 required"),
        (["bench", "--threads", "two"], "catena bench: --threads is two, but must be a whole number"),
        (["bench", "--threads", "2.5"], "catena bench: --threads is 2.5, but must be a whole number"),
        (["bench", "--threads", ""], "catena bench: --threads is , but must be a whole number"),
        (["bench", "--threads", "-1"], "catena bench: --threads is -1, but must be between 0 and 1024"),
        (["bench", "--threads", "1e30"], "catena bench: --threads is 1e30, but must be a whole number"),
        (["bench", "--threads", "99999999999"], "catena bench: --threads is 99999999999, but must be between"),
        (["bench", "--run-seconds", "nan"], "catena bench: --run-seconds is nan, but must be between 0.0001 and 60"),
        (["bench", "--run-seconds", "1s"], "catena bench: --run-seconds is 1s, but must be a number"),
        (["bench", "--progress", "fancy"], "catena bench: --progress is fancy, but must be one of auto, bar, lines"),
        (["bench", "--only", "nothing"], "catena bench: --only is nothing, but must be the beginning of one of "),
    ],
)
def test_misuse_is_one_sentence_and_exit_code_2(catena, arguments, sentence):
    result = catena(*arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith(sentence)
    assert result.stderr.count("\n") == 1 and result.stderr.endswith("\n")


def test_bench_json_is_one_flat_object_of_numbers_and_nothing_else(catena):
    result = catena("bench", "--json", "--only", "peak", "--run-seconds", "0.002", "--threads", "1e0")
    assert result.returncode == 0
    numbers = json.loads(result.stdout)
    # The slowest core with SSE4 does about 2 GFLOP/s; none exceeds 1,000.
    assert 1 < numbers["peak_gflops"] < 1000
    assert all(isinstance(value, (int, float)) for value in numbers.values())


def test_bench_prints_the_same_keys_as_a_table(catena):
    result = catena("bench", "--only", "peak", "--run-seconds", "0.002", "--quiet")
    assert result.returncode == 0
    assert result.stdout.startswith("peak_gflops")
    assert result.stderr == ""


def test_full_standard_output_is_reported_and_not_swallowed(catena, program):
    with open("/dev/full", "w") as full:
        result = subprocess.run([program, "bench", "--only", "peak", "--run-seconds", "0.002", "-q"], stdout=full,
                                stderr=subprocess.PIPE, text=True, timeout=60)
    assert result.returncode == 2
    assert result.stderr.startswith("catena: standard output cannot be written")
