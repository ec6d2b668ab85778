"""Symmetries that are found are symmetries, and what is done with them costs no class of solutions."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.builtin_cases import PREDICATES, calls_of, model_of
from support.flatzinc_text import make_model
from support.oracle import all_solutions, optimum
from support.swaps import W, X, Y, Z, boolean_matrix, check_model, check_swap, refs, swaps
from support.symmetric_models import EVEN, PAIRS, THREE, cells, draw_symmetric, forms
from turbo_fzn import solve_text
from turbo_fzn.base.domains import BOOLEAN, IntSet
from turbo_fzn.predicates.table import PREDICATES as SIGNATURES
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.read.model import Expression, Model, Ref
from turbo_fzn.symmetry import graph
from turbo_fzn.symmetry.automorphisms import Automorphisms, Swap
from turbo_fzn.symmetry.graph import graph_of
from turbo_fzn.symmetry.tuning import TUNING

UNORDERED = {name.partition("/")[0] for name, one in SIGNATURES.items() if one.unordered}
COMMUTATIVE = {name.partition("/")[0] for name, one in SIGNATURES.items() if one.commutes}


@pytest.fixture
def every(monkeypatch):
    """Few symmetries are broken, too."""
    monkeypatch.setattr(TUNING, "least_symmetries", 1)


# ---- random models

seeds = st.integers(0, 2**40)


@given(seeds, st.integers(1, 5))
def test_every_swap_is_a_symmetry_and_every_class_keeps_a_solution(seed, pairs):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TUNING, "least_symmetries", 1)
        patch.setattr(TUNING, "compared_pairs", pairs)
        check_model(draw_symmetric(Random(seed)))


@given(seeds)
def test_a_swap_that_passes_the_check_is_a_symmetry_however_it_was_guessed(seed):
    random = Random(seed)
    model = draw_symmetric(random)
    found, solutions = graph_of(model), None
    automorphism = Automorphisms(found)
    for _ in range(40):
        moves = guess(found, random)
        if moves and automorphism.is_automorphism(moves):
            solutions = all_solutions(model) if solutions is None else solutions
            check_swap(model, dict(zip(*([found.names[v] for v in side] for side in moves))), solutions)


def guess(found: graph.Graph, random: Random) -> Swap | None:
    """Two rows or columns, or a few variables, that go to each other."""
    present = sorted({found.names[number] for number in found.variable.tolist()})
    by_line = random.choice((1, 2))
    first, second, *_ = random.sample("0123", 4)
    pairs = [(one, f"{one[:by_line]}{second}{one[by_line + 1 :]}") for one in present if one[by_line:][:1] == first]
    if random.random() < 0.5:
        some = random.sample(present, min(len(present), 2 * random.randint(1, 3)))
        pairs = list(zip(some[::2], some[1::2]))
    numbers = {name: number for number, name in enumerate(found.names) if name in present}
    if not pairs or not all(one in numbers and other in numbers for one, other in pairs):
        return None
    one, other = np.array([[numbers[name] for name in pair] for pair in pairs]).T
    return Swap(np.append(one, other), np.append(other, one))


@given(seeds)
def test_the_answer_of_a_random_model_is_that_of_the_oracle(seed):
    model = draw_symmetric(Random(seed))
    solutions = all_solutions(model)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TUNING, "least_symmetries", 1)
        result = solve_text(model.text, arch="cpu", blocks=1, symmetry="on", check=True)
    assert (result.status == "UNSATISFIABLE") == (not solutions), model.text
    if model.goal.method != "satisfy":
        assert result.objective == optimum(model, solutions), model.text


# ---- each constraint whose arguments may be permuted


def twins(predicate: str, arguments: list, bools: bool, odd: bool = False) -> Model:
    """The constraint alone; `odd`: of x, y and z something else says that y is not like the others."""
    domains = {**cells("xyz", bools), "c": THREE, "t": BOOLEAN, "r": BOOLEAN}
    constraints: list[tuple] = [(predicate, *arguments)]
    if odd:
        domains["y"] = domains["y"] if bools else IntSet.interval(0, 1)
        constraints += [("bool_le", False, Ref("y"))] if bools else []
    return make_model(domains, constraints)


XYZ = [Ref("x"), Ref("y"), Ref("z")]
FORMS = [(name, form) for name in EVEN for form in forms(name)]


@pytest.mark.parametrize(("name", "form"), FORMS, ids=map("".join, FORMS))
def test_what_a_constraint_does_not_order_is_swapped_unless_a_constant_tells_it_apart(every, name, form):
    even, truth = EVEN[name], [Ref("r")] if form else []
    assert check_model(twins(name + form, [*even.arguments(XYZ), *truth], even.bools)) == 2
    changed = (even.odd or even.arguments)(XYZ)
    model = twins(name + form, [*changed, *truth], even.bools, odd=even.odd is None)
    assert check_model(model) == 1
    assert swaps(model) == [{"x": "z", "z": "x"}]


PAIR_FORMS = [(name, form) for name in PAIRS for form in forms(name)]


@pytest.mark.parametrize(("name", "form"), PAIR_FORMS, ids=map("".join, PAIR_FORMS))
def test_the_first_two_arguments_are_swapped_where_the_constraint_is_commutative(every, name, form):
    pair, truth = PAIRS[name], [Ref("r")] if form else []
    arguments = [*pair.arguments(XYZ), *truth]
    model = twins(name + form, arguments, pair.bools)
    assert check_model(model) == 1
    assert swaps(model) == [{"x": "y", "y": "x"}]
    assert swaps(twins(name + form, arguments, pair.bools, odd=True)) == []


def test_each_row_of_the_tables_is_tried():
    assert EVEN.keys() == UNORDERED
    assert PAIRS.keys() == COMMUTATIVE


def is_ordered(predicate: str) -> bool:
    base = predicate.removesuffix("_reif").removesuffix("_imp").removesuffix("/2")
    return base not in UNORDERED and base not in COMMUTATIVE


@pytest.mark.parametrize("predicate", list(filter(is_ordered, PREDICATES)))
def test_other_constraints_order_their_arguments(predicate):
    _, arguments = next(calls_of(predicate))
    assert swaps(model_of(predicate, arguments)) == []


def ints(*names: str) -> dict[str, IntSet]:
    return dict.fromkeys(names, THREE)


@pytest.mark.parametrize(
    ("constraints", "n_swaps"),
    [
        ([("int_plus", 1, X, Z), ("int_plus", Y, 1, W)], 1),  # on either side
        ([("int_plus", 1, X, Z), ("int_plus", Y, 2, W)], 0),
        ([("int_lin_le", [1, 2], [X, 1], 3), ("int_lin_le", [2, 1], [1, Y], 3)], 1),  # constants in any order
        ([("int_lin_le", [1, 2], [X, 1], 3), ("int_lin_le", [1, 2], [Y, 2], 3)], 0),
        ([("int_lin_le", [1, 1], [X, X], 3), ("int_lin_le", [1, 1], [Y, Y], 3)], 1),  # twice the same variable
        ([("int_lin_le", [1, 1], [X, X], 3), ("int_lin_le", [1], [Y], 3)], 0),
        ([("int_lin_le", [1, 1, 1], [X, X, Y], 3)], 0),
        ([("set_in", X, THREE), ("set_in", Y, IntSet.interval(0, 2))], 1),
        ([("set_in", X, THREE), ("set_in", Y, IntSet.interval(0, 1))], 0),
        ([("array_int_element", X, [1, 2], Z), ("array_int_element", Y, [1, 2], W)], 1),
        ([("array_int_element", X, [1, 2], Z), ("array_int_element", Y, [2, 1], W)], 0),
        ([("array_var_int_element", X, [Y, Z], W)], 0),
        ([("turbo_table_int", [X, Y], 2, [0, 1, 1, 0])], 0),  # not looked into
        ([("turbo_lex_lesseq_int", [X], [Y])], 0),
        ([("int_le", X, Y), ("int_le", Y, X)], 1),  # both ways
        ([("int_le", X, Y), ("int_le", Y, Z), ("int_le", Z, X)], 0),  # round and round is no swap
        ([("int_ne", X, Y), ("int_ne", Z, W)], 2),  # and one that both make
        ([("int_ne", X, Y), ("int_lt", Z, W)], 1),
        ([("turbo_cumulative", [X, Y], [Z, W], [1, 1], 1)], 0),  # whole tasks of several variables: not looked for
        ([("turbo_cumulative", [X, Y, 0], [1, 1, Z], [1, 1, W], 1)], 1),
        ([("turbo_global_cardinality", [Z], [1, 1], [X, Y])], 1),
        ([("turbo_global_cardinality", [Z], [1, 2], [X, Y])], 0),
    ],
)
def test_a_model_has_just_the_swaps_that_it_should_have(every, constraints, n_swaps):
    assert check_model(make_model(ints("x", "y", "z", "w"), constraints)) == n_swaps


def test_expressions_are_told_apart(every):
    less, more = (Expression((("arg", 0), ("arg", 1), (name, 2))) for name in ("le", "ge"))
    for other, n_swaps in ((less, 1), (more, 0)):
        constraints = [("int_expression", less, [X, Y]), ("int_expression", other, [Z, W])]
        assert len(swaps(make_model(ints("x", "y", "z", "w"), constraints))) == n_swaps


def declared(text: str) -> int:
    return check_model(parse_text(text))


def test_declarations_tell_variables_apart(every):
    even = "constraint int_ne(x,y);\nsolve satisfy;\n"
    pair = "var 0..2: x;\nvar 0..2: y;\n"
    assert declared(f"{pair}{even}") == 1
    assert declared(f"var 0..2: x;\nvar {{0,2}}: y;\n{even}") == 0
    assert declared(f"var 0..2: x;\nvar 0..2: y = 1;\n{even}") == 0
    assert declared(f"var 0..2: x = 1;\nvar 0..2: y = 2;\n{even}") == 0
    assert declared(f"var 0..2: x = z;\nvar 0..2: y = z;\nvar 0..2: z;\n{even}") == 1
    assert declared(f"{pair}array [1..2] of var 0..1: a = [x,y];\n{even}") == 1
    assert declared(f"{pair}array [1..2] of var 0..1: a = [x,0];\n{even}") == 0
    assert declared(f"{pair}array [1..2] of var int: a = [x,0];\n{even}") == 1
    assert declared(f"int: n = 1;\n{pair}constraint int_le(x,n);\nconstraint int_le(y,1);\n{even}") == 1
    assert declared(f"int: n = 1;\n{pair}constraint int_le(x,n);\nconstraint int_le(y,2);\n{even}") == 0


TABLE = "array [1..4] of int: t = [0,1,1,2];\nint: one = 1;\n"


@pytest.mark.parametrize(
    ("other", "n_swaps"), [("[0,1,1,2]", 1), ("u", 1), ("[0,one,one,2]", 1), ("v", 0), ("[0,1,2,2]", 0), ("t", 1)]
)
def test_tables_are_told_apart_by_what_is_in_them_and_not_by_their_names(every, other, n_swaps):
    arrays = f"{TABLE}array [1..4] of int: u = [0,1,1,2];\narray [1..4] of int: v = [0,1,2,2];\n"
    variables = "".join(f"var 0..2: {name};\n" for name in "xyzw")
    tables = f"constraint turbo_table_int([x,z],2,t);\nconstraint turbo_table_int([y,w],2,{other});\n"
    assert declared(f"{arrays}{variables}{tables}solve satisfy;\n") == n_swaps


class _CountedList(list):
    """Counts how often it is gone through."""

    passes = 0

    def __iter__(self):
        self.passes += 1
        return super().__iter__()


def test_a_table_is_looked_at_once_however_many_constraints_name_it():
    passes = []
    for n in (1, 30):
        pairs = "\n".join(f"constraint turbo_table_int([x{i},x{i + 1}],2,t);" for i in range(n))
        model = parse_text("".join(f"var 0..2: x{i};\n" for i in range(n + 1)) + f"{TABLE}{pairs}\nsolve satisfy;\n")
        cells = model.arrays["t"].elements = _CountedList(model.arrays["t"].elements)
        assert graph_of(model) is not None
        passes.append(cells.passes)
    assert passes[0] == passes[1] > 0


@pytest.mark.parametrize(
    ("objective", "n_swaps"), [("x", 0), ("a[1]", 0), ("a[2]", 1), ("n", 1), ("alias", 0), ("a[3]", 1)]
)
def test_the_objective_is_like_no_other_variable(every, objective, n_swaps):
    text = "int: n = 1;\nvar 0..2: x;\nvar 0..2: y;\nvar 0..2: t;\nvar 0..2: alias = x;\n"
    text += "array [1..3] of var int: a = [x,t,1];\nconstraint int_ne(x,y);\nconstraint int_plus(x,y,t);\n"
    text = text if objective == "alias" else text.replace("var 0..2: alias = x;\n", "")
    assert declared(f"{text}solve minimize {objective};\n") == n_swaps


# ---- exact generators


def test_a_matrix_has_a_swap_for_each_two_neighbours_of_rows_and_of_columns():
    found = swaps(boolean_matrix(4, 5))
    rows = [{f"x{a}_{j}": f"x{b}_{j}" for a, b in ((i, i + 1), (i + 1, i)) for j in range(5)} for i in range(3)]
    columns = [{f"x{i}_{a}": f"x{i}_{b}" for a, b in ((j, j + 1), (j + 1, j)) for i in range(4)} for j in range(4)]
    assert len(found) == 7
    assert all(one in found for one in (*rows, *columns))


@pytest.mark.parametrize(("n_rows", "n_columns"), [(2, 2), (2, 3), (3, 2), (3, 3), (2, 4)])
def test_the_orders_of_rows_and_of_columns_agree(every, n_rows, n_columns):
    assert check_model(boolean_matrix(n_rows, n_columns)) == n_rows + n_columns - 2


def test_machines_that_are_alike_are_swapped_with_their_loads():
    lengths, machines = [2, 3, 5, 7], range(3)
    own = [[f"load{m}", *(f"on{t}_{m}" for t in range(4))] for m in machines]
    domains = {name: None if name.startswith("load") else BOOLEAN for names in own for name in names}
    each = [("bool_lin_eq", [1] * 3, refs(*(f"on{t}_{m}" for m in machines)), 1) for t in range(4)]
    loads = [("bool_lin_eq", lengths, refs(*names[1:]), Ref(names[0])) for names in own]
    found = swaps(make_model(domains, [*each, *loads, *(("int_le", Ref(names[0]), 9) for names in own)]))
    assert [sorted(one) for one in found] == [sorted(own[0] + own[1]), sorted(own[1] + own[2])]


def test_a_triangle_has_two_reflections():
    points = [(i, j, 4 - i - j) for i in range(5) for j in range(5 - i)]
    below = [(i, j, 3 - i - j) for i in range(4) for j in range(4 - i)]
    corners = [[f"x{i + 1}{j}{k}", f"x{i}{j + 1}{k}", f"x{i}{j}{k + 1}"] for i, j, k in below]
    domains = {f"x{i}{j}{k}": BOOLEAN for i, j, k in points}
    found = swaps(make_model(domains, [("bool_clause", [], refs(*three)) for three in corners]))
    assert len(found) == 2
    for moves in found:
        images = {tuple(map(int, one[1:])): tuple(map(int, other[1:])) for one, other in moves.items()}
        assert any(
            all(other == tuple(one[place] for place in order) for one, other in images.items())
            for order in ((1, 0, 2), (0, 2, 1), (2, 1, 0))
        )


def test_tasks_of_one_length_and_use_are_swapped():
    domains = dict.fromkeys([f"s{i}" for i in range(6)], IntSet.interval(0, 9))
    starts = refs(*domains)
    model = make_model(domains, [("turbo_cumulative", starts, [2, 2, 2, 3, 3, 2], [1, 1, 1, 1, 1, 2], 2)])
    assert [sorted(one) for one in swaps(model)] == [["s0", "s1"], ["s1", "s2"], ["s3", "s4"]]


def test_swaps_in_far_corners_of_a_large_model_are_found_with_little_work():
    n = 3000
    domains = dict.fromkeys([*(f"v{i}" for i in range(n)), "a", "b", "c", "d"], THREE)
    chain = [("int_lin_le", [1, 2], refs(f"v{i}", f"v{i + 1}"), i) for i in range(n - 1)]
    ends = {"a": "v0", "b": "v0", "c": f"v{n - 1}", "d": f"v{n - 1}"}
    twin = [("int_lt", *refs(*pair)) for pair in ends.items()]
    found = graph_of(make_model(domains, [*chain, *twin]))
    automorphism = Automorphisms(found)
    moved = [sorted(found.names[v] for v in swap.moved) for swap in automorphism.swaps()]
    assert moved == [["a", "b"], ["c", "d"]]
    assert automorphism.work < 8 * len(found.label) + 10 * TUNING.round_work
