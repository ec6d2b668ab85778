"""Bounds of models with real variables: no row loses a point, no bound is above a solution, whatever HiGHS says."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from fuzz.reals import draw_model
from turbo_fzn import solve_text
from turbo_fzn.base import floats
from turbo_fzn.base.domains import INFINITY
from turbo_fzn.bounds.lp.exact import Row
from turbo_fzn.bounds.lp.highs import Answer, Outcome
from turbo_fzn.bounds.reals import certificate
from turbo_fzn.bounds.reals.envelopes import FORMS, Box
from turbo_fzn.bounds.search import spatial
from turbo_fzn.bounds.search.listener import NO_SOLUTION
from turbo_fzn.bounds.thread.relaxation_thread import RealBeside
from turbo_fzn.engine.contract import Found
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.judge import Judge
from turbo_fzn.run.prepare import prepare
from turbo_fzn.run.real_bounding import RealBounding, RealBoxes
from turbo_fzn.tnf.language import (
    ADD,
    ELEMENT,
    EQ,
    FLOAT_ADD,
    FLOAT_EQ,
    FLOAT_LEQ,
    FLOAT_MUL,
    INT2FLOAT,
    LEQ,
    MAX,
    MIN,
    MUL,
    TNF,
    Floats,
)

INTEGERS, REALS = [-4, -2, -1, 0, 1, 2, 3], [-3.5, -1.0, -0.25, 0.0, 0.125, 1.0, 2.0, 3.75]
TABLE = [5, -2, 7, 7]
MEANINGS: dict[int, tuple[str, Callable[..., float]]] = {  # kinds of x, y, z; x as a function of y and z
    ADD: ("iii", lambda y, z: y + z),
    MUL: ("iii", lambda y, z: y * z),
    MIN: ("iii", min),
    MAX: ("iii", max),
    LEQ: ("bii", lambda y, z: y <= z),
    EQ: ("bii", lambda y, z: y == z),
    FLOAT_ADD: ("rrr", lambda y, z: y + z),
    FLOAT_MUL: ("rrr", lambda y, z: y * z),
    FLOAT_LEQ: ("brr", lambda y, z: y <= z),
    FLOAT_EQ: ("brr", lambda y, z: y == z),
    INT2FLOAT: ("ri", lambda y, z: y),
}
KINDS = {(op, kinds): meaning for op, (kinds, meaning) in MEANINGS.items()}
KINDS |= {(MIN, "rrr"): min, (MAX, "rrr"): max, (LEQ, "brr"): lambda y, z: y <= z}


def code(value: float, kind: str) -> int:
    return floats.below(value) if kind == "r" else int(value)


def tnf_of(op: int, names: tuple[int, ...], kinds: list[str], lower: list[int], upper: list[int]) -> TNF:
    x, y, z = (np.array([name], np.int32) for name in names)
    real = np.array([kind == "r" for kind in kinds])
    ends = np.array(lower, np.int64), np.array(upper, np.int64)
    return TNF(np.array([op], np.int32), x, y, z, *ends, np.array(TABLE, np.int64), floats=Floats(real))


def violated(row: Row, point: list[float]) -> bool:
    total = sum(Fraction(value) * Fraction(point[v]) for v, value in row.entries.items())
    return (row.low is not None and total < row.low) or (row.high is not None and total > row.high)


def drawn_box(random: Random, values: list[float]) -> tuple[float, float]:
    low, high = sorted(random.choices(values, k=2))
    return low, high


@pytest.mark.parametrize(("op", "kinds"), KINDS)
def test_rows_hold_at_every_point_of_a_box_that_satisfies_the_operator(op: int, kinds: str) -> None:
    random, n_points, n_rows = Random(f"{op}/{kinds}"), 0, 0
    for _ in range(400):
        same = random.random() < 0.2 and len(kinds) == 3
        y_box, z_box = (drawn_box(random, REALS if kinds[1] == "r" else INTEGERS) for _ in range(2))
        y_box, z_box = (y_box, y_box) if same else (y_box, z_box)
        truths = random.choice(((0, 0), (1, 1), (0, 1)))
        x_box = truths if kinds[0] == "b" else (-100, 100)
        boxes = [x_box, y_box, z_box]
        names = (0, 1, 1 if same or len(kinds) == 2 else 2)
        every = [*kinds, kinds[-1]][:3]
        # A constant may be said to be no real variable, also where its place is that of one.
        listed = ["i" if box[0] == box[1] and random.random() < 0.5 else kind for kind, box in zip(every, boxes)]
        ends = [[code(box[side], kind) for kind, box in zip(every, boxes)] for side in (0, 1)]
        tnf = tnf_of(op, names, listed, *ends)
        rows = list(FORMS[op](Box(tnf, tnf.lower, tnf.upper), *names))
        n_rows += len(rows)
        grid = REALS if kinds[1] == "r" else INTEGERS
        for y, z in itertools.product(grid, grid):
            z = y if same else z
            x = KINDS[op, kinds](y, z)
            if all(low <= value <= high for value, (low, high) in zip((x, y, z), boxes)):
                n_points += 1
                broken = [row for row in rows if violated(row, [x, y, z])]
                assert not broken, (broken, (x, y, z), boxes)
    assert n_points > 300 and n_rows > 100


@pytest.mark.parametrize("kind", "ir")
def test_rows_of_a_table_with_two_entries_hold(kind: str) -> None:
    for first in range(3):
        tnf = tnf_of(ELEMENT, (0, 1, 0), [kind, "i", "i"], [-100, first, 0], [100, first + 1, 0])
        rows = list(FORMS[ELEMENT](Box(tnf, tnf.lower, tnf.upper), 0, 1, 0))
        values = [floats.number(entry) if kind == "r" else entry for entry in TABLE]
        for y in (first, first + 1):
            assert not [row for row in rows if violated(row, [values[y], y, 0])]
        assert rows or kind == "r"


def test_the_planes_of_a_product_touch_it_at_the_corners() -> None:
    tnf = tnf_of(FLOAT_MUL, (0, 1, 2), list("rrr"), [floats.below(-9), floats.below(-1), floats.below(0.5)], [
        floats.below(9), floats.below(2), floats.below(3)
    ])  # fmt: skip
    rows = list(FORMS[FLOAT_MUL](Box(tnf, tnf.lower, tnf.upper), 0, 1, 2))
    for y, z in itertools.product((-1.0, 2.0), (0.5, 3.0)):
        off = [[y * z + error, y, z] for error in (-1e-9, 1e-9)]
        assert all(any(violated(row, point) for row in rows) for point in off)


# ---- what is proved


def random_duals(random: Random, n: int) -> np.ndarray:
    nonsense = (0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e30, 1e-30)
    return np.array([random.choice(nonsense) if random.random() < 0.2 else random.uniform(-3, 3) for _ in range(n)])


def test_what_any_multipliers_prove_is_at_most_the_cost_of_every_point() -> None:
    random, n_proved, n_refuted = Random(1), 0, 0
    for _ in range(2000):
        n = random.randint(1, 4)
        point = [random.choice(REALS) for _ in range(n)]
        reach = [(value - random.choice((0, 1, 2.5)), value + random.choice((0, 1, 2.5))) for value in point]
        ends = [[floats.below(side[end]) for side in reach] for end in (0, 1)]
        tnf = tnf_of(FLOAT_ADD, (0, 0, 0), ["r"] * n, *ends)
        rows = []
        for _ in range(random.randint(1, 3)):
            entries = {v: Fraction(random.choice(REALS)) for v in range(n)}
            total = sum(value * Fraction(point[v]) for v, value in entries.items())
            low, high = total - random.choice((0, 1)), total + random.choice((0, 1))
            rows.append(Row(entries, random.choice((low, None)), random.choice((high, None))))
        cost = {v: random.randint(-3, 3) for v in range(n)}
        box, duals = Box(tnf, tnf.lower, tnf.upper), random_duals(random, len(rows))
        proved = certificate.prove(rows, cost, box, duals)
        n_proved += proved is not None
        assert proved is None or proved <= sum(value * Fraction(point[v]) for v, value in cost.items())
        assert not certificate.is_refuted(rows, box, duals)
        off = [row._replace(low=None if row.low is None else row.low + 40) for row in rows]
        n_refuted += certificate.is_refuted(off, box, np.ones(len(rows)))
    assert n_proved > 1500 and n_refuted > 50


class Liar:
    """In the place of HiGHS: any outcome, point and duals."""

    def __init__(self, seed: int):
        self.random = Random(seed)

    def __call__(
        self, cost: np.ndarray, lower: np.ndarray, upper: np.ndarray, rows: list[Row], is_over: object
    ) -> Answer:
        duals = random_duals(self.random, len(rows))
        values = np.array([self.random.uniform(-5, 5) for _ in cost])
        return Answer(self.random.choice(list(Outcome)), values, duals)


@pytest.mark.parametrize("lies", [False, True])
def test_no_bound_of_a_random_model_is_above_a_point_that_satisfies_it(lies: bool, monkeypatch) -> None:
    if lies:
        monkeypatch.setattr(spatial, "solve_reals", Liar(5))
    monkeypatch.setattr(RealBeside, "is_hopeless", lambda beside, probing: beside.n_nodes > 40)
    n_moved = n_known = 0
    for number in range(70):
        drawn = draw_model(Random(f"real bounds/{number}"))
        sense, name = Random(number).choice((1, -1)), drawn.reals[-1]
        drawn.goal = f"solve {'minimize' if sense > 0 else 'maximize'} {name};"
        prepared = prepare(parse_text(drawn.text), Options(), Interrupt(None))
        if prepared.tnf.infeasible or not prepared.tnf.has_real_objective:
            continue
        bounding = RealBounding(Judge(prepared, Options()))
        beside = bounding.beside
        least = sense * drawn.point[name]
        told = Random(number).random() < 0.5
        if told:  # a solution that the point improves on by little
            n_known += 1
            beside.tell(floats.above(least + 0.25))
        beside.run()
        assert beside.fault is None
        # The model takes decimals and functions for what they are to within a rounding, and so the point.
        assert beside.bound <= floats.above(least + 1e-9 * max(1, abs(least))), drawn.text
        assert told or beside.bound < NO_SOLUTION, drawn.text
        ends = prepared.tnf.lower if sense > 0 else prepared.tnf.upper
        n_moved += beside.bound > sense * int(ends[prepared.tnf.objective])
    assert n_known > 15 and n_moved > (0 if lies else 6)


def test_a_point_is_a_solution_only_to_the_judge() -> None:
    text = "var 1.0..2.0: x; var 1.0..2.0: y; constraint float_times(x,y,2.0); solve minimize x;"
    prepared = prepare(parse_text(text), Options(), Interrupt(None))
    tnf = prepared.tnf
    point = np.where(tnf.floats.mask, 2.0**0.5, floats.numbers(tnf.lower))
    for precision, n_found in ((1e-6, 1), (1e-12, 0)):  # of what the judge wants; the box is of the first
        boxes = RealBoxes(Judge(prepared, Options(float_precision=precision)))
        boxes.attach()
        assert (boxes.offer(tnf.lower, tnf.upper, point, INFINITY) is not None) == bool(n_found)
        assert len(boxes.found) == n_found


SHARED = """
var 5..2305843009213693952: m; var 1.0..4.0: x; var 1.0..3.0: z; var 0.0..9.0: y;
var bool: b; var float: truth; var -9000.0..9000.0: cost;
constraint float_lin_le([1.0,1.0],[x,z],2.0);
constraint int_le_reif(m,2301339409586323457,b);
constraint bool2float(b,truth);
constraint float_times(y,x,z);
constraint float_lin_eq([2.0,1.0,-1.0],[truth,y,cost],5.0);
solve minimize cost;
"""


def test_an_integer_that_is_the_code_of_a_real_constant_remains_an_integer(monkeypatch) -> None:
    """The simplifier makes one variable of the integer and of x and z, which are 1.0: all that a store knows are
    codes."""
    assert floats.below(1.0) == 2301339409586323457
    prepared = prepare(parse_text(SHARED), Options(), Interrupt(None))
    monkeypatch.setattr(RealBeside, "is_hopeless", lambda beside, probing: beside.n_nodes > 40)
    beside = RealBounding(Judge(prepared, Options())).beside
    beside.run()
    assert beside.fault is None and beside.bound <= floats.below(-4.0)


def test_a_product_that_is_a_constant_is_divided_only_where_it_is_missed() -> None:
    text = "var 1.0..2.0: x; var 1.0..2.0: y; constraint float_times(x,y,2.0); solve minimize x;"
    judge = Judge(prepare(parse_text(text), Options(), Interrupt(None)), Options())
    tnf = judge.prepared.tnf
    tree = spatial.SpatialTree(tnf, RealBeside(tnf, RealBoxes(judge)))
    for factor, is_missed in ((1.5, True), (2.0**0.5, False)):
        point = np.where(tnf.floats.mask, factor, certificate.FAR)  # of a column that is in no row
        chosen = tree.factor((tnf.lower, tnf.upper), np.ones(tnf.n_vars), point)
        assert (chosen is not None) == is_missed


MIXED = """
var 0..9: n; var 0..9: k; var float: a; var float: b; var 0.0..20.0: x; var 0.0..99.0: cost;
constraint int2float(n,a); constraint int2float(k,b);
constraint float_lin_le([-3.0,-2.0,-1.0],[a,b,x],-10.5);
constraint float_lin_eq([2.5,1.75,1.0,-1.0],[a,b,x,cost],0.0);
solve minimize cost;
"""  # n = 3, k = 0, x = 1.5 cost 9.0


class Listener:
    """Plays an engine, and keeps the bound and the solutions that it gets."""

    def __init__(self) -> None:
        self.bound, self.adopted = -NO_SOLUTION, list[Found]()

    def raise_bound(self, bound: int) -> None:
        self.bound = bound

    def adopt(self, found: Found) -> None:
        self.adopted.append(found)


def test_a_second_engine_hears_what_the_first_one_did(monkeypatch) -> None:
    """The first has ended over a box that was no solution: what was found after it counted for worse."""
    bounding = RealBounding(Judge(prepare(parse_text(MIXED), Options(), Interrupt(None)), Options()))
    bounding.beside.run()
    monkeypatch.setattr(bounding.beside, "_begin", lambda: None)
    assert bounding.beside.bound > floats.below(8.999) and bounding.boxes.found
    first, second = Listener(), Listener()
    for engine in (first, second):
        bounding.start()
        assert [found.objective for found in bounding.exchange(engine, None, [])][-1:] == [first.adopted[-1].objective]
        assert engine.bound == bounding.beside.bound and engine.adopted[-1] == first.adopted[-1]
        assert bounding.proves(first.adopted[-1].objective)


# ---- whole models, beside the exact optimum by corners


def corners(rows: list[tuple[list[Fraction], Fraction]], n: int) -> Iterator[list[Fraction]]:
    """Where n of the inequalities a x <= b hold with equality, by Cramer's rule (n = 2)."""
    assert n == 2
    for ((a, b), e), ((c, d), f) in itertools.combinations(rows, 2):
        determinant = a * d - b * c
        if determinant:
            yield [(e * d - b * f) / determinant, (a * f - e * c) / determinant]


