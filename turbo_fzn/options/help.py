"""The texts of `--help` and `--help-all`, printed from the table of options."""

from __future__ import annotations

import sys
import textwrap

from turbo_fzn.base.progress import width
from turbo_fzn.options.options import ACTIONS, CHECK_PROOF, EXIT, SOLVED, TAKE_FOLDER, Row, grouped, help_of, metavar_of

USAGE = "usage: fzn-turbo [options] FILE\n"
FLAGS_WIDTH = 25  # format: columns of the flags
# The options that `--help` explains, by their first flags; it only names the others.
EVERYDAY = ("-a", "-n", "-i", "--explain", "-f", "-p", "-r", "-s", "-t", "-v", "--arch", "--report")


def short_help() -> str:
    """The options of every day with their texts, and the names of the others, by themes."""
    lines = [USAGE, *_wrapped(f"Solve {SOLVED}."), ""]
    for title, rows in grouped():
        shown = [row for row in rows if row.flags[0] in EVERYDAY]
        others = ", ".join(_name_of(row) for row in rows if row not in shown)
        lines += [f"{title}:" if shown else f"{title}: {others}"]
        lines += [line for row in shown for line in _entry(_flags_of(row), row.help)]
        lines += _wrapped(f"also: {others}", "  ", "    ") if shown and others else []
    lines += ["instead of solving:"]
    lines += [line for flag, text in ACTIONS for line in _entry(_action_of(flag), text.partition(", and")[0])]
    return "\n".join([*lines, "", "--help-all explains every option.", ""])


def long_help() -> str:
    """Every option with its text and default, by themes, and the exit codes."""
    lines = [USAGE, *_wrapped(f"Solve {SOLVED}."), ""]
    lines += _entry("-h, --help", "the options of every day") + _entry("--help-all", "this text")
    lines += _entry("--version", "the version") + [""]
    for title, rows in grouped():
        lines += [f"{title}:", *(line for row in rows for line in _entry(_flags_of(row), help_of(row))), ""]
    lines += ["instead of solving:"]
    lines += [line for flag, text in ACTIONS for line in _entry(_action_of(flag), text)]
    return "\n".join([*lines, "", *_wrapped(f"Exit code: {EXIT}"), ""])


def _flags_of(row: Row) -> str:
    value = metavar_of(row)
    return ", ".join(row.flags) + (f" {value}" if value else "")


def _name_of(row: Row) -> str:
    return next((flag for flag in row.flags if flag.startswith("--")), row.flags[0])


def _action_of(flag: str) -> str:
    return f"{flag}{' MODEL PROOF' if flag == CHECK_PROOF else ' [FOLDER]' if flag in TAKE_FOLDER else ''}"


def _entry(flags: str, text: str) -> list[str]:
    """The lines of a flag and its text, in two columns, or with the text below flags that are too long."""
    head, indent = f"  {flags}", " " * FLAGS_WIDTH
    if len(head) > FLAGS_WIDTH - 2:
        return [head, *_wrapped(text, indent, indent)]
    return _wrapped(text, head.ljust(FLAGS_WIDTH), indent)


def _wrapped(text: str, first: str = "", indent: str = "") -> list[str]:
    wide = width(sys.stdout)
    return textwrap.wrap(text, wide, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False)
