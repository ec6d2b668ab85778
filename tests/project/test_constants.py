"""Tunable constants stand in the tables of the rooms, with words, and nowhere else (turbo_fzn/tuning.py)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from fuzz.thresholds import PACKAGE, TABLES
from support.places import ROOT
from turbo_fzn.tuning import tunable

# What is no tunable constant says so on its line: a part of a formula, or of a format.
EXCUSE = re.compile(r"#.*\b(formula|format): \S")
ABI = PACKAGE / "engine" / "abi"  # all numbers there are of the format that host and kernels share


def numbers(text: str) -> Iterator[tuple[str, str]]:
    """(name, line) of each number, or tuple of numbers, that a source defines at the level of a module."""
    lines = text.splitlines()
    for node in ast.parse(text).body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                yield from ((name, lines[node.lineno - 1]) for name in numeric(target, node.value))


def numeric(target: ast.expr, value: ast.expr) -> Iterator[str]:
    """The names among the targets of an assignment that get numbers."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, part in zip(target.elts, value.elts):
            yield from numeric(one, part)
    elif isinstance(target, ast.Name) and is_number(value):
        yield target.id


def is_number(expression: ast.expr) -> bool:
    """Whether it is made of numbers alone, as 2**20, 1 / 3 and (1, 2) are."""
    if isinstance(expression, ast.Tuple):
        return bool(expression.elts) and all(map(is_number, expression.elts))
    if isinstance(expression, ast.BinOp):
        return is_number(expression.left) and is_number(expression.right)
    if isinstance(expression, ast.UnaryOp):
        return is_number(expression.operand)
    return isinstance(expression, ast.Constant) and type(expression.value) in (int, float)


def unexcused(text: str) -> list[str]:
    return [name for name, line in numbers(text) if not EXCUSE.search(line)]


def test_no_tunable_number_is_outside_of_a_table():
    found = {
        str(path.relative_to(ROOT)): unexcused(path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
        if ABI not in path.parents
    }
    assert {path: names for path, names in found.items() if names} == {}, "see turbo_fzn/tuning.py"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("MOST = 3", ["MOST"]),
        ("MOST: int = -(2**31)", ["MOST"]),
        ("PART, NAME, REST = 0.2, 'a', 1 / 3  # of the time", ["PART", "REST"]),
        ("STEPS = ((0, 1), (2, 3))", ["STEPS"]),
        ("MOST = 3  # formula: of a square", []),
        ("MOST = 3  # format: bytes of a head", []),
        ("MOST = 3  # format:", ["MOST"]),
        ("NAME, WORDS = 'a', ('b', 1)\nHALF = [2]\nIS_ON = True\ndef f():\n    x = 3\n", []),
    ],
)
def test_a_number_outside_of_a_table_is_seen_unless_it_is_excused(text, names):
    assert unexcused(text) == names


@pytest.mark.parametrize(
    "words",
    [
        {"unit": "", "trades": "rows against time", "tried": (1,)},
        {"unit": "rows", "trades": "", "tried": (1,)},
        {"unit": "rows", "trades": "rows against time"},
        {"unit": "rows", "trades": "rows against time", "tried": (1,), "kept": "it is never met"},
    ],
)
def test_a_constant_without_its_words_is_refused(words):
    with pytest.raises(ValueError, match="a constant has a unit"):
        tunable(3, **words)


def test_every_constant_of_a_table_is_read_by_the_code():
    """By its name, since a module of another room may read it."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py") if path.name != "tuning.py")
    read = set(re.findall(r"\b[A-Z]+\.(\w+)", text))
    assert [
        f"{room}.{one.name}" for room, table in TABLES.items() for one in fields(table) if one.name not in read
    ] == []


@pytest.mark.parametrize("room", TABLES)
def test_a_page_that_has_a_figure_exists(room):
    pages = [page for one in fields(TABLES[room]) for page in re.findall(r"[\w/-]+\.md", one.metadata["measured"])]
    assert [page for page in pages if not (Path(ROOT) / page).is_file()] == []
