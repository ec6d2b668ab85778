"""What the root of a relaxation and its branch and bound tell whoever drives them, and ask of it.

They know it by this alone; the driver (beside.py) knows them. Bounds and objectives are values of sense * objective.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from turbo_fzn.bounds.relaxation import Relaxation

NO_SOLUTION = 2**63 - 1  # a bound that nothing is above

Store = tuple[np.ndarray, np.ndarray]  # lower and upper bounds


class Listener(Protocol):
    """What both need."""

    @property
    def best(self) -> int:
        """Of the best solution known: NO_SOLUTION where there is none. Only better ones are wanted."""
        ...

    def narrow(self, lower: np.ndarray, upper: np.ndarray) -> Store | None:
        """The bounds (int64 [columns]) that better solutions in a box have; None where there are none."""
        ...

    def offer(self, relaxation: Relaxation, values: np.ndarray) -> None:
        """An integral point (float [columns]), which may be a solution."""
        ...

    def suggest(self, values: np.ndarray) -> None:
        """The point (float [columns]) of a linear program, near which good solutions may be."""
        ...

    def account(self, seconds: float) -> None:
        """So much was done, counted and not measured."""
        ...


class RootListener(Listener, Protocol):
    """What the root needs besides, since it runs on by itself."""

    def is_done(self) -> bool:
        """Whether nothing more is wanted."""
        ...

    def now(self) -> float:
        """Seconds, from some moment on."""
        ...

    def publish(self, bound: int) -> None:
        """Solutions that are better than the best known have at least this."""
        ...
