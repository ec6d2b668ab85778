"""A FlatZinc model as parsed: plain data, names not yet resolved.

Expressions are Python values:

| FlatZinc                    | Python                                               |
|-----------------------------|------------------------------------------------------|
| `true`, `7`, `1.5`          | `bool`, `int`, `float`                               |
| `x` (an identifier)         | `Ref("x")`                                           |
| `"text"`                    | `Text("text")`                                       |
| `{1,3}`, `2..5`, `{}`       | `IntSet`                                             |
| `[a, 2, b]`                 | `list`                                               |
| `a[2]`                      | `Index("a", 2)` (in annotations and right-hand sides) |
| `f(a, 1)` (annotation only) | `Call("f", [Ref("a"), 1])`; a bare atom is a `Ref`   |

An `Expression` is the first argument of `int_expression`, which XCSP3 has (its `intension`), and not FlatZinc.

`0.0..1.0` is a `FloatRange`; `{0.5, 1.5}` a `FloatSet`, accepted so that it can be refused with a clear message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from turbo_fzn.base.domains import IntSet


class Ref(str):
    """An identifier."""

    __slots__ = ()


class Text(str):
    """A string literal, without its quotes, escapes resolved."""

    __slots__ = ()


class Index(NamedTuple):
    array: str
    index: int  # type: ignore[assignment]  # hides tuple.index, which is not used


class Call(NamedTuple):
    name: str
    args: list


class Expression:
    """An expression over integers in postfix order, which is read without recursion.

    `code` holds pairs: ("arg", i) for the i-th operand, from 0, ("int", k), ("interval", (low, high)) within sets only,
    and (operator, number of operands). Truth values are 0 and 1. The operators are those of check/expressions.py.
    Expressions are often used as keys, so the hash of the code is kept.
    """

    __slots__ = ("code", "number")

    def __init__(self, code: tuple[tuple[str, Any], ...]):
        self.code, self.number = code, hash(code)

    def __hash__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is Expression and self.code == other.code)

    def __str__(self) -> str:
        """The expression in XCSP3's notation, with %i for operand i."""
        stack: list[str] = []
        for symbol, value in self.code:
            if symbol in ("arg", "int", "interval"):
                texts = {"arg": f"%{value}", "int": str(value)}
                stack.append(texts[symbol] if symbol in texts else "..".join(map(str, value)))
            else:
                start = len(stack) - value
                stack[start:] = [f"{symbol}({','.join(stack[start:])})"]
        return stack[0]


NO_ANNOTATIONS: list = []  # shared by all constraints without annotations: do not modify


class FloatSet(NamedTuple):
    values: list


class FloatRange(FloatSet):
    """The real numbers from the first value to the second."""

    __slots__ = ()


@dataclass(slots=True, repr=False)
class Variable:
    """`var TYPE: name :: annotations = value;` with `kind` one of bool, int, float, set.

    `domain` is None if the declaration has none; for a set variable it is the domain of its elements. `value` is the
    right-hand side, or None. `position` is the declaration's offset in the text.
    """

    name: str
    kind: str
    domain: IntSet | FloatSet | None
    annotations: list
    value: object
    position: int


@dataclass(slots=True, repr=False)
class Array:
    """`array [1..n] of TYPE: name :: annotations = elements;`, of variables or of parameters.

    `kind` is bool, int, float or set; `domain` as for a variable.
    """

    name: str
    kind: str
    is_variable: bool
    domain: IntSet | FloatSet | None
    elements: list
    annotations: list
    position: int


class Constraint(NamedTuple):
    """One constraint item; `position` is its offset in the text, for messages."""

    name: str
    args: list
    annotations: list
    position: int


@dataclass(repr=False)
class Goal:
    """The solve item: `method` is satisfy, minimize or maximize; `objective` an expression or None."""

    method: str
    objective: object
    annotations: list
    position: int


@dataclass(repr=False)
class Model:
    """A whole FlatZinc file. Dictionaries keep the order of the text.

    `language` is the language of the source, FlatZinc or XCSP3. `symbols` are the names of the values of symbolic
    variables, which are numbers here; `listing` are the names of the output in XCSP3; `unnamed` are the variables of an
    XCSP3 instance that occur in no constraint and no objective. `parameters` maps a scalar parameter's name to its
    value. `text` is the source, `file` its name, so that `locate` can turn a position into a line and a column.
    """

    parameters: dict[str, object] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    arrays: dict[str, Array] = field(default_factory=dict)
    constraints: list[Constraint] = field(default_factory=list)
    goal: Goal | None = None
    file: str = ""
    text: str = ""
    language: str = "FlatZinc"
    symbols: dict[str, list[str]] = field(default_factory=dict)
    listing: str = ""
    unnamed: frozenset[str] = frozenset()

    def locate(self, position: int) -> tuple[str, int, int]:
        """(file, line, column) of an offset in the text, both from 1."""
        line = self.text.count("\n", 0, position) + 1
        return self.file, line, position - self.text.rfind("\n", 0, position)

    def names_in(self, args: Iterable) -> Iterator[str]:
        """The variables named in the arguments of a constraint, by themselves or as elements of arrays."""
        for arg in args:
            if isinstance(arg, list):
                yield from self.names_in(arg)
            elif isinstance(arg, Ref) and arg in self.arrays:
                yield from self.names_in(self.arrays[arg].elements)
            elif isinstance(arg, Index) and arg.array in self.arrays:
                yield from self.names_in(self.arrays[arg.array].elements[arg.index - 1 : arg.index])
            elif isinstance(arg, Ref) and arg in self.variables:
                yield arg
