"""Each TNF operator against enumeration, on every box of bounds in a small range.

Each box becomes a row of its own with variables of its own, so that one call propagates them all. The enumeration is
NumPy over the whole cube of assignments; nothing of the kernels is in it.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from support.lone_rows import propagate_rows
from support.operator_rows import RANGE, TABLE, boxes_of, rows_of, values_of
from support.operators import apply_operator
from turbo_fzn.base.domains import INFINITY
from turbo_fzn.tnf.language import Op

HULL_OPERATORS = [Op.ADD, Op.MIN, Op.MAX, Op.EQ, Op.LEQ, Op.ELEMENT]  # those that reach the hull of the solutions


def hulls(op: Op, boxes: np.ndarray, squared: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """The least box around the solutions in each box (int64 [k, 6]), and whether there is a solution."""
    y_range = range(len(TABLE)) if op == Op.ELEMENT else RANGE
    ys, zs = (grid.ravel() for grid in np.meshgrid(y_range, [0] if op == Op.ELEMENT else RANGE, indexing="ij"))
    if squared:
        ys, zs = ys[ys == zs], zs[ys == zs]
    xs = values_of(op, ys, zs)
    points = np.stack([xs, ys, zs], axis=1)
    low, high = boxes[:, None, 0::2], boxes[:, None, 1::2]
    checked = slice(0, 2) if squared else slice(0, 3)
    inside = np.all(
        (points[None, :, checked] >= low[..., checked]) & (points[None, :, checked] <= high[..., checked]), axis=2
    )
    least = np.where(inside[..., None], points[None], 10**6).min(axis=1)
    most = np.where(inside[..., None], points[None], -(10**6)).max(axis=1)
    hull = np.stack([least, most], axis=2).reshape(len(boxes), 6)
    return hull, inside.any(axis=1)


def result_of(engine: str, op: Op, boxes: np.ndarray, squared: bool = False) -> tuple[np.ndarray, np.ndarray]:
    lower, upper, consistent = propagate_rows(engine, rows_of(op, boxes, squared))
    return np.stack([lower.reshape(-1, 3), upper.reshape(-1, 3)], axis=2).reshape(-1, 6), consistent


@pytest.mark.parametrize("op", list(Op), ids=lambda op: op.name)
def test_no_solution_is_lost_and_the_hull_is_reached_where_claimed(engine, op):
    boxes = boxes_of(op)
    hull, solvable = hulls(op, boxes)
    result, consistent = result_of(engine, op, boxes)
    assert not np.any(solvable & ~consistent)
    good = solvable & consistent
    assert np.all(result[good, 0::2] <= hull[good, 0::2]) and np.all(result[good, 1::2] >= hull[good, 1::2])
    assert np.all(result[good, 0::2] >= boxes[good, 0::2]) and np.all(result[good, 1::2] <= boxes[good, 1::2])
    if op in HULL_OPERATORS:
        assert np.array_equal(consistent, solvable)
        columns = slice(0, 4) if op == Op.ELEMENT else slice(0, 6)
        assert np.array_equal(result[good, columns], hull[good, columns])


@pytest.mark.parametrize("op", list(Op), ids=lambda op: op.name)
def test_a_row_of_fixed_variables_is_decided_exactly(engine, op):
    boxes = boxes_of(op)
    fixed = boxes[np.all(boxes[:, 0::2] == boxes[:, 1::2], axis=1)]
    _, solvable = hulls(op, fixed)
    _, consistent = result_of(engine, op, fixed)
    assert solvable.any() and not solvable.all()
    assert np.array_equal(consistent, solvable)


@pytest.mark.parametrize("op", list(Op), ids=lambda op: op.name)
def test_propagation_is_monotone(engine, op):
    """A box inside another one never propagates to something outside the other's result."""
    boxes = boxes_of(op)
    random = np.random.default_rng(7)
    outer = boxes[random.integers(len(boxes), size=4000)]
    inner = boxes[random.integers(len(boxes), size=4000)]
    inner = np.stack([np.maximum(inner[:, 0::2], outer[:, 0::2]), np.minimum(inner[:, 1::2], outer[:, 1::2])], axis=2)
    valid = np.all(inner[:, :, 0] <= inner[:, :, 1], axis=1)
    outer, inner = outer[valid], inner[valid].reshape(-1, 6)
    outer_result, outer_consistent = result_of(engine, op, outer)
    inner_result, inner_consistent = result_of(engine, op, inner)
    assert len(outer) > 100
    assert not np.any(inner_consistent & ~outer_consistent)
    both = inner_consistent & outer_consistent
    assert np.all(inner_result[both, 0::2] >= outer_result[both, 0::2])
    assert np.all(inner_result[both, 1::2] <= outer_result[both, 1::2])


