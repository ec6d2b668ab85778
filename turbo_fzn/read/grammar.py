"""The grammar of FlatZinc at run time: Lark's parser of one statement, and the terminals as regular expressions.

    python -m turbo_fzn.read.grammar --write      writes flatzinc.terminals, which the source tree keeps printed

flatzinc.lark is the only definition of the language. Two things are made of it here:

- `read_nested` reads one statement of any shape with Lark, and finds the fault of a wrong statement;
- `compiled_terminal` gives an expression that Lark has composed, for the scan of flatzinc.py.

Importing Lark and building its tables costs 0.15 s, more than reading a small model. So the expressions are printed
into a file, which `test_parse_cache.py` compares, and Lark is imported when a statement needs it. Its tables are kept
in the cache folder, under a key made of the grammar and of Lark's version. A folder that cannot be used (cache.py)
costs that time at each start that has such a statement.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from turbo_fzn.base import cache
from turbo_fzn.base.domains import IntSet
from turbo_fzn.base.errors import EngineError
from turbo_fzn.base.resources import pip
from turbo_fzn.read.model import Call, FloatRange, FloatSet, Index, Ref, Text

if TYPE_CHECKING:
    from lark import Lark

Number = TypeVar("Number", int, float)

GRAMMAR = Path(__file__).with_name("flatzinc.lark")
TERMINALS = GRAMMAR.with_suffix(".terminals")  # a line for each: its name and its expression, with escapes
BLANKS = " \t\r\n"
INSIDE_SET = ";"  # stands for a comma inside the braces of a word
MAX_DIGITS = 40  # format: an integer with more digits is refused at once
MAX_SHOWN = 40  # format: characters of a wrong word in a message
MAX_EXPECTED = 6  # format: possibilities that a message lists
SEARCHES = {"int_search", "bool_search", "set_search", "float_search"}
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a", "b": "\b"}
TERMINAL_WORDS = {
    "NAME": "a name",
    "INT": "an integer",
    "FLOAT": "a number",
    "BOOL": "true or false",
    "STRING": "a string",
    "LIST": "`[`",
}


class Refused(Exception):
    """Something is wrong at `offset` characters from the beginning of a statement."""

    def __init__(self, message: str, offset: int):
        super().__init__(message)
        self.message = message
        self.offset = offset


class NotAWord(Exception):
    """A text is neither a literal nor a name; only Lark can read it, or find its fault.

    Its message, if any, is a reason that holds wherever the text stands.
    """


# ---- the grammar and its cache


def _tables_file() -> Path | None:
    """The file for the tables that this Lark makes of this grammar; None without a cache folder."""
    lark = importlib.util.find_spec("lark")
    if lark is None or lark.origin is None:
        raise EngineError(f"the Python package lark is not installed: {pip('install', 'lark')}")
    parts = [GRAMMAR.read_bytes(), Path(lark.origin).read_bytes(), repr(sys.version_info).encode()]
    key = hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]
    folder = cache.find_folder()
    return folder and folder / f"flatzinc-{key}.lark"


@contextlib.contextmanager
def _written_to(kept: Path | None) -> Iterator[Path | None]:
    """A path to write to, which is renamed to `kept` when the block ends, so that no process reads half a file.

    An OSError, as where the disk is full, ends the block, and nothing is kept.
    """
    fresh = kept and kept.with_name(f"{kept.name}.{os.getpid()}")
    try:
        yield fresh
        if kept and fresh:
            cache.seal(fresh)
            os.replace(fresh, kept)
    except OSError:
        if fresh is None:
            raise
        with contextlib.suppress(OSError):
            fresh.unlink()


@functools.cache
def _lark() -> Lark:
    import lark

    kept = _tables_file()
    if kept and cache.read(kept) is not None:  # Lark unpickles it
        return _make_lark(lark, kept)
    with _written_to(kept) as fresh:
        return _make_lark(lark, fresh)
    return _make_lark(lark, None)


def _make_lark(lark: Any, tables: Path | None) -> Lark:
    """The parser; Lark reads its tables from a file if it exists, and otherwise writes it."""
    return lark.Lark(
        GRAMMAR.read_text(encoding="utf-8"),
        parser="lalr",
        start=["item", "flat", "part"],
        maybe_placeholders=False,
        transformer=_ACTIONS,
        cache=str(tables) if tables else False,
    )


@functools.cache
def terminals() -> dict[str, str]:
    """The regular expression of each terminal, as printed."""
    entries = (line.decode("unicode_escape").partition(" ") for line in TERMINALS.read_bytes().splitlines())
    return {name: expression for name, _, expression in entries}


def printed_terminals() -> bytes:
    """The required contents of the file of terminals."""
    entries = (f"{terminal.name} {terminal.pattern.to_regexp()}" for terminal in _lark().terminals)
    return "".join(entry.encode("unicode_escape").decode() + "\n" for entry in sorted(entries)).encode()


@functools.cache
def compiled_terminal(name: str) -> re.Pattern[str]:
    """A terminal that is used without Lark."""
    return re.compile(terminals()[name])


# ---- words and literals


class Words(dict[str, Any]):
    """From a word (what stands between two commas, blanks included) to its value, made when first asked for."""

    def __init__(self) -> None:
        super().__init__({"true": True, "false": False})
        self.is_name = compiled_terminal("NAME").fullmatch
        self.is_integer = compiled_terminal("INT").fullmatch
        self.is_float = compiled_terminal("FLOAT").fullmatch

    def __missing__(self, text: str) -> Any:
        word = text.strip(BLANKS)
        value = self[text] = self[word] if word != text else self._value(word)
        return value

    def _value(self, word: str) -> object:
        if self.is_name(word):
            return Ref(word)
        if word.startswith("{") and word.endswith("}"):
            inner = word[1:-1].strip(BLANKS)
            return make_set([self._number(part) for part in inner.split(INSIDE_SET)] if inner else [])
        low, dots, high = word.partition("..")
        return _make_range(self._number(low), self._number(high)) if dots else self._number(low)

    def _number(self, text: str) -> int | float:
        word = text.strip(BLANKS)
        if self.is_integer(word):
            return self._made(_make_integer, word)
        if self.is_float(word):
            return self._made(make_float, word)
        raise NotAWord

    def _made(self, make: Callable[[str], Number], word: str) -> Number:
        try:
            return make(word)
        except ValueError as error:
            raise NotAWord(str(error)) from None


def _make_integer(word: str) -> int:
    """The value of an INT. Raises ValueError when it has more than 64 bits."""
    base = {"0x": 16, "0o": 8}.get(word.lstrip("-")[:2], 10)
    value = int(word, base) if len(word) < MAX_DIGITS else 2**64
    if not -(2**63) <= value < 2**63:
        raise ValueError(f"the integer {word[:MAX_DIGITS]} does not fit in 64 bits")
    return value


def make_float(word: str) -> float:
    """The value of a FLOAT. Raises ValueError when no double is near it."""
    value = float(word)
    if not isfinite(value):
        raise ValueError(f"the number {word[:MAX_DIGITS]} does not fit in a double")
    return value


def _make_range(low: float, high: float) -> IntSet | FloatSet:
    if isinstance(low, int) and isinstance(high, int):
        return IntSet.interval(low, high)
    return FloatRange([low, high])


def make_set(values: list) -> IntSet | FloatSet:
    return IntSet.of_values(values) if all(type(value) is int for value in values) else FloatSet(values)


def make_text(literal: str) -> Text:
    """The contents of a STRING."""
    if "\\" not in literal:
        return Text(literal[1:-1])
    return Text(re.sub(r"\\(.)", lambda match: ESCAPES.get(match[1], match[1]), literal[1:-1], flags=re.DOTALL))


def kind_of(domain: IntSet | FloatSet) -> str:
    """The kind of variable that has such a domain."""
    return "int" if isinstance(domain, IntSet) else "float"


# ---- nested statements


def read_nested(statement: str, words: Words) -> tuple[str, tuple]:
    """One statement as (kind of item, fields), by Lark. Raises Refused with its fault and the place of it."""
    parser = _lark()
    from lark.exceptions import UnexpectedInput

    _ACTIONS.words = words
    try:
        return parser.parse(statement, start="item")  # type: ignore[return-value]
    except UnexpectedInput as error:
        raise _refusal(error, statement) from None


def _refusal(error: Any, statement: str) -> Refused:
    """Lark's error as a message in words of FlatZinc."""
    token = getattr(error, "token", None)
    at_end = token is not None and token.type == "$END"
    offset = len(statement) if at_end else error.pos_in_stream
    expected = _expected(error.interactive_parser.accepts()) if offset else ", expected the beginning of an item"
    if at_end:
        return Refused(f"unexpected end of the file in a statement{expected}", offset)
    if statement[offset] == '"' and not compiled_terminal("STRING").match(statement, offset):
        return Refused("the string does not end on its line", offset)
    if statement.startswith("[|", offset - 1):
        return Refused("array literals of two dimensions, `[|`, are not FlatZinc", offset - 1)
    found = re.compile(r"\w{1,40}|::|\.\.|(?s:.)").match(statement, offset)
    assert found is not None
    return Refused(f"unexpected {_quoted(found.group())}{expected}", offset)


