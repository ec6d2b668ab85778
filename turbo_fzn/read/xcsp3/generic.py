"""intension, extension, regular and mdd; instantiation and clause.

A table is read as columns of numbers, by NumPy, where it has nothing but integers; a cell may also be `*`, an interval
or a comparison with a constant (<=5, !=2), which makes it a table of intervals. Cells that compare columns are read by
hybrid.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from operator import itemgetter
from typing import Any

import numpy as np

from turbo_fzn.base.domains import INFINITY, IntSet
from turbo_fzn.base.errors import ModelError, UnsupportedError
from turbo_fzn.read.model import Array, Ref
from turbo_fzn.read.tuning import TUNING
from turbo_fzn.read.xcsp3.arguments import PLAIN, Arguments
from turbo_fzn.read.xcsp3.automata import mdd, regular
from turbo_fzn.read.xcsp3.emitter import Condition, Emitter, allowed_by, complement
from turbo_fzn.read.xcsp3.expressions import Linear, Term, as_comparison, to_integer
from turbo_fzn.read.xcsp3.hybrid import as_expression, compares_columns
from turbo_fzn.read.xcsp3.tokens import REST, Parameter, Scope, as_set, number_in

OTHERS = bytes(set(range(256)) - set(b"(),"))
BLANKS = bytes.maketrans(b"(),", b"   ")
LARGE, AS_ZEROS = b"0" * 19, bytes.maketrans(b"123456789", b"0" * 9)
UNUSUAL = (b"-,", b"-)", *b" \t\r\n+")
NOT_PLAIN = re.compile(rb"\d\s+\d|\d\s*[-+]|[-+](?!\d)|\d{19}")  # two numbers in a cell, a sign alone, a large number
TWO_WORDS = re.compile(rb"[^\s(),]\s+[^\s(),]")  # two words in one cell
CELL = re.compile(r"(<=|>=|<|>|!=|=|[@#!$~])?([+-]?\d+)|\^?(?:([+-]?\d+)\.\.([+-]?\d+)|\{([^{}]*)\})")
COMPARISON = {"<=": "le", ">=": "ge", "<": "lt", ">": "gt", "!=": "ne", "=": "eq", None: "eq"}
COMPARISON |= {"@": "le", "#": "ge", "$": "lt", "~": "gt", "!": "ne"}  # ≤ ≥ ﹤ ﹥ ≠, and ^ for ¬ (document.py)


def intension(a: Arguments) -> None:
    items = a.items_of(a.child("function") or a.element if a.element.children else a.element)
    if len(items) != 1:
        raise ModelError("an intension is one expression")
    if isinstance(items[0], Term):
        a.emitter.holds(items[0])
    else:
        a.emitter.compare(a.emitter.scalar(items[0]), "ne", 0)


def intensions(a: Arguments, members: Iterable[Sequence[Any]], are_plain: bool) -> None:
    """States the constraints of a group or a slide, fast for a template whose operands are all parameters. `are_plain`:
    each member has only names and integers, and enough of them."""
    e, (item, *_) = a.emitter, [*a.scope.items_in((a.child("function") or a.element).text), None]
    if type(item) is not Term or not all(map(_is_numbered, item.operands)):
        for a.values in members:
            intension(a)
        return
    expression, (operator, coefficients, k, places) = item.expression, as_comparison(item.expression) or UNKNOWN
    choose = _chooser([item.operands[i].number for i in places or range(len(item.operands))])
    chosen = map(choose, members) if are_plain else _plain_operands(a, members, choose)
    if places:
        e.state_all(operator, coefficients, map(list, chosen), k)
    else:
        for operands in chosen:
            e.holds(Term(expression, operands))


def _plain_operands(a: Arguments, members: Iterable[Sequence[Any]], choose: Callable[..., tuple]) -> Iterator[tuple]:
    """The operands of the members that are plain; the other members are stated one by one."""
    for a.values in members:
        operands = choose(a.values) if len(a.values) >= a.n_named else ()
        if operands and PLAIN.issuperset(map(type, operands)):
            yield operands
        else:
            intension(a)


UNKNOWN = Linear("", [], 0, [])


def _is_numbered(item: Any) -> bool:
    return isinstance(item, Parameter) and item != REST


def _chooser(numbers: list[int]) -> Callable[[Sequence[Any]], tuple]:
    """A function that returns the elements with these numbers as a tuple."""
    return itemgetter(*numbers) if len(numbers) > 1 else lambda values: tuple(values[i] for i in numbers)


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
        child.parsed = _table_of(a, child, len(items), supports)
    if type(child.parsed) is Term:
        e.holds(Term(child.parsed.expression, tuple(items[number_in(name)] for name in child.parsed.operands)))
        return
    name, width, n_rows, cells = child.parsed
    if width != len(items):
        raise ModelError(f"tuples of {width} values for {len(items)} variables")
    arguments = (items, n_rows, *cells)
    e.add(name, *arguments) if supports else e.add(f"{name}_reif", *arguments, False)


def _table_of(a: Arguments, child: Any, width: int, supports: bool) -> Any:
    """The table as `keep` returns it, or a Term if cells compare columns."""
    hybrid = a.element.attributes.get("type", "").strip() == "hybrid-2" and compares_columns(child.text)
    if not hybrid:
        return keep(a.emitter, _read_table(a.scope, child.text, width))
    rows = list(_read_rows(child.text, width))
    plain = {word for row in rows for word in row if not compares_columns(word)}
    return as_expression(rows, width, supports, {word: _read_cell(a.scope, word) for word in plain})


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


def _read_table(scope: Scope, text: str, width: int) -> tuple[str, int, int, list[np.ndarray]]:
    """(predicate, width, number of rows, cells)."""
    data = text.encode("ascii", "replace")
    marks = data.translate(None, OTHERS)
    n_rows = marks.count(b"(")
    as_expected = marks == (b"(" + b"," * (width - 1) + b")") * n_rows
    if as_expected and _is_plain(data):
        cells = np.fromstring(data.translate(BLANKS), np.int64, sep=" ") if n_rows else np.zeros(0, np.int64)
        if cells.size == n_rows * width:
            return "turbo_table_int", width, n_rows, [cells]
    is_simple = as_expected and b"{" not in data and not TWO_WORDS.search(data)
    ends = _single_intervals(scope, data.translate(BLANKS)) if is_simple else None
    if ends is None or len(ends) != n_rows * width:
        ends = _split_rows(scope, text, width)
    low, high = ends[:, 0], ends[:, 1]
    if (low == high).all():
        return "turbo_table_int", width, len(ends) // width, [low]
    return "turbo_table_interval", width, len(ends) // width, [low, high]


def _is_plain(data: bytes) -> bool:
    """Whether there are integers and blanks only, one integer in a cell. Nearly all tables have no blanks."""
    if data.translate(None, b"0123456789(),-+ \t\r\n"):
        return False
    is_usual = data.count(b"-") == data.count(b"(-") + data.count(b",-")
    if not is_usual or any(map(data.__contains__, UNUSUAL)):
        return not NOT_PLAIN.search(data)
    return LARGE not in data.translate(AS_ZEROS)


def _single_intervals(scope: Scope, data: bytes) -> np.ndarray | None:
    """The intervals of the words, one for each; None if a word is several intervals."""
    distinct: dict[bytes, int] = {}
    places = [np.zeros(0, np.int32)]
    start = 0
    while start < len(data):  # in pieces, since words take more memory than their text
        end = data.find(b" ", start + TUNING.piece_characters)
        words = data[start : end if end >= 0 else len(data)].split()
        for word in words:
            distinct.setdefault(word, len(distinct))
        places.append(np.fromiter(map(distinct.__getitem__, words), np.int32, len(words)))
        start = end if end >= 0 else len(data)
    intervals = [_read_cell(scope, word.decode()) for word in distinct]
    if any(len(one) != 1 for one in intervals):
        return None
    return np.array(intervals, np.int64).reshape(-1, 2)[np.concatenate(places)]


def _split_rows(scope: Scope, text: str, width: int) -> np.ndarray:
    """The intervals of all cells; a row with a cell of several intervals becomes several rows."""
    rows: list[tuple[int, int]] = []
    cells: dict[str, list[tuple[int, int]]] = {}
    for words in _read_rows(text, width):
        for word in words:
            if word not in cells:
                cells[word] = _read_cell(scope, word)
        for row in product(*(cells[word] for word in words)):
            rows += row
        if len(rows) > TUNING.list_items:
            raise UnsupportedError(
                f"a table of more than {TUNING.list_items} cells, some of which are several intervals"
            )
    return np.array(rows, np.int64).reshape(-1, 2)


def _read_rows(text: str, width: int) -> Iterator[list[str]]:
    """The words of each tuple."""
    for line in re.split(r"\)\s*\(", text.strip().removeprefix("(").removesuffix(")")):
        words = re.split(r"\s*,\s*(?![^{]*\})", line.strip())
        if len(words) != width:
            raise ModelError(f"a tuple of {len(words)} values for {width} variables")
        yield words


def _read_cell(scope: Scope, word: str) -> list[tuple[int, int]]:
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


# Constraints that need only names


def instantiation(a: Arguments) -> None:
    items, values = a.scalars(), a.scalars("values")
    if len(items) != len(values):
        raise ModelError(f"an instantiation of {len(items)} variables by {len(values)} values")
    for item, value in zip(items, values):
        a.emitter.add("int_eq", item, value)


def clause(a: Arguments) -> None:
    """States that a literal holds: a 0-1 variable, or its negation not(…)."""
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
