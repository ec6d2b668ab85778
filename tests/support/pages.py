"""The pages that the solver writes, as trees of their elements."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def parse(path: Path) -> ElementTree.Element:
    text = path.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>\n")
    return ElementTree.fromstring(text.partition("\n")[2])


def tables(root: ElementTree.Element) -> dict[str, list[list[str]]]:
    """Heading -> rows of texts."""
    return {
        section.findtext("h2"): [[cell.text or "" for cell in row] for row in section.iter("tr")]
        for section in root.iter("section")
    }


def titles(root: ElementTree.Element) -> dict[str, ElementTree.Element]:
    """Title -> picture."""
    return {next(svg.iter(f"{SVG}text")).text: svg for svg in root.iter(f"{SVG}svg")}
