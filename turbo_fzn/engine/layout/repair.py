"""The arrays of a walk (kernels/repair): the rows that define variables, their order, and the rows that read a
variable.

A row can define one variable: x of `x = y op z`, the truth of a sum, or a term with factor ±1 of an equation. Each
variable gets at most one of the rows that can define it, and definitions must not go round in circles. The order is
made round by round: a variable that depends on free and ready variables only is ready in the next round. Where a round
finds no variable, the remaining definitions form cycles, and some of their variables become free.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.engine.abi.abi import Problem
from turbo_fzn.engine.abi.aligned import align16, columns
from turbo_fzn.engine.abi.model_records import Definition, Reach, Reader
from turbo_fzn.engine.tuning import TUNING
from turbo_fzn.tnf.arrange import Arranged
from turbo_fzn.tnf.arrays import distinct
from turbo_fzn.tnf.language import TNF, Op
from turbo_fzn.tnf.linear_rows import LinearKind, Linears

HEADER_BYTES = 88  # format: of a WalkHeader
MOST_CHANGES = 4  # format: of a move, as in the kernels
MOST_VALUE = 2**40  # formula: in a domain: with 64-bit stores there are larger ones; sums of violations stay exact
NOBODY = -1  # format: in place of a row or variable


@dataclass(frozen=True, eq=False, repr=False)
class Pairs:
    """Rows beside variables, int64 [k] each: a row occurs as often as it has (distinct) variables."""

    rows: np.ndarray
    variables: np.ndarray

    def where(self, mask: np.ndarray) -> Pairs:
        return Pairs(self.rows[mask], self.variables[mask])


@dataclass(frozen=True, eq=False, repr=False)
class Order:
    """`rows` (int64) define `variables` (int64), each after the rows that it depends on; `definer` (int64 [n]) is the
    row that defines a variable, or NOBODY."""

    rows: np.ndarray
    variables: np.ndarray
    definer: np.ndarray


def can_walk(tnf: TNF) -> bool:
    """Whether walks support the model: all its constraints, over integers of a limited size."""
    largest = max(abs(tnf.lower).max(initial=0), abs(tnf.upper).max(initial=0))
    return (
        tnf.floats is None
        and not tnf.needs_learners
        and tnf.n_rows <= TUNING.walked_rows
        and bool(largest <= MOST_VALUE)
    )


def arrays(
    tnf: TNF, stored: TNF, arranged: Arranged | None, decisions: np.ndarray, walks: bool
) -> dict[str, np.ndarray]:
    """The arrays of `pack` for a block's store (arranged.py), or of `nothing` where no block walks or can."""
    if not (walks and can_walk(tnf)):
        return nothing()
    return pack(stored, None if arranged is None else arranged.sums, decisions[decisions < stored.n_vars])


def pack(stored: TNF, sums: Linears | None, decisions: np.ndarray) -> dict[str, np.ndarray]:
    """The arrays of a walk by their names in Problem: of a store's variables and ternary rows, its sums, and the
    decision variables (int [k]), which stay free where that is possible."""
    terms = terms_of(stored, sums)
    order = in_order(stored, sums, decisions, terms)
    places = _places(order, stored.n_rows + (0 if sums is None else sums.n_rows))
    return {
        "definitions": _definitions(stored, sums, order),
        "definition_places": places,
        "sum_scales": _scales(sums),
        **_readers(stored, sums, order, terms, places),
    }


def nothing() -> dict[str, np.ndarray]:
    """The arrays of `pack`, all empty: no block walks."""
    return {
        "definitions": columns(Definition, row=(), var=(), sign=(), spare=()),
        "definition_places": np.zeros(0, np.int32),
        "sum_scales": np.zeros(0, np.int32),
        "reaches": columns(Reach, start=(), rows=(), end=(), definer=()),
        "readers": columns(Reader, row=(), factor=(), place=(), spare=()),
    }


def count(problem: Problem, arrays: dict[str, np.ndarray]) -> None:
    """Sets the fields of `problem` that contain the sizes of these arrays."""
    problem.walks, problem.n_definitions = int(len(arrays["reaches"]) > 0), len(arrays["definitions"])


