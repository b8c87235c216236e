"""The guides' examples run: every fenced bash and python block of README, docs/guide and docs/extensions, page by page in an empty folder, with budgets
and steps cut so that a page takes seconds. The site builds without a warning, where MkDocs is installed."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GUIDES = [ROOT / "README.md", *sorted((ROOT / "docs/guide").glob("*.md")), *sorted((ROOT / "docs/extensions").glob("*.md"))]
BLOCK = re.compile(r"^```(bash|python)\n(.*?)^```", re.M | re.S)


def cut(pattern, most, text):
    """Numbers after the pattern, at most `most`."""
    return re.sub(pattern + r"([0-9_]+)", lambda m: f"{m.group(1)}{min(most, int(m.group(2)))}", text)


def quick_bash(text):
    text = cut(r"(simulate [^\n]*--budget )", 2000, cut(r"(-n )", 200, cut(r"(--series )", 10, cut(r"(--draws )", 20, text))))
    # Series of a test may be short, but what a proposal simulates may not.
    text = re.sub(r"^catena observe .*$", lambda m: cut(r"(--transitions )", 8, m.group()), text, flags=re.M)
    text = cut(r"(--embedding-steps )", 40, text)
    return re.sub(r"^(catena train .*)$", r"\1 --steps 200", text, flags=re.M)


def quick_python(text):
    text = cut(r"(?<!series, )(budget=)", 2000, cut(r"(\.sample\(\()", 200, text))
    text = cut(r"(embedding_steps=)", 40, text)
    return re.sub(r"\.train\((?!steps)(\)?)", lambda m: ".train(steps=200" + (")" if m.group(1) else ", "), text)


def blocks_of(page):
    return [(m.group(1), m.group(2)) for m in BLOCK.finditer(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", [p for p in GUIDES if blocks_of(p)], ids=lambda p: p.stem)
def test_the_examples_of_a_guide_run(page, program, tmp_path):
    blocks = blocks_of(page)
    environment = os.environ | {
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "CATENA_SOURCE": str(ROOT), "MPLBACKEND": "Agg",
    }
    if any(kind == "python" and re.search(r"^\s*(import|from) catena", text, re.M) for kind, text in blocks):
        package = pytest.importorskip("catena", reason="the Python package is not built")
        paths = [str(pathlib.Path(package.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/catena").symlink_to(program.resolve())
    folder = tmp_path / "work"
    folder.mkdir()
    # One interpreter for the page, so that later blocks see what earlier ones made; bash blocks in their places.
    script = ["import subprocess"]
    for kind, text in blocks:
        if kind == "bash":
            script.append(f"subprocess.run(['bash', '-euc', {quick_bash(text)!r}], check=True)")
        else:
            script.append(quick_python(text))
    (folder / "page.py").write_text("\n".join(script), encoding="utf-8")
    result = subprocess.run(
        [sys.executable, "-W", "error", "-W", "ignore::FutureWarning", "-W", "ignore:Estimated shape parameter:UserWarning", "page.py"], cwd=folder, env=environment, capture_output=True, text=True, timeout=600
    )
    assert result.returncode == 0, f"{result.stdout}\n{result.stderr}"


def test_the_cpp_guide_shows_the_example_that_is_built():
    shown = re.search(r"```cpp\n(.*?)```", (ROOT / "docs/guide/simulator-cpp.md").read_text(encoding="utf-8"), re.S).group(1)
    assert (ROOT / "examples/simulator/ricker.cpp").read_text(encoding="utf-8").endswith("\n" + shown)


KEY = re.compile(r"\b([a-z]+(?:19|20)\d\d[a-z]*)\b")


def test_every_key_in_the_pages_and_in_the_code_is_in_the_bibliography():
    known = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "docs/refs.bib").read_text(encoding="utf-8"), re.M))
    texts = {page: page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md")}
    for source in (ROOT / "src").rglob("*.[hc]*"):
        texts[source] = " ".join(re.findall(r"docs/refs\.bib:([^)]*)\)", source.read_text(encoding="utf-8")))
    missing = {f"{file.relative_to(ROOT)}: {key}" for file, text in texts.items() for key in KEY.findall(text) if key not in known}
    assert not missing


def test_the_site_builds_without_a_warning(program, tmp_path):
    pytest.importorskip("mkdocs", reason="MkDocs is not installed: run tools/setup docs")
    result = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path / "site"],
        cwd=ROOT, env=os.environ | {"CATENA_PROGRAM": str(program), "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, timeout=300,
    )
    assert result.returncode == 0 and "WARNING" not in result.stderr, result.stderr
    home = (tmp_path / "site/index.html").read_text(encoding="utf-8")
    assert not re.search(r'(src|href)="https?://[^"]*\.(js|css|woff)', home), "pages must not load anything from the network"
    assert "--budget" in (tmp_path / "site/reference/command-line.html").read_text(encoding="utf-8")
    assert "--learning-rate" in (tmp_path / "site/reference/settings.html").read_text(encoding="utf-8")
