"""The ternary normal form: the language between the front end and the engines.

A TNF model has integer variables 0 … n-1 and rows 0 … m-1. A row is a propagator `x = y op z` over three
variables; a constant is a variable with one value, a Boolean is a variable in 0..1.

| op      | row                | relation                                                              |
|---------|--------------------|-----------------------------------------------------------------------|
| ADD     | x = y + z          |                                                                       |
| MUL     | x = y * z          |                                                                       |
| DIV     | x = y div z        | truncated towards 0; z ≠ 0                                            |
| MOD     | x = y mod z        | y - z * (y div z): the sign of y; z ≠ 0                               |
| MIN     | x = min(y, z)      | conjunction on Booleans                                               |
| MAX     | x = max(y, z)      | disjunction on Booleans                                               |
| EQ      | x = (y = z)        | x in 0..1                                                             |
| LEQ     | x = (y <= z)       | x in 0..1                                                             |
| ELEMENT | x = tables[z + y]  | z is no variable but an offset into `tables` (it may be negative);     |
|         |                    | every value of y's root domain is a valid index                       |

There is nothing else: no domain with holes (an ELEMENT row over a table of its values instead), no negation
(`x = (y = 0)`), no n-ary sum (a balanced tree of rows).

Bounds are 64-bit on the host. A bound of ±INFINITY (2**62) means none; finite bounds are strictly between these. A
model whose root bounds all lie within ±`narrow_bound` is searched with 32-bit stores, others with 64-bit ones.

These words have one meaning in all code, host and device: *store* (lower and upper bounds of all variables), *row* (a
propagator), *bound* (the objective's), *lower*/*upper*, *block* (one CUDA block or one CPU thread, solving one
subproblem at a time), *path* (the decisions that lead to a subproblem), *root* (the store before any decision),
*level* (a choice point on a block's stack), *watchers* (the rows to wake when a bound of a variable changes).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any, NamedTuple, TypeVar

import numpy as np

from turbo_fzn.base import floats
from turbo_fzn.base.domains import INFINITY
from turbo_fzn.base.errors import InternalError, ModelError
from turbo_fzn.tnf.tuning import TUNING
from turbo_fzn.tnf.wide import Wide, named_by, renumbered


class Op(IntEnum):
    """Operators of rows; the module's docstring defines them."""

    ADD = 0
    MUL = 1
    DIV = 2
    MOD = 3
    MIN = 4
    MAX = 5
    EQ = 6
    LEQ = 7
    ELEMENT = 8


class FloatOp(IntEnum):
    """Operators of rows over real variables (table: docs/design/floats.md). Unary ones have their operand twice."""

    FLOAT_ADD = 16  # x = y + z
    FLOAT_MUL = 17  # x = y * z
    FLOAT_LEQ = 18  # x = (y <= z)
    FLOAT_EQ = 19  # x = (y = z)
    INT2FLOAT = 20  # x = y for an integer y
    FLOAT_EXP = 21  # x = e^y
    FLOAT_SIN = 22  # x = sin(y)
    FLOAT_TAN = 23  # x = tan(y)
    FLOAT_ASIN = 24  # x = arcsin(y)
    FLOAT_ATAN = 25  # x = arctan(y)


ADD, MUL, DIV, MOD, MIN, MAX, EQ, LEQ, ELEMENT = map(int, Op)  # plain numbers are compared faster
FLOAT_ADD, FLOAT_MUL, FLOAT_LEQ, FLOAT_EQ, INT2FLOAT, FLOAT_EXP, FLOAT_SIN, FLOAT_TAN, FLOAT_ASIN, FLOAT_ATAN = map(
    int, FloatOp
)
FIRST_FLOAT = FLOAT_ADD
COMMUTATIVE = frozenset((ADD, MUL, MIN, MAX, EQ, FLOAT_ADD, FLOAT_MUL, FLOAT_EQ))


