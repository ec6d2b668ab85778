"""The rows that globals give to a relaxation, and the cuts behind them: every solution of every case satisfies them.

The cases are those of global_cases.py, each with random sums for the objective. What is certified, cut and fixed on the
way to the optimum is checked as on random models (fuzz/bounds.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, permutations, product
from math import factorial
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz.bounds import Watch, check_bounds, judge_bounds, point_of
from support.global_cases import CASES
from support.global_models import Compiler, assignments, model_of, names_of
from support.global_notation import Case, ints, one
from support.needs import needs_minizinc
from support.relaxations import beside_of
from turbo_fzn.bounds.lp.highs import Program
from turbo_fzn.bounds.lp.relaxation import Affine, Relaxation
from turbo_fzn.bounds.rows import counting, energy, flows, tours
from turbo_fzn.bounds.rows.linearise import linearise
from turbo_fzn.bounds.rows.tours import Tour, least_cut
from turbo_fzn.bounds.rows.tuning import TUNING
from turbo_fzn.check.meanings import are_apart, fits, is_circuit, is_subcircuit
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.read.model import Constraint, Goal, Model, Ref, Variable
from turbo_fzn.run.bounding import root_bounds
from turbo_fzn.run.prepare import prepare


def rows_text(rows: Iterable[tuple[int, ...]]) -> str:
    """The rows as an array literal of MiniZinc."""
    return "[|" + "|".join(",".join(map(str, row)) for row in rows) + "|]"


MORE = [
    Case("strictly_increasing", "loose", {"x": ints(3, 0, 4)}, "strictly_increasing(x)", lambda x: x[0] < x[1] < x[2]),
    Case(
        "disjunctive",
        "none long",
        {"s": ints(4, 0, 3)},
        "disjunctive(s, [2, 0, 2, 1])",
        lambda s: are_apart([(s, [2, 0, 2, 1])], False),
    ),
    Case(
        "disjunctive_strict",
        "known",
        {"s": ints(3, 0, 4)},
        "disjunctive_strict(s, [2, 1, 2])",
        lambda s: are_apart([(s, [2, 1, 2])], True),
    ),
    Case(
        "diffn_nonstrict",
        "known",
        {"x": ints(3, 0, 1), "y": ints(3, 0, 3)},
        "diffn_nonstrict(x, y, [2, 2, 1], [1, 2, 1])",
        lambda x, y: are_apart([(x, [2, 2, 1]), (y, [1, 2, 1])], False),
    ),
    Case(
        "cumulative",
        "with an end",
        {"s": ints(3, 0, 5), "end": one(0, 8)},
        "cumulative(s, [2, 1, 3], [1, 2, 1], 2) /\\ s[1] + 2 <= end /\\ s[2] + 1 <= end /\\ s[3] + 3 <= end",
        lambda s, end: fits(s, [2, 1, 3], [1, 2, 1], 2) and end >= max(s[0] + 2, s[1] + 1, s[2] + 3),
    ),
    Case(
        "circuit",
        "read",
        {"x": ints(4, 1, 4), "a": ints(4, 0, 1), "z": ints(4, 0, 1)},
        "circuit(x) /\\ forall (i in 1..4) (z[i] = a[x[i]])",
        lambda x, a, z: is_circuit(x, 1) and all(z[i] == a[x[i] - 1] for i in range(4)),
    ),
    Case(
        "circuit",
        "read, one known",
        {"x": ints(4, 1, 4), "a": ints(4, 0, 1), "z": ints(4, 0, 1)},
        "circuit(x) /\\ x[2] = 3 /\\ forall (i in 1..4) (z[i] = a[x[i]])",
        lambda x, a, z: is_circuit(x, 1) and x[1] == 3 and all(z[i] == a[x[i] - 1] for i in range(4)),
    ),
    *(
        Case(
            "table",
            f"{n_values} values that differ",
            {"x": ints(3, 0, 3)},
            f"table(x, {rows_text(permutations(range(n_values), 3))})",
            lambda x, n=n_values: len(set(x)) == 3 and max(x) < n,
        )
        for n_values in (3, 4)
    ),
    Case("circuit", "six", {"x": ints(6, 1, 6)}, "circuit(x)", lambda x: is_circuit(x, 1)),
    Case("subcircuit", "six", {"x": ints(6, 1, 6)}, "subcircuit(x)", lambda x: is_subcircuit(x, 1)),
]
FORMS = counting.FORMS | flows.FORMS | tours.FORMS | energy.FORMS
OBJECTIVES = 3  # of each case


@pytest.fixture(scope="module")
def compiled() -> list[tuple[Case, str]]:
    """The cases that have a global with a form in them, as FlatZinc."""
    compiler = Compiler()
    texts = [(case, compiler.flatten(model_of(case, "constraint {call};"))) for case in [*CASES, *MORE]]
    return [(case, text) for case, text in texts if text and any(f"constraint {name}(" in text for name in FORMS)]


def solutions_of(case: Case, names: list[str]) -> list[dict[str, int]]:
    found = (values for values in assignments(case) if case.meaning(*values.values()))
    flat = (
        [v for value in values.values() for v in (value if isinstance(value, list) else [value])] for values in found
    )
    return [dict(zip(names, map(int, values))) for values in flat]


def with_objective(model: Model, random: Random) -> dict[str, int]:
    """Adds a sum of the integers, or else of all truth values, to be made small or large; returns the coefficients."""
    ints = [name for name, variable in model.variables.items() if variable.kind == "int"]
    coefficients = {name: random.choice((-3, -2, -1, 1, 2, 5)) for name in ints or model.variables}
    model.variables["total"] = Variable("total", "int", None, [], None, 0)
    numbers, names = list(coefficients.values()), list(map(Ref, coefficients))
    if ints:
        constraint = Constraint("int_lin_eq", [[*numbers, -1], [*names, Ref("total")], 0], [], 0)
    else:
        constraint = Constraint("bool_lin_eq", [numbers, names, Ref("total")], [], 0)
    model.constraints.append(constraint)
    model.goal = Goal(random.choice(("minimize", "maximize")), Ref("total"), [], 0)
    return coefficients


def check(case: Case, text: str, random: Random) -> Relaxation | None:
    model = parse_text(text)
    names = names_of(case, model)
    if names is None:
        return None
    solutions = solutions_of(case, names)
    coefficients = with_objective(model, random)
    totals = [sum(coefficients[name] * solution[name] for name in coefficients) for solution in solutions]
    prepared = prepare(model, Options(simplify=random.random() < 0.5), Interrupt(None))
    if prepared.tnf.infeasible:
        assert not solutions
        return None
    numbers, lower, upper = root_bounds(prepared)
    relaxation = linearise(model, numbers, lower, upper)
    if relaxation is None:
        return None
    solutions = [{**solution, "total": total} for solution, total in zip(solutions, totals)]
    points = [point_of(relaxation, numbers, solution) for solution in solutions]
    objectives = [relaxation.sense * total for total in totals]
    check_bounds(random, relaxation, Watch(relaxation, points, objectives), objectives, prepared)
    return relaxation


@needs_minizinc
@pytest.mark.parametrize("number", [0, *(pytest.param(one, marks=pytest.mark.slow) for one in range(1, OBJECTIVES))])
def test_every_solution_satisfies_the_rows_and_cuts_of_its_globals(compiled, number, no_probing) -> None:
    said: set[str] = set()
    for case, text in compiled:
        relaxation = check(case, text, Random(f"{case.name} {case.title} {number}"))
        if relaxation is not None and len(relaxation.rows) > 1:
            said.update(name for name in FORMS if f"constraint {name}(" in text)
    assert sorted(set(FORMS) - said) == []


@needs_minizinc
def test_tables_and_automata_are_as_strong_as_can_be(compiled) -> None:
    """The linear program has an optimal point that is a solution: nothing is to be divided."""
    n_tight = 0
    for case, text in compiled:
        for number in range(OBJECTIVES if any(f"constraint {name}(" in text for name in flows.FORMS) else 0):
            random = Random(number)
            model = parse_text(text)
            if model.arrays and names_of(case, model):
                n_tight += is_tight(case, model, random)
    assert n_tight > 20


def is_tight(case: Case, model: Model, random: Random) -> bool:
    """Whether there is a relaxation to be looked at."""
    names = names_of(case, model) or []
    coefficients = with_objective(model, random)
    totals = [sum(coefficients[name] * found[name] for name in coefficients) for found in solutions_of(case, names)]
    prepared = prepare(model, Options(), Interrupt(None))
    relaxation = None if prepared.tnf.infeasible else linearise(model, *root_bounds(prepared))
    if relaxation is None:
        return False
    value = relaxation.sense * Program(relaxation, lambda: False).solve().values[relaxation.objective]
    assert value == pytest.approx(min(relaxation.sense * total for total in totals))
    return True


def permuted(values: Sequence[int], high: int, weights: Sequence[int]) -> Relaxation:
    """The relaxation of a table of all permutations of the values, for variables in 0..high with a weighted sum."""
    names = [f"x{i}" for i in range(len(values))]
    cells = ",".join(str(cell) for row in permutations(values) for cell in row)
    n_rows = factorial(len(values))
    text = "".join(f"var 0..{high}: {name};\n" for name in names) + "var 0..999: total;\n"
    text += f"array [1..{len(values) * n_rows}] of int: t = [{cells}];\n"
    text += f"constraint turbo_table_int([{','.join(names)}],{n_rows},t);\n"
    text += f"constraint int_lin_eq({[*weights, -1]},[{','.join(names)},total],0);\nsolve minimize total;\n"
    relaxation = beside_of(text).make()
    assert relaxation is not None
    return relaxation


def test_a_table_of_all_permutations_has_a_column_for_each_value_and_none_for_its_rows() -> None:
    relaxation = permuted(range(5), 4, [3, 1, 4, 1, 5])
    assert len(relaxation.lower) <= 5 * 5 + 6
    values = Program(relaxation, lambda: False).solve().values
    assert values[relaxation.objective] == pytest.approx(0 * 5 + 1 * 4 + 2 * 3 + 3 * 1 + 4 * 1)


def test_permutations_have_no_values_but_those_of_the_table() -> None:
    """The domains of the variables have others, some of them between these."""
    relaxation = permuted([2, 5, 7], 9, [1, 2, 3])
    values = Program(relaxation, lambda: False).solve().values
    assert values[relaxation.objective] == pytest.approx(7 + 2 * 5 + 3 * 2)


@needs_minizinc
def test_what_has_too_many_values_gives_sums(compiled, monkeypatch) -> None:
    monkeypatch.setattr(TUNING, "counted_truths", 0)
    cases = [(case, text) for case, text in compiled if case.name == "all_different"]
    relaxations = [check(case, text, Random(number)) for case, text in cases for number in range(OBJECTIVES)]
    assert any(relaxation is not None and len(relaxation.rows) > 1 for relaxation in relaxations)


@pytest.mark.parametrize(
    "constraint",
    [
        "turbo_bin_packing(-1,[x,y],[-2,-2])",
        "turbo_cumulative([0,x,y],[3,2,2],[-2,2,3],3)",
        "turbo_cumulative([y,x,0],[4,2,2],[-2,2,3],3)",
    ],
)
def test_numbers_that_minizinc_forbids_exclude_no_solution(constraint: str) -> None:
    """Capacities and uses below 0, which FlatZinc can have."""
    for number in range(20):
        method = "minimize" if number % 2 else "maximize"
        text = (
            "var 0..4: x; var 0..4: y; var int: total;\n"
            f"constraint {constraint};\nconstraint int_lin_eq([{number % 3 + 1},2,-1],[x,y,total],0);\n"
            f"solve {method} total;"
        )
        verdict, _, _ = judge_bounds(parse_text(text), Random(number))
        assert verdict.kind == "right", verdict.fault


# ---- tours


def a_tour(size: int, loops: bool) -> Tour:
    """A column for each arc."""
    pairs = [(i, j) for i in range(size) for j in range(size) if loops or i != j]
    return Tour(size, {pair: Affine(column, 1, 0) for column, pair in enumerate(pairs)}, loops)


def point(tour: Tour, successors: tuple[int, ...]) -> np.ndarray:
    return np.array([float(successors[i] == j) for i, j in tour.arcs])


@pytest.mark.parametrize("loops, holds", [(False, is_circuit), (True, is_subcircuit)])
def test_a_point_of_several_tours_is_cut_off_and_no_circuit_is(loops: bool, holds: Callable) -> None:
    tour = a_tour(6, loops)
    successors = [x for x in permutations(range(6)) if loops or all(i != j for i, j in enumerate(x))]
    circuits = np.array([point(tour, x) for x in successors if holds(x, 0)])
    others = [x for x in successors if not holds(x, 0)]
    random = np.random.default_rng(1)
    mixtures = [random.dirichlet(np.ones(3)) @ circuits[random.integers(len(circuits), size=3)] for _ in range(50)]
    for values, is_cut in [*((point(tour, x), True) for x in others), *((mixture, False) for mixture in mixtures)]:
        found = list(tour.cuts(values))
        assert bool(found) == is_cut
        for entries, side, excess in found:
            columns, factors = list(entries), np.array(list(entries.values()))
            assert np.all(circuits[:, columns] @ factors <= side)
            assert factors @ values[columns] - side == pytest.approx(excess)


def test_a_cut_is_found_that_no_threshold_shows() -> None:
    """Two halves in which all arcs are alike and thin, tied by one thick edge: leaving out arcs leaves single nodes."""
    half = 23
    tour = a_tour(2 * half, loops=False)
    edges = np.zeros((2 * half, 2 * half))  # their sum at each node is 2
    for first in (0, half):
        inside = slice(first + 1, first + half)
        edges[inside, inside] = (2 - 1.1 / (half - 1)) / (half - 2)
        edges[first, inside] = edges[inside, first] = 1.1 / (half - 1)
    edges[0, half] = edges[half, 0] = 0.9
    values = np.array([edges[arc] / 2 for arc in tour.arcs])
    assert [excess for _, _, excess in tour.cuts(values)] == [pytest.approx(1 - 0.9 / 2)]


@given(st.integers(2, 6), st.randoms(use_true_random=False))
def test_a_least_cut_is_the_least_of_all_cuts(size: int, random: Random) -> None:
    weights = np.zeros((size, size))
    for i, j in combinations(range(size), 2):
        weights[i, j] = weights[j, i] = random.choice((0, 0, 1, 2, 5))

    def weight(side: np.ndarray) -> float:
        return float(weights[side][:, ~side].sum())

    every = [np.array(side) for side in product((False, True), repeat=size) if 0 < sum(side) < size]
    assert weight(least_cut(weights)) == min(map(weight, every))
