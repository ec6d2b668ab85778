"""Model -> TNF: walks the model, and lowers each constraint by the table of table.py.

The order of the steps affects the size of the result, never its meaning:

1. every variable is declared, and right-hand sides (`var int: x = y`) merge variables; 2. aliases and constraints on
one variable are lowered (early.py), and domains lose values that other constraints forbid (narrow.py); 3. the other
constraints are lowered: clauses and sums after the others, since they replace variables that are known to
   be negations; then globals, since they use bounds, and of these last the ones that compete for rows (budget.py), and
   all_different, since it uses which values the others leave;
4. the solve item and the output annotations are translated, and the variables are renumbered.

After a contradiction the rest is still checked for names and types, but not lowered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter, length_hint
from typing import Any

import numpy as np

from turbo_fzn.base import floats
from turbo_fzn.base.collector import without_collector
from turbo_fzn.base.domains import IntSet
from turbo_fzn.base.errors import ModelError, UnsupportedError
from turbo_fzn.base.progress import stage
from turbo_fzn.lower import branching
from turbo_fzn.lower.budget import state_waiting
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.early import OF_CONSTANTS, Domains, Handler, may_take
from turbo_fzn.lower.elements import state_whole
from turbo_fzn.lower.narrow import Job, Narrower, clauses_about_one, narrow, one_of, variables_among
from turbo_fzn.lower.narrow_elements import element_jobs
from turbo_fzn.lower.runs import Runs
from turbo_fzn.lower.scope import Scope
from turbo_fzn.lower.table import EARLY, LATE, NARROWERS, PREDICATES, Predicate
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.lower.variables import Infeasible
from turbo_fzn.predicates.globals import ALL_DIFFERENT, PREFIX
from turbo_fzn.read.model import Array, Call, Constraint, Goal, Model, Ref, Variable
from turbo_fzn.tnf.language import TNF, Output

SENSES = {"satisfy": 0, "minimize": 1, "maximize": -1}

Form = tuple[Predicate, list[Callable[[Any], Any]]]
Order = tuple[list[str], list[str]]


@dataclass(eq=False, repr=False)
class Lowered:
    """A TNF, and the TNF variable of each FlatZinc variable's name."""

    tnf: TNF
    origin: dict[str, int]


@without_collector()
def lower(model: Model, share: bool = True, orders: Sequence[Order] = (), alone: bool = False) -> Lowered:
    """The TNF of a model; with `share=False` rows are neither folded nor shared. `orders` are further constraints:
    pairs of lists of variables' names, the first of which must be lexicographically no greater (symmetry/breaking.py).
    `alone`: constraints that would be too many rows become wide rows only (tnf/wide.py). Raises ModelError for an
    invalid model."""
    rewriter = Rewriter(model, share, orders, alone)
    with stage("lower", rewriter.progress):
        lowered = rewriter.run()
    rewriter.scope.binders.clear()  # they refer to the scope, and would keep the builder and its rows in memory
    del rewriter.runs, rewriter.forms  # they refer to the scope, too
    return lowered


