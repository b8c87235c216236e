"""How objects look in a notebook: a title and two columns."""

from __future__ import annotations

import html
from collections.abc import Mapping
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
