"""Tables as the checker looks at them: the rows that are there are found, and large tables cost little."""

from __future__ import annotations

import math
from itertools import product
from random import Random

import numpy as np
import pytest

from support.flatzinc_text import make_model
from turbo_fzn.check.checker import Checker
from turbo_fzn.check.meanings import is_row
from turbo_fzn.read.model import Array, Constraint, Ref
from turbo_fzn.run.tuning import TUNING


@pytest.mark.parametrize("seed", range(20))
def test_a_row_of_a_table_is_found_and_nothing_else(seed):
    random = Random(seed)
    width = random.randint(1, 4)
    values = (-(2**63), -1, 0, 1, 2**63 - 1)
    rows = random.choices(list(product(values, repeat=width)), k=random.randint(0, 30))
    cells = np.array([cell for row in rows for cell in row], np.int64)
    for x in product((*values, 2**63, -(2**63) - 1), repeat=width):
        assert is_row(x, len(rows), cells) == (x in rows)


@pytest.mark.parametrize(
    ("name", "n_tables", "others", "cells_a_literal"),
    [
        ("turbo_table_int", 1, [], 100),
        ("turbo_table_int_reif", 1, [False], 100),
        ("turbo_table_interval", 2, [], 1),  # not by columns
    ],
)
def test_a_hundred_cells_of_a_table_cost_as_much_as_a_literal(name, n_tables, others, cells_a_literal):
    n_rows = 1000
    model = make_model({"x": None}, [], arrays=[Array("t", "int", False, None, [0] * 9 * n_rows, [], 0)])
    arguments = [[Ref("x")] * 9, n_rows, *[Ref("t")] * n_tables, *others]
    model.constraints = [Constraint(name, arguments, [], 0)] * 27
    cost = 9 + 1 + n_tables * 9 * n_rows // cells_a_literal + len(others)
    assert Checker(model).cost == 1 + 27 * cost


def test_a_sudoku_of_tables_is_checked_unasked():
    n_rows = math.factorial(9)
    model = make_model({"x": None}, [], arrays=[Array("t", "int", False, None, [0] * 9 * n_rows, [], 0)])
    model.constraints = [Constraint("turbo_table_int", [[Ref("x")] * 9, n_rows, Ref("t")], [], 0)] * 27
    assert Checker(model).cost < TUNING.checked