def least_by_corners(rows: list[tuple[list[Fraction], Fraction]], cost: list[Fraction]) -> Fraction | None:
    """The least cost of a bounded polygon, None where it is empty."""
    inside = [
        point
        for point in corners(rows, 2)
        if all(sum(c * x for c, x in zip(coefficients, point)) <= side for coefficients, side in rows)
    ]
    return min((sum(c * x for c, x in zip(cost, point)) for point in inside), default=None)


def test_linear_programs_with_an_integer_have_the_optimum_that_corners_say() -> None:
    random, n_solved, n_empty = Random(3), 0, 0
    for _ in range(40):
        rows = [
            ([random.randint(-4, 4), random.randint(-4, 4), random.randint(-3, 3)], random.randint(-6, 12))
            for _ in range(4)
        ]
        cost = [random.choice((-3, -2, 1, 2, 5)) for _ in range(3)]
        bounds = [([1, 0, 0], 8), ([-1, 0, 0], 0), ([0, 1, 0], 8), ([0, -1, 0], 2)]
        optima = []
        for n in range(-1, 3):
            sliced = [([Fraction(a), Fraction(b)], Fraction(side - c * n)) for (a, b, c), side in rows + bounds]
            best = least_by_corners(sliced, [Fraction(cost[0]), Fraction(cost[1])])
            optima += [] if best is None else [best + cost[2] * n]
        lines = "".join(f"constraint float_lin_le({[*map(float, a)]},[x,y,m],{float(side)});\n" for a, side in rows)
        text = (
            "var 0.0..8.0: x; var -2.0..8.0: y; var -1..2: n; var float: m; var float: total :: output_var;\n"
            f"constraint int2float(n,m);\n{lines}"
            f"constraint float_lin_eq({[*map(float, cost), -1.0]},[x,y,m,total],0.0);\nsolve minimize total;\n"
        )
        result = solve_text(text, arch="cpu", relaxation="on", time_limit=20_000)
        if not optima:
            assert result.status == "UNSATISFIABLE", text
            n_empty += 1
            continue
        assert result.status == "OPTIMAL_SOLUTION", text
        assert abs(result.objective - min(optima)) <= 3e-6 * max(1, abs(min(optima))), text
        n_solved += 1
    assert n_solved > 15 and n_empty > 3


