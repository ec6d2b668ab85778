"""The interface through which the root of a relaxation and its branch and bound use their driver.

The driver (thread/relaxation_thread.py) imports them, not the other way round. Bounds and objectives are values of
sense * objective.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from turbo_fzn.bounds.lp.relaxation import LinearRows, Relaxation

NO_SOLUTION = 2**63 - 1  # format: larger than any bound

Store = tuple[np.ndarray, np.ndarray]  # lower and upper bounds


class Listener(Protocol):
    """The part used by both the root and branch and bound."""

    @property
    def best(self) -> int:
        """sense * objective of the best solution known, or NO_SOLUTION. Only better solutions are sought."""
        ...

    def narrow(self, lower: np.ndarray, upper: np.ndarray) -> Store | None:
        """The bounds (int64 [columns]) of better solutions in a box; None where it has no better solution."""
        ...

    def offer(self, relaxation: Relaxation, values: np.ndarray) -> None:
        """Takes an integral point (float [columns]), which may be a solution."""
        ...

    def suggest(self, values: np.ndarray) -> None:
        """Takes the point (float [columns]) of a linear program, near which good solutions may be."""
        ...

    def count_ray(self, is_proof: bool) -> None:
        """Counts the ray of an infeasible linear program: `is_proof` if it proves exactly that the box has no
        solution."""
        ...

    def wants_reason(self) -> bool:
        """Whether a node should give a reason."""
        ...

    def reason(
        self, multipliers: np.ndarray, rows: LinearRows, lower: np.ndarray, upper: np.ndarray, name: str = ""
    ) -> None:
        """Takes multipliers (integers [m]) of these rows, whose sum is an inequality that holds in general; it replaces
        the inequality of the same name. lower, upper (int64 [columns]): bounds of all better solutions."""
        ...

    def account(self, seconds: float) -> None:
        """Takes an estimate of the work done, in seconds."""
        ...

    def work_time(self) -> float:
        """The seconds of work until now."""
        ...


class RootListener(Listener, Protocol):
    """The part used by the root only, which runs its own loop."""

    def is_done(self) -> bool:
        """Whether the root must stop."""
        ...

    def now(self) -> float:
        """Seconds since a fixed moment."""
        ...

    def publish(self, bound: int) -> None:
        """Takes a bound of sense * objective that holds for all solutions better than the best known."""
        ...
