"""The flags of C++ Turbo (github.com/lattice-land/turbo, 1.2) and of the XCSP3 competitions, for those whose scripts
have them; and what to say of a word that is no flag, method or role.

What means something here becomes our flag (docs/guide/from-turbo.md has all); what only tunes that solver is left out,
with a line that says why; what cannot be left out is refused with the name of what there is instead. The other flags
(-a, -f, -i, -n, -s, -t, -v) are the same in both, as they are MiniZinc's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from turbo_fzn.errors import UsageError

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
# Refused, unless the value is the one that changes nothing.
ONLY_AS_USUAL = {
    "-cutnodes": ("0", "there is no limit of nodes; -t N limits the time to N milliseconds"),
    "-wac1_threshold": ("0", "warp-sweep takes no threshold; -fp ac1 sweeps without warps, whatever is active"),
}
LARGEST_SPLIT = 30


FLAG = re.compile(r"-[^\d. ][^ ]*")  # how argparse tells a flag from a file and from a negative number


def milliseconds(seconds: str) -> str:
    return f"{seconds}000" if seconds.isdecimal() else seconds


# Those of the competitions, with a blank or `=` before the value: our flag, and the value in its unit.
COMPETITION: dict[str, tuple[str, Callable[[str], str]]] = {
    "--timelimit": ("-t", milliseconds),
    "--memlimit": ("--memory-limit", str),
    "--nbcores": ("-p", str),
}


def translate(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """The command line in our flags, and what is to be said of those that were left out. Raises UsageError."""
    translation = Translation(argv)
    return translation.ours, translation.notes


class Translation:
    """`ours` and `notes` of `translate`, made word by word."""

    def __init__(self, argv: Sequence[str]):
        self.words: Iterator[str] = iter(argv)
        self.ours: list[str] = []
        self.notes: list[str] = []
        self.variants: list[str] = []  # which one flag names together
        self.engine = ""  # where it was named as in Turbo
        takers = {"-arch": self.take_engine, "-or": self.take_blocks, "-p": self.take_threads}
        takers |= {"-fp": self.take_fixpoint, "-sub": self.take_split, "--variant": self.take_variant}
        for word in self.words:
            takers.get(word, self.take)(word)
        if self.variants:
            self.ours += ["--variant", ",".join(dict.fromkeys(self.variants))]

    def value(self) -> str:
        """The word behind a flag; empty where there is none."""
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
        """0: as many as fit, which is the default."""
        blocks = self.value()
        self.ours += ["--blocks", blocks] if blocks != "0" else []

    def take_threads(self, word: str) -> None:
        """MiniZinc's flag; behind Turbo's -arch it has Turbo's meaning: on a GPU that of -or, and 0 is the default."""
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
        """Into 2 to the power of the value; -1: into as many as suit the blocks."""
        power = self.value()
        if power not in map(str, range(-1, LARGEST_SPLIT + 1)):
            raise UsageError(f"{word}: expected a power of two from -1 to {LARGEST_SPLIT}, found {power[:40]!r}")
        self.variants.append("static-split")
        self.ours += ["--subproblems", str(2 ** int(power))] if power != "-1" else []

    def take_variant(self, word: str) -> None:
        """Ours, beside those that Turbo's flags name."""
        self.variants += self.value().replace(",", " ").split() or [""]


def unknown_flags(words: Sequence[str], takes_value: Mapping[str, bool]) -> list[str]:
    """The words that look like a flag and are none. `takes_value` has all flags, and whether a value follows."""
    before = words[: words.index("--")] if "--" in words else words
    return [word for word in before if FLAG.fullmatch(word) and not _is_flag(word, takes_value)]


def _is_flag(word: str, takes_value: Mapping[str, bool]) -> bool:
    """Whether it is a flag, perhaps with its value (`-n=5`, `-n5`), or several of one letter (`-as`). `-node` is none,
    although argparse would read it as `-n ode`."""
    if word.partition("=")[0] in takes_value:
        return True
    if word.startswith("--"):
        return False
    for end, letter in enumerate(word[1:], 2):
        takes = takes_value.get(f"-{letter}")
        if takes is None:
            return False
        if takes:
            return not word[end : end + 1].isalpha()
    return True


def did_you_mean(words: Iterable[str], known: Iterable[str]) -> str:
    """The end of a message about words that are not known: what each may have been meant to be, where that is near."""
    from difflib import get_close_matches

    words, known = list(words), list(known)
    near = [match for word in words for match in get_close_matches(word.partition("=")[0], known, n=1)]
    near = [match for match in near if match not in words]
    return f"; did you mean {', '.join(dict.fromkeys(near))}?" if near else ""


def no_such(what: str, unknown: Iterable[str], known: Sequence[str], others: Sequence[str] = ()) -> str:
    """A message about names that are not known: which are, and what may have been meant. `others` may be meant, too."""
    words = sorted(unknown)
    return f"{what} {', '.join(words)}; there are {', '.join(known)}{did_you_mean(words, [*known, *others])}"
