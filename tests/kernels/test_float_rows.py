"""The rows over real numbers, by the kernels' own code: they enclose the exact results, tightly, and lose no solution.

The judges are fractions, and tests/support/precise.py for what is no rational number. TURBO_FZN_ROWS=1000000 is the
full measurement, so many arguments for each.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from support import lone_rows, precise
from turbo_fzn.base import floats
from turbo_fzn.base.domains import INFINITY
from turbo_fzn.base.resources import kernels_folder
from turbo_fzn.engine.toolchain import compiler
from turbo_fzn.tnf.language import (
    FLOAT_ADD,
    FLOAT_ASIN,
    FLOAT_ATAN,
    FLOAT_EQ,
    FLOAT_EXP,
    FLOAT_LEQ,
    FLOAT_MUL,
    FLOAT_SIN,
    FLOAT_TAN,
    INT2FLOAT,
    TNF,
    FloatOp,
    Floats,
)

Box = tuple[tuple[int, int], ...]
ALL = (-INFINITY, INFINITY)
TOP = INFINITY - 1
COUNT = int(os.environ.get("TURBO_FZN_ROWS", "1500"))
engines = pytest.mark.parametrize("engine", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])


def propagate(
    engine: str, op: int, boxes: list[Box], square: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The bounds that the row leaves of each box (intervals of codes for x, y, z): lower, upper [k, 3], and whether any
    are left."""
    m = len(boxes)
    ends = np.array(boxes, np.int64).reshape(-1, 2)
    x = np.arange(m, dtype=np.int32) * 3
    z = x + 1 if square or op >= INT2FLOAT else x + 2
    rows = np.full(m, op, np.int32), x, x + 1, z.astype(np.int32)
    tnf = TNF(*rows, ends[:, 0].copy(), ends[:, 1].copy(), np.zeros(0, np.int64), floats=Floats(np.ones(3 * m, bool)))
    lower, upper, consistent = lone_rows.propagate_rows(engine, tnf)
    return lower.reshape(-1, 3), upper.reshape(-1, 3), consistent


def point(code: int) -> tuple[int, int]:
    return code, code


def draw_code(draw: random.Random, least: float = -floats.GREATEST, most: float = floats.GREATEST) -> int:
    """Special numbers, powers of two and their neighbours, small numbers, and any."""
    low, high = floats.above(least), floats.below(most)
    kind = draw.randrange(6)
    if kind == 0:
        code = draw.choice((0, 1, -1, 2, TOP, -TOP, floats.below(1), floats.below(-1)))
    elif kind == 1:
        code = floats.below(draw.choice((-1, 1)) * 2.0 ** draw.randint(-511, 512)) + draw.randint(-2, 2)
    elif kind == 2:
        code = floats.below(draw.randint(-50, 50) / draw.choice((1, 2, 8, 10)))
    elif kind == 3:
        code = floats.below(draw.uniform(-10, 10))
    else:
        code = draw.randint(low, high)
    return min(max(code, low), high)


def fraction(code: int) -> Fraction:
    return Fraction(floats.number(code))


def encloses(low: int, high: int, least: Fraction, most: Fraction, within: int) -> bool:
    """Whether low..high has the exact value, known to hundreds of digits as least..most, and is `within` so many codes
    wide."""
    at_least = low == -INFINITY or fraction(low) <= most
    at_most = high == INFINITY or fraction(high) >= least
    return at_least and at_most and (high - low <= within or INFINITY in (high, -low))


EXACT: dict[str, tuple[int, int, Callable]] = {  # operator, the place of the result, the result of the other two
    "sum": (FLOAT_ADD, 0, lambda y, z: y + z),
    "first summand": (FLOAT_ADD, 1, lambda x, z: x - z),
    "second summand": (FLOAT_ADD, 2, lambda x, y: x - y),
    "product": (FLOAT_MUL, 0, lambda y, z: y * z),
    "first factor": (FLOAT_MUL, 1, lambda x, z: x / z),
    "second factor": (FLOAT_MUL, 2, lambda x, y: x / y),
}


