"""int_pow against enumeration, at and beyond the limits: exact, or refused, or unknown, and never wrong."""

from __future__ import annotations

import random

import pytest

from support.command import PATIENCE, write
from support.warm import ask

LIMIT = 2**62
BASES = (-(2**31), -101, -5, -2, -1, 0, 1, 2, 3, 10, 1290, 2**21 - 1, 2**31 - 1, 2**31, 3037000501, 2**40)
EXPONENTS = (-3, -2, -1, 0, 1, 2, 3, 5, 20, 61, 62, 63, 64, 70, 10**6, 10**12)
RESULTS = (-(2**61), -8, -1, 0, 1, 4, 1000, 2**31, 2**61, LIMIT - 1)
FREE = (None, None)


def power(x: int, y: int) -> int | None:
    """x^y as MiniZinc has it; None where it is undefined, LIMIT with the sign where it cannot be stored."""
    if y < 0:
        return None if x == 0 else (1 if x == 1 else (-1) ** (y % 2) if x == -1 else 0)
    if abs(x) <= 1 or y == 0:
        return x ** (y if y < 2 else 2 - y % 2)
    if y > 62:
        return LIMIT if x > 0 or y % 2 == 0 else -LIMIT
    return max(min(x**y, LIMIT), -LIMIT)


def interval(rng: random.Random, values: tuple[int, ...], width: int) -> range:
    start = rng.choice(values)
    return range(start, start + rng.randrange(width) + 1)


def judge(tmp_path, xs: range, ys: range, zs: range | tuple[int | None, int | None], late: bool = False) -> None:
    """`zs` a pair: the least and the greatest value, where there is one; `late`: known behind the power only."""
    low, high = zs[0], zs[-1]
    form = "int_lin_le([{0},{0}],[z,zero],{1})" if late else "int_lin_le([{0}],[z],{1})"
    bounds = [form.format(sign, sign * end) for sign, end in ((-1, low), (1, high)) if end is not None]
    model = (
        f"var {xs[0]}..{xs[-1]}: x :: output_var;\nvar {ys[0]}..{ys[-1]}: y :: output_var;\n"
        "var int: z :: output_var;\nvar 0..0: zero;\nconstraint int_pow(x,y,z);\n"
        + "".join(f"constraint {bound};\n" for bound in bounds)
        + "solve satisfy;\n"
    )
    least, most = -LIMIT if low is None else low, LIMIT if high is None else high
    triples = {(x, y, z) for x in xs for y in ys if (z := power(x, y)) is not None and least <= z <= most}
    wanted = {t for t in triples if abs(t[2]) < LIMIT}
    beyond = triples != wanted
    answer = ask("-a", "-t", round(1000 * PATIENCE), write(tmp_path, model))
    found = [tuple(int(line.split(" = ")[1].rstrip(";")) for line in lines) for lines in answer.solutions]
    complete = bool({"==========", "=====UNSATISFIABLE====="} & set(answer.markers))
    assert len(set(found)) == len(found) and set(found) <= wanted, model
    if complete:
        assert set(found) == wanted and not beyond, model
    else:
        late_beyond = late and any(abs(power(x, y) or 0) >= LIMIT for x in xs for y in ys)
        assert beyond or late_beyond, f"{model}{answer.text}{answer.errors}"


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 12))])
def test_powers_at_the_limits(tmp_path, seed):
    rng = random.Random(seed)
    for _ in range(4):
        r = rng.choice(RESULTS)
        zs = rng.choice((FREE, FREE, (r, None), (None, r), *3 * [range(r, min(r + rng.randrange(100), LIMIT - 1) + 1)]))
        judge(tmp_path, interval(rng, BASES, 4), interval(rng, EXPONENTS, 3), zs, late=rng.random() < 0.5)


@pytest.mark.parametrize(
    ("x", "y", "z"),
    [
        (range(2**40, 2**40 + 15), range(2, 4), FREE),
        (range(2, 4), range(70, 81), FREE),
        (range(-3, 4), range(38, 42), (1, None)),
        (range(-3, 4), range(38, 42), (None, 8)),
        (range(2, 4), range(60, 81), (None, 8)),
        (range(-5, 6), range(10**8, 10**8 + 1), range(101)),
        (range(1, 2), range(4 * 10**9, 4 * 10**9 + 1), range(2)),
        (range(15, 16), range(16, 17), range(1)),
        (range(-1, 2), range(10**12, 10**12 + 2), FREE),
    ],
)
@pytest.mark.parametrize("late", [False, True], ids=["known bounds", "late bounds"])
def test_a_power_far_beyond_is_no_contradiction_and_no_labour(tmp_path, x, y, z, late):
    judge(tmp_path, x, y, z, late)
