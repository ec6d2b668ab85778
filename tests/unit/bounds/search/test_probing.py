"""The rows that probing makes. That they hold is checked by the fuzzer's bounds, at every better solution."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from support.relaxations import root_of
from turbo_fzn.base.domains import INFINITY
from turbo_fzn.bounds.cuts.cutter import Cutter
from turbo_fzn.bounds.lp.relaxation import LinearRows, Relaxation
from turbo_fzn.bounds.rows.cliques import Conflicts
from turbo_fzn.bounds.search.listener import NO_SOLUTION
from turbo_fzn.bounds.search.probing import probe
from turbo_fzn.bounds.search.tuning import TUNING
from turbo_fzn.bounds.thread.relaxation_thread import Beside

DAYS, PLAYS = [4, 1, 6], [1, 0, 1]
VARIABLES = "".join(
    f"""var 1..3: x{t} :: output_var;
var 1..6: days{t};
var 0..1: plays{t};
var bool: must{t};
var bool: waits{t} :: output_var;
var bool: here{t};
var 0..1: counts{t};
var 0..6: paid{t};
"""
    for t in range(3)
)
CONSTRAINTS = "".join(
    f"""constraint array_int_element(x{t},{DAYS},days{t});
constraint array_int_element(x{t},{PLAYS},plays{t});
constraint bool2int(must{t},plays{t});
constraint array_bool_or([must{t},waits{t}],here{t});
constraint bool2int(here{t},counts{t});
constraint int_times(days{t},counts{t},paid{t});
"""
    for t in range(3)
)
COST = f"""predicate turbo_all_different(array [int] of var int: x);
{VARIABLES}var 0..99: cost;
{CONSTRAINTS}constraint turbo_all_different([x0,x1,x2]);
constraint int_lin_eq([1,1,1,-1],[paid0,paid1,paid2,cost],0);
solve minimize cost;
"""


@pytest.mark.parametrize("probes", [0, 2000])
def test_what_a_value_costs_by_way_of_several_constraints_is_one_row(monkeypatch, probes: int) -> None:
    """An actor is paid for the scenes that he plays in, whatever their order; each product alone may be 0."""
    monkeypatch.setattr(TUNING, "root_probes", probes)
    for other in ("of_rows", "of_tableau", "of_duals"):
        monkeypatch.setattr(Cutter, other, lambda *_: ())
    root = root_of(COST)
    root.cut()
    assert root.bound == 10 if probes else root.bound < 10


@pytest.mark.parametrize(("share", "stay"), [(0.0, True), (2.0, False)])
def test_cuts_that_close_little_of_the_gap_leave_with_what_values_imply(monkeypatch, share: float, stay: bool) -> None:
    monkeypatch.setattr(TUNING, "closed_part", share)
    root = root_of(COST)
    n_rows, separators = len(root.rows), root.relaxation.separators
    root.listener.tell(11)
    root.cut()
    assert root.n_cuts > 0 and (len(root.rows) > n_rows) == stay
    assert root.program.solver.getNumRow() == len(root.rows) == len(root.certifier.rows)
    assert len(root.relaxation.separators) == len(separators) + stay


def test_without_a_solution_there_is_no_gap_and_cuts_stay(monkeypatch) -> None:
    monkeypatch.setattr(Beside, "narrow", lambda self, lower, upper: (lower, upper))  # which would find one
    root = root_of(COST)
    n_rows = len(root.rows)
    root.cut()
    assert root.listener.best == NO_SOLUTION and len(root.rows) > n_rows


def relaxation_of(truths: dict[int, tuple[int, int]], n_columns: int = 5) -> Relaxation:
    """A relaxation without rows, of columns from 0 to 9 and truths from 0 to 1."""
    lower, upper = np.zeros(n_columns, np.int64), np.full(n_columns, 9, np.int64)
    upper[list(truths)] = 1
    rows = LinearRows.of([])
    return Relaxation(lower, upper, rows, n_columns - 1, 1, np.arange(n_columns), truths, Conflicts())


def listener_of(lows: dict[int, int | None]) -> SimpleNamespace:
    """A listener that knows how far the last column is raised, or lowered, by each truth; by None nothing is left."""

    def narrow(lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        for truth, low in lows.items():
            if lower[truth] == 1:
                if low is None:
                    return None
                lower[-1], upper[-1] = max(low, 0), min(9 + low, 9)
        return lower, upper

    return SimpleNamespace(account=lambda seconds: None, work_time=lambda: 0.0, is_done=lambda: False, narrow=narrow)


def rows_of(relaxation: Relaxation, lows: dict[int, int | None], upper: np.ndarray | None = None) -> list:
    ends = relaxation.lower.copy(), relaxation.upper.copy() if upper is None else upper
    families = probe(relaxation, listener_of(lows), *ends).families  # type: ignore[arg-type]
    return [family.row(place) for family in families for place in range(len(family.columns))]


def test_there_is_a_row_from_below_and_one_from_above() -> None:
    relaxation = relaxation_of({1: (0, 3), 2: (0, 4), 3: (0, 5)})
    assert rows_of(relaxation, {1: 2, 2: -3, 3: 4}) == [({1: 2, 3: 4, 4: -1}, 0), ({2: 3, 4: 1}, 9)]


def test_of_two_truths_of_one_value_one_counts() -> None:
    assert rows_of(relaxation_of({1: (0, 3), 2: (0, 3)}), {1: 2, 2: 2}) == [({2: 2, 4: -1}, 0)]


def test_what_no_better_solution_has_is_excluded() -> None:
    relaxation = relaxation_of({1: (0, 3), 2: (0, 4)})
    upper = relaxation.upper.copy()
    assert rows_of(relaxation, {1: None, 2: 5}, upper) == [({2: 5, 4: -1}, 0)]
    assert upper.tolist() == [9, 0, 1, 9, 9]


@pytest.mark.parametrize(("value", "found"), [(4.0, []), (1.5, [({1: 3, 2: 5, 4: -1}, 0, 2.5)])])
def test_rows_that_the_point_violates_are_cuts(value: float, found: list) -> None:
    relaxation = relaxation_of({1: (0, 3), 2: (0, 4)})
    implied = probe(relaxation, listener_of({1: 3, 2: 5}), relaxation.lower, relaxation.upper)  # type: ignore[arg-type]
    assert list(implied.cuts(np.array([3.5, 0.5, 0.5, 0, value]))) == found


@pytest.mark.parametrize(("low", "raised"), [(-INFINITY, 2), (-(2**40), 0), (-(2**53), 1 - 2**53)])
def test_numbers_that_no_row_holds_make_none(low: int, raised: int) -> None:
    """A column without a bound at the root, or which a value raises too far; that behind it keeps its own row."""
    relaxation = relaxation_of({1: (0, 3)})
    relaxation.lower[2] = low

    def narrow(lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        lower[2], lower[4] = raised, 5
        return lower, upper

    listener = SimpleNamespace(**{**vars(listener_of({})), "narrow": narrow})
    families = probe(relaxation, listener, relaxation.lower.copy(), relaxation.upper.copy()).families  # type: ignore
    assert [family.row(place) for family in families for place in range(len(family.columns))] == [({1: 5, 4: -1}, 0)]
