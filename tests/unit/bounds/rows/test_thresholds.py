"""Comparisons with constants, and pairs that exclude each other: what the relaxation says of them is their hull, or the
hull of what they are part of. Against enumeration."""

from __future__ import annotations

from itertools import combinations, product
from random import Random

import pytest

from support.relaxations import root_of
from turbo_fzn.base.domains import INFINITY
from turbo_fzn.bounds.rows.cliques import merge_pairs, pair_of

CASES = 60

Term = tuple[str, str, str, dict[int, int]]  # declaration, constraint, name, and by value of x its own value


def draw_truth(random: Random, number: int, low: int, high: int) -> Term:
    """A truth that says something of x, in any of the forms that compare it with a constant."""
    c, name = random.randint(low, high - 1), f"b{number}"
    forms = {
        f"int_le_reif(x,{c},{name})": lambda v: v <= c,
        f"int_le_reif({c + 1},x,{name})": lambda v: v > c,
        f"int_lt_reif(x,{c + 1},{name})": lambda v: v <= c,
        f"int_lin_le_reif([3],[x],{3 * c + random.randint(0, 2)},{name})": lambda v: v <= c,
        f"int_lin_le_reif([-2],[x],{-2 * c - random.randint(1, 2)},{name})": lambda v: v > c,
    }
    text, holds = random.choice(list(forms.items()))
    return f"var bool: {name};", f"constraint {text};", name, {v: int(holds(v)) for v in range(low, high + 1)}


def draw_equality(random: Random, number: int, low: int, high: int) -> Term:
    value, name = random.randint(low, high), f"b{number}"
    return (
        f"var bool: {name};", f"constraint int_eq_reif(x,{value},{name});", name,
        {v: int(v == value) for v in range(low, high + 1)},
    )  # fmt: skip


def model(low: int, high: int, terms: list[Term], weights: list[int], more: str = "") -> tuple[str, int]:
    """A FlatZinc text that minimises the weighted sum of x and the truths, and the least that this can be."""
    numbers = [f"n{i}" for i in range(len(terms))]
    lines = [f"var {low}..{high}: x;", *(term[0] for term in terms), *(f"var 0..1: {name};" for name in numbers)]
    lines += ["var -10000..10000: total;", *(term[1] for term in terms), more]
    lines += [f"constraint bool2int({term[2]},{name});" for term, name in zip(terms, numbers)]
    names = ",".join(["x", *numbers, "total"])
    lines += [f"constraint int_lin_eq([{','.join(map(str, weights))},-1],[{names}],0);", "solve minimize total;"]
    totals = [sum(w * v for w, v in zip(weights, (x, *(t[3][x] for t in terms)))) for x in range(low, high + 1)]
    return "\n".join(lines), min(totals)


def draw_weights(random: Random, n: int) -> list[int]:
    return [random.choice((-3, -2, -1, 1, 2, 3)), *(random.randint(-9, 9) or 1 for _ in range(n))]


@pytest.mark.parametrize("with_truths", [False, True], ids=["hull", "sums"])
@pytest.mark.parametrize("number", range(CASES))
def test_a_variable_and_its_thresholds_have_their_hull(number, with_truths):
    """The hull is stated as a chain, or, if all values have truths, by sums of these."""
    random = Random(f"thresholds/{with_truths}/{number}")
    low = random.randint(-3, 2)
    high = low + random.randint(3, 6 if with_truths else 9)
    terms = [draw_truth(random, i, low, high) for i in range(random.randint(1, 4))]
    if with_truths:
        terms += [draw_equality(random, len(terms) + i, low, high) for i in range(high - low)]
    text, best = model(low, high, terms, draw_weights(random, len(terms)))
    assert root_of(text).value == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("both_know", [False, True])
@pytest.mark.parametrize(
    ("constraint", "weight", "best"),
    [
        ("int_le_imp(x,3,b)", -10, -30 - 90), ("int_le_imp(4,x,b)", 10, 40 - 90), ("int_eq_imp(x,5,b)", 10, 50 - 90),
        ("int_eq_imp(x,5,b)", -10, -50 - 90), ("set_in_imp(x,{2,7},b)", 10, 20 - 90),
        ("set_in_imp(x,{2,7},b)", -10, -70 - 90), ("int_lin_le_imp([-2],[x],-11,b)", 10, 60 - 90),
    ],
)  # fmt: skip
def test_what_a_truth_implies_holds_as_far_as_it_is_true(constraint, weight, best, both_know):
    """It is worth 90 to have b, which keeps x in 0..8 from its better end."""
    known = "".join(f"var bool: e{v};\nconstraint int_eq_reif(x,{v},e{v});\n" for v in range(9)) if both_know else ""
    text = f"""var 0..8: x; var bool: b; var 0..1: n; var -1000..1000: total; {known}
constraint {constraint};
constraint bool2int(b,n);
constraint int_lin_eq([{weight},-90,-1],[x,n,total],0);
solve minimize total;"""
    assert root_of(text).value == pytest.approx(best, abs=1e-6)


