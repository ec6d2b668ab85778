"""All solutions, counted: models with known numbers of solutions, through MiniZinc and on each engine.

The numbers come from formulas, or from an enumeration that is written here. `tests/data/counting` has the models, and
flattened copies of them (`python examples/flatten.py`) for machines without MiniZinc.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations, product
from math import comb, factorial, perm

import pytest

from support.needs import needs_minizinc
from support.places import DATA
from turbo_fzn import solve_text

FOLDER = DATA / "counting"
BLOCKS = (64, *(pytest.param(blocks, marks=pytest.mark.slow) for blocks in (1, 2)))  # through MiniZinc


def count(predicate, *ranges) -> int:
    return sum(predicate(*values) for values in product(*ranges))


@cache
def partitions(total: int, parts: int) -> int:
    """Into at most so many parts."""
    if total < 0 or parts == 0:
        return int(total == 0)
    return partitions(total - parts, parts) + partitions(total, parts - 1)


def fibonacci(n: int) -> int:
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def bell(n: int) -> int:
    return 1 if n == 0 else sum(comb(n - 1, k) * bell(k) for k in range(n))


def is_free(rows: tuple[int, ...]) -> bool:
    """Queens that do not meet on a diagonal."""
    n = len(rows)
    return len({row + i for i, row in enumerate(rows)}) == len({row - i for i, row in enumerate(rows)}) == n


def is_magic(c: tuple[int, ...]) -> bool:
    lines = [c[0:3], c[3:6], c[6:9], c[0::3], c[1::3], c[2::3], c[0::4], c[2:7:2]]
    return all(sum(line) == 15 for line in lines)


def is_latin(rows: tuple[tuple[int, ...], ...]) -> bool:
    return all(len(set(column)) == 4 for column in zip(*rows))


EXPECTED = {
    "permutations": lambda: factorial(7),
    "subsets": lambda: 2**12,
    "compositions": lambda: comb(12 + 4, 4),
    "queens": lambda: sum(map(is_free, permutations(range(8)))),
    "derangements": lambda: sum((-1) ** k * factorial(7) // factorial(k) for k in range(8)),
    "sorted": lambda: comb(6 + 5, 6),
    "latin": lambda: sum(map(is_latin, product(permutations(range(4)), repeat=4))),
    "magic": lambda: sum(map(is_magic, permutations(range(1, 10)))),
    "ring": lambda: 2**9 - 2,
    "committees": lambda: comb(10, 4),
    "right_angles": lambda: count(lambda a, b, c: a <= b and a * a + b * b == c * c, *[range(1, 61)] * 3),
    "shadows": lambda: len({(sum(x), x[0] % 2) for x in product(range(7), repeat=4) if x[0] > x[1] or x[2] > x[3]}),
    "appointments": lambda: sum(comb(4, k) * perm(3, k) for k in range(4)),
    "shifts": lambda: perm(5, 3) - perm(4, 2),
    "fibonacci": lambda: fibonacci(18),
    "catalan": lambda: comb(16, 8) // 9,
    "partitions": lambda: partitions(30, 6),
    "remainders": lambda: count(lambda x, y: x % y == 3 and x // y >= 2, *[range(1, 61)] * 2),
    "digits": lambda: 10**5,
    "bell": lambda: bell(8),
    "pigeons": lambda: 0,
}
# With a hundred thousand solutions it takes seconds.
NAMES = [pytest.param(name, marks=[pytest.mark.slow] * (name == "digits")) for name in EXPECTED]
FEW = ("permutations", "queens", "right_angles", "shadows", "appointments", "fibonacci", "remainders", "pigeons")
THROUGH_MINIZINC = [pytest.param(name, marks=[pytest.mark.slow] * (name not in FEW)) for name in EXPECTED]


def test_every_model_has_a_number_and_a_flattened_copy():
    assert {path.stem for path in FOLDER.glob("*.mzn")} == {path.stem for path in FOLDER.glob("*.fzn")} == set(EXPECTED)
    assert len(EXPECTED) > 20


@pytest.mark.covers("F3", "F9")
@needs_minizinc
@pytest.mark.parametrize("name", THROUGH_MINIZINC)
@pytest.mark.parametrize("blocks", BLOCKS)
def test_minizinc_gets_every_solution_once_whatever_the_number_of_blocks(minizinc, name, blocks):
    done = minizinc("--blocks", blocks, "-a", "--non-unique", FOLDER / f"{name}.mzn", CUDA_VISIBLE_DEVICES="")
    lines = done.stdout.splitlines()
    assert lines.count("----------") == EXPECTED[name](), done.stderr
    assert lines[-1] == ("==========" if EXPECTED[name]() else "=====UNSATISFIABLE=====")


@pytest.mark.covers("F3")
@pytest.mark.parametrize("name", NAMES)
def test_every_engine_counts_right_with_any_number_of_blocks(engine, name):
    text = (FOLDER / f"{name}.fzn").read_text()
    for blocks in (3, 64) if engine == "cpu" else (64,):
        result = solve_text(text, arch=engine, blocks=blocks, all_solutions=True, check=True)
        assert len(result.solutions) == EXPECTED[name]()
        assert result.status == ("ALL_SOLUTIONS" if result.solutions else "UNSATISFIABLE")
