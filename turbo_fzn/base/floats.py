"""Real numbers as bounds: the codes of doubles, which are ordered like them (kernels/floats/codes.h does the same).

Code 0 is 0.0, code k > 0 is the k-th double from LEAST = 2**-511 on, code -k its negative. So each bound lies within
±(2**62 - 1), like an integer's, and ±INFINITY means no bound. A number between two codes is rounded to the code below
or above it, so that intervals contain the number. All functions here are exact: numbers are doubles, integers or
fractions.
"""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np

from turbo_fzn.base.domains import INFINITY

LEAST_BITS = 512 << 52  # format: of the least positive number that has a code
LEAST = 2.0**-511  # format: the least positive number that has a code
GREATEST = float.fromhex("0x1.ffffffffffffep+512")  # the greatest

Real = Any  # int, float or Fraction, whose module is imported only where one is needed


def number(code: int) -> float:
    """The double of a code; infinite where it means no bound."""
    if abs(code) >= INFINITY:
        return math.copysign(math.inf, code)
    if code == 0:
        return 0.0
    (size,) = struct.unpack("<d", struct.pack("<q", abs(code) - 1 + LEAST_BITS))
    return size if code > 0 else -size


def numbers(codes: np.ndarray) -> np.ndarray:
    """The doubles (float64) of codes (int64)."""
    sizes = (np.abs(codes) - 1 + LEAST_BITS).view(np.float64)
    sizes = np.where(np.abs(codes) >= INFINITY, np.inf, np.where(codes == 0, 0.0, sizes))
    return np.copysign(sizes, codes)


def codes(values: np.ndarray) -> np.ndarray:
    """The codes (int64) of finite doubles (float64), as `below` of each."""
    bits = np.abs(values).view(np.int64) - (LEAST_BITS - 1)
    exact = np.where(values < 0, -bits, bits)
    near_zero = np.where(values < 0, -1, 0)
    within = np.where(np.abs(values) < LEAST, near_zero, exact)
    return np.where(values < -GREATEST, -INFINITY, np.where(values >= GREATEST, INFINITY - 1, within))


def below(value: Real) -> int:
    """The greatest code whose number is at most `value`; -INFINITY without such a code."""
    if value != value:
        raise ValueError("nan is no bound")
    if value < -GREATEST:
        return -INFINITY
    if value >= GREATEST:
        return INFINITY - 1
    if -LEAST < value < LEAST:
        return -1 if value < 0 else 0
    from fractions import Fraction

    near = float(value)
    bits = struct.unpack("<q", struct.pack("<d", abs(near)))[0] - LEAST_BITS + 1
    code = bits if near > 0 else -bits
    return code - 1 if Fraction(near) > Fraction(value) else code


def above(value: Real) -> int:
    """The least code whose number is at least `value`; INFINITY without such a code."""
    return -below(-value)


def interval(value: Real) -> tuple[int, int]:
    """The codes below and above a number; both are its code if it has one."""
    return below(value), above(value)


def shortest(low: float, high: float) -> float:
    """A number with the fewest digits between the finite numbers `low` and `high`."""
    if low <= 0 <= high:
        return 0.0
    if high < 0:
        return -shortest(-high, -low)
    for digits in range(17):
        for rounded in (f"{low:.{digits}e}", f"{high:.{digits}e}", f"{(low + high) / 2:.{digits}e}"):
            if low <= float(rounded) <= high:
                return float(rounded)
    return low
