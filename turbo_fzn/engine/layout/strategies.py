"""Strategies -> the lists that the kernels read: see `Strategy` of kernels/core/abi.h."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from turbo_fzn.engine.abi import float_abi
from turbo_fzn.tnf.language import TNF, Floats, Strategy, ValueChoice

MAX_LEVELS = 2**20  # formula: a bound on choice points, which sizes the stack of a block
# Value choices whose first branch may cut off a single value, so that a variable can need a level for each.
SHAVING = (ValueChoice.RANDOM, ValueChoice.OUT_MIN, ValueChoice.OUT_MAX, ValueChoice.OUT_MEDIAN, ValueChoice.OUT_RANDOM)


def most_levels(tnf: TNF) -> int:
    """A bound on the choice points of one branch, at most MAX_LEVELS.

    A left branch fixes a variable or halves it, or, with the choices of SHAVING, removes a value. A stack that is too
    small after all gives its shallowest alternatives to the pool (kernels/search/search.h).
    """
    size = tnf.upper.astype(np.float64) - tnf.lower  # the difference may exceed int64
    need = np.ceil(np.log2(size + 1)) + (size > 1)
    for strategy in tnf.strategies:
        if strategy.value_choice in SHAVING:
            need[strategy.variables] = size[strategy.variables]
    return int(min(need.sum(), MAX_LEVELS))


def pack(
    strategies: Sequence[Strategy], lower: np.ndarray, upper: np.ndarray, n_tables: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(records int32 [k, 4], lists int32, gaps int64): a record is (var_choice, value_choice, start, count), where
    `start` is a place in `lists`; the caller appends the gaps to the `n_tables` entries of the model's tables."""
    records, lists, gaps = [], [np.empty(0, np.int32)], [np.empty(0, np.int64)]
    start = 0
    for strategy in strategies:
        parts = [strategy.variables, strategy.measured]
        if strategy.gaps is not None:
            found = [inside(*pair, lower, upper) for pair in zip(strategy.gaps, strategy.measured)]
            parts.append(n_tables + np.cumsum([sum(map(len, gaps)), *map(len, found)]))
            gaps += found
        if strategy.rows is not None:
            parts += by_member(*strategy.rows, len(strategy.variables))
        records.append((strategy.var_choice, strategy.value_choice, start, len(strategy.variables)))
        lists += [part.astype(np.int32) for part in parts]
        start += sum(map(len, parts))
    return np.array(records, np.int32).reshape(-1, 4), np.concatenate(lists), np.concatenate(gaps)


def by_member(sizes: np.ndarray, needs: np.ndarray, n_members: int) -> tuple[np.ndarray, np.ndarray]:
    """For the first member of each row the end of the row, and how many of its members must be 1; 0 for the others."""
    ends, needed = np.zeros(n_members, np.int64), np.zeros(n_members, np.int64)
    starts = np.cumsum(sizes) - sizes
    ends[starts[sizes > 0]], needed[starts[sizes > 0]] = (starts + sizes)[sizes > 0], needs[sizes > 0]
    return ends, needed


def inside(gaps: np.ndarray, variable: int, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """The gaps ([k, 2]) within the bounds of the variable, flattened."""
    return gaps[(gaps[:, 0] >= lower[variable]) & (gaps[:, 1] <= upper[variable])].reshape(-1)


def with_floats(records: np.ndarray, gaps: np.ndarray, n_tables: int, floats: Floats) -> tuple[np.ndarray, np.ndarray]:
    """The records and the gaps with the data of kernels/floats/decided.h: one more record, and after the gaps the words
    of float_abi.py and a bit for each variable."""
    bits = np.zeros(-len(floats.mask) % 64 + len(floats.mask), bool)
    bits[: len(floats.mask)] = floats.mask
    words = np.zeros(float_abi.FLOAT_WORDS, np.float64)
    words[[float_abi.FLOAT_WIDTH, float_abi.FLOAT_STEP]] = floats.width, floats.step
    last = np.array([[0, 0, n_tables + len(gaps), len(bits)]], np.int32)
    every = gaps, words.view(np.int64), np.packbits(bits, bitorder="little").view(np.int64)
    return np.concatenate((records, last)), np.concatenate(every)
