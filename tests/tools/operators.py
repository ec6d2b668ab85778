"""Operators of guarded functions, changed at random: what `mutate.py --drawn N` tries instead of the listed faults."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

from tools.mutation import Mutation, pattern_of, place_of, spans_of

CHANGES = {
    " < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == ", " + 1": "", " - 1": "",
    " && ": " || ", " || ": " && ", " and ": " or ", " or ": " and ", "min(": "max(", "max(": "min(",
    "minimum(": "maximum(", "maximum(": "minimum(",
}  # fmt: skip
OPERATOR = re.compile("|".join(rf"(?<![\w.]){re.escape(one)}" if one[0] != " " else re.escape(one) for one in CHANGES))
SILENT = re.compile(r'"""[\s\S]*?"""|(?://|#).*')  # docstrings and comments
CONTEXT = range(8, 200, 8)  # characters on each side that make an operator's place unique


def draw(listed: list[Mutation], root: Path, seed: int, count: int) -> list[Mutation]:
    """At most `count` changed operators of the functions that the listed mutations guard, for the same tests."""
    guarded = {(one.file, one.function): one for one in listed if one.function}
    every = [change for one in guarded.values() for change in _changes(one, root)]
    return random.Random(seed).sample(every, min(count, len(every)))


def _changes(guard: Mutation, root: Path) -> Iterator[Mutation]:
    path = place_of(guard, root).path
    for begin, end in spans_of(path, guard.function):
        text = path.read_text(encoding="utf-8")[begin:end]
        for match in OPERATOR.finditer(SILENT.sub(lambda silent: " " * len(silent[0]), text)):
            if one := _change(guard, text, match.start(), match[0]):
                yield one


def _change(guard: Mutation, text: str, at: int, operator: str) -> Mutation | None:
    """The mutation of the operator at a place of a function's text, with as much context as makes the place unique."""
    fault = f"{operator.strip()} becomes {CHANGES[operator].strip() or 'nothing'}"
    for width in CONTEXT:
        before, after = text[max(at - width, 0) : at].lstrip(), text[at + len(operator) :][:width].rstrip()
        context = before + operator + after
        if len(pattern_of(context).findall(text)) == 1:
            return guard._replace(fault=fault, text=context, replacement=before + CHANGES[operator] + after)
    return None