def _expected(names: Iterable[str]) -> str:
    """`, expected …` when there are few possibilities."""
    source = terminals()
    plain = (re.sub(r"\\b|\\", "", source[name]) for name in names if name in source and name not in TERMINAL_WORDS)
    shown = {f"`{text}`" for text in plain} | {TERMINAL_WORDS[name] for name in names if name in TERMINAL_WORDS}
    return ", expected " + " or ".join(sorted(shown)) if 0 < len(shown) <= MAX_EXPECTED else ""


def _quoted(found: str) -> str:
    return f"`{found}`" if found.isprintable() else f"character {ord(found[0]):#x}"


class _Actions:
    """The meaning of each rule and terminal of `item`: Lark calls the method of its name when it has read it.

    A NAME stays Lark's token, a string with its place, until it becomes part of another value.
    """

    words: Words

    def BOOL(self, token: str) -> bool:
        return token == "true"

    def INT(self, token: Any) -> int:
        try:
            return _make_integer(str(token))
        except ValueError as error:
            raise Refused(str(error), token.start_pos) from None

    def FLOAT(self, token: Any) -> float:
        try:
            return make_float(str(token))
        except ValueError as error:
            raise Refused(str(error), token.start_pos) from None

    def STRING(self, token: str) -> Text:
        return make_text(str(token))

    def LIST(self, token: Any) -> list:
        inner = str(token)[1:-1]
        values, offset = [], token.start_pos + 1
        for word in inner.split(",") if inner.strip(BLANKS) else []:
            try:
                values.append(self.words[word])
            except NotAWord as error:
                shown = word.strip(BLANKS)
                unknown = f"{_quoted(shown[:MAX_SHOWN])} is no literal and no name"
                message = str(error) or (unknown if shown else "nothing between two commas")
                raise Refused(message, offset + len(word) - len(word.lstrip(BLANKS))) from None
            offset += len(word) + 1
        return values

    def item(self, children: list) -> tuple[str, tuple]:
        return children[0]

    def predicate(self, children: list) -> tuple[str, tuple]:
        return "predicate", ()

    def formal(self, children: list) -> None:
        return None

    def index_set(self, children: list) -> None:
        return None

    def parameter(self, children: list) -> tuple[str, tuple]:
        type_, name, annotations, value = children
        return "parameter", (type_, str(name), annotations, value)

    def variable(self, children: list) -> tuple[str, tuple]:
        _, type_, name, annotations, *value = children
        return "variable", (type_, str(name), annotations, value[0] if value else None)

    def array(self, children: list) -> tuple[str, tuple]:
        low, high, *var, type_, name, annotations, elements = children
        return "array", ((low, high), bool(var), type_, str(name), annotations, elements)

    def constraint(self, children: list) -> tuple[str, tuple]:
        name, *arguments, annotations = children
        return "constraint", (str(name), arguments, annotations)

    def solve(self, children: list) -> tuple[str, tuple]:
        annotations, method, *objective = children
        return "solve", (annotations, str(method), objective[0] if objective else None)

    def base_type(self, children: list) -> tuple[str, Any]:
        (domain,) = children
        return (str(domain), None) if isinstance(domain, str) else (kind_of(domain), domain)

    def set_type(self, children: list) -> tuple[str, Any]:
        return "set", self.base_type(children)[1]

    def range_literal(self, children: list) -> IntSet | FloatSet:
        return _make_range(*children)

    def set_literal(self, children: list) -> IntSet | FloatSet:
        return make_set(children)

    def list_of_elements(self, children: list) -> list:
        return children

    def name(self, children: list) -> Ref:
        return Ref(children[0])

    def index(self, children: list) -> Index:
        return Index(str(children[0]), children[1])

    def annotations(self, children: list) -> list:
        return children

    def call(self, children: list) -> Call:
        name, *arguments = children
        if name in SEARCHES and arguments and isinstance(arguments[0], list):
            for element in arguments[0]:
                if isinstance(element, Call):
                    raise Refused(f"{name} over {element.name}(…), which is no variable", name.start_pos)
        return Call(str(name), arguments)


_ACTIONS = _Actions()


if __name__ == "__main__":
    import argparse

    parser = argparse.ArgumentParser(prog="python -m turbo_fzn.read.grammar", description="Prints the terminals.")
    parser.add_argument("--write", action="store_true", required=True, help="into the source tree's turbo_fzn/read/")
    parser.parse_args()
    TERMINALS.write_bytes(printed_terminals())
