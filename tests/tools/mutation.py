"""A fault for `tests/tools/mutate.py` to put into the solver, and where in the source it belongs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

FOLDERS = ("turbo_fzn", "kernels", "lab")
KERNEL_FUNCTION = re.compile(r"^\w[^(\n]*?(\w+)\((?!.*;$)", re.MULTILINE)
KERNEL_END = re.compile(r"^(?:\}|\w.*\}$)", re.MULTILINE)


class Mutation(NamedTuple):
    """A fault, anchored so that moved files and edited lines around it do not matter.

    `file`: a name without its folder; `function`: of that file, "Class.method" in Python, or "" for all of the file;
    `text`: an expression that is there once, whatever its spaces and ends of lines, and becomes `replacement`;
    `tests`: arguments of pytest, one of whose tests must fail.
    """

    mechanism: str
    fault: str
    file: str
    function: str
    text: str
    replacement: str
    tests: str


class Place(NamedTuple):
    """The characters from `begin` to `end` of a file."""

    path: Path
    begin: int
    end: int


def place_of(mutation: Mutation, root: Path) -> Place:
    """The place of the text below the folder `root`. Raises LookupError unless there is exactly one."""
    found = [
        Place(path, begin + match.start(), begin + match.end())
        for path in _files(root).get(mutation.file, ())
        for begin, end in spans_of(path, mutation.function)
        for match in pattern_of(mutation.text).finditer(path.read_text(encoding="utf-8")[begin:end])
    ]
    if len(found) != 1:
        raise LookupError(f"{mutation.text!r} is found {len(found)} times in {mutation.function} of {mutation.file}")
    return found[0]


def pattern_of(text: str) -> re.Pattern[str]:
    """The text, whatever stands between its words."""
    return re.compile(r"\s+".join(map(re.escape, text.split())))


def mutated(mutation: Mutation, place: Place) -> str:
    """The text of the file with the fault in it."""
    text = place.path.read_text(encoding="utf-8")
    return text[: place.begin] + mutation.replacement + text[place.end :]


@lru_cache(maxsize=1)
def _files(root: Path) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for folder in FOLDERS:
        for path in (root / folder).rglob("*.*"):
            found.setdefault(path.name, []).append(path)
    return found


def spans_of(path: Path, function: str) -> list[tuple[int, int]]:
    """Where each function of the name begins and ends: in Python one, in the kernels one for each overload."""
    text = path.read_text(encoding="utf-8")
    if not function:
        return [(0, len(text))]
    if path.suffix != ".py":
        begins = [match.start() for match in KERNEL_FUNCTION.finditer(text) if match[1] == function]
        return [(begin, end.end()) for begin in begins if (end := KERNEL_END.search(text, begin))]
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    functions = _functions(ast.parse(text), "")
    return [(starts[node.lineno - 1], starts[node.end_lineno or 0]) for name, node in functions if name == function]


def _functions(parent: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, ast.FunctionDef):
            yield prefix + node.name, node
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield from _functions(node, f"{prefix}{node.name}.")
