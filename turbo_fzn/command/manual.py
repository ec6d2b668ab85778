"""The manual page and the completions of shells, printed from the table of options.

    python -m turbo_fzn.command.manual --write        writes the files of FILES into the source tree

They are at the places in share/ where man-db, bash-completion, zsh and fish look for the files of a program in the
`bin` beside it, so that an installed wheel has them there (data_files in setup.cfg). `test_manual.py` compares.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from turbo_fzn.base.resources import share_folder
from turbo_fzn.options.options import ACTIONS, EXIT, OPTIONS, SOLVED, TAKE_FOLDER, Row, grouped, help_of, metavar_of
from turbo_fzn.version import __version__

DESCRIPTION = (
    f"solves {SOLVED}. MiniZinc runs it as the solver turbo, once fzn-turbo --install-solver has made it known. The "
    "search runs on CPU threads, and on an NVIDIA GPU where there is one."
)
VARIABLES = (
    ("TURBO_FZN_CACHE", "the folder of compiled kernels and grammar tables (default: turbo_fzn in the user's cache "
     "folder); it must be the user's own, and nobody else may write to it; a read-only folder is read"),
    ("CXX", "the C++ compiler of the CPU engine (default: c++, g++ or clang++), also with flags; where it is set, it "
     "compiles the engine even if the package has one; a compiler that does not exist is an error"),
    ("NVCC", "the compiler of the GPU engine (default: nvcc, or /usr/local/cuda/bin/nvcc), in the same way"),
    ("TURBO_FZN_MPIEXEC", "the command that starts the ranks of MiniZinc's solver turbo-mpi, with their number and "
     "hosts (default: mpiexec)"),
)  # fmt: skip
PLAIN_FLAGS = (("-h", "--help"), ("--help-all",), ("--version",))


def manual_page() -> str:
    """The manual page in troff, with the macros of man(7)."""
    parts = [
        f'.TH FZN-TURBO 1 "" "fzn-turbo {__version__}" "User commands"',
        ".SH NAME\nfzn\\-turbo \\- constraint solver for MiniZinc, on GPUs and CPUs",
        '.SH SYNOPSIS\n.B fzn\\-turbo\n.RI [ options ] " file"',
        f".SH DESCRIPTION\n.B fzn\\-turbo\n{troff(DESCRIPTION)}",
        ".SH OPTIONS",
    ]
    for title, rows in grouped():
        parts.append(f".SS {troff(title.capitalize() if title.islower() else title)}")
        parts += [
            entry(row.flags, metavar_of(row), f"{help_of(row)}. {row.more}" if row.more else help_of(row))
            for row in rows
        ]
    parts.append(".SS Instead of solving")
    parts += [entry((flag,), "[FOLDER]" if flag in TAKE_FOLDER else "", text) for flag, text in ACTIONS]
    parts.append(".SH ENVIRONMENT")
    parts += [entry((name,), "", text) for name, text in VARIABLES]
    parts.append(f".SH EXIT STATUS\n{troff(EXIT)}")
    parts.append(".SH SEE ALSO\n.BR minizinc (1)")
    return "\n".join(parts) + "\n"


def entry(flags: tuple[str, ...], metavar: str, text: str) -> str:
    names = ", ".join(f"\\fB{troff(flag)}\\fR" for flag in flags)
    value = f" \\fI{troff(metavar)}\\fR" if metavar else ""
    return f".TP\n{names}{value}\n{troff(text)}"


def troff(text: str) -> str:
    """The text escaped for troff, so that no character is a command."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "")
    return "\\&" + escaped if escaped[:1] in (".", "'") else escaped


def flags() -> list[str]:
    """All flags, in the order of the help."""
    every = [*PLAIN_FLAGS, *(row.flags for row in OPTIONS), [flag for flag, _ in ACTIONS]]
    return [flag for names in every for flag in names]


def choices(row: Row) -> list[str]:
    """The words that an option accepts; empty if it accepts other values, or no value."""
    kind, *values = row.kind.split(":")
    return values if kind == "choice" else []


