"""Connects a search with the linear relaxation (turbo_fzn/bounds), which proves bounds: exchanges solutions and bounds.

The relaxation is of the FlatZinc model, with the bounds of the TNF at its root fixpoint, which hold in all solutions.
Names that the simplifier has merged are the same variable.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np

from turbo_fzn.base.domains import BOOLEAN, INFINITY, IntSet
from turbo_fzn.base.errors import EngineError
from turbo_fzn.bounds.lp.relaxation import Relaxation
from turbo_fzn.bounds.prove.reasons import Reason
from turbo_fzn.bounds.search.listener import NO_SOLUTION, Store
from turbo_fzn.bounds.thread.relaxation_thread import Beside, Bounder
from turbo_fzn.engine import root
from turbo_fzn.engine.contract import NO_WISH, Engine, Found, Inequality
from turbo_fzn.read.model import Model
from turbo_fzn.run.judge import Judge
from turbo_fzn.run.prepared import Prepared
from turbo_fzn.tnf.language import TNF, Op

RELAXATION = -1  # format: the block number of solutions from the relaxation


class _Helper(Protocol):
    """Propagation in boxes; `found` collects solutions found on the way, `rows` inequalities for learners, `wishes` is
    the last suggestion."""

    found: deque[Found]
    rows: deque[Inequality]
    wishes: np.ndarray | None
    incumbent: Found | None


class Bounding:
    """A relaxation at work beside a search, and the engine that it helps. Solutions have the values that the judge
    needs."""

    boxes: _Helper
    beside: Bounder

    def __init__(self, judge: Judge, share: float = 1):
        """Takes the judge of the search, and the `share` of the time for the relaxation, as in Bounder."""
        self.tnf = judge.prepared.tnf
        self.begin(judge, share)
        self.told = self.beside.bound
        self.best: int | None = None  # sense * objective of the best solution passed to the relaxation
        self.latest: Found | None = None  # the best solution found by the relaxation

    def begin(self, judge: Judge, share: float) -> None:
        self.boxes = boxes = EngineBoxes(judge.prepared, judge.exports)
        self.beside = Beside(lambda: relaxation_of(judge.prepared, lambda: self.beside.stopped), boxes, share)

    def enclosed(self, tnf: TNF, is_over: Callable[[], bool]) -> TNF:
        """The TNF in the box of the solutions that are wanted; called before the first engine."""
        return tnf

    def start(self) -> None:
        """Called when an engine has begun. A further engine gets bound and solutions again: the engine before took an
        undecided box for a solution, and may have rejected later solutions as worse."""
        self.told = -NO_SOLUTION
        self.best = None
        if self.latest is not None:
            self.boxes.found.appendleft(self.latest)
        self.beside.start()

    def pace(self, engine: Engine) -> None:
        """Called before an engine starts."""

    def exchange(self, engine: Engine, best: int | None, arrived: list[Found]) -> list[Found]:
        """Passes the objective of the best solution to the relaxation, and the proved bound to the engine. Returns the
        solutions found by the relaxation. `arrived` are unchecked solutions of the engine."""
        if best is not None:
            self.beside.tell(self.least_of_no_use(best))
        wishes, self.boxes.wishes = self.boxes.wishes, None
        rows = emptied(self.boxes.rows)  # first: a row may depend on a solution found before
        new = emptied(self.boxes.found)
        self.note([*arrived, *new])
        self.hand_over(engine, self.beside.bound, new, wishes, rows)
        return new

    def note(self, solutions: list[Found]) -> None:
        """Passes the best solution so far to the relaxation. It is unchecked, and only a hint where to look."""
        for found in solutions:
            if self.best is None or self.tnf.sense * (found.objective - self.best) < 0:
                self.best, self.boxes.incumbent = found.objective, found

    def hand_over(
        self, engine: Engine, bound: int, new: list[Found], wishes: np.ndarray | None, rows: list[Inequality]
    ) -> None:
        """Passes the relaxation's bound, solutions, suggestion and inequalities to the engine."""
        if bound > self.told:
            self.told = bound
            engine.raise_bound(bound)
        for found in new:
            engine.adopt(found)
            self.latest = found
        if wishes is not None:
            engine.suggest(wishes)
        for row in rows:
            engine.post(row)

    def proves(self, best: int | None) -> bool:
        return best is not None and self.told >= self.least_of_no_use(best)

    def least_of_no_use(self, best: int) -> int:
        """The least sense * objective that is no improvement on the best solution."""
        return self.tnf.sense * self.tnf.better_than(best) + 1

    def statistics(self) -> dict[str, int]:
        """The counts of the relaxation under their names in the statistics of a run."""
        return {"infeasiblePrograms": self.beside.n_rays, "infeasibleProgramsRefused": self.beside.n_refused}

    def halt(self) -> None:
        """Asks the relaxation to stop; see Bounder.stop."""
        self.beside.stop()

    def close(self) -> None:
        self.beside.stop()
        self.beside.join()


