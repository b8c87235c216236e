"""Docstrings for the site: an extension of griffe that fences their examples, which Markdown would take for quotations, and keeps
brackets and stars from being taken for links and emphasis."""

import re

import griffe


def fenced(text):
    """Lines of `>>>` with what they print, as a block of code; a blank line ends it."""
    lines, inside = [], False
    for line in text.split("\n"):
        if not inside and line.lstrip().startswith(">>>"):
            lines += ["", "```pycon"]
            inside = True
        elif inside and not line.strip():
            lines.append("```")
            inside = False
        lines.append(line if inside else re.sub(r"([\[\]*])", r"\\\1", line))
    return "\n".join(lines + ["```"] * inside)


class Docstrings(griffe.Extension):
    def on_instance(self, *, node, obj, agent, **kwargs):
        if obj.docstring:
            obj.docstring.value = fenced(obj.docstring.value)
