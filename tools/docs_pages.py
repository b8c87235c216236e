"""The pages of the site that are made from the code, as a hook of MkDocs: the command line from `--help`, all settings from the
registries (`catena settings --json`), the version history from CHANGELOG.md. Links to files outside of docs/ lead to the source text.

The program is build/catena, or CATENA_PROGRAM.
"""

import html
import json
import os
import pathlib
import re
import subprocess

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = pathlib.Path(os.environ.get("CATENA_PROGRAM", ROOT / "build/catena"))


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=True, timeout=60).stdout


def command_line():
    overview = run("--help")
    verbs = re.findall(r"^  ([a-z-]+)  ", overview.split("Subcommands:")[1] if "Subcommands:" in overview else overview, re.M)
    page = ["# Command line", "", "What `--help` prints, for the program and each of its verbs.", "", "```text", overview.rstrip(), "```", ""]
    for verb in dict.fromkeys(verbs):
        page += [f"## catena {verb}", "", "```text", run(verb, "--help").rstrip(), "```", ""]
    return "\n".join(page)


def cell(text):
    return html.escape(str(text)).replace("|", "\\|").replace("\n", " ")


def settings():
    page = [
        "# Settings",
        "",
        "Everything that can be chosen and set, with defaults and bounds: `catena settings` prints the same list. In Python a flag",
        "`--learning-rate` is the keyword `learning_rate`.",
        "",
    ]
    for group in json.loads(run("settings", "--json"))["groups"]:
        page += [f"## {group['title']}", "", f"`catena {group['verb']}`", ""]
        plain = [entry for entry in group["entries"] if not entry["settings"]]
        if plain:
            page += ["| name | |", "|---|---|"]
            page += [f"| `{entry['name']}` | {cell(entry.get('help', ''))} |" for entry in plain]
            page += [""]
        for entry in group["entries"]:
            if not entry["settings"]:
                continue
            page += [f"### {entry['name']}", ""]
            if entry.get("help"):
                page += [cell(entry["help"]), ""]
            page += ["| flag | what | default | must be |", "|---|---|---|---|"]
            for field in entry["settings"]:
                row = (f"`{field['flag']}`", cell(field["help"]), f"`{field['default']}`" if field["default"] else "", cell(field["must_be"]))
                page += [f"| {' | '.join(row)} |"]
            page += [""]
    return "\n".join(page)


PAGES = {"reference/command-line.md": command_line, "reference/settings.md": settings}


def names_in(nav):
    for entry in nav if isinstance(nav, list) else [nav]:
        if isinstance(entry, dict):
            for value in entry.values():
                yield from names_in(value)
        else:
            yield entry


def on_config(config):
    """Pages of methods, docs/*.md, find their way into the navigation by themselves."""
    known = set(names_in(config.nav))
    practice = next(entry["In practice"] for entry in config.nav if "In practice" in entry)
    for page in sorted(pathlib.Path(config.docs_dir).glob("*.md")):
        if page.name not in known:
            practice.append(page.name)
    return config


def on_files(files, config):
    for name, make in PAGES.items():
        files.append(File.generated(config, name, content=make()))
    return files


def typeset(text):
    """x^(t+1) and θ_a with raised and lowered letters: one letter before, and no code around."""
    text = re.sub(r"(?<![\w^])(\w[\u0300-\u036f]?)\^(?:\(([^()]+)\)|\{([^{}]+)\}|([tT])(?!\w))", lambda m: f"{m[1]}<sup>{m[2] or m[3] or m[4]}</sup>", text)
    return re.sub(r"(?<![\w`])([A-Za-zΑ-ω∇])_(?:\{([^{}]+)\}|([a-zA-Z]{1,2})(?!\w))", lambda m: f"{m[1]}<sub>{m[2] or m[3]}</sub>", text)


def on_page_markdown(markdown, page, config, files):
    """Links that leave docs/ (../src/…, ../CONTRIBUTING.md) become their text, as the site holds no source; letters outside of
    code are set as mathematics."""
    depth = page.file.src_uri.count("/")
    outside = re.compile(r"\[([^\]]+)\]\(" + r"\.\./" * (depth + 1) + r"[^)]*\)")
    bibliography = re.compile(r"\[([^\]]+)\]\((?:\.\./)*refs\.bib\)")
    markdown = bibliography.sub(r"`docs/\1`", outside.sub(r"`\1`", markdown))
    # Fenced blocks, indented blocks and `code` stay as they are.
    parts = re.split(r"(^```.*?^```|^(?: {4}|\t)[^\n]*$|`[^`\n]+`)", markdown, flags=re.M | re.S)
    return "".join(part if i % 2 else typeset(part) for i, part in enumerate(parts))
