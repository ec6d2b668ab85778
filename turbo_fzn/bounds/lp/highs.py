"""Linear and integer programs by HiGHS (Huangfu and Hall 2018): the only file that imports it.

Its results are not trusted: primal values guide branching and cuts, and prove/certificate.py proves bounds from the
duals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, NamedTuple

import highspy
import numpy as np

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.bounds.lp.exact import Row
from turbo_fzn.bounds.lp.relaxation import LinearRows, Relaxation
from turbo_fzn.bounds.lp.tuning import TUNING

Status = highspy.HighsModelStatus
Callback = highspy.cb.HighsCallbackType
CONTINUOUS, INTEGER = 0, 1  # format: kinds of columns
ROW_BY_ROW = 2  # format: kRowwise
NO_LIMIT = 2**31 - 1  # format: HiGHS counts in 32 bits
TIGHT = 1e-10  # format: the smallest tolerance that HiGHS accepts


class Outcome(Enum):
    """The outcome of a program; UNFINISHED includes interrupted and failed runs."""

    OPTIMAL = 1
    INFEASIBLE = 2
    UNFINISHED = 3


class Answer(NamedTuple):
    """The result of a linear program. `duals` (float [m]) are multipliers of the rows; for an infeasible program they
    are a Farkas ray."""

    outcome: Outcome
    values: np.ndarray
    duals: np.ndarray


class _Meter:
    """The callback of HiGHS while it solves: interrupts it when `is_over`, and passes the work done to `account`, in
    seconds estimated from the number of iterations. It has no reference to the solver, which it would keep alive."""

    def __init__(self, is_over: Callable[[], bool], account: Callable[[float], None] | None = None):
        self.is_over, self.account = is_over, account
        self.unit = 0.0  # seconds of an iteration
        self.iterations = 0  # iterations of this program, passed to `account`
        self.fault: Exception | None = None  # raised by `account` or `is_over`

    def begin(self, entries: int) -> None:
        """Starts another program, whose rows have this number of entries."""
        self.unit, self.iterations = TUNING.iteration_seconds + TUNING.entry_seconds * entries, 0

    def end(self, iterations: int) -> None:
        """Ends the program after this number of iterations. Raises the exception of a callback, where it would have
        ended the process."""
        if self.fault is not None:
            raise self.fault
        self.reach(max(iterations, 1))

    def reach(self, iterations: int) -> None:
        """Accounts for the iterations so far: a search may wait for this work, and one program may take minutes."""
        new, self.iterations = iterations - self.iterations, max(iterations, self.iterations)
        if new > 0 and self.account is not None:
            self.account(new * self.unit)

    def call_back(self, kind: Any, message: str, state: Any, answer: Any, user: Any) -> None:
        try:
            self.reach(_iterations_of(state))
            answer.user_interrupt = answer.user_interrupt or self.is_over()
        except Exception as error:
            self.fault, answer.user_interrupt = error, True


def _iterations_of(state: Any) -> int:
    """Counts the iterations in HiGHS's info, or in what it calls back with."""
    return max(state.simplex_iteration_count, 0) + TUNING.interior_iterations * max(state.ipm_iteration_count, 0)


class _Quiet(highspy.Highs):
    """A HiGHS solver without output from the start: the first solver of a process would print its version."""

    def enableCallbacks(self) -> None:
        self.setOptionValue("output_flag", False)
        super().enableCallbacks()


def _quiet_solver(meter: _Meter | _MipMeter, *kinds: Any) -> Any:
    """A HiGHS solver without output that works on the calling thread only."""
    solver: Any = _Quiet()
    for option, value in (("output_flag", False), ("threads", 1)):
        solver.setOptionValue(option, value)
    solver.setCallback(meter.call_back, None)
    for kind in (Callback.kCallbackSimplexInterrupt, Callback.kCallbackIpmInterrupt, *kinds):
        solver.startCallback(kind)
    return solver


