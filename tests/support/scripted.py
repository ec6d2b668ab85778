"""Engines that do what they are told, and a team of two of them, driven event by event: without models."""

from __future__ import annotations

import math
import threading

import numpy as np

from support.command import PATIENCE
from turbo_fzn.engine.contract import Engine, Found, Inequality, Roots, no_books
from turbo_fzn.engine.together.team import Team


class Scripted:
    """An engine that finds what it is told to find; `finish` ends it. It says what it was asked, and fails where it is
    told to."""

    def __init__(self, name: str = "first"):
        self.name, self.shape, self.asked = name, {"blocks": 1}, []
        self.is_running = self.is_complete = False
        self.lowest = 5 if name == "first" else 6
        self.arrived: list[Found] = []
        self.known: Roots | None = None
        self.proof = "tree"
        self.failing: set[str] = set()

    def meet(self, question: str) -> None:
        if question in self.failing:
            raise RuntimeError(f"no {question}")

    def start(self, incumbent: Found | None = None) -> None:
        self.meet("start")
        self.asked.append(("start", incumbent and incumbent.objective))
        self.is_running = True

    def finish(self, complete: bool) -> None:
        self.is_running, self.is_complete = False, complete

    @property
    def running(self) -> bool:
        self.meet("running")
        return self.is_running

    @property
    def complete(self) -> bool:
        self.meet("complete")
        return self.is_complete

    @property
    def bound(self) -> int:
        self.meet("bound")
        return self.lowest

    @property
    def prover(self) -> str:
        self.meet("prover")
        return f"{self.name} {self.proof}" if self.is_complete and self.proof else ""

    def poll(self) -> list[Found]:
        self.meet("poll")
        found, self.arrived = self.arrived, []
        return found

    def stop(self) -> None:
        self.meet("stop")
        self.asked.append("stop")

    def halt(self) -> None:
        self.asked.append("halt")

    def suggest(self, values: np.ndarray) -> None:
        self.meet("suggest")
        self.asked.append(("suggest", values.tolist()))

    def post(self, row: Inequality) -> None:
        self.meet("post")
        self.asked.append(("post", row.variables.tolist(), row.coefficients.tolist(), row.high))

    def raise_bound(self, bound: int) -> None:
        self.meet("raise_bound")
        self.asked.append(("bound", bound))

    def roots(self) -> Roots | None:
        self.meet("roots")
        known, self.known = self.known, None
        return known

    def tighten(self, roots: Roots) -> None:
        self.meet("tighten")
        self.asked.append(("roots", roots.sides.tolist(), roots.under))

    def adopt(self, found: Found) -> None:
        self.meet("adopt")
        self.asked.append(("adopt", found.objective))

    def statistics(self) -> dict[str, int]:
        self.meet("statistics")
        return {"nodes": 10, "peak_level": 3 if self.name == "first" else 2}

    def methods(self) -> np.ndarray:
        """One uses the first method once for a second, the other one twice and the second method as well."""
        self.meet("methods")
        books = no_books()
        books[:2] = [[1, 10**9, 0], [0, 0, 0]] if self.name == "first" else [[2, 10**9, 1], [4, 2 * 10**9, 5]]
        return books

    def close(self) -> None:
        self.meet("close")
        self.asked.append("close")
        self.is_running = False


def found(objective: int) -> Found:
    return Found(objective, 0, "tree", np.array([objective]))


class Scene:
    """A team of two scripted engines; the second is ready when `ready` is called, or cannot be made."""

    def __init__(self, sense: int, failure: Exception | None = None):
        self.first, self.second = Scripted(), Scripted("second")
        self.begun, self.gate, self.failure = threading.Event(), threading.Event(), failure
        self.team = Team(self.first, [self._make], sense)
        self.team.next_exchange = math.inf
        self.team.start()

    def _make(self) -> Engine:
        self.begun.set()
        assert self.gate.wait(PATIENCE)
        if self.failure is not None:
            raise self.failure
        return self.second

    def ready(self) -> None:
        self.gate.set()
        self.team.others[0].maker.thread.join(PATIENCE)

    def exchange(self) -> list[Found]:
        """The next poll, at which what is proved is exchanged."""
        self.team.next_exchange = 0.0
        found = self.team.poll()
        assert self.team.next_exchange > 0, "for a moment now"
        self.team.next_exchange = math.inf
        return found

    def joined(self) -> Scene:
        """The scene after the second engine has joined."""
        self.ready()
        assert self.team.poll() == [] and self.team.name == "first+second"
        return self
