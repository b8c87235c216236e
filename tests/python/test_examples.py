"""The examples run, with less of everything, and leave their pictures; their notebooks are what the scripts make."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.stem)
def test_an_example_runs_and_draws_its_picture(script, tmp_path):
    catena = pytest.importorskip("catena", reason="the Python package is not built")
    package = pathlib.Path(catena.__file__).parents[1]
    environment = os.environ | {"CATENA_QUICK": "1", "MPLBACKEND": "Agg", "PYTHONPATH": str(package)}
    result = subprocess.run(
        [sys.executable, script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600
    )
    assert result.returncode == 0, result.stderr
    assert "90 %" in result.stdout
    assert (tmp_path / f"{script.stem}.png").read_bytes().startswith(b"\x89PNG")


def test_the_notebooks_are_those_of_the_scripts():
    result = subprocess.run([sys.executable, ROOT / "tools/notebook", "--check"], capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