def solve(solver: Any, wants_ray: bool = True) -> Answer:
    """Runs the solver. `wants_ray`: return the ray of an infeasible program, which HiGHS may solve again for it."""
    solver.run()
    status = solver.getModelStatus()
    if status == Status.kInfeasible:
        if not wants_ray:
            return Answer(Outcome.INFEASIBLE, np.empty(0), np.empty(0))
        _, exists, ray = solver.getDualRay()
        return Answer(Outcome.INFEASIBLE, np.empty(0), np.asarray(ray) if exists else np.empty(0))
    solution = solver.getSolution()
    values, duals = np.array(solution.col_value), np.array(solution.row_dual)
    return Answer(Outcome.OPTIMAL if status == Status.kOptimal else Outcome.UNFINISHED, values, duals)


class Program:
    """The linear program of a relaxation, whose bounds and rows change. See _Meter for `is_over` and `account`."""

    def __init__(
        self, relaxation: Relaxation, is_over: Callable[[], bool], account: Callable[[float], None] | None = None
    ):
        self.meter = _Meter(is_over, account)
        self.solver = solver = _quiet_solver(self.meter)
        self.lower, self.upper = relaxation.lower.copy(), relaxation.upper.copy()
        _state(solver, relaxation, self.lower, self.upper, CONTINUOUS)

    def restrict(self, lower: np.ndarray, upper: np.ndarray) -> None:
        """Sets the bounds of the columns (int64 [n])."""
        changed = np.flatnonzero((lower != self.lower) | (upper != self.upper))
        if len(changed):
            sides = _as_floats(lower[changed]), _as_floats(upper[changed])
            self.solver.changeColsBounds(len(changed), changed.astype(np.int32), *sides)
            self.lower[changed], self.upper[changed] = lower[changed], upper[changed]

    def add(self, rows: LinearRows) -> None:
        sides = _as_floats(rows.lower), _as_floats(rows.upper)
        self.solver.addRows(len(rows), *sides, len(rows.values), *entries_of(rows))

    def remove(self, numbers: np.ndarray) -> None:
        self.solver.deleteRows(len(numbers), numbers.astype(np.int32))

    def solve(self) -> Answer:
        """Solves the program, from the last basis on; by an interior point where that takes long."""
        for method, most_iterations in (("simplex", TUNING.iterations), ("ipm", NO_LIMIT), ("simplex", NO_LIMIT)):
            answer = self.solve_by(method, most_iterations)
            if answer.outcome is not Outcome.UNFINISHED or self.meter.is_over():
                break
        return answer

    def look(self, most_iterations: int, clock: Callable[[], float], seconds: float) -> Answer:
        """The answer of at most `most_iterations` of the simplex method, without a ray; it also stops after `seconds`
        on the clock."""
        before, last = self.meter.is_over, clock() + seconds
        self.meter.is_over = lambda: before() or clock() > last
        try:
            return self.solve_by("simplex", most_iterations, wants_ray=False)
        finally:
            self.meter.is_over = before

    def solve_by(self, method: str, most_iterations: int, wants_ray: bool = True) -> Answer:
        """Solves the program by "simplex" or "ipm". The limit applies to the simplex method, which also turns an
        interior point into a vertex."""
        self.solver.setOptionValue("solver", method)
        self.solver.setOptionValue("simplex_iteration_limit", most_iterations)
        self.meter.begin(self.solver.getNumNz())
        answer = solve(self.solver, wants_ray)
        self.meter.end(_iterations_of(self.solver.getInfo()))
        return answer

    def basis(self) -> highspy.HighsBasis:
        return self.solver.getBasis()

    def start_from(self, basis: highspy.HighsBasis) -> None:
        """Sets the basis. The slacks of rows that were added after it was taken become basic."""
        missing = self.solver.getNumRow() - len(basis.row_status)
        if missing > 0:
            basis.row_status = [*basis.row_status, *[highspy.HighsBasisStatus.kBasic] * missing]
        self.solver.setBasis(basis)

    def basic_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """(position in the basis, column) of the basic columns that are not slacks."""
        _, basic = self.solver.getBasicVariables()
        basic = np.asarray(basic)
        positions = np.flatnonzero(basic >= 0)
        return positions, basic[positions]

    def multipliers(self, position: int) -> np.ndarray:
        """The row of the inverse basis at this position: each row's multiplier in the tableau's row (float [m])."""
        _, row = self.solver.getBasisInverseRow(position)
        return np.asarray(row)


