"""turbo_fzn as a solver of CPMpy, in the same process and under assumptions: for `mus`, `quickxplain` and others.

    import cpmpy as cp
    from cpmpy_solver import register
    register()
    model.solve(solver="turbo")
    cp.tools.explain.mus(soft, hard, solver="turbo")

It needs CPMpy 1.1. CPMpy makes simple constraints of a model; here each becomes a constraint of a `Builder`.
"""

from __future__ import annotations

from typing import Any

from cpmpy import SolverLookup
from cpmpy.expressions.core import Comparison, Expression, Operator
from cpmpy.expressions.variables import NegBoolView, _BoolVarImpl, _NumVarImpl
from cpmpy.solvers.solver_interface import ExitStatus, SolverInterface, SolverStatus
from cpmpy.transformations.comparison import only_numexpr_equality
from cpmpy.transformations.decompose_global import decompose_in_tree, decompose_objective
from cpmpy.transformations.flatten_model import flatten_constraint, get_or_make_var
from cpmpy.transformations.get_variables import get_variables
from cpmpy.transformations.negation import push_down_negation, push_down_negation_objective
from cpmpy.transformations.normalize import toplevel_list
from cpmpy.transformations.reification import only_bv_reifies, only_implies, reify_rewrite
from cpmpy.transformations.safening import no_partial_functions, safen_objective

import turbo_fzn
from turbo_fzn import Builder
from turbo_fzn.explain.quickxplain import Members, minimal
from turbo_fzn.interface.building import Var

NAME = "turbo"
LINEAR = frozenset({"sum", "wsum"})
FUNCTIONS = {  # of CPMpy -> a predicate of which the result is the last argument
    "mul": "int_times", "div": "int_div", "mod": "int_mod", "pow": "int_pow", "abs": "int_abs",
}  # fmt: skip
EXTREMES = {"min": "array_int_minimum", "max": "array_int_maximum"}
COMPARISONS = {  # the predicate, and what is taken from the right side; > and >= are turned round before
    "==": ("int_lin_eq", 0), "!=": ("int_lin_ne", 0),
    "<=": ("int_lin_le", 0), "<": ("int_lin_le", 1), ">=": ("int_lin_le", 0), ">": ("int_lin_le", 1),
}  # fmt: skip
STATUSES = {
    "OPTIMAL_SOLUTION": ExitStatus.OPTIMAL,
    "SATISFIED": ExitStatus.FEASIBLE,
    "ALL_SOLUTIONS": ExitStatus.FEASIBLE,
    "UNSATISFIABLE": ExitStatus.UNSATISFIABLE,
}


