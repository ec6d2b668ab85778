"""Constraints that rows or a wide row can state compete for the rows of the model, in any order of the text."""

from __future__ import annotations

from itertools import permutations, product
from random import Random

import pytest

from turbo_fzn import solve_text
from turbo_fzn.lower.rewrite import lower
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.read.flatzinc import parse_text

LAST, LENGTH = 5, 2  # starts from 0 to LAST
CELLS = LAST + LENGTH  # of a task in a time table
PREDICATES = """predicate turbo_cumulative(array [int] of var int: s, array [int] of var int: d,
  array [int] of var int: r, var int: b);
predicate turbo_disjunctive(array [int] of var int: s, array [int] of var int: d);
"""


def model(calls: list[str], n: int, goal: str = "satisfy") -> str:
    starts = "".join(f"var 0..{LAST}: s{i} :: output_var;\n" for i in range(n))
    return f"{PREDICATES}{starts}{''.join(f'constraint {call};' for call in calls)}\nsolve {goal};\n"


def cumulative(first: int, n: int) -> str:
    names = ",".join(f"s{i}" for i in range(first, first + n))
    return f"turbo_cumulative([{names}],{[LENGTH] * n},{[2] * n},3)"


def disjunctive(first: int, n: int) -> str:
    names = ",".join(f"s{i}" for i in range(first, first + n))
    return f"turbo_disjunctive([{names}],{[1] * n})"


def sizes_alone(text: str, alone: bool = True) -> list[int]:
    """How many tasks the wide rows have that stand alone."""
    wides = lower(parse_text(text), alone=alone).tnf.wides
    return sorted(len(wide.groups) for wide in wides if wide.alone)


@pytest.mark.parametrize(("most", "expected"), [(0, [3, 4, 5]), (3, [4, 5]), (8, [4, 5]), (9, [5]), (19, [])])
def test_the_smallest_disjunctives_are_stated_by_rows_in_any_order_of_the_text(monkeypatch, most, expected):
    monkeypatch.setattr(TUNING, "budget_cells", most)
    for calls in permutations([disjunctive(0, 5), disjunctive(6, 3), disjunctive(3, 4)]):
        assert sizes_alone(model(list(calls), 9)) == expected


@pytest.mark.parametrize(("most", "expected"), [(11, [4, 4]), (12, [])])
def test_those_of_one_size_are_served_together(monkeypatch, most, expected):
    monkeypatch.setattr(TUNING, "budget_cells", most)
    assert sizes_alone(model([disjunctive(0, 4), disjunctive(4, 4)], 8)) == expected


@pytest.mark.parametrize(("most", "expected"), [(18 * CELLS - 1, [5, 6, 7]), (18 * CELLS, [])])
def test_all_cumulatives_have_rows_or_none(monkeypatch, most, expected):
    monkeypatch.setattr(TUNING, "budget_cells", most)
    for calls in permutations([cumulative(0, 7), cumulative(6, 5), cumulative(3, 6)]):
        assert sizes_alone(model(list(calls), 11)) == expected


@pytest.mark.parametrize(("most", "expected"), [(9, [3, 5]), (10, [3]), (21, [3]), (22, [])])
def test_disjunctives_come_before_cumulatives(monkeypatch, most, expected):
    monkeypatch.setattr(TUNING, "budget_cells", most)
    for calls in permutations([cumulative(0, 3), disjunctive(0, 5)]):
        assert sizes_alone(model(list(calls), 5)) == expected


def test_where_other_engines_search_all_have_rows(monkeypatch):
    monkeypatch.setattr(TUNING, "budget_cells", 0)
    assert sizes_alone(model([cumulative(0, 4)], 4), alone=False) == []


def test_a_size_is_that_of_the_domains_at_the_end(monkeypatch):
    """A task that a constraint puts to one time has few cells."""
    monkeypatch.setattr(TUNING, "budget_cells", 5 * CELLS - LAST)
    fix = "int_lin_le([1],[s0],0)"
    for calls in ([cumulative(0, 5), fix], [fix, cumulative(0, 5)]):
        assert sizes_alone(model(calls, 5)) == []


@pytest.mark.parametrize("most", [0, 12, 40, 80_000])
def test_answers_are_those_of_enumeration_however_many_have_rows(monkeypatch, most):
    monkeypatch.setattr(TUNING, "budget_cells", most)
    for seed in range(6):
        random = Random(seed)
        tasks = [random.sample(range(4), random.randint(2, 4)) for _ in range(3)]
        data = [([random.randint(1, 3) for _ in one], [random.randint(1, 3) for _ in one], random.randint(3, 4))
                for one in tasks]  # fmt: skip
        calls = [f"turbo_cumulative([{','.join(f's{i}' for i in one)}],{d},{r},{c})"
                 for one, (d, r, c) in zip(tasks, data)]  # fmt: skip
        right = [s for s in product(range(LAST + 1), repeat=4)
                 if all(fits([s[i] for i in one], *rest) for one, rest in zip(tasks, data))]  # fmt: skip
        text = model(calls, 4)
        assert len(solve_text(text, all_solutions=True).solutions) == len(right), text
        goal = model([*calls, "int_lin_eq([1,2,1,3,-1],[s0,s1,s2,s3,m],0)"], 4, "minimize m")
        result = solve_text(goal.replace("var 0", "var 0..99: m;\nvar 0", 1), seed=seed)
        assert result.objective == min(a + 2 * b + c + 3 * d for a, b, c, d in right), goal


def fits(starts: list[int], lengths: list[int], uses: list[int], capacity: int) -> bool:
    times = range(LAST + 4)
    return all(sum(r for s, d, r in zip(starts, lengths, uses) if s <= t < s + d) <= capacity for t in times)
