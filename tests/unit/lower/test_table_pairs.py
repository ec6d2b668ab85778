"""Tables that are stated as something else: by their pairs of columns, as all_different, as a comparison. The tests say
what these mean in their own words, and the solutions are those of the rows."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, permutations, product
from random import Random

import pytest

from support.table_models import KINDS, Row, expected, model_text, solutions
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.globals.table_plan import plan_of
from turbo_fzn.lower.globals.table_relation import Relation, relation_of
from turbo_fzn.lower.rewrite import lower
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.read.flatzinc import parse_text

VALUES = (-3, 0, 1, 4)


def relation(rows: Iterable[Row]) -> Relation:
    rows = list(rows)
    return relation_of(RowBuilder(), [cell for row in rows for cell in row], len(rows), len(rows[0]))


def joined(rows: set[Row]) -> set[Row]:
    """All tuples of which each pair of places has values that some row has there."""
    width = len(next(iter(rows)))
    seen = {(i, j): {(row[i], row[j]) for row in rows} for i, j in combinations(range(width), 2)}
    every = product(*map(set, zip(*rows)))
    return {x for x in every if all((x[i], x[j]) in pairs for (i, j), pairs in seen.items())}


FAMILIES = {
    "all different": set(permutations(VALUES, 3)),
    "a permutation": set(permutations(VALUES)),
    "ascending": {x for x in product(VALUES, repeat=4) if list(x) == sorted(x)},
    "descending with gaps": {x for x in product(range(6), repeat=3) if x[0] > x[1] + 1 > x[2] + 2},
    "all equal": {(v,) * 3 for v in VALUES},
    "two are different": {x for x in product(VALUES, repeat=3) if x[0] != x[2]},
    "three are different and one is less": {x for x in product(VALUES, repeat=4) if len({*x[1:]}) == 3 and x[0] < x[1]},
    "neighbours on a ring are different": {
        x for x in product(range(3), repeat=4) if all(x[i] != x[i - 1] for i in range(4))
    },
    "functions of the first": {(v, v * v, -v) for v in range(-3, 4)},
}


@pytest.mark.parametrize("name", FAMILIES)
def test_what_pairs_say_is_seen(name):
    rows = FAMILIES[name]
    assert joined(rows) == rows
    assert relation(rows).pairs is not None


def test_columns_that_differ_from_each_other_are_seen():
    found = {name: relation(rows).different for name, rows in FAMILIES.items()}
    assert {name: columns for name, columns in found.items() if columns} == {
        "all different": [0, 1, 2],
        "a permutation": [0, 1, 2, 3],
        "two are different": [0, 2],
        "three are different and one is less": [1, 2, 3],
    }


@pytest.mark.parametrize("name", FAMILIES)
def test_a_row_more_or_less_that_pairs_do_not_say_is_seen(name):
    rows = FAMILIES[name]
    width = len(next(iter(rows)))
    random = Random(name)
    for _ in range(10):
        changed = rows ^ {random.choice(sorted(product(VALUES, repeat=width)))}
        assert changed == joined(changed) or relation(changed).pairs is None


@pytest.mark.parametrize("seed", range(40))
def test_a_table_is_taken_for_its_pairs_only_where_they_say_it_all(seed):
    """Tables of a few rows, of which many say no more than their pairs do."""
    random = Random(seed)
    every = list(product(VALUES, repeat=3))
    rows = set(random.sample(every, random.choice((2, 4, 30, 60))))
    assert relation(rows).pairs is None or joined(rows) == rows


def draw(random: Random) -> tuple[list[list[int]], set[Row], list[tuple[str, list[int]]]]:
    """Constraints over one of the families, over domains that are not its values, or over what pairs drawn say."""
    rows = random.choice([*FAMILIES.values(), set()])
    if not rows:
        together = {pair: set(random.sample(list(product(VALUES, repeat=2)), 11)) for pair in ((0, 1), (1, 2), (0, 2))}
        every = product(VALUES, repeat=3)
        rows = {x for x in every if all((x[i], x[j]) in allowed for (i, j), allowed in together.items())} or {(0,) * 3}
    width = len(next(iter(rows)))
    values = sorted({*VALUES, *range(5), -2})
    domains = [sorted(random.sample(values, random.randint(3, 6))) for _ in range(4)]
    pick = random.choices if random.random() < 0.2 else random.sample
    kinds = random.choices(["rows", *KINDS], k=2)
    return domains, rows, [(kind, pick(range(4), k=width)) for kind in kinds]


@pytest.mark.parametrize("seed", range(40))
def test_what_is_stated_by_pairs_has_the_rows_as_solutions(monkeypatch, seed):
    monkeypatch.setattr(TUNING, "table_rows_alone", 0)
    monkeypatch.setattr(TUNING, "few_cells", 0)
    case = draw(Random(seed))
    assert solutions(model_text(*case)) == expected(*case)


def test_a_table_of_all_permutations_is_all_different():
    """A truth for each value of each variable, however few rows there are."""
    rows = set(permutations(range(6)))
    text = model_text([list(range(6))] * 6, rows, [("rows", list(range(6)))])
    before, _ = text.split("constraint")
    whole = lower(parse_text(text)).tnf
    wanted = lower(parse_text(f"{before}constraint turbo_all_different([x0, x1, x2, x3, x4, x5]); solve satisfy;")).tnf
    assert whole.n_rows == wanted.n_rows


def test_as_many_rows_are_not_all_different_where_one_has_a_value_twice():
    for n, width in ((3, 3), (4, 3), (4, 4)):
        rows = list(permutations(range(n), width))
        assert relation(rows).is_all_different
        for row in ((1,) * width, (0, *range(width - 1))):
            assert not relation([*rows[1:], row]).is_all_different
        assert not relation([tuple(v + (i == 1) for i, v in enumerate(row)) for row in rows]).is_all_different


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("values", [[0, 1, 2], [0, 2, 5], [0, 1, 2, 3]])
def test_all_tuples_of_different_values_are_all_different_over_any_domains(kind, values):
    rows = set(permutations(values, 3))
    for domains in ([[0, 1, 2]] * 3, [[0, 1], [0, 2, 5], list(range(6))], [values] * 3, [[0], [1, 2], [0, 3]]):
        case = domains, rows, [(kind, [0, 1, 2])]
        assert solutions(model_text(*case)) == expected(*case)


def test_an_order_of_many_columns_is_a_row_for_each_pair(monkeypatch):
    monkeypatch.setattr(TUNING, "table_rows_alone", 1000)
    rows = {x for x in product(range(9), repeat=4) if list(x) == sorted(x)}
    tnf = lower(parse_text(model_text([list(range(9))] * 4, rows, [("rows", [0, 1, 2, 3])]))).tnf
    assert tnf.n_rows == 6
    assert not len(tnf.tables)


# Comparisons


def comparison(first: list[int], second: list[int], rows: Iterable[Row]) -> tuple[int, int, int] | None:
    b = RowBuilder()
    rows = list(rows)
    x = [b.variable(min(values), max(values)) for values in (first, second)]
    return plan_of(b, x, relation_of(b, [cell for row in rows for cell in row], len(rows), 2)).comparison


@pytest.mark.parametrize("seed", range(30))
def test_a_table_is_a_comparison_where_just_its_rows_satisfy_it(seed):
    random = Random(seed)
    first, second = (sorted(random.sample(range(-5, 9), random.randint(2, 6))) for _ in range(2))
    c = random.randint(-6, 6)
    for i, j in ((0, 1), (1, 0)):
        rows = [x for x in product(first, second) if x[i] + c <= x[j]]
        assert not rows or satisfying(comparison(first, second, rows), rows) == rows
        for row in rows[:5] if len(rows) > 1 else []:
            others = [other for other in rows if other != row]
            assert satisfying(comparison(first, second, others), others) in (None, others)


def satisfying(found: tuple[int, int, int] | None, rows: list[Row]) -> list[Row] | None:
    """The combinations of the rows' values that satisfy a comparison, if there is one."""
    if found is None:
        return None
    i, j, c = found
    return [x for x in product(*(sorted(set(column)) for column in zip(*rows))) if x[i] + c <= x[j]]


def test_an_order_of_large_domains_is_one_row():
    rows = [(i, j) for i in range(100) for j in range(i, 100)]
    text = model_text([list(range(100))] * 2, rows, [("rows", [0, 1])])
    tnf = lower(parse_text(text)).tnf
    assert tnf.n_rows == 1
    assert not len(tnf.tables)


@pytest.mark.parametrize("large", [2**60, 2**61, 2**62 - 1])
def test_differences_of_large_values_are_not_compared_where_they_do_not_fit(large):
    rows = [(-large, -large), (-large, large), (large, large)]
    domains = [[-large, large]] * 2
    assert solutions(model_text(domains, rows, [("rows", [0, 1])])) == sorted(rows)
