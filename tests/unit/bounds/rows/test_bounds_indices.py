"""Indices that are made of variables, and squares: what the relaxation says of them holds, and is as strong as it can
be.
"""

from __future__ import annotations

from random import Random

import pytest

from fuzz.bounds import judge_bounds
from support.quick import few_or
from support.relaxations import beside_of, root_of
from turbo_fzn.base.domains import IntSet
from turbo_fzn.bounds.lp.relaxation import Affine, RelaxationBuilder
from turbo_fzn.bounds.rows.encoding import Encoding
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.read.flatzinc import parse_text

OFFSET = """
array [1..3] of int: pay = [0,9,5];
var 0..2: x :: output_var; var 0..2: y :: output_var; var 1..3: i; var 1..3: j; var 0..9: p; var 0..9: q;
var bool: b; var bool: c; var 0..1: n; var 0..1: k; var 0..18: total;
constraint int_lin_eq([1,-1],[x,i],-1);
constraint int_lin_eq([1,-1],[y,j],-1);
constraint array_int_element(i,pay,p);
constraint array_int_element(j,pay,q);
constraint int_eq_reif(x,1,b);
constraint int_eq_reif(y,1,c);
constraint bool2int(b,n);
constraint bool2int(c,k);
constraint int_lin_le([1,1],[n,k],1);
constraint int_lin_eq([1,1,-1],[p,q,total],0);
solve maximize total;
"""  # 14: only one of them may be 1
MATRIX = """
array [1..9] of int: cost = [9,4,7, 8,9,2, 3,6,9];
var 1..3: x :: output_var; var 1..3: y :: output_var; var 1..3: z :: output_var;
var 1..9: i; var 1..9: j; var 0..9: p; var 0..9: q; var 0..18: total;
constraint int_lin_eq([3,1,-1],[x,y,i],3);
constraint int_lin_eq([3,1,-1],[y,z,j],3);
constraint array_int_element(i,cost,p);
constraint array_int_element(j,cost,q);
constraint turbo_all_different([x,y,z]);
constraint int_lin_eq([1,1,-1],[p,q,total],0);
solve minimize total;
"""  # 5: 2, 3, 1
MAY_BE_EQUAL = MATRIX.replace("constraint turbo_all_different([x,y,z]);\n", "")
SQUARES = """
var 0..40: x :: output_var; var 0..40: y :: output_var; var 0..40: z :: output_var;
var 0..1600: p; var 0..1600: q; var 0..1600: r; var 0..4800: total;
constraint int_lin_eq([1,1,1],[x,y,z],41);
constraint int_times(x,x,p);
constraint int_pow(y,2,q);
constraint int_times(z,z,r);
constraint int_lin_eq([1,1,1,-1],[p,q,r,total],0);
solve minimize total;
"""  # 561 = 13 13 + 14 14 + 14 14


HOLE = """
array [1..4] of int: cost = [5,1,6,8];
var 0..3: x; var {1,3,4}: i; var 0..9: c; var 0..99: total;
constraint int_lin_eq([-1,1],[i,x],-1);
constraint array_int_element(i,cost,c);
constraint int_lin_eq([1,1,-1],[c,c,total],0);
solve minimize total;
"""  # the second place cannot be had
LOST = """
array [1..4] of int: cost = [5,7,6,8]; array [1..4] of int: rest = [8,6,7,5];
var int: x :: is_defined_var; var 1..4: i; var 0..9: c; var 0..9: d; var 0..99: total;
constraint int_lin_eq([-1,1],[i,x],-1) :: defines_var(x);
constraint array_int_element(i,cost,c);
constraint array_int_element(i,rest,d);
constraint int_lin_eq([1,1,-1],[c,d,total],0);
solve minimize total;
"""  # the simplifier removes x


@pytest.mark.parametrize(
    ("text", "with_cuts", "bound"),
    [
        (OFFSET, False, -14),
        (MATRIX, False, 5),
        (MATRIX.replace("solve", "constraint turbo_all_different([]);\nsolve"), False, 5),
        (MAY_BE_EQUAL, False, 5),
        (HOLE, False, 10),
        (LOST, False, 13),
        (SQUARES, True, 561),
    ],
)
def test_the_relaxation_is_as_strong_as_can_be(
    monkeypatch: pytest.MonkeyPatch, text: str, with_cuts: bool, bound: int
) -> None:
    """Without the lowering's own look at elements over one index, which leaves nothing of some."""
    monkeypatch.setattr(TUNING, "narrowed_cells", 0)
    root = root_of(text)
    if with_cuts:
        assert root.listener.bound < bound
        root.cut()
    assert root.listener.bound == bound