class VarChoice(IntEnum):
    """How a strategy chooses its next variable (MiniZinc reference, search annotations); ties: earliest in the list.

    The other choices of MiniZinc reduce to these: `occurrence` and the tie-break of `most_constrained` are a stable
    sort of the list by static degree (done by branching.py).
    """

    INPUT_ORDER = 0
    FIRST_FAIL = 1
    ANTI_FIRST_FAIL = 2
    SMALLEST = 3
    LARGEST = 4
    DOM_W_DEG = 5
    MAX_REGRET = 6
    ROW = 7  # of no annotation: the first open member of the row that has the fewest (covering.py)


class ValueChoice(IntEnum):
    """How a strategy splits the chosen variable's interval [l, u] into two or three, tried in the order given.

    `m` = l + (u - l) div 2, the lower middle value; `r` a random value.
    """

    MIN = 0  # {l}, rest
    MAX = 1  # {u}, rest
    MEDIAN = 2  # {m}, below, above
    SPLIT = 3  # [l, m], [m+1, u]
    REVERSE_SPLIT = 4  # [m+1, u], [l, m]
    RANDOM = 5  # {r}, below, above
    SPLIT_RANDOM = 6  # the halves, in random order
    OUT_MIN = 7  # rest, {l}
    OUT_MAX = 8  # rest, {u}
    OUT_MEDIAN = 9  # below, above, {m}
    OUT_RANDOM = 10  # below, above, {r}


@dataclass(repr=False)
class Strategy:
    """Labels all of `variables` (int32 array of TNF variables, constants and repetitions allowed).

    The variable choice compares the bounds of `measured`, one for each variable, by default the variables themselves.
    A domain with holes has two variables, the value and its index in a table: the labelled variable need not be the one
    whose size or values decide the choice.

    `gaps`, for MAX_REGRET, are the holes in the domains of `measured`: for each an int64 [k, 2] of the last value
    before a hole and the first one behind it, in order. `asked` is false for a strategy that is our default.
    `rows`, for ROW, are the sizes of the rows whose members follow each other in `variables`, and how many of each must
    be 1.
    """

    var_choice: VarChoice
    value_choice: IntEnum  # a ValueChoice, or one of the engine's own
    variables: np.ndarray
    measured: np.ndarray = None  # type: ignore[assignment]
    gaps: list[np.ndarray] | None = None
    asked: bool = True
    rows: tuple[np.ndarray, np.ndarray] | None = None

    def __post_init__(self) -> None:
        if self.measured is None:
            self.measured = self.variables
        if self.gaps is None and self.var_choice == VarChoice.MAX_REGRET:
            self.gaps = [np.empty((0, 2), np.int64)] * len(self.variables)
        if self.rows is None and self.var_choice == VarChoice.ROW:
            self.rows = np.array([len(self.variables)]), np.ones(1, np.int64)


@dataclass(repr=False)
class Output:
    """One item of a solution block: `name = value;`.

    `ranges` is None for a scalar, else the index ranges [(low, high), …] of `arrayNd`; `kind` is bool, int or float, or
    any type for an array without elements. `variables` is an int32 array in row-major order (length 1 for a scalar).
    """

    name: str
    kind: str
    ranges: list[tuple[int, int]] | None
    variables: np.ndarray


@dataclass(repr=False)
class Floats:
    """The real variables of a TNF (`mask`, bool [n]), whose bounds are codes of doubles (turbo_fzn/base/floats.py).

    A search need not make an interval smaller than `width`, and asks that a better objective be better by `step`; both
    are absolute up to 1 and relative beyond."""

    mask: np.ndarray
    width: float = 1e-7
    step: float = 5e-7


class Restarts(NamedTuple):
    """When searches restart: the kind is a word of RESTARTS, `scale` counts failures, and `base` is the factor of a
    geometric sequence."""

    kind: str
    scale: int = 250
    base: float = 1.5


RESTARTS = ("none", "constant", "linear", "luby", "geometric")


