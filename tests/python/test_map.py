"""catena map and catena log-prob as users call them, on a task whose posterior is known."""

import json
import math

import pytest


@pytest.fixture(scope="module")
def files(catena, tmp_path_factory):
    """A series of ten transitions of gaussian_rw, and a likelihood trained on it for a moment."""
    folder = tmp_path_factory.mktemp("map")
    names = {"series": folder / "series.csv", "model": folder / "fnle.safetensors", "transitions": folder / "transitions.nc"}
    steps = [
        ["simulate", "gaussian_rw", "--dim", 2, "--proposal-sd", 3, "--budget", 3000, "--seed", 1, "-o", names["transitions"]],
        ["train", names["transitions"], "--method", "fnle", "--density", "gaussian", "--decay", 0.5, "--steps", 600,
         "--seed", 2, "-o", names["model"]],
        ["observe", "gaussian_rw", "--dim", 2, "--transitions", 10, "--seed", 3, "-o", names["series"]],
    ]
    for step in steps:
        result = catena(*step)
        assert result.returncode == 0, result.stderr
    return names


def test_map_is_near_the_exact_mode_and_log_prob_agrees_with_it(catena, files, tmp_path):
    rows = [list(map(float, line.split(","))) for line in files["series"].read_text().splitlines()[1:]]
    exact = [sum(after[i] - 0.9 * before[i] for before, after in zip(rows, rows[1:])) / len(rows) for i in range(2)]
    report = json.loads(catena("map", files["model"], "--observation", files["series"], "--json").stdout)
    assert report["outcome"] == "ok" and report["at_rest"] >= 1 and report["transitions"] == 10
    theta = [report["theta"]["theta_1"], report["theta"]["theta_2"]]
    for found, mode in zip(theta, exact):
        assert abs(found - mode) < 0.5 / math.sqrt(11)  # a network trained for a moment: half a deviation

    # Columns in another order, and a second row that is less probable.
    (tmp_path / "theta.csv").write_text(f"theta_2,theta_1\n{theta[1]!r},{theta[0]!r}\n{theta[1]!r},{theta[0] + 1!r}\n")
    result = catena("log-prob", files["model"], "--observation", files["series"], "--theta", tmp_path / "theta.csv",
                    "-o", tmp_path / "log_prob.csv", "--json")
    values = json.loads(result.stdout)["log_prob"]
    assert values[0] == pytest.approx(report["log_prob"], abs=1e-3)
    assert values[1] < values[0] - 2  # −11/2
    header, first, _ = (tmp_path / "log_prob.csv").read_text().splitlines()
    assert header == "theta_1,theta_2,log_prob" and float(first.split(",")[2]) == values[0]


def test_log_prob_of_other_parameters_is_one_sentence(catena, files, tmp_path):
    (tmp_path / "theta.csv").write_text("a,b\n1,2\n")
    result = catena("log-prob", files["model"], "--observation", files["series"], "--theta", tmp_path / "theta.csv")
    assert result.returncode == 2 and result.stderr.count("\n") == 1
    assert "is a, b, but must be that of the model, theta_1, theta_2" in result.stderr


def test_scores_have_a_map_but_no_log_prob(catena, files, tmp_path):
    model = tmp_path / "fnse.safetensors"
    trained = catena("train", files["transitions"], "-o", model, "--seed", 4, "--method", "fnse", "--network", "separable", "--ensemble", 1,
                     "--width", 24, "--terms", 8, "--steps", 1000)
    assert trained.returncode == 0, trained.stderr
    report = json.loads(catena("map", model, "--observation", files["series"], "--json").stdout)
    assert report["log_prob"] is None and set(report["theta"]) == {"theta_1", "theta_2"}
    (tmp_path / "theta.csv").write_text("theta_1,theta_2\n1,2\n")
    result = catena("log-prob", model, "--observation", files["series"], "--theta", tmp_path / "theta.csv")
    assert result.returncode == 2 and "must be one that learns a density" in result.stderr