TWICE = """
array [1..9] of int: cost = [9,4,7,8,1,2,3,6,9];
var 1..3: x :: output_var; var 1..3: y; var 1..9: i; var 0..9: p; var 0..18: total;
constraint turbo_all_different([x,y]);
constraint int_lin_eq([3,1,-1],[x,x,i],3);
constraint array_int_element(i,cost,p);
constraint int_lin_eq([1,1,-1],[p,y,total],0);
solve minimize total;
"""  # i is 4 x - 3
FIXED = """
array [1..9] of int: cost = [9,4,7,8,9,5,3,6,1];
var 1..3: x :: output_var; var 1..3: y; var 3..3: three; var 1..9: i; var 0..9: p; var 0..18: total;
constraint turbo_all_different([x,y,2]);
constraint int_lin_eq([3,1,-1],[x,three,i],3);
constraint array_int_element(i,cost,p);
constraint int_lin_eq([1,1,-1],[p,y,total],0);
solve minimize total;
"""  # x and y differ from 2, and x may be 3


def placed(flows: dict[tuple[int, int], int], distances: list[int], places: int) -> str:
    """A quadratic assignment: things at different places, and between two of them flow times distance."""
    things = sorted({thing for pair in flows for thing in pair})
    lines = [f"var 1..{places}: x{thing} :: output_var;" for thing in things]
    lines += [f"var 1..{places * places}: i{a}_{b}; var 0..99: d{a}_{b};" for a, b in flows] + ["var 0..9999: total;"]
    lines.append(f"constraint turbo_all_different([{','.join(f'x{thing}' for thing in things)}]);")
    for a, b in flows:
        lines.append(f"constraint int_lin_eq([{places},1,-1],[x{a},x{b},i{a}_{b}],{places});")
        lines.append(f"constraint array_int_element(i{a}_{b},{distances},d{a}_{b});")
    names = ",".join(f"d{a}_{b}" for a, b in flows)
    lines.append(f"constraint int_lin_eq({[*flows.values(), -1]},[{names},total],0);")
    return "\n".join([*lines, "solve minimize total;"])


def test_things_that_differ_cannot_all_be_beside_one_of_them() -> None:
    """Four places in a row: two of three are next to the one in the middle, not the third."""
    row = [abs(a - b) for a in range(4) for b in range(4)]
    assert root_of(placed({(0, 1): 1, (2, 0): 1, (0, 3): 1}, row, 4)).listener.bound == 4


def test_no_product_of_truths_excludes_a_solution() -> None:
    for number in range(8):
        random = Random(f"products/{number}")
        pairs = random.sample([(a, b) for a in range(4) for b in range(4) if a != b], 4)
        flows = {pair: random.choice((-1, 1, 2, 5)) for pair in pairs if pair[::-1] not in pairs or pair < pair[::-1]}
        text = placed(flows, [random.randint(0, 9) for _ in range(16)], 4)
        verdict, _, _ = judge_bounds(parse_text(text), random)
        assert verdict.kind == "right", verdict.fault


def test_a_sum_that_is_no_index_makes_no_truths() -> None:
    text = "var 0..3: x; var 0..3: y; var 0..12: s; constraint int_lin_eq([1,3,-1],[x,y,s],0); solve minimize s;"
    relaxation = beside_of(text).make()
    assert relaxation is not None and relaxation.truths == {}


@pytest.mark.parametrize("text", [TWICE, FIXED])
def test_what_makes_an_index_twice_or_is_fixed_differs_from_nothing(text: str) -> None:
    for number in range(10):
        verdict, _, _ = judge_bounds(parse_text(text), Random(number))
        assert verdict.kind == "right", verdict.fault


def test_images_of_images_are_those_of_their_source() -> None:
    """a = 2 b + 3, b = 4 - 3 c and c = 5 d - 7: what is said of a is said of d, now and when the chain is short."""
    builder = RelaxationBuilder()
    a, b, c, d = (builder.column(0, 9) for _ in "abcd")
    encoding = Encoding(builder, lambda column: IntSet.interval(0, 9))
    encoding.images.update({a: Affine(b, 2, 3), b: Affine(c, -3, 4), c: Affine(d, 5, -7)})
    assert [encoding.source(Affine(a, 2, 1)) for _ in range(2)] == [Affine(d, -60, 107)] * 2
    assert [encoding.source(Affine(column, 1, 0)) for column in (b, c, d)] == [
        Affine(d, -15, 25),
        Affine(d, 5, -7),
        Affine(d, 1, 0),
    ]


