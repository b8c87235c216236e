"""The paper's figures: each by one command, which runs what is missing and can be cut to a time."""

import csv
import json

import pytest

SMALL = {"budgets": [0], "transitions": [1, 3], "observations": 2, "seeds": [1], "draws": 60, "metrics": ["c2st"]}
WALK = {"name": "gaussian_rw", "label": "gaussian_rw 2-d", "options": {"dim": 2}}
MIXTURE = {"name": "mixture_rw", "label": "mixture_rw 2-d", "options": {"dim": 2}}


def drawn_by(rule, scores):
    sample = {"rule": rule, "sampler": "euler_maruyama", "steps": 8, "corrections": 0}
    return {"method": "fnse", "label": f"{scores} {rule} 500 steps", "sample": sample}


@pytest.fixture
def sweeps(tmp_path, monkeypatch):
    """Figure 2b in small: with exact scores, and with those of one network that both rules draw from."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    directory = tmp_path / "sweeps"
    directory.mkdir()
    exact = [drawn_by(rule, "exact") | {"scores": "exact"} for rule in ("gauss", "jac")]
    train = {"train": {"steps": 20, "network": "separable", "ensemble": 1}}
    learned = [drawn_by(rule, "fnse") | train for rule in ("gauss", "fnpe")]
    (directory / "composition-exact.json").write_text(json.dumps(SMALL | {"tasks": [WALK, MIXTURE], "methods": exact}))
    (directory / "composition-10k.json").write_text(json.dumps(
        SMALL | {"tasks": [WALK], "methods": learned, "budgets": [300], "proposal": {"proposal": "fixed"}}))
    return directory


def rows_of(directory):
    with open(directory / "rows.csv") as file:
        return list(csv.DictReader(file))


def test_a_figure_is_run_and_drawn_by_one_command(catena, sweeps, tmp_path):
    results = tmp_path / "results"
    command = ["experiment", "paper", "--figure", "2b", "--sweeps", sweeps, "--results", results, "--format", "json", "--json"]
    nothing = catena(*command, "--no-run")
    assert nothing.returncode == 1 and "nothing to draw" in nothing.stderr

    first = catena(*command)
    assert first.returncode == 0, first.stderr
    told = json.loads(first.stdout)
    state = told["figures"][0]
    assert (state["figure"], state["rows"], state["missing"]) == ("2b", 24, 24)
    assert sum(state["unknown"].values()) == 24  # there was no row to go by
    rows = rows_of(results)
    assert len(rows) == 24 and not any(row["error"] for row in rows)
    assert [path.name for path in (results / "models").iterdir()] == ["gaussian_rw 2-d-fnse gauss 500 steps-300-1.safetensors"]
    exact = [float(row["c2st"]) for row in rows if row["method"].startswith("exact")]
    assert sum(exact) / len(exact) < 0.62  # rules and samplers alone lose little on these
    assert [name.rsplit("/")[-1] for name in told["files"]] == ["paper_2b_exact.json", "paper_2b_learned.json"]
    spec = json.loads((results / "figures/paper_2b_exact.json").read_text())
    assert {value["line"] for value in spec["data"]["values"]} == {"gauss", "jac"}

    # What is there is not run again, and gives the estimate of what is not.
    (sweeps / "composition-exact.json").write_text(
        (sweeps / "composition-exact.json").read_text().replace('"observations": 2', '"observations": 3'))
    told = json.loads(catena(*command, "--no-run").stdout)["figures"][0]
    assert (told["rows"], told["missing"], told["unknown"]) == (32, 8, {})
    assert 0 < told["seconds"] < 60
    assert json.loads(catena(*command).stdout)["left"] == 0
    assert rows_of(results)[:24] == rows and len(rows_of(results)) == 32


def test_figures_stand_on_the_page(catena, sweeps, tmp_path):
    results, page = tmp_path / "results", tmp_path / "page.md"
    assert catena("experiment", "paper", "--figure", "2b", "--sweeps", sweeps, "--results", results, "--format", "json",
                  "--quiet").returncode == 0
    shown = catena("experiment", "show", results, "--page", page, "--figures", tmp_path / "pictures", "--format", "json")
    assert shown.returncode == 0
    text = page.read_text()
    assert "### Figure 2b: rules of composition and samplers" in text and "pictures/paper_2b_exact.json" in text
    assert "Exact scores, T = 3, mean C2ST over the tasks: gauss 0." in text
    assert "### Figure 2c" not in text  # it has no rows here


def test_a_sweep_is_cut_to_a_time_and_goes_on(catena, sweeps, tmp_path):
    command = ["experiment", "benchmark", "--sweep", sweeps / "composition-exact.json", "-o", tmp_path / "out", "--quiet"]
    cut = catena(*command, "--time-limit", "1e-9", "--json")
    assert cut.returncode == 0 and json.loads(cut.stdout)["left"] == 16
    assert rows_of(tmp_path / "out") == []
    assert json.loads(catena(*command, "--time-limit", "5", "--json").stdout)["left"] == 0
    # The first series of every cell comes before the second of any.
    assert [row["observation"] for row in rows_of(tmp_path / "out")] == 8 * ["1001"] + 8 * ["1002"]


def test_the_list_of_figures_says_what_is_missing(catena, root, tmp_path):
    shown = catena("experiment", "paper", "--results", root / "benchmarks/results", "--sweeps", root / "benchmarks/sweeps")
    assert shown.returncode == 0, shown.stderr
    for name in ("2a", "2b", "2c", "budget", "time-inhomogeneous"):
        assert any(line.startswith(name + " ") for line in shown.stdout.splitlines())
    assert "rows" in shown.stdout and "measured now" in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--figure", "17"], 'figure of the paper is "17", but must be one of 2a, 2b'),
        (["--figure", "2b", "--sweeps", "nowhere"], "nowhere/composition-exact.json"),
    ],
)
def test_a_wrong_figure_is_one_sentence(catena, tmp_path, arguments, sentence):
    result = catena("experiment", "paper", "--results", tmp_path, *arguments)
    assert result.returncode == 2 and sentence in result.stderr and result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"tasks": [{"name": "sir"}]}, "gaussian_rw or mixture_rw in one series without gaps, where scores are exact"),
        ({"methods": [{"method": "fnle", "scores": "exact"}]}, "method is fnle, but must be fnse with exact scores"),
        ({"methods": [{"method": "fnse", "scores": "good"}]}, "scores is good, but must be exact, or left out"),
    ],
)
def test_exact_scores_are_refused_where_there_are_none(catena, sweeps, tmp_path, change, sentence):
    file = sweeps / "composition-exact.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    result = catena("experiment", "benchmark", "--sweep", file, "-o", tmp_path / "out")
    assert result.returncode == 2 and sentence in result.stderr and result.stderr.count("\n") == 1
