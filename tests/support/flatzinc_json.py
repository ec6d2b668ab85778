"""A parsed model as FlatZinc-JSON, as MiniZinc 2.8 and later write it (MiniZinc 2.6 cannot); for tests.

Parameters are put where their names are, as there are none in that language.
"""

from __future__ import annotations

import json

from turbo_fzn.base.domains import IntSet
from turbo_fzn.read.model import Array, Call, FloatRange, Model, Ref, Text, Variable

TYPES = {"bool": "bool", "int": "int", "float": "float", "set": "set of int"}
FLAGS = {"var_is_introduced": "introduced", "is_defined_var": "defined"}


def to_json(model: Model, **layout: object) -> str:
    """`layout` are arguments of json.dumps."""
    return json.dumps(Writer(model).whole(), **layout)  # type: ignore[arg-type]


class Writer:
    def __init__(self, model: Model):
        self.model = model

    def whole(self) -> dict:
        model = self.model
        assert model.goal is not None
        goal: dict = {"method": model.goal.method}
        if model.goal.objective is not None:
            goal["objective"] = self.value(model.goal.objective)
        if model.goal.annotations:
            goal["ann"] = self.value(model.goal.annotations)
        return {
            "variables": {name: self.variable(one) for name, one in model.variables.items()},
            "arrays": {name: self.array(one) for name, one in model.arrays.items()},
            "constraints": [self.constraint(one.name, one.args, one.annotations) for one in model.constraints],
            "output": [name for name, one in model.variables.items() if "output_var" in one.annotations]
            + [name for name, one in model.arrays.items() if any(is_output(note) for note in one.annotations)],
            "solve": goal,
            "version": "1.0",
        }

    def variable(self, variable: Variable) -> dict:
        item: dict = {"type": TYPES[variable.kind]}
        if isinstance(variable.domain, IntSet):
            item["domain"] = [list(pair) for pair in variable.domain.ranges]
        elif isinstance(variable.domain, FloatRange):
            item["domain"] = [variable.domain.values]
        if variable.value is not None:
            item["rhs"] = self.value(variable.value)
        for annotation, key in FLAGS.items():
            if annotation in variable.annotations:
                item[key] = True
        rest = [note for note in variable.annotations if str(note) not in FLAGS and note != "output_var"]
        return item | ({"ann": self.value(rest)} if rest else {})

    def array(self, array: Array) -> dict:
        rest = [annotation for annotation in array.annotations if not is_output(annotation)]
        return {"a": self.value(array.elements)} | ({"ann": self.value(rest)} if rest else {})

    def constraint(self, name: str, arguments: list, annotations: list) -> dict:
        item = {"id": name, "args": [self.value(argument) for argument in arguments]}
        defines = [note.args[0] for note in annotations if isinstance(note, Call) and note.name == "defines_var"]
        rest = [note for note in annotations if not (isinstance(note, Call) and note.name == "defines_var")]
        if defines:
            item["defines"] = defines[0]
        return item | ({"ann": self.value(rest)} if rest else {})

    def value(self, value: object) -> object:
        if isinstance(value, list):
            return [self.value(element) for element in value]
        if isinstance(value, Text):
            return {"string": str(value)}
        if isinstance(value, Call):
            return {"id": value.name, "args": self.value(value.args)}
        if isinstance(value, IntSet):
            return {"set": [list(pair) for pair in value.ranges]}
        if isinstance(value, Ref) and value in self.model.parameters:
            return self.value(self.model.parameters[value])
        return value


def is_output(annotation: object) -> bool:
    return isinstance(annotation, Call) and annotation.name == "output_array"
