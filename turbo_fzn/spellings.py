"""The flags of C++ Turbo (github.com/lattice-land/turbo, 1.2) and of the XCSP3 competitions, for those whose scripts
have them; and what to say of a word that is no flag, method or role.

What means something here becomes our flag; what only tunes that solver is left out, with a line that says why; what
cannot be left out is refused with the name of what there is instead. The other flags (-a, -f, -i, -n, -p, -s, -t, -v)
are the same in both, as they are MiniZinc's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from turbo_fzn.errors import UsageError

ENGINES = {"cpu": "cpu", "gpu": "gpu", "hybrid": "gpu", "barebones": "gpu"}
SAME_WITH_A_VALUE = {"-timeout": "-t"}
SAME = {"-disable_simplify": "--no-simplify"}
ON_DEMAND = "subproblems are split off on demand"
ONE_WAY = "there is one way to propagate"
LEFT_OUT = {
    "-sub": ON_DEMAND,
    "-eps_var_order": ON_DEMAND,
    "-eps_value_order": ON_DEMAND,
    "-stack": "the kernels need no stack",
    "-and": "--gpu-threads N sets the threads of a block",
    "-fp": ONE_WAY,
    "-wac1_threshold": ONE_WAY,
    "-version": "it was a note for the statistics",
    "-hardware": "it was a note for the statistics",
}
LEFT_OUT_SWITCHES = {
    "-globalmem": "stores lie in global memory where they do not fit into shared memory",
    "-force_ternarize": "every model is brought into ternary normal form",
}
REFUSED = {
    "-cutnodes": "there is no limit of nodes; -t N limits the time to N milliseconds",
    "-ast": "--dump-tnf FILE writes the model in ternary normal form",
    "-network_analysis": "-v shows sizes; --dump-tnf FILE writes the model in ternary normal form",
}


FLAG = re.compile(r"-[^\d. ][^ ]*")  # how argparse tells a flag from a file and from a negative number


def milliseconds(seconds: str) -> str:
    return f"{seconds}000" if seconds.isdecimal() else seconds


def share_of_learners(mebibytes: str) -> str:
    """A quarter, as they have of a machine without such a limit."""
    return str(max(int(mebibytes) // 4, 1)) if mebibytes.isdecimal() else mebibytes


# Those of the competitions, with a blank or `=` before the value: our flag, and the value in its unit.
COMPETITION: dict[str, tuple[str, Callable[[str], str]]] = {
    "--timelimit": ("-t", milliseconds),
    "--memlimit": ("--memory", share_of_learners),
    "--nbcores": ("-p", str),
}


def translate(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """The command line in our flags, and what is to be said of those that were left out. Raises UsageError."""
    words, notes = iter(argv), []
    ours: list[str] = []
    for word in words:
        if word in REFUSED:
            raise UsageError(f"{word}: {REFUSED[word]}")
        if word in LEFT_OUT_SWITCHES or word in LEFT_OUT:
            if word in LEFT_OUT:
                next(words, None)
            notes.append(f"{word} is left out: {(LEFT_OUT_SWITCHES | LEFT_OUT)[word]}")
        elif word == "-arch":
            engine = next(words, "")
            ours += ["--arch", ENGINES.get(engine, engine)]
        elif word == "-or":
            blocks = next(words, "")
            ours += ["--blocks", blocks] if blocks != "0" else []  # 0: as many as fit, which is the default
        elif word in SAME_WITH_A_VALUE:
            ours += [SAME_WITH_A_VALUE[word], next(words, "")]
        elif word.partition("=")[0] in COMPETITION:
            name, has_value, value = word.partition("=")
            flag, convert = COMPETITION[name]
            ours += [flag, convert(value if has_value else next(words, ""))]
        else:
            ours.append(SAME.get(word, word))
    return ours, notes


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
