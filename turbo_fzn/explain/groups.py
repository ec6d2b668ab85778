"""The constraints of a model as in its source: groups of the FlatZinc constraints of one source constraint.

MiniZinc writes one constraint as several of FlatZinc. Annotations say where each comes from:

| annotation | says |
|---|---|
| `mzn_constraint_name` | the name of the constraint: `constraint :: "rest" …` |
| `mzn_expression_name` | the name of a part of it, as of the comparison in `forall(…)((…) :: "of Ann")` |
| `mzn_path` | the places of the constraint and of its parts, and the values of its loops |
| `defines_var` | that it only gives a value to a variable, which MiniZinc has introduced |

A path is a list of steps between semicolons, each `file|line|column|line|column|what`, where `what` is `i=1` in a loop.

A group is all constraints with the same name, or the same place, and the same values of loops in the file of the
constraint; without a name and a place, a constraint is a group of its own. An element of XCSP3, or one member of its
groups, is a group by its `id` or its `note`.

A constraint that defines an introduced variable belongs to all groups that contain the variable: MiniZinc shares it
between them. So a group is equivalent to the constraint of the source, without the rest of the model. A definition of a
variable that no group contains is treated as any other constraint. Domains of variables, and right-hand sides, belong
to no group and always hold.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import NamedTuple

from turbo_fzn.check.checker import show
from turbo_fzn.read.model import Call, Constraint, Model
from turbo_fzn.run.answer.outcome import Named

CONSTRAINT_NAME = "mzn_constraint_name"
_BINDING = re.compile(r"[^|;=]+=[^|;=]*")  # the value of a loop, as in i=1
_TEMPORARY = re.compile(r"mznfile\w*\.fzn(\.json)?")  # FlatZinc that MiniZinc writes for a solver and then removes
_XCSP3_TAG = re.compile(r"<\s*(\w+)([^<>]*)")
_XCSP3_NAME = re.compile(r"""\b(id|note)\s*=\s*(?:"([^"]*)"|'([^']*)')""")


class Group(NamedTuple):
    """`constraints`: their numbers in the model."""

    named: Named
    constraints: frozenset[int]


class _Origin(NamedTuple):
    """The origin of a constraint; fields are empty where it is unknown."""

    name: str
    place: str
    bindings: tuple[str, ...]


def groups_of(model: Model) -> list[Group]:
    """In the order of the model."""
    definitions = _definitions(model)
    defining = {number for numbers in definitions.values() for number in numbers}
    spoken_of: dict[int, frozenset[int]] = {
        number: _with_definitions(model, number, definitions)
        for number in range(len(model.constraints))
        if number not in defining
    }
    unused = defining.difference(*spoken_of.values())
    spoken_of |= {number: _with_definitions(model, number, definitions) for number in unused}
    members: dict[object, set[int]] = defaultdict(set)
    origins: dict[object, tuple[_Origin, int]] = {}
    for number, origin in _origins(model, sorted(spoken_of)):
        key = (origin.name or origin.place, origin.bindings) if origin.name or origin.place else number
        members[key] |= spoken_of[number]
        origins.setdefault(key, (origin, number))
    return [Group(_named(model, *origins[key]), frozenset(numbers)) for key, numbers in members.items()]


def _definitions(model: Model) -> dict[str, list[int]]:
    """The constraints that only define an introduced variable, by its name."""
    found: dict[str, list[int]] = defaultdict(list)
    for number, constraint in enumerate(model.constraints):
        call = _annotation(constraint, "defines_var")
        variable = model.variables.get(call.args[0]) if call is not None and isinstance(call.args[0], str) else None
        if variable is not None and "var_is_introduced" in variable.annotations:
            found[variable.name].append(number)
    return found


def _with_definitions(model: Model, number: int, definitions: dict[str, list[int]]) -> frozenset[int]:
    """A constraint, and what defines the introduced variables that it speaks of, and that those speak of, …"""
    reached, ahead = {number}, [number]
    while ahead:
        for name in variables_of(model, model.constraints[ahead.pop()]):
            new = [one for one in definitions.get(name, ()) if one not in reached]
            reached.update(new)
            ahead += new
    return frozenset(reached)


def variables_of(model: Model, constraint: Constraint) -> Iterator[str]:
    """The names of the variables in a constraint, and those that right-hand sides make equal to them."""
    for name in model.names_in(constraint.args):
        yield name
        yield from model.names_in([model.variables[name].value])


def _annotation(constraint: Constraint, name: str) -> Call | None:
    """The first of this name that has an argument."""
    calls = (one for one in constraint.annotations if isinstance(one, Call) and one.name == name and one.args)
    return next(calls, None)


def _text_of(constraint: Constraint, name: str) -> str:
    call = _annotation(constraint, name)
    return call.args[0] if call is not None and isinstance(call.args[0], str) else ""


def _origins(model: Model, numbers: Iterable[int]) -> Iterator[tuple[int, _Origin]]:
    """What has no name has that of a constraint from the same place."""
    found = [(number, _origin(model, model.constraints[number])) for number in numbers]
    named = ((origin.place, _text_of(model.constraints[number], CONSTRAINT_NAME)) for number, origin in found)
    names = {place: name for place, name in named if name and place}
    yield from ((number, origin._replace(name=origin.name or names.get(origin.place, ""))) for number, origin in found)


def _origin(model: Model, constraint: Constraint) -> _Origin:
    if model.language == "XCSP3" and constraint.position >= 0:  # not what a call assumes
        return _xcsp3_origin(model, constraint)
    names = _text_of(constraint, CONSTRAINT_NAME), _text_of(constraint, "mzn_expression_name")
    name = ": ".join(filter(None, names))
    steps = [step.split("|") for step in _text_of(constraint, "mzn_path").split(";")]
    if len(steps[0]) < 5:
        return _Origin(name, "", ())
    file, line, column, last_line, last_column = steps[0][:5]
    end = last_column if line == last_line else f"{last_line}.{last_column}"
    own = [step[5] for step in steps if step[0] == file and len(step) == 6 and _BINDING.fullmatch(step[5])]
    return _Origin(name, f"{PurePath(file).name}:{line}.{column}-{end}", tuple(own))


def _xcsp3_origin(model: Model, constraint: Constraint) -> _Origin:
    """Each member of a group of XCSP3 is an element at a place of its own."""
    file, line, column = model.locate(constraint.position)
    place = f"{_named_file(file)}:{line}.{column}"
    tag = _XCSP3_TAG.match(model.text, constraint.position)
    names = {name: first or second for name, first, second in _XCSP3_NAME.findall(tag[2])} if tag else {}
    name = names.get("id") or names.get("note") or ""
    return _Origin(name, place, ())


def _named_file(file: str) -> str:
    """What stands before the number of a line, also for a text that comes from no file."""
    return PurePath(file).name or "line"


def _named(model: Model, origin: _Origin, number: int) -> Named:
    constraint = model.constraints[number]
    place = origin.place
    if not place and constraint.position >= 0:
        file, line, _ = model.locate(constraint.position)
        name = _named_file(file)
        place = "" if _TEMPORARY.fullmatch(name) else f"{name}:{line}"
    where = f" [{', '.join(origin.bindings)}]" if origin.bindings else ""
    if origin.name or origin.place:
        return Named((origin.name or origin.place) + where, place)
    return Named(f"{constraint.name}({','.join(map(show, constraint.args))})", place)
