"""What one meets first: outputs that cannot be written, files in the wrong place, sentences that name flags and the way out."""

import os
import signal
import subprocess
import time

import pytest


@pytest.fixture(scope="module")
def files(catena, tmp_path_factory):
    folder = tmp_path_factory.mktemp("first")
    for name in ("gaussian_rw", "double_well"):
        catena("simulate", name, "--budget", "500", "-o", folder / f"{name}.nc")
        catena("train", folder / f"{name}.nc", "--steps", "30", "-o", folder / f"{name}.safetensors")
        catena("observe", name, "--transitions", "12", "-o", folder / f"{name}.csv")
        catena(
            "sample", folder / f"{name}.safetensors", "--observation", folder / f"{name}.csv", "-n", "100",
            "-o", folder / f"{name}.posterior.nc",
        )  # fmt: skip
        assert (folder / f"{name}.posterior.nc").exists()
    return folder


def test_outputs_are_checked_before_the_work(catena, files, tmp_path):
    begun = time.monotonic()
    train = ("train", files / "gaussian_rw.nc", "--steps", "1000000", "-o")
    result = catena(*train, tmp_path / "no/such/model.safetensors")
    assert result.returncode == 2 and "no/such/model.safetensors" in result.stderr
    result = catena(*train, tmp_path)
    assert "--output is" in result.stderr and "but must be a file, not a directory" in result.stderr
    assert time.monotonic() - begun < 30  # and not what a million steps take
    assert list(tmp_path.iterdir()) == []


def test_train_without_a_method_trains_fnle(catena, files, tmp_path):
    said = catena("train", files / "gaussian_rw.nc", "--steps", "10", "-o", tmp_path / "m.safetensors", "--json").stdout
    assert '"method": "fnle"' in said


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["sample", "gaussian_rw.csv", "--observation", "gaussian_rw.csv", "-o", "p.nc"], "gaussian_rw.csv: is a CSV or another text, but must be a model"),
        (["sample", "gaussian_rw.nc", "--observation", "gaussian_rw.csv", "-o", "p.nc"], "gaussian_rw.nc: is a netCDF file, but must be a model"),
        (["train", "gaussian_rw.safetensors", "-o", "m.safetensors"], "gaussian_rw.safetensors: is a model (safetensors), but must be a netCDF file"),
        (["sample", "gaussian_rw.safetensors", "--observation", "gaussian_rw.nc", "-o", "p.nc"], "gaussian_rw.nc: is a netCDF file, but must be a CSV file"),
        (["predict", "gaussian_rw.safetensors", "-o", "p.nc"], "is a model (safetensors), but must be a netCDF file"),
    ],
)
def test_a_wrong_file_says_what_it_looks_like(catena, files, tmp_path, arguments, sentence):
    named = [files / a if (files / a).exists() else tmp_path / a if a.endswith((".nc", "m.safetensors")) else a for a in arguments]
    result = catena(*named)
    assert result.returncode == 2 and sentence in result.stderr


def test_sentences_name_flags(catena, files, tmp_path):
    (tmp_path / "gap.csv").write_text("x_1\n0\n1\n\n\n2\n3\n")
    model = files / "gaussian_rw.safetensors"
    result = catena("sample", model, "--observation", tmp_path / "gap.csv", "-o", tmp_path / "p.nc")
    assert "or set --cut-gaps" in result.stderr and "cut_gaps" not in result.stderr
    (tmp_path / "dated.csv").write_text("date,x_1\n2000-01-01,0\n2000-01-02,1\n2000-01-04,1\n")
    result = catena("sample", model, "--observation", tmp_path / "dated.csv", "-o", tmp_path / "p.nc")
    assert "is 2, but must be what the model knows, 1" in result.stderr


def test_a_state_that_is_missing_in_part_says_what_to_do(catena, tmp_path):
    catena("simulate", "lotka_volterra", "--budget", "300", "-o", tmp_path / "t.nc")
    catena("train", tmp_path / "t.nc", "--steps", "10", "--density", "gaussian", "-o", tmp_path / "m.safetensors")
    (tmp_path / "x.csv").write_text("prey,predators\n1,1\n1,\n1,1\n")
    result = catena("sample", tmp_path / "m.safetensors", "--observation", tmp_path / "x.csv", "-o", tmp_path / "p.nc")
    assert "a transition needs all coordinates of a state; fill in what is missing, or set --partly-missing" in result.stderr


def test_a_rule_that_needs_jacobians_says_what_has_them(catena, files, tmp_path):
    catena("train", files / "gaussian_rw.nc", "--method", "fnbe", "--steps", "10", "-o", tmp_path / "m.safetensors")
    result = catena(
        "sample", tmp_path / "m.safetensors", "--observation", files / "gaussian_rw.csv", "--rule", "jac",
        "-o", tmp_path / "p.nc",
    )  # fmt: skip
    assert "train fnse, whose networks separable and joint have them" in result.stderr


def test_an_interrupted_run_says_how_to_go_on(program, files, tmp_path):
    command = [program, "train", files / "double_well.nc", "--steps", "10000000", "-o", tmp_path / "m.safetensors", "--quiet"]
    with subprocess.Popen([*map(str, command)], stderr=subprocess.PIPE, text=True) as process:
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (130, "catena: interrupted; catena train with the same arguments and --resume goes on\n")


def test_a_model_of_another_task_is_refused_by_the_report(catena, files, tmp_path):
    result = catena(
        "report", files / "double_well.safetensors", files / "gaussian_rw.posterior.nc", "-o", tmp_path / "r.html"
    )
    assert result.returncode == 2
    assert "is double_well, but must be that of the draws in gaussian_rw.posterior.nc, gaussian_rw" in result.stderr


def test_one_picture_is_one_file(catena, files, tmp_path):
    posterior = files / "double_well.posterior.nc"
    for ending, begins in {"png": b"\x89PNG", "svg": b"<svg", "pdf": b"%PDF", "json": b"{"}.items():
        catena("report", posterior, "-o", tmp_path / f"f.{ending}", "--label", "theta_1=growth rate (1/yr)")
        assert (tmp_path / f"f.{ending}").read_bytes().startswith(begins)
    assert "growth rate (1/yr)" in (tmp_path / "f.json").read_text()
    catena("report", posterior, files / "double_well.csv", "--figure", "series", "-o", tmp_path / "series.svg")
    result = catena("report", posterior, "--figure", "all", "-o", tmp_path / "x.svg")
    assert "--figure is all, but must be one that these files have: pair_plot" in result.stderr
    result = catena("report", posterior, "--label", "theta_9=none", "-o", tmp_path / "x.html")
    assert "the name of a label is theta_9, but must be that of a parameter or a state" in result.stderr


def test_not_writable_is_said_before_the_work(catena, files, tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    tmp_path.chmod(0o500)
    result = catena("train", files / "gaussian_rw.nc", "--steps", "1000000", "-o", tmp_path / "m.safetensors")
    assert "no permission" in result.stderr
