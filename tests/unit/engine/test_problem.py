"""The layout of a model for the kernels: watch lists against a plain definition of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from turbo_fzn.engine.layout.layout import Layout, Settings
from turbo_fzn.engine.layout.neighbours import owners
from turbo_fzn.engine.layout.watch import WAKE_BOTH, WAKE_LOWER, WAKE_UPPER, wake_masks, watch_lists
from turbo_fzn.tnf.language import TNF, Op

BOUNDS = [(0, 1), (0, 0), (1, 1), (0, 1), (2, 5), (3, 3)]  # of the variables; some are fixed
variables = st.integers(0, len(BOUNDS) - 1)
rows = st.tuples(st.sampled_from(list(Op)), variables, variables, variables)


def model(chosen: list[tuple[Op, int, int, int]]) -> TNF:
    """Rows over the variables of BOUNDS; operands may be repeated."""
    op, x, y, z = np.array(chosen, np.int32).reshape(-1, 4).T
    lower, upper = np.array(BOUNDS, np.int64).T
    return TNF(op, x, y, z, lower, upper, np.arange(12))


def segments(tnf: TNF, variable: int) -> list[list[int]]:
    """The rows that want only lower, either, only upper of a variable, each once and in order."""
    wanted = {}
    masks = wake_masks(tnf)
    for row in range(tnf.n_rows):
        mask = 0
        for number, (column, mask_of) in enumerate(zip((tnf.x, tnf.y, tnf.z), masks)):
            if column[row] == variable and not (number == 2 and tnf.op[row] == Op.ELEMENT):
                mask |= int(mask_of[row])
        wanted[row] = mask if tnf.lower[variable] < tnf.upper[variable] else 0
    return [[row for row, mask in wanted.items() if mask == kind] for kind in (WAKE_LOWER, WAKE_BOTH, WAKE_UPPER)]


@given(st.lists(rows, max_size=12))
def test_watch_lists_hold_each_row_once_for_each_variable_in_its_segment(chosen):
    tnf = model(chosen)
    watches, watchers = watch_lists(tnf)
    assert watches.dtype == watchers.dtype == np.int32
    for variable in range(tnf.n_vars):
        start, both, upper, end = watches[variable]
        found = [watchers[start:both].tolist(), watchers[both:upper].tolist(), watchers[upper:end].tolist()]
        assert found == segments(tnf, variable)
    assert len(watchers) == sum(end - start for start, _, _, end in watches)


def test_owners_are_the_decision_variables_nearest_in_the_constraint_graph():
    op, x, y, z = np.array([(Op.ADD, 3, 0, 1), (Op.ADD, 4, 3, 3), (Op.ADD, 5, 4, 2), (Op.LEQ, 6, 7, 7)], np.int32).T
    lower, upper = np.zeros(8, np.int64), np.array([1, 0, 1, 1, 1, 1, 1, 1])
    nearest = owners(TNF(op, x, y, z, lower, upper, np.arange(0)), np.array([0, 2]))
    assert nearest[[0, 2, 3]].tolist() == [0, 2, 0]  # themselves, and a row away
    assert nearest[4] == 2 and nearest[5] == 2  # rows meet in 4 from both sides: 2 is nearer than 0
    assert nearest[[1, 6, 7]].tolist() == [-1, -1, -1]  # fixed, and without any way there


def test_a_layout_with_other_settings_shares_the_arrays_and_has_capacities_of_its_own():
    first = Layout(model([(Op.ADD, 4, 0, 3)]), np.arange(2), Settings())
    other = first.with_settings(Settings(blocks=1000, queue_capacity=7))
    assert other.arrays is first.arrays
    assert (other.queue_capacity, first.queue_capacity) == (7, 1)
    assert other.pool_slots == 2048 and first.pool_slots == 64
