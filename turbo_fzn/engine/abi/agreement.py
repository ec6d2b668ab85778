"""The numbers of abi.py: every value, size and offset, for the compiler to assert, and a digest of them all."""

import ctypes
import hashlib
from functools import lru_cache
from typing import NamedTuple

from turbo_fzn.engine.abi import abi, float_abi
from turbo_fzn.engine.abi.records import RECORDS, WIDTHS, fields_of, offset, structure


class Fact(NamedTuple):
    """A number that must be equal on both sides: an expression of C++, its value, and the type of a field."""

    expression: str
    value: int
    type: str = ""


def named_facts() -> list[Fact]:
    """The values of the constants and of the enums."""
    constants = [Fact(name, getattr(abi, name)) for name in abi.CONSTANTS]
    return constants + [Fact(name, value) for enumeration in abi.ENUMERATIONS for name, value in enumeration.values()]


def float_facts() -> list[Fact]:
    """The further constants and enums of kernels for models with real variables."""
    constants = [Fact(name, getattr(float_abi, name)) for name in float_abi.CONSTANTS]
    return constants + [Fact(name, value) for one in float_abi.ENUMERATIONS for name, value in one.values()]


def placed_facts(bits: int) -> list[Fact]:
    """The size of each record and the offset of each field, for bounds of `bits` bits."""
    facts = []
    for one in RECORDS:
        kind = structure(one, bits)
        facts.append(Fact(f"sizeof({one.__name__})", ctypes.sizeof(kind)))
        for field in fields_of(one):
            place = offset(kind, field.name)
            facts.append(Fact(f"offsetof({one.__name__}, {field.name})", place, f"{field.type} {field.extents}"))
    return facts


@lru_cache(maxsize=2)
def digest(floats: bool = False) -> str:
    """A digest of the interface; with `floats`, of kernels for models with real variables."""
    facts = [*named_facts(), *(fact for bits in WIDTHS for fact in placed_facts(bits))]
    facts += float_facts() if floats else []
    return hashlib.sha256(repr([tuple(fact) for fact in facts]).encode()).hexdigest()[:16]
