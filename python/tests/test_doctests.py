"""The example of every docstring."""

import doctest
import importlib
import pkgutil

import catena
import pytest

MODULES = ["catena"] + [
    f"catena.{module.name}"
    for module in pkgutil.iter_modules(catena.__path__)
    if module.name not in ("_core", "__main__")
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of(name, fnle, series, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # for the files that examples write
    objects = {"estimator": fnle, "posterior": fnle.build_posterior().set_default_x(series), "series": series}
    result = doctest.testmod(importlib.import_module(name), extraglobs=objects)
    assert result.failed == 0
