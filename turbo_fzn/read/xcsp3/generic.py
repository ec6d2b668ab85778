"""intension, extension, regular and mdd; instantiation and clause.

A table is read as columns of numbers, by NumPy, where it has nothing but integers; a cell may also be `*`, an interval
or a comparison with a constant (<=5, !=2), which makes it a table of intervals.
"""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import numpy as np

from turbo_fzn.domains import INFINITY, IntSet
from turbo_fzn.errors import ModelError, UnsupportedError
from turbo_fzn.read.model import Array, Ref
from turbo_fzn.read.xcsp3.arguments import Arguments
from turbo_fzn.read.xcsp3.automata import mdd, regular
from turbo_fzn.read.xcsp3.emitter import Condition, Emitter, allowed_by, complement
from turbo_fzn.read.xcsp3.expressions import Term, to_integer
from turbo_fzn.read.xcsp3.tokens import Scope, as_set

PLAIN_TABLE = re.compile(r"[-+\d,()\s]*")
CELL = re.compile(r"(<=|>=|<|>|!=|=|[@#!$~])?([+-]?\d+)|\^?(?:([+-]?\d+)\.\.([+-]?\d+)|\{([^{}]*)\})")
COMPARISON = {"<=": "le", ">=": "ge", "<": "lt", ">": "gt", "!=": "ne", "=": "eq", None: "eq"}
COMPARISON |= {"@": "le", "#": "ge", "$": "lt", "~": "gt", "!": "ne"}  # ≤ ≥ ﹤ ﹥ ≠, and ^ for ¬ (document.py)
MAX_SPLIT_ROWS = 10**6


def intension(a: Arguments) -> None:
    child = a.child("function") or a.element
    items = a.items_of(child)
    if len(items) != 1:
        raise ModelError("an intension is one expression")
    if isinstance(items[0], Term):
        a.emitter.holds(items[0])
    else:
        a.emitter.compare(a.emitter.scalar(items[0]), "ne", 0)


# Tables


def extension(a: Arguments) -> None:
    if a.element.attributes.get("type", "hybrid-1").strip() not in ("hybrid-1", "hybrid-2"):
        raise UnsupportedError(f"an <extension> of type {a.element.attributes['type'][:40]} is not read")
    e, items = a.emitter, a.scalars()
    child = a.child("supports") or a.needed("conflicts")
    supports = child.name == "supports"
    if not items:
        raise ModelError("an extension over an empty list")
    if len(items) == 1 and not child.text.startswith("("):
        unary(a, items[0], child, supports)
        return
    if child.parsed is None:
        child.parsed = keep(e, read_table(a.scope, child.text, len(items)))
    name, width, n_rows, cells = child.parsed
    if width != len(items):
        raise ModelError(f"tuples of {width} values for {len(items)} variables")
    arguments = (items, n_rows, *cells)
    e.add(name, *arguments) if supports else e.add(f"{name}_reif", *arguments, False)


def unary(a: Arguments, item: Ref | int, child: Any, supports: bool) -> None:
    if child.parsed is None:
        child.parsed = IntSet.of_ranges(pair for one in a.scope.items_in(child.text) for pair in as_set(one).ranges)
    a.emitter.require(item, Condition("in" if supports else "notin", child.parsed))


def keep(e: Emitter, table: tuple[str, int, int, list[np.ndarray]]) -> tuple[str, int, int, list[Ref]]:
    """The cells as arrays of the model, so that constraints of a group share them."""
    name, width, n_rows, columns = table
    names = []
    for cells in columns:
        names.append(Ref(f"#{len(e.model.arrays)}"))
        e.model.arrays[names[-1]] = Array(names[-1], "int", False, None, cells.tolist(), [], e.position)
    return name, width, n_rows, names


def read_table(scope: Scope, text: str, width: int) -> tuple[str, int, int, list[np.ndarray]]:
    """(predicate, width, number of rows, cells)."""
    if PLAIN_TABLE.fullmatch(text):
        return "turbo_table_int", *plain_table(text, width)
    rows: list[list[tuple[int, int]]] = []
    cells: dict[str, list[tuple[int, int]]] = {}
    for line in re.split(r"\)\s*\(", text.strip().removeprefix("(").removesuffix(")")):
        words = re.split(r"\s*,\s*(?![^{]*\})", line.strip())
        if len(words) != width:
            raise ModelError(f"a tuple of {len(words)} values for {width} variables")
        for word in words:
            if word not in cells:
                cells[word] = read_cell(scope, word)
        rows += product(*(cells[word] for word in words))  # type: ignore[arg-type]
        if len(rows) > MAX_SPLIT_ROWS:
            raise UnsupportedError(f"a table of more than {MAX_SPLIT_ROWS} tuples that are not all integers")
    ends = np.array(rows, np.int64).reshape(-1, 2)
    if (ends[:, 0] == ends[:, 1]).all():
        return "turbo_table_int", width, len(rows), [ends[:, 0]]
    return "turbo_table_interval", width, len(rows), [ends[:, 0], ends[:, 1]]


def plain_table(text: str, width: int) -> tuple[int, int, list[np.ndarray]]:
    """A table of integers; the separators must be where the shape says that they are."""
    words = text.replace("(", " ( ").replace(")", " ) ").replace(",", " , ").split() if len(text) < 200 else None
    marks = re.sub(r"[-+\d\s]", "", text)
    row = "(" + "," * (width - 1) + ")"
    n_rows = marks.count("(")
    numbers = text.translate(str.maketrans("(),", "   ")).split()
    if marks != row * n_rows or len(numbers) != width * n_rows or words == []:
        if not text:
            return width, 0, [np.zeros(0, np.int64)]
        raise ModelError(f"the tuples of a table are not all of {width} integers")
    try:
        cells = np.array(numbers, np.int64)
    except (ValueError, OverflowError):
        raise ModelError("a table has what is no integer of 64 bits") from None
    return width, n_rows, [cells]


def read_cell(scope: Scope, word: str) -> list[tuple[int, int]]:
    """The values of a cell, as intervals."""
    match = CELL.fullmatch(word)
    if word == "*":
        return [(-INFINITY, INFINITY)]
    if match is None:
        if word in scope.symbols:
            return [(scope.symbols[word], scope.symbols[word])]
        raise UnsupportedError(f"the cell `{word[:40]}` of a table is not read")
    operator, number, low, high, members = match.groups()
    if number is None:
        inside = scope.set_of(f"{{{members}}}") if low is None else IntSet.interval(to_integer(low), to_integer(high))
        return list((complement(inside) if word[0] == "^" else inside).ranges)
    allowed = allowed_by(Condition(COMPARISON[operator], to_integer(number)))
    assert allowed is not None, "the operand is a constant"
    return list(allowed.ranges)


# What needs no more than names


def instantiation(a: Arguments) -> None:
    items, values = a.scalars(), a.scalars("values")
    if len(items) != len(values):
        raise ModelError(f"an instantiation of {len(items)} variables by {len(values)} values")
    for item, value in zip(items, values):
        a.emitter.add("int_eq", item, value)


def clause(a: Arguments) -> None:
    """Some literal holds: a variable of 0 and 1, or not(…) of one."""
    literals = a.scalars()
    a.emitter.linear("ge", [1] * len(literals), literals, 1)


CONSTRAINTS = {
    "intension": (intension, "function", ""),
    "extension": (extension, "list supports conflicts", "type"),
    "regular": (regular, "list transitions start final", ""),
    "mdd": (mdd, "list transitions", ""),
    "instantiation": (instantiation, "list values", ""),
    "clause": (clause, "list", ""),
}