def solve_reals(
    cost: np.ndarray, lower: np.ndarray, upper: np.ndarray, rows: Sequence[Row], is_over: Callable[[], bool]
) -> Answer:
    """Minimises cost x over x (float64 [n]) within the bounds and the rows, by a new solver."""
    solver = _quiet_solver(_Meter(is_over))
    for option in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
        solver.setOptionValue(option, TIGHT)
    solver.setOptionValue("presolve", "off")  # it would lose the ray of an infeasible program
    start = np.cumsum([0] + [len(entries) for entries, _, _ in rows])
    columns = np.fromiter((v for entries, _, _ in rows for v in entries), np.int32, start[-1])
    values = np.fromiter((float(c) for entries, _, _ in rows for c in entries.values()), float, start[-1])
    low = np.array([-np.inf if row.low is None else float(row.low) for row in rows])
    high = np.array([np.inf if row.high is None else float(row.high) for row in rows])
    n = len(cost)
    sizes, entries = (n, len(rows), len(values)), (start[:-1].astype(np.int32), columns, values)
    solver.passModel(*sizes, ROW_BY_ROW, 1, 0.0, cost, lower, upper, low, high, *entries, np.zeros(n, np.int32))
    return solve(solver)


class _MipMeter:
    """The callback of HiGHS while it solves an integer program: passes on each better point, and interrupts it when
    `is_over`. It has no reference to the solver, as _Meter."""

    def __init__(self, is_over: Callable[[], bool], take: Callable[[np.ndarray], None]):
        self.is_over, self.take = is_over, take
        self.fault: Exception | None = None  # raised by `is_over` or `take`

    def call_back(self, kind: Any, message: str, state: Any, answer: Any, user: Any) -> None:
        try:
            if kind == Callback.kCallbackMipImprovingSolution:
                self.take(np.array(state.mip_solution))
            else:
                answer.user_interrupt = answer.user_interrupt or self.is_over() or self.fault is not None
        except Exception as error:
            self.fault = error


def solve_integers(
    relaxation: Relaxation,
    lower: np.ndarray,
    upper: np.ndarray,
    seconds: float,
    is_over: Callable[[], bool],
    take: Callable[[np.ndarray], None],
) -> Outcome:
    """Solves a relaxation as an integer program in a box (int64 [n]), for so many seconds at most, by a new solver.
    Each better point (float [n]) is passed to `take`, and no optimum is proved."""
    meter = _MipMeter(is_over, take)
    solver = _quiet_solver(meter, Callback.kCallbackMipImprovingSolution, Callback.kCallbackMipInterrupt)
    for option, value in (("time_limit", seconds), ("mip_rel_gap", 0.0)):
        solver.setOptionValue(option, value)
    _state(solver, relaxation, lower, upper, INTEGER)
    solver.run()
    if meter.fault is not None:
        raise meter.fault
    ends = {Status.kOptimal: Outcome.OPTIMAL, Status.kInfeasible: Outcome.INFEASIBLE}
    return ends.get(solver.getModelStatus(), Outcome.UNFINISHED)


def _state(solver: Any, relaxation: Relaxation, lower: np.ndarray, upper: np.ndarray, kind: int) -> None:
    """Passes a relaxation to a solver, with these bounds of the columns (int64 [n]), which are all of a kind."""
    n, rows = relaxation.n_columns, relaxation.rows
    cost = np.zeros(n)
    cost[relaxation.objective] = relaxation.sense
    bounds = [_as_floats(side) for side in (lower, upper, rows.lower, rows.upper)]
    sizes, entries = (n, len(rows), len(rows.values)), entries_of(rows)
    solver.passModel(*sizes, ROW_BY_ROW, 1, 0.0, cost, *bounds, *entries, np.full(n, kind, np.int32))


def entries_of(rows: LinearRows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return rows.start[:-1].astype(np.int32), rows.columns.astype(np.int32), rows.values.astype(float)


def _as_floats(bounds: np.ndarray) -> np.ndarray:
    return np.where(np.abs(bounds) >= INFINITY, np.where(bounds > 0, np.inf, -np.inf), bounds.astype(float))
