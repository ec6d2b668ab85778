"""Prints the kernels' side of abi.py: kernels/core/abi.h, and model_abi.h, abi_check.h and float_abi.h beside it; and
the list of the kinds of wide rows, kernels/learn/propagators/kinds.h, of tnf/wide.py; and the constants of a folder of
kernels/, its tuning.h, of kernel_tuning.py.

    python -m turbo_fzn.engine.abi.header            checks that the files are up to date
    python -m turbo_fzn.engine.abi.header --write    writes them

The comments of abi.py are printed too, for readers of the kernels. They are taken from its source text.
"""

import argparse
import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator
from itertools import groupby
from types import ModuleType
from typing import NamedTuple

from turbo_fzn.base.resources import kernels_folder
from turbo_fzn.engine.abi import abi, agreement, float_abi, kernel_tuning, log_records, model_records
from turbo_fzn.engine.abi.records import OWN_LINE, RECORDS, WIDTHS, fields_of
from turbo_fzn.tnf import language
from turbo_fzn.tnf.wide import WideKind

HOW = "python -m turbo_fzn.engine.abi.header --write"
WIDTH = 120
BLANK = "\x01"  # where no line may end
HEAD = f"""\
// What the host and the kernels agree on: the words that blocks share, the solution ring, the input of a kernel.
// Printed from turbo_fzn/engine/abi/abi.py by `{HOW}`: edit that one.
// BOUND_BITS (32 or 64) is the width of a bound in a store.
#pragma once

#include "model_abi.h"
#include "port.h"

#ifndef BOUND_BITS
#define BOUND_BITS 32
#endif

#if BOUND_BITS == 64
typedef i64 bound_t;
#else
typedef i32 bound_t;
#endif
"""
MODEL_HEAD = f"""\
// The records of the model in memory: rows, watch lists, strategies; and those of a log of conclusions.
// Printed from model_records.py and log_records.py of turbo_fzn/engine/abi by
// `{HOW}`: edit these.
#pragma once

#include "port.h"
"""
CHECK_HEAD = f"""\
// What a C++ compiler asserts of abi.h: that every field lies where the host thinks that it lies.
// Printed from turbo_fzn/engine/abi/abi.py by `{HOW}`: edit that one.
#pragma once

#include <stddef.h>

#define SAME(expression, value) \\
  static_assert((expression) == (value), "host and kernels differ: {HOW}")
#define ABI_DIGEST "{agreement.digest()}"
"""
FLOAT_HEAD = f"""\
// What the host and the kernels for models with real variables (FLOATS) agree on besides.
// Printed from turbo_fzn/engine/abi/float_abi.py by `{HOW}`: edit that one.
#pragma once

#include "abi.h"

#undef ABI_DIGEST
#define ABI_DIGEST "{agreement.digest(floats=True)}"
"""
KINDS_HEAD = f"""\
// The kinds of wide rows, each in a header of its own that ends with the struct of its name (WideRow in wide.h).
// Printed from turbo_fzn/tnf/wide.py by `{HOW}`: edit that one.
#pragma once

"""
TUNING_HEAD = f"""\
// Tunable constants of this folder, which decide by which way, how far or how long, and never which answer is given.
// Printed from turbo_fzn/engine/abi/kernel_tuning.py, which says what each trades, by
// `{HOW}`: edit that one.
#pragma once

#include "PORT"

"""


class Item(NamedTuple):
    """A field, or a value of an enum: the text before its name, its name, its comment, and the number of its paragraph
    in the class."""

    begin: str
    name: str
    comment: str
    paragraph: int


