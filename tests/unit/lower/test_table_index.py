"""Tables with a key, and tables of all combinations: stated as elements, whose solutions are the rows."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, product
from random import Random

import numpy as np
import pytest

from support.table_models import KINDS, Row, expected, model_text, solutions
from turbo_fzn.lower.globals.table_index import columns_that_tell
from turbo_fzn.lower.globals.table_relation import columns_of
from turbo_fzn.lower.rewrite import lower
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.tnf.language import Op


def told(rows: Iterable[Row]) -> list[int] | None:
    rows = sorted(rows)
    return columns_that_tell(*columns_of([cell for row in rows for cell in row], len(rows), len(rows[0])))


def draw_rows(random: Random) -> list[Row]:
    """Rows of which some columns, in any places, tell the others, whose values have gaps or not."""
    sizes = random.choice(((5,), (7,), (2, 3), (3, 3), (2, 2, 2)))
    values = [random.sample(range(-2, size - 1 + random.choice((0, 2))), size) for size in sizes]
    others = random.randint(1, 2)
    places = random.sample(range(len(sizes) + others), len(sizes) + others)
    rows = [(*key, *random.choices(range(-1, 3), k=others)) for key in product(*values)]
    return [tuple(row[place] for place in places) for row in rows]


@pytest.mark.parametrize("seed", range(60))
def test_columns_tell_the_rows_apart_where_all_their_combinations_occur_once(seed):
    random = Random(seed)
    rows = draw_rows(random)
    if random.random() < 0.5:
        rows = random.sample(rows, len(rows) - 1)
    width, values = len(rows[0]), [sorted({row[column] for row in rows}) for column in range(len(rows[0]))]

    def tell(columns: tuple[int, ...]) -> bool:
        seen = sorted(tuple(row[column] for column in columns) for row in rows)
        return seen == sorted(product(*(values[column] for column in columns)))

    sizes = range(1, TUNING.index_columns + 1)
    every = [columns for size in sizes for columns in combinations(range(width), size) if tell(columns)]
    found = told(rows)
    assert (found is None) == (not every)
    assert found is None or (tuple(found) in every and len(found) == len(every[0]))


@pytest.mark.parametrize("seed", range(60))
def test_what_is_stated_by_an_index_has_the_rows_as_solutions(monkeypatch, seed):
    """Over domains that are not the values of the table, with variables in two places, plain and reified."""
    monkeypatch.setattr(TUNING, "indexed_tuples", 0)
    monkeypatch.setattr(TUNING, "few_cells", 0)
    random = Random(seed)
    rows = draw_rows(random)
    domains = [sorted(random.sample(range(-3, 7), random.randint(3, 8))) for _ in range(4)]
    pick = random.choices if len(rows[0]) > 4 or random.random() < 0.2 else random.sample
    kinds = random.choices(["rows", "rows", *KINDS], k=2)
    case = domains, set(rows), [(kind, pick(range(4), k=len(rows[0]))) for kind in kinds]
    assert solutions(model_text(*case)) == expected(*case)


def operators(rows: list[Row], domains: list[list[int]], n_constraints: int) -> dict[str, int]:
    """How many rows of each operator state so many constraints over variables of their own."""
    members = [list(range(k * len(domains), (k + 1) * len(domains))) for k in range(n_constraints)]
    text = model_text(domains * n_constraints, rows, [("rows", one) for one in members])
    names, counts = np.unique(lower(parse_text(text)).tnf.op, return_counts=True)
    return {Op(name).name: int(count) for name, count in zip(names, counts)}


def test_a_large_table_with_a_key_is_an_element_for_each_other_column():
    random = Random(1)
    rows = [(random.randint(0, 99), key, random.randint(0, 9), key // 3) for key in range(5, 1505)]
    domains = [list(range(100)), list(range(5, 1505)), list(range(10)), list(range(1, 502))]
    assert operators(rows, domains, 3) == {"ELEMENT": 9}


def test_a_large_table_of_all_pairs_is_an_element_of_their_number():
    random = Random(1)
    rows = [(a, random.randint(0, 99), b) for a in range(1, 41) for b in range(40)]
    found = operators(rows, [list(range(1, 41)), list(range(100)), list(range(40))], 2)
    assert found == {"MUL": 2, "ADD": 2, "ELEMENT": 2}


def test_the_arrays_of_an_index_are_shared_where_domains_differ():
    """Only the first values of the key are left to the second constraint: the arrays are the same ones."""
    rows = [(key, key % 101) for key in range(3000)]
    domains = [list(range(3000)), list(range(101)), list(range(2000)), list(range(101))]
    tnf = lower(parse_text(model_text(domains, rows, [("rows", [0, 1]), ("rows", [2, 3])]))).tnf
    assert len(tnf.tables) == 3000


def test_columns_that_follow_from_the_key_need_no_holes():
    rows = [(key, 3 * key) for key in range(1100)]
    assert operators(rows, [list(range(1100)), list(range(3300))], 1) == {"ELEMENT": 1}


def test_a_small_table_with_a_key_keeps_its_truth_values():
    rows = [(key, key * key % 11) for key in range(30)]
    assert "EQ" in operators(rows, [list(range(30)), list(range(11))], 1)