def intervals(seed: int, n: int = 14, machines: int = 2) -> str:
    """Weighted intervals on machines: x_i is a machine, or one more for none; b_i says that it has one."""
    random = Random(f"intervals/{seed}")
    spans = [(s, s + random.randint(2, 9)) for s in (random.randint(0, 20) for _ in range(n))]
    lines = [f"var 1..{machines + 1}: x{i};\nvar bool: b{i};\nvar 0..1: n{i};" for i in range(n)] + [
        "var 0..900: total;"
    ]
    for start, _ in spans:
        here = [f"x{i}" for i, (s, e) in enumerate(spans) if s <= start < e]
        lines.append(f"constraint turbo_all_different_except([{','.join(here)}],{{{machines + 1}}});")
    lines += [f"constraint int_le_reif(x{i},{machines},b{i});\nconstraint bool2int(b{i},n{i});" for i in range(n)]
    weights = ",".join(str(random.randint(3, 30)) for _ in range(n))
    lines.append(f"constraint int_lin_eq([{weights},-1],[{','.join(f'n{i}' for i in range(n))},total],0);")
    return "\n".join([*lines, "solve maximize total;"])


@pytest.mark.parametrize("seed", range(5))
def test_the_root_has_the_best_of_weighted_intervals(seed):
    """An interval graph's cliques have integral corners."""
    from turbo_fzn import solve_text

    best = solve_text(intervals(seed), arch="cpu", relaxation="off", free_search=True).objective
    assert -root_of(intervals(seed)).value == pytest.approx(best, abs=1e-6)


# ---- pairs that exclude each other


def rows_of(random: Random, n: int) -> list:
    """Pairs of n columns or complements of which at most one is 1, and other rows."""
    rows = []
    for a, b in combinations(range(n), 2):
        if random.random() < 0.6:
            flipped = [random.random() < 0.2 for _ in range(2)]
            entries = {c: -1 if flip else 1 for c, flip in zip((a, b), flipped)}
            sign = random.choice((1, -1))
            side = 1 - sum(flipped)
            entries = {c: sign * value for c, value in entries.items()}
            rows.append((entries, -INFINITY, side) if sign > 0 else (entries, -side, INFINITY))
    rows.append(({0: 1, 1: 1, n - 1: 2}, -INFINITY, 3))
    rows.append(({0: 1, n - 1: 1}, 0, 1))
    return rows


def holds(rows: list, point: tuple[int, ...]) -> bool:
    return all(low <= sum(value * point[c] for c, value in entries.items()) <= high for entries, low, high in rows)


@pytest.mark.parametrize("number", range(CASES))
def test_merged_pairs_say_what_the_pairs_said(number):
    random = Random(f"pairs/{number}")
    n = random.randint(3, 7)
    rows = rows_of(random, n)
    merged = merge_pairs(rows, lambda column: True, lambda: False)
    assert len(merged) <= len(rows)
    for point in product((0, 1), repeat=n):
        assert holds(rows, point) == holds(merged, point)


@pytest.mark.parametrize("size", [3, 6])
def test_pairs_of_a_clique_are_one_row(size):
    rows = [({a: 1, b: 1}, -INFINITY, 1) for a, b in combinations(range(size), 2)] + [({0: 1, 9: 1}, -INFINITY, 1)]
    merged = merge_pairs(rows, lambda column: True, lambda: False)
    assert sorted(map(len, (entries for entries, _, _ in merged))) == [2, size]


@pytest.mark.parametrize(
    ("row", "pair"),
    [
        (({0: 1, 1: 1}, -INFINITY, 1), (0, 2)),
        (({0: 1, 1: -1}, -INFINITY, 0), (0, 3)),
        (({0: -1, 1: -1}, -1, INFINITY), (0, 2)),
        (({0: 1, 1: 1}, 1, INFINITY), (1, 3)),
        (({0: 1, 1: 1}, 1, 1), None),
        (({0: 2, 1: 1}, -INFINITY, 1), None),
        (({0: 1, 1: 1}, -INFINITY, 0), None),
        (({0: 1, 9: 1}, -INFINITY, 1), None),
        (({0: 1, 1: 1, 2: 1}, -INFINITY, 1), None),
    ],
)
def test_a_row_that_lets_at_most_one_of_two_literals_be_1_is_such_a_pair(row, pair):
    assert pair_of(row, lambda column: column < 9) == pair
