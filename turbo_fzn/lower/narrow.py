"""Domains before forms: the values that single constraints leave to the model's variables, found to a fixpoint before
any row is made.

A form is chosen by domains: all_different over as many values as variables, an element by the values of its index, a
time table by the times. A constraint that is lowered later may narrow them further, as a `regular` that forbids a
value. So each constraint that can remove values without rows (`NARROWERS` of table.py, clauses whose literals all
compare one variable, elements in linear rows: narrow_elements.py) narrows the domains first. The results are
intersections, made between rounds, so the order of the text does not matter; and they become rows as declared domains
do (early.py), so that no constraint depends on another's rows.

They hold in all solutions under any later assumptions: a domain only loses values that a constraint forbids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from turbo_fzn.base.domains import UNBOUNDED, IntSet
from turbo_fzn.lower import bulk
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.early import Domains, without
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.lower.variables import Infeasible
from turbo_fzn.read.model import Array, Constraint, Model, Ref

CLAUSES = ("bool_clause", "array_bool_or")
COMPARISONS = ("int_eq", "int_ne", "int_le", "int_lt", "set_in")
ABOUT_ONE = frozenset(name + suffix for name in COMPARISONS for suffix in ("_reif", "_imp"))

Left = Iterator[tuple[int, IntSet]]  # variables, and values that they can have
Narrower = Callable[..., Left]  # arguments: a builder, whose domains it reads, and the bound arguments of a constraint


class Job(NamedTuple):
    """A constraint that may narrow domains: the function, its arguments and the variables among them."""

    narrower: Narrower
    arguments: Sequence[Any]
    variables: Sequence[int]


def variables_among(kinds: Sequence[str], arguments: Sequence[Any]) -> list[int]:
    """The variables among bound arguments of these kinds (predicates/signature.py)."""
    found: list[int] = []
    for kind, argument in zip(kinds, arguments):
        if kind.strip("[]") in ("I", "B"):
            found += argument if kind.startswith("[") else [argument]
    return found


def narrow(domains: Domains, jobs: Sequence[Job]) -> None:
    """Adds to `domains` the values that the jobs leave. Raises Infeasible."""
    b = domains.builder
    _install(domains)
    first: dict[int, IntSet] = {}
    waiting: Iterable[Job] = jobs
    for _ in range(TUNING.narrowing_rounds):
        changed = _round(b, waiting)
        for x, before in changed.items():
            first.setdefault(x, before)
        waiting = [job for job in jobs if not changed.keys().isdisjoint(map(b.find, job.variables))] if changed else ()
        if not waiting:
            break
    domains.sets += [(x, bulk.domain(b, x)) for x in first]


def _install(domains: Domains) -> None:
    """Sets the declared domains of the builder, whose rows are made later."""
    b = domains.builder
    known = domains.common()
    removed: dict[int, set[int]] = {}
    for x, value in domains.removed:
        removed.setdefault(b.find(x), set()).add(value)
    for x in known.keys() | removed.keys():
        _keep(b, x, without(known.get(x) or bulk.domain(b, x), removed.get(x, set())))


def _round(b: RowBuilder, jobs: Iterable[Job]) -> dict[int, IntSet]:
    """Runs all jobs once, then narrows the domains. Returns the former domains of the variables that lost values."""
    found: dict[int, IntSet] = {}
    for narrower, arguments, _ in jobs:
        for x, values in narrower(b, *arguments):
            x = b.find(x)
            found[x] = values & (found[x] if x in found else bulk.domain(b, x))
    changed = {}
    for x, values in found.items():
        before = bulk.domain(b, x)
        if values != before:
            changed[x] = before
            _keep(b, x, values)
    return changed


def _keep(b: RowBuilder, x: int, values: IntSet) -> None:
    if not values:
        raise Infeasible
    b.restrict(x, values.lower, values.upper)
    if values.has_holes:
        b.domains[x] = values


# Clauses


def clauses_about_one(model: Model) -> Iterator[tuple[Ref, list[IntSet]]]:
    """The clauses of two literals or more, each of which implies a comparison of the same variable with a constant:
    that variable, and for each literal the values that it leaves."""
    comparisons: dict[Any, Constraint] = {
        one.args[-1]: one for one in model.constraints if one.name in ABOUT_ONE and _is_about_one(one)
    }
    for clause in model.constraints if comparisons else ():
        if clause.name in CLAUSES and len(clause.args) == 2:
            implied = _about_one(_positive_literals(clause, model.arrays), comparisons)
            if implied:
                yield _variable_of(implied[0]), list(map(implied_values, implied))


def _about_one(literals: Sequence[Any], comparisons: dict[Any, Constraint]) -> list[Constraint]:
    """The comparisons that the literals imply, if each implies a comparison of the same variable; else empty."""
    found: list[Constraint] = []
    for literal in literals:
        comparison = comparisons.get(literal) if type(literal) is Ref else None
        if comparison is None or (found and _variable_of(comparison) != _variable_of(found[0])):
            return []
        found.append(comparison)
    return found if len(found) > 1 else []


def _is_about_one(constraint: Constraint) -> bool:
    if len(constraint.args) != 3:  # for the lowering to refuse
        return False
    first, second, truth = constraint.args
    return type(truth) is Ref and (type(first) is Ref) == (type(second) in (int, IntSet)) and type(first) in (Ref, int)


def _variable_of(constraint: Constraint) -> Ref:
    first, second, _ = constraint.args
    return first if type(first) is Ref else second


def _positive_literals(constraint: Constraint, arrays: dict[str, Array]) -> Sequence[Any]:
    """The literals of a clause that is stated and has no negative literals; empty for other constraints."""
    literals, other = constraint.args
    if (other is not True) if constraint.name == "array_bool_or" else elements_of(other, arrays):
        return ()
    return elements_of(literals, arrays)


def elements_of(argument: Any, arrays: dict[str, Array]) -> Sequence[Any]:
    """The elements of an array, given as a list or by its name."""
    if type(argument) is Ref:
        argument = arrays[argument].elements if argument in arrays else ()
    return argument if type(argument) is list else ()


def implied_values(comparison: Constraint) -> IntSet:
    """The values that the variable can have where the truth of a comparison holds."""
    first, second, _ = comparison.args
    name = comparison.name.rpartition("_")[0]
    if name == "set_in":
        return second
    c = second if type(first) is Ref else first
    if name in ("int_eq", "int_ne"):
        return IntSet.interval(c, c) if name == "int_eq" else without(UNBOUNDED, {c})
    strict = name == "int_lt"
    if type(first) is Ref:
        return IntSet.interval(UNBOUNDED.lower, c - strict)
    return IntSet.interval(c + strict, UNBOUNDED.upper)


def one_of(b: RowBuilder, x: int, sets: Sequence[IntSet]) -> Left:
    """Some literal of a clause is true: x is in one of the sets."""
    inside = [values & bulk.domain(b, x) for values in sets]
    yield x, IntSet.of_ranges(pair for values in inside for pair in values.ranges)
