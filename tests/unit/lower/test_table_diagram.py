"""Large tables as decision diagrams: the paths are the rows, and no two nodes could be one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import permutations, product
from random import Random

import pytest

from support.table_models import KINDS, Row, expected, model_text, solutions
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.globals.automata import Layer
from turbo_fzn.lower.globals.table_diagram import diagram_of
from turbo_fzn.lower.globals.table_relation import relation_of
from turbo_fzn.lower.rewrite import lower
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.read.flatzinc import parse_text


def diagram(rows: Iterable[Row]) -> list[Layer] | None:
    b, rows = RowBuilder(), list(rows)
    return diagram_of(b, relation_of(b, [cell for row in rows for cell in row], len(rows), len(rows[0])))


def ends(layers: list[Layer], node: int) -> Iterator[Row]:
    """What the paths from a node in front of the first of these layers read."""
    if not layers:
        yield ()
        return
    first, *others = layers
    for before, value, behind in zip(first.before.tolist(), first.label.tolist(), first.behind.tolist()):
        if before == node:
            yield from ((value, *rest) for rest in ends(others, behind))


def draw_rows(random: Random) -> list[Row]:
    width = random.randint(1, 4)
    every = list(product((-4, 0, 1, 7), repeat=width))
    rows = random.sample(every, random.randint(1, len(every)))
    return rows if random.random() < 0.5 else [row for row in every if sum(row) % 3 == sum(rows[0]) % 3]


@pytest.mark.parametrize("seed", range(40))
def test_the_paths_of_a_diagram_are_the_rows_and_its_nodes_differ(seed):
    rows = draw_rows(Random(seed))
    layers = diagram(rows)
    assert sorted(ends(layers, 0)) == sorted(rows)
    for number, layer in enumerate(layers):
        nodes = set(layer.before.tolist())
        read = {frozenset(ends(layers[number:], node)) for node in nodes}
        assert len(read) == len(nodes) == max(nodes) + 1


@pytest.mark.parametrize("at_once", [1, 2, 10**6])
@pytest.mark.parametrize("most", [0, 1, 9, 30, 10**6])
def test_no_diagram_has_more_edges_than_one_may_have(monkeypatch, most, at_once):
    monkeypatch.setattr(TUNING, "diagram_edges", most)
    monkeypatch.setattr(TUNING, "diagram_nodes_at_once", at_once)
    for seed in range(10):
        rows = draw_rows(Random(seed))
        monkeypatch.undo()
        n_edges = sum(len(layer.before) for layer in diagram(rows))
        monkeypatch.setattr(TUNING, "diagram_edges", most)
        monkeypatch.setattr(TUNING, "diagram_nodes_at_once", at_once)
        assert (diagram(rows) is not None) == (n_edges <= most)


@pytest.mark.parametrize("seed", range(25))
def test_what_is_stated_as_a_diagram_has_the_rows_as_solutions(monkeypatch, seed):
    """Over other domains than the values of the table, and over the same variable twice."""
    monkeypatch.setattr(TUNING, "table_rows_alone", 0)
    monkeypatch.setattr(TUNING, "few_cells", 0)
    random = Random(seed)
    rows = set(draw_rows(random))
    width = len(next(iter(rows)))
    domains = [sorted(random.sample((-4, -1, 0, 1, 2, 7), random.randint(2, 5))) for _ in range(4)]
    pick = random.choices if random.random() < 0.3 else random.sample
    case = domains, rows, [(random.choice(["rows", *KINDS]), pick(range(4), k=width)) for _ in range(2)]
    assert solutions(model_text(*case)) == expected(*case)


def all_but_one(n: int) -> list[Row]:
    return list(permutations(range(n)))[1:]


@pytest.mark.parametrize("n", [6, 7])
def test_a_table_with_a_small_diagram_has_few_rows(n):
    """Tables of 719 and of 5,039 tuples, whose truth values alone would need 8,000 and 65,000 rows."""
    domains, rows = [list(range(n))] * (n + 1), all_but_one(n)
    one, two = (lower(parse_text(model_text(domains, rows, constraints(n, k)))).tnf.n_rows for k in (1, 2))
    assert two - one < 5 * n * 2 ** (n - 1)


def constraints(n: int, count: int) -> list[tuple[str, list[int]]]:
    return [("rows", list(range(k, n + k))) for k in range(count)]


def test_diagrams_share_the_limit_of_all_tables(monkeypatch):
    monkeypatch.setattr(TUNING, "table_rows", 5000)
    monkeypatch.setattr(TUNING, "table_rows_alone", 100)
    n = 6
    text = model_text([list(range(n))] * (n + 20), all_but_one(n), constraints(n, 20))
    assert lower(parse_text(text)).tnf.n_rows < 5000 + 20 * n + 2 * n * n * 20
