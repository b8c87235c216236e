"""How objects look in a notebook: a title and two columns."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def table(title: str, rows: Mapping[str, Any]) -> str:
    """A small HTML table.

    >>> table("FNSE", {"prior": "x < 1"})
    '<table><caption>FNSE</caption><tr><th>prior</th><td>x &lt; 1</td></tr></table>'
    """
    body = "".join(
        f"<tr><th>{html.escape(str(name))}</th><td>{html.escape(str(value))}</td></tr>" for name, value in rows.items()
    )
    return f"<table><caption>{html.escape(title)}</caption>{body}</table>"


def grid(title: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """An HTML table with as many columns as its header.

    >>> grid("A", ["x"], [[1]])
    '<table><caption>A</caption><tr><th>x</th></tr><tr><td>1</td></tr></table>'
    """

    def line(cells: Iterable[Any], kind: str) -> str:
        return "<tr>" + "".join(f"<{kind}>{html.escape(str(cell))}</{kind}>" for cell in cells) + "</tr>"

    body = line(header, "th") + "".join(line(row, "td") for row in rows)
    return f"<table><caption>{html.escape(title)}</caption>{body}</table>"


def lines(texts: Iterable[str]) -> str:
    """Paragraphs.

    >>> lines(["a < b"])
    '<p>a &lt; b</p>'
    """
    return "".join(f"<p>{html.escape(text)}</p>" for text in texts)
