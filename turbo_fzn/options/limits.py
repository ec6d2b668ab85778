"""The limits of options' values: types that read a word of the command line, and the faults of wrong values.

A type of argparse is a function that raises ArgumentTypeError. settings.py uses the faults alone, for values given in
Python.
"""

from __future__ import annotations

from math import inf
from typing import Any

# Integer options: the least value (default: 0), the greatest, and the number that each is a multiple of.
LIMITS: dict[str, tuple[float, ...]] = {
    "n_optimal": (0, 1_000_000_000),
    "threads": (1, 1_000_000),
    "blocks": (1, 1_000_000),
    "subproblems": (1, 2**30),
    "gpu_threads": (32, 512, 32),  # whole warps
    "gpu_memory": (1, 1_000_000),
    "memory": (1, 1_000_000),
    "memory_limit": (1, 1_000_000_000),
    "proof_limit": (1, 1_000_000),
    "restart_scale": (1, 1_000_000_000),
    "seed": (-inf, inf),
    "time_limit": (-inf, inf),  # MiniZinc 2.6 passes the rest of its limit after flattening
}
# Options that take any number: the least and the greatest value.
RANGES = {"float_precision": (1e-12, 1.0), "restart_base": (1.0, 1000.0)}


def number(field: str) -> Any:
    """The argparse type of the option that sets this field."""

    def read(text: str) -> float:
        from argparse import ArgumentTypeError

        try:
            value = float(text)
        except ValueError:
            raise ArgumentTypeError(f"expected a number, found {text[:40]!r}") from None
        if fault := fault_of_number(field, value):
            raise ArgumentTypeError(fault)
        return value

    return read


def fault_of_number(field: str, value: float) -> str:
    """The reason why the value is out of the option's range; empty if it is valid."""
    least, most = RANGES[field]
    return "" if least <= value <= most else f"{value!r} is not within {least:g}..{most:g}"


def pair(text: str) -> tuple[int, int]:
    from argparse import ArgumentTypeError

    try:
        number, port = map(int, text.split(","))
    except ValueError:
        raise ArgumentTypeError(f"expected an execution ID and a port, as in 1,6565, found {text[:40]!r}") from None
    if fault := fault_of_pair((number, port)):
        raise ArgumentTypeError(fault)
    return number, port


def fault_of_pair(pair: tuple[int, int]) -> str:
    """The reason why the pair is no execution ID and port; empty if it is."""
    number, port = pair
    return "" if -(2**31) <= number < 2**31 and 0 < port < 2**16 else f"'{number},{port}' is out of range"


def integer(field: str) -> Any:
    """The argparse type of the option that sets this field."""
    return integer_within(*LIMITS.get(field, (0, inf)))


def integer_within(least: float, most: float = inf, *step: float) -> Any:
    """The argparse type of an integer from `least` to `most` that is a multiple of `step`."""

    def read(text: str) -> int:
        from argparse import ArgumentTypeError

        try:
            value = int(text)
        except ValueError:
            raise ArgumentTypeError(f"expected an integer, found {text[:40]!r}") from None
        if fault := fault_of_integer(value, least, most, *step):
            raise ArgumentTypeError(fault)
        return value

    return read


def fault_of_integer(value: int, least: float, most: float = inf, *step: float) -> str:
    """The reason why the value is not an integer from `least` to `most` and a multiple of `step`; empty if it is."""
    if value < least:
        return f"{value} is less than {least}"
    if value > most:
        return f"{value} is more than {most}"
    return f"{value} is not a multiple of {step[0]}" if step and value % step[0] else ""
