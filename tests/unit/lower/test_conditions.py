"""Implications that become equivalences: the solutions in all other variables are those that enumeration finds."""

from __future__ import annotations

import re
from random import Random

import pytest

from support.builtin_cases import cases_of
from support.flatzinc_text import make_model, with_text
from support.oracle import all_solutions
from support.quick import few_or
from turbo_fzn import solve_text
from turbo_fzn.base.domains import BOOLEAN, IntSet
from turbo_fzn.base.errors import ModelError
from turbo_fzn.base.resources import share_folder
from turbo_fzn.lower.conditions import complete_implications
from turbo_fzn.read.model import Array, Call, Constraint, Goal, Index, Model, Ref, Variable

LIBRARY = share_folder() / "minizinc" / "turbo" / "redefinitions.mzn"
DECLARED = re.findall(r"predicate (\w+_imp)", LIBRARY.read_text())
SHOWN, HIDDEN = ["p", "q", "x", "y"], ["a", "b", "c", "d"]
DOMAINS = {
    **dict.fromkeys("pq", BOOLEAN),
    **dict.fromkeys("xy", IntSet.interval(0, 2)),
    **dict.fromkeys("abcd", BOOLEAN),
}


def posed(*constraints: tuple, defined: dict[int, str] | None = None, goal: Goal | None = None) -> Model:
    """A model of constraints (name, *arguments) over SHOWN and HIDDEN, each of an expression. `defined` has, by the
    place of a constraint, the variable that it is annotated to define."""
    model = make_model(DOMAINS, [(name, *map(refer, arguments)) for name, *arguments in constraints], goal)
    for name in HIDDEN:
        model.variables[name].annotations = [Ref("var_is_introduced"), Ref("is_defined_var")]
    for place, name in (defined or {}).items():
        call = Call("defines_var", [Ref(name)])
        model.constraints[place] = model.constraints[place]._replace(annotations=[call])
    return with_text(model)


def refer(argument: object) -> object:
    if isinstance(argument, list):
        return [refer(one) for one in argument]
    return Ref(argument) if isinstance(argument, str) else argument


def names(model: Model) -> list[str]:
    return [constraint.name for constraint in model.constraints]


@pytest.mark.parametrize(
    "constraint, defined, becomes",
    [
        (("int_le_imp", "x", 1, "a"), None, ("int_le_reif", ["x", 1, "a"])),
        (("int_lin_eq_imp", [1, 1], ["x", "y"], 2, "a"), None, ("int_lin_eq_reif", [[1, 1], ["x", "y"], 2, "a"])),
        (("array_bool_and_imp", ["p", "q"], "a"), None, ("array_bool_and", [["p", "q"], "a"])),
        (("array_bool_or_imp", ["p", "q"], "a"), None, ("array_bool_or", [["p", "q"], "a"])),
        (("bool_clause", ["p"], ["a", "q"]), "a", ("bool_clause_reif", [["p"], ["q"], "a"])),
    ],
)
def test_a_condition_that_may_be_true_is_the_truth_of_what_it_implies(constraint, defined, becomes):
    model = posed(("bool_clause", ["a", "q"], []), constraint, defined={1: defined} if defined else None)
    assert complete_implications(model).constraints[1][:2] == becomes


@pytest.mark.parametrize("above", ["array_bool_and", "array_bool_or"])
def test_what_is_under_a_conjunction_or_disjunction_may_be_true_where_that_may(above):
    condition, under = ("int_ne_imp", "x", 1, "a"), (above, ["a", "p"], "b")
    assert names(complete_implications(posed(condition, under, ("bool_clause", ["b"], ["q"]))))[0] == "int_ne_reif"
    for other in (("bool_clause", ["q"], ["b"]), ("bool_eq", "b", "q"), (above, ["q", "p"], "b")):
        assert names(complete_implications(posed(condition, under, other)))[0] == "int_ne_imp"


def test_the_condition_of_several_implications_is_the_conjunction_of_their_truths():
    first, second = ("int_le_imp", "x", 1, "a"), ("int_eq_imp", "x", "y", "a")
    one, two, clause, all_of = complete_implications(posed(first, second, ("bool_clause", ["a"], ["p"]))).constraints
    assert (one.name, two.name, clause.name) == ("int_le_reif", "int_eq_reif", "bool_clause")
    assert all_of[:2] == ("array_bool_and", [[one.args[-1], two.args[-1]], "a"])


@pytest.mark.parametrize(
    "others",
    [
        [("bool_clause", ["p"], ["a"])],
        [("bool_eq", "a", "p")],
        [("int_le_imp", "y", 1, "b"), ("bool_eq_imp", "a", "p", "b")],
        [("array_bool_or", ["a", "p"], False)],
        [("array_bool_and", ["p", "q"], "a")],
        [("bool_lin_le", [1, 1], ["a", "p"], 1)],
        [("bool_clause_imp", ["p"], ["a"], "b"), ("bool_clause", ["b", "q"], [])],
        [("bool_clause_reif", ["p"], ["a"], "b"), ("bool_clause", ["b", "q"], [])],
        [("array_bool_and", ["a", "p"], "b"), ("array_bool_or", ["a", "q"], "b"), ("bool_clause", ["b", "q"], [])],
    ],
)
def test_a_condition_that_something_wants_false_stays_one(others):
    wanted = ("bool_clause", ["a", "q"], [])
    assert names(complete_implications(posed(("int_le_imp", "x", 1, "a"), wanted)))[0] == "int_le_reif"
    assert names(complete_implications(posed(("int_le_imp", "x", 1, "a"), wanted, *others)))[0] == "int_le_imp"


