"""The settings of a call from Python, checked as the command checks its flags: by the rows of options.py.

A row defines the kind of a value and its limits, for argparse and for `options_of` here. Names in a text (GPUs,
methods, roles) are checked by `run.policy.check_names`, for both.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Mapping
from dataclasses import fields
from difflib import get_close_matches
from math import inf
from typing import Any

from turbo_fzn.base.errors import UsageError
from turbo_fzn.options.limits import LIMITS, fault_of_integer, fault_of_number, fault_of_pair
from turbo_fzn.options.options import OPTIONS, Options, Row

DEFAULTS = {item.name: item.default for item in fields(Options)}
CHECKS = {True: "always", False: "never"}  # further values of `check`


def options_of(settings: Mapping[str, object]) -> Options:
    """The options with these values, given by the names of their fields. Raises TypeError for a name that is not a
    field, and UsageError for a value that the command would refuse."""
    unknown = [name for name in settings if name not in DEFAULTS]
    if unknown:
        raise TypeError(f"unknown settings: {', '.join(name + _hint(name) for name in sorted(unknown))}")
    return Options(**{name: _checked(name, value) for name, value in settings.items()})


def _hint(name: str) -> str:
    """A hint at the intended field: a field with a similar name, or with a flag of a similar name."""
    names = {flag.lstrip("-").replace("-", "_"): row.field for row in OPTIONS for flag in row.flags}
    close = get_close_matches(name, {**names, **{field: field for field in DEFAULTS}}, 1)
    return f" (did you mean {names.get(close[0], close[0])}?)" if close else ""


def _checked(name: str, value: object) -> Any:
    """The value converted for `Options`. Raises UsageError."""
    default = DEFAULTS[name]
    if value is None and default is None:
        return None
    if name == "check" and isinstance(value, bool):
        return CHECKS[value]
    rows = [row for row in OPTIONS if row.field == name]
    kind = rows[0].kind.split(":")[0] if rows else "text"
    try:
        return READERS[kind](rows, value)
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from None


def _expected(what: str, value: object) -> ValueError:
    return ValueError(f"expected {what}, found {repr(value)[:40]}")


def _switch(rows: list[Row], value: object) -> bool:
    if not isinstance(value, bool):
        raise _expected("True or False", value)
    return value


def _word(rows: list[Row], value: object) -> object:
    """Checks that the value is a word of a choice, or a value that the flags of these rows set."""
    words = [word for row in rows for word in row.kind.split(":")[1:]]
    if rows[0].kind.startswith("const"):
        default = DEFAULTS[rows[0].field]
        if isinstance(default, bool):
            return _switch(rows, value)
        words = [str(default), *words]
    if not isinstance(value, str) or value not in words:
        raise _expected(f"one of {', '.join(words)}", value)
    return value


def _integer(rows: list[Row], value: object) -> int:
    try:
        number = operator.index(value)  # type: ignore[arg-type]  # NumPy's integers, too
    except TypeError:
        raise _expected("an integer", value) from None
    if isinstance(value, bool):
        raise _expected("an integer", value)
    if fault := fault_of_integer(number, *LIMITS.get(rows[0].field, (0, inf))):
        raise ValueError(fault)
    return number


def _number(rows: list[Row], value: object) -> float:
    try:
        number = float(value) if not isinstance(value, (str, bytes, bool)) else None  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = None
    if number is None:
        raise _expected("a number", value)
    if fault := fault_of_number(rows[0].field, number):
        raise ValueError(fault)
    return number


def _pair(rows: list[Row], value: object) -> tuple[int, int]:
    is_pair = isinstance(value, (tuple, list)) and len(value) == 2 and all(type(part) is int for part in value)
    if not is_pair:
        raise _expected("an execution ID and a port, as in (1, 6565)", value)
    pair: Any = tuple(value)  # type: ignore[arg-type]
    if fault := fault_of_pair(pair):
        raise ValueError(fault)
    return pair


def _text(rows: list[Row], value: object) -> str:
    text = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(text, str):
        raise _expected("text", value)
    return text


READERS: dict[str, Callable[[list[Row], object], Any]] = {
    "switch": _switch,
    "const": _word,
    "choice": _word,
    "int": _integer,
    "number": _number,
    "pair": _pair,
    "text": _text,
}
