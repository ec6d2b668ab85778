"""Capacity cuts of circuits: no circuit whose loads fit is cut off, however the model states the loads, and every
circuit whose loads do not fit is."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from random import Random

import numpy as np
import pytest

from support.relaxations import beside_of
from turbo_fzn.bounds.lp.relaxation import Affine
from turbo_fzn.bounds.rows.capacity_cuts import Growth, Loads, loads_of
from turbo_fzn.bounds.rows.tours import Tour

CAPACITY = 7
DEPOTS = 2
FORMS = ("implied", "reified", "at least", "shrinking", "leaving", "of the tail", "read")
TAILS = ("of the tail", "read")  # an arc adds what its first node needs


class Case:
    """Customers 1 .. n and two copies of the depot after them; `steps[i][j]` is what the arc from i to j adds."""

    def __init__(self, random: Random, form: str, customers: int = 4):
        self.form, self.customers, self.size = form, customers, customers + DEPOTS
        self.steps = [[0] * self.size for _ in range(self.size)]
        demands = [random.randint(1, 5) for _ in range(customers)]
        for i in range(self.size):
            for j in range(self.size):
                self.steps[i][j] = self.step(random, demands, i, j)

    def step(self, random: Random, demands: list[int], i: int, j: int) -> int:
        if self.form in TAILS:
            return demands[i] if i < self.customers else 0
        more = random.randint(0, 1) if self.form == "at least" else 0
        return demands[j] + more if j < self.customers else 0

    def is_stated(self, i: int, j: int) -> bool:
        """Whether an arc says something."""
        return i != j and (i if self.form in TAILS else j) < self.customers

    def fits(self, successors: tuple[int, ...]) -> bool:
        """Whether the load never exceeds the capacity on the way from any depot to the next."""
        for node in range(self.customers, self.size):
            load, is_back = 0, False
            while not is_back:
                load += self.steps[node][successors[node]]
                node = successors[node]
                if load > CAPACITY:
                    return False
                is_back = node >= self.customers
        return True

    def text(self) -> str:
        """The model in FlatZinc: which truths there are depends on the form."""
        size = self.size
        start = CAPACITY if self.form == "shrinking" else 0
        is_fixed = [i >= self.customers and self.form not in TAILS for i in range(size)]
        least = [start if fixed else 0 for fixed in is_fixed]
        largest = 9 * CAPACITY if self.form == "leaving" else CAPACITY
        most = [start if fixed else largest for fixed in is_fixed]
        lines = [f"var 1..{size}: x{i + 1};" for i in range(size)]
        lines += [f"var {low}..{high}: l{i + 1};" for i, (low, high) in enumerate(zip(least, most))]
        lines += ["var int: total;", *self.statements()]
        names = ",".join(f"x{i + 1}" for i in range(size))
        weights = ",".join(str(i % 3 + 1) for i in range(size))
        lines += [f"constraint turbo_circuit([{names}],1);"]
        lines += [f"constraint int_lin_eq([{weights},-1],[{names},total],0);", "solve minimize total;"]
        return "\n".join(sorted(lines, key=lambda line: not line.startswith("var")))

    def statements(self) -> Iterator[str]:
        if self.form == "read":
            loads = ",".join(f"l{i + 1}" for i in range(self.size))
            for i in range(1, self.customers + 1):
                yield f"var 0..{CAPACITY}: z{i};"
                yield f"constraint array_var_int_element(x{i},[{loads}],z{i});"
                yield f"constraint int_lin_eq([1,-1],[z{i},l{i}],{self.steps[i - 1][0]});"
            return
        for i in range(self.size):
            for j in range(self.size):
                leaves = self.form == "leaving" and i != j and i < self.customers
                if self.is_stated(i, j) or leaves:
                    yield f"var bool: b{i + 1}_{j + 1};"
                    yield f"constraint int_eq_reif(x{i + 1},{j + 1},b{i + 1}_{j + 1});"
                if self.is_stated(i, j):
                    yield from self.arc(i + 1, j + 1, self.steps[i][j])
                if leaves:
                    yield f"constraint int_le_imp(l{i + 1},{CAPACITY},b{i + 1}_{j + 1});"

    def arc(self, i: int, j: int, step: int) -> Iterator[str]:
        if self.form == "reified":
            yield f"var bool: c{i}_{j};"
            yield f"constraint int_lin_eq_reif([1,-1],[l{j},l{i}],{step},c{i}_{j});"
            yield f"constraint bool_clause([c{i}_{j}],[b{i}_{j}]);"
        elif self.form == "shrinking":
            yield f"constraint int_lin_le_imp([1,-1],[l{j},l{i}],{-step},b{i}_{j});"
        elif self.form == "at least":
            yield f"constraint int_lin_le_imp([1,-1],[l{i},l{j}],{-step},b{i}_{j});"
        else:
            yield f"constraint int_lin_eq_imp([1,-1],[l{j},l{i}],{step},b{i}_{j});"


def loads_of_case(case: Case) -> list[Loads]:
    relaxation = beside_of(case.text()).make()
    assert relaxation is not None
    return [separator for separator in relaxation.separators if isinstance(separator, Loads)]


def circuits(size: int) -> Iterator[tuple[int, ...]]:
    for order in permutations(range(1, size)):
        successors = [0] * size
        for i, j in zip((0, *order), (*order, 0)):
            successors[i] = j
        yield tuple(successors)


def point(loads: Loads, n_columns: int, successors: tuple[int, ...]) -> np.ndarray:
    values = np.zeros(n_columns)
    for (i, j), truth in loads.tour.arcs.items():
        if truth.column >= 0:
            value = float(successors[i] == j)
            values[truth.column] = value if truth.coefficient > 0 else 1 - value
    return values


@pytest.mark.parametrize("form", FORMS)
def test_the_circuits_that_are_cut_off_are_those_whose_loads_do_not_fit(form: str) -> None:
    n_cut = 0
    for seed in range(6):
        case = Case(Random(f"{form} {seed}"), form)
        found = loads_of_case(case) if any(map(case.fits, circuits(case.size))) else []
        if not found:
            continue
        arcs = found[0].tour.arcs  # the root leaves out those along which the load can never fit
        every = [x for x in circuits(case.size) if all(arc in arcs for arc in enumerate(x))]
        fitting = [x for x in every if case.fits(x)]
        assert len(fitting) == sum(map(case.fits, circuits(case.size)))
        n_columns = 1 + max(truth.column for loads in found for truth in loads.tour.arcs.values())
        right = np.array([point(found[0], n_columns, x) for x in fitting])
        random = np.random.default_rng(seed)
        mixtures = [random.dirichlet(np.ones(3)) @ right[random.integers(len(right), size=3)] for _ in range(20)]
        wrong = [point(found[0], n_columns, x) for x in every if not case.fits(x)]
        for values, is_cut in [*((x, True) for x in wrong), *((x, False) for x in mixtures)]:
            cuts = [cut for loads in found for cut in loads.cuts(values)]
            assert bool(cuts) == is_cut or form == "at least"  # the least step to a node counts, whatever the arc
            n_cut += bool(cuts)
            for entries, side, excess in cuts:
                columns, factors = list(entries), np.array(list(entries.values()))
                assert np.all(right[:, columns] @ factors <= side)
                assert factors @ values[columns] - side == pytest.approx(excess)
    assert n_cut > 20


@pytest.mark.parametrize("has_depot", [False, True])
def test_a_tour_of_customers_only_has_no_capacity_cuts(has_depot: bool) -> None:
    ends = np.zeros(3), np.full(3, 9.0)
    nothing = np.full((3, 3), -np.inf)
    steps = np.array([[0, 2, -1], [1, 0, -1], [1, 2, 0]], float)
    if has_depot:
        steps[:, 2] = -np.inf
    tour = Tour(3, {(i, j): Affine(3 * i + j, 1, 0) for i in range(3) for j in range(3) if i != j}, False)
    loads = loads_of(tour, Growth(~np.eye(3, dtype=bool), *ends, steps, nothing, -nothing))
    assert (loads is not None) == has_depot