class Rewriter:
    """The lowering of one model; `infeasible` is set when a domain has become empty."""

    def __init__(self, model: Model, share: bool, orders: Sequence[Order], alone: bool):
        self.model, self.orders = model, orders
        self.builder = RowBuilder(share, alone)
        self.scope = Scope(model, self.builder)
        self.infeasible = self.scope.infeasible
        self.forms: dict[tuple[str, int], Form] = {}
        self.runs = Runs(self.scope, self.lower_one, lambda: self.infeasible)
        self.n_seen = 0
        self.rest: Iterator[Constraint] = iter(())

    def run(self) -> Lowered:
        domains = Domains(self.builder)
        domains.sets.extend(self.scope.domains)
        for variable in self.model.variables.values():
            if variable.value is not None:
                self.at(variable.position, self.bind_value, variable)
        for array in self.model.arrays.values():
            if array.is_variable and array.domain is not None:
                self.at(array.position, self.bind_array_domain, domains, array)
        phases: list[list[Constraint]] = [[], [], [], []]
        for name, group in groupby(self.walk(self.model.constraints), itemgetter(0)):
            members = list(group)
            rest = self.take_early(domains, EARLY[name], members) if name in EARLY else members
            phases[_phase_of(name)].extend(rest)
        if self.builder.share:
            self.narrow(domains)
        self.attempt(domains.define)
        self.scope.rename(self.builder.find)
        *phases, different = phases
        for constraints in phases:
            self.lower_all(constraints)
        if self.builder.plans:
            from turbo_fzn.lower.globals.table import flush  # imported already, by the first table

            self.attempt(flush, self.builder)
        self.attempt(state_waiting, self.builder)
        self.lower_all(different)
        for names in self.orders:
            first, second = ([self.number(name) for name in side] for side in names)
            self.attempt(PREDICATES["turbo_lex_lesseq_int"].post, self.builder, first, second)
        self.attempt(state_whole, self.builder)
        return self.finish()

    def number(self, name: str) -> int:
        """The builder's number of a FlatZinc variable."""
        return self.builder.find(self.scope.variables[self.model.variables[name].kind][name])

    # Errors and contradictions

    def at(self, position: int, action: Callable[..., Any], *arguments: Any) -> Any:
        """Runs an action; an error without a place gets the place of the item."""
        try:
            return action(*arguments)
        except ModelError as error:
            raise self.locate(error, position) from None

    def locate(self, error: ModelError, position: int) -> ModelError:
        return error if error.line is not None else type(error)(error.message, *self.model.locate(position))

    def attempt(self, action: Callable[..., Any], *arguments: Any) -> Any:
        """Runs an action that adds to the builder, unless there is a contradiction already."""
        if not self.infeasible:
            try:
                return action(*arguments)
            except Infeasible:
                self.infeasible = True
        return None

    # Constraints

    def bind_value(self, variable: Variable) -> None:
        number = self.scope.variables[variable.kind][variable.name]
        self.attempt(self.builder.merge, number, self.scope.scalar(variable.kind, variable.value))

    def bind_array_domain(self, domains: Domains, array: Array) -> None:
        """Restricts every element of an array to its declared domain, as in `array [1..2] of var 0..5: a`."""
        self.check_array_kind(array)
        if array.kind == "float" and array.elements:
            low, high = self.scope.float_range(array.domain, array.name, array.position)  # type: ignore[arg-type]
            for number in self.scope.array(array.kind, Ref(array.name)):
                self.attempt(self.builder.restrict, number, floats.below(low), floats.above(high))
            return
        for number in self.scope.array(array.kind, Ref(array.name)):
            domains.sets.append((number, array.domain))  # type: ignore[arg-type]  # its kind has an IntSet

    def take_early(self, domains: Domains, handler: Handler, constraints: list[Constraint]) -> list[Constraint]:
        """Lowers the constraints that the handler can state before any row exists. Returns the others."""
        share = self.builder.share
        if not share or (handler in OF_CONSTANTS and self.runs.are_open(constraints)):
            return constraints
        return [one for one in constraints if not (may_take(handler, one) and self.is_early(domains, one, handler))]

    def is_early(self, domains: Domains, constraint: Constraint, handler: Handler) -> bool:
        try:
            _, arguments = self.bind(constraint)
            return self.infeasible or handler(domains, *arguments)
        except Infeasible:
            self.infeasible = True
            return True
        except ModelError as error:
            raise self.locate(error, constraint.position) from None

    def narrow(self, domains: Domains) -> None:
        """Narrows the domains by constraints that need no rows to do so."""
        jobs = [self.job(NARROWERS[one.name], one) for one in self.model.constraints if one.name in NARROWERS]
        names = self.scope.variables["int"]
        jobs += [Job(one_of, (names[x], sets), [names[x]]) for x, sets in clauses_about_one(self.model) if x in names]
        jobs += element_jobs(self.model, lambda one: self.at(one.position, self.bind, one)[1])
        if jobs:
            self.attempt(narrow, domains, jobs)

    def job(self, narrower: Narrower, constraint: Constraint) -> Job:
        predicate, arguments = self.at(constraint.position, self.bind, constraint)
        return Job(narrower, arguments, variables_among(predicate.kinds, arguments))

    def walk(self, constraints: list[Constraint]) -> Iterator[Constraint]:
        """Iterates over constraints, and counts them for `progress`."""
        self.n_seen += len(constraints)
        self.rest = iter(constraints)
        return self.rest

    def progress(self) -> float:
        """The share of the work that is done, for another thread: every constraint is visited twice, or once if it is
        lowered early."""
        return (self.n_seen - length_hint(self.rest)) / max(2 * len(self.model.constraints), 1)

    def lower_all(self, constraints: list[Constraint]) -> None:
        walk = self.walk(constraints)
        if self.builder.share:
            self.runs.lower(walk)
        else:
            for constraint in walk:
                self.lower_one(constraint)

    def lower_one(self, constraint: Constraint) -> None:
        if len(self.builder.rows) > TUNING.tuple_rows:
            self.builder.settle()
        try:
            predicate, arguments = self.bind(constraint)
            if not self.infeasible:
                predicate.post(self.builder, *arguments)
        except Infeasible:
            self.infeasible = True
        except ModelError as error:
            raise self.locate(error, constraint.position) from None

    def bind(self, constraint: Constraint) -> tuple[Predicate, list]:
        """The row of the table for a constraint, and its arguments bound to the kinds of that row."""
        name, expressions, _, _ = constraint
        form = self.forms.get((name, len(expressions))) or self.find_form(name, len(expressions))
        predicate, binders = form
        try:
            arguments = [bind(expression) for bind, expression in zip(binders, expressions)]
        except ModelError:
            raise self.explain(predicate, constraint) from None
        if predicate.fits is not None and not predicate.fits(*arguments):
            raise _misfit(name, arguments)
        return predicate, arguments

    def find_form(self, name: str, n_arguments: int) -> Form:
        """The predicate of that name and number of arguments, and the function that binds each argument."""
        predicate = PREDICATES.get(name)
        if predicate is None or len(predicate.kinds) != n_arguments:
            predicate = _find_other_form(name, n_arguments)
        form = self.forms[name, n_arguments] = predicate, [self.scope.binders[kind] for kind in predicate.kinds]
        return form

    def explain(self, predicate: Predicate, constraint: Constraint) -> ModelError:
        """The error for the first wrong argument, with its number."""
        for number, (kind, expression) in enumerate(zip(predicate.kinds, constraint.args), 1):
            try:
                self.scope.binders[kind](expression)
            except ModelError as error:
                message = f"argument {number} of {constraint.name}: {error.message}"
                return error if error.line is not None else type(error)(message)
        raise AssertionError("binding failed, but no argument is wrong")

    # The solve item, the outputs and the end

    def finish(self) -> Lowered:
        goal = self.model.goal or Goal("satisfy", None, [], 0)
        objective = self.at(goal.position, self.objective, goal)
        plan = self.at(goal.position, branching.plan, goal, self.model, self.scope, objective)
        outputs = list(self.outputs())
        names = {name: number for known in self.scope.variables.values() for name, number in known.items()}
        kept = [self.builder.true, *names.values(), *plan.mentioned(), *([] if objective is None else [objective])]
        for output in outputs:
            kept.extend(output.variables.tolist())
        tnf, number = self.builder.finish(kept, self.infeasible)
        for output in outputs:
            output.variables = number[output.variables].astype(np.int32)
        tnf.outputs = outputs
        tnf.objective, tnf.sense = (-1, 0) if objective is None else (int(number[objective]), SENSES[goal.method])
        plan.finish(tnf, number, branching.Holes.of(self.builder, number))
        known = number[[names[name] for name in self.model.variables]] if names else number
        return Lowered(tnf, dict(zip(self.model.variables, known.tolist())))

    def objective(self, goal: Goal) -> int | None:
        if goal.method == "satisfy":
            return None
        kind = "float" if self.scope.is_float(goal.objective) else "int"
        return self.scope.scalar(kind, goal.objective)

    def outputs(self) -> Iterable[Output]:
        """The output items in the order of the text, with the builder's variables."""
        items: list[Variable | Array] = [*self.model.variables.values(), *self.model.arrays.values()]
        for item in sorted(items, key=lambda item: item.position):
            if isinstance(item, Variable):
                if "output_var" in item.annotations:
                    number = self.scope.variables[item.kind][item.name]
                    yield Output(item.name, item.kind, None, np.array([number], dtype=np.int64))
            elif item.is_variable or item.annotations:
                yield from self.output_array(item)

    def output_array(self, array: Array) -> Iterable[Output]:
        """The output item of an array, if it has one; checks every array of variables."""
        self.check_array_kind(array)
        variables = self.scope.array(array.kind, Ref(array.name))
        for annotation in array.annotations:
            if isinstance(annotation, Call) and annotation.name == "output_array":
                ranges = self.at(array.position, _index_ranges, annotation, len(variables))
                yield Output(array.name, array.kind, ranges, np.array(variables, dtype=np.int64))

    def check_array_kind(self, array: Array) -> None:
        """Checks the kind of an array; an empty array may be of any kind: MiniZinc prints it, and it has no
        variable."""
        if array.elements and array.kind not in self.scope.variables:
            raise UnsupportedError(
                f"`{array.name}`: arrays of {array.kind} variables are not supported by turbo",
                *self.model.locate(array.position),
            )


