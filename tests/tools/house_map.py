"""Prints the map of the house, docs/design/files.md: each folder of the package, the kernels, the lab and of what
tests share, on one line.

python tests/tools/house_map.py            checks that the page is up to date
python tests/tools/house_map.py --write    writes it
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "design" / "files.md"
PYTHON = (".py",)
PLACES = {
    "turbo_fzn": PYTHON, "kernels": (".h", ".cu", ".cpp"), "lab": PYTHON, "tests/support": PYTHON, "tests/tools": PYTHON
}  # fmt: skip
HEAD = """# Files

Every folder of the package, of the kernels, of the lab and of what tests share, with the first sentence of its head and
the names of its files. The head comment of each file describes it. Printed by
`python tests/tools/house_map.py --write`; do not edit.

| folder | head | files |
|---|---|---|
"""
BAR = "\\|"  # in a cell of a table
SENTENCE = re.compile(r"(.*?[.])(?:\s|$)")
KERNELS = {  # their folders have no file for a head
    "kernels": "Sources to compile: the solver, a block of it, the propagation alone",
    "kernels/core": "Store, trail, ternary rows, fixpoint",
    "kernels/floats": "Real variables",
    "kernels/free": "Neighbourhoods: the portfolio chooses, fixing fixes, a neighbourhood limits; walks",
    "kernels/hybrid": "The propagation of the hybrid engine",
    "kernels/learn": "Learners",
    "kernels/learn/analysis": "From a conflict to a clause; explanations of rows",
    "kernels/learn/clauses": "The memory of clauses",
    "kernels/learn/exchange": "Clauses and bounds that learners exchange",
    "kernels/learn/propagators": "Propagation by clauses, sums and wide rows, each with its explanations",
    "kernels/learn/search": "Decisions, restarts, backjumps",
    "kernels/learn/state": "Trail, literals, watch lists, activities",
    "kernels/proof": "Trimming of a log: the hints of its clauses, on the host",
    "kernels/repair": "Repair of assignments by violations",
    "kernels/search": "Tree search: branching, levels, the pool of subproblems, the incumbent; probing",
}


@cache
def head_of(path: Path) -> str:
    """The head comment of a source on one line; empty if it has none."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return " ".join((ast.get_docstring(ast.parse(text)) or "").split("\n\n")[0].split())
    lines = text.splitlines()
    end = next((i for i, line in enumerate(lines) if not line.startswith("//")), len(lines))
    paragraph = "\n".join(line.removeprefix("//").strip() for line in lines[:end]).split("\n\n")[0]
    return " ".join(paragraph.split())


def first_sentence(text: str) -> str:
    found = SENTENCE.match(text)
    return (found[1] if found else text).rstrip(":.")


def folders(place: str) -> Iterator[tuple[Path, list[Path]]]:
    """Each folder of a place with its sources, none of them without a head."""
    sources = [path for path in sorted((ROOT / place).rglob("*")) if path.suffix in PLACES[place] and head_of(path)]
    for folder in sorted({path.parent for path in sources}):
        yield folder, [path for path in sources if path.parent == folder]


def row(folder: Path, sources: list[Path]) -> str:
    """The row of a folder: its path, the first sentence of its package's head, the names of its other files."""
    package = folder / "__init__.py"
    name = folder.relative_to(ROOT).as_posix()
    head = first_sentence(head_of(package)).replace("|", BAR) if package in sources else KERNELS.get(name, "")
    names = ", ".join(path.name for path in sources if path != package)
    return f"| `{name}/` | {head} | {names} |"


def page() -> str:
    """The text of the page."""
    return HEAD + "\n".join(row(*entry) for place in PLACES for entry in folders(place)) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the page; without it, fail where it differs")
    write = parser.parse_args().write
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == page():
        return 0
    if write:
        PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)} {'written' if write else 'is stale: python tests/tools/house_map.py --write'}")
    return 0 if write else 1


if __name__ == "__main__":
    sys.exit(main())
