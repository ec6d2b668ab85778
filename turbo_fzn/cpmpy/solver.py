"""The class that CPMpy calls: a model by its transformations, and runs, statuses and values as CPMpy has them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby
from math import inf
from typing import Any

from cpmpy import SolverLookup
from cpmpy.exceptions import NotSupportedError
from cpmpy.expressions.core import BoolVal
from cpmpy.expressions.globalconstraints import DirectConstraint, GlobalConstraint
from cpmpy.expressions.globalfunctions import FloatSum
from cpmpy.expressions.utils import flatlist
from cpmpy.expressions.variables import NegBoolView, _BoolVarImpl, _NumVarImpl
from cpmpy.solvers.solver_interface import ExitStatus, SolverInterface, SolverStatus
from cpmpy.transformations.comparison import only_numexpr_equality
from cpmpy.transformations.decompose_global import decompose_in_tree, decompose_objective
from cpmpy.transformations.flatten_model import flatten_constraint, get_or_make_var
from cpmpy.transformations.get_variables import get_variables
from cpmpy.transformations.negation import push_down_negation, push_down_negation_objective
from cpmpy.transformations.normalize import toplevel_list
from cpmpy.transformations.reification import reify_rewrite
from cpmpy.transformations.safening import no_partial_functions, safen_objective

import turbo_fzn
from turbo_fzn import Builder, Model, Result
from turbo_fzn.base.errors import UnsupportedError
from turbo_fzn.cpmpy.facts import Facts, refused
from turbo_fzn.cpmpy.flat import LINEAR, post
from turbo_fzn.cpmpy.globals import CONSTRAINTS, FUNCTIONS
from turbo_fzn.cpmpy.weights import scaled
from turbo_fzn.explain.quickxplain import Members, minimal
from turbo_fzn.interface.building import Var

NAME = "turbo"
COMPARED = LINEAR | {"count"}  # expressions that may be compared by other operators than ==
PARTIAL = frozenset({"div", "mod", "element", "nd_element"})  # functions
Found = tuple[dict[str, Any], float | None]  # a solution, and its objective


class CPM_turbo(SolverInterface):  # as CPMpy calls its own
    """See SolverInterface of CPMpy. `solve` and `solveAll` also take the settings of `turbo_fzn.solve_text`."""

    supported_global_constraints = frozenset({*CONSTRAINTS, *FUNCTIONS, "count"})
    supported_reified_global_constraints = frozenset(CONSTRAINTS)

    @staticmethod
    def supported() -> bool:
        return True

    @classmethod
    def version(cls) -> str:
        return turbo_fzn.__version__

    def __init__(self, cpm_model: Any = None, subsolver: str | None = None):
        if subsolver is not None:
            raise NotSupportedError(f"turbo has no subsolver {subsolver}")
        self.facts = Facts()
        self._asked_often: Model | None = None  # prepared for many calls
        self._size = (0, 0)  # size of the model when it was prepared
        self._weighted: FloatSum | None = None  # an objective with fractions, as the user has given it
        self._sense = ""
        self._hint: dict[str, Any] = {}
        self._last: tuple[list[Any], dict[str, Any]] = ([], {})  # the assumptions and settings of the last call
        super().__init__(name=NAME, cpm_model=cpm_model)

    @property
    def native_model(self) -> Builder:
        return self.facts.builder

    def has_objective(self) -> bool:
        return bool(self._sense)

    # ---- the model

    def transform(self, cpm_expr: Any) -> list[Any]:
        """Flat constraints, by CPMpy's transformations."""
        constraints = push_down_negation(self._made_total(toplevel_list(cpm_expr)))
        constraints = decompose_in_tree(
            constraints,
            supported=self.supported_global_constraints,
            supported_reified=self.supported_reified_global_constraints,
            csemap=self._csemap,
        )
        constraints = flatten_constraint(constraints, csemap=self._csemap)
        constraints = reify_rewrite(constraints, supported=COMPARED | CONSTRAINTS.keys(), csemap=self._csemap)
        return only_numexpr_equality(constraints, supported=COMPARED, csemap=self._csemap)

    def _made_total(self, constraints: list[Any]) -> list[Any]:
        """The constraints with partial functions made total. A predicate is false where its function is undefined, so
        that only functions inside Boolean expressions matter, and in what is decomposed, which may leave one out."""
        made: list[Any] = []
        for decomposed, some in groupby(constraints, self._is_decomposed):
            made += no_partial_functions(list(some), safen_toplevel=PARTIAL if decomposed else frozenset())
        return made

    def _is_decomposed(self, constraint: Any) -> bool:
        return isinstance(constraint, GlobalConstraint) and constraint.name not in self.supported_global_constraints

    def add(self, cpm_expr: Any) -> CPM_turbo:
        get_variables(cpm_expr, collect=self.user_vars)
        self._state(cpm_expr)
        return self

    __add__ = add

    def _state(self, cpm_expr: Any) -> None:
        """Adds constraints without declaring their variables as user variables."""
        for constraint in self.transform(cpm_expr):
            if isinstance(constraint, DirectConstraint):
                constraint.callSolver(self, self.native_model)
            else:
                post(self.facts, constraint)

    def objective(self, expr: Any, minimize: bool) -> None:
        """Sets the objective. Float weights are scaled to integers; the value is then the value of the FloatSum, not
        `objective_value`."""
        self._weighted = expr if isinstance(expr, FloatSum) else None
        if isinstance(expr, FloatSum):
            self.user_vars.update(expr.components(allow_negbool=False)[1])
            expr = scaled(expr)
        get_variables(expr, collect=self.user_vars)
        expr, safe = safen_objective(expr)
        expr, parts = decompose_objective(
            push_down_negation_objective(expr),
            supported=self.supported_global_constraints,
            supported_reified=self.supported_reified_global_constraints,
            csemap=self._csemap,
        )
        variable, flat = get_or_make_var(expr)  # not by the map of known expressions: flat is transformed once more
        self._state([*safe, *parts, *flat])
        self._sense = "minimize" if minimize else "maximize"
        number = self.facts.number(variable)
        if isinstance(number, int):
            number = self.facts.builder.ints(self.facts.name("objective"), number, number)
        getattr(self.native_model, self._sense)(number)
        self._asked_often = None

    def solver_var(self, cpm_var: Any) -> Any:
        """The variable of the builder, or a number or truth value."""
        if not isinstance(cpm_var, _NumVarImpl):
            return bool(cpm_var) if isinstance(cpm_var, (bool, BoolVal)) else self.facts.number(cpm_var)
        self._varmap = self.facts.known
        return self.facts.variable(cpm_var)

    def solution_hint(self, cpm_vars: Iterable[Any], vals: Iterable[Any]) -> None:
        """Sets values to try first, instead of the values of an earlier call."""
        variables, values = flatlist(cpm_vars), flatlist(vals)
        if len(variables) != len(values):
            raise ValueError(f"solution_hint: {len(variables)} variables, but {len(values)} values")
        self._hint = {self.solver_var(one).name: value for one, value in zip(variables, values)}

    # ---- solving

    def solve(
        self, time_limit: float | None = None, assumptions: Any = None, display: Any = None, **settings: Any
    ) -> bool:
        """Whether a solution was found; `time_limit` in seconds. Raises ValueError if it is not positive, and
        NotSupportedError for assumptions that are no Boolean variables."""
        settings |= _milliseconds(time_limit)
        self._last = ([] if assumptions is None else list(assumptions)), dict(settings)
        if display is not None:
            settings["on_solution"] = lambda values, objective: self._show(values, display)
        result = self._ask(self._last[0], **settings)
        self._take(result.solutions[-1] if result.solutions else None)
        self._note(result, result.status == "OPTIMAL_SOLUTION")
        value = result.objective if self._weighted is None else None
        self.objective_value_ = None if value is None else int(value)
        return self._solve_return(self.cpm_status)

    def solveAll(self, display: Any = None, time_limit: float | None = None, solution_limit: int | None = None,
                 call_from_model: bool = False, **settings: Any) -> int:  # fmt: skip
        """The number of solutions in the user's variables; with an objective, of the optimal solutions, or at the time
        limit of the best solutions found."""
        settings |= _milliseconds(time_limit)
        settings["n_optimal" if self._sense else "n_solutions"] = solution_limit or 0
        found: list[Found] = []

        def hear(values: dict[str, Any], objective: float | None) -> None:
            if found and found[-1][1] != objective:
                found.clear()
            found.append((values, objective))
            if not self._sense and display is not None:
                self._show(values, display)

        names = [variable.name for variable in self._shown()]
        result = self._ask([], project=",".join(names), on_solution=hear, **settings)
        self._take(found[-1][0] if found else None)
        for values, _ in found if self._sense and display is not None else ():
            self._show(values, display)
        self._note(result, result.complete and len(found) != solution_limit)
        return len(found)

    def get_core(self) -> list[Any]:
        """A minimal part of the assumptions of the last call, with which there is no solution. Raises ValueError if
        that call has not proved that there is none."""
        assumed, settings = self._last
        if self.cpm_status.exitstatus != ExitStatus.UNSATISFIABLE:
            raise ValueError("get_core: the last call of solve has not shown that there is no solution")

        def refutes(members: Members) -> bool:
            return self._ask([assumed[member] for member in members], **settings).status == "UNSATISFIABLE"

        return [assumed[member] for member in sorted(minimal(range(len(assumed)), refutes))]

    def _ask(self, assumptions: list[Any], **settings: Any) -> Result:
        """Solves the current model. Raises NotSupportedError if the solver refuses it."""
        assume: dict[str, Any] = {}
        for one in assumptions:
            if not isinstance(one, (_BoolVarImpl, BoolVal, bool)):
                raise refused(one)
            is_true = not isinstance(one, NegBoolView)
            literal = self.facts.literal(one._bv if isinstance(one, NegBoolView) else one)
            if (literal if isinstance(literal, bool) else assume.setdefault(literal.name, is_true)) != is_true:
                return Result("UNSATISFIABLE", [], None, {})
        self.native_model.output(self._shown())
        settings = {"arch": "cpu", **settings}
        try:
            if not assume and not self._hint:
                return self.native_model.solve(**settings)
            if self._asked_often is None or self._size != self.native_model.size:
                self._asked_often, self._size = self.native_model.model(arch=settings["arch"]), self.native_model.size
            return self._asked_often.solve(assume, hint=self._hint, **settings)
        except UnsupportedError as error:
            raise NotSupportedError(f"turbo: {error}") from error

    def _shown(self) -> list[Var]:
        """The variables of the user, by their names, so that nothing depends on the order of a set."""
        return [self.facts.variable(one) for one in sorted(self.user_vars, key=lambda one: one.name)]

    def _note(self, result: Result, is_complete: bool) -> None:
        self.cpm_status = SolverStatus(self.name)
        self.cpm_status.solve_time = result.statistics.get("solveTime", 0.0)
        if result.status == "UNSATISFIABLE":
            self.cpm_status.exitstatus = ExitStatus.UNSATISFIABLE
        elif result.status in ("UNKNOWN", "UNBOUNDED"):
            self.cpm_status.exitstatus = ExitStatus.UNKNOWN
        else:
            self.cpm_status.exitstatus = ExitStatus.OPTIMAL if is_complete else ExitStatus.FEASIBLE

    def _take(self, values: dict[str, Any] | None) -> None:
        """Gives the user's variables the values of a solution, or none."""
        for one in self.user_vars:
            one._value = None if values is None else values[self.facts.known[one.name].name]

    def _show(self, values: dict[str, Any], display: Callable[[], object]) -> None:
        self._take(values)
        self.print_display(display)


def _milliseconds(time_limit: float | None) -> dict[str, int]:
    """The setting for a time limit in seconds. Raises ValueError if it is not positive."""
    if time_limit is None or time_limit == inf:
        return {}
    if not time_limit > 0:
        raise ValueError(f"the time limit must be positive, and is {time_limit}")
    return {"time_limit": max(int(1000 * time_limit), 1)}


def register() -> None:
    """Registers this solver in CPMpy, by the name "turbo"."""
    known = SolverLookup.base_solvers()
    if (NAME, CPM_turbo) not in known:
        SolverLookup.base_solvers = classmethod(lambda cls: [*known, (NAME, CPM_turbo)])