class CPM_turbo(SolverInterface):  # as CPMpy calls its own
    """See SolverInterface of CPMpy. `solve` and `solveAll` also take the settings of `Model.solve`."""

    supported_global_constraints = frozenset({"alldifferent", *FUNCTIONS, *EXTREMES})
    supported_reified_global_constraints = frozenset()

    @staticmethod
    def supported() -> bool:
        return True

    @classmethod
    def version(cls) -> str:
        return turbo_fzn.__version__

    def __init__(self, cpm_model: Any = None, subsolver: str | None = None):
        self.builder = Builder()
        self.numbers: dict[str, Any] = {}  # Boolean variables as 0 and 1
        self.prepared: turbo_fzn.Model | None = None  # until something is added
        self.sense: str | None = None
        self.asked: list[Any] = []  # the assumptions of the last call
        super().__init__(name=NAME, cpm_model=cpm_model)

    @property
    def native_model(self) -> Builder:
        return self.builder

    def has_objective(self) -> bool:
        return self.sense is not None

    # ---- solving

    def solve(
        self, time_limit: float | None = None, assumptions: Any = None, display: Any = None, **settings: Any
    ) -> bool:
        """Whether there is a solution that has been found; `time_limit` in seconds."""
        self.asked = [] if assumptions is None else list(assumptions)
        if time_limit is not None:
            settings["time_limit"] = max(int(1000 * time_limit), 1)
        if display is not None:
            settings["on_solution"] = lambda values, objective: self._show(values, display)
        result = self._ask(self.asked, **settings)
        self._note(result)
        if result.solutions:
            self._assign(result.solutions[-1])
        else:
            for variable in self.user_vars:
                variable.clear()
        self.objective_value_ = result.objective
        return self._solve_return(self.cpm_status)

    def solveAll(self, display: Any = None, time_limit: float | None = None, solution_limit: int | None = None,
                 call_from_model: bool = False, **settings: Any) -> int:  # fmt: skip
        """The number of solutions, of the variables that the user knows."""
        self.solver_vars(list(self.user_vars))
        settings |= {
            "n_solutions": solution_limit or 0,
            "project": ",".join(_plain(one.name) for one in self.user_vars),
        }
        if time_limit is not None:
            settings["time_limit"] = max(int(1000 * time_limit), 1)
        if display is not None:
            settings["on_solution"] = lambda values, objective: self._show(values, display)
        result = self._ask([], **settings)
        self._note(result)
        return len(result.solutions)

    def get_core(self) -> list[Any]:
        """A minimal part of the assumptions of the last call with which there is no solution."""

        def refutes(members: Members) -> bool:
            return self._ask([self.asked[member] for member in members]).status == "UNSATISFIABLE"

        return [self.asked[member] for member in sorted(minimal(range(len(self.asked)), refutes))]

    def _ask(self, assumptions: list[Any], **settings: Any) -> turbo_fzn.Result:
        self.solver_vars(list(self.user_vars) + assumptions)
        if self.prepared is None:
            self.prepared = self.builder.model(arch="cpu")
        assume: dict[str, Any] = {}
        for one in assumptions:
            is_true = not isinstance(one, NegBoolView)
            if assume.setdefault(_plain((one if is_true else one._bv).name), is_true) != is_true:
                return turbo_fzn.Result("UNSATISFIABLE", [], None, {})
        return self.prepared.solve(assume, **settings)

    def _note(self, result: turbo_fzn.Result) -> None:
        self.cpm_status = SolverStatus(self.name)
        self.cpm_status.exitstatus = STATUSES.get(result.status, ExitStatus.UNKNOWN)
        self.cpm_status.solve_time = result.statistics.get("solveTime", 0.0)

    def _assign(self, values: dict[str, Any]) -> None:
        for variable in self.user_vars:
            variable._value = values[_plain(variable.name)]

    def _show(self, values: dict[str, Any], display: Any) -> None:
        self._assign(values)
        self.print_display(display)

    # ---- the model

    def transform(self, cpm_expr: Any) -> list[Any]:
        """Simple constraints, as CPMpy makes them of any."""
        known = self.supported_global_constraints, self.supported_reified_global_constraints
        constraints = push_down_negation(no_partial_functions(toplevel_list(cpm_expr)))
        constraints = decompose_in_tree(
            constraints, supported=known[0], supported_reified=known[1], csemap=self._csemap
        )
        constraints = flatten_constraint(constraints, csemap=self._csemap)
        constraints = only_bv_reifies(reify_rewrite(constraints, supported=LINEAR, csemap=self._csemap))
        constraints = only_implies(constraints, csemap=self._csemap)
        return only_numexpr_equality(constraints, supported=LINEAR, csemap=self._csemap)

    def add(self, cpm_expr: Any) -> CPM_turbo:
        get_variables(cpm_expr, collect=self.user_vars)
        self.prepared = None
        for constraint in self.transform(cpm_expr):
            self._post(constraint, None)
        return self

    __add__ = add

    def objective(self, expr: Any, minimize: bool = True) -> None:
        get_variables(expr, collect=self.user_vars)
        expr, safe = safen_objective(expr)
        known = self.supported_global_constraints
        expr, parts = decompose_objective(push_down_negation_objective(expr), supported=known, csemap=self._csemap)
        one, flat = get_or_make_var(expr, csemap=self._csemap)
        self.add([*safe, *parts, *flat])
        self.sense = "minimize" if minimize else "maximize"
        getattr(self.builder, self.sense)(self._number(self.solver_var(one)))

    def solver_var(self, cpm_var: Any) -> Any:
        """The variable of the builder, or a number."""
        if not isinstance(cpm_var, _NumVarImpl):
            return int(cpm_var)
        known = self._varmap.get(cpm_var.name)
        if known is None:
            if isinstance(cpm_var, NegBoolView):
                known = self.builder.bools(f"not {self.solver_var(cpm_var._bv).name}")
                self.builder.bool_not(self.solver_var(cpm_var._bv), known)
            elif cpm_var.is_bool():
                known = self.builder.bools(_plain(cpm_var.name))
            else:
                known = self.builder.ints(_plain(cpm_var.name), cpm_var.lb, cpm_var.ub)
            self._varmap[cpm_var.name] = known
            self.prepared = None
        return known

    def _number(self, one: Any) -> Any:
        """A variable as an integer one; a Boolean one is 0 or 1."""
        if not isinstance(one, Var):
            return self.builder.ints(f"constant {one} {len(self.numbers)}", one, one)
        if one.kind == "int":
            return one
        if one.name not in self.numbers:
            self.numbers[one.name] = self.builder.ints(f"number {one.name}", 0, 1)
            self.builder.bool2int(one, self.numbers[one.name])
        return self.numbers[one.name]

    def _integers(self, args: Any) -> list[Any]:
        """Arguments of predicates on integers: variables, and numbers."""
        return [one if isinstance(one, int) else self._number(one) for one in self.solver_vars(list(args))]

    def _post(self, constraint: Any, truth: Any) -> None:
        """Posts a simple constraint, as implied by a Boolean variable if there is one."""
        if isinstance(constraint, (bool, _BoolVarImpl)) or constraint.name == "or":
            literals = constraint.args if getattr(constraint, "name", "") == "or" else [constraint]
            refused = [] if truth is None else [truth]
            self.builder.bool_clause(self.solver_vars(list(literals)), refused)
        elif constraint.name == "->":
            self._post(constraint.args[1], self.solver_var(constraint.args[0]))
        elif constraint.name == "alldifferent":
            self._imply("all_different", [self._variables(constraint.args)], truth)
        elif isinstance(constraint, Comparison):
            self._compare(*constraint.args, constraint.name, truth)
        else:
            raise NotImplementedError(f"turbo: {constraint}")

    def _variables(self, args: Any) -> list[Any]:
        return [self._number(one) for one in self.solver_vars(list(args))]

    def _compare(self, left: Any, right: Any, operator: str, truth: Any) -> None:
        name = getattr(left, "name", "") if isinstance(left, Expression) and not isinstance(left, _NumVarImpl) else ""
        if name in FUNCTIONS:
            *args, result = self._integers([*left.args, right])
            self._imply(FUNCTIONS[name], [*args, result], truth)
        elif name in EXTREMES:
            self._imply(EXTREMES[name], [*self._integers([right]), self._integers(left.args)], truth)
        else:
            self._linear(left, right, operator, truth)

    def _linear(self, left: Any, right: Any, operator: str, truth: Any) -> None:
        name = left.name if isinstance(left, Operator) else ""
        weights, variables = (
            left.args if name == "wsum" else ([1] * len(left.args), left.args) if name else ([1], [left])
        )
        weights, terms = [*map(int, weights), -1], self._integers([*variables, right])
        k = -sum(weight * one for weight, one in zip(weights, terms) if isinstance(one, int))
        pairs = [(weight, one) for weight, one in zip(weights, terms) if not isinstance(one, int)]
        if operator in (">", ">="):
            pairs, k = [(-weight, one) for weight, one in pairs], -k
        predicate, less = COMPARISONS[operator]
        self._imply(predicate, [[weight for weight, _ in pairs], [one for _, one in pairs], k - less], truth)

    def _imply(self, predicate: str, args: list[Any], truth: Any) -> None:
        if truth is None:
            self.builder.post(predicate, *args)
        else:
            self.builder.post(f"{predicate}_imp", *args, truth)


def _plain(name: str) -> str:
    """A name without what separates names."""
    return name.replace(",", ";")


def register() -> None:
    """Makes CPMpy know this solver, by the name "turbo"."""
    known = SolverLookup.base_solvers
    SolverLookup.base_solvers = classmethod(lambda cls: [*known(), (NAME, CPM_turbo)])