DUALS = [[Fraction(text) for text in texts] for texts in (("0", "0", "-0.4"), ("2.2", "2.7", "3.3", "4.1"))]
TRANSPORT_COSTS = [3.1, 2.7, 4.4, 6.0, 2.2, 3.9, 3.3, 4.1, 5.6, 4.2, 2.9, 3.7]


def transport() -> str:
    """Three plants, four markets; nothing but a linear program proves its optimum soon."""
    names = [f"x{i}{j}" for i in range(3) for j in range(4)]
    lines = [f"var 0.0..200.0: {name} :: output_var;" for name in names]
    lines.append("var float: cost :: output_var;")
    lines += [
        f"constraint float_lin_le([1.0,1.0,1.0,1.0],[{','.join(names[4 * i : 4 * i + 4])}],{s});"
        for i, s in enumerate((120.5, 80.0, 95.25))
    ]
    lines += [
        f"constraint float_lin_le([-1.0,-1.0,-1.0],[{','.join(names[j::4])}],{-d});"
        for j, d in enumerate((50.0, 70.3, 65.0, 40.1))
    ]
    lines.append(f"constraint float_lin_eq({[*TRANSPORT_COSTS, -1.0]},[{','.join(names)},cost],0.0);")
    return "\n".join([*lines, "solve minimize cost;"]) + "\n"


