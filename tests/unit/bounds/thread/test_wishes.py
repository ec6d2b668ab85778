"""The suggestions of a linear relaxation: they reach the learners, which try them, and no claim rests on them."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from support.engines import OpenEngine
from support.scripted import Scene, Scripted
from turbo_fzn.bounds.rows.linearise import linearise
from turbo_fzn.engine.contract import NO_WISH, Found
from turbo_fzn.engine.root import Propagator
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.bounding import Bounding, root_bounds
from turbo_fzn.run.judge import Judge
from turbo_fzn.run.prepare import prepare

N_TRUTHS, N_CLAUSES = 400, 1680
FEW = 200  # conflicts: of the first run, after which there are wishes, and a little more
MANY = 1000


def planted(random: Random, relaxed: str = "", goal: str = "satisfy") -> tuple[str, list[int]]:
    """Clauses of three literals that have a solution, which is hard to find, and that solution. `relaxed` is one more
    literal of each clause."""
    solution = [random.randint(0, 1) for _ in range(N_TRUTHS)]
    lines = [f"var bool: b{i} :: output_var;" for i in range(N_TRUTHS)]
    lines += [f"var bool: {relaxed};", "var 0..1: cost;", f"constraint bool2int({relaxed},cost);"] if relaxed else []
    n_clauses = 0
    while n_clauses < N_CLAUSES:
        literals = [(i, random.randint(0, 1)) for i in random.sample(range(N_TRUTHS), 3)]
        if any(solution[i] == side for i, side in literals):
            true, false = ([f"b{i}" for i, side in literals if side == wanted] for wanted in (1, 0))
            lines.append(f"constraint bool_clause([{','.join(true + [relaxed] * bool(relaxed))}],[{','.join(false)}]);")
            n_clauses += 1
    return "\n".join([*lines, f"solve {goal};"]), solution


def conflicts_of(text: str, role: str, wishes: list[int] | None, has_easy_one: bool = False) -> int:
    """The conflicts of one learner until it finds a solution, or one better than an easy one that it was given."""
    engine = OpenEngine(text, simplify=False, blocks=1, roles=(role,), learn_bytes=2**24, seed=1)
    if wishes is not None:
        values = np.full(engine.layout.tnf.n_vars, NO_WISH)
        values[[engine.place(f"b{i}") for i in range(N_TRUTHS)]] = wishes
        engine.suggest(values)
    engine.start(easy_solution(engine) if has_easy_one else None)
    assert len(engine.search_until(lambda: engine.common.ring_head == 1)) == 1
    return engine.statistics()["failures"]


def easy_solution(engine: OpenEngine) -> Found:
    """The one of which only `easy` is true."""
    tnf = engine.layout.tnf
    lower, upper = tnf.lower.copy(), tnf.upper.copy()
    lower[engine.place("easy")], upper[[engine.place(f"b{i}") for i in range(N_TRUTHS)]] = 1, 0
    values, others = Propagator(tnf)(lower, upper)
    assert np.array_equal(values, others)
    return Found(1, 0, "", values)


@pytest.mark.parametrize(
    "role", ["finder", *(pytest.param(role, marks=pytest.mark.slow) for role in ("prover", "soloist"))]
)
def test_a_learner_without_a_solution_tries_its_wishes(role):
    text, solution = planted(Random(7))
    assert conflicts_of(text, role, solution) < FEW
    assert conflicts_of(text, role, None) > MANY


def test_a_finder_tries_its_wishes_now_and_then_when_it_has_a_solution():
    text, solution = planted(Random(7), "easy", "minimize cost")
    assert conflicts_of(text, "finder", solution, True) < MANY
    assert conflicts_of(text, "finder", None, True) > MANY


@pytest.mark.slow
def test_where_nothing_is_wished_the_search_is_as_it_was():
    text, _ = planted(Random(4))
    assert conflicts_of(text, "finder", [NO_WISH] * N_TRUTHS) == conflicts_of(text, "finder", None)


def test_a_wish_that_no_solution_grants_costs_no_proof():
    text = "var 0..9: x :: output_var; var 0..9: y; constraint int_lin_eq([1,1],[x,y],9); solve minimize x;"
    for wish in (NO_WISH, -5, 9, 10, 2**40):
        engine = OpenEngine(text, simplify=False, blocks=1, roles=("finder",), learn_bytes=2**24)
        engine.suggest(np.full(engine.layout.tnf.n_vars, wish))
        assert [found.objective for found in engine.run()][-1] == 0 and engine.complete


PLACES = """
array [1..3] of int: cost = [4,1,3];
var 0..2: x :: output_var; var 1..3: i; var 0..4: p; var bool: b; var bool: c; var 0..1: n; var 0..9: total;
constraint int_lin_eq([1,-1],[x,i],-1);
constraint array_int_element(i,cost,p);
constraint int_eq_reif(x,1,b);
constraint int_le_reif(x,1,c);
constraint bool2int(c,n);
constraint int_lin_eq([1,3,-1],[p,n,total],0);
solve minimize total;
"""


def test_wishes_are_the_likeliest_values_and_what_follows_from_them():
    prepared = prepare(parse_text(PLACES), Options(simplify=False), Interrupt(None))
    bounding = Bounding(Judge(prepared, Options()))
    relaxation = linearise(prepared.model, *root_bounds(prepared))
    bounding.boxes.attach(relaxation)
    column_of = {name: relaxation.variables.tolist().index(prepared.origin[name]) for name in ("x", "b", "c", "total")}
    values = np.zeros(relaxation.n_columns)
    i = relaxation.variables.tolist().index(prepared.origin["i"])  # x + 1, of which x's truths are
    truths = {value: literal for literal, (column, value) in relaxation.truths.items() if column == i}
    values[truths[1]], values[truths[3]], values[column_of["b"]], values[column_of["c"]] = 0.3, 0.6, 0.1, 0.4
    values[column_of["total"]] = values[column_of["x"]] = 1.5
    bounding.boxes.suggest(values)
    wishes = bounding.boxes.wishes
    wished = {name: int(wishes[prepared.origin[name]]) for name in ("x", "i", "b", "c", "total")}
    assert wished == {"x": 2, "i": 3, "b": 0, "c": 0, "total": NO_WISH}
    engine = Scripted()
    bounding.exchange(engine, None, [])
    bounding.exchange(engine, None, [])
    assert engine.asked == [("suggest", wishes.tolist())], "once"


def test_a_team_passes_wishes_on_and_does_without_who_fails():
    scene = Scene(sense=1).joined()
    scene.second.failing.add("suggest")
    scene.team.suggest(np.array([3]))
    assert scene.first.asked[-1] == ("suggest", [3]) and scene.team.poll() == [] and scene.team.name == "first"
