"""A first tour with time windows, suggested to the search as a warm start.

A circuit over x has time windows where the times T of its places grow along it: for the place p and the value of x[p],
a sum says

    time of p >= T[x[p]] + constants[x[p]]       where x has predecessors, or
    T[x[p]] >= time of p + constants[x[p]]       where it has successors,

each in an own variable for each element. The time of p is T[p], or is linked with it by a difference or a maximum: a
service, a time of waiting. One place must have no link, the depot: there the tour begins and ends. Whatever else the
model says is left to the search: like every warm start the tour is a hint, and solutions are checked.
"""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.lower.tour_order import FAR, LATE, Windows, best_order, times_along
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.read.model import Constraint, Model, Ref

log = logging.getLogger("turbo_fzn")

Item = int | Ref  # a constant or a variable
CIRCUIT = "turbo_circuit"
ELEMENTS = ("array_int_element", "array_var_int_element")


class Lookup(NamedTuple):
    """A result of an element over `array`, whose index is the variable of the place."""

    place: int
    array: tuple[Item, ...]  # of the nodes, in order


class Sum(NamedTuple):
    """coefficient * variable, added, are at most `limit`, or equal to it."""

    terms: dict[Ref, int]
    limit: int
    equal: bool


class Step(NamedTuple):
    """The sum of a place: whether the time of the place comes after that of the node that x names; the time of the
    place, 0 where it has no variable, None where it is not known; and the delay (int64 [n]) for each node."""

    is_after: bool
    own: Item | None
    delay: np.ndarray


class Tour(NamedTuple):
    """The variables of a circuit and the times of its nodes, whether x has predecessors, and the windows."""

    x: list[Item]
    first: int
    times: tuple[Item, ...]
    backward: bool
    windows: Windows


def suggested(model: Model) -> dict[Ref, int]:
    """Values of variables of a valid model by tours that have been found, for each circuit with time windows."""
    start, values = time.monotonic(), dict[Ref, int]()
    facts = _Facts(model)
    for constraint in model.constraints:
        tour = tour_of(facts, constraint) if constraint.name == CIRCUIT else None
        if tour is not None:
            order = best_order(tour.windows)
            values |= {} if order is None else _values(tour, order)
            found = "no tour" if order is None else "a tour"
            log.info("windows: %.2f s, %d places, %s", time.monotonic() - start, len(tour.x), found)
    return values


def _values(tour: Tour, order: list[int]) -> dict[Ref, int]:
    """The values of the variables where the places are visited in this order, each as early as possible."""
    after = [*order[1:], order[0]]
    pairs = zip(after, order) if tour.backward else zip(order, after)
    values: dict[Item, int] = {tour.x[place]: node + tour.first for place, node in pairs}
    values |= {tour.times[place]: when for place, when in zip(after, times_along(tour.windows, order))}
    if tour.backward:
        values[tour.times[order[0]]] = tour.windows.start
    return {name: value for name, value in values.items() if isinstance(name, Ref)}


