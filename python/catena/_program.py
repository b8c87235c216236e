"""Where the program and what reports need were installed: inside the package, or in the build tree of `make build`."""

from __future__ import annotations

import pathlib

import catena

_PACKAGE = pathlib.Path(catena.__file__).parent  # not of this file, which is a link in a build tree


def program() -> pathlib.Path | None:
    """The program `catena`."""
    for candidate in (_PACKAGE / "bin" / "catena", _PACKAGE.parents[1] / "catena"):
        if candidate.is_file():
            return candidate
    return None


def vega_bundle() -> str:
    """Vega's JavaScript; empty if it was not there when the package was built."""
    for base in (_PACKAGE, _PACKAGE.parents[1]):
        candidate = base / "share" / "catena" / "vega-bundle.js"
        if candidate.is_file():
            return candidate.read_text(encoding="utf-8")
    return ""