@engines
@pytest.mark.parametrize("case", EXACT)
def test_arithmetic_is_the_exact_result_rounded_outwards(case, engine):
    op, place, exact = EXACT[case]
    draw = random.Random(case)
    operands = [(draw_code(draw), draw_code(draw)) for _ in range(COUNT)]
    operands = [(a, b) for a, b in operands if b or "factor" not in case]
    boxes = [tuple([point(a), point(b)][:place] + [ALL] + [point(a), point(b)][place:]) for a, b in operands]
    lower, upper, consistent = propagate(engine, op, boxes)
    assert consistent.all()
    for (a, b), low, high in zip(operands, lower[:, place].tolist(), upper[:, place].tolist()):
        value = exact(fraction(a), fraction(b))
        assert (low, high) == floats.interval(value), (floats.number(a), floats.number(b))


@engines
def test_squares_and_roots_are_rounded_outwards(engine):
    draw = random.Random("square")
    codes = [draw_code(draw) for _ in range(COUNT)]
    lower, upper, _ = propagate(engine, FLOAT_MUL, [(ALL, point(c), point(c)) for c in codes], square=True)
    for c, low, high in zip(codes, lower[:, 0].tolist(), upper[:, 0].tolist()):
        assert (low, high) == floats.interval(fraction(c) ** 2)
    positive = [abs(c) for c in codes if c]
    boxes = [(point(c), (0, INFINITY), (0, INFINITY)) for c in positive]
    lower, upper, _ = propagate(engine, FLOAT_MUL, boxes, square=True)
    for c, low, high in zip(positive, lower[:, 1].tolist(), upper[:, 1].tolist()):
        assert fraction(low) ** 2 <= fraction(c) <= fraction(high) ** 2 and high - low <= 1
        assert (high == low) == (fraction(low) ** 2 == fraction(c))


FUNCTIONS = {
    "exp": (FLOAT_EXP, precise.exp, -354.0, 355.0),
    "sin": (FLOAT_SIN, precise.sin, -524288.0, 524288.0),
    "tan": (FLOAT_TAN, precise.tan, -524288.0, 524288.0),
}


