"""Random models of several objectives, with those of all their solutions."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from random import Random
from typing import NamedTuple

NAMES = "xyz"
SIGNS = {"minimize": 1, "maximize": -1}


class Drawn(NamedTuple):
    text: str
    goals: list[str]
    vectors: set[tuple[int, ...]]  # of all solutions: what is minimised
    signs: list[int]


def draw(random: Random) -> Drawn:
    """Sums of three variables as objectives, over what linear constraints leave, perhaps nothing."""
    greatest = random.randint(1, 4)
    rows = [([random.randint(-2, 3) for _ in NAMES], random.randint(-2, 8)) for _ in range(random.randint(1, 3))]
    sums = [[random.randint(-3, 3) for _ in NAMES] for _ in range(random.randint(2, 3))]
    methods = [random.choice(list(SIGNS)) for _ in sums]
    lines = [f"var 0..{greatest}: {name} :: output_var;" for name in NAMES]
    lines += [f"var -60..60: f{i};" for i in range(len(sums))]
    lines += [f"constraint int_lin_le({row},[x,y,z],{k});" for row, k in rows]
    lines += [f"constraint int_lin_eq({[*one, -1]},[x,y,z,f{i}],0);" for i, one in enumerate(sums)]
    solutions = [
        values
        for values in product(range(greatest + 1), repeat=len(NAMES))
        if all(dot(row, values) <= k for row, k in rows)
    ]
    signs = [SIGNS[method] for method in methods]
    vectors = {tuple(sign * dot(one, values) for sign, one in zip(signs, sums)) for values in solutions}
    goals = [f"{method} f{i}" for i, method in enumerate(methods)]
    return Drawn("\n".join([*lines, "solve satisfy;\n"]), goals, vectors, signs)


def dot(row: Iterable[int], values: Iterable[int]) -> int:
    return sum(a * b for a, b in zip(row, values))


def undominated(vectors: set[tuple[int, ...]]) -> set[tuple[int, ...]]:
    def is_dominated(one: tuple[int, ...]) -> bool:
        return any(other != one and all(a <= b for a, b in zip(other, one)) for other in vectors)

    return {one for one in vectors if not is_dominated(one)}
