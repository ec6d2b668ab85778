"""A model that is read and prepared once, and solved as often as wanted: `from turbo_fzn import Model`.

    model = Model(text, arch="cpu")
    best = model.solve(goal="minimize cost")
    other = model.solve(goal="maximize profit", assume={"cost": (None, 120), "open": True}, hint=best.solutions[-1])

Reading, lowering and simplifying are done once. The assumptions of a call become bounds of the prepared model, which is
brought to its root fixpoint again. So that any variable may be assumed, the simplifier keeps all variables that the
model declares; and no symmetries are broken, since an assumption may violate them. Learned clauses are not kept from
one call to the next.

Each call also states its assumptions as constraints of the model that solutions are checked against, so the check,
which is independent of these steps, includes them.
"""

from __future__ import annotations

import operator
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from numbers import Real
from typing import Any, NamedTuple, Union

import numpy as np

from turbo_fzn.base import floats
from turbo_fzn.base.domains import INFINITY
from turbo_fzn.base.errors import UsageError
from turbo_fzn.explain.groups import CONSTRAINT_NAME
from turbo_fzn.interface.api import Result, interrupt_of, solve_run
from turbo_fzn.interface.flattening import Data, Source, flatten
from turbo_fzn.interface.listening import Listener, OnBound, OnLog, OnSolution
from turbo_fzn.lower.rewrite import SENSES
from turbo_fzn.options.options import Options
from turbo_fzn.options.settings import options_of
from turbo_fzn.options.spellings import no_such
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.languages import parse_named
from turbo_fzn.read.model import Array, Call, Constraint, Goal, Ref, Text, Variable
from turbo_fzn.read.model import Model as ParsedModel
from turbo_fzn.read.several import several_of, without_several
from turbo_fzn.run.driver import Run
from turbo_fzn.run.prepare import settle_root
from turbo_fzn.run.prepared import Prepared
from turbo_fzn.run.projection import declared, names_of, with_output
from turbo_fzn.tnf.language import TNF, Output

Number = Union[int, float]
Assumption = Union[Number, tuple[Union[Number, None], Union[Number, None]]]  # a value, or the least and the greatest
Assumptions = Mapping[str, Assumption]
NOWHERE = -1  # format: the position of a constraint that stands in no text


class _Question(NamedTuple):
    """The arguments of a call, beside its settings; see `Model.solve`."""

    assume: Assumptions
    goal: str | None
    hint: Mapping[str, object]