@dataclass(eq=False, repr=False)
class TNF:
    """Arrays of a TNF model; see the module's docstring for the meaning.

    op, x, y, z: int32 [m]; lower, upper: int64 [n]; tables: int64 [t].
    `strategies` in order, then any variable still unfixed is labelled by a default. `objective` is a variable or
    -1; `sense` is 1 to minimise, -1 to maximise, 0 to satisfy. `warm_start` (variables, values) is a hint for the
    search, or None; `stated` (variables, percentages) is the neighbourhood that the model states, or None: with
    such a probability each is fixed; `restarts` are those that the model asks for, or None. `infeasible` is set
    when the front end has already found a contradiction. `floats` is None where every variable is an integer.
    `wides` (wide.py) are implied by the rows, but for those that stand alone; `inner` (bool [n], or None) are
    variables that only rows of constraints name for which there are wide rows. `arranged` (arrange.Arranged) says
    what a block's store holds, None for all variables. `leaders`, pairs (variable, coefficient), are sums of at least 0
    in one solution of each class of symmetric ones, for learners that log (proof/leaders.py).
    """

    op: np.ndarray
    x: np.ndarray
    y: np.ndarray
    z: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    tables: np.ndarray
    strategies: list[Strategy] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    objective: int = -1
    sense: int = 0
    warm_start: tuple[np.ndarray, np.ndarray] | None = None
    stated: tuple[np.ndarray, np.ndarray] | None = None
    restarts: Restarts | None = None
    infeasible: bool = False
    floats: Floats | None = None
    wides: list[Wide] = field(default_factory=list)
    inner: np.ndarray | None = None
    arranged: Any = None
    leaders: list[list[tuple[int, int]]] = field(default_factory=list)

    @property
    def n_vars(self) -> int:
        return len(self.lower)

    @property
    def n_rows(self) -> int:
        return len(self.op)

    @property
    def annotated(self) -> bool:
        """Whether the model has a search annotation."""
        return any(strategy.asked for strategy in self.strategies)

    @property
    def branches_on_rows(self) -> bool:
        """Whether the search has rows to branch on."""
        return any(strategy.rows is not None for strategy in self.strategies)

    @property
    def needs_learners(self) -> bool:
        """Whether wide rows say more than the rows do, so that only a learner searches for solutions."""
        return any(wide.alone for wide in self.wides)

    def named(self, outputs: bool = True) -> np.ndarray:
        """The variables (int64, some repeated) that search, objective or a wide row names, and the `outputs`."""
        lists = [variables for one in self.strategies for variables in (one.variables, one.measured)]
        lists += [one.variables for one in self.outputs] if outputs else []
        lists += [one[0] for one in (self.warm_start, self.stated) if one is not None]
        lists += [np.array([self.objective])] if self.objective >= 0 else []
        return np.concatenate([named_by(self.wides), *lists]).astype(np.int64)

    def names_by(self, number: np.ndarray) -> dict[str, Any]:
        """The fields that name variables, but for rows, with a new `number` (int [n]) for each, by their names."""
        new, warm, stated = number.astype(np.int32), self.warm_start, self.stated
        return {
            "strategies": [replace(s, variables=new[s.variables], measured=new[s.measured]) for s in self.strategies],
            "outputs": [replace(one, variables=new[one.variables]) for one in self.outputs],
            "objective": int(new[self.objective]) if self.objective >= 0 else -1,
            "warm_start": None if warm is None else (new[warm[0]], warm[1]),
            "stated": None if stated is None else (new[stated[0]], stated[1]),
            "wides": renumbered(self.wides, number),
            "leaders": [[(int(new[v]), a) for v, a in one] for one in self.leaders],
        }

    def require_learners(self, n_learners: int, n_blocks: int) -> None:
        """Raises InternalError where a block would search that does not know every constraint."""
        if self.needs_learners and n_learners < n_blocks:
            raise InternalError("a block that does not learn would not know all constraints")

    @property
    def has_real_objective(self) -> bool:
        return self.floats is not None and self.sense != 0 and bool(self.floats.mask[self.objective])

    @property
    def has_unbounded_objective(self) -> bool:
        """Whether the objective has no bound in its good direction at the root."""
        if self.infeasible or self.sense == 0:
            return False
        end = self.lower[self.objective] if self.sense > 0 else -self.upper[self.objective]
        return bool(end <= -INFINITY)

    def better_than(self, best: int) -> int:
        """The worst objective that is an improvement on `best`."""
        if not self.has_real_objective:
            return best - self.sense
        value = floats.number(best)
        step = self.floats.step * max(1.0, abs(value))  # type: ignore[union-attr]
        return floats.below(value - step) if self.sense > 0 else floats.above(value + step)

    def is_narrow(self) -> bool:
        """Whether 32-bit stores hold every bound."""
        if self.floats is not None:
            return False
        return bool(np.all(self.lower >= -TUNING.narrow_bound) and np.all(self.upper <= TUNING.narrow_bound)) and bool(
            np.all(np.abs(self.tables) <= TUNING.narrow_bound)
        )

    def check(self) -> None:
        """Raises BrokenRule where the arrays break a rule of the language."""
        n = self.n_vars
        if not (len(self.x) == len(self.y) == len(self.z) == self.n_rows and len(self.upper) == n):
            raise BrokenRule("columns of different lengths")
        if self.objective >= n or (self.objective >= 0) != (self.sense != 0):
            raise BrokenRule("the objective is no variable")
        lists = [one.variables for one in self.strategies] + [one.variables for one in self.outputs]
        for variables in [*lists, *(strategy.measured for strategy in self.strategies), named_by(self.wides)]:
            if not np.all((variables >= 0) & (variables < n)):
                raise BrokenRule("a strategy, an output or a wide row names a variable that does not exist")
        refuse("var", (self.lower > self.upper) & (not self.infeasible), "the domain is empty")
        refuse("var", (self.lower < -INFINITY) | (self.upper > INFINITY), "a bound is out of range")
        self._check_rows()

    def _check_rows(self) -> None:
        """Raises BrokenRule for a row with an unknown operator or variable, a truth value outside of 0..1, or an index
        outside of its table."""
        n, element = self.n_vars, self.op == Op.ELEMENT
        known = (self.op >= 0) & (self.op <= Op.ELEMENT)
        if self.floats is not None:
            known |= (self.op >= FIRST_FLOAT) & (self.op <= max(FloatOp))
        refuse("row", ~known, "there is no such operator")
        named = np.stack([self.x, self.y, np.where(element, 0, self.z)])
        refuse("row", np.any((named < 0) | (named >= n), axis=0), "there is no such variable")
        truth = np.isin(self.op, (Op.EQ, Op.LEQ, FloatOp.FLOAT_LEQ, FloatOp.FLOAT_EQ))
        refuse("row", truth & ((self.lower[self.x] < 0) | (self.upper[self.x] > 1)), "the truth value is not in 0..1")
        first, last = self.z + self.lower[self.y], self.z + self.upper[self.y]
        outside = element & ((first < 0) | (last >= len(self.tables)))
        refuse("row", outside & (not self.infeasible), "an index is outside of the table")


class BrokenRule(ModelError):
    """A rule of the language is broken: by variable or row `number`, where `kind` is "var" or "row"."""

    def __init__(self, message: str, kind: str | None = None, number: int = 0):
        super().__init__(message)
        self.kind, self.number = kind, number


def refuse(kind: str, wrong: np.ndarray, message: str) -> None:
    """Raises BrokenRule for the first variable or row that is `wrong` (bool, one for each)."""
    if wrong.any():
        raise BrokenRule(message, kind, int(wrong.argmax()))


N = TypeVar("N", int, float, np.ndarray)


def truncated(y: N, z: N) -> N:
    """y div z truncated towards 0, as DIV defines it, for z ≠ 0: of numbers, or of arrays element by element."""
    return abs(y) // abs(z) * (1 - 2 * ((y < 0) != (z < 0)))
