"""Integer sets as sorted, disjoint, non-adjacent intervals: exact domains on the host.

A set is never changed. The unbounded integer domain is the single interval [-INFINITY, INFINITY]; a bound at plus or
minus INFINITY means that there is no bound on that side.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any

INFINITY = 2**62  # format: in place of a bound that is missing


@dataclass(frozen=True)
class IntSet:
    """A set of integers; `ranges` are its maximal intervals (low, high), both included, in order."""

    ranges: tuple[tuple[int, int], ...]

    @staticmethod
    def interval(low: int, high: int) -> IntSet:
        return IntSet(((low, high),) if low <= high else ())

    @staticmethod
    def of_values(values: Iterable[int]) -> IntSet:
        return IntSet.of_ranges((value, value) for value in values)

    @staticmethod
    def of_ranges(ranges: Iterable[tuple[int, int]]) -> IntSet:
        """The union of any intervals, in any order; empty intervals (low > high) are allowed."""
        merged: list[list[int]] = []
        for low, high in sorted(pair for pair in ranges if pair[0] <= pair[1]):
            if merged and low <= merged[-1][1] + 1:
                merged[-1][1] = max(merged[-1][1], high)
            else:
                merged.append([low, high])
        return IntSet(tuple((low, high) for low, high in merged))

    @property
    def lower(self) -> int:
        """The least element. Raises IndexError on the empty set."""
        return self.ranges[0][0]

    @property
    def upper(self) -> int:
        """The greatest element. Raises IndexError on the empty set."""
        return self.ranges[-1][1]

    @property
    def has_holes(self) -> bool:
        return len(self.ranges) > 1

    @cached_property
    def size(self) -> int:
        return sum(high - low + 1 for low, high in self.ranges)

    def __bool__(self) -> bool:
        return bool(self.ranges)

    def __contains__(self, value: Any) -> bool:
        place = bisect_right(self.ranges, value, key=itemgetter(0)) - 1
        return place >= 0 and value <= self.ranges[place][1]

    def __iter__(self) -> Iterator[int]:
        for low, high in self.ranges:
            yield from range(low, high + 1)

    def __and__(self, other: IntSet) -> IntSet:
        if self.ranges == other.ranges:
            return self
        for one, whole in ((self, other), (other, self)):
            if len(whole.ranges) == 1 and one.ranges and whole.lower <= one.lower and one.upper <= whole.upper:
                return one
        common, place, other_place = [], 0, 0
        while place < len(self.ranges) and other_place < len(other.ranges):
            (low, high), (other_low, other_high) = self.ranges[place], other.ranges[other_place]
            common.append((max(low, other_low), min(high, other_high)))
            place, other_place = place + (high <= other_high), other_place + (other_high <= high)
        return IntSet.of_ranges(common)


UNBOUNDED = IntSet.interval(-INFINITY, INFINITY)
BOOLEAN = IntSet.interval(0, 1)