class Source:
    """The source text of a class or module, for its comments and paragraphs."""

    def __init__(self, of: object):
        text = textwrap.dedent(inspect.getsource(of))  # type: ignore[arg-type]
        self.lines = text.splitlines()
        tree = ast.parse(text)
        body = tree.body[0].body if inspect.isclass(of) else tree.body  # type: ignore[attr-defined]
        self.named = {name.id: statement for statement in body for name in _names(statement)}

    def comments(self) -> dict[str, str]:
        """The comment after the statement that defines each name."""
        ends = {name: self.lines[(statement.end_lineno or 0) - 1] for name, statement in self.named.items()}
        found = {name: re.search(r"  # (?!fmt:)(.*)", line) for name, line in ends.items()}
        return {name: comment[1] for name, comment in found.items() if comment}

    def paragraphs(self) -> dict[str, int]:
        """The number of empty lines before the definition of each name."""
        return {name: self.lines[: one.lineno].count("") for name, one in self.named.items()}

    def extents(self) -> dict[str, str]:
        """The dimensions of the fields that are arrays, as text."""
        nodes = [(name, node) for name, statement in self.named.items() for node in ast.walk(statement)]
        calls = [(name, node) for name, node in nodes if isinstance(node, ast.Call)]
        return {name: "".join(f"[{ast.unparse(one)}]" for one in call.args) for name, call in calls}


def _names(statement: ast.stmt) -> list[ast.Name]:
    targets = getattr(statement, "targets", [getattr(statement, "target", None)])
    return [target for target in targets if isinstance(target, ast.Name)]


def remark(text: str | None) -> list[str]:
    return [f"// {line}".rstrip() for line in inspect.cleandoc(text or "").splitlines()]


