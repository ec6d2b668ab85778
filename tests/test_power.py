"""int_pow against enumeration, at and beyond the limits: exact, or refused, or unknown, and never wrong."""

from __future__ import annotations

import random

import pytest
from command import PATIENCE, run, write

LIMIT = 2**62
BASES = (-(2**31), -101, -5, -2, -1, 0, 1, 2, 3, 10, 1290, 2**21 - 1, 2**31 - 1, 2**31, 3037000501, 2**40)
EXPONENTS = (-3, -2, -1, 0, 1, 2, 3, 5, 20, 61, 62, 63, 64, 70, 10**6, 10**12)
RESULTS = (-(2**61), -8, -1, 0, 1, 4, 1000, 2**31, 2**61, LIMIT - 1)


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


def judge(tmp_path, xs: range, ys: range, zs: range | None) -> None:
    """`zs` None: no bound."""
    domain = "int" if zs is None else f"{zs[0]}..{zs[-1]}"
    model = (
        f"var {xs[0]}..{xs[-1]}: x :: output_var;\nvar {ys[0]}..{ys[-1]}: y :: output_var;\n"
        f"var {domain}: z :: output_var;\nconstraint int_pow(x,y,z);\nsolve satisfy;\n"
    )
    triples = {(x, y, power(x, y)) for x in xs for y in ys}
    wanted = {t for t in triples if t[2] is not None and (abs(t[2]) < LIMIT if zs is None else t[2] in zs)}
    beyond = zs is None and any(t[2] is not None and abs(t[2]) >= LIMIT for t in triples)
    answer = run("-a", "-t", round(1000 * PATIENCE), write(tmp_path, model))
    found = [tuple(int(line.split(" = ")[1].rstrip(";")) for line in lines) for lines in answer.solutions]
    complete = bool({"==========", "=====UNSATISFIABLE====="} & set(answer.markers))
    assert len(set(found)) == len(found) and set(found) <= wanted, model
    if complete:
        assert set(found) == wanted and not beyond, model
    else:
        assert beyond, f"{model}{answer.text}{answer.errors}"


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 12))])
def test_powers_at_the_limits(tmp_path, seed):
    rng = random.Random(seed)
    for _ in range(4):
        zs = None if rng.random() < 0.4 else range(r := rng.choice(RESULTS), min(r + rng.randrange(100), LIMIT - 1) + 1)
        judge(tmp_path, interval(rng, BASES, 4), interval(rng, EXPONENTS, 3), zs)


@pytest.mark.parametrize(
    ("x", "y", "z"),
    [
        (range(2**40, 2**40 + 15), range(2, 4), None),
        (range(2, 4), range(70, 81), None),
        (range(-5, 6), range(10**8, 10**8 + 1), range(101)),
        (range(1, 2), range(4 * 10**9, 4 * 10**9 + 1), range(2)),
        (range(15, 16), range(16, 17), range(1)),
        (range(-1, 2), range(10**12, 10**12 + 2), None),
    ],
)
def test_a_power_far_beyond_is_no_contradiction_and_no_labour(tmp_path, x, y, z):
    judge(tmp_path, x, y, z)
