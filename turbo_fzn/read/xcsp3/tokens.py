"""Reads the text between tags into items: names, integers, intervals, expressions, conditions, parameters of templates.

The compact notations of XCSP3 (section on arrays, and on sequences of values): `x[]` and `x[1..3][2]` are several
variables, `3x5` is 3 five times, `1..5` is an interval, `%0` is the first argument of a template and `%...` are those
after the last one that the template names. Each distinct word is analysed only once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, product
from typing import Any, NamedTuple

from turbo_fzn.base.domains import IntSet
from turbo_fzn.base.errors import ModelError
from turbo_fzn.read.model import Expression, Ref
from turbo_fzn.read.tuning import TUNING
from turbo_fzn.read.xcsp3.emitter import Condition
from turbo_fzn.read.xcsp3.expressions import OPERAND, Term, read_expression, to_integer

INTEGER = re.compile(r"[+-]?\d+")
RUN = re.compile(r"([+-]?\d+)x(\d+)")
INTERVAL = re.compile(r"([+-]?\d+)\.\.([+-]?\d+)")
CELLS = re.compile(r"([A-Za-z]\w*)((?:\[[^\]]*\])+)")
NAME = re.compile(r"[A-Za-z]\w*")
OPERATORS = ("lt", "le", "ge", "gt", "eq", "ne", "in", "notin")
COMPARISONS = OPERATORS[:6]


class Parameter(NamedTuple):
    """`%0`, `%1`, …, and -1 for `%...`."""

    number: int


REST = Parameter(-1)
SCALARS = frozenset((int, Ref, Parameter))


@dataclass
class Cells:
    """An array: `members` row by row, None where it has no variable."""

    sizes: tuple[int, ...]
    members: list[Ref | None]

    def slice(self, ranges: Sequence[range]) -> list[Ref]:
        """The members with indices in the ranges, row by row."""
        strides = [1] * len(self.sizes)
        for place in range(len(self.sizes) - 1, 0, -1):
            strides[place - 1] = strides[place] * self.sizes[place]
        spans = [[i * stride for i in one] for one, stride in zip(ranges, strides)]
        found = [self.members[sum(place)] for place in product(*spans)]
        return [one for one in found if one is not None]


@dataclass
class Scope(dict[str, tuple]):
    """The names of an instance; as a dictionary, from a word to the items that it stands for."""

    single: dict[str, Any] = field(default_factory=dict)  # words that were found to stand for one item
    unnamed: dict[str, Ref] = field(default_factory=dict)  # variables that are declared and that no word has named yet
    arrays: dict[str, Cells] = field(default_factory=dict)
    shapes: dict[tuple, Expression] = field(default_factory=dict)
    symbols: dict[str, int] = field(default_factory=dict)  # values of symbolic variables, numbered as they come

    def __missing__(self, word: str) -> tuple:
        if word in self.unnamed:
            return (self.name(self.unnamed[word]),)
        items = self[word] = self.read(word)
        if len(items) == 1:
            self.single[word] = items[0]
        return items

    def name(self, variable: Ref) -> Ref:
        """Notes that something names this variable."""
        self.unnamed.pop(variable, None)
        self.single[variable] = variable
        return variable

    def read(self, word: str) -> tuple:
        if word in self.single:
            return (self.single[word],)
        if "(" in word:
            return (self.expression(word),)
        if INTEGER.fullmatch(word):
            return (to_integer(word),)
        if word[0] == "%":
            return (REST if word == "%..." else Parameter(number_in(word)),)
        if (match := RUN.fullmatch(word)) is not None:
            count = to_integer(match[2])
            refuse_many(count)
            return (to_integer(match[1]),) * count
        if (match := INTERVAL.fullmatch(word)) is not None:
            interval = IntSet.interval(to_integer(match[1]), to_integer(match[2]))
            if not interval:
                raise ModelError(f"the interval {word[:40]} is empty")
            return (interval,)
        if word[0] == "{":
            return (self.set_of(word),)
        if (match := CELLS.fullmatch(word)) is not None:
            return tuple(self.cells(match[1], match[2]))
        if word in self.symbols:
            return (self.symbols[word],)
        raise ModelError(f"undefined identifier `{word}`" if NAME.match(word) else f"unexpected `{word[:40]}`")

    def items_in(self, text: str) -> list:
        """The items of a list."""
        words = text.split()
        if "(" in text or "{" in text:
            if not _are_whole(text, words):
                words = split(text)
            if len(words) == 1 and "(" in text:
                return [self.expression(text)]
        try:
            return list(map(self.single.__getitem__, words))
        except KeyError:  # some word is new, or stands for several
            pass
        found: list = []
        for word in words:
            if "(" in word:
                found.append(self.expression(word))  # not kept: there may be many
                continue
            found += self[word]
            if len(found) > TUNING.list_items:
                refuse_many(len(found))
        return found

    def item(self, text: str) -> Any:
        """The only item."""
        found = self.items_in(text)
        if len(found) != 1:
            raise ModelError(f"expected one value, found {len(found)}")
        return found[0]

    def ranges(self, name: str, brackets: str) -> list[range]:
        """`[1..3][][2]` of an array."""
        if name not in self.arrays:
            raise ModelError(f"undefined array `{name}`")
        sizes, indices = self.arrays[name].sizes, brackets[1:-1].split("][")
        if len(indices) != len(sizes):
            raise ModelError(f"`{name}{brackets[:40]}`: the array has {len(sizes)} dimensions")
        return [_index_range(index.strip(), size, name) for index, size in zip(indices, sizes)]

    def cells(self, name: str, brackets: str) -> list[Ref]:
        ranges = self.ranges(name, brackets)
        return self.sliced(self.arrays[name], ranges) if ranges else []

    def sliced(self, cells: Cells, ranges: Sequence[range]) -> list[Ref]:
        return [self.name(one) if one in self.unnamed else one for one in cells.slice(ranges)]

    def expression(self, word: str) -> Any:
        """A condition or a tuple, or a term, its operands resolved."""
        if word[0] == "(":
            return self.pair(word)
        if word.count("(") == 1:
            head, _, tail = word.partition(",")
            operator, _, first = head.partition("(")
            name, known = self.single.get(first), self.shapes.get((operator, tail))
            if known is not None and type(name) is Ref:  # such as eq(x,5), which long lists repeat
                return Term(known, (name,))
            if (term := self.call(operator, word[len(operator) + 1 :])) is not None:
                return term
        expression, names = self.shape(word)
        try:
            return Term(expression, tuple(map(self.single.__getitem__, names)))
        except KeyError:
            return Term(expression, tuple(self.resolved(names)))

    def call(self, operator: str, rest: str) -> Term | None:
        """One operator with names and integers, as in many lists; None for other expressions."""
        words = rest[:-1].split(",")
        try:
            items = [self.single[word] for word in words]
        except KeyError:
            items = [
                self[word][0] if word in self.unnamed or INTEGER.fullmatch(word) else self.single.get(word)
                for word in words
            ]
        key = (operator, *[item if type(item) is int else type(item) for item in items])
        known = self.shapes.get(key)
        if known is None:
            if rest[-1:] != ")" or not SCALARS.issuperset(map(type, items)):
                return None
            known = self.new_shape(key, operator, words, items)
        return Term(known, tuple([item for item in items if type(item) is not int]))

    def new_shape(self, key: tuple, operator: str, words: Sequence[str], items: Sequence[Any]) -> Expression:
        """The expression of a call that was not met before, with places instead of names; it is remembered."""
        numbered = [str(item) if type(item) is int else f"%{place}" for place, item in enumerate(items)]
        known = read_expression(f"{operator}({','.join(numbered)})").expression
        if len(self.shapes) < TUNING.shapes:
            self.shapes[key] = known
            if len(items) == 2 and key[1] is Ref and type(items[1]) is int:
                self.shapes[operator, f"{words[1]})"] = known
        return known

    def shape(self, word: str) -> tuple[Expression, Sequence[str]]:
        """Expressions that differ in their names alone are read once, except long expressions, which rarely agree."""
        if len(word) > TUNING.short_expression:
            return read_expression(word)
        key, parts = zip(*map(_without_names, word.split(",")))
        names = list(chain.from_iterable(parts))
        if len(set(names)) < len(names):
            key += tuple(map(names.index, names))
            names = list(dict.fromkeys(names))
        known = self.shapes.get(key)
        if known is None:
            known, operands = read_expression(word)
            if list(operands) != names or len(self.shapes) >= TUNING.shapes:  # an operand for a name must be a name
                return known, operands
            self.shapes[key] = known
        return known, names

    def resolved(self, operands: Sequence[str]) -> list:
        resolved = []
        for operand in operands:
            items = self[operand]
            if len(items) != 1:
                raise ModelError(f"`{operand}` in an expression stands for {len(items)} values")
            resolved.append(items[0])
        return resolved

    def pair(self, word: str) -> Any:
        """`(le,5)`, a condition; or a tuple."""
        first, _, rest = word[1:-1].partition(",")
        if first.strip() in OPERATORS and word.endswith(")"):
            return _make_condition(first.strip(), self.item(rest))
        return tuple(self.items_in(word[1:-1].replace(",", " ")))

    def set_of(self, word: str) -> IntSet:
        inner = self.items_in(word[1:-1].replace(",", " ")) if word.endswith("}") else [None]
        return IntSet.of_ranges(pair for one in inner for pair in as_set(one).ranges)

    def tuples(self, text: str) -> list[list]:
        """`(x,y)(z,t)`, or a slice of an array in two dimensions."""
        if text.startswith("("):
            if not text.endswith(")"):
                raise ModelError("a tuple does not end")
            parts = re.split(r"\)\s*\(", text[1:-1])
            return [self.items_in(part.replace(",", " ")) for part in parts]
        match = CELLS.fullmatch(text)
        if match is None:
            raise ModelError(f"expected a matrix, found `{text[:40]}`")
        ranges = self.ranges(match[1], match[2])
        indices = match[2][1:-1].split("][")
        wide = [place for place, index in enumerate(indices) if not INTEGER.fullmatch(index.strip())]
        if len(wide) != 2:
            raise ModelError(f"`{text[:40]}` has {len(wide)} open dimensions, and a matrix two")
        rows = ranges[wide[0]]
        cells = self.arrays[match[1]]
        return [self.sliced(cells, [*ranges[: wide[0]], range(i, i + 1), *ranges[wide[0] + 1 :]]) for i in rows]


@lru_cache(maxsize=2**14)
def _without_names(word: str) -> tuple[str, list[str]]:
    """Splits a piece of an expression without commas into the text without its names, and the names."""
    pieces = OPERAND.split(word)
    return "\0".join(pieces[::2]), pieces[1::2]


def _make_condition(operator: str, operand: Any) -> Condition:
    if operator in COMPARISONS:
        if not isinstance(operand, (int, Ref, Term, Parameter)):
            raise ModelError(f"the operand of `{operator}` is to be an integer, a variable or an expression")
        return Condition(operator, operand)
    return Condition(operator, operand if isinstance(operand, Parameter) else as_set(operand))


def as_set(item: Any) -> IntSet:
    """An integer or an interval as a set."""
    if isinstance(item, int):
        return IntSet.interval(item, item)
    if not isinstance(item, IntSet):
        raise ModelError("expected a set of integers")
    return item


def _index_range(index: str, size: int, name: str) -> range:
    """`2`, `1..3`, or nothing for all."""
    low, dots, high = index.partition("..")
    if not index:
        return range(size)
    if not INTEGER.fullmatch(low) or not INTEGER.fullmatch(high if dots else low):
        raise ModelError(f"`{name}[{index[:40]}]` is no index")
    first, last = to_integer(low), to_integer(high if dots else low)
    if not 0 <= first <= last < size:
        raise ModelError(f"`{name}[{index[:40]}]`: the index is out of 0..{size - 1}")
    return range(first, last + 1)


def number_in(word: str) -> int:
    if not re.fullmatch(r"%\d{1,9}", word):
        raise ModelError(f"`{word[:40]}` is no parameter")
    return int(word[1:])


def refuse_many(count: int, most: int = TUNING.list_items) -> None:
    if count > most:
        raise ModelError(f"a list or an array of {count} elements is too large")


def _are_whole(text: str, words: list[str]) -> bool:
    """Whether no expression or tuple in a list has blanks in it, and each is a word."""
    if ")(" in text or "{" in text:
        return False
    if len(words) == 1:  # as for most
        return text.count("(") == text.count(")")
    return [word.count("(") for word in words] == [word.count(")") for word in words]


def split(text: str) -> list[str]:
    """The words of a list with expressions or tuples in it: blanks within parentheses separate nothing."""
    words, start, depth = [], 0, 0
    for match in re.finditer(r"[(){}]|\s+", text):
        mark = match.group()
        if mark in "({":
            if mark == "(" and depth == 0 and text[match.start() - 1 : match.start()] == ")":
                words.append(text[start : match.start()])
                start = match.start()
            depth += 1
        elif mark in ")}":
            depth -= 1
        elif depth == 0:
            words.append(text[start : match.start()])
            start = match.end()
    if depth:
        raise ModelError("the parentheses of a list do not match")
    return [word for word in [*words, text[start:]] if word]
