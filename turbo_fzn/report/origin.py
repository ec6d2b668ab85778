"""Where a run comes from: what its model is called, and the commands that were typed.

MiniZinc hands over a temporary file, whose name says nothing. The process that has started this one is `minizinc` then,
and its command line names the model and its data. It is asked for (in /proc) while it is surely there: as the search
begins. Where the system does not tell, or the model has no name, the page says so.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from turbo_fzn.read.files import STANDARD_INPUT

MOST_ANCESTORS = 6  # a child of our own, a script around either of us, a shell
TEMPORARY = re.compile(r"(mznfile|mzn_fragment|mzn_data)\w*[.a-z]*")  # as MiniZinc names them, and its Python package
SOURCES = (".mzn", ".mzc", ".dzn", ".json")
OUTPUTS = ("-o", "--output-to-file", "--fzn", "--ozn", "--report", "--dump-tnf")  # options with the name of a file
OWN_PROGRAMS = ("fzn-turbo", "__main__.py")
NO_NAME = "a model without a name"


@dataclass
class Origin:
    """`name`: what the model is called; `commands`: (whose, command line); `date`: when the run began."""

    name: str = NO_NAME
    commands: list[tuple[str, str]] = field(default_factory=list)
    date: str = ""


def origin_of(file: str, callers: Sequence[list[str]] | None = None) -> Origin:
    """Of a run on this file. `callers`: command lines of the processes above this one, which are looked up else."""
    callers = list(ancestors()) if callers is None else callers
    minizinc = next((words for words in callers if _is_minizinc(words)), None) if _is_temporary(file) else None
    commands = [("command", _own_command())]
    if minizinc is not None:
        commands.insert(0, ("MiniZinc's command", shlex.join(minizinc)))
    name = NO_NAME if file in ("", STANDARD_INPUT) else Path(file).name
    if _is_temporary(file):
        name = ", ".join(sources(minizinc or [])) or NO_NAME
    return Origin(name, commands, time.strftime("%Y-%m-%d %H:%M:%S %Z"))


def ancestors() -> Iterator[list[str]]:
    """The command lines of the processes above this one, the nearest first, as far as the system tells."""
    process = os.getppid()
    for _ in range(MOST_ANCESTORS):
        if process < 1:
            return
        try:
            words = Path(f"/proc/{process}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
            stat = Path(f"/proc/{process}/stat").read_bytes()
        except OSError:
            return
        yield [word.decode("utf-8", "replace") for word in words]
        process = int(stat.rpartition(b")")[2].split()[1])


def _is_minizinc(words: Sequence[str]) -> bool:
    return Path(words[0]).name.lower().startswith("minizinc")


def _is_temporary(file: str) -> bool:
    """Whether MiniZinc has made the file, or its Python package, for one run."""
    return TEMPORARY.fullmatch(Path(file).name) is not None


def sources(words: Sequence[str]) -> list[str]:
    """The names of the model and of its data in a command line of MiniZinc, the model first."""
    given = [word for before, word in zip(words, words[1:]) if before not in OUTPUTS and word.endswith(SOURCES)]
    names = [Path(word).name for word in given if not _is_temporary(word)]
    return sorted(names, key=lambda name: not name.endswith((".mzn", ".mzc")))


def _own_command() -> str:
    """Of this process: ours, or that of the script which calls the package."""
    program = Path(sys.argv[0]).name if sys.argv else ""
    return shlex.join(["fzn-turbo" if program in OWN_PROGRAMS else program or "python", *sys.argv[1:]])
