"""The order of a text changes no form: with constraints and variables in any order, a model becomes as many rows.

Compared is what engines get, behind the simplifier. Nodes of trees (sums, conjunctions, disjunctions, equivalences) are
shared between constraints as far as the first ones allow, so a few more or fewer are no other form.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from fuzz.generate import draw_model
from support.corpus import CORPUS
from turbo_fzn.base.errors import ModelError
from turbo_fzn.engine import root
from turbo_fzn.lower.rewrite import lower
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.read.model import Model
from turbo_fzn.tnf.language import ADD, EQ, MAX, MIN
from turbo_fzn.tnf.simplify import simplify

NODES = (ADD, MIN, MAX, EQ)
SOME_NODES, SHARE_OF_NODES = 4, 0.2  # that may differ
ORDERS = 3
QUICK = ("stretches", "round_robin", "diagram", "crossword", "rota", "tsp")
RANDOM_MODELS = 420


def shuffled(model: Model, seed: int) -> Model:
    """The model with constraints and variables in another order, which is drawn."""
    random = Random(seed)
    random.shuffle(model.constraints)
    names = list(model.variables)
    random.shuffle(names)
    model.variables = {name: model.variables[name] for name in names}
    return model


def forms(model: Model) -> tuple[Counter, Counter] | None:
    """The rows of each operator, and the wide rows of each kind; None where there is no solution."""
    tnf = lower(model, alone=True).tnf
    if not tnf.infeasible:
        tnf = simplify(tnf, root.propagate).tnf
    return None if tnf.infeasible else (Counter(tnf.op.tolist()), Counter(wide.kind.name for wide in tnf.wides))


def are_alike(one: tuple[Counter, Counter] | None, other: tuple[Counter, Counter] | None) -> bool:
    if one is None or other is None:
        return one is other
    (rows, wides), (other_rows, other_wides) = one, other
    nodes = sum(rows[op] for op in NODES)
    differs = sum(abs(rows[op] - other_rows[op]) for op in NODES)
    same = all(rows[op] == other_rows[op] for op in rows | other_rows if op not in NODES)
    return same and wides == other_wides and differs <= SOME_NODES + SHARE_OF_NODES * nodes


def text_of(name: str) -> str:
    return (CORPUS / f"{name}.fzn").read_text(encoding="utf-8")


def differing_orders(text: str) -> list[int]:
    """The seeds of the orders in which a text has other forms than as it is written."""
    wanted = forms(parse_text(text))
    return [seed for seed in range(ORDERS) if not are_alike(wanted, forms(shuffled(parse_text(text), seed)))]


@pytest.mark.parametrize("name", QUICK)
def test_the_order_of_a_text_changes_no_form(name):
    assert differing_orders(text_of(name)) == []


@pytest.mark.slow
def test_the_order_of_no_example_changes_its_forms():
    texts = {path.stem: path.read_text(encoding="utf-8") for path in sorted(CORPUS.glob("*.fzn"))}
    assert len(texts) > 80
    assert {name: orders for name, text in texts.items() if (orders := differing_orders(text))} == {}


@pytest.mark.slow
@pytest.mark.parametrize("flavour", [None, "wide"])
def test_the_order_of_few_random_models_changes_their_forms(flavour):
    """Some conditions of half-reified constraints are fixed by another constraint, before or behind them."""
    found, n_compared = {}, 0
    for seed in range(RANDOM_MODELS // 2):
        try:
            wanted = forms(draw_model(Random(seed), flavour, with_globals=0.7))
            others = [forms(shuffled(draw_model(Random(seed), flavour, with_globals=0.7), order)) for order in range(3)]
        except ModelError:
            continue  # numbers that are too large for a store
        n_compared += 1
        if not all(are_alike(wanted, other) for other in others):
            found[seed] = [wanted, *others]
    assert n_compared > 0.9 * RANDOM_MODELS // 2
    assert len(found) <= n_compared // 50, found
