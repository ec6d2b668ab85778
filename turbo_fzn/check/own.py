"""The meaning of the predicates that only the reader of XCSP3 writes, in their plain form; reified forms follow as for
all others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from turbo_fzn.check.expressions import holds

Values = Sequence[int]


def _is_at(x: Values, first: int, i: int, z: int) -> bool:
    """Whether z is the element of x with index i, where the first index is `first`."""
    return first <= i < first + len(x) and x[i - first] == z


def _is_within_row(x: Values, n_rows: int, low: np.ndarray, high: np.ndarray) -> bool:
    """Whether a row of the table has all of x within the intervals of its cells."""
    if not x:
        return n_rows > 0
    shape = n_rows, len(x)
    inside = (low.reshape(shape) <= list(x)) & (list(x) <= high.reshape(shape))
    return bool(np.any(np.all(inside, axis=1)))


OWN_MEANINGS: dict[str, Callable[..., bool]] = {
    "int_expression": holds,
    "turbo_element": _is_at,
    "turbo_table_interval": _is_within_row,
}
