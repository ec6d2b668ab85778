"""What makes the documentation's site and its still of a terminal; `make docs` builds the site itself."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType, SimpleNamespace
from xml.etree import ElementTree

import pytest

from support.places import ROOT

SITE = ROOT / "site"


def load(name: str) -> ModuleType:
    """A file of site/, which is no package."""
    spec = importlib.util.spec_from_file_location(f"site_{name}", SITE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("place", "before", "after"),
    [
        ("a.md", "[x.py](../turbo_fzn/x.py) and [b](b.md#c)", "`x.py` and [b](b.md#c)"),
        ("howto/a.md", "[b](../b.md) and [x.py](../../tests/x.py)", "[b](../b.md) and `x.py`"),
    ],
)
def test_links_to_sources_become_names(place, before, after):
    page = SimpleNamespace(file=SimpleNamespace(src_uri=place))
    assert load("hooks").on_page_markdown(before, page=page) == after


@pytest.mark.parametrize(
    "text",
    ['<script src="https://a.org/x.js">', "<script async src=//a.org/x.js>", '<link rel=x href="http://a.org/x.css">',
     "<img alt='' src='https://a.org/x.png'>"],
)  # fmt: skip
def test_what_is_fetched_from_elsewhere_is_seen(text):
    assert load("check").FETCHED.search(text)
    assert not load("check").FETCHED.search('<a href="https://a.org">a</a><script src="assets/x.js"></script>')
    assert load("check").FETCHED_BY_STYLE.search("@font-face { src: url(https://a.org/x.woff) }")


def test_a_site_that_lacks_pages_is_complained_of(tmp_path, monkeypatch):
    check = load("check")
    monkeypatch.setattr(check, "SITE", tmp_path)
    found = list(check.complaints())
    assert any("index.html was not built" in line for line in found) and "there is no search index" in found


def test_lines_of_a_terminal_stand_as_they_are_at_the_end():
    terminal = load("terminal")
    assert terminal.screen("a\r\nwrong\r\x1b[Kright\r\n\x1b[1mb\x1b[0m") == ["a", "right", "b"]


def test_what_a_command_writes_to_its_terminal_is_drawn():
    terminal = load("terminal")
    script = "import os, sys; print(sys.stderr.isatty(), os.get_terminal_size().columns, '<&>')"
    lines = terminal.screen(terminal.watch([sys.executable, "-c", script], 60))
    root = ElementTree.fromstring(terminal.draw("python -c ...", lines))
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[:2] == ["$ python -c ...", f"True {terminal.COLUMNS} <&>"]


def test_a_command_that_goes_on_is_ended():
    terminal = load("terminal")
    text = terminal.watch([sys.executable, "-u", "-c", "print('begun')\nwhile True: pass"], 1)
    assert terminal.screen(text)[0] in ("begun", "")