class _Facts:
    """The sums, elements and differences of a model."""

    def __init__(self, model: Model):
        self.model = model
        self.sums: list[Sum] = []
        self.elements: defaultdict[Item, list[tuple[Item, list[Item]]]] = defaultdict(list)  # by their indices
        self.links: defaultdict[Item, dict[Item, int]] = defaultdict(dict)  # by how much the second is larger
        for name, args, _, _ in model.constraints:
            if name in ("int_lin_le", "int_lin_eq"):
                self.sums.append(self.sum_of(args, name == "int_lin_eq"))
                self.add_difference(self.sums[-1])
            elif name in ELEMENTS:
                self.elements[self.items([args[0]])[0]].append((self.items([args[2]])[0], self.items(args[1])))
            elif name in ("int_le", "int_max", "array_int_maximum"):
                self.add_order(name, args)

    def items(self, argument: object) -> list[Item]:
        """The elements of an array, with the values of parameters."""
        elements: Any = self.model.arrays[argument].elements if isinstance(argument, Ref) else argument
        known: dict[str, Any] = self.model.parameters
        return [known.get(one, one) if isinstance(one, Ref) else one for one in elements]

    def numbers(self, argument: object) -> list[int]:
        """The elements of an array of parameters."""
        return self.items(argument)  # type: ignore[return-value]

    def sum_of(self, args: list, equal: bool) -> Sum:
        terms: defaultdict[Ref, int] = defaultdict(int)
        (limit,) = self.numbers([args[2]])
        for coefficient, item in zip(self.numbers(args[0]), self.items(args[1])):
            if isinstance(item, Ref):
                terms[item] += coefficient
            else:
                limit -= coefficient * item
        return Sum(terms, limit, equal)

    def add_difference(self, one: Sum) -> None:
        if sorted(one.terms.values()) == [-1, 1]:
            above, below = sorted(one.terms, key=one.terms.__getitem__)
            self.links[below][above] = -one.limit
            if one.equal:
                self.links[above][below] = one.limit

    def add_order(self, name: str, args: list) -> None:
        above = args[0] if name == "array_int_maximum" else args[-1]
        for below in self.items(args[1] if name == "array_int_maximum" else args[:-1]):
            if isinstance(below, Ref):
                self.links[below][above] = 0

    def link(self, below: Item, above: Item) -> int | None:
        """The least difference of two variables, by one or two constraints; None where none is known."""
        near = self.links.get(below, {})
        ways = [0] if below == above else [near[above]] if above in near else []
        ways += [step + self.links[item][above] for item, step in near.items() if above in self.links.get(item, {})]
        return max(ways, default=None)

    def bounds(self, item: Item | None) -> tuple[int, int]:
        """The bounds of the domain, within ±LATE."""
        domain: Any = self.model.variables[item].domain if isinstance(item, Ref) else None
        low, high = (item, item) if isinstance(item, int) else (-INFINITY, INFINITY)
        low, high = (domain.lower, domain.upper) if domain is not None and domain.ranges else (low, high)
        return max(low, -LATE), min(high, LATE)


def tour_of(facts: _Facts, circuit: Constraint) -> Tour | None:
    """The tour of a circuit with time windows, or None."""
    x, (first,) = facts.items(circuit.args[0]), facts.numbers([circuit.args[1]])
    if not TUNING.tour_least <= len(x) <= TUNING.tour_places or len(set(x)) < len(x):
        return None
    lookups = dict(_lookups(facts, x, first))
    arrays = [one.array for one in lookups.values() if any(isinstance(item, Ref) for item in one.array)]
    if not arrays:
        return None
    times = max(dict.fromkeys(arrays), key=arrays.count)
    steps = dict(_steps(facts, lookups, times))
    if len({step.is_after for step in steps.values()}) != 1:
        return None
    windows, direction = _windows(facts, x, first, times, steps), next(iter(steps.values())).is_after
    if windows is None:
        return None
    return Tour(x, first, times, direction, windows._replace(costs=_costs(facts, lookups, len(x), direction)))


def _lookups(facts: _Facts, x: list[Item], first: int) -> Iterator[tuple[Item, Lookup]]:
    """The elements over the variables of the circuit, by their results."""
    for place, index in enumerate(x):
        for result, array in facts.elements.get(index, []) if isinstance(index, Ref) else []:
            if isinstance(result, Ref) and first >= 1 and first - 1 + len(x) <= len(array):
                yield result, Lookup(place, tuple(array[first - 1 : first - 1 + len(x)]))


