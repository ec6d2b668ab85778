"""Translates the flags of C++ Turbo (github.com/lattice-land/turbo, 1.2) and of the XCSP3 competitions, for existing
scripts; and makes the messages for unknown flags, methods and roles.

A flag with a counterpart becomes the flag of this solver (docs/guide/from-turbo.md lists all); a flag that only tunes
the other solver is ignored with a note; a flag that cannot be ignored is refused with the name of the alternative. The
other flags (-a, -f, -i, -n, -s, -t, -v) are MiniZinc's, and equal in both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from turbo_fzn.base.errors import UsageError

ENGINES = {"cpu": "cpu", "gpu": "gpu", "hybrid": "hybrid", "barebones": "gpu"}
FIXPOINTS = {"ac1": "sweep", "wac1": "warp-sweep"}
SAME_WITH_A_VALUE = {"-timeout": "-t"}
SAME = {"-disable_simplify": "--no-simplify"}
VARIANT_SWITCHES = {"-globalmem": "store=global"}
ALONG_THE_ANNOTATION = "the tree is split along the search annotation"
LEFT_OUT = {
    "-eps_var_order": ALONG_THE_ANNOTATION,
    "-eps_value_order": ALONG_THE_ANNOTATION,
    "-stack": "the kernels need no stack",
    "-and": "--gpu-threads N sets the threads of a block",
    "-version": "a note for the statistics; those of --turbo-statistics have the version of this solver",
    "-hardware": "a note for the statistics; --report FILE writes processor and GPU",
}
LEFT_OUT_SWITCHES = {"-force_ternarize": "every model is brought into ternary normal form"}
REFUSED = {
    "-ast": "--dump-tnf FILE writes the model in ternary normal form",
    "-network_analysis": "-v shows sizes; --dump-tnf FILE writes the model in ternary normal form",
}
# Flags that are refused, unless their value is the default.
ONLY_AS_USUAL = {
    "-cutnodes": ("0", "there is no limit of nodes; -t N limits the time to N milliseconds"),
    "-wac1_threshold": ("0", "warp-sweep takes no threshold; -fp ac1 sweeps without warps, whatever is active"),
}
LARGEST_SPLIT = 30  # format: the largest exponent that the flag takes


FLAG = re.compile(r"-[^\d. ][^ ]*")  # argparse's rule for flags, as opposed to files and negative numbers


def milliseconds(seconds: str) -> str:
    return f"{seconds}000" if seconds.isdecimal() else seconds


# Flags of the competitions, with a blank or `=` before the value: this solver's flag, and the value in its unit.
COMPETITION: dict[str, tuple[str, Callable[[str], str]]] = {
    "--timelimit": ("-t", milliseconds),
    "--memlimit": ("--memory-limit", str),
    "--nbcores": ("-p", str),
}


def translate(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """The command line in this solver's flags, and notes on the flags that were ignored. Raises UsageError."""
    translation = Translation(argv)
    return translation.ours, translation.notes


