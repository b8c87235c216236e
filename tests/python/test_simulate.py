"""The verbs tasks, simulate and observe as scripts see them."""

import csv
import json

import pytest


def test_tasks_lists_every_task_with_its_flags(catena):
    tasks = {task["name"]: task for task in json.loads(catena("tasks", "--json").stdout)["tasks"]}
    assert {"gaussian_rw", "ti_gaussian_rw", "mixture_rw", "periodic_sde", "linear_sde", "double_well", "lotka_volterra",
            "sir"} <= set(tasks)
    table = catena("tasks").stdout
    for name, task in tasks.items():
        assert f"\n{name} " in "\n" + table
        assert all(option["flag"] in table for option in task["options"])
    assert tasks["mixture_rw"]["parameters"] == [f"theta_{i}" for i in range(1, 6)]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["simulate", "-o", "t.nc"], "catena simulate: TASK is missing; catena tasks lists them"),
        (["simulate", "flying", "-o", "t.nc"], 'catena simulate: task is "flying", but must be one of gaussian_rw, '),
        (["simulate", "sir"], "catena simulate: --output is required"),
        (["simulate", "sir", "-o", "t.nc", "--dim", "3"], "catena simulate: --dim is given, but sir has only "),
        (["simulate", "sir", "-o", "t.nc", "--budget", "0"], "simulate: budget is 0, but must be at least 1"),
        (["simulate", "sir", "-o", "t.nc", "--budget", "-5"], "catena simulate: --budget is -5, but must be a whole number"),
        (["simulate", "gaussian_rw", "-o", "t.nc", "--dim", "two"], 'task: dim is "two", but must be a whole number'),
        (["simulate", "gaussian_rw", "-o", "t.nc", "--noise", "1"], "catena simulate: --noise is given, but the default proposal has no such option"),
        (["simulate", "sir", "-o", "t.nc", "--proposal", "guess"], 'catena simulate: proposal is "guess", but must be one of fixed, '),
        (["simulate", "sir", "-o", "t.nc", "--proposal", "target"], "target proposal: the number of given series is 0, but must be at least 1"),
        (["simulate", "sir", "-o", "t.nc", "--plugin", "x.so"], "catena simulate: TASK and --plugin are given, but only one of them can be"),
        (["simulate", "--plugin", "x.so", "-o", "t.nc"], "plugin: x.so cannot be loaded: "),
        (["simulate", "sir", "-o", "no/such/folder/t.nc"], "no/such/folder/t.nc: cannot be written: the directory no/such/folder does not exist"),
        (["observe", "sir", "-o", "s.json"], "catena observe: --output is s.json, but must be no .json file"),
        (["observe", "sir", "-o", "s.csv", "--theta", "1"], "catena observe: the number of values of --theta is 1, but must be 2"),
        (["observe", "sir", "-o", "s.csv", "--transitions", "0"], "catena observe: --transitions is 0, but must be between 1 and "),
    ],
)
def test_misuse_is_one_sentence_and_leaves_no_file(catena, tmp_path, arguments, sentence):
    result = catena(*arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith(sentence)
    assert result.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_simulate_is_the_same_for_any_number_of_threads_and_says_what_it_did(catena, tmp_path):
    for threads in (1, 2):
        result = catena("simulate", "lotka_volterra", "--budget", "2e4", "--seed", 3, "-o", f"{threads}.nc", "--threads", threads,
                        "--proposal", "predictive", "--noise", "0.1", "--json", cwd=tmp_path)
        assert result.returncode == 0
        said = json.loads(result.stdout)
        assert (said["transitions"], said["proposal_cost"], said["invalid"]) == (15000, 5000, 0)
        assert said["proposal"] == {"proposal": "predictive", "series": 50, "length": 100, "noise": 0.1, "relative_noise": 0.0,
                                    "tail": 0.0, "non_negative": True}
    assert (tmp_path / "1.nc").read_bytes() == (tmp_path / "2.nc").read_bytes()


def test_observe_writes_the_series_and_its_true_parameters(catena, tmp_path):
    def observe(*flags):
        result = catena("observe", "lotka_volterra", "--transitions", 100, "-o", "s.csv", "-q", *flags, cwd=tmp_path)
        assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
        return (tmp_path / "s.csv").read_text(), json.loads((tmp_path / "s.json").read_text())

    text, truth = observe("--seed", 7)
    rows = list(csv.DictReader(text.splitlines()))
    assert len(rows) == 101 and rows[0] == {"prey": "1", "predators": "0.5"}
    assert truth["task"] == "lotka_volterra" and truth["options"]["sigma"] == 0.1 and len(truth["theta"]) == 4
    assert observe("--seed", 7) == (text, truth)
    assert observe("--seed", 8)[1]["theta"] != truth["theta"]
    given = observe("--seed", 7, "--theta", ",".join(map(str, truth["theta"])))
    assert given[1]["theta"] == truth["theta"]
    assert given[0] == text


def test_a_series_can_be_the_target_of_a_proposal(catena, tmp_path):
    catena("observe", "sir", "--transitions", 20, "-o", "s.csv", cwd=tmp_path)
    result = catena("simulate", "sir", "--proposal", "target", "--target", "s.csv", "--budget", 1000, "-o", "t.nc", "--json", cwd=tmp_path)
    assert json.loads(result.stdout)["proposal"]["pooled_states"] == 21