def _steps(facts: _Facts, lookups: dict[Item, Lookup], times: tuple[Item, ...]) -> Iterator[tuple[int, Step]]:
    """The sums by which times grow along the circuit, by their places."""
    for one in facts.sums:
        found = {name: lookups[name] for name in one.terms if name in lookups}
        visits = [name for name, lookup in found.items() if lookup.array == times]
        constants = [name for name in found if name not in visits]
        own = [name for name in one.terms if name not in found]
        if len(visits) != 1 or len(own) > 1 or len({lookup.place for lookup in found.values()}) != 1:
            continue
        if any(isinstance(item, Ref) for name in constants for item in found[name].array):
            continue
        sign = -1 if one.equal and sum(one.terms[name] for name in constants) < 0 else 1
        ends = sign * one.terms[visits[0]], sign * one.terms[own[0]] if own else 0
        if ends not in ((1, -1), (-1, 1), (1, 0), (-1, 0)) or (one.equal and not constants):
            continue
        delay = _row([(found[name], sign * one.terms[name]) for name in constants], len(times), -sign * one.limit)
        if delay is not None:
            yield found[visits[0]].place, Step(ends[0] > 0, own[0] if own else 0, delay)


def _row(constants: list[tuple[Lookup, int]], n: int, start: int) -> np.ndarray | None:
    """The sum of the arrays of constants, each times a factor, and of `start` (int64 [n]); None beyond ±LATE."""
    row = [start + sum(by * lookup.array[node] for lookup, by in constants) for node in range(n)]  # type: ignore[misc]
    return np.array(row, np.int64) if max(map(abs, row)) < LATE else None


def _windows(
    facts: _Facts, x: list[Item], first: int, times: tuple[Item, ...], steps: dict[int, Step]
) -> Windows | None:
    """The windows of the tour, without costs. None where not exactly one place is a depot."""
    n, depots, begin, end = len(x), [], [-LATE] * len(x), [LATE] * len(x)
    backward = next(iter(steps.values())).is_after
    delays = np.zeros((n, n), np.int64)
    bounds = np.array([facts.bounds(item) for item in times], np.int64).reshape(n, 2)
    opens, closes = bounds[:, 0].copy(), bounds[:, 1].copy()
    for place in range(n):
        step = steps.get(place, Step(backward, None, np.zeros(n, np.int64)))
        link = None
        if isinstance(step.own, Ref):
            ends = (step.own, times[place]) if backward else (times[place], step.own)
            link = facts.link(*ends)
        delays[place] = step.delay + (link or 0)
        low, high = facts.bounds(step.own)
        begin[place], end[place] = (int(opens[place]), high) if backward else (low, int(closes[place]))
        if link is None:
            depots.append(place)
        elif backward:
            opens[place] = max(opens[place], low + link)
            closes[place] = min(closes[place], max(high + link, opens[place]))
        else:
            closes[place] = min(closes[place], high - link)
        delays[place, [not _may_be(facts, x[place], node + first) for node in range(n)]] = FAR
    if len(depots) != 1:
        return None
    depot = depots[0]
    if backward:
        opens[depot] = -LATE
    start = begin[depot] if begin[depot] > -LATE else int(opens.min())
    closes[depot] = end[depot]
    return Windows(delays.T.copy() if backward else delays, opens, closes, depot, start, None)


def _may_be(facts: _Facts, index: Item, value: int) -> bool:
    domain = facts.model.variables[index].domain if isinstance(index, Ref) else None
    return value == index if isinstance(index, int) else domain is None or value in domain


def _costs(facts: _Facts, lookups: dict[Item, Lookup], n: int, backward: bool) -> np.ndarray | None:
    """The costs of arcs (int64 [n, n]) in a sum that is the objective; None where it has none."""
    goal = facts.model.goal
    assert goal is not None
    for one in facts.sums:
        factor = one.terms.get(goal.objective, 0) if isinstance(goal.objective, Ref) else 0
        if not one.equal or abs(factor) != 1:
            continue
        sense = -factor if goal.method == "minimize" else factor
        found = [(lookups[name], sense * by) for name, by in one.terms.items() if name in lookups]
        constant = [(lookup, by) for lookup, by in found if not any(isinstance(item, Ref) for item in lookup.array)]
        rows = [_row([one for one in constant if one[0].place == place], n, 0) for place in range(n)]
        if constant and not any(row is None for row in rows):
            costs = np.array(rows)
            return costs.T.copy() if backward else costs
    return None
