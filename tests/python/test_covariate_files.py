"""Covariates on the command line: tables to draw from, columns of series, forecasts, and what is wrong with them."""

import csv
import json

import pytest


@pytest.fixture(scope="module")
def model(catena, tmp_path_factory):
    """A quick model of driven_ar, x' = 0.8 x + theta_1 + theta_2 u + noise, with a table of its own."""
    folder = tmp_path_factory.mktemp("driven")
    table = folder / "table.csv"
    table.write_text("day,u\n" + "\n".join(f"{day},{((7 * day) % 11 - 5) / 2.5}" for day in range(40)) + "\n")
    made = catena(
        "simulate", "driven_ar", "--covariates", table, "--proposal", "fixed", "--budget", 3000, "--seed", 1,
        "-o", folder / "transitions.nc", "--json",
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["covariates"]["rows"] == 40
    trained = catena(
        "train", folder / "transitions.nc", "--method", "fnle", "--density", "gaussian", "--decay", 0.1, "--steps", 300,
        "-o", folder / "model.safetensors",
    )  # fmt: skip
    assert trained.returncode == 0, trained.stderr
    return folder / "model.safetensors"


def test_a_series_has_its_covariates_as_columns(catena, model, tmp_path):
    series = tmp_path / "series.csv"
    assert catena("observe", "driven_ar", "--transitions", 30, "--seed", 7, "-o", series).returncode == 0
    with series.open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["x", "u"] and len(rows) == 31
    draws = catena("sample", model, "--observation", series, "-n", 200, "-o", tmp_path / "posterior.nc")
    assert draws.returncode == 0, draws.stderr
    reference = catena("reference", "driven_ar", "--observation", series, "-n", 200, "--no-cache", "-o", tmp_path / "reference.nc")
    assert reference.returncode == 0, reference.stderr
    # A network of 300 steps is near the exact posterior, not on it: the means are within a deviation.
    found = catena("evaluate", tmp_path / "posterior.nc", tmp_path / "reference.nc", "--metrics", "mean_difference", "--json")
    assert all(abs(value) < 1 for value in json.loads(found.stdout)["mean_difference"].values()), found.stdout

    turned = tmp_path / "turned.csv"  # columns in another order are the same series
    turned.write_text("u,x\n" + "\n".join(f"{row['u']},{row['x']}" for row in rows) + "\n")
    again = catena("sample", model, "--observation", turned, "-n", 200, "-o", tmp_path / "again.nc")
    assert again.returncode == 0, again.stderr
    same = catena("evaluate", tmp_path / "again.nc", tmp_path / "posterior.nc", "--metrics", "sw1", "--json")
    assert json.loads(same.stdout)["sw1"] == 0

    ahead = tmp_path / "ahead.csv"
    ahead.write_text("u\n0.5\n-0.5\n")
    predict = ["predict", tmp_path / "posterior.nc", "--horizon", 3, "-n", 20, "-o", tmp_path / "predictive.nc"]
    assert catena(*predict, "--covariates", ahead).returncode == 0
    refused = catena(*predict)
    assert refused.returncode == 2
    assert "the number of rows of covariates beyond the last observed state is 0, but must be 2 or more" in refused.stderr
    for verb in (["check", "--budget", 500], ["correct", "--budget", 3000, "-o", tmp_path / "corrected.nc"]):
        result = catena(verb[0], model, "--observation", series, *verb[1:])
        assert result.returncode in (0, 1), result.stderr
        assert "covariate" not in result.stderr
    calibrated = catena(
        "calibrate", model, "driven_ar", "--observation", series, "--series", 5, "--draws", 20, "-o", tmp_path / "calibration.nc"
    )
    assert calibrated.returncode == 0, calibrated.stderr
    assert catena("report", model, tmp_path / "posterior.nc", series, "-o", tmp_path / "report.html").returncode == 0


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x\n1\n2\n", "has no column u, but must have the covariates: u"),
        ("x,u,moon\n1,2,3\n4,5,6\n", "is unknown, but must be a state (x) or a covariate (u): leave it out"),
        ("1,2\n3,4\n", "has no names for its columns, but must have them"),
        ("x,u\n1,2\n2,\n3,4\n", "the covariate u in row 2 of the series is missing, but must be finite"),
        ("x,u\n1,2\n,3\n3,4\n", "the step from row 1 to row 3 of the series is 2, but must be from one row to the next"),
    ],
    ids=["missing", "unknown", "nameless", "empty", "gap"],
)
def test_what_is_wrong_with_them_is_one_sentence(catena, model, tmp_path, text, sentence):
    (tmp_path / "series.csv").write_text(text)
    result = catena("sample", model, "--observation", tmp_path / "series.csv", "-o", tmp_path / "posterior.nc")
    assert result.returncode == 2 and sentence in result.stderr and result.stderr.count("\n") == 1, result.stderr


def test_a_simulator_without_covariates_refuses_a_table(catena, tmp_path):
    (tmp_path / "table.csv").write_text("u\n1\n2\n")
    result = catena("simulate", "gaussian_rw", "--covariates", tmp_path / "table.csv", "-o", tmp_path / "t.nc")
    assert result.returncode == 2
    assert "--covariates is given, but must be left out: the simulator takes none" in result.stderr
    (tmp_path / "none.csv").write_text("u\n")
    empty = catena("observe", "driven_ar", "--covariates", tmp_path / "none.csv", "-o", tmp_path / "s.csv")
    assert empty.returncode == 2 and "covariates" in empty.stderr
    gaps = catena("simulate", "driven_ar", "--gaps", "1..3", "-o", tmp_path / "t.nc")
    assert gaps.returncode == 2 and "must be left out where the step takes covariates" in gaps.stderr
