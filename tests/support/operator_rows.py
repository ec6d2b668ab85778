"""Rows of each operator: on all boxes of a small range, and at the limits of what is stored."""

from __future__ import annotations

import random
from itertools import combinations_with_replacement, product

import numpy as np

from support.operators import apply_operator
from turbo_fzn.base.domains import INFINITY
from turbo_fzn.tnf.language import TNF, Op
from turbo_fzn.tnf.tuning import TUNING

RANGE = range(-3, 4)
BOOLEAN_BOXES = [(0, 0), (0, 1), (1, 1)]
INTERVALS = list(combinations_with_replacement(RANGE, 2))
TABLE = np.array([2, -3, 2, 0, 1, 1, -2], np.int64)


def boxes_of(op: Op) -> np.ndarray:
    """All boxes (x.l, x.u, y.l, y.u, z.l, z.u), int64 [k, 6]."""
    xs = BOOLEAN_BOXES if op in (Op.EQ, Op.LEQ) else INTERVALS
    ys = [(low - RANGE[0], high - RANGE[0]) for low, high in INTERVALS] if op == Op.ELEMENT else INTERVALS
    zs = [(0, 0)] if op == Op.ELEMENT else INTERVALS
    return np.array([(*x, *y, *z) for x, y, z in product(xs, ys, zs)], np.int64)


def rows_of(op: Op, boxes: np.ndarray, squared: bool = False) -> TNF:
    """One row a box over its own three variables (two when `squared`: x = y op y)."""
    k = len(boxes)
    first = np.arange(k, dtype=np.int32) * 3
    z = np.zeros(k, np.int32) if op == Op.ELEMENT else first + (1 if squared else 2)
    lower, upper = boxes[:, 0::2].reshape(-1).copy(), boxes[:, 1::2].reshape(-1).copy()
    return TNF(np.full(k, op, np.int32), first, first + 1, z, lower, upper, TABLE)


def values_of(op: Op, ys: np.ndarray, zs: np.ndarray) -> np.ndarray:
    """x of y op z for arrays of equal shape; a value out of every box where it is undefined."""
    if op == Op.ELEMENT:
        return TABLE[ys]
    results = [apply_operator(op, int(y), int(z)) for y, z in zip(ys.ravel(), zs.ravel())]
    return np.array([10**6 if value is None else value for value in results]).reshape(ys.shape)


LARGEST = {32: TUNING.narrow_bound, 64: INFINITY - 1}
TABLE_SIZE = 9
COUNT = 4000


def landmarks(bits: int) -> list[int]:
    """Numbers around which sums, products and quotients change their nature."""
    most, root = LARGEST[bits], 2 ** (bits // 2 - 1)
    near = [0, 1, 2, 3, 7, root - 1, root, root + 1, most // 3, most // 2, most // 2 + 1, most - 2, most - 1, most]
    return sorted({sign * value for value in near for sign in (1, -1)})


def draw_witness(generator: random.Random, op: Op, bits: int, table: list[int]) -> tuple[int, int, int] | None:
    """(x, y, z) with x = y op z, all within the limits; None where this draw gives none."""
    marks, most = landmarks(bits), LARGEST[bits]
    y, z = (generator.choice(marks) + generator.randint(-1, 1) for _ in range(2))
    if op == Op.ELEMENT:
        y, z = generator.randrange(TABLE_SIZE), 0
        return table[y], y, z
    if op in (Op.MUL, Op.ADD) and generator.random() < 0.5:  # operands whose result is within the limits
        z = generator.randint(-3, 3) if op == Op.MUL else -y + generator.choice(marks)
    if op in (Op.EQ, Op.LEQ) and generator.random() < 0.5:
        z = y
    x = apply_operator(op, y, z) if max(abs(y), abs(z)) <= most else None
    return None if x is None or abs(x) > most else (x, y, z)


def box_around(generator: random.Random, op: Op, bits: int, witness: tuple[int, int, int]) -> list[int]:
    """Bounds of x, y and z that hold the witness: ends at landmarks, at the witness, or, in 64 bits, none."""
    box = []
    for place, value in enumerate(witness):
        ends = [*landmarks(bits), value, value, -LARGEST[bits], LARGEST[bits]]
        if place == 0 and op in (Op.EQ, Op.LEQ):
            ends = [0, 1]
        elif op == Op.ELEMENT and place == 1:
            ends = list(range(TABLE_SIZE))
        elif op == Op.ELEMENT and place == 2:
            ends = [0]
        elif bits == 64:
            ends += [-INFINITY, INFINITY, -INFINITY, INFINITY]
        box.append(generator.choice([end for end in ends if end <= value]))
        box.append(generator.choice([end for end in ends if end >= value]))
    return box


def rows_at_the_limits(op: Op, bits: int, seed: int = 0) -> tuple[TNF, np.ndarray, np.ndarray]:
    """A TNF of one row a box, the boxes int64 [k, 3, 2], and the witnesses int64 [k, 3]."""
    generator = random.Random(f"{op.name} {bits} {seed}")
    table = [generator.choice(landmarks(bits)) for _ in range(TABLE_SIZE)]
    table[0] = LARGEST[bits]  # so that the store has the width wanted
    witnesses, boxes = [], []
    while len(witnesses) < COUNT:
        witness = draw_witness(generator, op, bits, table)
        if witness is not None:
            witnesses.append(witness)
            boxes.append(box_around(generator, op, bits, witness))
    bounds = np.array(boxes, np.int64).reshape(COUNT, 3, 2)
    first = np.arange(COUNT, dtype=np.int32) * 3
    z = np.zeros(COUNT, np.int32) if op == Op.ELEMENT else first + 2
    lower, upper = bounds[:, :, 0].reshape(-1).copy(), bounds[:, :, 1].reshape(-1).copy()
    tnf = TNF(np.full(COUNT, op, np.int32), first, first + 1, z, lower, upper, np.array(table, np.int64))
    assert tnf.is_narrow() == (bits == 32)
    return tnf, bounds, np.array(witnesses, np.int64)
