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
def test_the_examples_of(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0
