"""docs/guide/reference.md, printed from the tables of options and of statistics.

python -m turbo_fzn.command.reference --write     writes it into the source tree; `test_reference.py` compares
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from turbo_fzn.base.resources import share_folder
from turbo_fzn.command.manual import VARIABLES
from turbo_fzn.options.configuration import STD_FLAGS
from turbo_fzn.options.limits import LIMITS
from turbo_fzn.options.options import ACTIONS, EXIT, TAKE_FOLDER, Row, grouped, help_of, metavar_of
from turbo_fzn.run.answer.glossary import GLOSSARY

HEAD = """\
# Flags and statistics

Printed by `python -m turbo_fzn.command.reference --write`; do not edit. `fzn-turbo --help` and `man fzn-turbo`
have the flags, too.

## Flags

Options may stand before and after the file. MiniZinc passes on those that are marked with a dot.
"""
STATISTICS = """\
## Statistics

`-s` prints `%%%mzn-stat` lines: a block at the end, and of optimisation models a short one with each solution. Times
are in seconds, and counts are of the whole run. `<method>` stands for each method of free search and of learning
([search.md](../design/search.md), [learning.md](../design/learning.md)).
"""
FLAG = re.compile(r"(?<![\w`-])(--?[a-z][\w-]*)")


def page() -> str:
    """The text of the file."""
    parts = [HEAD]
    for title, rows in grouped():
        parts += [f"### {title[0].upper()}{title[1:]}\n", options_table(rows)]
    actions = [(f"`{flag}{' [FOLDER]' if flag in TAKE_FOLDER else ''}`", code(text)) for flag, text in ACTIONS]
    actions += [("`-h`, `--help`, `--help-all`, `--version`", "show help or the version")]
    parts += ["### Instead of solving\n", table(("flag", "meaning"), actions)]
    parts += [f"## Exit code\n\n{code(EXIT)}\n"]
    variables = [(f"`{name}`", text) for name, text in VARIABLES]
    parts += ["## Environment variables\n", table(("variable", "meaning"), variables)]
    return "\n".join([*parts, STATISTICS, *statistics_tables()])


def statistics_tables() -> Iterator[str]:
    """A table of the statistics for each condition under which they are printed."""
    for when in dict.fromkeys(entry.when for entry in GLOSSARY):
        entries = [(f"`{entry.name}`", entry.text) for entry in GLOSSARY if entry.when == when]
        yield f"*{when[0].upper()}{when[1:]}:*\n\n{table(('name', 'meaning'), entries)}"


def options_table(rows: Sequence[Row]) -> str:
    return table(("flag", "meaning", "MiniZinc"), [(flags_text(row), meaning(row), passed(row)) for row in rows])


def flags_text(row: Row) -> str:
    value = metavar_of(row)
    return ", ".join(f"`{flag}{' ' + value if value else ''}`" for flag in row.flags).replace("|", "\\|")


def meaning(row: Row) -> str:
    text = code(help_of(row))
    if row.field in LIMITS and not re.search(r"from \d+ to", text):
        least, most, *_ = LIMITS[row.field]
        text += f"; from {least:.0f} to {most:,.0f}" if abs(least) < most < 1e12 else ""
    return f"{text}. {row.more}" if row.more else text


def passed(row: Row) -> str:
    """The cell for whether MiniZinc passes the option on."""
    return "•" if row.extra_type or any(flag in STD_FLAGS for flag in row.flags) else ""


def code(text: str) -> str:
    """The text with flags between backticks."""
    return FLAG.sub(r"`\1`", text)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(cells)} |" for cells in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:], ""])


def target() -> Path:
    """The path of the file in the source tree."""
    return share_folder().parent / "docs" / "guide" / "reference.md"


if __name__ == "__main__":
    first_line = (__doc__ or "").splitlines()[0]
    parser = argparse.ArgumentParser(prog="python -m turbo_fzn.command.reference", description=first_line)
    parser.add_argument("--write", action="store_true", required=True, help="into the source tree's docs/")
    parser.parse_args()
    target().write_text(page(), encoding="utf-8")