def _phase_of(name: str) -> int:
    """The number of the phase in which constraints of that name are lowered."""
    if name.startswith(PREFIX):
        return 3 if name == ALL_DIFFERENT else 2
    return 1 if name in LATE else 0


def _find_other_form(name: str, n_arguments: int) -> Predicate:
    """The form of a predicate with that many arguments. Raises ModelError if it has no such form."""
    predicate = PREDICATES.get(f"{name}/{n_arguments}")
    if predicate is not None:
        return predicate
    if name in PREDICATES:
        raise ModelError(f"{name} takes {len(PREDICATES[name].kinds)} arguments, found {n_arguments}")
    words = name.replace("2", "_").split("_")
    if "float" in words:
        raise UnsupportedError(f"{name} is not supported by turbo")
    if "set" in words:
        raise UnsupportedError(f"set variables are not supported by turbo (constraint {name})")
    raise ModelError(f"unknown predicate `{name}`")


def _misfit(name: str, arguments: list) -> ModelError:
    """The error where the sizes of the arguments do not fit together."""
    if "_lin_" in name:
        return ModelError(f"{name}: {len(arguments[0])} coefficients for {len(arguments[1])} variables")
    sizes = [str(len(argument)) for argument in arguments if isinstance(argument, list)]
    also = ", or two edges from a node share a value" if "mdd" in name else ""
    return ModelError(
        f"{name}: the sizes of its arguments do not fit, with arrays of {', '.join(sizes)} elements{also}"
    )


def _index_ranges(annotation: Call, n_elements: int) -> list[tuple[int, int]]:
    """The ranges of `output_array([1..2, 0..3])`."""
    sets = annotation.args[0] if len(annotation.args) == 1 else None
    if not isinstance(sets, list) or not all(isinstance(item, IntSet) and not item.has_holes for item in sets):
        raise ModelError("output_array takes an array of ranges")
    ranges = [(item.lower, item.upper) if item else (1, 0) for item in sets]
    size = 1
    for low, high in ranges:
        size *= high - low + 1
    if size != n_elements:
        raise ModelError(f"output_array has indices for {size} elements, but the array has {n_elements}")
    return ranges
