"""The origin of a run: the name of its model, and the commands that were typed.

MiniZinc passes a temporary file, whose name has no meaning. Then the parent process is `minizinc`, and its command line
names the model and its data. It is read (in /proc) at the beginning of the search, when the parent must be there. If
the system does not provide it, or the model has no name, the page states so.
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

MOST_ANCESTORS = 6  # format: our own child process, scripts, a shell
TEMPORARY = re.compile(r"(mznfile|mzn_fragment|mzn_data)\w*[.a-z]*")  # MiniZinc's temporary files
SOURCES = (".mzn", ".mzc", ".dzn", ".json")
OUTPUTS = ("-o", "--output-to-file", "--fzn", "--ozn", "--report", "--dump-tnf")  # options with the name of a file
OWN_PROGRAMS = ("fzn-turbo", "__main__.py")
NO_NAME = "a model without a name"


@dataclass
class Origin:
    """`name` of the model; `commands`: (program, command line); `date`: the time when the run began."""

    name: str = NO_NAME
    commands: list[tuple[str, str]] = field(default_factory=list)
    date: str = ""


def origin_of(file: str, callers: Sequence[list[str]] | None = None) -> Origin:
    """The origin of a run on this file. `callers` are the command lines of the ancestor processes, by default looked
    up."""
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
    """The command lines of the ancestor processes, the nearest first, as far as the system provides them."""
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
    """Whether the file is a temporary file of MiniZinc or its Python package."""
    return TEMPORARY.fullmatch(Path(file).name) is not None


def sources(words: Sequence[str]) -> list[str]:
    """The names of the model and of its data in a command line of MiniZinc, the model first."""
    given = [word for before, word in zip(words, words[1:]) if before not in OUTPUTS and word.endswith(SOURCES)]
    names = [Path(word).name for word in given if not _is_temporary(word)]
    return sorted(names, key=lambda name: not name.endswith((".mzn", ".mzc")))


def _own_command() -> str:
    """The command line of this process: of the solver, or of the script which calls the package."""
    program = Path(sys.argv[0]).name if sys.argv else ""
    return shlex.join(["fzn-turbo" if program in OWN_PROGRAMS else program or "python", *sys.argv[1:]])
