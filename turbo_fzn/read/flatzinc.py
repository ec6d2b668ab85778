"""FlatZinc text to Model.

The language is defined once, in flatzinc.lark. Lark's price is per token (about 1.2 MB/s of FlatZinc), and a big file
is a million statements of five shapes, so the grammar names those shapes as *flat terminals*, each one regular
expression composed of the ordinary terminals. This file

1. scans the text with the alternation of these expressions, one match a statement;
2. splits a flat statement at its delimiters, and turns each *word* (what stands between two commas) into its value
   by a dictionary, so that a word is looked at once however often it occurs;
3. gives a statement that the scan refuses, or that holds a word that is no word, to Lark: nested annotations,
   comments inside a statement, and everything wrong, which is how each error gets its line, column and reason.

The scan is what a lexer generator would do, were the longest regular parts of the language its tokens. That both
ways give the same model is a property test in tests/unit/read/test_parse_both_ways.py.

Values that occur often are shared between statements (a Ref, an IntSet, the annotations of variables): do not modify
the lists of a Model. The cyclic garbage collector is off during the parse: it would repeatedly visit millions of new
tuples and find nothing.

Checked here: syntax, duplicate names, the length of arrays, the values of scalar parameters, one solve item, integers
of 64 bits. Names, predicates, arity and types are the business of the lowering.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any, Generic, NoReturn, TypeVar

from turbo_fzn.base.collector import without_collector
from turbo_fzn.base.domains import IntSet
from turbo_fzn.base.errors import ModelError
from turbo_fzn.base.progress import stage
from turbo_fzn.read.grammar import (
    BLANKS,
    INSIDE_SET,
    NotAWord,
    Refused,
    Words,
    compiled_terminal,
    kind_of,
    make_text,
    read_nested,
    terminals,
)
from turbo_fzn.read.model import NO_ANNOTATIONS, Array, Call, Constraint, FloatSet, Goal, Model, Variable
from turbo_fzn.read.tuning import TUNING

NESTED = "("  # stands for a list among the words of a flat statement, where a parenthesis cannot occur

VALUE_TYPES: dict[str, set[type]] = {"bool": {bool}, "int": {int}, "float": {float, int}, "set": {IntSet, FloatSet}}

Key = TypeVar("Key")
Value = TypeVar("Value")


@without_collector()
def parse_text(text: str, file: str = "") -> Model:
    """The model of a FlatZinc text; `file` is its name in messages."""
    reader = FlatZincReader(text, file)
    with stage("parse", reader.share):
        model = reader.read()
    del reader.types, reader.variable_annotations  # they refer to the reader, and so would keep all its words
    return model


class _Memo(dict[Key, Value], Generic[Key, Value]):
    """A dictionary that makes a missing value from its key."""

    def __init__(self, make: Callable[[Key], Value]):
        super().__init__()
        self.make = make

    def __missing__(self, key: Key) -> Value:
        value = self[key] = self.make(key)
        return value


@functools.cache
def _scan_pattern(*without: str) -> re.Pattern[str]:
    """One match is a flat statement, or blanks and comments between statements, or OTHER."""
    names = [name for name in (*FLAT_STATEMENTS, "FLAT_SPACE") if name not in without]
    shapes = [f"(?P<{name}>{terminals()[name]})" for name in names]
    return re.compile("|".join([*shapes, r"(?P<OTHER>[\s\S])"]))


def _scan_pattern_of(text: str) -> re.Pattern[str]:
    """The pattern without shapes that the text cannot have: to compile a shape takes longer than to solve a small
    model."""
    return _scan_pattern(*(name for name, word in FIRST_WORDS.items() if word not in text))


class FlatZincReader:
    """Reads one text. A flat and a nested statement of the same kind end in the same `_add_…` function."""

    def __init__(self, text: str, file: str, scan: re.Pattern[str] | None = None):
        self.text = text
        self.scan = scan or _scan_pattern_of(text)
        self.model = Model(file=file, text=text)
        self.words = Words()
        self.words[NESTED] = NESTED
        self.heads: _Memo[str, str] = _Memo(lambda head: head[len("constraint") :].strip(BLANKS))
        self.types: _Memo[str, tuple[str, Any]] = _Memo(self._flat_type)
        self.variable_annotations: _Memo[str, list] = _Memo(self._flat_annotations)
        self.nested_characters = 0  # characters passed to Lark

    def read(self) -> Model:
        text = self.text
        flat = {name: getattr(self, method) for name, method in FLAT_STATEMENTS.items()}
        flat["FLAT_SPACE"] = self._skip
        position = 1 if text.startswith("\ufeff") else 0
        while position < len(text):
            for match in self.scan.finditer(text, position):
                position = match.start()
                if match.lastgroup == "OTHER":
                    break
                try:
                    flat[match.lastgroup](match.group(), position)  # type: ignore[index]
                except NotAWord:
                    break
                position = match.end()
            if position < len(text):
                position = self._read_nested(position)
        if self.model.goal is None:
            self._fail("missing solve item", len(text))
        return self.model

    def share(self) -> float:
        """The share of the text that is read, by the last items; for another thread, while this thread reads."""
        constraints, variables = self.model.constraints, list(self.model.variables.values())
        last = max(items[-1].position if items else 0 for items in (constraints, variables))
        return last / max(len(self.text), 1)

    def _fail(self, message: str, position: int) -> NoReturn:
        raise ModelError(message, *self.model.locate(position))

    def _skip(self, statement: str, position: int) -> None:
        pass

    # ---- statements for Lark

    def _read_nested(self, start: int) -> int:
        """Read the statement at `start` with Lark and return its end."""
        end = self._statement_end(start, TUNING.probed_characters)
        if end is None and start + TUNING.probed_characters < len(self.text):
            self._read_prefix(start)
            end = self._statement_end(start, TUNING.nested_characters)
            if end is None:
                self._fail("the statement does not end, or is too long", start)
        statement = self.text[start:end]
        self.nested_characters += len(statement)
        self._check_nesting(statement, start)
        try:
            item, fields = read_nested(statement, self.words)
        except Refused as error:
            self._fail(error.message, start + error.offset)
        getattr(self, f"_add_{item}")(*fields, start)
        return start + len(statement)

    def _read_prefix(self, start: int) -> None:
        """Fail if the beginning of a very long statement is wrong: garbage is to be refused at once."""
        prefix, strings = self.text[start : start + TUNING.probed_characters], compiled_terminal("STRING")
        self._check_nesting(prefix, start)
        try:
            read_nested(prefix, self.words)
        except Refused as error:
            in_string = prefix[error.offset : error.offset + 1] == '"' and not strings.match(prefix, error.offset)
            if error.offset < len(prefix) // 2 and not in_string:  # otherwise the cut may be the fault
                self._fail(error.message, start + error.offset)

    def _statement_end(self, start: int, most: int) -> int | None:
        """The position behind the semicolon that ends the statement; None if `most` characters hold no such."""
        text, position = self.text, start
        limit = min(start + most, len(text))
        delimiter = re.compile('[;"%]')
        while (match := delimiter.search(text, position, limit)) is not None:
            if match.group() == ";":
                return match.end()
            terminal = compiled_terminal("STRING" if match.group() == '"' else "COMMENT")
            skipped = terminal.match(text, match.start(), limit)
            if skipped is None:
                return None
            position = skipped.end()
        return None

    def _check_nesting(self, statement: str, start: int) -> None:
        """Refuse deep nesting here, where no recursion has met it yet."""
        if sum(statement.count(bracket) for bracket in "([{") <= TUNING.nesting:
            return
        depth, skipped = 0, f"{terminals()['STRING']}|{terminals()['COMMENT']}"
        for match in re.finditer(rf"{skipped}|[][(){{}}]", statement):
            depth += (match.group() in "([{") - (match.group() in ")]}")
            if depth > TUNING.nesting:
                self._fail(f"nested more than {TUNING.nesting} deep", start + match.start())

    # ---- flat statements

    def _flat_constraint(self, statement: str, position: int) -> None:
        head, _, rest = statement.partition("(")
        arguments, _, annotations = rest.partition(")")
        self.model.constraints.append(
            Constraint(
                self.heads[head],
                self._flat_values(arguments),
                self._flat_annotations(annotations) if annotations[0] != ";" else NO_ANNOTATIONS,
                position,
            )
        )

    def _flat_variable(self, statement: str, position: int) -> None:
        declaration, value = statement.rstrip(BLANKS)[:-1], None
        if "=" in declaration:
            declaration, _, right = declaration.rpartition("=")
            value = self._flat_value(right)
        head, _, rest = declaration.partition(":")
        name, colons, annotations = rest.partition("::")
        shared = self.variable_annotations[colons + annotations]
        self._add_variable(self.types[head[3:]], name.strip(BLANKS), shared, value, position)

    def _flat_array(self, statement: str, position: int) -> None:
        declaration, _, right = statement.rpartition("=")
        head, _, rest = declaration.partition(":")
        indices, _, type_text = head.partition("]")
        low, _, high = indices.partition("[")[2].partition("..")
        type_text = type_text.strip(BLANKS)[2:].lstrip(BLANKS)  # behind "of"
        is_variable = type_text.startswith("var")
        name, colons, annotations = rest.partition("::")
        self._add_array(
            (self.words[low], self.words[high]),
            is_variable,
            self.types[type_text[3:] if is_variable else type_text],
            name.strip(BLANKS),
            self._flat_annotations(colons + annotations),
            self._flat_values(right[right.index("[") + 1 : right.rindex("]")]),
            position,
        )

    def _flat_parameter(self, statement: str, position: int) -> None:
        declaration, _, right = statement.rstrip(BLANKS)[:-1].partition("=")
        head, _, name = declaration.partition(":")
        self._add_parameter(self.types[head], name.strip(BLANKS), [], self._flat_value(right), position)

    def _flat_solve(self, statement: str, position: int) -> None:
        whole = re.compile(r"(.*)\b(satisfy|minimize|maximize)\b(.*)", re.DOTALL)
        match = whole.fullmatch(statement.rstrip(BLANKS)[:-1])
        if match is None:
            raise NotAWord  # an annotation whose name ends like a method
        keyword, *parts = match[1].split("::")
        if keyword.strip(BLANKS) != "solve":
            raise NotAWord  # an objective that has the name of a method
        annotations = [self._flat_search(part) for part in parts]
        self._add_solve(annotations, match[2], self._flat_value(match[3]) if match[2] != "satisfy" else None, position)

    def _flat_search(self, text: str) -> object:
        """An annotation of a flat solve item: a name, a flat call, or a call of a list of flat calls."""
        name, _, rest = text.partition("(")
        if "(" not in rest:
            return self._flat_term(text)
        calls = compiled_terminal("FLAT_CALL").findall(rest)
        return Call(name.strip(BLANKS), [[self._flat_term(call) for call in calls]])

    def _flat_annotations(self, text: str) -> list:
        """`:: a :: b(…)`, with or without a semicolon behind."""
        if '"' in text:
            parts = [part[2:] for part in compiled_terminal("FLAT_ANNOTATION").findall(text)]
        else:
            parts = text.split("::")[1:]
        return [self._flat_term(part) for part in parts]

    def _flat_term(self, text: str) -> object:
        """`name` or `name(words)` or `name("string")`; what stands behind the parenthesis does not matter."""
        name, parenthesis, rest = text.partition("(")
        if not parenthesis:
            return self.words[name.rstrip(";" + BLANKS)]
        inner = rest[: rest.rindex(")")]
        if '"' in inner:
            return Call(name.strip(BLANKS), [make_text(inner.strip(BLANKS))])
        return Call(name.strip(BLANKS), self._flat_values(inner))

    def _flat_type(self, text: str) -> tuple[str, Any]:
        text = text.strip(BLANKS)
        if text in ("bool", "int", "float"):
            return text, None
        if not text.startswith("set"):
            domain = self._flat_value(text)
            return kind_of(domain), domain
        kind, domain = self.types[text[3:].strip(BLANKS)[2:]]  # behind "of"
        if kind == "bool":
            raise NotAWord
        return "set", domain

    def _flat_value(self, text: str) -> Any:
        values = self._flat_values(text)
        if len(values) != 1:
            raise NotAWord
        return values[0]

    def _flat_values(self, text: str) -> list:
        """The values of `word, word, [word, word], …`."""
        if "{" in text:
            text = re.sub(r"\{[^{}]*\}", lambda match: match.group().replace(",", INSIDE_SET), text)
        if "[" not in text:
            return self._flat_list(text)
        parts = text.replace("]", "[").split("[")
        lists = map(self._flat_list, parts[1::2])
        return [
            value if value is not NESTED else next(lists)
            for value in map(self.words.__getitem__, NESTED.join(parts[::2]).split(","))
        ]

    def _flat_list(self, text: str) -> list:
        """The values of `word, word, …`."""
        return list(map(self.words.__getitem__, text.split(","))) if text and not text.isspace() else []

    # ---- items

    def _declare(self, name: str, position: int) -> None:
        model = self.model
        if name not in model.variables and name not in model.arrays and name not in model.parameters:
            return
        first = model.variables.get(name) or model.arrays.get(name)
        line = f", first in line {model.locate(first.position)[1]}" if first else ""
        self._fail(f"{name} is declared twice{line}", position)

    def _add_predicate(self, position: int) -> None:
        """Ignores declarations of predicates: the table of constraints has their signatures."""

    def _add_parameter(self, type_: tuple, name: str, annotations: list, value: object, position: int) -> None:
        self._declare(name, position)
        kind, domain = type_
        if type(value) not in VALUE_TYPES[kind]:
            self._fail(f"the value of the parameter {name} is not of type {kind}", position)
        if isinstance(value, int) and isinstance(domain, IntSet) and value not in domain:
            self._fail(f"the value of the parameter {name} is not in its range", position)
        self.model.parameters[name] = value

    def _add_variable(self, type_: tuple, name: str, annotations: list, value: object, position: int) -> None:
        self._declare(name, position)
        kind, domain = type_
        self.model.variables[name] = Variable(name, kind, domain, annotations, value, position)

    def _add_array(
        self,
        indices: tuple[int, int],
        is_variable: bool,
        type_: tuple,
        name: str,
        annotations: list,
        elements: list,
        position: int,
    ) -> None:
        self._declare(name, position)
        low, high = indices
        kind, domain = type_
        if low != 1:
            self._fail(f"the indices of the array {name} begin with {low}, not 1", position)
        if len(elements) != max(high, 0):
            self._fail(f"the array {name} has {len(elements)} elements where {low}..{high} are declared", position)
        self.model.arrays[name] = Array(name, kind, is_variable, domain, elements, annotations, position)

    def _add_constraint(self, name: str, arguments: list, annotations: list, position: int) -> None:
        self.model.constraints.append(Constraint(name, arguments, annotations, position))

    def _add_solve(self, annotations: list, method: str, objective: object, position: int) -> None:
        if self.model.goal is not None:
            line = self.model.locate(self.model.goal.position)[1]
            self._fail(f"a second solve item, the first is in line {line}", position)
        self.model.goal = Goal(method, objective, annotations, position)


FLAT_STATEMENTS = {
    "FLAT_CONSTRAINT": "_flat_constraint",
    "FLAT_VARIABLE": "_flat_variable",
    "FLAT_ARRAY": "_flat_array",
    "FLAT_PARAMETER": "_flat_parameter",
    "FLAT_SOLVE": "_flat_solve",
    "FLAT_PREDICATE": "_skip",
}
# The word that every statement of a shape begins with.
FIRST_WORDS = {"FLAT_CONSTRAINT": "constraint", "FLAT_ARRAY": "array", "FLAT_PREDICATE": "predicate"}
