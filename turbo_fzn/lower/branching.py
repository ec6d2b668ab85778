"""Search annotations -> the strategies of a TNF.

The names are MiniZinc's (reference manual, search annotations); `VARIABLE_CHOICES` and `VALUE_CHOICES` map them to
choices on a store of intervals. `occurrence` and `most_constrained` become a stable sort by static degree, the number
of rows that have a variable.

A variable whose domain has holes has a second variable, the index of its value in the table of its domain. Choices by
the order or number of values use the index, so that size, median and random values refer to the real domain. Choices by
the values themselves (the smallest, a split in the middle between two ends) use the value. The regret refers to the
declared domain: the engines' stores have no holes, so values that are removed from the inside during the search still
count.

Unknown annotations are ignored with one warning, since annotations are advice.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from turbo_fzn.base.domains import IntSet
from turbo_fzn.base.errors import ModelError, UnsupportedError
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.scope import Scope
from turbo_fzn.read.model import Call, Goal, Model
from turbo_fzn.read.several import ANNOTATIONS
from turbo_fzn.tnf.language import RESTARTS, TNF, Op, Restarts, Strategy, ValueChoice, VarChoice

logger = logging.getLogger("turbo_fzn")

VARIABLE_CHOICES: dict[str, VarChoice] = {
    "input_order": VarChoice.INPUT_ORDER,
    "first_fail": VarChoice.FIRST_FAIL,
    "anti_first_fail": VarChoice.ANTI_FIRST_FAIL,
    "smallest": VarChoice.SMALLEST,
    "largest": VarChoice.LARGEST,
    "occurrence": VarChoice.INPUT_ORDER,
    "most_constrained": VarChoice.FIRST_FAIL,
    "max_regret": VarChoice.MAX_REGRET,
    "dom_w_deg": VarChoice.DOM_W_DEG,
    "impact": VarChoice.DOM_W_DEG,
}
INTRODUCED = frozenset(("var_is_introduced", "is_defined_var"))  # annotations of variables that no user declared
SORTED_BY_DEGREE = {"occurrence", "most_constrained"}

VALUE_CHOICES: dict[str, ValueChoice] = {
    "indomain": ValueChoice.MIN,
    "indomain_min": ValueChoice.MIN,
    "indomain_max": ValueChoice.MAX,
    "indomain_median": ValueChoice.MEDIAN,
    "indomain_middle": ValueChoice.MEDIAN,
    "indomain_random": ValueChoice.RANDOM,
    "indomain_split": ValueChoice.SPLIT,
    "indomain_interval": ValueChoice.SPLIT,
    "indomain_reverse_split": ValueChoice.REVERSE_SPLIT,
    "indomain_split_random": ValueChoice.SPLIT_RANDOM,
    "outdomain_min": ValueChoice.OUT_MIN,
    "outdomain_max": ValueChoice.OUT_MAX,
    "outdomain_median": ValueChoice.OUT_MEDIAN,
    "outdomain_random": ValueChoice.OUT_RANDOM,
}
ON_VALUES = {
    "indomain_middle",
    "indomain_split",
    "indomain_interval",
    "indomain_reverse_split",
    "indomain_split_random",
}
ON_SIZES = {VarChoice.INPUT_ORDER, VarChoice.FIRST_FAIL, VarChoice.ANTI_FIRST_FAIL, VarChoice.DOM_W_DEG}

STATED = "relax_and_reconstruct"  # the neighbourhood that the model states
SEARCHES = {"int_search": "int", "bool_search": "bool", "float_search": "float"}
SCHEDULES = {f"restart_{kind}" for kind in RESTARTS}
# What -v prints of them.
FOLLOWED = "free search (-f) follows it beside relax_and_reconstruct, or by --restart"
ACCEPTED = {"constraint_name"}  # known annotations without effect


@dataclass(eq=False, repr=False)
class _Step:
    """One int_search, bool_search or float_search: the names of its choices, and the builder's variables; `asked` is
    false for a default strategy."""

    variable_choice: str
    value_choice: str
    variables: list[int]
    asked: bool = True


@dataclass(eq=False, repr=False)
class Plan:
    """The search of a solve item, in the builder's variables."""

    steps: list[_Step] = field(default_factory=list)
    warm_start: list[tuple[int, int]] = field(default_factory=list)
    stated: list[tuple[int, int]] = field(default_factory=list)  # a variable to fix in neighbourhoods, and how often
    restarts: Restarts | None = None
    ignored: set[str] = field(default_factory=set)

    def mentioned(self) -> Iterator[int]:
        for step in self.steps:
            yield from step.variables
        for variable, _ in (*self.warm_start, *self.stated):
            yield variable

    def finish(self, tnf: TNF, number: np.ndarray, holes: Holes) -> None:
        """Gives the TNF what the solve item asks for; `number` maps the builder's variables to those of the TNF."""
        tnf.strategies = [_make_strategy(step, tnf, number, holes) for step in self.steps if step.variables]
        tnf.restarts = self.restarts
        tnf.warm_start, tnf.stated = _renumbered(self.warm_start, number), _renumbered(self.stated, number)


