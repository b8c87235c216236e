"""A sweep that is killed goes on where it was, and its table stands beside the paper's numbers."""

import csv
import json
import statistics
import subprocess
import time

import pytest


@pytest.fixture
def sweep(tmp_path):
    path = tmp_path / "sweep.json"
    path.write_text(json.dumps({
        "tasks": [{"name": "gaussian_rw", "options": {"dim": 1}}, {"name": "periodic_sde"}],
        "methods": [{"method": "fnbe", "train": {"steps": 60, "density": "gaussian", "decay": 1}, "sample": {"steps": 20}}],
        "budgets": [500],
        "transitions": [1, 4],
        "observations": 3,
        "draws": 200,
        "metrics": ["c2st", "sw1"],
    }))
    return path


def test_a_killed_sweep_goes_on_where_it_was(catena, program, sweep, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert catena("experiment", "benchmark", "--sweep", sweep, "-o", whole, "--quiet").returncode == 0
    process = subprocess.Popen([program, "experiment", "benchmark", "--sweep", sweep, "-o", killed, "--quiet"])
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and (not (killed / "rows.csv").exists() or len((killed / "rows.csv").read_text().splitlines()) < 3):
        time.sleep(0.005)
    process.kill()
    process.wait()
    with open(killed / "rows.csv", "a") as file:
        file.write("gaussian_rw,fnbe,500,1")  # what a crash in the middle of a line leaves
    assert catena("experiment", "benchmark", "--sweep", sweep, "-o", killed, "--quiet").returncode == 0

    def results(directory):
        header, *rows = (directory / "rows.csv").read_text().splitlines()
        assert header.startswith("task,method,budget,seed,transitions,observation,outcome,c2st,sw1,")
        return [row.split(",")[:9] for row in rows]

    assert len(results(whole)) == 12
    assert results(killed) == results(whole)


def test_sweeps_side_by_side_share_a_table(catena, program, sweep, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    settings = json.loads(sweep.read_text())
    out = tmp_path / "out"
    processes = []
    for seeds in ([1], [1, 2]):
        path = tmp_path / f"{len(seeds)}.json"
        path.write_text(json.dumps(settings | {"seeds": seeds}))
        processes.append(subprocess.Popen([program, "experiment", "benchmark", "--sweep", path, "-o", out, "--quiet", "--threads", "1"]))
        while not (out / "rows.csv").exists():
            time.sleep(0.005)
    assert [process.wait() for process in processes] == [0, 0]
    rows = [tuple(line.split(",")[:6]) for line in (out / "rows.csv").read_text().splitlines()[1:]]
    assert len(rows) == len(set(rows)) == 24
    assert len(json.loads((out / "sweeps.json").read_text())) == 2


def test_a_sweep_with_another_metric_adds_its_column(catena, sweep, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    settings = json.loads(sweep.read_text()) | {"tasks": [{"name": "gaussian_rw", "options": {"dim": 1}}], "observations": 1}
    for metrics, transitions in ((["sw1"], [1]), (["c2st", "sw1"], [1, 2])):
        sweep.write_text(json.dumps(settings | {"metrics": metrics, "transitions": transitions}))
        assert catena("experiment", "benchmark", "--sweep", sweep, "-o", tmp_path / "out", "--quiet").returncode == 0
    header, *rows = [line.split(",") for line in (tmp_path / "out" / "rows.csv").read_text().splitlines()]
    c2st, sw1 = header.index("c2st"), header.index("sw1")
    assert sorted(header) == sorted(set(header))
    assert [(bool(row[c2st]), bool(row[sw1])) for row in rows] == [(False, True), (True, True)]


def test_a_sweep_of_corrections(catena, sweep, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    small = {"method": "fnle", "train": {"steps": 60, "density": "gaussian", "decay": 1}}
    settings = json.loads(sweep.read_text()) | {
        "tasks": [{"name": "gaussian_rw", "options": {"dim": 1}, "transitions": [60]}, {"name": "gaussian_rw", "label": "short"}],
        "methods": [small | {"correct": {"per_transition": [30, 60], "degree": 2}}, small | {"correct": {"share": [0.5]}}, small],
        "budgets": [2000],
        "transitions": [4],
        "observations": 1,
        "proposal": {"proposal": "fixed"},
    }
    sweep.write_text(json.dumps(settings))
    out, page = tmp_path / "out", tmp_path / "page.md"
    for _ in range(2):  # the second time there is nothing left to do
        assert catena("experiment", "benchmark", "--sweep", sweep, "-o", out, "--quiet").returncode == 0
        with open(out / "rows.csv") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == 2 * 4 and not any(row["error"] for row in rows)
    assert sorted(path.name for path in (out / "models").iterdir()) == [
        f"{task}-fnle-{budget}-1.safetensors" for task in ("gaussian_rw", "short") for budget in (1000, 2000)
    ]
    cells = {(row["task"], row["method"], row["observation"]): row for row in rows}
    assert {method for _, method, _ in cells} == {"fnle", "fnle + 30 T", "fnle + 60 T", "fnle + 0.5 of it"}
    for (task, method, observation), row in cells.items():
        if method == "fnle":
            assert row["correct_budget"] == row["learned_c2st"] == ""
            continue
        transitions = int(row["transitions"])
        budget = {"30": 30 * transitions, "60": 60 * transitions, "0.5": 1000}[method.split()[2]]
        assert float(row["correct_budget"]) == budget
        limit = statistics.NormalDist().cdf(0.5 * (1.25 * transitions / budget) ** 0.5)  # one parameter
        assert float(row["limit"]) == pytest.approx(limit, abs=1e-5)
        assert 0.3 <= float(row["learned_c2st"]) <= 1 and row["alarm"] in "01"
        if task == "short":  # four transitions have no normal sum: the learned draws are kept
            assert row["corrected"] == "0" and row["c2st"] == row["learned_c2st"]
        elif row["corrected"] == "1":
            assert row["c2st"] != row["learned_c2st"]
        else:  # a budget that is not enough: the learned draws are kept, and the row says so
            assert row["outcome"] == "not_settled" and row["c2st"] == row["learned_c2st"]
    assert any(row["corrected"] == "1" for row in rows)
    same = [cells["gaussian_rw", method, "1001"]["learned_c2st"] for method in ("fnle + 30 T", "fnle + 60 T")]
    assert same[0] == same[1]  # one model, and the same draws from it

    assert catena("experiment", "show", out, "--page", page, "--quiet").returncode == 0
    text = page.read_text()
    section = text[text.index("## Corrected posteriors") :]
    assert "| gaussian_rw | fnle + 60 T | 2000 | 60 | 60 |" in section
    assert "| gaussian_rw | fnle + 0.5 of it | 2000 | 60 |" in section[section.index("all for learning") :]
    assert "+ 60 T" not in section[section.index("## Other sweeps") :]

    for wrong, complaint in (
        ({"share": [2]}, "between 0 and 1"),
        ({"share": [0.5], "budget": [5]}, "one kind"),
        ({"budget": []}, "list of amounts"),
        ({"budget": [1000], "degrees": 2}, "degrees"),
    ):
        sweep.write_text(json.dumps(settings | {"methods": [small | {"correct": wrong}]}))
        result = catena("experiment", "benchmark", "--sweep", sweep, "-o", out, "--quiet")
        assert result.returncode == 2 and complaint in result.stderr


def test_a_sweep_of_records_and_of_rounds(catena, sweep, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    small = {"train": {"steps": 60, "density": "gaussian", "decay": 1}}
    settings = json.loads(sweep.read_text()) | {"observations": 1, "transitions": [7], "metrics": ["sw1"]}
    records = settings | {
        "tasks": [
            {"name": "gaussian_rw", "label": "blocks", "records": [{"block": 5}, {}]},
            {"name": "gaussian_rw", "label": "gaps", "records": [{"gaps": "1..4"}], "missing": 0.3},
            {"name": "stationary_ar1", "label": "first", "records": [{}, {"initial": True}]},
            {"name": "gaussian_rw", "label": "panel", "series": 3},
        ],
        "methods": [{"method": "fnle", **small}],
    }
    rounds = settings | {
        "tasks": [{"name": "gaussian_rw"}],
        "methods": [{"method": method, "label": f"{method} in two rounds", "rounds": 2, **small} for method in ("fnle", "fnbe")],
    }
    for each in (records, rounds):
        sweep.write_text(json.dumps(each))
        assert catena("experiment", "benchmark", "--sweep", sweep, "-o", tmp_path / "out", "--quiet").returncode == 0
    rows = [line.split(",") for line in (tmp_path / "out" / "rows.csv").read_text().splitlines()[1:]]
    assert [row[0] for row in rows] == ["blocks", "gaps", "first", "panel", "gaussian_rw", "gaussian_rw"]
    assert all(0 < float(row[7]) < 3 for row in rows)
    for wrong in ({"records": []}, {"records": [{"blocks": 5}]}, {"missing": 1}, {"series": 0}):
        sweep.write_text(json.dumps(records | {"tasks": [{"name": "gaussian_rw", **wrong}]}))
        assert catena("experiment", "benchmark", "--sweep", sweep, "-o", tmp_path / "out", "--quiet").returncode == 2


def test_a_sweep_files_a_row_that_failed_and_goes_on(catena, sweep, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    settings = json.loads(sweep.read_text()) | {"tasks": [{"name": "gaussian_rw", "options": {"dim": 1}}], "metrics": ["sw1"]}
    # Two transitions are too few to train on; 500 are enough.
    sweep.write_text(json.dumps(settings | {"budgets": [2, 500], "observations": 2}))
    out = tmp_path / "out"

    def run(*flags):
        result = catena("experiment", "benchmark", "--sweep", sweep, "-o", out, "--quiet", *flags)
        header, *rows = csv.reader((out / "rows.csv").read_text().splitlines())
        return result, [dict(zip(header, row)) for row in rows]

    result, rows = run()
    assert result.returncode == 1 and "4 of the sweep's rows failed" in result.stderr
    assert [row["outcome"] for row in rows] == 4 * ["failed"] + 4 * ["ok"]
    assert all(row["error"].startswith("train: ") and row["sw1"] == row["train_seconds"] == "" for row in rows[:4])
    assert all(row["error"] == "" and float(row["sw1"]) > 0 for row in rows[4:])
    # A failed row is not run again, unless that is asked for; its second try stands below.
    result, again = run()
    assert result.returncode == 1 and again == rows
    result, again = run("--retry-failed")
    assert result.returncode == 1 and again == rows + rows[:4]
    # What takes the place of a failure is the last try.
    lines = (out / "rows.csv").read_text()
    (out / "rows.csv").write_text(lines + "gaussian_rw,fnbe,2,1,1,1001,ok,0.25,1,1,1,\n")
    cells = json.loads(catena("experiment", "show", out, "--metric", "sw1", "--json").stdout)
    assert [(cell["budget"], cell["transitions"], cell["n"], cell["failed"]) for cell in cells] == [
        (2, 1, 1, 1), (2, 4, 0, 2), (500, 1, 2, 0), (500, 4, 2, 0)]
    assert cells[0]["mean"] == 0.25 and cells[1]["mean"] is None
    assert "2 failed" in catena("experiment", "show", out, "--metric", "sw1", "--page", out / "page.md").stdout
    page = (out / "page.md").read_text()
    assert "3 of 8; the means leave them out" in page and rows[0]["error"] in page


def test_the_table_stands_beside_the_papers_numbers(catena, tmp_path):
    header = "task,method,budget,seed,transitions,observation,outcome,c2st\n"
    rows = [f"periodic_sde,{method},10000,{seed},{T},{o},ok,{0.5 + 0.1 * o + 0.01 * seed}\n"
            for method in ("fnbe", "fnse") for seed in (1, 2) for T in (1, 100) for o in (1, 2)]
    (tmp_path / "rows.csv").write_text(header + "".join(rows))
    cells = json.loads(catena("experiment", "show", tmp_path, "--json").stdout)
    assert [(cell["transitions"], cell["n"], cell["paper"]) for cell in cells] == 2 * [(1, 4, 0.56), (100, 4, 0.85)]
    # Means over the seeds are 0.615 and 0.715: their mean, and their deviation over the root of two.
    assert cells[0]["mean"] == pytest.approx(0.665)
    assert cells[0]["se"] == pytest.approx(0.05)
    text = catena("experiment", "show", tmp_path, "--page", tmp_path / "results.md").stdout
    assert "0.665" in text and "0.56" in text and "above" in text
    page = (tmp_path / "results.md").read_text()
    for method in ("fnse", "fnbe"):  # fnbe is not in the paper and stands beside its FNSE
        assert f"| periodic_sde | {method} | 0.665 ± 0.050 (0.56) | **0.665 ± 0.050** (0.85) |" in page


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"tasks": [{"name": "flying"}]}, 'task is "flying", but must be one of'),
        ({"methods": [{"method": "guessing"}]}, 'method is "guessing", but must be one of'),
        ({"metrics": ["beauty"]}, 'metric is "beauty", but must be one of'),
        ({"methods": [{"method": "fnle", "label": "a, b"}]}, 'label is "a, b", but must be text without commas'),
        ({"tasks": [{"name": "gaussian_rw", "label": "../x"}]}, 'label is "../x", but must be text without commas'),
        ({"budgets": "many"}, "is no sweep"),
        ({"speed": 1}, 'a sweep has no field "speed"'),
        ({"methods": [{"method": "fnle", "presets": "paper"}]}, 'a method of a sweep has no field "presets"'),
        ({"methods": [{"method": "fnle", "train": {"bins": 3}}]}, "bins is 3, but density = auto does not use it (nsf does)"),
        ({"methods": [{"method": "fnbe"}], "preset": "paper"}, "preset is paper, but fnbe is no method of it"),
        ({"seeds": []}, "the length of each list of the sweep is 0, but must be at least 1"),
    ],
)
def test_a_bad_sweep_is_one_sentence(catena, sweep, tmp_path, change, sentence):
    sweep.write_text(json.dumps(json.loads(sweep.read_text()) | change))
    result = catena("experiment", "benchmark", "--sweep", sweep, "-o", tmp_path / "out")
    assert result.returncode == 2
    assert sentence in result.stderr and result.stderr.count("\n") == 1
