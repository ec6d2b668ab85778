"""Signatures of predicates, and properties of their arguments that are independent of the lowering.

A row of the tables beside is written as text:

    row("turbo_cumulative", "s [I] n, d [I] n, r [I] n, b I", unordered=("s d r",))

Each argument has a name, a kind and perhaps a size; arguments with one size are arrays of one length. After `=` is the
MiniZinc expression that the library passes if its own predicate has no such argument; after `->` is an expression that
converts an argument of another kind.

| kind | FlatZinc type | lowered from |     | kind  | FlatZinc type       | lowered from          |
|------|---------------|--------------|-----|-------|---------------------|-----------------------|
| `I`  | var int       | a variable   |     | `[I]` | array of var int    | list of variables     |
| `B`  | var bool      | a variable   |     | `[B]` | array of var bool   | list of variables     |
| `F`  | var float     | a variable   |     | `[F]` | array of var float  | list of variables     |
| `i`  | int           | int          |     | `[i]` | array of int        | list of int           |
| `f`  | float         | float or int |     | `[f]` | array of float      | list of float or int  |
| `s`  | set of int    | IntSet       |     | `[b]` | array of bool       | list of 0 and 1       |
| `e`  | an expression | Expression   |     | `[s]` | array of set of int | list of IntSet        |

`[[I]]`, `[[i]]` and `[[b]]` are matrices: FlatZinc has them row by row in one array.

The meaning of a predicate is not here: lower/ and check/ define it independently, and must not import each other.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

PLAIN, REIFIED, IMPLIED = "", "_reif", "_imp"
SUFFIXES = (PLAIN, REIFIED, IMPLIED)  # p(…), b = p(…), b implies p(…): b is one more argument, the last
TRUTH = "B"  # its kind
ARGUMENT = re.compile(r"(?P<name>\w+) (?P<kind>\[*[IBFifbse]\]*)(?: (?P<size>\w+))?(?: (?P<how>=|->) (?P<text>.+))?")

Fits = Callable[..., bool]


class Argument(NamedTuple):
    """An argument. `size` is a name that arrays of one length share, or empty. `given` is the MiniZinc expression that
    the library passes if its own predicate has no such parameter, `passed` the expression that converts a parameter."""

    name: str
    kind: str
    size: str
    given: str
    passed: str


class Face(NamedTuple):
    """A predicate `fzn_NAME` of MiniZinc's library that calls a predicate of the solver, in the file of this name
    unless `file` is given. `arguments` are the arguments that differ from the solver's."""

    name: str
    arguments: tuple[Argument, ...] = ()
    file: str = ""


class Predicate(NamedTuple):
    """A row: the signature of a predicate in its plain form. Arguments are given by their places.

    `unordered` are the arrays whose elements may be permuted, those of a group together; `commutes` is whether the
    first two arguments may be exchanged. The argument `defined` has at most one value for given others; tests use this
    to draw models. `forms` are the suffixes that the predicate may have. `fits` tests whether the sizes of all
    arguments, as they are lowered, are consistent; None if they always are."""

    name: str
    arguments: tuple[Argument, ...]
    unordered: tuple[tuple[int, ...], ...]
    commutes: bool
    defined: int | None
    forms: tuple[str, ...]
    fits: Fits | None
    faces: tuple[Face, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(argument.kind for argument in self.arguments)

    @property
    def alike(self) -> tuple[tuple[int, ...], ...]:
        """The places of the arguments that have one size, for each such size."""
        sizes = [argument.size for argument in self.arguments]
        return tuple(
            tuple(place for place, other in enumerate(sizes) if other == size)
            for size in dict.fromkeys(filter(None, sizes))
        )


def _arguments_of(text: str) -> tuple[Argument, ...]:
    """The arguments in the text of a row, which are separated by commas."""
    found = [ARGUMENT.fullmatch(part) for part in text.split(", ")]
    if None in found:
        raise ValueError(f"these are no arguments: {text}")
    return tuple(_argument_of(**match.groupdict()) for match in found)  # type: ignore[union-attr]


def _argument_of(name: str, kind: str, size: str | None, how: str | None, text: str | None) -> Argument:
    return Argument(name, kind, size or "", text or "" if how == "=" else "", text or "" if how == "->" else "")


def face(name: str, changed: str = "", file: str = "") -> Face:
    return Face(name, _arguments_of(changed) if changed else (), file or name)


def row(
    name: str,
    text: str,
    unordered: tuple[str, ...] = (),
    commutes: bool = False,
    defined: str | None = None,
    forms: tuple[str, ...] = SUFFIXES,
    fits: Fits | None = None,
    faces: tuple[Face, ...] = (),
) -> Predicate:
    """A predicate from a row, where arguments are given by their names; names in a group of `unordered` are separated
    by blanks."""
    arguments = _arguments_of(text)
    place = {argument.name: number for number, argument in enumerate(arguments)}
    groups = tuple(tuple(place[one] for one in group.split()) for group in unordered)
    known = Predicate(
        name, arguments, groups, commutes, None if defined is None else place[defined], forms, fits, faces
    )
    return known._replace(fits=fits or _same_lengths(known.alike))


def _same_lengths(groups: tuple[tuple[int, ...], ...]) -> Fits | None:
    """A test that the arguments at the places of each group have one length; the usual case of two arguments is fast,
    since there may be a hundred thousand sums."""
    if not groups:
        return None
    if len(groups) == 1 and len(groups[0]) == 2:
        ((first, second),) = groups
        return lambda *arguments: len(arguments[first]) == len(arguments[second])

    def fits(*arguments: Any) -> bool:
        return all(len({len(arguments[place]) for place in group}) == 1 for group in groups)

    return fits
