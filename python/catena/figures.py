"""Figures: Vega-Lite specifications, the same as those of `catena report`, for notebooks, files and Altair."""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import _core

if TYPE_CHECKING:
    import altair

_VEGA_LITE = "6.4"  # as tools/vega-bundle: draws specifications of version 5 just as well
_MIME = "application/vnd.vegalite.v5+json"


class Figures:
    """One or several figures of the same results. Notebooks show them; save() writes them.

    The specifications are plain dictionaries, to be restyled at will.

    >>> figures = estimator.plot()
    >>> figures["learning_curve"]["$schema"]
    'https://vega.github.io/schema/vega-lite/v5.json'
    >>> figures.save("learning_curve.html")
    """

    def __init__(self, results: _core.Results, only: Sequence[str] = ()) -> None:
        drawn = [f for f in json.loads(results.figures()) if not only or f["name"] in only]
        self._results = results
        self._drawn: dict[str, dict[str, Any]] = {figure["name"]: figure for figure in drawn}

    @property
    def names(self) -> list[str]:
        return list(self._drawn)

    def __getitem__(self, name: str) -> dict[str, Any]:
        """The Vega-Lite specification of a figure."""
        return self._drawn[name]["spec"]

    def __len__(self) -> int:
        return len(self._drawn)

    @property
    def spec(self) -> dict[str, Any]:
        """The specification of the first figure."""
        return next(iter(self._drawn.values()))["spec"]

    def to_altair(self, name: str | None = None) -> altair.TopLevelMixin:
        """A figure (the first, unless named) as an Altair chart."""
        import altair

        spec = dict(self.spec if name is None else self[name])
        # Altair's schema knows no transparent background, and may be of a later Vega-Lite.
        spec["config"] = {key: value for key, value in spec.get("config", {}).items() if value is not None}
        kinds = {
            "concat": altair.ConcatChart,
            "hconcat": altair.HConcatChart,
            "vconcat": altair.VConcatChart,
            "layer": altair.LayerChart,
        }
        kind = next((chart for key, chart in kinds.items() if key in spec), altair.Chart)
        return kind.from_dict(spec, validate=False)

    def to_html(self) -> str:
        """One page that needs nothing but itself: findings in words, the figures, tables."""
        from ._program import vega_bundle

        return self._results.page(self.names, vega_bundle(), 0, 0)

    def save(self, path: str | os.PathLike[str]) -> None:
        """By the file's ending: .html a page that opens offline, .json the specification, .png, .svg or .pdf a picture
        of the first figure (these need vl-convert-python)."""
        file = pathlib.Path(path)
        if file.suffix == ".html":
            file.write_text(self.to_html(), encoding="utf-8")
        elif file.suffix == ".json":
            file.write_text(json.dumps(self.spec), encoding="utf-8")
        elif file.suffix in (".png", ".svg", ".pdf"):
            file.write_bytes(_picture(self.spec, file.suffix[1:]))
        else:
            raise ValueError(f"save: the file is {file.name}, but must end in .html, .json, .png, .svg or .pdf")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {_MIME: self.spec, "text/plain": repr(self)} if self._drawn else {"text/plain": repr(self)}

    def __repr__(self) -> str:
        return f"Figures({', '.join(self._drawn)})"


def _picture(spec: dict[str, Any], kind: str) -> bytes:
    try:
        import vl_convert
    except ImportError:
        raise ImportError("save: a picture needs vl-convert-python: pip install vl-convert-python") from None
    convert = {"png": vl_convert.vegalite_to_png, "svg": vl_convert.vegalite_to_svg, "pdf": vl_convert.vegalite_to_pdf}
    options = {"scale": 2} if kind == "png" else {}
    made = convert[kind](json.dumps(spec), vl_version=_VEGA_LITE, **options)
    return made.encode() if isinstance(made, str) else made