@pytest.mark.parametrize(
    "other",
    [
        ("array_bool_and", ["p"], Index("members", 1)),
        ("bool_clause_reif", ["p"], [], Index("members", 1)),
        ("array_bool_and_imp", [Index("members", 1)], "p"),
        ("bool_clause", ["p"], [Index("members", 1)]),
        ("bool_eq", Index("members", 1), "p"),
    ],
)
def test_a_condition_may_be_named_by_its_place_in_an_array(other):
    model = posed(("int_le_imp", "x", 1, "a"), ("bool_clause", ["a", "q"], []), other)
    model.arrays["members"] = Array("members", "bool", True, None, [Ref("a")], [], 0)
    model = with_text(model)
    expected = {tuple(int(one[name]) for name in SHOWN) for one in all_solutions(model)}
    result = solve_text(model.text, arch="cpu", all_solutions=True, check=True)
    assert sorted(tuple(int(one[name]) for name in SHOWN) for one in result.solutions) == sorted(expected)


def test_a_condition_that_is_seen_stays_one():
    condition, clause = ("int_le_imp", "x", 1, "a"), ("bool_clause", ["a", "p"], [])
    seen = posed(condition, clause)
    seen.variables["a"].annotations.append(Ref("output_var"))
    assert complete_implications(seen) is seen
    local = posed(condition, clause)
    local.variables["a"].annotations.remove("is_defined_var")
    assert complete_implications(local) is local
    shown = posed(condition, clause)
    annotation = Call("output_array", [[IntSet.interval(1, 1)]])
    shown.arrays["members"] = Array("members", "bool", True, None, [Ref("a")], [annotation], 0)
    assert names(complete_implications(shown)) == names(shown)
    equal = posed(condition, clause)
    equal.variables["a"].value = Ref("q")
    assert complete_implications(equal) is equal
    copied = posed(condition, clause)
    copied.variables["q"].value = Ref("a")
    assert names(complete_implications(copied)) == names(copied)
    declared = posed(("int_le_imp", "x", 1, "p"), clause)
    assert complete_implications(declared) is declared
    wanted = posed(condition, clause, goal=Goal("minimize", Ref("a"), [], 0))
    assert names(complete_implications(wanted)) == names(wanted)


def test_a_condition_of_reals_stays_one():
    """Whether a relation of reals is violated may be undecided, which a condition that is false does not ask."""
    model = posed(("int_le_imp", "x", 1, "a"), ("bool_clause", ["a", "b"], []))
    model.constraints[0] = Constraint("float_eq_imp", [1.0, 2.0, Ref("a")], [], 0)
    assert names(complete_implications(model))[0] == "float_eq_imp"


@pytest.mark.parametrize("predicate", DECLARED)
def test_what_the_library_declares_has_the_same_solutions_with_a_condition_that_may_be_true(predicate):
    n_changed = 0
    for case in cases_of(predicate):
        model, condition = case.model, case.model.constraints[0].args[-1]
        if not isinstance(condition, Ref):
            continue
        model.variables[condition].annotations = [Ref("var_is_introduced"), Ref("is_defined_var")]
        model.variables["free"] = Variable("free", "bool", None, [Ref("output_var")], None, 0)
        model.constraints.append(Constraint("bool_clause", [[condition, Ref("free")], []], [], 0))
        model = with_text(model)
        n_changed += names(complete_implications(model)) != names(model)
        shown = [name for name in model.variables if name != condition]
        expected = {tuple(int(one[name]) for name in shown) for one in all_solutions(model)}
        result = solve_text(model.text, arch="cpu", all_solutions=True, check=True)
        assert sorted(tuple(int(one[name]) for name in shown) for one in result.solutions) == sorted(expected), (
            model.text
        )
    assert n_changed


def drawn(random: Random) -> Model:
    """Implications, and constraints of the kinds that have conditions among their arguments."""

    def some(least: int = 0) -> list[str]:
        return random.sample(["p", "q", *HIDDEN], random.randint(least, 2))

    def one() -> tuple:
        hidden = random.choice(HIDDEN)
        kind = random.randrange(8)
        if kind < 3:
            name = random.choice(["int_le", "int_eq", "int_ne"]) + "_imp"
            return (name, random.choice("xy"), random.choice([0, 1, 2, "x", "y"]), hidden)
        if kind == 3:
            return (
                random.choice(["array_bool_and", "array_bool_or", "array_bool_and_imp", "array_bool_or_imp"]),
                some(1),
                hidden,
            )
        if kind == 4:
            return ("bool_clause_imp", some(), some(1), hidden)
        return ("bool_clause", some(1), some() if random.random() < 0.3 else random.sample(["p", "q"], 1))

    constraints = [one() for _ in range(random.randint(3, 7))]
    negated = {place: call[2] for place, call in enumerate(constraints) if call[0] == "bool_clause" and call[2]}
    return posed(*constraints, defined={place: random.choice(those) for place, those in negated.items()})


@pytest.mark.parametrize("count", few_or(50, 300))
def test_random_models_have_the_solutions_that_enumeration_finds(count):
    n_changed = 0
    for number in range(count):
        model = drawn(Random(number))
        n_changed += names(complete_implications(model)) != names(model)
        expected = {tuple(int(one[name]) for name in SHOWN) for one in all_solutions(model)}
        try:
            result = solve_text(model.text, arch="cpu", all_solutions=True, check=True)
        except ModelError as error:
            assert "nothing needs this definition" in str(error), model.text
            continue
        found = sorted(tuple(int(one[name]) for name in SHOWN) for one in result.solutions)
        assert found == sorted(expected), f"{number}\n{model.text}"
    assert n_changed > count / 6
