"""Integer programs by HiGHS: what arrives, how they end, and what interrupts them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from turbo_fzn.bounds.lp.highs import Callback, Outcome, _MipMeter, solve_integers
from turbo_fzn.bounds.lp.relaxation import LinearRows, Relaxation
from turbo_fzn.bounds.rows.cliques import Conflicts


def test_a_stop_and_a_fault_interrupt_a_program():
    over, kind, answer = [], Callback.kCallbackMipInterrupt, SimpleNamespace(user_interrupt=False)
    meter = _MipMeter(lambda: bool(over), lambda values: 1 / 0)
    meter.call_back(kind, "", None, answer, None)
    assert not answer.user_interrupt
    over.append(1)
    meter.call_back(kind, "", None, answer, None)
    assert answer.user_interrupt
    over.clear()
    answer.user_interrupt = False
    better = Callback.kCallbackMipImprovingSolution
    meter.call_back(better, "", SimpleNamespace(mip_solution=[1.0]), SimpleNamespace(), None)
    meter.call_back(kind, "", None, answer, None)
    assert answer.user_interrupt and isinstance(meter.fault, ZeroDivisionError)


def program(**changes: Any) -> dict[str, Any]:
    """Maximise x + y with 2 x + 3 y <= 12 and x <= 4: the optimum is 5, at (4, 1)."""
    rows = LinearRows.of([({0: 2, 1: 3}, -(2**60), 12), ({0: 1, 1: 1, 2: -1}, 0, 0)])
    ends = np.zeros(3, np.int64), np.array([4, 9, 99])
    relaxation = Relaxation(*ends, rows, 2, -1, np.arange(3), {}, Conflicts())
    given = {"relaxation": relaxation, "lower": ends[0], "upper": ends[1], "seconds": 60.0, "is_over": lambda: False}
    return given | changes


def solved(given: dict[str, Any]) -> tuple[Outcome, list[list[int]]]:
    found: list[list[int]] = []
    take = given.pop("take", lambda values: found.append(values.round().tolist()))
    return solve_integers(**given, take=take), found


def test_better_points_arrive_one_after_the_other():
    outcome, found = solved(program())
    assert outcome is Outcome.OPTIMAL and found[-1] == [4, 1, 5]
    assert [values[2] for values in found] == sorted({values[2] for values in found})


def test_an_empty_box_is_told():
    assert solved(program(lower=np.array([3, 3, 0]))) == (Outcome.INFEASIBLE, [])


def test_what_fails_in_a_callback_is_raised_behind_it():
    def fail(values: np.ndarray) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        solved(program(take=fail))


def test_no_time_is_no_time():
    outcome, found = solved(program(seconds=0.0))
    assert outcome is Outcome.UNFINISHED and not found
