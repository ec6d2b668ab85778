"""Bounds from the linear relaxation (turbo_fzn/bounds) for a search: when they are sought, and what passes between the two.

The relaxation is of the FlatZinc model, with the bounds of the TNF at its root fixpoint: those hold in every solution.
Names that the simplifier found equal are one variable.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace

import numpy as np

from turbo_fzn.bounds.beside import Beside
from turbo_fzn.bounds.relaxation import Relaxation
from turbo_fzn.domains import BOOLEAN, INFINITY, IntSet
from turbo_fzn.engine import cpu
from turbo_fzn.engine.contract import Engine, Found
from turbo_fzn.read.model import Model
from turbo_fzn.run.judge import Prepared

RELAXATION = -1  # the block that such solutions are said to be of


class Bounding:
    """A relaxation at work beside a search, and the engine that it helps. Solutions carry the values of `exports`."""

    def __init__(self, prepared: Prepared, exports: np.ndarray):
        self.prepared, self.exports = prepared, exports
        self.beside = Beside(lambda: relaxation_of(prepared), self.complete)
        self.sense = prepared.tnf.sense
        self.told = self.beside.bound
        self.found: deque[Found] = deque()

    def start(self) -> None:
        self.beside.start()

    def exchange(self, engine: Engine, best: int | None) -> list[Found]:
        """Tells the relaxation the objective of the best solution, and the engine what was proved; returns the solutions
        that the relaxation has led to."""
        if best is not None:
            self.beside.tell(self.sense * best)
        bound = self.beside.bound
        if bound > self.told:
            self.told = bound
            engine.raise_bound(bound)
        new = [self.found.popleft() for _ in range(len(self.found))]
        for found in new:
            engine.adopt(found)
        return new

    def proves(self, best: int | None) -> bool:
        return best is not None and self.told >= self.sense * best

    def close(self) -> None:
        self.beside.stop()
        self.beside.join()

    def complete(self, relaxation: Relaxation, values: np.ndarray) -> int | None:
        """In the relaxation's thread: the solution that has these values (int64 [columns]), if propagation finds it.
        Returns sense * objective."""
        tnf, back = self.prepared.tnf, self.prepared.reconstruction
        known = relaxation.variables >= 0
        places, wanted = relaxation.variables[known], values[known]
        if back is not None:
            places = back.position[places]
            places, wanted = places[places >= 0], wanted[places >= 0]
        lower, upper = tnf.lower.copy(), tnf.upper.copy()
        if np.any(wanted < lower[places]) or np.any(wanted > upper[places]):
            return None
        lower[places] = upper[places] = wanted
        bounds = cpu.propagate(replace(tnf, lower=lower, upper=upper))
        if bounds is None or np.any(bounds[0] < bounds[1]):
            return None
        solution = bounds[0]
        objective = int(solution[tnf.objective])
        self.found.append(Found(objective, RELAXATION, "relaxation", solution[self.exports]))
        return tnf.sense * objective


def relaxation_of(prepared: Prepared) -> Relaxation | None:
    from turbo_fzn.bounds.linearise import linearise

    assert prepared.model is not None
    numbers, lower, upper = root_bounds(prepared)
    return linearise(prepared.model, numbers, lower, upper)


def root_bounds(prepared: Prepared) -> tuple[dict[str, int], np.ndarray, np.ndarray]:
    """(numbers, lower, upper): the number of each name, and the bounds (int64) by number."""
    assert prepared.model is not None
    tnf, back = prepared.tnf, prepared.reconstruction
    if back is None:
        return dict(prepared.origin), tnf.lower, tnf.upper
    numbers = {name: int(back.representative[number]) for name, number in prepared.origin.items()}
    lower, upper = np.full(len(back.position), -INFINITY), np.full(len(back.position), INFINITY)
    alive = back.position >= 0
    lower[alive], upper[alive] = tnf.lower[back.position[alive]], tnf.upper[back.position[alive]]
    defined = np.zeros(len(alive), bool)  # by a row that was removed, so that its value is none of a constant
    for rows in back.removed:
        defined[rows.x] = True
    constant = ~alive & ~defined
    lower[constant] = upper[constant] = back.value[constant]
    declare(prepared.model, numbers, defined, lower, upper)
    return numbers, lower, upper


def declare(model: Model, numbers: dict[str, int], chosen: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> None:
    """The bounds of some variables as the model declares them, into `lower` and `upper`."""
    for variable in model.variables.values():
        number = numbers[variable.name]
        domain = BOOLEAN if variable.kind == "bool" else variable.domain
        if chosen[number] and isinstance(domain, IntSet) and domain:
            lower[number], upper[number] = max(lower[number], domain.lower), min(upper[number], domain.upper)
