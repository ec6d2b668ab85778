"""The pages that the solver writes, as trees of their elements, and the runs that they tell of."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from turbo_fzn.options.options import Options
from turbo_fzn.report.record import Answer, Record

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


def kept(sense: int, *answers: tuple[float, int], **more: object) -> Record:
    """What is kept of a run that found answers at these times (seconds) with these objectives."""
    found = [Answer(seconds, objective, "tree", 0) for seconds, objective in answers]
    return Record(Options(), sense, found, **more)