def arguments(name: str) -> list[int]:
    """Codes of arguments, with their upper neighbours behind them; near multiples of π/2 too."""
    _, _, least, most = FUNCTIONS[name]
    draw = random.Random(name)
    codes = [draw_code(draw, least, most - 1) for _ in range(COUNT // 3)]
    quarter = Fraction(precise.half_pi(), precise.UNIT)
    codes += [floats.below(quarter * draw.randint(-9, 9)) for _ in range(30)]
    codes += [floats.below(quarter * draw.randint(-330000, 330000)) for _ in range(30)]
    codes = [min(code, floats.below(most - 1)) for code in codes]
    return [each for code in codes for each in (code, code + 1)]


@engines
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_enclose_the_exact_value_and_are_monotone(name, engine):
    op, exact, *_ = FUNCTIONS[name]
    codes = arguments(name)
    lower, upper, _ = propagate(engine, op, [(ALL, point(code), point(0)) for code in codes])
    found = list(zip(lower[:, 0].tolist(), upper[:, 0].tolist()))
    values = [exact(fraction(code)) for code in codes]
    for code, (low, high), (least, most) in zip(codes, found, values):
        assert encloses(low, high, least, most, 3), (name, floats.number(code))
    for place in range(0, len(codes), 2):  # neighbours: what the function does, its bounds do
        first, second = found[place : place + 2]
        rises = values[place][1] < values[place + 1][0]
        assert not rises or (first[0] <= second[0] and first[1] <= second[1]), (name, floats.number(codes[place]))


INVERSES: dict[str, tuple[int, int, Callable, float, float, float, float]] = {
    # operator, where the inverse's result is, the function, the known one's range, the start of the unknown one
    "ln": (FLOAT_EXP, 1, precise.exp, 1e-150, 1e150, -400.0, 400.0),
    "sin on its middle branch": (FLOAT_SIN, 1, precise.sin, -0.99, 0.99, -1.5, 1.5),
    "tan on its middle branch": (FLOAT_TAN, 1, precise.tan, -10.0, 10.0, -1.5, 1.5),
    "arcsin": (FLOAT_ASIN, 0, precise.sin, -1.0, 1.0, -9.0, 9.0),
    "arctan": (FLOAT_ATAN, 0, precise.tan, -1e9, 1e9, -9.0, 9.0),
}


@engines
@pytest.mark.parametrize("case", INVERSES)
def test_inverses_enclose_the_exact_value(case, engine):
    op, place, function, least, most, low, high = INVERSES[case]
    draw = random.Random(case)
    codes = [draw_code(draw, least, most) for _ in range(COUNT // 3)]
    start = floats.below(low), floats.above(high)
    boxes = [(start, point(c), point(0)) if place == 0 else (point(c), start, point(0)) for c in codes]
    lower, upper, consistent = propagate(engine, op, boxes)
    assert consistent.all()
    for c, begin, end in zip(codes, lower[:, place].tolist(), upper[:, place].tolist()):
        assert begin == floats.below(-1.5707963267948966) - 1 or function(fraction(begin))[0] <= fraction(c)
        assert end == floats.above(1.5707963267948966) + 1 or function(fraction(end))[1] >= fraction(c)
        assert abs(floats.number(end) - floats.number(begin)) <= 1e-7 * max(1.0, abs(floats.number(begin)))


def widened(draw: random.Random, value: Fraction) -> tuple[int, int]:
    """An interval of codes about a number."""
    low, high = floats.interval(value)
    reach = draw.choice((0, 1, 2**20, 2**50, 2**55, 2**61))
    low, high = low - draw.randint(0, reach), high + draw.randint(0, reach)
    return low if low > -INFINITY else -INFINITY, high if high < INFINITY else INFINITY


def draw_solution(draw: random.Random, op: int) -> tuple[tuple[Fraction, Fraction], ...]:
    """Exact numbers (least, most) for x, y, z that satisfy the row."""
    y, z = fraction(draw_code(draw, -300.0, 300.0)), fraction(draw_code(draw, -1e9, 1e9))
    if op == INT2FLOAT:
        y = Fraction(draw.choice((draw.randint(-9, 9), draw.randint(-(2**61), 2**61))))
    functions = {FLOAT_EXP: precise.exp, FLOAT_SIN: precise.sin, FLOAT_TAN: precise.tan}
    exact = {FLOAT_ADD: y + z, FLOAT_MUL: y * z, INT2FLOAT: y}
    return functions[op](y) if op in functions else (exact[op],) * 2, (y, y), (z, z)


@engines
@pytest.mark.parametrize("op", [FLOAT_ADD, FLOAT_MUL, INT2FLOAT, FLOAT_EXP, FLOAT_SIN, FLOAT_TAN])
def test_no_solution_within_a_box_is_lost(op, engine):
    draw = random.Random(op)
    solutions = [draw_solution(draw, op) for _ in range(COUNT)]
    boxes: list[Box] = []
    for x, y, z in solutions:
        box = [(widened(draw, least)[0], widened(draw, most)[1]) for least, most in (x, y, z)]
        if op == INT2FLOAT:
            box[1] = int(y[0]) - draw.randint(0, 9), int(y[0]) + draw.randint(0, 9)
        boxes.append(tuple(box))
    lower, upper, consistent = propagate(engine, op, boxes)
    assert consistent.all()
    places = 3 if op in (FLOAT_ADD, FLOAT_MUL) else 2
    for solution, low, high in zip(solutions, lower.tolist(), upper.tolist()):
        for place in range(places):
            least, most = solution[place]
            if op == INT2FLOAT and place == 1:
                assert low[1] <= least <= high[1]
            else:
                assert fraction_or_infinite(low[place]) <= most and least <= fraction_or_infinite(high[place])


def fraction_or_infinite(code: int) -> Fraction | float:
    return floats.number(code) if abs(code) == INFINITY else fraction(code)


def draw_box(draw: random.Random, op: int) -> Box:
    """Intervals for x, y and z: points, narrow and wide ones, those without an end, empty ones not."""
    box = []
    for place in range(3):
        low = draw_code(draw)
        high = min(low + draw.choice((0, 1, draw.randint(0, 2**40), draw.randint(0, 2**62))), INFINITY)
        box.append(draw.choice(((low, high), (low, high), (low, INFINITY), (-INFINITY, high))))
        if (place == 0 and op in (FLOAT_LEQ, FLOAT_EQ)) or (place == 1 and op == INT2FLOAT):
            box[place] = draw.choice(((0, 0), (1, 1), (0, 1))) if place == 0 else tuple(c >> 12 for c in box[place])
    return tuple(box)


@pytest.mark.gpu
@pytest.mark.parametrize("square", [False, True])
@pytest.mark.parametrize("op", list(FloatOp))
def test_both_engines_give_the_same_bits(op, square):
    draw = random.Random(op)
    boxes = [draw_box(draw, op) for _ in range(COUNT)]
    found = {engine: propagate(engine, op, boxes, square) for engine in ("cpu", "gpu")}
    lower, upper, consistent = found["cpu"]
    assert (consistent == found["gpu"][2]).all() and consistent.any()
    for side, other in zip((lower, upper), found["gpu"]):  # where a row fails, the sides are of no meaning
        differs = (side != other).any(axis=1) & consistent
        assert not differs.any(), boxes[int(differs.argmax())]


@engines
@pytest.mark.parametrize("op", [FLOAT_LEQ, FLOAT_EQ])
def test_comparisons_know_that_there_are_numbers_between_two_codes(op, engine):
    """Every box of a few codes, against the codes and the middles between them."""
    intervals = [(low, high) for low in range(4) for high in range(low, 4)]
    boxes = [(x, y, z) for x in ((0, 0), (1, 1), (0, 1)) for y in intervals for z in intervals]
    lower, upper, consistent = propagate(engine, op, boxes)
    holds = (lambda y, z: y <= z) if op == FLOAT_LEQ else (lambda y, z: y == z)
    for box, low, high, possible in zip(boxes, lower.tolist(), upper.tolist(), consistent.tolist()):
        (x_low, x_high), *others = box
        values = [[Fraction(k, 2) for k in range(2 * first, 2 * last + 1)] for first, last in others]
        found = [(int(holds(y, z)), y, z) for y in values[0] for z in values[1] if x_low <= holds(y, z) <= x_high]
        assert possible or not found, box
        assert not found or possible
        for solution in found:
            assert all(least <= v <= most for least, v, most in zip(low, solution, high)), box
        if not found:
            assert not possible, box


def test_only_kernels_for_real_variables_know_of_them():
    """Without the macro, nothing of kernels/floats is left in the text that the compiler sees."""
    source = str(kernels_folder() / "solve.cpp")
    command = [*compiler.find_cpu_compiler(), "-std=c++17", "-E", "-P", source]
    for bits in (32, 64):
        plain = subprocess.run([*command, f"-DBOUND_BITS={bits}"], check=True, capture_output=True, text=True).stdout
        assert not re.search(r"float_|FLOAT|Pair|is_decided\b", plain)
    flags = ["-DBOUND_BITS=64", *compiler.CPU_FLOAT_FLAGS]
    with_floats = subprocess.run([*command, *flags], check=True, capture_output=True, text=True).stdout
    assert "propagate_float_row" in with_floats and "is_decided" in with_floats
