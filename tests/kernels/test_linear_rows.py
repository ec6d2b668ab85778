"""Linear rows of learners, their bounds and explanations, against enumeration of small boxes.

Each row has up to three terms and, if it compares, a truth, all its own. It runs once in a box inside the root's, and
each threshold that it reaches is explained. `points` are the assignments of the root box that the row allows.
"""

from __future__ import annotations

from functools import partial
from random import Random
from typing import NamedTuple

import numpy as np
import pytest

from support.explained_rows import (
    Box,
    Said,
    draw_interval,
    grown,
    hull,
    is_implied,
    keeps_solutions,
    points,
    reached,
    said_by_each,
    were_true,
)
from support.lone_rows import explain_rows
from turbo_fzn.base.domains import INFINITY
from turbo_fzn.tnf.clause_rows import Clauses
from turbo_fzn.tnf.fuse import Fused
from turbo_fzn.tnf.language import TNF
from turbo_fzn.tnf.linear_rows import LinearKind, Linears

N_ROWS = 3000
FORMS = (LinearKind.RANGE, LinearKind.AT_MOST, LinearKind.EQUAL)  # that a learner has
WIDTH = 4  # variables of a row: three terms, and the truth


class Case(NamedTuple):
    """A row: `coefficients` of its terms (int [k]), and boxes of (lower, upper) for each of these and the truth."""

    kind: LinearKind
    low: int
    high: int
    coefficients: list[int]
    root: Box
    box: Box

    def allows(self, *values: int) -> bool:
        total = sum(c * v for c, v in zip(self.coefficients, values))
        if self.kind == LinearKind.RANGE:
            return self.low <= total <= self.high
        return values[-1] == int(total <= self.high if self.kind == LinearKind.AT_MOST else total == self.high)


def draw(random: Random) -> Case:
    kind = random.choice(FORMS)
    coefficients = [random.choice((-3, -2, -1, 1, 1, 2, 3)) for _ in range(random.randint(1, 3))]
    root = [(-2, 3) if random.random() < 0.5 else draw_interval(random, -2, 3) for _ in coefficients]
    low = high = random.randint(-9, 12)
    if kind == LinearKind.RANGE:
        high = low + random.randint(0, 6)
        low, high = random.choice(((low, high), (-INFINITY, high), (low, INFINITY)))
    else:
        root.append((0, 1))
    box = [draw_interval(random, *whole) if random.random() < 0.8 else (whole[0], whole[0]) for whole in root]
    return Case(kind, low, high, coefficients, root, box)


def column(values: list[int], dtype: type = np.int32) -> np.ndarray:
    return np.array(values, dtype)


def linears_of(cases: list[Case]) -> Linears:
    places = [(WIDTH * i + j, c) for i, case in enumerate(cases) for j, c in enumerate(case.coefficients)]
    truths = [-1 if case.kind == LinearKind.RANGE else WIDTH * i + WIDTH - 1 for i, case in enumerate(cases)]
    sizes = [len(case.coefficients) for case in cases]
    kinds, low, high = (list(values) for values in zip(*(case[:3] for case in cases)))
    nothing = np.empty(0, np.int32)
    starts = np.cumsum([0, *sizes], dtype=np.int32)
    return Linears(
        column(kinds), column(low, np.int64), column(high, np.int64), column(truths), starts,
        column([v for v, _ in places]), column([c for _, c in places]), nothing, np.zeros(0, bool),
        np.zeros(WIDTH * len(cases), bool), nothing,
    )  # fmt: skip


def ends(cases: list[Case], which: str) -> tuple[np.ndarray, np.ndarray]:
    """The bounds of all variables (int64 [n] each). A place that a row has no variable for is 0."""
    boxes = np.zeros((len(cases), WIDTH, 2), np.int64)
    for i, case in enumerate(cases):
        box, terms = getattr(case, which), len(case.coefficients)
        boxes[i, :terms] = box[:terms]
        if len(box) > terms:
            boxes[i, WIDTH - 1] = box[-1]
    return boxes[:, :, 0].reshape(-1), boxes[:, :, 1].reshape(-1)


