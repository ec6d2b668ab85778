"""The tunable constants of the code as random variables, so that small models go the ways that only large ones go.

The solver chooses between ways by sizes: so many constraints of one shape are lowered in columns, a table of so many
cells is stated by truth values, so many values are worth a column of the relaxation. None of these numbers decides an
answer. They stand in the tables of the rooms (turbo_fzn/tuning.py), which say which other values are to be tried, or
why there are none. A case of the fuzzer draws values for some of them (`draw_thresholds`), and is solved with these
(`with_thresholds`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib import import_module
from random import Random
from types import ModuleType
from typing import Any
from unittest.mock import patch

from support.places import ROOT

PACKAGE = ROOT / "turbo_fzn"
Values = tuple[float, ...]


def tables() -> dict[str, Any]:
    """The table of each room that has one, by the room's dotted name in the package."""
    rooms = [".".join(path.relative_to(PACKAGE).parent.parts) for path in sorted(PACKAGE.glob("*/**/tuning.py"))]
    return {room: import_module(f"turbo_fzn.{room}.tuning").TUNING for room in rooms}


TABLES = tables()
THRESHOLDS: dict[str, Values] = {
    f"{room}.{name}": row.tried for room, table in TABLES.items() for name, row in table.rows.items() if row.tried
}


def families() -> list[list[str]]:
    """The thresholds of each folder of the package that has some."""
    folders = {name.partition(".")[0] for name in THRESHOLDS}
    return [[name for name in THRESHOLDS if name.startswith(f"{folder}.")] for folder in sorted(folders)]


def draw_thresholds(random: Random) -> dict[str, float]:
    """Values for a few thresholds, for all of a family, or for none."""
    names: list[str] = []
    choice = random.random()
    if choice < 0.4:
        names = random.sample(list(THRESHOLDS), random.randint(1, 12))
    elif choice < 0.75:
        names = random.choice(families())
        names = random.sample(names, random.randint(len(names) // 2, len(names)))
    return {name: random.choice(THRESHOLDS[name]) for name in names}


def find(name: str) -> tuple[Any, str]:
    """The table and the field. Raises KeyError or AttributeError where there is none of that name."""
    room, _, constant = name.rpartition(".")
    getattr(TABLES[room], constant)
    return TABLES[room], constant


@contextmanager
def with_thresholds(values: Mapping[str, float]) -> Iterator[None]:
    """What is solved meanwhile meets these thresholds."""
    found = [(*find(name), value) for name, value in values.items()]
    changed = readers([table for table, _, _ in found])
    with ExitStack() as stack:
        for table, constant, value in found:
            stack.enter_context(patch.object(table, constant, value))
        forget(changed)
        try:
            yield
        finally:
            forget(changed)


def readers(changed: list[Any]) -> list[ModuleType]:
    """The loaded modules that read one of these tables."""
    of_tables = {id(table) for table in changed}
    ours = [module for name, module in sys.modules.items() if name.startswith("turbo_fzn.")]
    return [module for module in ours if not of_tables.isdisjoint(map(id, vars(module).values()))]


def forget(modules: list[ModuleType]) -> None:
    """What functions remember may have been computed with other thresholds."""
    for module in modules:
        for function in vars(module).values():
            if hasattr(function, "cache_clear") and getattr(function, "__module__", "") == module.__name__:
                function.cache_clear()