MEETING = """
array [1..4] of int: first = [1,1,2,2]; array [1..4] of int: second = [5,5,6,6];
var 1..4: i :: output_var; var 1..2: p; var 5..6: q;
var bool: b; var bool: c; var 0..1: n; var 0..1: k; var 0..9: total;
constraint int_eq_reif(p,1,b);
constraint int_eq_reif(q,{value},c);
constraint bool2int(b,n);
constraint bool2int(c,k);
constraint array_int_element(i,first,p);
constraint array_int_element(i,second,q);
constraint int_lin_eq([2,3,-1],[n,k,total],0);
solve maximize total;
"""


@pytest.mark.parametrize("value", [5, 6])
def test_only_values_of_a_table_that_never_meet_exclude_each_other(value: int) -> None:
    """Where p is 1, q is 5."""
    relaxation = beside_of(MEETING.format(value=value)).make()
    p_is_1, q_is_value = 0, 2  # literals of the first two columns
    assert ([p_is_1, q_is_value] in relaxation.conflicts.sets) == (value == 6)
    model = parse_text(MEETING.format(value=value))
    for number in range(10):
        verdict, _, _ = judge_bounds(model, Random(number))
        assert verdict.kind == "right", verdict.fault


def drawn(random: Random) -> str:
    """Variables, images of them, indices of two or three of them, arrays read by all of those, a square."""
    names, lines = ["x", "y", "z"], [f"var {random.randint(-2, 1)}..{random.randint(2, 3)}: {name};" for name in "xyz"]
    constraints = [f"turbo_all_different([x,y,{random.choice('zz12')}])"] * (random.random() < 0.5)
    for number in range(random.randint(1, 4)):
        pick = random.choices if random.random() < 0.3 else random.sample  # perhaps one twice, or a constant
        chosen = pick([*names[:3], *"12"[: number % 3]], k=random.choice((1, 1, 2, 2, 3)) if number else 1)
        factors = [random.choice((-5, -2, -1, 1, 1, 2, 4, 5)) for _ in chosen]
        name, sign = f"i{number}", random.choice((1, -1, 1, -1, 2))
        k = random.randint(-3, 3)
        constraints.append(f"int_lin_eq({[*factors, sign]},[{','.join([*chosen, name])}],{k})")
        lines.append(f"var {random.randint(-20, 1)}..{random.randint(2, 25)}: {name};")
        if random.random() < 0.5:
            names.append(name)
        if random.random() < 0.5:
            lines.append(f"var bool: b{number};")
            constraints.append(f"int_eq_reif({name},{random.randint(-1, 3)},b{number})")
    costs = []
    for number, name in enumerate(random.sample(names, k=random.randint(1, len(names)))):
        costs.append(f"c{number}")
        lines.append(f"var -20..400: c{number};")
        if random.random() < 0.3:
            constraints.append(f"int_times({name},{name},c{number})")
        else:
            values = [random.randint(-9, 9) for _ in range(random.randint(2, 20))]
            constraints.append(f"array_int_element({name},{values},c{number})")
    lines.append("var -1000..1000: total;")
    factors = [random.choice((-2, -1, 1, 3)) for _ in costs]
    constraints.append(f"int_lin_eq({[*factors, -1]},[{','.join([*costs, 'total'])}],0)")
    lines += [f"constraint {constraint};" for constraint in constraints]
    return "\n".join([*lines, f"solve {random.choice(('minimize', 'maximize'))} total;"])


@pytest.mark.parametrize("count", few_or(60, 200))
def test_no_row_about_indices_and_no_cut_of_squares_excludes_a_solution(count: int) -> None:
    kinds = []
    for number in range(count):
        text = drawn(Random(f"indices/{number}"))
        verdict, _, _ = judge_bounds(parse_text(text), Random(number))
        assert not verdict.is_fault, f"{number}: {verdict.fault}\n{text}"
        kinds.append(verdict.kind)
    assert kinds.count("right") > count / 2
