"""The box by which linear rows reach learners while they run (kernels/learn/propagators/posted.h).

It has POSTED_ROWS places. A new row takes a free place, else the place of the row with the fewest recent explanations,
so that the number of rows is limited. The counts of explanations are halved with each row that arrives.
"""

from __future__ import annotations

import ctypes

import numpy as np

from turbo_fzn.engine.abi.abi import POSTED_ROWS, POSTED_TERMS
from turbo_fzn.engine.abi.aligned import line_aligned
from turbo_fzn.engine.abi.model_records import Postbox, Posted, Term
from turbo_fzn.engine.contract import Inequality
from turbo_fzn.engine.tuning import TUNING

ROW_BYTES = ctypes.sizeof(Posted) + POSTED_TERMS * ctypes.sizeof(Term)


def first_postbox() -> np.ndarray:
    """The memory of an empty box (uint8)."""
    return line_aligned(ctypes.sizeof(Postbox) + POSTED_ROWS * ROW_BYTES)


class Places:
    """The host's view of the places in a box: it chooses the row to replace."""

    def __init__(self, box: np.ndarray):
        first = ctypes.sizeof(Postbox)
        self.records = [Posted.from_buffer(box.data, first + i * ROW_BYTES) for i in range(POSTED_ROWS)]
        self.seen = [0] * POSTED_ROWS  # `used` of each row when the last row arrived
        self.activity = [0.0] * POSTED_ROWS
        self.arrived = [0] * POSTED_ROWS  # the number of the row at each place, from 1 on
        self.named: dict[str, int] = {}  # the place of each row with a name
        self.n_rows = 0

    def take(self, name: str) -> int:
        """The place for a row that arrives: the place of the row with the same name, if any."""
        for place, record in enumerate(self.records):
            used = record.used
            self.activity[place] = self.activity[place] / 2 + used - self.seen[place]
            self.seen[place] = used
        place = self.named.get(name, -1)
        if place < 0:
            others = set(range(POSTED_ROWS)) - set(self.named.values())
            place = min(others, key=lambda i: (self.arrived[i] > 0, self.activity[i], self.arrived[i]))
        if name:
            self.named[name] = place
        self.n_rows += 1
        self.arrived[place], self.activity[place] = self.n_rows, 0.0
        return place


def without(row: Inequality, left_out: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> Inequality | None:
    """The row without the variables that are left out (bool [n]), each at the end of its bounds where its term is
    least; None if too few terms are left or its sum may not fit 64 bits."""
    leave = left_out[row.variables]
    high = row.high
    for variable, value in zip(row.variables[leave].tolist(), row.coefficients[leave].tolist()):
        high -= value * int(lower[variable] if value > 0 else upper[variable])
    variables, coefficients = row.variables[~leave], row.coefficients[~leave]
    largest = np.maximum(np.abs(lower[variables].astype(float)), np.abs(upper[variables].astype(float)))
    fits = float(np.abs(coefficients.astype(float)) @ largest) + abs(high) < TUNING.posted_sum
    if not 1 < len(variables) <= POSTED_TERMS or not fits:
        return None
    return row._replace(variables=variables, coefficients=coefficients, high=high)


def terms_of(row: Inequality) -> np.ndarray:
    """The terms (int32 [k, 2]) in which kernels read the row, small factors first (learn/propagators/linear.h)."""
    order = np.argsort(np.abs(row.coefficients), kind="stable")
    coefficients = row.coefficients[order]
    sides = 2 * row.variables[order].astype(np.int64) + (coefficients < 0)
    return np.ascontiguousarray(np.stack((sides, np.abs(coefficients)), axis=1), np.int32)