@pytest.mark.parametrize("op", list(Op), ids=lambda op: op.name)
def test_a_fixpoint_is_idempotent(engine, op):
    result, consistent = result_of(engine, op, boxes_of(op))
    again, still = result_of(engine, op, result[consistent])
    assert still.all() and np.array_equal(again, result[consistent])


@pytest.mark.parametrize("op", [op for op in Op if op != Op.ELEMENT], ids=lambda op: op.name)
def test_a_row_with_one_operand_twice_loses_nothing(engine, op):
    boxes = boxes_of(op)
    boxes = boxes[np.all(boxes[:, 2:4] == boxes[:, 4:6], axis=1)]
    hull, solvable = hulls(op, boxes, squared=True)
    result, consistent = result_of(engine, op, boxes, squared=True)
    assert not np.any(solvable & ~consistent)
    good = solvable & consistent
    assert np.all(result[good, 0:4:2] <= hull[good, 0:4:2]) and np.all(result[good, 1:4:2] >= hull[good, 1:4:2])
    fixed = np.all(boxes[:, 0:4:2] == boxes[:, 1:4:2], axis=1)
    assert np.array_equal(consistent[fixed], solvable[fixed])


LARGE = [-(2**62) + 1, -(2**61), -(2**40), -7, -1, 0, 1, 2, 2**31, 2**61, 2**62 - 1]


@pytest.mark.parametrize("op", [op for op in Op if op != Op.ELEMENT], ids=lambda op: op.name)
def test_large_fixed_operands_are_decided_exactly(engine, op):
    """64-bit stores: products of 2**62 and sums beyond it must neither wrap around nor be lost silently."""
    boxes, expected = [], []
    for y, z in product(LARGE, LARGE):
        value = apply_operator(op, y, z)
        for x in {0, 1, y, z} | ({value} if value is not None and abs(value) < 2**62 else set()):
            boxes.append((x, x, y, y, z, z))
            expected.append(x == value)
    boxes = np.array([box for box, _ in zip(boxes, expected)], np.int64)
    if op in (Op.EQ, Op.LEQ):
        keep = (boxes[:, 0] == 0) | (boxes[:, 0] == 1)
        boxes, expected = boxes[keep], list(np.array(expected)[keep])
    _, consistent = result_of(engine, op, boxes)
    assert np.array_equal(consistent, np.array(expected))


@pytest.mark.parametrize("op", [op for op in Op if op not in (Op.ELEMENT, Op.EQ, Op.LEQ)], ids=lambda op: op.name)
def test_unbounded_variables_lose_no_solution(engine, op):
    """Boxes with sides of no bound contain every small solution before and after."""
    sides = [(-INFINITY, INFINITY), (-INFINITY, 3), (-3, INFINITY), (-5, 4), (2, INFINITY), (-INFINITY, -2)]
    boxes = np.array([(*x, *y, *z) for x, y, z in product(sides, repeat=3)], np.int64)
    result, consistent = result_of(engine, op, boxes)
    ys, zs = (grid.ravel() for grid in np.meshgrid(range(-9, 10), range(-9, 10), indexing="ij"))
    points = np.stack([values_of(op, ys, zs), ys, zs], axis=1)
    points = points[points[:, 0] != 10**6]
    for box, after, holds in zip(boxes, result, consistent):
        inside = points[np.all((points >= box[0::2]) & (points <= box[1::2]), axis=1)]
        if len(inside):
            assert holds
            assert np.all(inside >= after[0::2]) and np.all(inside <= after[1::2])
