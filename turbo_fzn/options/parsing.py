"""Reads a command line by the table of options, with argparse's grammar but without the time of its import and set-up.

A flag takes its value from the next word, or from the same word (`-n=5`, `-n5`); flags of one letter may share a word
(`-as`); after `--` no word is a flag. help.py prints what `--help` and `--help-all` show.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

from turbo_fzn.base.errors import UsageError
from turbo_fzn.options.limits import integer, number, pair
from turbo_fzn.options.options import ACTIONS, CHECK_PROOF, FIX, OPTIONS, TAKE_FOLDER, Options, Row, metavar_of
from turbo_fzn.options.spellings import FLAG, did_you_mean, is_flag, translate, unknown_flags

HIDDEN = ("-b", "--backend")  # passed by versions of MiniZinc that name the solver
TELLING = ("-h", "--help", "--help-all", "--version")  # flags that print something, and end the process
TO_TRY = "fzn-turbo model.fzn; minizinc --solver turbo model.mzn data.dzn; fzn-turbo --doctor"


class Command(NamedTuple):
    """A parsed command line: an action of ACTIONS with its argument, or options to solve by; and notes for stderr."""

    action: str
    argument: str | list[str] | None
    options: Options
    notes: tuple[str, ...] = ()


def parse_arguments(argv: Sequence[str]) -> Command:
    """Parses a command line. Raises UsageError; exits only for the flags of TELLING."""
    words, notes = translate(argv)
    if unknown := unknown_flags(words, known_flags()):
        raise UsageError(_explain(words, unknown))
    line = _Line(words)
    line.read()
    file, *others = line.files or [""]
    if others:
        raise UsageError(_explain(line.files, others))
    line.options.file = file
    if FIX in line.actions and "--doctor" not in line.actions:
        raise UsageError(f"{FIX} goes with --doctor")
    if "--doctor" in line.actions:
        line.actions["--doctor"] = FIX if FIX in line.actions else ""
    for flag, _ in ACTIONS:
        if flag in line.actions:
            return Command(flag, line.actions[flag] or None, line.options)
    if not file:
        raise UsageError(f"no FlatZinc file given; try: {TO_TRY} (--help shows the options)")
    return Command("", None, line.options, tuple(notes))


def known_flags() -> dict[str, bool]:
    """Whether a value follows, for every flag."""
    ours = {flag: bool(metavar_of(row)) for row in OPTIONS for flag in row.flags}
    others = {**dict.fromkeys(dict(ACTIONS), True), **dict.fromkeys(TELLING, False), **dict.fromkeys(HIDDEN, True)}
    return ours | others


def _explain(words: Sequence[str | None], unknown: Sequence[str]) -> str:
    """The error message for unknown words."""
    names = [name for name in words if name and not name.startswith("-")]
    if len(names) > 1 and any(name.endswith((".mzn", ".dzn")) for name in names):
        return f"MiniZinc has to make FlatZinc of this; type: minizinc --solver turbo {' '.join(names)}"
    known = [flag for flag in known_flags() if flag not in HIDDEN]
    return f"unrecognized arguments: {' '.join(unknown)}{did_you_mean(unknown, known)}"


class _Line:
    """A command line while it is read: its options, actions with their arguments, and files."""

    def __init__(self, words: Sequence[str]):
        self.words = list(words)
        self.options = Options()
        self.actions: dict[str, str | list[str]] = {}
        self.files: list[str] = []
        self.rows = {flag: row for row in OPTIONS for flag in row.flags}
        self.takes_value = known_flags()

    def read(self) -> None:
        while self.words:
            word = self.words.pop(0)
            if word == "--":
                self.files += self.words
                return
            if self.is_flag(word):
                self.take(word)
            else:
                self.files.append(word)

    def take(self, word: str) -> None:
        """Takes a flag, perhaps with its value in the same word, or several flags of one letter."""
        name, has_value, value = word.partition("=")
        if name in self.takes_value:
            self.put(name, value if has_value else None)
            return
        letters = word[1:]
        while letters:
            flag, letters = f"-{letters[0]}", letters[1:]
            if self.takes_value[flag]:
                self.put(flag, letters.removeprefix("=") if letters else None)
                return
            self.put(flag, None)

    def put(self, flag: str, given: str | None) -> None:
        """Sets what a flag says; `given` is the value in the same word."""
        row = self.rows.get(flag)
        if flag in HIDDEN:
            self.value("/".join(HIDDEN), given)
        elif row is not None and metavar_of(row):
            name = "/".join(row.flags)
            self.set(row, name, self.value(name, given))
        elif flag in TAKE_FOLDER:
            self.actions[flag] = given or (self.words.pop(0) if self.has_word() else "")
        elif given is not None:
            raise UsageError(f"argument {flag}: ignored explicit argument {given!r}")
        elif row is not None:
            kind, _, value = row.kind.partition(":")
            setattr(self.options, row.field, True if kind == "switch" else value or False)
        elif flag in TELLING:
            _tell(flag)
        else:
            self.actions[flag] = self.files_of_proof() if flag == CHECK_PROOF else ""

    def value(self, name: str, given: str | None) -> str:
        if given is not None:
            return given
        if not self.has_word():
            raise UsageError(f"argument {name}: expected one argument")
        return self.words.pop(0)

    def has_word(self) -> bool:
        """Whether the next word is no flag."""
        return bool(self.words) and self.words[0] != "--" and not self.is_flag(self.words[0])

    def is_flag(self, word: str) -> bool:
        """Whether the word looks like a flag, or is one with blanks in its value."""
        return bool(FLAG.fullmatch(word)) or is_flag(word, self.takes_value)

    def files_of_proof(self) -> list[str]:
        files = [self.words.pop(0) for _ in range(2) if self.has_word()]
        if len(files) < 2:
            raise UsageError(f"argument {CHECK_PROOF}: expected 2 arguments")
        return files

    def set(self, row: Row, name: str, word: str) -> None:
        kind, *values = row.kind.split(":")
        if kind == "choice" and word not in values:
            listed = ", ".join(map(repr, values))
            raise UsageError(f"argument {name}: invalid choice: {word!r} (choose from {listed})")
        read = _reader(row, kind)
        try:
            setattr(self.options, row.field, read(word))
        except Exception as fault:  # an ArgumentTypeError of limits.py; argparse is not imported for its name
            raise UsageError(f"argument {name}: {fault}") from None


def _reader(row: Row, kind: str) -> Callable[[str], Any]:
    """The function that reads the value of an option."""
    return {"pair": pair, "number": number(row.field), "int": integer(row.field)}.get(kind, str)


def _tell(flag: str) -> NoReturn:
    import sys

    from turbo_fzn.options.help import long_help, short_help
    from turbo_fzn.version import __version__

    texts = {"--version": lambda: f"fzn-turbo {__version__}\n", "--help-all": long_help}
    sys.stdout.write(texts.get(flag, short_help)())
    sys.exit(0)
