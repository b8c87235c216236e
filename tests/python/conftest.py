"""What the tests share: running the program that `make build` made."""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("CATENA_PROGRAM", ROOT / "build/catena"))


@pytest.fixture(scope="session")
def catena():
    """catena("bench", "--json") runs the program to its end, away from any terminal, and returns what it said."""

    def run(*arguments, **options):
        command = [PROGRAM, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, **options)

    return run


@pytest.fixture(scope="session")
def program():
    return PROGRAM


@pytest.fixture(scope="session")
def root():
    return ROOT
