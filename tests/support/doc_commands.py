"""The commands of the documents: what stands in indented blocks, line by line, and what is fenced as Python or bash.

A command is run, unless a comment behind it (or, in a fenced block, at its beginning) says what it needs, or that it
takes long: the reader is to know that, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from support.places import ROOT, TESTS

DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", TESTS / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MARK = re.compile(r"#[^'\"]*\b(?:needs|takes) [\w ,.`-]+")
LANGUAGES = ("bash", "python", "text")


class Command(NamedTuple):
    """One of a document: its line, its language (text is none), and whether it is marked as not to be run here."""

    line: int
    language: str
    text: str

    @property
    def marked(self) -> bool:
        return MARK.search(self.text) is not None


def commands(text: str) -> Iterator[Command]:
    """In their order. Raises ValueError for a fence that does not say its language."""
    lines = text.splitlines()
    number = 0
    while number < len(lines):
        line = lines[number]
        if line.lstrip().startswith("```"):
            end = next(later for later in range(number + 1, len(lines)) if lines[later].lstrip() == "```")
            language = line.strip().removeprefix("```")
            if language not in LANGUAGES:
                raise ValueError(f"line {number + 1}: a fence of {language or 'no language'}")
            yield Command(number + 1, language, "\n".join(lines[number + 1 : end]))
            number = end
        elif line.startswith("    ") and line.strip() and not lines[number - 1].strip():
            while number < len(lines) and lines[number].startswith("    "):
                yield Command(number + 1, "sh", lines[number].strip())
                number += 1
        number += 1
