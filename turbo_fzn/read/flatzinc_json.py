"""FlatZinc-JSON text to Model: the second input language, with the same result as flatzinc.py.

Source: "Specification of FlatZinc-JSON" and fznjson.json of the MiniZinc handbook. What differs from FlatZinc text:

- an identifier is a string, a string is `{"string": …}`, a set is `{"set": [[1, 3], [5, 5]]}`, a call of an annotation
  is `{"id": …, "args": […]}`;
- arrays have no type, so theirs is that of what they hold; parameters do not exist;
- what is printed is the list `output`; `introduced`, `defined` and `defines` stand for annotations.

The items of `variables`, `arrays` and `constraints` are decoded one by one, so that each has its place in the text and
an error has its line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from turbo_fzn.base.collector import without_collector
from turbo_fzn.base.domains import IntSet
from turbo_fzn.base.errors import ModelError, UnsupportedError
from turbo_fzn.read.grammar import make_float
from turbo_fzn.read.model import Array, Call, Constraint, FloatRange, FloatSet, Goal, Model, Ref, Text, Variable

METHODS = ("satisfy", "minimize", "maximize")
KINDS = {"bool": "bool", "int": "int", "float": "float", "set of int": "set"}
NAME = re.compile(r"(?!(?:true|false)$)[A-Za-z_][A-Za-z0-9_]*")
BLANKS = re.compile(r"[ \t\r\n]*")
MAX_SHOWN = 40  # format: characters of a wrong value in a message


@without_collector()
def parse_json(text: str, file: str = "") -> Model:
    """The model of a FlatZinc-JSON text. Raises ModelError with the line of the fault."""
    try:
        return _JsonReader(text, file).read()
    except RecursionError:
        raise ModelError("the model is nested too deeply", file) from None


class _JsonReader:
    """Reads one text; `position` is the beginning of the current item."""

    def __init__(self, text: str, file: str):
        self.text = text
        self.model = Model(file=file, text=text)
        self.decode = json.JSONDecoder(parse_constant=self.constant, parse_float=self.real).raw_decode
        self.position = 0
        self.output: list[Any] = []
        self.sections: dict[str, Callable[[int], int]] = {
            "variables": lambda start: self.members(start, self.add_variable),
            "arrays": lambda start: self.members(start, self.add_array),
            "constraints": lambda start: self.elements(start, self.add_constraint),
            "output": self.read_output,
            "solve": self.read_goal,
            "version": lambda start: self.value(start)[1],
        }

    def read(self) -> Model:
        start = self.skip(1 if self.text.startswith("\ufeff") else 0)
        seen = set()
        for key, place in self.pairs(start):
            if key in seen:
                self.fail(f'a second "{key}"', place)
            seen.add(key)
            read = self.sections.get(key, lambda start: self.value(start)[1])
            self.end = read(place)
        if self.end < len(self.text):
            self.fail("something follows the model", self.end)
        if self.model.goal is None:
            self.fail('"solve" is missing', start)
        self.type_arrays()
        self.mark_output()
        return self.model

    # ---- JSON, piece by piece

    def fail(self, message: str, position: int | None = None) -> NoReturn:
        raise ModelError(message, *self.model.locate(self.position if position is None else position))

    def skip(self, position: int) -> int:
        match = BLANKS.match(self.text, position)
        assert match is not None
        return match.end()

    def expect(self, characters: str, position: int) -> int:
        """The place behind one of the characters, and blanks."""
        if position >= len(self.text):
            self.fail("unexpected end of the file", len(self.text))
        if self.text[position] not in characters:
            wanted = " or ".join(f"`{character}`" for character in characters)
            self.fail(f"unexpected {self.text[position]!r}, expected {wanted}", position)
        return self.skip(position + 1)

    def value(self, position: int) -> tuple[Any, int]:
        """The value at a place, and the place after it and blanks."""
        try:
            value, end = self.decode(self.text, position)
        except json.JSONDecodeError as error:
            self.fail(f"no JSON: {error.msg}", error.pos)
        except ValueError:
            self.fail("an integer has thousands of digits", position)
        return value, self.skip(end)

    def pairs(self, position: int) -> Iterator[tuple[str, int]]:
        """(key, place of the value) of an object; the caller sets `end` to the place behind the value."""
        self.end = self.expect("{", position)
        if self.text[self.end : self.end + 1] == "}":
            self.end = self.skip(self.end + 1)
            return
        while True:
            if self.text[self.end : self.end + 1] != '"':
                self.fail("expected a key in quotes", min(self.end, len(self.text)))
            self.position = self.end
            key, place = self.value(self.end)
            yield key, self.expect(":", place)
            last, self.end = self.text[self.end : self.end + 1], self.expect(",}", self.end)
            if last == "}":
                return

    def members(self, start: int, add: Callable[[str, Any], None]) -> int:
        for key, place in self.pairs(start):
            value, self.end = self.value(place)
            add(key, value)
        return self.end

    def elements(self, start: int, add: Callable[[Any], None]) -> int:
        end = self.expect("[", start)
        if self.text[end : end + 1] == "]":
            return self.skip(end + 1)
        while True:
            self.position = end
            value, end = self.value(end)
            add(value)
            last, end = self.text[end : end + 1], self.expect(",]", end)
            if last == "]":
                return end

    def constant(self, word: str) -> NoReturn:
        self.fail(f"no JSON: {word}")

    def real(self, word: str) -> float:
        try:
            return make_float(word)
        except ValueError as error:
            return self.fail(str(error))

    # ---- expressions

    def expression(self, value: Any) -> Any:
        """A literal, a name or an array of them, as an argument of a constraint."""
        if type(value) is list:
            return [self.literal(element) for element in value]
        return self.literal(value)

    def literal(self, value: Any) -> Any:
        if type(value) is str:
            return self.name(value)
        if type(value) is int:
            return self.integer(value)
        if type(value) in (bool, float):
            return value
        if type(value) is dict and len(value) == 1:
            if "set" in value:
                return self.make_set(value["set"])
            if type(value.get("string")) is str:
                return Text(value["string"])
        self.fail(f"{shown(value)} is no literal and no name")

    def integer(self, value: int) -> int:
        if not -(2**63) <= value < 2**63:
            self.fail(f"the integer {shown(value)} does not fit in 64 bits")
        return value

    def name(self, value: Any) -> Ref:
        if type(value) is not str or not NAME.fullmatch(value):
            self.fail(f"{shown(value)} is no name")
        return Ref(value)

    def make_set(self, ranges: Any) -> IntSet | FloatSet:
        if type(ranges) is not list or not all(type(pair) is list and len(pair) == 2 for pair in ranges):
            self.fail(f"{shown(ranges)} is no list of ranges")
        ends = [end for pair in ranges for end in pair]
        if any(type(end) not in (int, float) for end in ends):
            self.fail(f"{shown(ranges)} is no list of ranges")
        if any(type(end) is float for end in ends):
            return FloatSet(ends)
        return IntSet.of_ranges([(self.integer(low), self.integer(high)) for low, high in ranges])

    def float_range(self, name: str, domain: IntSet | FloatSet | None) -> FloatRange | None:
        """The domain of a float variable. JSON may write 1 for 1.0."""
        if isinstance(domain, IntSet) and domain and not domain.has_holes:
            return FloatRange([domain.lower, domain.upper])
        if domain is not None and (isinstance(domain, IntSet) or len(domain.values) != 2):
            where = self.model.locate(self.position)
            raise UnsupportedError(f"the domain of the variable {name} is no single range", *where)
        return domain and FloatRange(domain.values)

    def annotations(self, item: dict) -> list:
        listed = item.get("ann", [])
        if type(listed) is not list:
            self.fail('"ann" is no list')
        return [self.term(annotation) for annotation in listed]

    def term(self, value: Any) -> Any:
        """An annotation, or an argument of an annotation."""
        if type(value) is list:
            return [self.term(element) for element in value]
        if type(value) is dict and "id" in value:
            arguments = value.get("args", [])
            if type(arguments) is not list:
                self.fail('"args" is no list')
            return Call(str(self.name(value["id"])), [self.term(argument) for argument in arguments])
        return self.literal(value)

    # ---- items

    def item(self, value: Any, what: str, *keys: str) -> dict:
        """An object that has the keys."""
        if type(value) is not dict:
            self.fail(f"{what} is no object")
        for key in keys:
            if key not in value:
                self.fail(f'{what} has no "{key}"')
        return value

    def declare(self, name: str) -> None:
        self.name(name)
        if name in self.model.variables or name in self.model.arrays:
            self.fail(f"{name} is declared twice")

    def add_variable(self, name: str, value: Any) -> None:
        self.declare(name)
        item = self.item(value, f"the variable {name}", "type")
        kind = KINDS.get(item["type"]) if type(item["type"]) is str else None
        if kind is None:
            self.fail(f"the variable {name} has the type {shown(item['type'])}")
        domain = self.make_set(item["domain"]) if "domain" in item else None
        if kind == "float":
            domain = self.float_range(name, domain)
        elif isinstance(domain, FloatSet):
            self.fail(f"the domain of the variable {name} is not of integers")
        annotations = self.annotations(item)
        for key, annotation in (("introduced", "var_is_introduced"), ("defined", "is_defined_var")):
            if item.get(key) is True:
                annotations.append(Ref(annotation))
        right = self.literal(item["rhs"]) if "rhs" in item else None
        self.model.variables[name] = Variable(name, kind, domain, annotations, right, self.position)

    def add_array(self, name: str, value: Any) -> None:
        self.declare(name)
        item = self.item(value, f"the array {name}", "a")
        if type(item["a"]) is not list:
            self.fail(f'"a" of the array {name} is no list')
        elements = [self.literal(element) for element in item["a"]]
        self.model.arrays[name] = Array(name, "", False, None, elements, self.annotations(item), self.position)

    def add_constraint(self, value: Any) -> None:
        item = self.item(value, "the constraint", "id", "args")
        name = self.name(item["id"])
        if type(item["args"]) is not list:
            self.fail(f'"args" of {name} is no list')
        arguments = [self.expression(argument) for argument in item["args"]]
        annotations = self.annotations(item)
        if "defines" in item:
            annotations.append(Call("defines_var", [self.name(item["defines"])]))
        self.model.constraints.append(Constraint(str(name), arguments, annotations, self.position))

    def read_output(self, start: int) -> int:
        return self.elements(start, lambda value: self.output.append((self.name(value), self.position)))

    def read_goal(self, start: int) -> int:
        self.position = start
        value, end = self.value(start)
        item = self.item(value, '"solve"', "method")
        method = item["method"]
        if method not in METHODS:
            self.fail(f"the method {shown(method)} is none of {', '.join(METHODS)}")
        if method != "satisfy":
            self.item(item, '"solve"', "objective")
        objective = None if method == "satisfy" else self.literal(item["objective"])
        self.model.goal = Goal(method, objective, self.annotations(item), start)
        return end

    # ---- checks of the whole model

    def type_arrays(self) -> None:
        """Sets the kind of each array from its elements. An empty array is of any kind, so its uses are replaced by
        `[]`."""
        arrays = self.model.arrays
        for array in arrays.values():
            self.position = array.position
            kinds = {self.kind(element) for element in array.elements}
            if kinds == {"int", "float"}:
                kinds = {"float"}
            if len(kinds) > 1:
                self.fail(f"the array {array.name} holds elements of different types: {', '.join(sorted(kinds))}")
            array.kind = kinds.pop() if kinds else "int"
            array.is_variable = any(type(element) is Ref for element in array.elements) or not array.elements
        empty = {Ref(name) for name, array in arrays.items() if not array.elements}
        if empty and self.model.goal is not None:
            for arguments in (*(constraint.args for constraint in self.model.constraints), self.model.goal.annotations):
                _inline_empty(arguments, empty)

    def kind(self, element: Any) -> str:
        if type(element) is Ref:
            variable = self.model.variables.get(element)
            if variable is None:
                self.fail(f"undefined identifier `{element}`")
            return variable.kind
        for kind, types in (("bool", bool), ("int", int), ("float", float), ("set", (IntSet, FloatSet))):
            if isinstance(element, types):
                return kind
        self.fail(f"{shown(element)} cannot be an element of an array")

    def mark_output(self) -> None:
        for name, position in self.output:
            self.position = position
            if name in self.model.variables:
                self.model.variables[name].annotations.append(Ref("output_var"))
            elif name in self.model.arrays:
                array = self.model.arrays[name]
                array.annotations.append(Call("output_array", [[IntSet.interval(1, len(array.elements))]]))
            else:
                self.fail(f"the output `{name}` is not declared")


def _inline_empty(values: list, empty: set[Ref]) -> None:
    """Puts `[]` for the names of empty arrays, also inside of calls and lists."""
    for place, value in enumerate(values):
        if type(value) is Ref and value in empty:
            values[place] = []
        elif type(value) is list:
            _inline_empty(value, empty)
        elif type(value) is Call:
            _inline_empty(value.args, empty)


def shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…"
