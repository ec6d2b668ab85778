"""The order of an engine's rows: the lanes of one warp run neighbouring rows.

By default the order is that of lowering, where the rows of a constraint are neighbours. The other two are from C++
Turbo's journal, and are variants here (variants.py): by operator, so that the lanes of a warp take the same branch; and
by neighbourhood, so that rows with common variables are near each other (after Cuthill and McKee 1969).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from turbo_fzn.tnf.language import TNF, Op


def ordered_rows(tnf: TNF, order: str) -> TNF:
    """The model with its rows in the order named `order` (a name of ORDERS)."""
    places = ORDERS[order](tnf)
    return replace(tnf, op=tnf.op[places], x=tnf.x[places], y=tnf.y[places], z=tnf.z[places], arranged=None)


def _by_operator(tnf: TNF) -> np.ndarray:
    return np.argsort(tnf.op, kind="stable")


def _by_neighbourhood(tnf: TNF) -> np.ndarray:
    """The order (int64 [m]) of breadth-first search over rows and unfixed variables, from the first unseen row on."""
    columns = [tnf.x, tnf.y, np.where(tnf.op == Op.ELEMENT, tnf.y, tnf.z)]
    unfixed = tnf.lower < tnf.upper
    rows = np.tile(np.arange(tnf.n_rows), 3)
    variables = np.concatenate(columns)
    rows, variables = rows[unfixed[variables]], variables[unfixed[variables]]
    rows_of = _lists(variables, rows, tnf.n_vars)
    variables_of = _lists(rows, variables, tnf.n_rows)
    seen_rows, seen_variables = bytearray(tnf.n_rows), bytearray(tnf.n_vars)
    order: list[int] = []
    for first in range(tnf.n_rows):
        if seen_rows[first]:
            continue
        seen_rows[first] = 1
        place = len(order)
        order.append(first)
        while place < len(order):
            for variable in variables_of[order[place]]:
                if not seen_variables[variable]:
                    seen_variables[variable] = 1
                    new = [row for row in rows_of[variable] if not seen_rows[row]]
                    order += dict.fromkeys(new)
                    for row in new:
                        seen_rows[row] = 1
            place += 1
    return np.array(order, np.int64)


def _lists(keys: np.ndarray, values: np.ndarray, count: int) -> list[list[int]]:
    """For each key below `count` the list of its values."""
    order = np.argsort(keys, kind="stable")
    ends = np.cumsum(np.bincount(keys, minlength=count))
    return [part.tolist() for part in np.split(values[order], ends[:-1])] if count else []


ORDERS: dict[str, Callable[[TNF], np.ndarray]] = {"operator": _by_operator, "neighbourhood": _by_neighbourhood}
