"""A warm start is tried first, and changes nothing else: no solution is lost, printed twice or claimed wrongly."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.engines import OpenEngine, labelled
from support.flatzinc_text import make_model, with_text
from support.oracle import all_solutions, fingerprint, objective_of, optimum, outputs_of
from support.random_models import models, solve
from turbo_fzn import solve_text
from turbo_fzn.base.domains import IntSet
from turbo_fzn.engine.abi.abi import LEARNERS
from turbo_fzn.read.model import Call, Goal, Ref

TEXT = """\
array [1..3] of var int: q :: output_array([1..3]) = [x,y,z];
array [1..2] of int: suggested = [7,5];
var 0..9: x;
var 0..9: y;
var {0,2,4,8}: z;
var bool: b :: output_var;
constraint int_lin_le([1,1,1],[x,y,z],20);
constraint int_ne(x,y);
constraint int_le_reif(x,y,b);
"""
SEARCH = "int_search([x,y,z],input_order,indomain_min,complete)"


def first(engine: str, annotations: str, **options: object) -> dict:
    options = {"arch": engine, "blocks": 1, **options}
    return solve_text(f"{TEXT}solve {annotations} satisfy;\n", **options).solutions[0]


@pytest.mark.covers("A8")
@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        (":: warm_start([x,y,z],[7,5,4])", [7, 5, 4]),
        (":: warm_start([x,y],suggested) :: warm_start([z],[8])", [7, 5, 8]),
        (":: warm_start_array([warm_start([x],[3]),warm_start([z],[2])])", [3, 0, 2]),
        (f":: seq_search([warm_start([y],[9]),{SEARCH}])", [0, 9, 0]),
        (f":: seq_search([{SEARCH},warm_start_int([y],[9])])", [0, 9, 0]),
        (f":: warm_start_bool([b],[false]) :: {SEARCH}", [1, 0, 0]),
        (f":: warm_start([z],[5]) :: {SEARCH}", [0, 1, 4]),  # 5 is not in the domain
        (f":: warm_start([x,y],[9,9]) :: {SEARCH}", [9, 8, 0]),
        (f":: warm_start([x,y,z],[10,9,9]) :: {SEARCH}", [9, 8, 2]),
        (f":: warm_start([],[]) :: {SEARCH}", [0, 1, 0]),
        (f":: warm_start([x,7],[5,3]) :: {SEARCH}", [5, 0, 0]),
    ],
)
def test_the_suggested_values_are_tried_first_and_then_the_nearest(engine, annotations, expected):
    for simplify in (True, False):
        assert first(engine, annotations, simplify=simplify)["q"] == expected


@pytest.mark.covers("A8")
@pytest.mark.parametrize("role", LEARNERS)
def test_a_learner_begins_with_the_suggested_values(role):
    """Its own decisions would begin with what the constraints are made of."""
    names = "abcdef"
    pairs = "".join(f"constraint int_ne({x},{y});\n" for x, y in combinations(names, 2))
    variables = "".join(f"var 0..5: {name} :: output_var;\n" for name in names)
    text = f"{variables}{pairs}solve :: warm_start([a,b,c,d,e,f],[5,4,3,2,1,0]) satisfy;\n"
    result = solve_text(text, arch="cpu", blocks=1, free_search=True, learn=role, simplify=False)
    assert result.solutions == [dict(zip(names, range(5, -1, -1)))]
    assert result.statistics["foundBy"] == f"cpu {role} 1"


@pytest.mark.covers("A8")
def test_a_variable_without_bounds_takes_the_suggested_value(engine):
    text = "var int: x :: output_var;\nvar int: y :: output_var;\nconstraint int_lin_eq([1,1],[x,y],5);\n"
    found = solve_text(f"{text}solve :: warm_start([x],[-77]) satisfy;\n", arch=engine, blocks=1).solutions[0]
    assert found == {"x": -77, "y": 82}


def test_an_optimisation_begins_with_the_suggested_solution(engine):
    text = f"{TEXT}solve :: warm_start([x,y,z],[7,5,8]) :: {SEARCH} maximize z;\n"
    assert solve_text(text, arch=engine, blocks=1, seed=0).solutions == [{"q": [7, 5, 8], "b": False}]
    text = f"{TEXT}solve :: warm_start([x,y,z],[7,5,4]) :: {SEARCH} minimize y;\n"
    result = solve_text(text, arch=engine, blocks=1, seed=0, intermediate=True)
    assert result.solutions[0]["q"] == [7, 5, 4]
    assert (result.objective, result.status) == (0, "OPTIMAL_SOLUTION")


@pytest.mark.covers("A8")
@given(model=models(["satisfy"]), data=st.data())
@settings(max_examples=50)
def test_a_warm_start_loses_and_repeats_no_solution_of_a_random_model(engine, model, data):
    add_warm_start(model, data)
    expected = sorted(fingerprint(outputs_of(model, solution)) for solution in all_solutions(model))
    for blocks in (1, 3):
        result = solve(model, engine, blocks, True, all_solutions=True)
        assert sorted(map(fingerprint, result.solutions)) == expected, model.text
        assert result.status == ("ALL_SOLUTIONS" if expected else "UNSATISFIABLE")


@given(model=models(["minimize", "maximize"]), data=st.data())
@settings(max_examples=50)
def test_a_warm_start_keeps_the_optimum_of_a_random_model(engine, model, data):
    add_warm_start(model, data)
    solutions = all_solutions(model)
    for lns in ("off", "on"):
        result = solve(model, engine, 3, True, lns=lns)
        assert result.objective == optimum(model, solutions), model.text
        assert result.status == ("OPTIMAL_SOLUTION" if solutions else "UNSATISFIABLE")


def add_warm_start(model, data) -> None:
    names = data.draw(st.lists(st.sampled_from([name for name in model.variables if name != "alias"]), max_size=4))
    for name in names:
        is_bool = model.variables[name].kind == "bool"
        value = data.draw(st.booleans() if is_bool else st.integers(-6, 7))
        model.goal.annotations.insert(0, Call("warm_start", [[Ref(name)], [value]]))
    with_text(model)


def test_a_suggested_solution_of_a_hard_model_is_found_at_once(engine):
    """A hidden assignment that a search in order would not meet for ages."""
    secret = [number * 37 % 50 for number in range(30)]
    xs = {f"x{number}": IntSet.interval(0, 49) for number in range(30)}
    names = [Ref(name) for name in xs]
    items = []
    for i in range(0, 30, 2):
        coefficients, chosen = [7 + 3 * i, 11 - i, i * i - 40], [i, (i * 7 + 1) % 30, (i * 11 + 5) % 30]
        total = sum(c * secret[number] for c, number in zip(coefficients, chosen))
        items.append(("int_lin_eq", coefficients, [names[number] for number in chosen], total))
    hint = Call("warm_start", [names, secret])
    model = make_model(xs, items, Goal("satisfy", None, [hint], 0))
    result = solve_text(model.text, arch=engine, blocks=1)
    assert [result.solutions[0][name] for name in xs] == secret


def test_a_hopeless_suggestion_is_given_up():
    """With the suggested value nine pigeons want eight holes, which takes 40,320 failures to see; else all is well."""
    names = [f"p{i}" for i in range(9)]
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    more = "".join(f"var bool: {a}{b};\n" for a, b in pairs) + "var bool: strict;\n"
    more += "".join(f"constraint int_ne_reif({a},{b},{a}{b});\n" for a, b in pairs)
    more += "".join(f"constraint bool_clause([{a}{b}],[strict]);\n" for a, b in pairs)
    more += "constraint int_le_reif(1,one,strict);\n"
    text = labelled({"one": "0..1"} | dict.fromkeys(names, "1..8"), more)
    engine = OpenEngine(text.replace("solve ::", "solve :: warm_start([one],[1]) ::"), blocks=1)
    engine.start()
    assert engine.search_until(lambda: engine.common.consumed)
    assert 100 <= engine.counted("failures")[0] <= 110


def test_the_objective_of_each_solution_is_its_own(engine):
    model = make_model(
        {"x": IntSet.interval(0, 9)}, [], Goal("maximize", Ref("x"), [Call("warm_start", [[Ref("x")], [4]])], 0)
    )
    result = solve_text(model.text, arch=engine, blocks=1, seed=1, intermediate=True)
    assert [solution["x"] for solution in result.solutions] == sorted(solution["x"] for solution in result.solutions)
    assert result.solutions[0]["x"] == 4 and result.objective == 9 == objective_of(model, {"x": 9})
