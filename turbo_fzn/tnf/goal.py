"""The objective as a sum of variables, in which learners look for cores (kernels/learn/analysis/cores.h).

The ternary form defines an objective by trees of sums. Each equation `x = y + z` or `x = c * y` holds in all solutions,
so a variable may be replaced by the others, even if other rows use it, unless the others are defined by it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from turbo_fzn.tnf.language import TNF, Op
from turbo_fzn.tnf.tuning import TUNING

Part = tuple[int, int]  # a factor and a variable


class Goal(NamedTuple):
    """sense * objective = constant + factors * variables (int64 [k] each); the variables are distinct and unfixed."""

    constant: int
    variables: np.ndarray
    factors: np.ndarray


def goal_of(tnf: TNF) -> Goal | None:
    """The objective as a sum of variables; None if it is no sum, has fewer than `core_terms` terms, or is too large."""
    if tnf.sense == 0:
        return None
    constant, factors = _Sum(tnf).factors()
    variables, weights = list(factors), list(factors.values())
    magnitude = [max(abs(int(tnf.lower[v])), abs(int(tnf.upper[v]))) for v in variables]
    total = abs(constant) + sum(abs(weight) * most for weight, most in zip(weights, magnitude))
    if len(variables) < TUNING.core_terms or total >= TUNING.largest_sum:
        return None
    if max(map(abs, weights), default=0) > TUNING.largest_coefficient:
        return None
    return Goal(constant, np.array(variables, np.int64), np.array(weights, np.int64))


class _Sum:
    """The rows that state variables as sums or as multiples of others.

    Usually this is the row whose result the variable is. A link, which exactly two rows name, may be defined by either
    row, and so may an objective that is the result of no row: `0 = x + y` defines x = -y."""

    def __init__(self, tnf: TNF):
        self.tnf = tnf
        fixed = tnf.lower == tnf.upper
        sums, products = np.flatnonzero(tnf.op == Op.ADD), np.flatnonzero(tnf.op == Op.MUL)
        products = products[fixed[tnf.y[products]] | fixed[tnf.z[products]]]
        slots = (tnf.x, tnf.y, tnf.z[tnf.op != Op.ELEMENT])
        is_link = np.bincount(np.concatenate(slots), minlength=tnf.n_vars) == 2
        is_link[tnf.objective] = True
        # As lists, since a walk through tens of thousands of rows follows.
        self.fixed, self.is_link, self.lower = fixed.tolist(), is_link.tolist(), tnf.lower.tolist()
        self.result_of = self._first_rows(np.concatenate((sums, products)), "x").tolist()
        self.operand_of = np.maximum(self._first_rows(sums, "y"), self._first_rows(sums, "z")).tolist()
        self.rows = list(zip(*(column.tolist() for column in (tnf.op, tnf.x, tnf.y, tnf.z))))

    def _first_rows(self, rows: np.ndarray, slot: str) -> np.ndarray:
        """For each variable the first of these rows with it in that slot, or -1."""
        first = np.full(self.tnf.n_vars, -1)
        first[getattr(self.tnf, slot)[rows[::-1]]] = rows[::-1]
        return first

    def factors(self) -> tuple[int, dict[int, int]]:
        """(constant, factor of each variable that is left) of sense * objective."""
        constant, left, factors = 0, {}, {self.tnf.objective: self.tnf.sense}
        for variable, operands in self._users_first():
            factor = factors.pop(variable)
            if self.fixed[variable]:
                constant += factor * self.lower[variable]
            elif not operands and factor:
                left[variable] = factor
            for part, operand in operands:
                factors[operand] = factors.get(operand, 0) + factor * part
        return constant, left

    def _users_first(self) -> list[tuple[int, list[Part]]]:
        """The variables below the objective, each with the (factor, operand) that replace it; each after all variables
        that have it as an operand. A variable that would be defined by itself has no replacement."""
        order: list[tuple[int, list[Part]]] = []
        operands: dict[int, list[Part]] = {}
        above: set[int] = set()
        stack = [(self.tnf.objective, -1, False)]
        while stack:
            variable, user, is_done = stack.pop()
            if is_done:
                above.discard(variable)
                order.append((variable, operands[variable]))
            elif variable not in operands:
                above.add(variable)
                row, own = self._operands(variable, user)
                operands[variable] = [] if any(operand in above for _, operand in own) else own
                stack.append((variable, user, True))
                stack += [(operand, row, False) for _, operand in operands[variable]]
        return order[::-1]

    def _operands(self, variable: int, user: int) -> tuple[int, list[Part]]:
        """A row other than `user` that defines the variable, and the (factor, operand) of the definition; empty for a
        constant."""
        row = self.result_of[variable]
        if self.fixed[variable]:
            return -1, []
        if row not in (-1, user):
            op, _, y, z = self.rows[row]
            if op == Op.ADD:
                return row, [(1, y), (1, z)]
            return row, [(self.lower[z], y)] if self.fixed[z] else [(self.lower[y], z)]
        row = self.operand_of[variable]
        if row in (-1, user) or not self.is_link[variable]:
            return -1, []
        _, x, y, z = self.rows[row]
        other = y if z == variable else z
        return row, [] if other == variable else [(1, x), (-1, other)]
