"""The book is true: its Python blocks run, one after another on each page, and print what the page shows.

They run in a folder that has a copy of `examples/`. `…` in what a page shows stands for anything, and on a line by itself for any number
of lines. The page of the API is written by `python_page.py`; after a change write it again:
`RARELY_WRITE_PAGES=1 python -m pytest crates/rarely-python/tests/test_book.py -k api`.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from python_page import page

ROOT = Path(__file__).parents[3]
BOOK = ROOT / "docs"
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
PAGES = sorted(path for path in BOOK.rglob("*.md") if "<!-- Written by" not in path.read_text(encoding="utf-8"))
#: Pages whose Python blocks show calls on engines and services that a test does not have.
NOT_RUN = {"engines.md": "Spark, SQLAlchemy and Dask: crates/rarely-python/tests/test_engines.py runs these calls"}


def agrees(shown: list[str], printed: list[str]) -> bool:
    """Whether what was printed is what is shown."""
    if not shown:
        return not printed
    if shown[0] == "…":
        return any(agrees(shown[1:], printed[skipped:]) for skipped in range(len(printed) + 1))
    pattern = ".*?".join(re.escape(part) for part in shown[0].split("…"))
    return bool(printed) and re.fullmatch(pattern, printed[0]) is not None and agrees(shown[1:], printed[1:])


def blocks(path: Path) -> list[tuple[int, str, str]]:
    """The fenced blocks of a page: line, language, text."""
    text = path.read_text(encoding="utf-8")
    return [(text.count("\n", 0, found.start()) + 1, found[1], found[2]) for found in FENCED.finditer(text)]


def with_python(path: Path) -> bool:
    return path.name not in NOT_RUN and any(language == "python" for _, language, _ in blocks(path))


@pytest.mark.parametrize("path", list(filter(with_python, PAGES)), ids=lambda path: str(path.relative_to(BOOK)))
def test_page(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    found = blocks(path)
    for at, (line, language, text) in enumerate(found):
        if language != "python":
            continue
        exec(compile(text, f"{path}:{line}", "exec"), names)
        printed = capsys.readouterr().out.splitlines()
        if at + 1 < len(found) and found[at + 1][1] == "text":
            shown = found[at + 1][2].splitlines()
            assert agrees(shown, [one.rstrip() for one in printed]), f"{path}:{line} prints\n" + "\n".join(printed)


def test_there_are_pages_with_python() -> None:
    assert len(list(filter(with_python, PAGES))) >= 4
    assert all(any(path.name == name for path in PAGES) for name in NOT_RUN)


def test_a_block_agrees_with_what_it_shows() -> None:
    assert agrees(["a", "…", "d"], ["a", "b", "c", "d"])
    assert agrees(["in … s, 3 rows"], ["in 0.2 s, 3 rows"])
    assert not agrees(["a"], ["a", "b"])
    assert not agrees(["…", "d"], ["a"])


def test_the_page_of_the_api() -> None:
    path = BOOK / "reference" / "python-api.md"
    if os.environ.get("RARELY_WRITE_PAGES"):
        path.write_text(page(), encoding="utf-8")
    assert path.read_text(encoding="utf-8") == page(), "write it again: see the beginning of this file"
