"""The example of every docstring."""

import doctest
import importlib
import pkgutil

import catena
import pytest
from drift_walk import QUIET

MODULES = ["catena"] + [
    f"catena.{module.name}"
    for module in pkgutil.iter_modules(catena.__path__)
    if module.name not in ("_core", "__main__")
]


@pytest.fixture(scope="module")
def walk():
    """An estimator of a task, and a series of it that is long enough to be corrected."""
    task = catena.tasks.get("gaussian_rw")
    estimator = catena.FNLE().append_simulations(task.simulate(budget=2000)).train(steps=200, **QUIET)
    return estimator.build_posterior(), task.observe(100, theta=[0.0])


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of(name, fnle, series, walk, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # for the files that examples write
    objects = {"estimator": fnle, "posterior": fnle.build_posterior().set_default_x(series), "series": series}
    objects |= {"walk_posterior": walk[0], "walk_series": walk[1]}
    result = doctest.testmod(importlib.import_module(name), extraglobs=objects)
    assert result.failed == 0