class Translation:
    """`ours` and `notes` of `translate`, made word by word."""

    def __init__(self, argv: Sequence[str]):
        self.words: Iterator[str] = iter(argv)
        self.ours: list[str] = []
        self.notes: list[str] = []
        self.variants: list[str] = []  # all variants, which become one flag
        self.engine = ""  # if it was named by a flag of C++ Turbo
        takers = {"-arch": self.take_engine, "-or": self.take_blocks, "-p": self.take_threads}
        takers |= {"-fp": self.take_fixpoint, "-sub": self.take_split, "--variant": self.take_variant}
        for word in self.words:
            takers.get(word, self.take)(word)
        if self.variants:
            self.ours += ["--variant", ",".join(dict.fromkeys(self.variants))]

    def value(self) -> str:
        """The word after a flag; empty at the end of the command line."""
        return next(self.words, "")

    def take(self, word: str) -> None:
        if word in REFUSED:
            raise UsageError(f"{word}: {REFUSED[word]}")
        if word in VARIANT_SWITCHES:
            self.variants.append(VARIANT_SWITCHES[word])
        elif word in ONLY_AS_USUAL:
            self.take_as_usual(word)
        elif word in LEFT_OUT_SWITCHES:
            self.notes.append(f"{word} is left out: {LEFT_OUT_SWITCHES[word]}")
        elif word in LEFT_OUT:
            self.value()
            self.notes.append(f"{word} is left out: {LEFT_OUT[word]}")
        elif word in SAME_WITH_A_VALUE:
            self.ours += [SAME_WITH_A_VALUE[word], self.value()]
        elif word.partition("=")[0] in COMPETITION:
            name, has_value, value = word.partition("=")
            flag, convert = COMPETITION[name]
            self.ours += [flag, convert(value if has_value else self.value())]
        else:
            self.ours.append(SAME.get(word, word))

    def take_as_usual(self, word: str) -> None:
        usual, reason = ONLY_AS_USUAL[word]
        value = self.value()
        if value != usual:
            raise UsageError(f"{word} {value}: {reason}")

    def take_engine(self, word: str) -> None:
        self.engine = ENGINES.get(name := self.value(), name)
        self.ours += ["--arch", self.engine]

    def take_blocks(self, word: str) -> None:
        """Takes the number of blocks; 0 is as many as fit, the default."""
        blocks = self.value()
        self.ours += ["--blocks", blocks] if blocks != "0" else []

    def take_threads(self, word: str) -> None:
        """Takes MiniZinc's -p; after Turbo's -arch it has Turbo's meaning: on a GPU the meaning of -or, and 0 is the
        default."""
        if self.engine == "gpu":
            self.take_blocks(word)
        elif self.engine:
            threads = self.value()
            self.ours += [word, threads] if threads != "0" else []
        else:
            self.ours.append(word)

    def take_fixpoint(self, word: str) -> None:
        name = self.value()
        if name not in FIXPOINTS:
            raise UsageError(no_such(f"{word}: no fixpoint", {name}, list(FIXPOINTS)))
        self.variants.append(FIXPOINTS[name])

    def take_split(self, word: str) -> None:
        """Takes the exponent of the number of subproblems, a power of 2; -1 is the default for the blocks."""
        power = self.value()
        if power not in map(str, range(-1, LARGEST_SPLIT + 1)):
            raise UsageError(f"{word}: expected a power of two from -1 to {LARGEST_SPLIT}, found {power[:40]!r}")
        self.variants.append("static-split")
        self.ours += ["--subproblems", str(2 ** int(power))] if power != "-1" else []

    def take_variant(self, word: str) -> None:
        """Takes this solver's --variant, in addition to variants named by Turbo's flags."""
        self.variants += self.value().replace(",", " ").split() or [""]


def unknown_flags(words: Sequence[str], takes_value: Mapping[str, bool]) -> list[str]:
    """The words that look like a flag and are unknown. `takes_value` maps all flags to whether a value follows."""
    before = words[: words.index("--")] if "--" in words else words
    return [word for word in before if FLAG.fullmatch(word) and not is_flag(word, takes_value)]


def is_flag(word: str, takes_value: Mapping[str, bool]) -> bool:
    """Whether the word is a flag, perhaps with its value (`-n=5`, `-n5`), in which blanks may be, or several of one
    letter (`-as`). `-node` is no flag, although argparse would read it as `-n ode`."""
    if word.partition("=")[0] in takes_value:
        return True
    if not word.startswith("-") or word.startswith("--") or word == "-":
        return False
    for end, letter in enumerate(word[1:], 2):
        takes = takes_value.get(f"-{letter}")
        if takes is None:
            return False
        if takes:
            return not word[end : end + 1].isalpha()
    return True


def did_you_mean(words: Iterable[str], known: Iterable[str]) -> str:
    """The end of a message on unknown words: for each the most similar known word, if any is similar enough."""
    from difflib import get_close_matches

    words, known = list(words), list(known)
    near = [match for word in words for match in get_close_matches(word.partition("=")[0], known, n=1)]
    near = [match for match in near if match not in words]
    return f"; did you mean {', '.join(dict.fromkeys(near))}?" if near else ""


def no_such(what: str, unknown: Iterable[str], known: Sequence[str], others: Sequence[str] = ()) -> str:
    """A message on unknown names, with the known names and similar names; `others` are further possible names."""
    words = sorted(unknown)
    return f"{what} {', '.join(words)}; there are {', '.join(known)}{did_you_mean(words, [*known, *others])}"
