"""The interface by which the root of a relaxation and its branch and bound see their driver.

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
    """The part that both need."""

    @property
    def best(self) -> int:
        """sense * objective of the best solution known, NO_SOLUTION for none. Only better ones are wanted."""
        ...

    def narrow(self, lower: np.ndarray, upper: np.ndarray) -> Store | None:
        """The bounds (int64 [columns]) that better solutions in a box have; None where there are none."""
        ...

    def offer(self, relaxation: Relaxation, values: np.ndarray) -> None:
        """Takes an integral point (float [columns]), which may be a solution."""
        ...

    def suggest(self, values: np.ndarray) -> None:
        """Takes the point (float [columns]) of a linear program, near which good solutions may be."""
        ...

    def count_ray(self, is_proof: bool) -> None:
        """Takes the end of an infeasible linear program: whether its ray proves exactly that nothing is in the box."""
        ...

    def wants_reason(self) -> bool:
        """Whether a node should give a reason."""
        ...

    def reason(
        self, multipliers: np.ndarray, rows: LinearRows, lower: np.ndarray, upper: np.ndarray, name: str = ""
    ) -> None:
        """Takes multipliers (integers [m]) of these rows, whose sum is an inequality that holds in general; it replaces
        one with the same name. lower, upper (int64 [columns]): bounds of all better solutions."""
        ...

    def account(self, seconds: float) -> None:
        """Takes an estimate of the work done, in seconds."""
        ...

    def work_time(self) -> float:
        """The seconds of work until now."""
        ...


class RootListener(Listener, Protocol):
    """The further part that the root needs, since it loops by itself."""

    def is_done(self) -> bool:
        """Whether the root shall end."""
        ...

    def now(self) -> float:
        """Seconds since a fixed moment."""
        ...

    def publish(self, bound: int) -> None:
        """Takes a bound of sense * objective that holds for all solutions better than the best known."""
        ...
