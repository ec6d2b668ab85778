"""What an engine is to the rest: start, poll, stop, close. cpu.py and gpu.py keep this contract, and so do
the teams of them (team.py) and all ranks together (ranks/ranks.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

NO_WISH = -(2**63)


class Found(NamedTuple):
    """A solution out of an engine: objective value (0 to satisfy), the block that found it and by which method
    (abi.METHODS), exported values int64, and the name of the engine."""

    objective: int
    block: int
    method: str
    values: np.ndarray
    engine: str = ""

    @property
    def finder(self) -> str:
        """As in "gpu window"."""
        return f"{self.engine} {self.method}".strip()


class Roots(NamedTuple):
    """Root bounds of all variables: `sides` (int64 [2 n]), for each the lower one and minus the upper one, which only
    grow. They hold in all solutions with sense * objective below `under`."""

    sides: np.ndarray
    under: int

    def joined(self, other: Roots | None) -> Roots:
        """What both say together."""
        if other is None:
            return self
        return Roots(np.maximum(self.sides, other.sides), min(self.under, other.under))


class Engine(Protocol):
    """One run of one TNF model.

    `start` returns at once; in optimisation solutions are wanted that are better than the `incumbent`, a solution
    that the caller has already, but worse ones may be found where it lacks the values of some variables. `poll`
    returns the solutions that have arrived since the last call, improving ones only in optimisation (a worse one may
    follow a better one when two blocks are close). `running` turns False after the last block has left; then one more
    `poll` empties the ring. `repeats` says whether an assignment of all variables may be found twice, `name` and
    `shape` are for statistics. `complete` says whether the whole space was searched. `stop` asks all blocks to leave;
    `close` gives everything back, and stops first if need be.
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
        """What sense * objective was proved to be at least; after the last block has left."""
        ...

    @property
    def prover(self) -> str:
        """Which engine has searched the whole space, and by which method, as in "cpu finder"; empty where none has."""
        ...

    def adopt(self, found: Found) -> None:
        """The caller has found a solution itself: better ones are wanted from now on. An engine may leave it."""
        ...

    def suggest(self, values: np.ndarray) -> None:
        """Values of the TNF's variables (int64 [n], NO_WISH where there is none) near which good solutions may be, at
        any time. An engine may leave it."""
        ...

    def raise_bound(self, bound: int) -> None:
        """The caller has proved that sense * objective is at least this, in all solutions; at any time."""
        ...

    def roots(self) -> Roots | None:
        """The root bounds that it knows, at any time; None where there is nothing new since the last call."""
        ...

    def tighten(self, roots: Roots) -> None:
        """Root bounds that others have proved, while it runs. The caller has a solution with sense * objective of at
        most `under`, which the engine has found or was told; one that has not, or has no use for them, leaves them."""
        ...

    @property
    def open_work(self) -> int:
        """How many subproblems there are to be searched, in blocks and between them, while the engine runs."""
        ...

    def stop(self) -> None: ...

    def halt(self) -> None:
        """What a signal handler may do of `stop`, between any two steps of the thread that drives the engine: blocks
        that take processors of the host leave. `stop` follows."""
        ...

    def statistics(self) -> dict[str, int]:
        """A figure for each name of abi.STATISTICS at least."""
        ...

    def methods(self) -> dict[str, float]:
        """How much each method of the portfolio was used and what it brought, see `method_statistics`."""
        ...

    def close(self) -> None: ...


# How statistics of blocks become one figure; what is not here is a sum.
MAXIMA = ("peak_level",)
DEPTHS = ("nodes", "length", "iterations", "propagations")  # the fields of abi.DepthCounts


def merge_statistics(blocks: np.ndarray, names: list[str]) -> dict[str, int]:
    """`blocks` is int64 [blocks, statistics]; sums over the blocks, but maxima where MAXIMA says so."""
    return {
        name: int(blocks[:, i].max() if name in MAXIMA else blocks[:, i].sum()) if len(blocks) else 0
        for i, name in enumerate(names)
    }


def depth_statistics(depths: np.ndarray) -> dict[str, int]:
    """`depths` is int64 [classes, fields of DepthCounts]; one figure each, which can be added up."""
    return {f"depth_{place}_{name}": int(row[i]) for place, row in enumerate(depths) for i, name in enumerate(DEPTHS)}


def method_statistics(books: np.ndarray, names: Sequence[str]) -> dict[str, float]:
    """`books` is int64 [methods, ...] with tries, time and improvements first; statistics of the methods that were
    used: how often, their share of the blocks' time, and the solutions that were better than all before."""
    total = max(int(books[:, 1].sum()), 1)
    statistics: dict[str, float] = {}
    for name, (tries, spent, improvements, *_) in zip(names, books.tolist()):
        if tries:
            statistics |= {f"{name}Tries": tries, f"{name}Share": spent / total, f"{name}Improvements": improvements}
    return statistics
