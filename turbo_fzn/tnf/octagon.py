"""Octagons: bounds of the sums and differences of two variables, a reduced product with the bounds of single variables.

An octagon is the set of solutions of constraints `±x ± y <= c` (A. Miné, Higher-Order and Symbolic Computation 2006).
Rows imply such constraints: x = y + z bounds three differences and sums by the domains of the third variable, a
comparison that is decided bounds a difference, and a minimum lies below its operands. Their closure is stronger than
single rows: x <= y and y <= z imply x <= z, for any domains. The closed bounds narrow domains, and decide comparisons.

Each variable has two signed nodes, v at 2 i and -v at 2 i + 1, and `most[a, b]` bounds a - b from above, so 2 v is
bounded by most[2 i, 2 i + 1]. The closure is Floyd and Warshall's, then bounds of single variables are rounded to
integers, and pairs of them bound sums and differences: in this order the closure over the integers is complete
(R. Bagnara, P. Hill, E. Zaffanella, HOSC 2009).

Only at the root, for models with small finite domains, and for groups of at most `octagon_variables` connected
variables: a closure takes (2 n)^3 steps. `--variant octagon` uses it; docs/measurements/journal.md has its effect.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from turbo_fzn.tnf.arrays import distinct
from turbo_fzn.tnf.language import ADD, EQ, LEQ, MAX, MIN, TNF
from turbo_fzn.tnf.tuning import TUNING

FREE = np.int64(2**50)  # no bound: beyond any sum of bounds on a path, and three of them fit into 64 bits

Bounds = tuple[np.ndarray, np.ndarray]  # lower and upper (int64 [n])


def tightened(tnf: TNF) -> Bounds | None:
    """The bounds of the variables after one closure and one pass over the rows; None if there is no solution."""
    lower, upper = tnf.lower.copy(), tnf.upper.copy()
    if tnf.is_narrow():
        for rows in _groups(tnf):
            if not _tighten(tnf, rows, lower, upper):
                return None
    return None if bool(np.any(lower > upper)) else (lower, upper)


def _groups(tnf: TNF) -> Iterator[np.ndarray]:
    """The rows with octagonal constraints (int [k]), by groups of connected variables that are not fixed."""
    rows = np.flatnonzero(np.isin(tnf.op, (ADD, MIN, MAX, EQ, LEQ)))
    leader = np.arange(tnf.n_vars)
    fixed = tnf.lower == tnf.upper
    compares = np.isin(tnf.op[rows], (EQ, LEQ))
    x, y, z = tnf.x[rows], tnf.y[rows], tnf.z[rows]
    pairs = [(y, z), (x[~compares], y[~compares]), (x[~compares], z[~compares])]
    ends = [np.concatenate(part) for part in zip(*pairs)]
    both = ~fixed[ends[0]] & ~fixed[ends[1]]
    for a, b in zip(ends[0][both].tolist(), ends[1][both].tolist()):
        leader[_find(leader, a)] = _find(leader, b)
    for variable in range(tnf.n_vars):
        leader[variable] = _find(leader, variable)
    own = np.where(fixed[y], z, y)
    own = np.where(fixed[own], x, own)
    sizes = np.bincount(leader[~fixed], minlength=tnf.n_vars)
    for group in distinct(leader[own[~fixed[own]]]).tolist():
        if 1 < sizes[group] <= TUNING.octagon_variables:
            yield rows[leader[own] == group]


def _find(leader: np.ndarray, variable: int) -> int:
    while leader[variable] != variable:
        leader[variable] = leader[leader[variable]]
        variable = int(leader[variable])
    return variable


def _tighten(tnf: TNF, rows: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> bool:
    """Closes the octagon of the rows, and tightens the bounds by it. Returns False if there is no solution."""
    compares = np.isin(tnf.op[rows], (EQ, LEQ))
    members = distinct(np.concatenate((tnf.y[rows], tnf.z[rows], tnf.x[rows][~compares])))
    members = members[lower[members] < upper[members]]
    most = _stated(tnf, rows, members, lower, upper)
    if not close(most):
        return False
    unary = np.arange(0, 2 * len(members), 2)
    upper[members] = np.minimum(upper[members], most[unary, unary + 1] // 2)
    lower[members] = np.maximum(lower[members], -(most[unary + 1, unary] // 2))
    place = np.full(tnf.n_vars, -1)
    place[members] = unary
    for row in rows.tolist():
        _look_at(tnf, row, place, most, lower, upper)
    return True


def _stated(tnf: TNF, rows: np.ndarray, members: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """The octagonal bounds that domains and rows imply for these variables (int64 [2 k, 2 k])."""
    most = np.full((2 * len(members), 2 * len(members)), FREE)
    np.fill_diagonal(most, 0)
    place = np.full(tnf.n_vars, -1)
    place[members] = np.arange(0, 2 * len(members), 2)
    unary = place[members]
    most[unary, unary + 1], most[unary + 1, unary] = 2 * upper[members], -2 * lower[members]

    def say(a: int, b: int, bound: int) -> None:
        """States a - b <= bound of signed nodes, which is also -b - -a <= bound."""
        most[a, b] = most[b ^ 1, a ^ 1] = min(most[a, b], bound)

    for row in rows.tolist():
        op, x, y, z = int(tnf.op[row]), int(tnf.x[row]), int(tnf.y[row]), int(tnf.z[row])
        at_x, at_y, at_z = int(place[x]), int(place[y]), int(place[z])
        if op == ADD:
            for left, right, third in ((at_x, at_y, z), (at_x, at_z, y)):
                if left >= 0 and right >= 0:
                    say(left, right, int(upper[third]))
                    say(right, left, -int(lower[third]))
            if at_y >= 0 and at_z >= 0:
                say(at_y, at_z ^ 1, int(upper[x]))
                say(at_y ^ 1, at_z, -int(lower[x]))
        elif op in (MIN, MAX) and at_x >= 0:
            for operand in (at_y, at_z):
                if operand >= 0:
                    say(*((at_x, operand) if op == MIN else (operand, at_x)), 0)
        elif op in (EQ, LEQ) and at_y >= 0 and at_z >= 0:
            if lower[x] >= 1:
                say(at_y, at_z, 0)
                if op == EQ:
                    say(at_z, at_y, 0)
            elif upper[x] <= 0 and op == LEQ:
                say(at_z, at_y, -1)
    return most


def close(most: np.ndarray) -> bool:
    """Closes a matrix of integer bounds (int64 [2 n, 2 n]), each of which it contains twice, for a - b and for -b - -a.
    Returns False if there is no solution."""
    for middle in range(len(most)):
        np.minimum(most, most[:, middle, None] + most[None, middle, :], out=most)
    nodes = np.arange(len(most))
    opposite = nodes ^ 1
    alone = most[nodes, opposite] // 2  # bounds of 2 v, rounded to an integer v
    if np.any(most[nodes, nodes] < 0) or np.any(alone + alone[opposite] < 0):
        return False
    most[nodes, opposite] = 2 * alone
    np.minimum(most, alone[:, None] + alone[opposite][None, :], out=most)
    return True


def _look_at(
    tnf: TNF, row: int, place: np.ndarray, most: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> None:  # fmt: skip
    """Tightens the domains of a row by the closed bounds of its pairs."""
    op, x, y, z = int(tnf.op[row]), int(tnf.x[row]), int(tnf.y[row]), int(tnf.z[row])
    at_x, at_y, at_z = int(place[x]), int(place[y]), int(place[z])
    if op == ADD:
        for left, right, third in ((at_x, at_y, z), (at_x, at_z, y)):
            if left >= 0 and right >= 0:
                _narrow(third, -int(most[right, left]), int(most[left, right]), lower, upper)
        if at_y >= 0 and at_z >= 0:
            _narrow(x, -int(most[at_y ^ 1, at_z]), int(most[at_y, at_z ^ 1]), lower, upper)
    elif op in (EQ, LEQ) and at_y >= 0 and at_z >= 0:
        greatest, least = int(most[at_y, at_z]), -int(most[at_z, at_y])  # bounds of y - z
        is_true = greatest <= 0 and (op == LEQ or least >= 0)
        is_false = least > 0 or (op == EQ and greatest < 0)
        _narrow(x, int(is_true), int(not is_false), lower, upper)


def _narrow(variable: int, least: int, greatest: int, lower: np.ndarray, upper: np.ndarray) -> None:
    lower[variable] = max(lower[variable], least)
    upper[variable] = min(upper[variable], greatest)
