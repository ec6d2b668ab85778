"""XML -> elements, one entry at a time, by expat, the parser in C behind Python's `xml`.

The cost of an untrusted document must be limited by its size: a document type is refused, and with it every entity that
it could define (as "billion laughs" attacks do) and every file that it could name; so are deeply nested elements, and
attributes of megabytes. An entry (a variable, a constraint, a group, an objective) is passed on when its end has been
read, and not kept.

Expat reads one byte for each character, so that its position is the position in the text. XCSP3 is ASCII but for the
comparisons in the cells of tables, which get a byte here (MARKS); any other character becomes `?`, which is part of no
name, and is harmless in a comment.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NoReturn
from xml.parsers import expat

from turbo_fzn.base.errors import ModelError
from turbo_fzn.read.tuning import TUNING

SECTIONS = frozenset(("instance", "variables", "constraints", "block", "objectives", "annotations"))
MARKS = str.maketrans("≤≥≠﹤﹥¬∉", "@#!$~^^")  # as PyCSP3 writes comparisons in tables


class Element:
    """An element: `text` is the text between its tags, if it has no children; `position` is its offset.

    `parsed` keeps the parsed text, since all constraints of a group read it.
    """

    __slots__ = ("attributes", "children", "name", "parsed", "position", "text")

    def __init__(self, name: str, attributes: dict[str, str], position: int):
        self.name, self.attributes, self.position = name, attributes, position
        self.text = ""
        self.children: list[Element] = []
        self.parsed: Any = None

    def child(self, name: str) -> Element | None:
        """The first child of that name."""
        for one in self.children:
            if one.name == name:
                return one
        return None


class Document:
    """Reads one text; `consume(section, entry)` gets every entry of the sections, and the instance itself.

    ModelErrors of `consume` without a place get the place of the entry.
    """

    def __init__(self, text: str, file: str, consume: Callable[[str, Element], None]):
        self.text, self.file, self.consume = text, file, consume
        self.stack: list[Element] = []
        self.pieces: list[str] = []  # pieces of the text since the last tag
        self.parser = expat.ParserCreate("us-ascii")
        self.parser.buffer_text = True
        self.parser.buffer_size = TUNING.piece_characters
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self.pieces.append
        self.parser.StartDoctypeDeclHandler = self._refuse_type

    def read(self) -> None:
        # Before expat makes copies of it. A text between two quotes without a bracket is an attribute.
        long = re.search(f"[\"'][^\"'<>]{{{TUNING.attribute_characters}}}", self.text)
        if long is not None:
            self.fail("an attribute of megabytes", long.start())
        try:
            for start in range(
                0, len(self.text), TUNING.piece_characters
            ):  # between two of them a signal can end the process
                piece = self.text[start : start + TUNING.piece_characters].translate(MARKS)
                self.parser.Parse(piece.encode("ascii", "replace"), False)
            self.parser.Parse(b"", True)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise ModelError(f"not XML: {reason}", self.file, error.lineno, error.offset + 1) from None

    def fail(self, message: str, position: int) -> NoReturn:
        raise ModelError(message, self.file, *locate(self.text, position))

    def progress(self) -> float:
        """How much of the text is read, for another thread."""
        return max(self.parser.CurrentByteIndex, 0) / max(len(self.text), 1)

    # Callbacks of expat

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        position = self.parser.CurrentByteIndex
        depth = len(self.stack)
        if not depth and name != "instance":
            self.fail(f"not an XCSP3 instance: its element is `{name}`", position)
        if depth >= TUNING.depth:
            self.fail(f"elements nested more than {TUNING.depth} deep", position)
        if attributes and max(map(len, attributes.values())) > TUNING.attribute_characters:
            self.fail("an attribute of megabytes", position)
        pieces = self.pieces
        if pieces:
            if len(pieces) > 1 or not pieces[0].isspace():
                self._refuse_text("".join(pieces))
            pieces.clear()
        self.stack.append(Element(name, attributes, position))

    def _end(self, name: str) -> None:
        element = self.stack.pop()
        if self.pieces:
            text = "".join(self.pieces).strip()
            self.pieces.clear()
            if element.children or name in SECTIONS:
                self._refuse_text(text)
            element.text = text
        parent = self.stack[-1] if self.stack else None
        if parent is not None and parent.name not in SECTIONS:
            parent.children.append(element)
            return
        try:
            self.consume("" if parent is None else parent.name, element)
        except ModelError as error:
            if error.line is not None:
                raise
            raise type(error)(error.message, self.file, *locate(self.text, element.position)) from None

    def _refuse_text(self, text: str) -> None:
        """Between elements there is nothing but blanks."""
        if not text.isspace() and text:
            self.fail(f"text beside elements: `{text.strip()[:40]}`", self.parser.CurrentByteIndex)

    def _refuse_type(self, *_: object) -> None:
        self.fail("a document type (<!DOCTYPE …>) is refused: it could define entities", self.parser.CurrentByteIndex)


def locate(text: str, position: int) -> tuple[int, int]:
    """(line, column) of an offset, both from 1."""
    return text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)
