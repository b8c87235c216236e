"""Keywords that come from the configuration lists in C++: names, help and defaults are read from there."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ._arrays import to_json


def entries(registry: str) -> dict[str, dict[str, Any]]:
    """A registry of C++ by name, in its order.

    >>> from catena import _core
    >>> list(entries(_core.methods()))[:2]
    ['fnle', 'fnre']
    """
    return {entry["name"]: entry for entry in json.loads(registry)}


class Settings:
    """The settings of one function, by name.

    >>> from catena import _core
    >>> Settings("train", _core.loop_settings()).default("batch_size")
    1000
    """

    def __init__(self, function: str, fields: str) -> None:
        self.function = function
        self.fields: dict[str, dict[str, str]] = {field["name"]: field for field in json.loads(fields)}

    def default(self, name: str) -> Any:
        text = self.fields[name]["default"]
        try:
            return json.loads(text)
        except json.JSONDecodeError:
            return text

    def check_names(self, given: Iterable[str]) -> None:
        """A TypeError of one sentence for a name that no setting has."""
        for name in given:
            if name in self.fields:
                continue
            near = difflib.get_close_matches(name, self.fields, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise TypeError(
                f"{self.function}: the keyword {name!r} is unknown, but must be one of {', '.join(self.fields)}{hint}"
            )

    def json_of(self, given: Mapping[str, Any]) -> str:
        """The given ones as JSON; 1e4 is a whole number where one is wanted."""
        self.check_names(given)
        values = {}
        for name, value in given.items():
            if isinstance(value, float) and value.is_integer() and isinstance(self.default(name), int):
                value = int(value)
            if name == "state_shape" and not isinstance(value, str):
                value = "x".join(str(int(size)) for size in value)  # (2, 64, 64): 2x64x64
            if isinstance(value, (float, np.floating)) and not np.isfinite(value):
                raise ValueError(f"{self.function}: {name} is {value!r}, but must be {self.fields[name]['must_be']}")
            values[name] = value
        return to_json(values)

    def help(self) -> str:
        """One line for each setting."""
        return "\n".join(
            f"{name}={self.default(name)!r}: {field['help']} ({field['must_be']})"
            for name, field in self.fields.items()
        )
