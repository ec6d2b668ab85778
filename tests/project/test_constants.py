"""Tunable constants stand in the tables of the rooms, with words, and nowhere else (turbo_fzn/tuning.py)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzz.thresholds import PACKAGE, TABLES
from support.places import ROOT
from turbo_fzn.engine.abi import kernel_tuning
from turbo_fzn.tuning import tunable

# What is no tunable constant says so on its line: a part of a formula, or of a format.
EXCUSE = re.compile(r"#.*\b(formula|format): \S")
ABI = PACKAGE / "engine" / "abi"  # all numbers there are of the format that host and kernels share
KERNELS = sorted(path for path in (ROOT / "kernels").rglob("*.[hc]*") if not path.name.endswith(("abi.h", "tuning.h")))
OF_C = re.compile(r"^\s*constexpr (?:i32|i64|u64|int|float|double|\w+_t) (\w+) = ([^;]*);(.*)", re.MULTILINE)
NUMBER_OF_C = re.compile(r"(?:\(\w+\)|[\s()+*/<-]|\b(?:0x)?[\d.][\w.+]*)+")
EXCUSE_OF_C = re.compile(r"  // (formula|format): \S")


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


def unexcused_in_c(text: str) -> list[str]:
    """The names of constants made of numbers alone, but for the least, which are signs, as -1 is."""
    found = (match.groups() for match in OF_C.finditer(text))
    return [
        name
        for name, value, rest in found
        if NUMBER_OF_C.fullmatch(value) and value not in ("-2", "-1", "0", "1", "2") and not EXCUSE_OF_C.match(rest)
    ]


def test_no_tunable_number_of_the_kernels_is_outside_of_a_table():
    found = {str(path.relative_to(ROOT)): unexcused_in_c(path.read_text(encoding="utf-8")) for path in KERNELS}
    assert {path: names for path, names in found.items() if names} == {}, "see engine/abi/kernel_tuning.py"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("constexpr i32 MOST = 64;", ["MOST"]),
        ("  constexpr i64 MOST = ((i64)1 << 30) - 1;  // of them", ["MOST"]),
        ("constexpr double SHARE = 1.0 / 32;\nconstexpr float PART = 0x1.8p+2f;", ["SHARE", "PART"]),
        ("constexpr i64 MOST = 1 << 20;  // format: an i32", []),
        ("constexpr i64 MOST = OTHER / 2;\nconstexpr i64 BYTES = sizeof(u32) + 8;\nconstexpr i32 NONE = -1;", []),
    ],
)
def test_a_number_of_the_kernels_outside_of_a_table_is_seen_unless_it_is_excused(text, names):
    assert unexcused_in_c(text) == names


def test_every_constant_of_the_kernels_tables_is_used():
    text = "\n".join(path.read_text(encoding="utf-8") for path in KERNELS)
    words = set(re.findall(r"\b[A-Z]\w+", text))
    assert [one.name for folder in kernel_tuning.TABLES for one in kernel_tuning.constants(folder)
            if one.name not in words] == []  # fmt: skip


def test_the_kernels_get_the_type_and_value_of_a_constant():
    printed = {one.name: f"{one.type} {one.value}" for one in kernel_tuning.constants("free")}
    assert printed["RESTART_UNIT"] == "i32 400" and printed["EVEN_SHARE"] == "float 0.3f"
    assert next(kernel_tuning.constants("repair")).type == "i64"


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
    assert [f"{room}.{name}" for room, table in TABLES.items() for name in table.rows if name not in read] == []


@pytest.mark.parametrize("room", TABLES)
def test_a_page_that_has_a_figure_exists(room):
    pages = [page for one in TABLES[room].rows.values() for page in re.findall(r"[\w/-]+\.md", one.measured)]
    assert [page for page in pages if not (Path(ROOT) / page).is_file()] == []