def beside(lines: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Lines with their comments, one below the other."""
    lines = list(lines)
    column = max((len(line) for line, comment in lines if comment), default=0)
    for line, comment in lines:
        yield f"{line:{column}}  // {comment}" if comment else line


def items_text(items: Iterable[Item], end: str) -> Iterator[str]:
    """A line for each item with a comment or of pointer type; other items share a line if they have the same type and
    paragraph."""

    def alone(item: Item) -> tuple[str, str, int]:
        return item.begin, item.name if item.comment or item.begin.endswith("* ") else "", item.paragraph

    lines = []
    for (begin, _, _), members in groupby(items, alone):
        group = list(members)
        text = f"{begin}{', '.join(item.name.replace(' ', BLANK) for item in group)}{end}"
        wrapped = textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    " if begin else "  ")
        lines += [(line.replace(BLANK, " "), group[0].comment) for line in wrapped]
    return beside(lines)


def constants_text(module: ModuleType = abi) -> Iterator[str]:
    """The lines of the constants of a module."""
    comments = Source(module).comments()
    values = {name: getattr(module, name) for name in module.CONSTANTS}
    for name, value in values.items():
        text = f"i32 {name} = {value}" if abs(value) < 2**31 else f"i64 {name} = {value:#x}"
        yield f"constexpr {text};" + (f"  // {comments[name]}" if name in comments else "")


def enumeration_text(enumeration: abi.Enumeration) -> Iterator[str]:
    """The lines of an enum."""
    own = [source for source in enumeration.sources if source.__module__ != language.__name__]
    for source in enumeration.sources:
        yield from remark(source.__doc__ if source in own else f"{source.__name__} of turbo_fzn/tnf/language.py.")
    comments = {name: comment for source in own for name, comment in Source(source).comments().items()}
    yield f"enum {enumeration.name} {{"
    yield from items_text(
        (
            Item("", f"{name} = {value}", comments.get(name.removeprefix(enumeration.prefix), ""), 0)
            for name, value in enumeration.values()
        ),
        ",",
    )
    yield "};"


def record_text(record: type) -> Iterator[str]:
    """The lines of a struct."""
    source = Source(record)
    comments, paragraphs, extents = source.comments(), source.paragraphs(), source.extents()
    alignment = f"alignas({record.ALIGNMENT}) " if record.ALIGNMENT > 1 else ""  # type: ignore[attr-defined]
    yield from remark(record.__doc__)
    yield f"struct {alignment}{record.__name__} {{"
    items = []
    for name, type, notes in ((field.name, field.type, field.notes) for field in fields_of(record)):
        begin = f"{OWN_LINE} {type} " if OWN_LINE in notes else f"{type} "
        items.append(Item(begin, name + extents.get(name, ""), comments.get(name, ""), paragraphs[name]))
    yield from items_text(items, ";")
    yield "};"


def _of_model(record: type) -> bool:
    """Whether it is a record of model_abi.h."""
    return record.__module__ in (model_records.__name__, log_records.__name__)


def header() -> str:
    records = (record_text(record) for record in RECORDS if not _of_model(record))
    parts = [constants_text(), *map(enumeration_text, abi.ENUMERATIONS), *records]
    return "\n".join([HEAD, *("\n".join(part) + "\n" for part in parts), '#include "abi_check.h"\n'])


def model_header() -> str:
    parts = [record_text(record) for record in RECORDS if _of_model(record)]
    return "\n".join([MODEL_HEAD, "\n\n".join("\n".join(part) for part in parts), ""])


def check() -> str:
    """The text of abi_check.h: an assertion for each number of the interface."""
    named = [f"SAME({fact.expression}, {fact.value});" for fact in agreement.named_facts()]
    placed = []
    for narrow, wide in zip(*(agreement.placed_facts(bits) for bits in WIDTHS)):
        value = narrow.value if narrow.value == wide.value else f"BY_WIDTH({narrow.value}, {wide.value})"
        placed.append(f"SAME({narrow.expression}, {value});")
    by_width = "#define BY_WIDTH(narrow, wide) (BOUND_BITS == 32 ? (narrow) : (wide))"
    return "\n".join(
        [CHECK_HEAD, *filled(named), "", by_width, *filled(placed), "", "#undef BY_WIDTH", "#undef SAME", ""]
    )


def filled(statements: Iterable[str]) -> list[str]:
    """The statements in as few lines as hold them, in order."""
    lines = [""]
    for statement in statements:
        longer = f"{lines[-1]} {statement}".strip()
        if len(longer) <= WIDTH:
            lines[-1] = longer
        else:
            lines.append(statement)
    return lines


def float_header() -> str:
    parts = [constants_text(float_abi), *map(enumeration_text, float_abi.ENUMERATIONS)]
    return "\n".join([FLOAT_HEAD, "\n\n".join("\n".join(part) for part in parts), ""])


def kinds_header() -> str:
    """The text of kinds.h."""
    includes = "".join(f'#include "{kind.name.lower()}.h"\n' for kind in sorted(WideKind, key=lambda kind: kind.name))
    lines = ["// DO(struct, enumerator, ...) of each kind.", "#define WIDE_KINDS(DO, ...)"]
    for kind in WideKind:
        lines.append(f"  DO({kind.name.title().replace('_', '')}, WIDE_{kind.name}, __VA_ARGS__)")
    return KINDS_HEAD + includes + "\n" + lines[0] + "\n" + " \\\n".join(lines[1:]) + "\n"


def tuning_header(folder: str) -> str:
    """The text of the tuning.h of a folder of kernels/."""
    constants = kernel_tuning.constants(folder)
    lines = (f"// {one.unit}\nconstexpr {one.type} {one.name} = {one.value};\n" for one in constants)
    return TUNING_HEAD.replace("PORT", "port.h" if folder == "core" else "../core/port.h") + "".join(lines)


def files() -> dict[str, str]:
    """The printed texts, by the names of their files in kernels/."""
    return {
        "core/abi.h": header(),
        "core/model_abi.h": model_header(),
        "core/abi_check.h": check(),
        "core/float_abi.h": float_header(),
        "learn/propagators/kinds.h": kinds_header(),
        **{f"{folder}/tuning.h": tuning_header(folder) for folder in kernel_tuning.TABLES},
    }


def stale() -> list[str]:
    """The names of the files that are out of date."""
    places = {name: kernels_folder() / name for name in files()}
    return [name for name, text in files().items() if not places[name].exists() or places[name].read_text() != text]


def main() -> int:
    program, what = "python -m turbo_fzn.engine.abi.header", "Print the kernels' header."
    parser = argparse.ArgumentParser(prog=program, description=what)
    parser.add_argument("--write", action="store_true", help="write the files; without it, fail where they differ")
    write = parser.parse_args().write
    differing = stale()
    for name in differing:
        if write:
            (kernels_folder() / name).write_text(files()[name])
        print(f"kernels/{name} {'written' if write else f'is stale: {HOW}'}")
    return 1 if differing and not write else 0


if __name__ == "__main__":
    sys.exit(main())
