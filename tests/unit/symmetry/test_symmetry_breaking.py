"""When symmetries are broken and when they are left alone, and that answers are the same."""

from __future__ import annotations

from itertools import combinations
from random import Random

import numpy as np
import pytest

from support.command import run, write
from support.corpus import EXPECTED, text_of
from support.flatzinc_text import make_model
from support.oracle import all_solutions
from support.places import CORPUS
from support.swaps import X, Y, boolean_matrix, check_model, check_swap, refs, swaps
from support.symmetric_models import draw_symmetric
from support.warm import ask
from turbo_fzn import solve_text
from turbo_fzn.base.domains import BOOLEAN, IntSet
from turbo_fzn.base.errors import ModelError
from turbo_fzn.options.options import Options
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.read.model import Call, Goal, Model, Ref
from turbo_fzn.run.policy import breaks_symmetry
from turbo_fzn.symmetry import automorphisms
from turbo_fzn.symmetry.automorphisms import Automorphisms
from turbo_fzn.symmetry.breaking import leaders
from turbo_fzn.symmetry.graph import graph_of
from turbo_fzn.symmetry.tuning import TUNING


@pytest.fixture
def every(monkeypatch):
    """Few symmetries are broken, too."""
    monkeypatch.setattr(TUNING, "least_symmetries", 1)


# ---- what is left alone


def test_a_model_that_is_too_large_or_has_real_variables_is_left_alone(monkeypatch):
    model = boolean_matrix(4, 5)
    assert len(leaders(model)) == 7
    for limit, enough in (("constraints", 9), ("arcs", 40)):
        with monkeypatch.context() as patch:
            patch.setattr(TUNING, limit, enough)
            assert len(leaders(model)) == 7
            patch.setattr(TUNING, limit, enough - 1)
            assert leaders(model) == []
    assert leaders(parse_text(model.text.replace("var bool: x0_0", "var 0.0..1.0: f;\nvar bool: x0_0"))) == []


def test_few_symmetries_are_left_alone():
    assert len(leaders(boolean_matrix(3, 3))) == TUNING.least_symmetries == 4
    assert leaders(boolean_matrix(3, 2)) == []


def test_not_more_symmetries_are_broken_than_the_most(monkeypatch):
    monkeypatch.setattr(TUNING, "most_symmetries", 5)
    assert len(leaders(boolean_matrix(4, 5))) == 5


def test_a_limit_of_work_costs_symmetries_and_no_more(monkeypatch):
    model = boolean_matrix(3, 3)
    solutions, numbers = all_solutions(model), []
    for limit in range(0, 100_000, 2000):
        monkeypatch.setattr(TUNING, "work", limit)
        found = swaps(model)
        for swap in found:
            check_swap(model, swap, solutions)
        numbers.append(len(found))
    assert numbers[0] == 0 and numbers[-1] == 4 and any(0 < number < 4 for number in numbers)


def rigid(number: int) -> list[tuple]:
    """Frucht's graph: three neighbours of each of twelve vertices, which all look alike, and no symmetry."""
    steps = (-5, -2, -4, 2, 5, -2, 2, 5, -2, -5, 4, 2)
    edges = {frozenset((i, (i + step) % 12)) for i, longer in enumerate(steps) for step in (1, longer)}
    return [("int_ne", *refs(*(f"x{number}_{i}" for i in sorted(edge)))) for edge in sorted(edges, key=sorted)]


def test_what_looks_alike_and_is_not_costs_no_more_than_the_limit_of_work(monkeypatch):
    monkeypatch.setattr(TUNING, "work", 1_000_000)
    domains = {f"x{n}_{i}": IntSet.interval(0, n + 2) for n in range(30) for i in range(12)}
    automorphism = Automorphisms(graph_of(make_model(domains, [edge for n in range(30) for edge in rigid(n)])))
    assert list(automorphism.swaps()) == []
    assert 1_000_000 < automorphism.work < 1_000_000 + 4 * TUNING.round_work


def test_hashes_that_are_equal_by_chance_make_no_symmetry(monkeypatch):
    monkeypatch.setattr(automorphisms, "mixed", lambda x: x & np.uint64(1))
    for seed in range(15):
        check_model(draw_symmetric(Random(seed)))