def pattern(holds: Callable[[Row], bool]) -> str:
    """The flags of the options for which `holds` is true, as a pattern of bash."""
    return "|".join(flag for row in OPTIONS if holds(row) for flag in row.flags)


BASH = """\
# Completion of fzn-turbo for bash; printed by turbo_fzn/command/manual.py.
_fzn_turbo() {
  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"
  case "$before" in
@WORDS@
    @NUMBERS@) return ;;
    @FOLDERS@) COMPREPLY=($(compgen -d -- "$word")); return ;;
    @FILES@) COMPREPLY=($(compgen -f -- "$word")); return ;;
  esac
  if [[ "$word" == -* ]]; then
    COMPREPLY=($(compgen -W "@FLAGS@" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}
complete -o filenames -F _fzn_turbo fzn-turbo
"""


def bash() -> str:
    words = [
        f'    {"|".join(row.flags)}) COMPREPLY=($(compgen -W "{" ".join(choices(row))}" -- "$word")); return ;;'
        for row in OPTIONS
        if choices(row)
    ]
    parts = {
        "@WORDS@": "\n".join(words),
        "@NUMBERS@": pattern(lambda row: bool(metavar_of(row)) and not choices(row) and row.kind != "text"),
        "@FOLDERS@": "|".join(TAKE_FOLDER),
        "@FILES@": pattern(lambda row: row.kind == "text"),
        "@FLAGS@": " ".join(flags()),
    }
    text = BASH
    for place, part in parts.items():
        text = text.replace(place, part)
    return text


def zsh() -> str:
    head = "# Completion of fzn-turbo for zsh; printed by turbo_fzn/command/manual.py."
    lines = ["#compdef fzn-turbo", head, "_arguments \\"]
    for row in OPTIONS:
        wanted = f"({' '.join(choices(row))})" if choices(row) else "_files" if row.kind == "text" else " "
        value = f":{metavar_of(row)}:{wanted}" if metavar_of(row) else ""
        lines += [f"  '{flag}[{zsh_text(row.help)}]{zsh_text(value, brackets=False)}' \\" for flag in row.flags]
    for flag, text in ACTIONS:
        lines.append(f"  '{flag}[{zsh_text(text)}]{'::FOLDER:_files -/' if flag in TAKE_FOLDER else ''}' \\")
    lines += [f"  '{flag}' \\" for names in PLAIN_FLAGS for flag in names]
    return "\n".join([*lines, "  '*:model:_files'", ""])


def zsh_text(text: str, brackets: bool = True) -> str:
    quoted = text.replace("'", "'\\''")
    return quoted.replace("[", "\\[").replace("]", "\\]").replace(":", "\\:") if brackets else quoted


def fish() -> str:
    lines = ["# Completion of fzn-turbo for fish; printed by turbo_fzn/command/manual.py."]
    table = [(row.flags, row.help, choices(row), bool(metavar_of(row))) for row in OPTIONS]
    table += [((flag,), text, [], False) for flag, text in ACTIONS] + [(names, "", [], False) for names in PLAIN_FLAGS]
    for names, text, words, takes in table:
        for flag in names:
            kind = "l" if flag.startswith("--") else "s" if len(flag) == 2 else "o"
            value = f" -x -a '{' '.join(words)}'" if words else " -r" if takes else ""
            quoted = text.replace("'", "\\'")
            lines.append(f"complete -c fzn-turbo -{kind} {flag.lstrip('-')}{value} -d '{quoted}'")
    return "\n".join([*lines, ""])


FILES = {
    "man/man1/fzn-turbo.1": manual_page,
    "bash-completion/completions/fzn-turbo": bash,
    "zsh/site-functions/_fzn-turbo": zsh,
    "fish/vendor_completions.d/fzn-turbo.fish": fish,
}


def write(folder: Path) -> None:
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    first_line = (__doc__ or "").splitlines()[0]
    parser = argparse.ArgumentParser(prog="python -m turbo_fzn.command.manual", description=first_line)
    parser.add_argument("--write", action="store_true", required=True, help="into the source tree's share/")
    parser.parse_args()
    write(share_folder())