def walk_bytes(n_vars: int, n_rows: int, bits: int, arrays: dict[str, np.ndarray]) -> int:
    """The memory of a walk on a store of so many variables and rows: the sum of kernels/repair/state.h."""
    if not len(arrays["reaches"]):
        return 0
    words = (len(arrays["definitions"]) + 31) // 32
    bound = bits // 8
    a_constraint, a_variable = [4] * 6, [8, 2 * bound * MOST_CHANGES, bound, bound]
    sizes = [HEADER_BYTES, len(arrays["sum_scales"]) * 8, words * 4, (words + 31) // 32 * 4]
    sizes += [size * (n_rows + n_vars) for size in a_constraint] + [size * n_vars for size in a_variable]
    return sum(align16(size) for size in sizes)


def terms_of(stored: TNF, sums: Linears | None) -> Pairs:
    """The terms of all sums, whose rows are numbered after the ternary rows."""
    if sums is None:
        return Pairs(np.zeros(0, np.int64), np.zeros(0, np.int64))
    rows = stored.n_rows + np.repeat(np.arange(sums.n_rows), sums.sizes)
    return Pairs(rows, sums.variables.astype(np.int64))


def in_order(stored: TNF, sums: Linears | None, decisions: np.ndarray, terms: Pairs) -> Order:
    """The rows that define variables, in order."""
    definer = _definers(stored, sums, decisions)
    inputs = _inputs(stored, terms)
    defined = np.flatnonzero(definer != NOBODY)
    output = np.full(stored.n_rows + (0 if sums is None else sums.n_rows), NOBODY)
    output[definer[defined]] = defined
    own = output[inputs.rows] == inputs.variables  # the term that an equation defines
    needed = inputs.where((output[inputs.rows] != NOBODY) & (definer[inputs.variables] != NOBODY) & ~own)
    rows, freed = _sorted_rows(output, definer, needed)
    definer[freed] = NOBODY
    return Order(rows, output[rows], definer)


def _definers(stored: TNF, sums: Linears | None, decisions: np.ndarray) -> np.ndarray:
    """For each variable a row that can define it (int64 [n]), or NOBODY; each row once.

    The truth of a sum comes first, then values, then truths of comparisons; then one term of an equation, the objective
    or the term of the largest domain, but no variable that a search decides."""
    n, m = stored.n_vars, stored.n_rows
    unfixed, decides = stored.lower < stored.upper, np.zeros(n, bool)
    decides[decisions] = True
    definer = np.full(n, NOBODY, np.int64)
    rows = np.arange(m)
    third = np.where(stored.op == Op.ELEMENT, stored.y, stored.z)
    divides = (stored.op == Op.DIV) | (stored.op == Op.MOD)
    by_zero = divides & (stored.lower[third] <= 0) & (stored.upper[third] >= 0)  # a constraint, too
    usable = unfixed[stored.x] & (stored.x != stored.y) & (stored.x != third) & ~by_zero
    compares = (stored.op == Op.EQ) | (stored.op == Op.LEQ)
    if sums is not None:
        truths = np.flatnonzero((sums.truth >= 0) & unfixed[np.maximum(sums.truth, 0)])
        _give(definer, sums.truth[truths], m + truths)
    for chosen in (usable & ~compares, usable & compares):
        _give(definer, stored.x[chosen], rows[chosen])
    if sums is not None:
        _give_equations(definer, stored, sums, unfixed & ~decides)
    return definer


def _give(definer: np.ndarray, variables: np.ndarray, rows: np.ndarray) -> None:
    """Gives each variable without a definer the first of its rows."""
    free = definer[variables] == NOBODY
    variables, first = np.unique(variables[free], return_index=True)
    definer[variables] = rows[free][first]


def _give_equations(definer: np.ndarray, stored: TNF, sums: Linears, wanted: np.ndarray) -> None:
    """Gives equations without a truth a term that they define: no truth value, which would seldom be in its domain."""
    row = np.repeat(np.arange(sums.n_rows), sums.sizes)
    size = stored.upper - stored.lower
    equation = (sums.kind == LinearKind.RANGE) & (sums.low == sums.high) & (abs(sums.low) < INFINITY)
    usable = equation[row] & (abs(sums.coefficients) == 1) & (wanted & (size > 1) & (definer == NOBODY))[sums.variables]
    rows, variables = row[usable], sums.variables[usable]
    best = np.lexsort((-size[variables], variables != stored.objective, rows))
    rows, variables = rows[best], variables[best]
    _, first = np.unique(rows, return_index=True)
    _give(definer, variables[first], stored.n_rows + rows[first])


def _inputs(stored: TNF, terms: Pairs) -> Pairs:
    """The inputs of each row; y and z twice where they are the same variable."""
    rows, binary = np.arange(stored.n_rows), stored.op != Op.ELEMENT
    return Pairs(
        np.concatenate((rows, rows[binary], terms.rows)),
        np.concatenate((stored.y, stored.z[binary], terms.variables)).astype(np.int64),
    )


def _sorted_rows(output: np.ndarray, definer: np.ndarray, needed: Pairs) -> tuple[np.ndarray, np.ndarray]:
    """(defining rows in order, variables that become free) where each row of `needed` needs a defined variable."""
    waits = np.bincount(needed.rows, minlength=len(output))
    by_variable = np.argsort(needed.variables, kind="stable")
    users = needed.rows[by_variable]
    starts = np.searchsorted(needed.variables[by_variable], np.arange(len(definer) + 1))
    is_open = output != NOBODY
    rounds: list[np.ndarray] = []
    freed: list[np.ndarray] = []
    while is_open.any():
        ready = np.flatnonzero(is_open & (waits == 0))
        circles = len(ready) == 0
        if circles:
            ready = np.flatnonzero(is_open)
            uses = starts[output[ready] + 1] - starts[output[ready]]
            ready = ready if len(freed) >= TUNING.circle_rounds else _most_used(ready, uses)
        while len(ready):
            is_open[ready] = False
            (freed if circles else rounds).append(ready)
            circles = False
            told = users[_ranges(starts[output[ready]], starts[output[ready] + 1])]
            np.subtract.at(waits, told, 1)
            told = distinct(told)
            ready = told[is_open[told] & (waits[told] == 0)]
    none = [np.zeros(0, np.int64)]
    return np.concatenate(none + rounds), output[np.concatenate(none + freed)]


def _most_used(rows: np.ndarray, uses: np.ndarray) -> np.ndarray:
    """The rows of cycles whose variables become free: some of the rows that most others need."""
    return rows[np.argsort(-uses, kind="stable")[: max(len(rows) // TUNING.circle_rounds, 1)]]


def _ranges(starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """All numbers from starts[i] to ends[i], for each i."""
    sizes = ends - starts
    return np.repeat(starts - np.concatenate(([0], np.cumsum(sizes)[:-1])), sizes) + np.arange(sizes.sum())


def _definitions(stored: TNF, sums: Linears | None, order: Order) -> np.ndarray:
    """The records Definition, in order; `sign` is the factor of the term that an equation defines."""
    sign = np.zeros(len(order.rows), np.int32)
    if sums is not None:
        number = np.full(len(order.rows), NOBODY)
        number[order.rows >= stored.n_rows] = order.rows[order.rows >= stored.n_rows] - stored.n_rows
        row = np.repeat(np.arange(sums.n_rows), sums.sizes)
        place = np.full(sums.n_rows, NOBODY)
        place[number[number >= 0]] = np.flatnonzero(number >= 0)
        own = place[row] != NOBODY
        own[own] = order.variables[place[row[own]]] == sums.variables[own]
        sign[place[row[own]]] = sums.coefficients[own]
    return columns(Definition, row=order.rows, var=order.variables, sign=sign, spare=np.zeros_like(sign))


def _places(order: Order, n_rows: int) -> np.ndarray:
    places = np.full(n_rows, NOBODY, np.int32)
    places[order.rows] = np.arange(len(order.rows))
    return places


def _scales(sums: Linears | None) -> np.ndarray:
    """For each sum the mean size of its factors (int32): a violation of this size counts as 1."""
    if sums is None:
        return np.zeros(0, np.int32)
    total = np.add.reduceat(abs(sums.coefficients.astype(np.int64)), sums.starts[:-1]) if sums.n_rows else np.zeros(0)
    return np.maximum(total // np.maximum(sums.sizes, 1), 1).astype(np.int32)


def _readers(
    stored: TNF, sums: Linears | None, order: Order, terms: Pairs, places: np.ndarray
) -> dict[str, np.ndarray]:
    """The records Reach and Reader: for each variable the sums that it is a term of, then the other rows whose
    definition or violation depends on it."""
    output = np.full(stored.n_rows + (0 if sums is None else sums.n_rows), NOBODY)
    output[order.rows] = order.variables
    factors = np.zeros(0, np.int32) if sums is None else sums.coefficients
    kept = output[terms.rows] != terms.variables
    others = _distinct(_other_readers(stored, sums, output))
    variables = np.concatenate((terms.variables[kept], others.variables))
    rows = np.concatenate((terms.rows[kept], others.rows))
    factor = np.concatenate((factors[kept], np.zeros(len(others.rows), np.int32)))
    by_variable = np.lexsort((rows, factor == 0, variables))
    rows, factor = rows[by_variable], factor[by_variable]
    starts = np.searchsorted(variables[by_variable], np.arange(stored.n_vars + 1))
    sums_of = np.bincount(terms.variables[kept], minlength=stored.n_vars)
    return {
        "reaches": columns(Reach, start=starts[:-1], rows=starts[:-1] + sums_of, end=starts[1:], definer=order.definer),
        "readers": columns(Reader, row=rows, factor=factor, place=places[rows], spare=np.zeros_like(factor)),
    }


def _other_readers(stored: TNF, sums: Linears | None, output: np.ndarray) -> Pairs:
    """Ternary rows beside their operands, and rows that define nothing beside their x or their truth."""
    rows, binary = np.arange(stored.n_rows), stored.op != Op.ELEMENT
    plain = rows[output[: stored.n_rows] == NOBODY]
    parts = [(rows, stored.y), (rows[binary], stored.z[binary]), (plain, stored.x[plain])]
    if sums is not None:
        truths = np.flatnonzero((sums.truth >= 0) & (output[stored.n_rows :] == NOBODY))
        parts.append((stored.n_rows + truths, sums.truth[truths]))
    return Pairs(*(np.concatenate([part[i] for part in parts]).astype(np.int64) for i in (0, 1)))


def _distinct(pairs: Pairs) -> Pairs:
    width = int(pairs.rows.max(initial=0)) + 1
    both = distinct(pairs.variables * width + pairs.rows)
    return Pairs(both % width, both // width)