class Holes(NamedTuple):
    """For the variables whose domains have holes, by the TNF's numbers: the domain, and the variable that is the index
    of the value."""

    domains: dict[int, IntSet]
    index_of: dict[int, int]

    @classmethod
    def of(cls, builder: RowBuilder, number: np.ndarray) -> Holes:
        def named(variables: Iterable[int]) -> list[int]:
            return number[np.fromiter(variables, np.int64)].tolist()

        pairs = zip(named(builder.index_of), named(builder.index_of.values()))
        known = dict(zip(named(builder.domains), builder.domains.values()))
        return cls(known, {variable: index for variable, index in pairs if variable >= 0 <= index})

    def gaps(self, variable: int) -> np.ndarray:
        ranges = self.domains[variable].ranges if variable in self.domains else ()
        pairs = [(below, above) for (_, below), (above, _) in zip(ranges, ranges[1:])]
        return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _renumbered(pairs: list[tuple[int, int]], number: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """(the TNF's variables int32, values int64) of pairs with the builder's variables; None without any."""
    if not pairs:
        return None
    variables, values = np.array(pairs, dtype=np.int64).T
    return number[variables].astype(np.int32), values.copy()


def _make_strategy(step: _Step, tnf: TNF, number: np.ndarray, holes: Holes) -> Strategy:
    values = number[np.array(step.variables, dtype=np.int64)]
    variable_choice = VARIABLE_CHOICES[step.variable_choice]
    if step.variable_choice in SORTED_BY_DEGREE:
        values = values[np.argsort(-_degrees(tnf)[values], kind="stable")]
    values = values.astype(np.int32)
    indices = np.array([holes.index_of.get(variable, variable) for variable in values.tolist()], dtype=np.int32)
    labelled = values if step.value_choice in ON_VALUES else indices
    measured = indices if variable_choice in ON_SIZES else values
    gaps = [holes.gaps(variable) for variable in values.tolist()] if variable_choice == VarChoice.MAX_REGRET else None
    return Strategy(variable_choice, VALUE_CHOICES[step.value_choice], labelled, measured, gaps, step.asked)


def _degrees(tnf: TNF) -> np.ndarray:
    """For each variable the number of rows that have it (int64 [n])."""
    y, z = tnf.y, np.where(tnf.op == Op.ELEMENT, tnf.y, tnf.z)
    count = np.bincount(tnf.x, minlength=tnf.n_vars)
    count += np.bincount(y[y != tnf.x], minlength=tnf.n_vars)
    count += np.bincount(z[(z != tnf.x) & (z != y)], minlength=tnf.n_vars)
    return count


def plan(goal: Goal, model: Model, scope: Scope, objective: int | None) -> Plan:
    """The search of the solve item, or a default search."""
    result = Plan()
    for annotation in goal.annotations:
        read_annotation(annotation, scope, result)
    if result.ignored:
        logger.warning("ignored search annotations: %s", ", ".join(sorted(result.ignored)))
    if not any(step.variables for step in result.steps):
        result.steps = _default_steps(model, scope, objective)
    return result


def read_annotation(annotation: object, scope: Scope, result: Plan) -> None:
    """Adds one annotation of the solve item to the plan."""
    name = annotation.name if isinstance(annotation, Call) else str(annotation)
    if name in ANNOTATIONS:
        raise UnsupportedError(f"{name}: several objectives are for the command, or for Front and lexicographic")
    if name in ACCEPTED:
        return
    if name in ("seq_search", "warm_start_array") and isinstance(annotation, Call) and len(annotation.args) == 1:
        for part in annotation.args[0] if isinstance(annotation.args[0], list) else annotation.args:
            read_annotation(part, scope, result)
    elif name in SEARCHES and isinstance(annotation, Call):
        read_search(annotation, scope, result)
    elif name.startswith("warm_start") and isinstance(annotation, Call) and len(annotation.args) == 2:
        read_warm_start(annotation, scope, result)
    elif name in SCHEDULES:
        result.restarts = read_restarts(annotation, scope)
        logger.info("%s: %s", name, FOLLOWED)
    elif name == STATED and isinstance(annotation, Call) and len(annotation.args) in (2, 3):
        read_stated(annotation, scope, result)
    else:
        result.ignored.add(name)


def read_search(annotation: Call, scope: Scope, result: Plan) -> None:
    """Adds `int_search(variables, variable choice, value choice, complete)`; the last argument may be missing.
    `float_search` has a precision after the variables, which is ignored: --float-precision applies to all."""
    kind = SEARCHES[annotation.name]
    n_choices = 2 if kind == "float" else 1  # the place of the first choice in the arguments
    if len(annotation.args) not in (n_choices + 2, n_choices + 3):
        raise ModelError(f"{annotation.name} takes {n_choices + 3} arguments, found {len(annotation.args)}")
    try:
        variables = scope.array(kind, annotation.args[0])
    except ModelError as error:
        raise type(error)(f"{annotation.name}: {error.message}", error.file, error.line, error.column) from None
    tables: tuple[tuple[dict, str], ...] = ((VARIABLE_CHOICES, "input_order"), (VALUE_CHOICES, "indomain_min"))
    choices = []
    for choice, (known, default) in zip(annotation.args[n_choices:], tables):
        name = choice.name if isinstance(choice, Call) else str(choice)
        if name not in known:
            result.ignored.add(name)
        choices.append(name if name in known else default)
    result.steps.append(_Step(choices[0], choices[1], variables))


def read_warm_start(annotation: Call, scope: Scope, result: Plan) -> None:
    """Adds `warm_start(variables, values)` of integers or Booleans; warm starts of floats and sets are ignored."""
    for kind in ("int", "bool"):
        try:
            variables = scope.array(kind, annotation.args[0])
            values = scope.parameter_array(kind, annotation.args[1])
        except ModelError:
            continue
        result.warm_start.extend(zip(variables, values))
        return
    result.ignored.add(annotation.name)


def read_restarts(annotation: object, scope: Scope) -> Restarts:
    """The schedule of `restart_none`, `restart_luby(scale)`, `restart_geometric(base, scale)` and their kin."""
    name, values = (annotation.name, annotation.args) if isinstance(annotation, Call) else (str(annotation), [])
    kind = name.removeprefix("restart_")
    if len(values) != {"none": 0, "geometric": 2}.get(kind, 1):
        raise ModelError(f"{name}: wrong number of arguments, {len(values)}")
    if kind == "none":
        return Restarts(kind)
    try:
        base = float(scope.parameter("float", values[0])) if kind == "geometric" else 1.0
        return Restarts(kind, scope.parameter("int", values[-1]), base)
    except ModelError as error:
        raise type(error)(f"{name}: {error.message}", error.file, error.line, error.column) from None


def read_stated(annotation: Call, scope: Scope, result: Plan) -> None:
    """Adds `relax_and_reconstruct(variables, percentage, values)`: neighbourhoods fix each of the variables with that
    probability. The third argument, which Gecode has, may be missing: a first solution, hence a warm start."""
    try:
        variables = scope.array("int", annotation.args[0])
        percentage = scope.parameter("int", annotation.args[1])
        values = [scope.parameter_array("int", values) for values in annotation.args[2:]]
    except ModelError as error:
        raise type(error)(f"{annotation.name}: {error.message}", error.file, error.line, error.column) from None
    result.stated.extend((variable, min(max(percentage, 0), 100)) for variable in variables)
    for one in values:
        result.warm_start.extend(zip(variables, one))


def _default_steps(model: Model, scope: Scope, objective: int | None) -> list[_Step]:
    """The default search: the variables that the user declared, smallest domain first; the objective last."""
    declared = [
        scope.variables[variable.kind][variable.name]
        for variable in model.variables.values()
        if not variable.annotations or INTRODUCED.isdisjoint(map(str, variable.annotations))
    ]
    reals = scope.builder.reals
    if not reals.isdisjoint(declared) or objective in reals:
        return _default_real_steps(model, [v for v in declared if v != objective], reals, objective)
    steps = [_Step("first_fail", "indomain_min", [v for v in declared if v != objective], asked=False)]
    if objective is not None:
        best = "indomain_min" if model.goal is not None and model.goal.method == "minimize" else "indomain_max"
        steps.append(_Step("input_order", best, [objective], asked=False))
    return steps


def _default_real_steps(model: Model, declared: list[int], reals: set[int], objective: int | None) -> list[_Step]:
    """The default search of a model with real variables: the integers, then the objective, better half first, then the
    real variables. With the objective last, each improvement would be no larger than the precision."""
    steps = [_Step("first_fail", "indomain_min", [v for v in declared if v not in reals], asked=False)]
    if objective is not None:
        minimise = model.goal is not None and model.goal.method == "minimize"
        best = "indomain_split" if minimise else "indomain_reverse_split"
        if objective not in reals:
            best = "indomain_min" if minimise else "indomain_max"
        steps.append(_Step("input_order", best, [objective], asked=False))
    return [*steps, _Step("first_fail", "indomain_split", [v for v in declared if v in reals], asked=False)]