Item = TypeVar("Item")


def emptied(queue: deque[Item]) -> list[Item]:
    """The elements of a queue to which another thread may add, taken out of it."""
    return [queue.popleft() for _ in range(len(queue))]


class EngineBoxes:
    """Narrows boxes of a relaxation's columns by the rows of the TNF. `found` collects solutions found on the way, and
    `rows` inequalities for learners.

    `columns` are the columns that are variables of the TNF, `places` their numbers in it."""

    def __init__(self, prepared: Prepared, exports: np.ndarray):
        self.tnf, self.back, self.exports = prepared.tnf, prepared.reconstruction, exports
        self.implications = prepared.implications
        self.found: deque[Found] = deque()
        self.rows: deque[Inequality] = deque()
        self.wishes: np.ndarray | None = None  # in the form of Engine.suggest
        self.best: int | None = None  # sense * objective of the last solution found
        self.incumbent: Found | None = None  # the best solution, if it is newer than the last point taken
        self.propagator: root.Propagator | None = None

    def attach(self, relaxation: Relaxation) -> None:
        """Takes the relaxation; called once, before its boxes are narrowed."""
        self.columns = np.flatnonzero(relaxation.variables >= 0)
        self.places = relaxation.variables[self.columns]
        if self.back is not None:
            self.places = self.back.position[self.places]
            self.columns, self.places = self.columns[self.places >= 0], self.places[self.places >= 0]
        self.deciding = np.append(self.places, self.tnf.objective)
        truths = [(truth, *meaning) for truth, meaning in relaxation.truths.items()]
        self.truths = np.array(truths, np.int64).reshape(-1, 3)  # [k, 3]: the column of a truth x = v, column x, v
        self.learners = self.variables_of_learners(relaxation.n_columns)
        relaxation.conflicts.exclude(self.excluded_pairs())
        self.ends = relaxation.lower, relaxation.upper
        self.are_small = (relaxation.upper - relaxation.lower)[self.columns] == 1
        self.propagator = root.Propagator(self.tnf)

    def variables_of_learners(self, n_columns: int) -> np.ndarray:
        """The variable of the TNF that each column is (int64 [columns]), -1 for none. The truth of x = v is a variable
        where a row defines it."""
        learners, tnf = np.full(n_columns, -1), self.tnf
        learners[self.columns] = self.places
        fixed, equals = tnf.lower == tnf.upper, np.flatnonzero(tnf.op == Op.EQ)
        y, z = tnf.y[equals], tnf.z[equals]
        of, constant = np.where(fixed[z], y, z), np.where(fixed[z], z, y)
        chosen = fixed[constant] & np.isin(of, learners[self.truths[:, 1]])
        pairs = zip(of[chosen].tolist(), tnf.lower[constant[chosen]].tolist())
        known = dict(zip(pairs, tnf.x[equals[chosen]].tolist()))
        for truth, column, value in self.truths.tolist():
            if learners[truth] < 0:
                learners[truth] = known.get((int(learners[column]), value), -1)
        return learners

    def excluded_pairs(self) -> np.ndarray:
        """Pairs of the relaxation's literals (int64 [k, 2]) that exclude each other by the presolve's implications: a
        literal and the negation of its implied literal."""
        columns, known = np.full(self.tnf.n_vars + 1, -1), self.learners >= 0
        columns[self.learners[known]] = np.flatnonzero(known)
        variable, value = self.implications >> 1, self.implications & 1
        if self.back is not None:
            variable = self.back.position[self.back.representative[variable]]
        found = 2 * columns[variable] + (value ^ (1, 0))
        return found[(columns[variable] >= 0).all(axis=1) & (found[:, 0] >> 1 != found[:, 1] >> 1)]

    def post(self, reason: Reason, under: int, name: str) -> None:
        variables = np.fromiter(reason.entries, np.int32, len(reason.entries))
        coefficients = np.fromiter(reason.entries.values(), np.int64, len(variables))
        self.rows.append(Inequality(variables, coefficients, reason.high, under, name))

    def narrow(self, lower: np.ndarray, upper: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray] | None:
        """The bounds (int64 [columns]) of solutions in the box with sense * objective <= most; None if the box has none
        better than a solution which this call adds to `found`."""
        if self.propagator is None:
            return lower, upper
        tnf, places = self.tnf, self.places
        lower, upper = self.assume_truths(lower, upper)
        low, high = tnf.lower.copy(), tnf.upper.copy()
        low[places] = np.maximum(low[places], lower[self.columns])
        high[places] = np.minimum(high[places], upper[self.columns])
        if abs(most) < INFINITY:
            side, better = (high, min) if tnf.sense > 0 else (low, max)
            side[tnf.objective] = better(side[tnf.objective], tnf.sense * most)
        try:
            bounds = self.propagator(low, high) if np.all(low <= high) else None
            if bounds is None or self.is_solved(*bounds):
                return None
        except EngineError:  # numbers too large for a store
            self.propagator = None
            return lower, upper
        low, high = bounds
        lower[self.columns] = np.maximum(lower[self.columns], low[places])
        upper[self.columns] = np.minimum(upper[self.columns], high[places])
        return self.conclude_truths(lower, upper)

    def suggest(self, values: np.ndarray) -> None:
        """Makes a suggestion from a point (float [columns]): its truth values, for each variable with truths the value
        of the largest truth, and the resulting sums and comparisons of the TNF. Other fractional values are left
        out."""
        tnf, wishes = self.tnf, np.full(self.tnf.n_vars, NO_WISH)
        wishes[self.places[self.are_small]] = np.rint(values[self.columns[self.are_small]])
        truth, column, value = self.truths[np.argsort(values[self.truths[:, 0]], kind="stable")].T
        likeliest = np.full(len(values), NO_WISH)
        likeliest[column] = value  # the last write, of the largest truth, stays
        wished = likeliest[self.columns] != NO_WISH
        wishes[self.places[wished]] = likeliest[self.columns[wished]]
        fixed = tnf.lower == tnf.upper
        wishes[fixed] = tnf.lower[fixed]
        sums, equals, orders = (np.flatnonzero(tnf.op == op) for op in (Op.ADD, Op.EQ, Op.LEQ))
        x, y, z = (side[sums] for side in (tnf.x, tnf.y, tnf.z))
        conclude(wishes, x, y, z, np.add)
        conclude(wishes, y, x, z, np.subtract)
        conclude(wishes, z, x, y, np.subtract)
        conclude(wishes, tnf.x[equals], tnf.y[equals], tnf.z[equals], np.equal)
        conclude(wishes, tnf.x[orders], tnf.y[orders], tnf.z[orders], np.less_equal)
        self.wishes = wishes

    def take_best(self) -> int | None:
        best, self.best = self.best, None
        return best

    def is_solved(self, low: np.ndarray, high: np.ndarray) -> bool:
        """Whether a store at its fixpoint has no solution better than the solutions in `found`, to which it may add a
        solution: if all columns and the objective are fixed, and all rows hold with the other variables at their least
        values."""
        if np.any((low < high)[self.deciding]):
            return False
        is_open = np.any(low < high)
        if is_open and (self.propagator is None or self.propagator(low, low) is None):
            return False
        if not all(wide.holds(low) for wide in self.tnf.wides if wide.alone):
            return not is_open
        objective = int(low[self.tnf.objective])
        self.found.append(Found(objective, RELAXATION, "relaxation", low[self.exports]))
        self.best = self.tnf.sense * objective
        return True

    def has_point(self) -> bool:
        return self.incumbent is not None

    def take_point(self) -> Store | None:
        """The bounds of the columns (int64 [columns]) in the incumbent, or None without a new incumbent."""
        found, self.incumbent = self.incumbent, None
        if found is None or self.propagator is None:
            return None
        low, high = self.tnf.lower.copy(), self.tnf.upper.copy()
        low[self.exports] = np.maximum(low[self.exports], found.values)
        high[self.exports] = np.minimum(high[self.exports], found.values)
        try:
            bounds = self.propagator(low, high) if np.all(low <= high) else None
        except EngineError:  # numbers too large for a store
            return None
        if bounds is None:  # the incumbent violates a constraint: the judge rejects it
            return None
        lower, upper = self.ends[0].copy(), self.ends[1].copy()
        lower[self.columns], upper[self.columns] = (side[self.places] for side in bounds)
        return self.conclude_truths(lower, upper)

    def assume_truths(self, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The box with x fixed to v where the truth of "x = v" is 1."""
        lower, upper = lower.copy(), upper.copy()
        truth, column, value = self.truths.T
        true = lower[truth] == 1
        lower[column[true]] = np.maximum(lower[column[true]], value[true])
        upper[column[true]] = np.minimum(upper[column[true]], value[true])
        return lower, upper

    def conclude_truths(self, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """The box with the truth of "x = v" set to 0 where x cannot be v, and to 1 where x is v; None if it is
        empty."""
        truth, column, value = self.truths.T
        apart = (value < lower[column]) | (value > upper[column])
        upper[truth[apart]] = 0
        equal = (lower[column] == value) & (upper[column] == value)
        lower[truth[equal]] = 1
        return (lower, upper) if np.all(lower <= upper) else None


def conclude(wishes: np.ndarray, x: np.ndarray, y: np.ndarray, z: np.ndarray, operator: np.ufunc) -> None:
    """Sets wishes[x] = wishes[y] operator wishes[z] where only the wish of x is missing."""
    first, second = wishes[y], wishes[z]
    follows = (wishes[x] == NO_WISH) & (first != NO_WISH) & (second != NO_WISH)
    wishes[x[follows]] = operator(first[follows], second[follows])


def relaxation_of(prepared: Prepared, stopped: Callable[[], bool] = lambda: False) -> Relaxation | None:
    """The linear relaxation of a prepared model at its root; None if there is none or when stopped."""
    from turbo_fzn.bounds.rows.linearise import linearise

    assert prepared.model is not None
    numbers, lower, upper = root_bounds(prepared)
    return linearise(prepared.model, numbers, lower, upper, stopped)


def root_bounds(prepared: Prepared) -> tuple[dict[str, int], np.ndarray, np.ndarray]:
    """(numbers, lower, upper): the number of each name, and the bounds (int64) by number."""
    assert prepared.model is not None
    tnf, back = prepared.tnf, prepared.reconstruction
    if back is None:
        return dict(prepared.origin), tnf.lower, tnf.upper
    numbers = {name: int(back.representative[number]) for name, number in prepared.origin.items()}
    lower, upper = np.full(len(back.position), -INFINITY), np.full(len(back.position), INFINITY)
    alive = back.position >= 0
    lower[alive], upper[alive] = tnf.lower[back.position[alive]], tnf.upper[back.position[alive]]
    defined = np.zeros(len(alive), bool)  # defined by a removed row, so `value` is no constant
    for rows in back.removed:
        defined[rows.x] = True
    constant = ~alive & ~defined
    lower[constant] = upper[constant] = back.value[constant]
    declare(prepared.model, numbers, defined, lower, upper)
    return numbers, lower, upper


def declare(model: Model, numbers: dict[str, int], chosen: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> None:
    """Writes the declared bounds of the chosen variables to `lower` and `upper`."""
    for variable in model.variables.values():
        number = numbers[variable.name]
        domain = BOOLEAN if variable.kind == "bool" else variable.domain
        if chosen[number] and isinstance(domain, IntSet) and domain:
            lower[number], upper[number] = max(lower[number], domain.lower), min(upper[number], domain.upper)
