"""Every promise of docs/guide/minizinc.md has a test that names it, and every test names promises that are there."""

from __future__ import annotations

import re

from support.places import ROOT, TESTS

DOCUMENT = ROOT / "docs" / "guide" / "minizinc.md"


def promised() -> list[str]:
    return re.findall(r"^\| ([A-Z]\d+) \| ", DOCUMENT.read_text(), re.MULTILINE)


def covered() -> dict[str, set[str]]:
    """Each id that a marker names, and the files where it does."""
    found: dict[str, set[str]] = {}
    for path in TESTS.rglob("test_*.py"):
        for arguments in re.findall(r"^@pytest\.mark\.covers\(([^)]*)\)$", path.read_text(), re.MULTILINE):
            for name in re.findall(r'"(\w+)"', arguments):
                found.setdefault(name, set()).add(path.name)
    return found


def test_the_lines_of_the_document_are_numbered_without_repetition():
    ids = promised()
    assert len(ids) == len(set(ids)) > 100
    for letter in {name[0] for name in ids}:
        numbers = [int(name[1:]) for name in ids if name[0] == letter]
        assert numbers == list(range(1, len(numbers) + 1)), letter


def test_every_line_of_the_document_has_a_test_that_names_it():
    assert sorted(set(promised()) - covered().keys()) == []


def test_every_test_names_lines_that_are_there():
    assert sorted(covered().keys() - set(promised())) == []
