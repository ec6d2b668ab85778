"""Tables and automata that share variables: their rows share the truths of the values, however many these are.

Where the constraints form no cycle, the linear program is then as strong as all of them together."""

from __future__ import annotations

from random import Random

import pytest

from fuzz.bounds import judge_bounds
from support.relaxations import root_of
from turbo_fzn.bounds.rows.tuning import TUNING
from turbo_fzn.read.flatzinc import parse_text

MANY = TUNING.small_values + 5
OFFSET = 3


def costs_of(random: Random, n: int) -> list[list[int]]:
    return [[random.randint(0, 99) for _ in range(n)] for _ in range(n)]


def table(first: str, second: str, cost: str, costs: list[list[int]], offset: int = 0) -> str:
    """The constraint cost = costs[first - offset, second]."""
    rows = [(x + offset, y, value) for x, row in enumerate(costs) for y, value in enumerate(row)]
    cells = ",".join(str(cell) for row in rows for cell in row)
    return f"constraint turbo_table_int([{first},{second},{cost}],{len(rows)},[{cells}]);\n"


def chain(random: Random, n: int) -> tuple[str, int]:
    """FlatZinc of two tables and an automaton in a row, and the least sum of their costs by enumeration. The second
    table is of y + OFFSET, and the automaton, of one state, of the word z z."""
    one, other, (letters, *_) = costs_of(random, n), costs_of(random, n), costs_of(random, n)
    text = "".join(f"var 0..{n - 1}: {name} :: output_var;\n" for name in "xyz")
    text += f"var {OFFSET}..{n - 1 + OFFSET}: moved;\nvar 0..99: c;\nvar 0..99: d;\n"
    text += "var 0..198: e;\nvar 0..396: total;\n"
    text += f"constraint int_lin_eq([1,-1],[moved,y],{OFFSET});\n"
    text += table("x", "y", "c", one) + table("moved", "z", "d", other, OFFSET)
    text += f"constraint turbo_cost_regular([z,z],1,0..{n - 1},{[1] * n},1,1..1,{letters},e);\n"
    text += "constraint int_lin_eq([1,1,1,-1],[c,d,e,total],0);\nsolve minimize total;\n"
    values = range(n)
    least = min(one[x][y] + other[y][z] + 2 * letters[z] for x in values for y in values for z in values)
    return text, least


@pytest.mark.parametrize("n", [TUNING.small_values - 2, MANY])
def test_hulls_in_a_row_are_together_as_strong_as_all_of_them(n: int) -> None:
    for seed in range(3):
        text, least = chain(Random(seed), n)
        root = root_of(text)
        assert root.value == pytest.approx(least) and root.bound == least


def test_a_variable_of_one_table_gets_no_truths() -> None:
    cells = ",".join(f"{value},{value * value % 97}" for value in range(MANY))
    text = f"var 0..{MANY - 1}: x :: output_var;\nvar 0..96: c;\n"
    text += f"constraint turbo_table_int([x,c],{MANY},[{cells}]);\nsolve maximize c;\n"
    assert not root_of(text).relaxation.truths


@pytest.mark.parametrize("seed", range(8))
def test_every_solution_satisfies_the_rows_of_tables_that_meet(seed: int) -> None:
    """A cycle of three tables with few rows, one of which has a variable twice."""
    random = Random(seed)
    tables = []
    for first, second in (("x", "y"), ("y", "z"), ("z", "x"), ("x", "x")):
        rows = sorted({(random.randint(0, 3), random.randint(0, 3)) for _ in range(9)} | {(1, 1)})
        cells = ",".join(str(cell) for row in rows for cell in row)
        tables.append(f"constraint turbo_table_int([{first},{second}],{len(rows)},[{cells}]);\n")
    text = "".join(f"var 0..3: {name} :: output_var;\n" for name in "xyz") + "var -9..9: total;\n" + "".join(tables)
    text += "constraint int_lin_eq([2,-3,1,-1],[x,y,z,total],0);\nsolve minimize total;\n"
    verdict, _, _ = judge_bounds(parse_text(text), random)
    assert not verdict.is_fault and verdict.kind != "undecided", verdict
