"""Bounds from the linear relaxation (turbo_fzn/bounds) for a search: when they are sought, and what passes between the two.

The relaxation is of the FlatZinc model, with the bounds of the TNF at its root fixpoint: those hold in every solution.
Names that the simplifier found equal are one variable.
"""

from __future__ import annotations

import numpy as np

from turbo_fzn.bounds.beside import Beside
from turbo_fzn.bounds.relaxation import Relaxation
from turbo_fzn.domains import BOOLEAN, INFINITY, IntSet
from turbo_fzn.engine.contract import Engine
from turbo_fzn.read.model import Model
from turbo_fzn.run.judge import Prepared


class Bounding:
    """A relaxation at work beside a search, and the engine that it helps."""

    def __init__(self, prepared: Prepared):
        self.beside = Beside(lambda: relaxation_of(prepared))
        self.sense = prepared.tnf.sense
        self.told = self.beside.bound

    def start(self) -> None:
        self.beside.start()

    def exchange(self, engine: Engine, best: int | None) -> None:
        """Tells the relaxation the objective of the best solution, and the engine what was proved."""
        if best is not None:
            self.beside.tell(self.sense * best)
        bound = self.beside.bound
        if bound > self.told:
            self.told = bound
            engine.raise_bound(bound)

    def close(self) -> None:
        self.beside.stop()


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