@pytest.mark.parametrize("bound", [TUNING.compared_value, TUNING.compared_value + 1, 2**62 - 1])
def test_variables_with_large_values_are_not_compared(every, bound):
    """Three by three and four by three of a Latin square, whose sums would not fit into a store."""
    for n_rows, solved in ((3, "SATISFIED"), (4, "UNSATISFIABLE")):
        grid = [[Ref(f"x{i}{j}") for j in range(3)] for i in range(n_rows)]
        lines = [("turbo_all_different", list(line)) for line in (*grid, *zip(*grid))]
        domains = {name: IntSet.of_values([-bound, 0, bound]) for row in grid for name in row}
        model = make_model({**domains, "p": BOOLEAN, "q": BOOLEAN}, [*lines, ("bool_not", Ref("p"), Ref("q"))])
        names = {name for order in leaders(model) for side in order for name in side}
        assert names == {"p", "q"} if bound > TUNING.compared_value else names > {"p", "q"}
        assert solve_text(model.text, arch="cpu", symmetry="on").status == solved


def test_variables_without_a_domain_or_a_value_are_not_compared(every):
    for domain in (None, IntSet(())):
        model = make_model({"x": domain, "y": domain}, [("int_ne", X, Y)])
        assert len(swaps(model)) == 1
        assert leaders(model) == []


@pytest.mark.parametrize(
    "wrong",
    [
        *("constraint int_frob(x,1);", "constraint int_le(x);", "constraint int_le(x,[1]);", "constraint int_le(x,q);"),
        *("constraint int_lin_le([1],[x,y],1);", "constraint int_lin_le([true],[x],1);", "constraint int_le(true,x);"),
        *("constraint int_lin_le(x,[x],1);", "constraint bool_clause(1,2);", "constraint int_lin_le({1},[x],1);"),
        *("constraint set_in(x,{1.5});", "constraint int_plus(x);", "constraint int_le(x,a[3]);"),
        *("constraint turbo_all_different(3);", "constraint turbo_cumulative([x],[1],[1,2],3);"),
        *("constraint int_eq(x,a);", "constraint turbo_all_different([a]);"),
        "constraint int_le(x,9223372036854775807);",
    ],
)
def test_a_wrong_model_gets_the_same_message(wrong):
    text = "var 0..2: x;\nvar 0..2: y;\narray [1..2] of var int: a = [x,y];\nconstraint int_ne(x,y);\n"
    said = []
    for symmetry in ("off", "on"):
        with pytest.raises(ModelError) as caught:
            solve_text(f"{text}{wrong}\nsolve satisfy;\n", arch="cpu", symmetry=symmetry)
        said.append(str(caught.value))
    assert said[0] == said[1]


# ---- when it is done

SATISFACTION = Goal("satisfy", None, [], 0)
WARM = Goal("satisfy", None, [Call("seq_search", [[Call("warm_start", [[X], [1]])]])], 0)
MINIMUM = Goal("minimize", X, [], 0)


@pytest.mark.parametrize(
    ("goal", "options", "wanted"),
    [
        (SATISFACTION, {"symmetry": "on"}, True),
        (SATISFACTION, {}, False),
        (SATISFACTION, {"free_search": True}, True),
        (SATISFACTION, {"free_search": True, "symmetry": "off"}, False),
        (SATISFACTION, {"symmetry": "on", "all_solutions": True}, False),
        (SATISFACTION, {"symmetry": "on", "n_solutions": 2}, False),
        (SATISFACTION, {"symmetry": "on", "n_solutions": 0}, False),
        (SATISFACTION, {"symmetry": "on", "n_solutions": 1, "all_solutions": True}, True),
        (SATISFACTION, {"symmetry": "on", "n_optimal": 2}, True),
        (SATISFACTION, {"symmetry": "on", "cp_profiler": (1, 2)}, False),
        (None, {"symmetry": "on"}, True),
        (None, {"symmetry": "on", "all_solutions": True}, False),
        (WARM, {"free_search": True}, False),
        (WARM, {"symmetry": "on"}, True),
        (MINIMUM, {"symmetry": "on", "all_solutions": True, "intermediate": True}, True),
        (MINIMUM, {"symmetry": "on", "n_solutions": 2}, True),
        (MINIMUM, {"symmetry": "on", "all_optimal": True}, False),
        (MINIMUM, {"symmetry": "on", "n_optimal": 0}, False),
        (MINIMUM, {"symmetry": "on", "n_optimal": 2}, False),
        (MINIMUM, {"symmetry": "on", "n_optimal": 1}, True),
    ],
)
def test_one_of_several_symmetric_solutions_will_do_only_where_one_is_wanted(goal, options, wanted):
    assert breaks_symmetry(Model(goal=goal), Options(**options)) == wanted