class Model:
    """A prepared model, from FlatZinc, FlatZinc-JSON or XCSP3 as text, or from a `Builder` or a reader; `settings` as
    in `solve_text`, for all calls.

    One call at a time: a second call, from another thread, waits for the first. As a context manager it stops the
    running call when it is left.
    """

    def __init__(self, text: str | ParsedModel, **settings: Any):
        self._settings = settings
        options = options_of({**settings, "symmetry": "off"})
        parsed = text if isinstance(text, ParsedModel) else parse_named(text, options.file)
        several = several_of(parsed)
        self._goals = [] if several is None else several.goals
        self._parsed = without_several(parsed)
        self._shown = _shown_names(self._parsed, options)
        self._prepared = _prepare(self._parsed, self._shown, replace(options, project=None))
        self._items = {item.name: item for item in self._prepared.tnf.outputs}
        self._interrupt: Interrupt | None = None
        self.until: Interrupt | None = None  # a stop of all calls together
        self._lock = threading.Lock()
        self._solver: int | None = None  # the thread that solves

    @classmethod
    def from_minizinc(cls, model: Source, data: Data = None, **settings: Any) -> Model:
        """A MiniZinc model, which the installed `minizinc` flattens: a path or a text, with the data of a file, a text
        or a mapping (flattening.py). The names are the names in the FlatZinc. Raises UsageError and ModelError."""
        return cls(flatten(model, data), **settings)

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    @property
    def settings(self) -> dict[str, Any]:
        """The settings for all calls."""
        return dict(self._settings)

    @property
    def parsed(self) -> ParsedModel:
        """The model as it was read."""
        return self._parsed

    @property
    def prepared(self) -> Prepared:
        """The model at its root fixpoint, with all variables in its output."""
        return self._prepared

    @property
    def variables(self) -> list[str]:
        """The names that may be assumed, hinted, projected to, and be an objective."""
        return [name for name, item in self._items.items() if item.ranges is None]

    @property
    def output(self) -> list[str]:
        """The names in a solution, by default."""
        return list(self._shown)

    @property
    def goals(self) -> list[str]:
        """The objectives that annotations of the model ask for, as `Front` and `lexicographic` take them."""
        return list(self._goals)

    def kind(self, name: str) -> str:
        """The kind of a variable: bool, int or float. Raises UsageError for an unknown name."""
        return self._scalar(name).kind

    def solve(
        self,
        assume: Assumptions | None = None,
        goal: str | None = None,
        hint: Mapping[str, object] | None = None,
        *,
        on_solution: OnSolution | None = None,
        on_bound: OnBound | None = None,
        on_log: OnLog | None = None,
        **settings: Any,
    ) -> Result:
        """Solves the model under assumptions; result and errors as in `solve_text`.

        `assume`: name -> a value, or a pair of the least and the greatest value, None for no limit. `goal`: "satisfy",
        "minimize NAME" or "maximize NAME" in the place of the model's objective. `hint`: values to try first, as a warm
        start of MiniZinc. `settings` apply to this call, before the settings of the model; settings of the simplifier
        and of the precision belong to the model. Calls from several threads wait for each other. Raises UsageError for
        an unknown name, if a callback of a call makes another call, and without a goal if the model has several.
        """
        if goal is None and self._goals:
            raise UsageError("the model has several objectives: Front(model, model.goals) or lexicographic, or a goal")
        if self._solver == threading.get_ident():
            raise UsageError("a callback of Model.solve cannot solve the same model")
        start = time.monotonic()
        options = options_of({**self._settings, "symmetry": "off", **settings})
        with self._lock:
            self._solver, self._interrupt = threading.get_ident(), interrupt_of(options, start)
            try:
                if self.until:  # checked after that, or a stop between two calls would have no effect
                    self._interrupt.request()
                question = _Question(assume or {}, goal, hint or {})
                run = _Call(self._parsed, options, self._interrupt, lambda: self._asked(question, options))
                return solve_run(run, Listener(on_solution, on_bound, on_log))
            finally:
                self._solver = self._interrupt = None

    def stop(self) -> None:
        """Ends the running call, from another thread or from its callbacks: it returns the result so far."""
        interrupt = self._interrupt
        if interrupt is not None:
            interrupt.request()

    def _asked(self, question: _Question, options: Options) -> Prepared:
        """The prepared model of a call, at its root fixpoint. Raises Interrupted."""
        base = self._prepared
        assert base.model is not None, "it was read"
        names = self._shown if options.project is None else names_of(options.project)
        outputs = [self._item(name) for name in names]
        tnf = replace(base.tnf, lower=base.tnf.lower.copy(), upper=base.tnf.upper.copy(), outputs=outputs)
        constraints = list(base.model.constraints)
        for name, wanted in question.assume.items():
            constraints += _narrow(tnf, self._scalar(name), wanted)
        model = replace(base.model, constraints=constraints)
        if question.goal is not None:
            model.goal = self._set_goal(tnf, question.goal)
        if question.hint:
            tnf.warm_start = self._warm_start(question.hint)
        assert self._interrupt is not None, "a call is under way"
        return settle_root(replace(base, tnf=tnf, model=model, times={}), self._interrupt)

    def _item(self, name: str) -> Output:
        if name not in self._items:
            raise UsageError(no_such("no variable", [name], sorted(self._items)))
        return self._items[name]

    def _scalar(self, name: str) -> Output:
        item = self._item(name)
        if item.ranges is not None:
            raise UsageError(f"{name} is an array; name its elements")
        return item

    def _set_goal(self, tnf: TNF, goal: str) -> Goal:
        """The goal of a text as in "minimize x", also in the TNF. The search annotation stays."""
        method, _, name = goal.strip().partition(" ")
        if method not in SENSES or (method == "satisfy") != (not name.strip()):
            raise UsageError(f"goal: expected satisfy, minimize NAME or maximize NAME, found {goal!r}")
        own = self._parsed.goal or Goal("satisfy", None, [], 0)
        tnf.sense = SENSES[method]
        tnf.objective = int(self._scalar(name.strip()).variables[0]) if tnf.sense else -1
        return replace(own, method=method, objective=Ref(name.strip()) if tnf.sense else None)

    def _warm_start(self, hint: Mapping[str, object]) -> tuple[np.ndarray, np.ndarray]:
        """The hinted integers and Booleans; hints for float variables are left out."""
        items = [(self._item(name), np.atleast_1d(np.asarray(value, object))) for name, value in hint.items()]
        for item, values in items:
            if len(item.variables) != len(values):
                raise UsageError(f"hint: {item.name} has {len(item.variables)} values, not {len(values)}")
            if item.kind == "float" and not all(isinstance(value, Real) for value in values.tolist()):
                raise UsageError(f"hint: {values.tolist()!r} are no numbers for {item.name}")
        known = [(item.variables, _whole(item.name, values)) for item, values in items if item.kind != "float"]
        if not known:
            return np.empty(0, np.int32), np.empty(0, np.int64)
        variables, values = (np.concatenate(part) for part in zip(*known))
        return variables.astype(np.int32), values