def own_side(cases: list[Case], i: int, side: int) -> int:
    place = side // 2 - WIDTH * i
    assert 0 <= place < WIDTH
    return 2 * (len(cases[i].coefficients) if place == WIDTH - 1 else place) + side % 2


def explain(linears: Linears, root: tuple[np.ndarray, np.ndarray], box: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """The records of `explain_rows`, of linear rows alone, from (lower, upper) of all variables."""
    nothing = np.empty(0, np.int32)
    tnf = TNF(*[nothing] * 4, *root, np.empty(0, np.int64))
    clauses = Clauses(np.zeros(1, np.int32), nothing, nothing, np.zeros(0, bool), np.zeros(tnf.n_vars, bool), nothing)
    return explain_rows(tnf, *box, Fused(linears, clauses, linears.absorbed, linears.links, nothing))


@pytest.fixture(scope="module")
def told() -> list[tuple[Case, list[Said]]]:
    """Each case with the explanations of its row."""
    random = Random("linear rows")
    cases = [draw(random) for _ in range(N_ROWS)]
    records = explain(linears_of(cases), ends(cases, "root"), ends(cases, "box"))
    return list(zip(cases, said_by_each(records, N_ROWS, partial(own_side, cases))))


def test_premises_imply_what_is_said(told):
    for case, said in told:
        for one in said:
            assert is_implied(case, one), (case, one)


def test_premises_were_true(told):
    for case, said in told:
        assert were_true(case, said), case


def test_a_premise_of_a_threshold_is_none_that_the_root_gives(told):
    for case, said in told:
        for one in said:
            assert one.conflict or all(grown(case.root, [premise]) != case.root for premise in one.premises)


def test_slack_is_given_away(told):
    """Where only one of two premises or the other can be weakened, one is: some are below what held."""
    weaker = sum(
        k < (now[side // 2][0] if side % 2 == 0 else -now[side // 2][1])
        for case, said in told
        for now in [reached(case, said)]
        for one in said
        for side, k in one.premises
    )
    assert weaker > N_ROWS / 30


def tells_all(case: Case) -> bool:
    """Whether one run must reach the hull of what the row allows in the box: for an inequality bounds consistency gives
    that, and so does a look at the one open term of a sum that must not be equal."""
    one_sided = case.kind == LinearKind.RANGE and INFINITY in (-case.low, case.high)
    unequal = case.kind == LinearKind.EQUAL and case.box[-1] == (0, 0)
    n_open = sum(low < high for low, high in case.box)
    return case.kind == LinearKind.AT_MOST or one_sided or n_open <= unequal


def test_a_row_says_all_that_there_is_to_say(told):
    looked_at = 0
    for case, said in told:
        if tells_all(case):
            allowed = points(case, case.box)
            assert any(one.conflict for one in said) == (len(allowed) == 0), case
            assert len(allowed) == 0 or reached(case, said) == hull(allowed), case
            looked_at += len(allowed) > 0 and hull(allowed) != case.box
    assert looked_at > N_ROWS / 10


def test_a_row_loses_no_solution(told):
    for case, said in told:
        assert keeps_solutions(case, said), case


@pytest.mark.parametrize("high", [0, 10**8])
def test_a_sum_that_passes_its_limit_by_more_than_a_bound_may_be_is_a_conflict(high):
    """Bounds have 32 bits here, and sums 64: the terms jump together, in one run of the row."""
    n, most = 8, 2**28 + 2**26
    one = np.ones(n, np.int32)
    linears = Linears(
        column([LinearKind.RANGE]), column([-INFINITY], np.int64), column([high], np.int64), column([-1]),
        column([0, n]), np.arange(n, dtype=np.int32), one, column([]), np.zeros(0, bool), np.zeros(n, bool),
        column([]),
    )  # fmt: skip
    lower, upper = np.full(n, -most), np.full(n, most)
    (record,) = explain(linears, (lower, upper), (upper, upper)).tolist()
    row, conflict, _, _, count, *rest = record
    premises = dict(zip(rest[: 2 * count : 2], rest[1 : 2 * count : 2]))
    assert (row, conflict) == (0, 1) and all(side % 2 == 0 for side in premises)
    assert sum(premises.get(2 * v, -most) for v in range(n)) > high
