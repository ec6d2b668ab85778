"""`--project x,y`: the output is these variables and arrays, so that with `-a` each combination of their values is an
answer once, whatever the other variables may be: answer/selection.py removes duplicates. The search decides them first,
so that the kernels look for a single completion of each combination (keep_output_levels of kernels/search/search.h)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from turbo_fzn.base.domains import IntSet
from turbo_fzn.base.errors import UsageError
from turbo_fzn.options.spellings import no_such
from turbo_fzn.read.model import Array, Call, Model, Ref, Variable
from turbo_fzn.tnf.language import TNF, Strategy, ValueChoice, VarChoice


def names_of(text: str) -> list[str]:
    """The names in a list with commas."""
    return [name for name in map(str.strip, text.split(",")) if name]


def projected(model: Model, names: Sequence[str]) -> Model:
    """The model with these variables and arrays of variables as its output. Raises UsageError for other names."""
    refuse_in_xcsp3(model)
    if unknown := [name for name in names if name not in _items(model)]:
        raise UsageError(f"--project: {no_such('no variable', unknown, sorted(declared(model)))}")
    return with_output(model, names)


def refuse_in_xcsp3(model: Model) -> None:
    """Raises UsageError for an XCSP3 instance."""
    if model.language == "XCSP3":
        raise UsageError("--project: an answer to an XCSP3 instance has all of its variables")


def declared(model: Model) -> list[str]:
    """The variables and arrays of variables that MiniZinc has not introduced."""
    return [name for name, item in _items(model).items() if "var_is_introduced" not in item.annotations]


def _items(model: Model) -> dict[str, Variable | Array]:
    return {**model.variables, **{name: array for name, array in model.arrays.items() if array.is_variable}}


def with_output(model: Model, names: Collection[str]) -> Model:
    """The model with exactly these variables and arrays as output."""
    return replace(
        model,
        variables={name: _shown(one, name in names) for name, one in model.variables.items()},
        arrays={name: _shown_array(one, name in names) for name, one in model.arrays.items()},
    )


def output_first(tnf: TNF) -> TNF:
    """The TNF with the output decided before the rest: in the order of the model's strategies where these contain
    it."""
    if tnf.floats is not None:  # a float variable is not decided by a value
        return tnf
    shown = np.zeros(tnf.n_vars, bool)
    for item in tnf.outputs:
        shown[item.variables] = True
    asked = [_part(one, shown[one.variables]) for one in tnf.strategies if one.rows is None]
    left = np.flatnonzero(shown).astype(np.int32)
    rest = Strategy(VarChoice.INPUT_ORDER, ValueChoice.MIN, left, asked=False)
    return replace(tnf, strategies=[*(one for one in asked if len(one.variables)), rest, *tnf.strategies])


def _part(strategy: Strategy, wanted: np.ndarray) -> Strategy:
    """The strategy, restricted to some of its variables."""
    gaps = strategy.gaps and [gap for gap, is_wanted in zip(strategy.gaps, wanted) if is_wanted]
    return replace(strategy, variables=strategy.variables[wanted], measured=strategy.measured[wanted], gaps=gaps)


def _shown(variable: Variable, is_shown: bool) -> Variable:
    others = [annotation for annotation in variable.annotations if annotation != "output_var"]
    return replace(variable, annotations=[*others, Ref("output_var")] if is_shown else others)


def _shown_array(array: Array, is_shown: bool) -> Array:
    """The array as an output or not; an array that is printed already keeps its shape."""
    shapes = [one for one in array.annotations if isinstance(one, Call) and one.name == "output_array"]
    others = [annotation for annotation in array.annotations if annotation not in shapes]
    shapes = shapes or [Call("output_array", [[IntSet.interval(1, len(array.elements))]])]
    return replace(array, annotations=[*others, *shapes] if is_shown else others)
