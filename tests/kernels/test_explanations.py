"""Why a row says what it says: each explanation against enumeration, over random boxes of every operator.

The root is a box, the row runs in a box inside it, and each threshold that it reaches is explained. With NumPy over all
assignments: the premises imply the threshold; they were true; and with the premises alone the operator gives it.
"""

from __future__ import annotations

import numpy as np
import pytest

from support.explained_rows import RECORD_CONFLICT, RECORD_LATE
from support.lone_rows import explain_rows, propagate_rows
from support.operator_rows import RANGE, TABLE, boxes_of, rows_of, values_of
from turbo_fzn.tnf.language import TNF, Op

N_BOXES = 6000
FORMS = [(op, False) for op in Op] + [(op, True) for op in Op if op != Op.ELEMENT]
NO_LITERAL = -(2**40)


def nested_boxes(op: Op, squared: bool) -> tuple[np.ndarray, np.ndarray]:
    """Outer boxes and boxes inside them (int64 [k, 6] each)."""
    boxes = boxes_of(op)
    if squared:
        boxes = boxes[np.all(boxes[:, 2:4] == boxes[:, 4:6], axis=1)]
    random = np.random.default_rng(11)
    outer, inner = (boxes[random.integers(len(boxes), size=N_BOXES)] for _ in range(2))
    wide = random.random(N_BOXES) < 0.5  # a root box that says little lets explanations be weak
    outer[wide] = np.stack([boxes[:, 0::2].min(axis=0), boxes[:, 1::2].max(axis=0)], axis=1).reshape(6)
    low, high = np.maximum(inner[:, 0::2], outer[:, 0::2]), np.minimum(inner[:, 1::2], outer[:, 1::2])
    good = np.all(low <= high, axis=1)
    return outer[good], np.stack([low, high], axis=2).reshape(-1, 6)[good]


def explained(op: Op, squared: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """For every explanation: its row's outer and inner box, the record, and the sides that its premises demand
    (int64 [k, 6], in the order of a box, uppers negated)."""
    outer, inner = nested_boxes(op, squared)
    inside = rows_of(op, inner, squared)
    records = explain_rows(rows_of(op, outer, squared), inside.lower, inside.upper)
    rows = records[:, 0]
    demands = np.full((len(records), 6), NO_LITERAL)
    for place in range(8):
        here = np.flatnonzero(records[:, 4] > place)
        sides = records[here, 5 + 2 * place] - 6 * rows[here]
        demands[here, sides] = np.maximum(demands[here, sides], records[here, 6 + 2 * place])
    return outer[rows], inner[rows], records, demands


def sides_of(boxes: np.ndarray) -> np.ndarray:
    return boxes * np.array([1, -1] * 3)


def points_of(op: Op, squared: bool) -> np.ndarray:
    """All assignments that satisfy x = y op z, with operands from RANGE (int64 [k, 3])."""
    y_range = range(len(TABLE)) if op == Op.ELEMENT else RANGE
    ys, zs = (grid.ravel() for grid in np.meshgrid(y_range, [0] if op == Op.ELEMENT else RANGE, indexing="ij"))
    if squared:
        ys, zs = ys[ys == zs], zs[ys == zs]
    return np.stack([values_of(op, ys, zs), ys, zs], axis=1)


@pytest.mark.parametrize(("op", "squared"), FORMS, ids=lambda form: getattr(form, "name", str(form)))
def test_premises_imply_the_threshold_and_were_true(op, squared):
    outer, inner, records, demands = explained(op, squared)
    assert len(records) > 500 and records[:, 1].any() and not records[:, 1].all()
    checked = 4 if squared else 6  # the third variable of a squared row is nobody's
    points = points_of(op, squared)
    reached = np.stack([points, -points], axis=2).reshape(-1, 6)
    wanted = np.maximum(sides_of(outer), demands)
    inside = np.all(reached[None, :, :checked] >= wanted[:, None, :checked], axis=2)
    conflict = records[:, 1] == RECORD_CONFLICT
    assert not inside[conflict].any() and not (records[:, 1] == RECORD_LATE).any()
    side = np.where(conflict, 0, records[:, 2] - 6 * records[:, 0])
    values = reached[:, side].T
    assert np.all(~inside[~conflict] | (values[~conflict] >= records[~conflict, 3][:, None]))
    tnf = rows_of(op, inner, squared)
    lower, upper, _ = propagate_rows("cpu", tnf)
    now = sides_of(np.stack([lower.reshape(-1, 3), upper.reshape(-1, 3)], axis=2).reshape(-1, 6))
    assert np.all((demands <= np.maximum(now, sides_of(inner)))[~conflict])


@pytest.mark.parametrize(("op", "squared"), FORMS, ids=lambda form: getattr(form, "name", str(form)))
def test_the_operator_reaches_the_threshold_from_the_premises_alone(op, squared):
    outer, _, records, demands = explained(op, squared)
    boxes = np.maximum(sides_of(outer), demands) * np.array([1, -1] * 3)
    sound = np.all(boxes[:, 0::2] <= boxes[:, 1::2], axis=1)
    tnf: TNF = rows_of(op, np.where(sound[:, None], boxes, outer), squared)
    lower, upper, consistent = propagate_rows("cpu", tnf)
    now = sides_of(np.stack([lower.reshape(-1, 3), upper.reshape(-1, 3)], axis=2).reshape(-1, 6))
    conflict = records[:, 1] == RECORD_CONFLICT
    side = np.where(conflict, 0, records[:, 2] - 6 * records[:, 0])
    reached = now[np.arange(len(records)), side] >= records[:, 3]
    assert np.all(~sound | ~consistent | (reached & ~conflict))