def test_a_linear_program_is_solved_by_the_relaxation() -> None:
    result = solve_text(transport(), arch="cpu", relaxation="on", time_limit=60_000)
    assert result.status == "OPTIMAL_SOLUTION" and result.statistics["provedBy"] == "relaxation"
    # What supplies (u <= 0) and demands (v >= 0) are worth proves it: u_i + v_j <= c_ij for all i, j.
    u, v = DUALS
    assert all(u[i] + v[j] <= Fraction(str(TRANSPORT_COSTS[4 * i + j])) for i in range(3) for j in range(4))
    proved = sum(map(lambda a, b: a * Fraction(b), u, ("120.5", "80", "95.25")))
    proved += sum(map(lambda a, b: a * Fraction(b), v, ("50", "70.3", "65", "40.1")))
    assert result.objective == pytest.approx(float(proved), rel=1e-6)


POOL = """
var 0.0..300.0: a; var 0.0..300.0: b; var 0.0..300.0: c; var 0.0..300.0: d; var 0.0..300.0: p; var 0.0..300.0: r;
var 1.0..3.0: q; var 0.0..100.0: s; var 0.0..200.0: t; var float: qp; var float: qr;
var -9000.0..9000.0: gain :: output_var;
constraint float_times(q,p,qp); constraint float_times(q,r,qr);
constraint float_lin_eq([1.0,1.0,-1.0,-1.0],[a,b,p,r],0.0);
constraint float_lin_eq([3.0,1.0,-1.0,-1.0],[a,b,qp,qr],0.0);
constraint float_lin_eq([1.0,1.0,-1.0],[p,c,s],0.0); constraint float_lin_eq([1.0,1.0,-1.0],[r,d,t],0.0);
constraint float_lin_le([1.0,2.0,-2.5],[qp,c,s],0.0); constraint float_lin_le([1.0,2.0,-1.5],[qr,d,t],0.0);
constraint float_lin_eq([9.0,15.0,-6.0,-16.0,-10.0,-10.0,-1.0],[s,t,a,b,c,d,gain],0.0);
solve maximize gain;
"""


def test_a_pooling_problem_is_solved_to_its_global_optimum() -> None:
    """Haverly's first (SIGMAP Bulletin 1978): 400, with a local optimum of 100."""
    result = solve_text(POOL, arch="cpu", relaxation="on", time_limit=60_000)
    assert result.status == "OPTIMAL_SOLUTION" and result.objective == pytest.approx(400, rel=2e-6)
