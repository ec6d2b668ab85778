"""How the cases of global_cases.py are written down: variables, a call over them, and what it means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

FILES = {
    "dreachable": "reachable",
    "dtree": "tree",
    "arg_min": "globals",  # arg_min.mzn of MiniZinc 2.6.4 cannot be included without arg_max.mzn
    "network_flow_cost": "network_flow",
    **{f"count_{word}": "count" for word in ("neq", "lt", "leq", "gt", "geq")},
}

Domain = Sequence[int] | type[bool]


class Vars(NamedTuple):
    """An array of variables with one domain: its first index and length; length None is a single variable."""

    domain: Domain
    length: int | None = None
    first: int = 1


class Case(NamedTuple):
    """`call` over the variables, whose values `meaning` takes in that order, arrays as lists.

    `title` tells the cases of one global apart.
    """

    name: str
    title: str
    variables: dict[str, Vars]
    call: str
    meaning: Callable[..., bool]

    @property
    def file(self) -> str:
        """The file of the standard library that declares the global, or nothing."""
        return FILES.get(self.name, self.name)


def ints(length: int, low: int, high: int, first: int = 1) -> Vars:
    return Vars(range(low, high + 1), length, first)


def bools(length: int) -> Vars:
    return Vars(bool, length)


def one(low: int, high: int) -> Vars:
    return Vars(range(low, high + 1))


def identify(case: Case) -> str:
    return f"{case.name}-{case.title}".rstrip("-").replace(" ", "_")


def values_of(variables: Vars) -> list[Any]:
    return [False, True] if variables.domain is bool else list(variables.domain)
