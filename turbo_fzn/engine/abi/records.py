"""Records that host and kernels share: the notation of abi.py, and the offsets of fields.

A record is a class whose annotations are the types of its fields in C. ctypes lays it out as a C++ compiler does, but
only with the natural alignment of numbers: this module adds the padding for other alignments.
"""

import ctypes
from collections.abc import Callable, Iterator
from ctypes import c_char, c_int32, c_int64, c_void_p
from functools import cache
from typing import Annotated, Any, NamedTuple, TypeVar, get_args

CACHE_LINE = 64
WIDTHS = (32, 64)  # of a bound, in bits
BOUND = object()

i32 = Annotated[int, c_int32]
i64 = Annotated[int, c_int64]
bound_t = Annotated[int, BOUND]
pointer = Annotated[int, c_void_p]  # with a second note: to what, in C
OWN_LINE = "alignas(64)"  # a note: the field begins a cache line


class Times(tuple[int, ...]):
    """A note: the field is an array with these extents."""

    def __new__(cls, *extents: int) -> "Times":
        return super().__new__(cls, extents)


class Field(NamedTuple):
    """A field of a record: its name, the ctypes type of one element (or BOUND), and the notes of its annotation."""

    name: str
    kind: Any
    notes: tuple[Any, ...]

    @property
    def extents(self) -> tuple[int, ...]:
        return next((note for note in self.notes if isinstance(note, Times)), ())

    @property
    def type(self) -> str:
        """The C type of one element."""
        pointed = next((f"{note}*" for note in self.notes if self.kind is c_void_p), None)
        return pointed or {c_int32: "i32", c_int64: "i64", BOUND: "bound_t"}.get(self.kind) or self.kind.__name__

    @property
    def alignment(self) -> int:
        return CACHE_LINE if OWN_LINE in self.notes else getattr(self.kind, "ALIGNMENT", 1)

    def ctype(self, bits: int) -> Any:
        kind = {32: c_int32, 64: c_int64}[bits] if self.kind is BOUND else self.kind
        for extent in reversed(self.extents):
            kind *= extent
        return kind


def fields_of(record: type) -> Iterator[Field]:
    for name, annotation in record.__annotations__.items():
        kind, *notes = get_args(annotation)[1:] or (annotation,)
        yield Field(name, kind, tuple(notes))


def offset(structure: type[ctypes.Structure], name: str) -> int:
    """The offset of a field in bytes."""
    return int(getattr(structure, name).offset)


def align(size: int, unit: int) -> int:
    return (size + unit - 1) // unit * unit


def _placed(record: type, bits: int) -> list[tuple[str, Any]]:
    """The record's `_fields_` for ctypes."""
    placed: list[tuple[str, Any]] = []
    end = 0

    def pad_to(place: int) -> None:
        if place > end:
            placed.append((f"padding_{end}", c_char * (place - end)))

    for field in fields_of(record):
        kind = field.ctype(bits)
        place = align(end, max(ctypes.alignment(kind), field.alignment))
        pad_to(place)
        placed.append((field.name, kind))
        end = place + ctypes.sizeof(kind)
    pad_to(align(end, record.ALIGNMENT))  # type: ignore[attr-defined]
    return placed


class Bounded:
    """A record with fields of type `bound_t`: one ctypes structure for each width of a bound."""

    @classmethod
    @cache
    def of(cls, bits: int) -> type[ctypes.Structure]:
        return type(cls.__name__, (ctypes.Structure,), {"_fields_": _placed(cls, bits)})


RECORDS: list[type] = []  # in the order of their definitions
T = TypeVar("T", bound=type)


def record(alignment: int = 1) -> Callable[[T], T]:
    """A class decorator that adds a record to RECORDS; its address and size are multiples of `alignment` bytes."""

    def add(cls: T) -> T:
        cls.ALIGNMENT = alignment  # type: ignore[attr-defined]
        if not issubclass(cls, Bounded):
            cls._fields_ = _placed(cls, 64)  # type: ignore[attr-defined]
        RECORDS.append(cls)
        return cls

    return add


def structure(one: type, bits: int) -> type[ctypes.Structure]:
    """The ctypes structure of a record for bounds of `bits` bits."""
    return one.of(bits) if issubclass(one, Bounded) else one  # type: ignore[return-value]