class _Call(Run):
    """A run of a model that `asked` prepares."""

    def __init__(self, model: ParsedModel, options: Options, interrupt: Interrupt, asked: Callable[[], Prepared]):
        super().__init__(model, options, interrupt)
        self.asked = asked

    def prepare(self, for_once: bool = False) -> Prepared:
        self.prepared = self.asked()
        return self.prepared


def _whole(name: str, values: np.ndarray) -> np.ndarray:
    """Hinted values as integers. Raises UsageError."""
    try:
        whole = [int(value) for value in values.tolist()]
        if whole == values.tolist():
            return np.array(whole, np.int64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise UsageError(f"hint: {values.tolist()!r} are no whole numbers or Booleans for {name}")


def _shown_names(parsed: ParsedModel, options: Options) -> list[str]:
    """The output items of the model, or of the setting `project`, in the order of the text."""
    if options.project is not None:
        return names_of(options.project)
    items: list[Variable | Array] = [*parsed.variables.values(), *parsed.arrays.values()]
    return [item.name for item in sorted(items, key=lambda item: item.position) if _is_output(item.annotations)]


def _is_output(annotations: list) -> bool:
    is_shape = (isinstance(annotation, Call) and annotation.name == "output_array" for annotation in annotations)
    return "output_var" in annotations or any(is_shape)


def _prepare(parsed: ParsedModel, shown: list[str], options: Options) -> Prepared:
    """The model with all names of the user in the output, so that they exist after simplification."""
    return Run(with_output(parsed, {*declared(parsed), *shown}), options, Interrupt()).prepare(for_once=False)


def _narrow(tnf: TNF, item: Output, wanted: Assumption) -> list[Constraint]:
    """Narrows the bounds of a variable. Returns the assumption as constraints of FlatZinc, with its text as their
    name."""
    at, kind, name = item.variables[0], item.kind, Ref(item.name)
    least, greatest = wanted if isinstance(wanted, tuple) else (wanted, wanted)
    said = [Call(CONSTRAINT_NAME, [Text(_words(name, least, greatest))])]
    constraints = []
    if least is not None:
        low = _checked(kind, name, least)
        tnf.lower[at] = max(tnf.lower[at], floats.below(low) if kind == "float" else low)
        constraints.append(Constraint(f"{kind}_le", [low, name], said, NOWHERE))
    if greatest is not None:
        high = _checked(kind, name, greatest)
        tnf.upper[at] = min(tnf.upper[at], floats.above(high) if kind == "float" else high)
        constraints.append(Constraint(f"{kind}_le", [name, high], said, NOWHERE))
    tnf.infeasible |= bool(tnf.lower[at] > tnf.upper[at])
    return constraints


def _words(name: str, least: object, greatest: object) -> str:
    """An assumption as text, as in "x = 3" and "2 <= x"."""
    if least == greatest:
        return f"{name} = {least}"
    return " <= ".join(str(part) for part in (least, name, greatest) if part is not None)


def _checked(kind: str, name: str, value: object) -> Number:
    """A bound as a literal of that kind. Raises UsageError."""
    number: Any = value
    if kind == "float" and isinstance(number, (int, float)) and number == number:
        return float(number)
    if kind == "bool" and number in (0, 1):
        return bool(number)
    if kind == "int" and hasattr(number, "__index__") and abs(operator.index(number)) < INFINITY:
        return operator.index(number)
    raise UsageError(f"assume: {value!r} is no value of {name}, which is of kind {kind}")
