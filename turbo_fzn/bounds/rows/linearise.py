"""FlatZinc model -> linear relaxation.

`FORMS` maps a constraint's name to the function that adds its rows (in logical.py, nonlinear.py, counting.py, flows.py,
tours.py and energy.py). A constraint without an entry gives no rows, which is always allowed. The functions read the
model through a Linearizer (linearizer.py). The model's literals "x = v" come first (encoding.py), so that every
constraint can use them.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, product

import numpy as np

from turbo_fzn.base.domains import INFINITY, IntSet
from turbo_fzn.bounds.lp.relaxation import FALSE, Affine, Relaxation, negation
from turbo_fzn.bounds.rows import counting, energy, flows, indices, logical, nonlinear, tours
from turbo_fzn.bounds.rows.capacity_cuts import add_loads
from turbo_fzn.bounds.rows.cliques import groups, merge_pairs
from turbo_fzn.bounds.rows.linearizer import Linearizer, Stopped
from turbo_fzn.bounds.rows.thresholds import add_thresholds
from turbo_fzn.bounds.rows.tuning import TUNING
from turbo_fzn.read.model import Constraint, Model, Ref

SENSES = {"minimize": 1, "maximize": -1}

FORMS = logical.FORMS | nonlinear.FORMS | counting.FORMS | flows.FORMS | tours.FORMS | energy.FORMS
LITERALS = {"int_eq_reif": True, "int_ne_reif": False}


def linearise(
    model: Model, numbers: Mapping[str, int], lower: np.ndarray, upper: np.ndarray, stopped: Stopped = lambda: False
) -> Relaxation | None:
    """The relaxation of a model with an objective; None where no row has the objective, or once `stopped` is true.

    `numbers` maps the name of each variable to its place in `lower` and `upper` (int64), the bounds that hold in all
    solutions; ±INFINITY for none."""
    assert np.all(np.abs(lower) <= INFINITY) and np.all(np.abs(upper) <= INFINITY)
    return _relax(Linearizer(model, numbers, lower, upper, stopped))


def _relax(m: Linearizer) -> Relaxation | None:
    """The relaxation; None where the objective is in no row, or when stopped."""
    goal = m.model.goal
    assert goal is not None
    _find_holes(m)
    _find_images(m)
    objective = m.term(goal.objective)
    if objective.column < 0:
        return None
    _name_literals(m)
    _add_constraints(m)
    flows.add_ties(m)
    _add_differences(m)
    _add_meetings(m)
    indices.add_places(m)
    for machine in m.machines:
        energy.add_machine(m, machine)
    m.encoding.finish()
    add_thresholds(m)
    add_loads(m)
    builder = m.builder
    builder.rows = merge_pairs(builder.rows, m.encoding.is_boolean, m.stopped)
    if m.stopped() or not any(objective.column in entries for entries, _, _ in builder.rows):
        return None
    relaxation = builder.finish(objective.column, SENSES[goal.method], m.conflicts)
    m.conflicts.add_rows(relaxation.rows, relaxation.lower, relaxation.upper)
    return relaxation


def _add_constraints(m: Linearizer) -> None:
    n_entries = 0
    for constraint in m.model.constraints:
        form = FORMS.get(constraint.name)
        if form is not None and n_entries < TUNING.entries and not m.stopped():
            before = len(m.builder.rows)
            form(m, *constraint.args)
            n_entries += sum(len(entries) for entries, _, _ in m.builder.rows[before:])


def _name_literals(m: Linearizer) -> None:
    for constraint in m.model.constraints:
        if constraint.name in LITERALS and len(constraint.args) == 3:
            _name_literal(m, constraint)


def _name_literal(m: Linearizer, constraint: Constraint) -> None:
    """Records b in b = (x = c), or its negation in b = (x != c), as the truth of x = c."""
    x, y = m.term(constraint.args[0]), m.term(constraint.args[1])
    literal = m.term(constraint.args[2])
    literal = literal if LITERALS[constraint.name] else negation(literal)
    if x.column < 0:
        x, y = y, x
    if y.column < 0 <= x.column:
        if literal == FALSE:
            others = IntSet.of_ranges([(-INFINITY, y.constant - 1), (y.constant + 1, INFINITY)])
            m.domains[x.column] = m.domain(x.column) & others
        elif literal.column >= 0:
            m.encoding.name(x, y.constant, literal)


def _find_holes(m: Linearizer) -> None:
    """Records the domains with holes that the model declares."""
    for variable in m.model.variables.values():
        if isinstance(variable.domain, IntSet) and variable.domain.has_holes:
            column = m.term(Ref(variable.name)).column
            if column >= 0:
                m.domains[column] = m.domain(column) & variable.domain


def _find_images(m: Linearizer) -> None:
    """Records the images defined by equations of two variables, before any truth is named, and the equations that may
    compute an index."""
    for constraint in m.model.constraints:
        if constraint.name == "int_lin_eq":
            factors, terms = m.integers(constraint.args[0]), m.array(constraint.args[1])
            k = m.term(constraint.args[2])
            if len(terms) == 2 and k.column < 0:
                m.encoding.relate(factors[0], terms[0], factors[1], terms[1], k.constant)
            elif 3 <= len(terms) <= TUNING.index_variables and k.column < 0:
                m.places.append((factors, terms, k.constant))


def _add_differences(m: Linearizer) -> None:
    """Adds the rows of all sets of variables that differ, and the conflicts of pairs x - y != k."""
    equal = {(x, y) for x, y, k in m.differences if k == 0}
    for columns in groups(equal, m.stopped):
        m.distinct.append([Affine(column, 1, 0) for column in columns])
    for terms in m.distinct:
        if not m.stopped():
            counting.add_distinct(m, terms)
    for (x, y, k), _ in m.differences.items():
        if k and not m.stopped():
            _add_conflicts_of(m, x, y, k)


def _add_conflicts_of(m: Linearizer, x: int, y: int, k: int) -> None:
    """Adds the conflicts of x - y != k: the truths of x = v + k and y = v."""
    first, second = (m.encoding.named(Affine(column, 1, 0)) for column in (x, y))
    for value in first.keys() & {value + k for value in second}:
        m.conflicts.add([first[value], second[value - k]])


def _add_meetings(m: Linearizer) -> None:
    """Adds the conflicts between values of two columns of a table that are in no row together."""
    for columns in m.tables.values():
        found = [[(m.encoding.known(x, value), set(at)) for value, at in rows.items()] for x, rows in columns]
        for one, other in combinations(found, 2):
            for (first, rows), (second, rows_there) in product(one, other):
                if first is not None and second is not None and rows.isdisjoint(rows_there):
                    m.conflicts.add([first, second])
