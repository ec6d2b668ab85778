"""Random whole models, as hypothesis draws them, with what a solver makes of them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from support.builtin_cases import PREDICATES
from support.flatzinc_text import make_model, with_text
from turbo_fzn import solve_text
from turbo_fzn.base.domains import BOOLEAN, IntSet
from turbo_fzn.check.checker import Checker
from turbo_fzn.read.model import Array, Call, Goal, Model, Ref, Variable

VARIABLE_CHOICES = [
    *("input_order", "first_fail", "anti_first_fail", "smallest", "largest", "occurrence", "most_constrained"),
    *("max_regret", "dom_w_deg", "impact"),
]
VALUE_CHOICES = [
    *("indomain", "indomain_min", "indomain_max", "indomain_median", "indomain_middle", "indomain_random"),
    *("indomain_split", "indomain_reverse_split", "indomain_split_random", "indomain_interval"),
    *("outdomain_min", "outdomain_max", "outdomain_median", "outdomain_random"),
]


small = st.integers(-4, 5)
intervals = st.builds(lambda low, size: IntSet.interval(low, low + size), st.integers(-4, 2), st.integers(0, 5))
scattered = st.builds(IntSet.of_values, st.sets(small, min_size=1, max_size=5))
domains = st.one_of(intervals, scattered)
wide_domains = st.sampled_from([None, IntSet.interval(-4, 4), IntSet.of_values([-3, -2, -1, 0, 1, 2, 4, 5])])


class Scope:
    """The names that constraints may use, as strategies for each kind of argument."""

    def __init__(self, int_names: list[str], bool_names: list[str]):
        self.ints, self.bools = [Ref(name) for name in int_names], [Ref(name) for name in bool_names]
        # Variables are listed more often than constants, which decide a constraint at once.
        an_int = st.one_of(st.sampled_from(self.ints), st.sampled_from(self.ints), small)
        a_bool = st.one_of(st.sampled_from(self.bools), st.sampled_from(self.bools), st.booleans())
        coefficients = st.integers(-3, 3)
        self.kinds: dict[str, st.SearchStrategy] = {
            "int": an_int,
            "bool": a_bool,
            "number": small,
            "set": st.one_of(domains, st.just(IntSet(()))),
            "numbers": st.lists(small, max_size=4),
            "truths": st.lists(st.booleans(), max_size=4),
            "ints": st.one_of(st.lists(an_int, max_size=4), st.just(Ref("row"))),
            "bools": st.lists(a_bool, max_size=4),
            "linear": st.lists(st.tuples(coefficients, an_int), max_size=4).map(split_pairs),
            "counted": st.lists(st.tuples(coefficients, a_bool), max_size=4).map(split_pairs),
        }


def split_pairs(pairs: list[tuple]) -> tuple[list, list]:
    return [first for first, _ in pairs], [second for _, second in pairs]


@st.composite
def constraints(draw: st.DrawFn, scope: Scope) -> tuple:
    predicate = draw(st.sampled_from(list(PREDICATES)))
    arguments: list[Any] = []
    for kind in PREDICATES[predicate].split():
        argument = draw(scope.kinds[kind])
        arguments += argument if isinstance(argument, tuple) else [argument]
    return (predicate.removesuffix("/2"), *arguments)


@st.composite
def searches(draw: st.DrawFn, scope: Scope) -> list:
    """The annotations of the solve item: none, one search, or a sequence of them."""

    def search() -> Call:
        is_int = draw(st.booleans())
        names = draw(st.lists(scope.kinds["int" if is_int else "bool"], max_size=4))
        choices = [Ref(draw(st.sampled_from(table))) for table in (VARIABLE_CHOICES, VALUE_CHOICES)]
        return Call("int_search" if is_int else "bool_search", [names, *choices, Ref("complete")])

    count = draw(st.integers(0, 2))
    if count == 2:
        return [Call("seq_search", [[search(), search()]])]
    return [search() for _ in range(count)]


@st.composite
def models(draw: st.DrawFn, methods: list[str]) -> Model:
    """Most models are built around a drawn assignment that satisfies them; random ones have rarely a solution."""
    ints = {f"x{number}": draw(domains) for number in range(draw(st.integers(1, 3)))}
    bools = {f"b{number}": BOOLEAN for number in range(draw(st.integers(1, 3)))}
    free: dict[str, IntSet | None] = {"free": None} if draw(st.booleans()) else {}
    names = {**ints, **bools, **free}
    scope = Scope([*ints, *free], [*bools])
    row = Array("row", "int", True, None, draw(st.lists(scope.kinds["int"], max_size=3)), [], 0)
    items = draw(st.lists(constraints(scope), min_size=1, max_size=6))
    if draw(st.sampled_from([True, True, True, False])):
        witness = {name: draw(st.sampled_from(list(domain or range(-4, 5)))) for name, domain in names.items()}
        items = [item for item in items if Checker(make_model(names, [item], arrays=[row])).violation(witness) is None]
    items += [("int_lin_le", [sign], [Ref(name)], 4) for name in free for sign in (1, -1)]
    row.domain = draw(wide_domains)
    method = draw(st.sampled_from(methods))
    goal = Goal(method, None if method == "satisfy" else draw(scope.kinds["int"]), draw(searches(scope)), 0)
    model = make_model(names, items, goal, arrays=[row])
    if draw(st.booleans()):
        model.variables["alias"] = draw_alias(draw, scope)
    return with_text(model)


def draw_alias(draw: st.DrawFn, scope: Scope) -> Variable:
    value = draw(scope.kinds["int"])
    return Variable("alias", "int", draw(wide_domains), [Ref("output_var")], value, 0)


def draw_shown(data: st.DataObject, model: Model) -> None:
    """Shows some of the model's variables only."""
    shown = data.draw(st.sets(st.sampled_from(list(model.variables))))
    for name, variable in model.variables.items():
        variable.annotations = [Ref("output_var")] if name in shown else []
    with_text(model)


def solve(model: Model, engine: str, blocks: int, simplify: bool, **options: Any) -> Any:
    return solve_text(model.text, arch=engine, blocks=blocks, simplify=simplify, check=True, **options)
