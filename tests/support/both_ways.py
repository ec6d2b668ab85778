"""A statement is read in one of two ways, by the scan with flat terminals or by Lark; for tests that compare them."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass

from turbo_fzn.base.domains import IntSet
from turbo_fzn.read.flatzinc import FlatZincReader
from turbo_fzn.read.model import Model

SPACE_ONLY = re.compile(r"(?P<FLAT_SPACE>[ \t\r\n]+|%[^\n]*)|(?P<OTHER>[\s\S])")


def read_by_lark(text: str) -> Model:
    """The model by the rules of the grammar alone, without the scan."""
    return FlatZincReader(text, "", SPACE_ONLY).read()


def typed(value: object) -> object:
    """A value with the types that == does not tell apart: 1, 1.0 and true, a name and a string."""
    if isinstance(value, IntSet):
        return value
    if is_dataclass(value):
        return type(value).__name__, [(f.name, typed(getattr(value, f.name))) for f in fields(value)]
    if isinstance(value, dict):
        return [(key, typed(element)) for key, element in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [typed(element) for element in value]
    return type(value).__name__, repr(value) if isinstance(value, float) else value
