"""Selects the answers among an engine's solutions: improvements, or new outputs.

An engine enumerates distinct assignments of *all* variables. If the output determines every other variable, each
assignment is a new output. Otherwise the outputs so far are stored, 100 bytes each.
"""

from __future__ import annotations

import hashlib
from typing import Protocol

import numpy as np

from turbo_fzn.engine.contract import Found
from turbo_fzn.run.tuning import TUNING
from turbo_fzn.tnf.language import TNF, Op


class Choice(Protocol):
    """Selects the answers among the solutions that have arrived."""

    def worth_printing(self, arrived: list[Found]) -> list[Found]: ...


class Improvements:
    """Selects the best of the solutions that arrive together if it is better than all before; with `every`, each
    improvement."""

    def __init__(self, sense: int, every: bool = False):
        self.sense = sense
        self.every = every
        self.best: int | None = None

    def worth_printing(self, arrived: list[Found]) -> list[Found]:
        better = [found for found in arrived if self._improves(found)]
        return better if self.every else better[-1:]

    def _improves(self, found: Found) -> bool:
        if self.best is not None and self.sense * found.objective >= self.sense * self.best:
            return False
        self.best = found.objective
        return True


class Everything:
    """Selects all solutions."""

    def worth_printing(self, arrived: list[Found]) -> list[Found]:
        return arrived


class Distinct:
    """Selects solutions whose output, at `places` of their values, differs from all before. `kind` is the type of NumPy
    that holds those values, to be small."""

    def __init__(self, places: np.ndarray, kind: type[np.signedinteger] = np.int64):
        self.places, self.kind = places, kind
        self.seen: set[bytes] = set()

    def worth_printing(self, arrived: list[Found]) -> list[Found]:
        """The solutions with new outputs, in order."""
        seen, answers = self.seen, []
        for found, key in zip(arrived, self._keys(arrived)):
            if key not in seen:
                seen.add(key)
                answers.append(found)
        return answers

    def _keys(self, arrived: list[Found]) -> list[bytes]:
        """The keys by which the outputs are compared."""
        if not arrived:
            return []
        whole = np.array([found.values for found in arrived])[:, self.places].astype(self.kind).tobytes()
        size = len(whole) // len(arrived)
        keys = [whole[number * size : (number + 1) * size] for number in range(len(arrived))]
        if size <= TUNING.digest_bytes:
            return keys
        return [hashlib.blake2b(key, digest_size=TUNING.digest_bytes).digest() for key in keys]


def narrowest(lower: np.ndarray, upper: np.ndarray) -> type[np.signedinteger]:
    """The smallest type of integers that holds all values between these bounds."""
    least, most = lower.min(initial=0), upper.max(initial=0)
    kinds: tuple[type[np.signedinteger], ...] = (np.int8, np.int16, np.int32)
    fitting = (kind for kind in kinds if np.iinfo(kind).min <= least and most <= np.iinfo(kind).max)
    return next(fitting, np.int64)


def output_determines_all(tnf: TNF) -> bool:
    """Whether the values of the output variables determine every other variable, as far as single rows show."""
    known = tnf.lower == tnf.upper
    for item in tnf.outputs:
        known[item.variables] = True
    op, x, y = tnf.op, tnf.x, tnf.y
    element = op == Op.ELEMENT
    z = np.where(element, y, tnf.z)
    is_sum, invertible = op == Op.ADD, element & _has_distinct_entries(tnf)
    equality = op == Op.EQ
    count = -1
    while count != (count := int(known.sum())):
        known[x[known[y] & known[z]]] = True
        known[y[is_sum & known[x] & known[z]]] = True
        known[z[is_sum & known[x] & known[y]]] = True
        known[y[invertible & known[x]]] = True
        for one, other in ((y, z), (z, y)):  # x = (b = c) where b has two values, c and another
            binary = tnf.upper[one] - tnf.lower[one] == 1
            inside = (tnf.lower[other] == tnf.upper[other]) & (tnf.lower[one] <= tnf.lower[other])
            known[one[equality & known[x] & binary & inside & (tnf.upper[other] <= tnf.upper[one])]] = True
    return count == tnf.n_vars


def _has_distinct_entries(tnf: TNF) -> np.ndarray:
    """For each row (bool [m]): whether the table entries that its index reaches increase strictly, as for a domain."""
    falls = np.concatenate([[0], np.cumsum(np.diff(tnf.tables) <= 0)]) if len(tnf.tables) else np.zeros(1, np.int64)
    start, end = (np.clip(tnf.z + bound[tnf.y], 0, len(falls) - 1) for bound in (tnf.lower, tnf.upper))
    return falls[start] == falls[end]
