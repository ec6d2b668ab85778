"""Random models in CPMpy, through the solver class: against CPMpy's own evaluation of every assignment, and OR-Tools.

Constraints are expressions of depth 3 over a few small variables, of all that CPMpy has: operators, functions and
global constraints inside each other. What is compared is the set of all solutions, or of the optimal ones, and one call
under assumptions. Where the class and enumeration differ, but OR-Tools through CPMpy agrees with the class, the fault
is before both, in what CPMpy makes of the model.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

import cpmpy as cp
from cpmpy.exceptions import CPMpyException
from cpmpy.expressions.core import BoolVal, Expression, Operator
from cpmpy.expressions.utils import argval
from cpmpy.expressions.variables import boolvar, intvar

from fuzz.judge import Verdict
from turbo_fzn.base.errors import TurboError
from turbo_fzn.cpmpy import CPM_turbo

DEPTH = 3
LARGEST = 10**5  # value of an expression
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
Assignment = tuple[int, ...]


class Drawer:
    """Draws variables, and expressions over them."""

    def __init__(self, random: Random):
        self.random = random
        self.numbers = [self._integer(f"x{place}") for place in range(random.randint(2, 3))]
        self.truths = [boolvar(name=f"b{place}") for place in range(random.randint(1, 2))]
        self.variables = [*self.numbers, *self.truths]

    def _integer(self, name: str) -> Any:
        low = self.random.choice((-3, -1, 0, 0, 1, 2))
        return intvar(low, low + self.random.randint(0, 4), name=name)

    def number(self, depth: int) -> Any:
        """A numeric expression; a variable where a drawn one would be too large."""
        if depth > 0 and self.random.random() < 0.9:
            try:
                drawn = self.random.choice(NUMBERS)(self, depth - 1)
                if not isinstance(drawn, Expression) or max(map(abs, drawn.get_bounds())) <= LARGEST:
                    return drawn
            except ZeroDivisionError:  # the bounds of a division by what is 0 alone
                pass
        return self.random.choice(self.variables if self.random.random() < 0.3 else self.numbers)

    def some(self, depth: int, least: int = 1) -> list[Any]:
        """Numeric expressions, of which the first is no constant."""
        rest = [self.number_or_constant(depth) for _ in range(self.random.randint(least, 3) - 1)]
        return [self.number(0), *rest] if self.random.random() < 0.5 else [self.number(depth), *rest]

    def expressions(self, depth: int) -> list[Any]:
        """Numeric expressions, none of them a constant."""
        return [self.number(depth) for _ in range(self.random.randint(1, 3))]

    def number_or_constant(self, depth: int) -> Any:
        return self.random.randint(-2, 4) if self.random.random() < 0.15 else self.number(depth)

    def constants(self) -> list[int]:
        return [self.random.randint(-1, 4) for _ in range(self.random.randint(1, 3))]

    def truth(self, depth: int) -> Any:
        """A Boolean expression."""
        if depth > 0 and self.random.random() < 0.95:
            return self.random.choice(TRUTHS)(self, depth - 1)
        if self.random.random() < 0.05:
            return BoolVal(self.random.random() < 0.5)
        variable = self.random.choice(self.truths)
        return ~variable if self.random.random() < 0.4 else variable

    def some_truths(self, depth: int) -> list[Any]:
        return [self.truth(depth) for _ in range(self.random.randint(1, 3))]


def _comparison(draw: Drawer, depth: int) -> Any:
    left, right = draw.number(depth), draw.number_or_constant(depth)
    pair = (left, right) if draw.random.random() < 0.8 else (right, left)
    return cp.expressions.core.Comparison(draw.random.choice(COMPARISONS), *pair)


def _weighted(draw: Drawer, depth: int) -> Any:
    parts = draw.some(depth)
    return Operator("wsum", ([draw.random.randint(-3, 3) for _ in parts], parts))


def _table(draw: Drawer, depth: int, kind: Any, stars: bool = False) -> Any:
    columns = draw.some(depth)
    cells = [-1, 0, 0, 1, 1, 2, 3, *("*" * (2 * stars))]
    return kind(columns, [[draw.random.choice(cells) for _ in columns] for _ in range(draw.random.randint(1, 4))])


def _regular(draw: Drawer, depth: int) -> Any:
    states = range(draw.random.randint(1, 3))
    steps = {(draw.random.choice(states), draw.random.randint(-1, 3)): draw.random.choice(states) for _ in range(6)}
    accepting = draw.random.sample(states, draw.random.randint(1, len(states)))
    start = next(iter(steps))[0]
    used = {start, *steps.values(), *(state for state, _ in steps)}
    edges = [(source, letter, target) for (source, letter), target in steps.items()]
    return cp.Regular(draw.expressions(depth), edges, start, [state for state in accepting if state in used] or [start])


def _diagram(draw: Drawer, depth: int) -> Any:
    """Two nodes on each level between root and sink, each with some ways on."""
    columns = draw.expressions(depth)
    levels = [["r"], *([f"{level}a", f"{level}b"] for level in range(1, len(columns))), ["t"]]
    edges = [
        (node, value, draw.random.choice(below))
        for above, below in itertools.pairwise(levels)
        for node in above
        for value in sorted(draw.random.sample(range(-1, 4), draw.random.randint(1, 3)))
    ]
    return cp.MDD(columns, edges)


def _tasks(draw: Drawer, depth: int) -> tuple[list[Any], list[Any], list[Any]]:
    starts = draw.some(depth, 2)
    sizes = [draw.number_or_constant(0) if draw.random.random() < 0.3 else draw.random.randint(0, 3) for _ in starts]
    ends = [draw.number(0) if draw.random.random() < 0.5 else one + size for one, size in zip(starts, sizes)]
    return starts, sizes, ends


def _cumulative(draw: Drawer, depth: int) -> Any:
    starts, sizes, ends = _tasks(draw, depth)
    demand = [draw.number_or_constant(0) if draw.random.random() < 0.3 else draw.random.randint(0, 2) for _ in starts]
    given = ends if draw.random.random() < 0.4 else None
    return cp.Cumulative(starts, sizes, given, demand, draw.number_or_constant(0))


def _no_overlap(draw: Drawer, depth: int) -> Any:
    starts, sizes, ends = _tasks(draw, depth)
    return cp.NoOverlap(starts, sizes, ends if draw.random.random() < 0.4 else None)


def _optional(draw: Drawer, depth: int) -> Any:
    starts, sizes, _ = _tasks(draw, depth)
    present = [draw.truth(0) for _ in starts]
    if draw.random.random() < 0.5:
        return cp.NoOverlapOptional(starts, sizes, None, present)
    demand = [draw.random.randint(0, 2) for _ in starts]
    return cp.CumulativeOptional(starts, sizes, None, demand, draw.number_or_constant(0), present)


def _reservoir(draw: Drawer, depth: int) -> Any:
    starts = draw.some(depth)
    demand = [draw.random.randint(-2, 2) for _ in starts]
    limits = -draw.random.randint(0, 2), draw.random.randint(0, 3)
    if draw.random.random() < 0.5:
        return cp.Reservoir(starts, demand, *limits)
    return cp.ReservoirOptional(starts, demand, *limits, [draw.truth(0) for _ in starts])


def _cardinality(draw: Drawer, depth: int) -> Any:
    values = draw.random.sample(range(-1, 4), draw.random.randint(1, 3))
    counts = [draw.number_or_constant(0) for _ in values]
    return cp.GlobalCardinalityCount(draw.some(depth), values, counts, closed=draw.random.random() < 0.4)


def _pair_of_lists(draw: Drawer, depth: int, kind: Any) -> Any:
    first = draw.some(depth)
    return kind(first, [draw.number_or_constant(0) for _ in first])


def _chain(draw: Drawer, kind: Any) -> Any:
    return kind([[draw.number(0), draw.number_or_constant(0)] for _ in range(2)])


def _element(draw: Drawer, depth: int) -> Any:
    index = draw.number(depth)
    return cp.Element(draw.some(depth), draw.random.choice(draw.numbers) if index.is_bool() else index)


def _cell(draw: Drawer, depth: int) -> Any:
    cells = cp.cpm_array([[draw.number(0), draw.number_or_constant(0)], [draw.number_or_constant(0), draw.number(0)]])
    return cp.NDElement(cells, [draw.random.choice(draw.numbers), draw.random.choice(draw.numbers)])


NUMBERS: Sequence[Callable[[Drawer, int], Any]] = (
    lambda draw, depth: Operator("sum", draw.some(depth)),
    _weighted,
    lambda draw, depth: Operator("sub", (draw.number(depth), draw.number_or_constant(depth))),
    lambda draw, depth: Operator("-", (draw.number(depth),)),
    lambda draw, depth: cp.Abs(draw.number(depth)),
    lambda draw, depth: cp.Multiplication(draw.number_or_constant(depth), draw.number(depth)),
    lambda draw, depth: cp.Division(draw.number(depth), draw.number_or_constant(depth)),
    lambda draw, depth: cp.Division(draw.number_or_constant(depth), draw.number(depth)),
    lambda draw, depth: cp.Modulo(draw.number(depth), draw.number_or_constant(depth)),
    lambda draw, depth: cp.Power(draw.number(depth), draw.random.randint(0, 3)),
    lambda draw, depth: cp.Minimum(draw.some(depth)),
    lambda draw, depth: cp.Maximum(draw.some(depth)),
    _element,
    _cell,
    lambda draw, depth: cp.Count(draw.some(depth), draw.number_or_constant(depth)),
    lambda draw, depth: cp.Among(draw.some(depth), draw.constants()),
    lambda draw, depth: cp.NValue(draw.some(depth)),
    lambda draw, depth: cp.NValueExcept(draw.some(depth), draw.random.randint(0, 2)),
    lambda draw, depth: draw.truth(depth),
)
TRUTHS: Sequence[Callable[[Drawer, int], Any]] = (
    *(_comparison,) * 6,
    *(lambda draw, depth: Operator("and", draw.some_truths(depth)),) * 2,
    *(lambda draw, depth: Operator("or", draw.some_truths(depth)),) * 2,
    *(lambda draw, depth: draw.truth(depth).implies(draw.truth(depth)),) * 2,
    *(lambda draw, depth: ~draw.truth(depth),) * 2,
    *(lambda draw, depth: draw.truth(depth) == draw.truth(depth),) * 2,
    lambda draw, depth: draw.truth(depth) != draw.truth(depth),
    lambda draw, depth: cp.Xor(draw.some_truths(depth)),
    lambda draw, depth: cp.IfThenElse(draw.truth(depth), draw.truth(depth), draw.truth(depth)),
    lambda draw, depth: cp.AllDifferent(draw.some(depth)),
    lambda draw, depth: cp.AllDifferentExcept0(draw.some(depth)),
    lambda draw, depth: cp.AllDifferentExceptN(draw.some(depth), draw.constants()),
    lambda draw, depth: cp.AllEqual(draw.some(depth)),
    lambda draw, depth: cp.AllEqualExceptN(draw.some(depth), draw.constants()),
    lambda draw, depth: cp.Circuit(draw.some(depth, 2)),
    lambda draw, depth: _pair_of_lists(draw, depth, cp.Inverse),
    lambda draw, depth: _table(draw, depth, cp.Table),
    lambda draw, depth: _table(draw, depth, cp.NegativeTable),
    lambda draw, depth: _table(draw, depth, cp.ShortTable, stars=True),
    _regular,
    _diagram,
    _cumulative,
    _no_overlap,
    _optional,
    _reservoir,
    _cardinality,
    lambda draw, depth: cp.InDomain(draw.number(depth), draw.constants()),
    lambda draw, depth: cp.Precedence(draw.some(depth), draw.constants()),
    lambda draw, depth: cp.Increasing(draw.some(depth)),
    lambda draw, depth: cp.Decreasing(draw.some(depth)),
    lambda draw, depth: cp.IncreasingStrict(draw.some(depth)),
    lambda draw, depth: cp.DecreasingStrict(draw.some(depth)),
    lambda draw, depth: _pair_of_lists(draw, depth, cp.LexLess),
    lambda draw, depth: _pair_of_lists(draw, depth, cp.LexLessEq),
    lambda draw, depth: _chain(draw, cp.LexChainLess),
    lambda draw, depth: _chain(draw, cp.LexChainLessEq),
)


class Drawn:
    """A model: its variables, constraints, assumed literals, and the objective, None to satisfy."""

    def __init__(self, random: Random):
        draw = Drawer(random)
        self.variables = draw.variables
        self.constraints = [draw.truth(DEPTH) for _ in range(random.choice((1, 1, 2)))]
        self.constraints.append(cp.sum(self.variables) >= -100)  # names all of them
        self.objective = draw.number(2) if random.random() < 0.3 else None
        self.minimize = random.random() < 0.5
        assumed = draw.truths if random.random() < 0.4 else []
        self.assumed = [~one if random.random() < 0.5 else one for one in assumed]
        self.settings = {"threads": random.choice((1, 2)), "free_search": random.random() < 0.3}

    def __str__(self) -> str:
        domains = [f"{one.name} in {one.lb}..{one.ub}" for one in self.variables]
        goal = "" if self.objective is None else f"\n{'minimize' if self.minimize else 'maximize'} {self.objective}"
        return "\n".join([", ".join(domains), *map(str, self.constraints)]) + goal

    def solver(self, kind: Any, optimal: bool = True) -> Any:
        model = cp.Model(self.constraints)
        if self.objective is not None and optimal:
            (model.minimize if self.minimize else model.maximize)(self.objective)
        return kind(model)

    def now(self) -> Assignment:
        return tuple(int(one.value()) for one in self.variables)

    def solutions(self) -> Iterator[tuple[Assignment, int]]:
        """All solutions by enumeration, each with its objective; where that is undefined, there is none."""
        for values in itertools.product(*(range(one.lb, one.ub + 1) for one in self.variables)):
            for one, value in zip(self.variables, values):
                one._value = bool(value) if one.is_bool() else value
            if all(map(argval, self.constraints)):
                try:
                    yield values, 0 if self.objective is None else int(self.objective.value())
                except CPMpyException:
                    pass

    def expected(self, optimal: bool = True) -> set[Assignment]:
        """All solutions, or, where there is an objective, the optimal ones."""
        found = list(self.solutions())
        best = (min if self.minimize else max)((value for _, value in found), default=0)
        return {values for values, value in found if self.objective is None or not optimal or value == best}


def _all_of(drawn: Drawn, kind: Any, optimal: bool = True, **settings: Any) -> set[Assignment] | str:
    """The solutions that a solver finds, or the error that it raises."""
    found: list[Assignment] = []
    try:
        solver = drawn.solver(kind, optimal)
        count = solver.solveAll(display=lambda: found.append(drawn.now()), **settings)
    except (CPMpyException, TurboError, NotImplementedError, AssertionError, ValueError, TypeError) as error:
        return f"{type(error).__name__}: {error}"
    if kind is CPM_turbo and (count != len(found) or len(set(found)) != len(found)):
        return f"{count} solutions of which {len(found)} are shown, {len(set(found))} of them different"
    if kind is CPM_turbo and solver.status().exitstatus.name != ("OPTIMAL" if found else "UNSATISFIABLE"):
        return f"{len(found)} solutions and the status {solver.status().exitstatus}"
    return set(found)


def _fault_of_assumptions(drawn: Drawn, expected: set[Assignment]) -> str:
    """A call under assumptions that answers wrongly, or a core that does not refute."""
    solver = drawn.solver(CPM_turbo)
    wanted = {one.name: not isinstance(one, cp.expressions.variables.NegBoolView) for one in drawn.assumed}

    def fits(values: Assignment, names: set[str]) -> bool:
        by_name = {one.name: value for one, value in zip(drawn.variables, values)}
        return all(by_name[name.removeprefix("~")] == wanted[name] for name in names)

    every = {values for values, _ in drawn.solutions()} if drawn.objective is not None else expected
    possible = any(fits(values, {*wanted}) for values in every)
    if solver.solve(assumptions=drawn.assumed, **drawn.settings) != possible:
        return f"under {drawn.assumed} it says {not possible}"
    if possible:
        return "" if drawn.now() in every and fits(drawn.now(), {*wanted}) else f"under {drawn.assumed}: {drawn.now()}"
    core = {one.name for one in solver.get_core()}
    return f"the core {core} does not refute" if any(fits(values, core) for values in every) else ""


def _is_before_both(drawn: Drawn) -> bool:
    """Whether OR-Tools, too, gets from CPMpy what the class gets: then the difference is not of the class."""
    ours, theirs = (_all_of(drawn, kind, optimal=False) for kind in (CPM_turbo, cp.SolverLookup.lookup("ortools")))
    if ours != drawn.expected(optimal=False):
        return ours == theirs and "turbo" not in str(ours)
    values = set()
    for kind in (CPM_turbo, cp.SolverLookup.lookup("ortools")):
        solver = drawn.solver(kind)
        values.add(solver.solve() and argval(drawn.objective))
    return len(values) == 1


def try_cpmpy(random: Random) -> tuple[Verdict, str]:
    """The verdict on a random model, and its text."""
    drawn = Drawn(random)
    expected, ours = drawn.expected(), _all_of(drawn, CPM_turbo, **drawn.settings)
    if ours != expected:
        if _is_before_both(drawn):
            return Verdict("of CPMpy"), str(drawn)
        if isinstance(ours, str):
            return Verdict("wrong", ours), str(drawn)
        lost, false = sorted(expected - ours)[:3], sorted(ours - expected)[:3]
        return Verdict("wrong", f"{len(expected)} solutions, found {len(ours)}: lost {lost}, false {false}"), str(drawn)
    if drawn.assumed and (fault := _fault_of_assumptions(drawn, expected)):
        return Verdict("wrong", fault), str(drawn)
    return Verdict("right"), str(drawn)