DIFFERENT = """\
array [1..6] of var int: x :: output_array([1..6]) = [a,b,c,d,e,f];
var 0..5: a;
var 0..5: b;
var 0..5: c;
var 0..5: d;
var 0..5: e;
var 0..5: f;
constraint turbo_all_different([a,b,c,d,e,f]);
"""


@pytest.mark.covers("A8")
def test_the_solution_that_a_warm_start_suggests_is_found_with_free_search(engine):
    text = f"{DIFFERENT}solve :: warm_start([a,b,c,d,e,f],[5,4,3,2,1,0]) satisfy;\n"
    assert solve_text(text, arch=engine, free_search=True).solutions == [{"x": [5, 4, 3, 2, 1, 0]}]


def test_without_a_warm_start_the_first_solution_is_the_least(engine):
    assert solve_text(f"{DIFFERENT}solve satisfy;\n", arch=engine, symmetry="on").solutions == [{"x": list(range(6))}]


@pytest.mark.covers("F20")
@pytest.mark.parametrize(
    ("goal", "settings", "count"),
    [
        ("satisfy", {"all_solutions": True}, 720),
        ("satisfy", {"n_solutions": 2}, 2),
        ("minimize a", {"all_optimal": True}, 120),
        ("minimize a", {"n_optimal": 3}, 3),
    ],
)
def test_where_several_solutions_are_wanted_none_is_left_out(engine, goal, settings, count):
    result = solve_text(f"{DIFFERENT}solve {goal};\n", arch=engine, symmetry="on", lns="off", **settings)
    found = {tuple(solution["x"]) for solution in result.solutions}
    assert len(found if goal == "satisfy" else {one for one in found if one[0] == 0}) == count


@pytest.mark.covers("F20")
def test_the_command_counts_alike_and_finds_the_same_optimum(tmp_path):
    path, best = write(tmp_path, f"{DIFFERENT}solve satisfy;\n"), CORPUS / "lights_out.fzn"
    assert len(ask("--arch", "cpu", "-a", "-f", "--symmetry", "on", path).solutions) == 720
    answers = [run("--arch", "cpu", "-p", 1, "-f", "--symmetry", symmetry, best) for symmetry in ("on", "off", "auto")]
    assert answers[0].solutions == answers[2].solutions  # which may be others than without
    assert len({answer.solutions[-1][0].count("true") for answer in answers}) == 1
    assert all(answer.markers == ["=========="] for answer in answers)


@pytest.mark.parametrize("entry", EXPECTED, ids=lambda entry: entry["model"])
def test_an_example_has_the_same_optimum_and_status(every, entry):
    text = text_of(entry)
    if not leaders(parse_text(text)):
        return  # it is the same model then
    result = solve_text(text, arch="cpu", blocks=1, symmetry="on", check=True)
    if entry["kind"] == "count":
        assert result.status == ("SATISFIED" if entry["figure"] else "UNSATISFIABLE")
    else:
        assert (result.status, result.objective) == ("OPTIMAL_SOLUTION", entry["figure"])


def lines_that_meet_once(n_lines: int, n_points: int) -> Model:
    """Lines of three points, each two of which have one point in common. Of six points there are four."""
    lines = [[f"x{i}_{j}" for j in range(n_points)] for i in range(n_lines)]
    domains = {name: BOOLEAN for line in lines for name in line}
    constraints: list[tuple] = [("bool_lin_eq", [1] * n_points, refs(*line), 3) for line in lines]
    for one, other in combinations(range(n_lines), 2):
        both = [f"b{one}_{other}_{j}" for j in range(n_points)]
        domains |= dict.fromkeys(both, BOOLEAN)
        constraints += [("bool_and", *refs(*three)) for three in zip(lines[one], lines[other], both)]
        constraints.append(("bool_lin_eq", [1] * n_points, refs(*both), 1))
    return make_model(domains, constraints)


def test_a_design_that_does_not_exist_is_refuted_with_few_nodes(engine):
    model = lines_that_meet_once(5, 6)
    assert len(swaps(model)) == 4 + 5
    nodes = {}
    for symmetry in ("on", "off"):
        result = solve_text(model.text, arch=engine, blocks=1, lns="off", symmetry=symmetry)
        assert result.status == "UNSATISFIABLE"
        nodes[symmetry] = result.statistics["nodes"]
    assert 50 * nodes["on"] < nodes["off"]  # 23 and 11381
    assert solve_text(lines_that_meet_once(4, 6).text, arch=engine, symmetry="on").status == "SATISFIED"
