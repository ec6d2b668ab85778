"""Variables with a bound on one side only, or none, whose solutions are small: nothing of that is refused.

The front end knows one end of what they are multiplied, squared or summed up to; the other is known only when rows
propagate. `Expected` enumerates what is right.
"""

from __future__ import annotations

import pytest

from fuzz.judge import Expected, Way, judge
from support.builtin_cases import PREDICATES, calls_of, domains_of, flatten
from support.command import write
from support.flatzinc_text import make_model
from support.operators import apply_operator
from support.warm import ask
from turbo_fzn.base.domains import BOOLEAN, INFINITY, IntSet
from turbo_fzn.base.errors import UnsupportedError
from turbo_fzn.lower import bulk, intervals
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.read.model import Model, Ref
from turbo_fzn.tnf.language import ADD, Op

LOW, HIGH = -2, 3
WINDOW = range(-6, 7)
ENDS = [-INFINITY, -7, -2, -1, 0, 1, 2, 7, 2**31, 2**32, INFINITY - 1, INFINITY]
BOXES = [(low, high) for low in ENDS for high in ENDS if low <= high and low < INFINITY and high > -INFINITY]


def inside(box: tuple[int, int]) -> list[int]:
    """Values of the box near 0, and its ends."""
    return [v for v in {*WINDOW, *box} if box[0] <= v <= box[1] and abs(v) < INFINITY]


@pytest.mark.parametrize("op", [op for op in Op if op != Op.ELEMENT], ids=lambda op: op.name)
def test_no_range_is_beyond_where_a_result_can_be_stored(op):
    for y in BOXES:
        for z in BOXES:
            span = intervals.RESULT[op](*y, *z)
            results = [apply_operator(op, a, b) for a in inside(y) for b in inside(z)]
            stored = [result for result in results if result is not None and abs(result) < INFINITY]
            assert all(span[0] <= result <= span[1] for result in stored), (y, z, span)
            assert not stored or not intervals.is_beyond(span), (y, z)


def test_no_square_is_beyond_where_one_can_be_stored():
    for y in BOXES:
        low, high = intervals.square(*y)
        squares = [v * v for v in inside(y) if v * v < INFINITY]
        assert all(low <= value <= high for value in squares), y
        assert intervals.is_beyond((low, high)) == (min(v * v for v in inside(y)) >= INFINITY), y


@pytest.mark.parametrize("sign", [1, -1])
def test_a_sum_of_many_with_one_end_beyond_has_the_other(sign):
    b = RowBuilder()
    low, high = sorted((0, sign * 2**60))
    root = bulk.tree(b, ADD, bulk.variables(b, [low] * 100, [high] * 100))
    assert (b.lower[root], b.upper[root]) == ((0, INFINITY) if sign > 0 else (-INFINITY, 0))
    with pytest.raises(UnsupportedError, match="beyond"):
        bulk.tree(b, ADD, bulk.variables(b, [sign * 2**60] * 100, [sign * 2**60] * 100))


def late_bound(name: str, end: int, side: int) -> tuple:
    """side * name <= side * end, which the front end learns behind everything but sums and globals."""
    return "int_lin_le", [side, 1], [Ref(name), Ref("zero")], side * end


def one_sided(predicate: str, call: list, side: int) -> Model:
    """Each integer has one of the bounds LOW and HIGH (side 1: the lower one) before its constraint is lowered."""
    domains = domains_of(flatten(call), None)
    ints = [name for name, domain in domains.items() if domain is not BOOLEAN]
    early = [("int_le", LOW, Ref(name)) if side > 0 else ("int_le", Ref(name), HIGH) for name in ints]
    late = [late_bound(name, HIGH if side > 0 else LOW, side) for name in ints]
    own = (predicate.removesuffix("/2"), *flatten(call))
    return make_model({**domains, "zero": IntSet.interval(0, 0)}, [*early, own, *late])


@pytest.mark.parametrize(
    "predicate", [name for name, kinds in PREDICATES.items() if {"int", "linear"} & {*kinds.split()}]
)
@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in (1, 2, 3))])
def test_a_builtin_of_variables_with_one_bound_is_solved(predicate, part):
    """Each call with both sides, simplified and not; a part has each call once, with these in turn."""
    for number, (label, call) in enumerate(calls_of(predicate), part):
        side, simplify = ((1, True), (-1, False), (1, False), (-1, True))[number % 4]
        model = one_sided(predicate, call, side)
        verdict = judge(model, Way(simplify=simplify, check=True), Expected(model), must_claim=True)
        assert verdict.kind == "right", (predicate, label, side, simplify, verdict, model.text)


BELOW, ABOVE, SQUARE = "int_le(1,x)", "int_le(x,-1)", "int_times(x,x,z)"
MODELS = {  # domains by variable, constraints, and the values that x can have
    "a side of at least 1": ({"z": "4..50"}, [BELOW, SQUARE], range(2, 8)),
    "a side of at most -1": ({"z": "4..50"}, [ABOVE, SQUARE], range(-7, -1)),
    "a side with a far end": ({"x": "1..2147483648", "z": "4..50"}, [SQUARE], range(2, 8)),
    "a power": ({"z": "4..50"}, [BELOW, "int_pow(x,2,z)"], range(2, 8)),
    "a square of a square": ({"y": "int", "z": "4..50"}, [ABOVE, "int_times(x,x,y)", "int_times(y,y,z)"], [-2]),
    "a count": (
        {"z": "0..50", "a": "0..2", "b": "0..2", "c": "0..2"},
        [BELOW, SQUARE, "turbo_count_eq([a,b,c],1,x)"],
        range(1, 4),
    ),
    "a product": ({"y": "int", "z": "4..50"}, ["int_le(2,x)", "int_le(13,y)", "int_times(x,y,z)"], range(2, 4)),
    "an exponent of any size": (
        {"x": "-9..9", "y": "0..70", "z": "int", "b": "0..1"},
        ["int_le(3,z)", "int_pow(x,y,z)", "int_lin_le([1,1],[z,b],4)"],
        [-2, 2, 3, 4],
    ),
}


@pytest.mark.covers("G3")
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("flags", [[], ["--no-simplify"]], ids=["simplified", "plain"])
def test_a_product_of_which_one_end_decides_is_solved(tmp_path, name, flags):
    domains, constraints, values = MODELS[name]
    declarations = [f"var {domain}: {name} :: output_var;" for name, domain in ({"x": "int"} | domains).items()]
    items = [*declarations, *(f"constraint {one};" for one in constraints), "solve satisfy;", ""]
    answer = ask("-a", *flags, write(tmp_path, "\n".join(items)))
    found = {int(line.split(" = ")[1].rstrip(";")) for lines in answer.solutions for line in lines if line[0] == "x"}
    assert answer.markers == ["=========="] and found == set(values), answer
