"""The contract of an engine: start, poll, stop, close. cpu.py and gpu.py implement it, and so do teams of engines
(team.py) and all ranks together (ranks/ranks.py)."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from turbo_fzn.engine.abi.abi import METHODS

NO_WISH = -(2**63)  # format: in place of a value
BOOKED = 3  # format: figures of a method: the first of abi.MethodBook


class Found(NamedTuple):
    """A solution that an engine has found: objective value (0 to satisfy), number of the block, its method
    (abi.METHODS), exported values (int64), and the name of the engine."""

    objective: int
    block: int
    method: str
    values: np.ndarray
    engine: str = ""

    @property
    def finder(self) -> str:
        """The names of engine and method, such as "gpu window"."""
        return f"{self.engine} {self.method}" if self.engine else self.method


class Roots(NamedTuple):
    """Root bounds of all variables: `sides` (int64 [2 n]) has for each variable the lower bound and minus the upper
    bound, which only grow. They hold in all solutions with sense * objective below `under`."""

    sides: np.ndarray
    under: int

    def joined(self, other: Roots | None) -> Roots:
        """The tighter of the two bounds for each side, with the lesser `under`."""
        if other is None:
            return self
        return Roots(np.maximum(self.sides, other.sides), min(self.under, other.under))


class Inequality(NamedTuple):
    """sum of coefficients * variables <= high (int32 [k], int64 [k]; distinct variables of the TNF), in all solutions
    with sense * objective below `under`. It replaces the inequality with the same `name`, if it has a name."""

    variables: np.ndarray
    coefficients: np.ndarray
    high: int
    under: int
    name: str = ""


class Engine(Protocol):
    """The search of one TNF model.

    `start` returns at once. In optimisation the engine searches solutions better than the `incumbent`, which the caller
    has already, but may return worse solutions where the incumbent lacks the values of some variables. `poll` returns
    the solutions that have arrived since the last call, in optimisation only improvements (a worse solution may follow
    a better solution when two blocks are close). `running` turns False after the last block has left; then one more
    `poll` empties the ring. `repeats` is whether a solution may be found twice; `complete` is whether the whole space
    was searched; `name` and `shape` are for statistics. `stop` asks all blocks to leave; `close` frees all resources,
    after a stop if the engine is running.
    """

    @property
    def name(self) -> str: ...

    @property
    def shape(self) -> dict[str, Any]: ...  # how the launch is laid out, as statistics

    @property
    def repeats(self) -> bool: ...

    def start(self, incumbent: Found | None = None) -> None: ...

    def poll(self) -> list[Found]: ...

    @property
    def running(self) -> bool: ...

    @property
    def complete(self) -> bool: ...

    @property
    def bound(self) -> int:
        """The proved lower bound of sense * objective; final after the last block has left."""
        ...

    @property
    def prover(self) -> str:
        """The engine and method that have searched the whole space, such as "cpu finder"; empty without such an
        engine."""
        ...

    def adopt(self, found: Found) -> None:
        """Takes a solution that the caller has found itself: only better solutions are wanted from now on. An engine
        may ignore it."""
        ...

    def suggest(self, values: np.ndarray) -> None:
        """Takes values of the TNF's variables (int64 [n], NO_WISH without a value) near which good solutions may be; at
        any time. An engine may ignore them."""
        ...

    def post(self, row: Inequality) -> None:
        """Takes an inequality that the caller has proved, which learners may propagate; at any time. An engine that has
        no solution with sense * objective of at most `under` ignores it, and any engine may."""
        ...

    def raise_bound(self, bound: int) -> None:
        """Takes a lower bound of sense * objective that the caller has proved for all solutions; at any time."""
        ...

    def roots(self) -> Roots | None:
        """The root bounds that the engine has proved, or None without new bounds since the last call; at any time."""
        ...

    def tighten(self, roots: Roots) -> None:
        """Takes root bounds that others have proved, while the engine is running. The caller has a solution with sense
        * objective of at most `under`; an engine without such a solution ignores the bounds, and any engine may ignore
        them."""
        ...

    @property
    def open_work(self) -> int:
        """The number of open subproblems, in blocks and between them, while the engine is running."""
        ...

    def stop(self) -> None: ...

    def halt(self) -> None:
        """The part of `stop` that a signal handler may call, between any two steps of the thread that drives the
        engine: asks blocks on processors of the host to leave. `stop` follows."""
        ...

    def statistics(self) -> dict[str, int]:
        """A count for each name of abi.STATISTICS, and possibly others."""
        ...

    def methods(self) -> np.ndarray:
        """For each of METHODS its tries, the ns of all blocks in it, and its improving solutions: int64 [methods,
        BOOKED]."""
        ...

    def close(self) -> None: ...


# The statistics that are maxima over the blocks; the others are sums.
MAXIMA = ("peak_level",)
DEPTHS = ("nodes", "length", "iterations", "propagations")  # the fields of abi.DepthCounts


def merge_statistics(blocks: np.ndarray, names: list[str]) -> dict[str, int]:
    """The statistics of all blocks together (`blocks`: int64 [blocks, statistics]): sums, but maxima for MAXIMA."""
    return {
        name: int(blocks[:, i].max() if name in MAXIMA else blocks[:, i].sum()) if len(blocks) else 0
        for i, name in enumerate(names)
    }


def depth_statistics(depths: np.ndarray) -> dict[str, int]:
    """A statistic for each class of depths and each field of DepthCounts (`depths`: int64 [classes, fields])."""
    return {f"depth_{place}_{name}": int(row[i]) for place, row in enumerate(depths) for i, name in enumerate(DEPTHS)}


def no_books() -> np.ndarray:
    """The result of Engine.methods where no method was used."""
    return np.zeros((len(METHODS), BOOKED), dtype=np.int64)


def method_statistics(books: np.ndarray) -> dict[str, float]:
    """Statistics of the methods that were used: tries, share of the blocks' time, and improving solutions. `books` are
    their tries, ns and improving solutions (int64 [methods, BOOKED])."""
    total = max(int(books[:, 1].sum()), 1)
    statistics: dict[str, float] = {}
    for name, (tries, spent, improvements) in zip(METHODS, books.tolist()):
        if tries:
            statistics |= {f"{name}Tries": tries, f"{name}Share": spent / total, f"{name}Improvements": improvements}
    return statistics
