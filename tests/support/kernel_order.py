"""How the kernels' headers stand one above the other: what each defines, what it uses, and what it includes for that.

The texts are looked at as they are written, whatever is compiled of them. Names are those at the left margin: macros,
types, enumerators, constants, functions. What is declared before it is put together belongs to the header that declares
it: the parts of a block's or a learner's state, and the types that nest them (block.h, learn/memory.h).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from turbo_fzn.base.resources import kernels_folder

# From the ground up, by folder, or by file where it stands apart from its folder. A header includes from its own floor
# and from those below.
FLOORS = (
    ("core",),
    ("floats",),
    ("hybrid",),
    ("proof",),
    ("search",),
    ("learn/state", "learn/tuning.h"),
    ("learn/clauses",),
    ("learn/exchange", "learn/propagators"),
    ("learn/search",),
    ("learn/analysis",),
    ("learn/memory.h",),
    ("repair",),
    ("free",),
    ("block.h", "solver.h", "hybrid/propagator.h"),
    ("learn/learner.h", "gpu_block.h"),
    ("solve.cpp", "solve.cu", "hybrid.cpp", "propagate.cu"),
)
GROUND = {"core/port.h", "core/abi.h", "core/model_abi.h", "core/abi_check.h"}  # whoever includes anything has these
WHOLE = {"block.h", "learn/memory.h"}

INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
FUNCTION = re.compile(
    r"^(?:template <[^>]*> )?(?:DEVICE|OUTLINE|static) (?:[\w:]+[&*]? )+?(\w+)\([^;{]*\)\s*\{", re.MULTILINE
)
EARLY = re.compile(r"^(?:PART\(\w+, (\w+)\);|(?:DEVICE|OUTLINE) (?:[\w:]+[&*]? )+?(\w+)\([^;{]*\);)", re.MULTILINE)
NESTING = re.compile(r"^(?:struct (\w+);|  struct (\w+)\* )", re.MULTILINE)
OTHERS = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^# *define (\w+)",
        r"^(?:struct|union|enum)(?: alignas\(\d+\))? (\w+)(?: : \w+)? \{",
        r"^typedef .* (\w+);",
        r"^(?:constexpr|TABLE) [\w:]+ (\w+)(?:\[\])? =",
    )
)
ENUM = re.compile(r"^enum(?: \w+)?(?: : \w+)? \{([^}]*)\}", re.MULTILINE)
ENUMERATOR = re.compile(r"(\w+)\s*(?:=[^,]*)?(?:,|$)")
Names = Callable[[str], set[str]]  # of a text
WORD = re.compile(r"(?<![\w.])(\w+)(\()?")


def plain(text: str) -> str:
    """Without comments, strings and includes."""
    text = re.sub(r"^#include .*|//.*", "", text, flags=re.MULTILINE)
    return re.sub(r'"(\\.|[^"\\])*"', '""', text).replace("->", ".")


def functions_of(text: str) -> set[str]:
    return set(FUNCTION.findall(text)) | declared_in(text)


def declared_in(text: str) -> set[str]:
    """The functions that are declared here and defined by a header above."""
    return {name for found in EARLY.findall(text) for name in found if name}


def others_of(text: str) -> set[str]:
    """Everything with a name that is no function."""
    bodies = [body.strip() for body in ENUM.findall(text)]
    names = {name for pattern in OTHERS for name in pattern.findall(text)}
    return names | {name for body in bodies for name in ENUMERATOR.findall(body)} | nested_in(text)


def nested_in(text: str) -> set[str]:
    """The types that are declared here and defined by a header above."""
    return {name for found in NESTING.findall(text) for name in found if name}


def included(name: str, text: str) -> list[str]:
    """The headers that a file names itself, by their paths below the kernels' folder."""
    found = []
    for path in INCLUDE.findall(text):
        parts: list[str] = []
        for part in (PurePosixPath(name).parent / path).parts:
            parts = parts[:-1] if part == ".." else [*parts, part]
        found.append("/".join(parts))
    return found


class Headers:
    """All sources of the kernels: `texts` by their path below the kernels' folder."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.includes = {name: included(name, text) for name, text in texts.items()}
        self.texts = {name: plain(text) for name, text in texts.items()}
        self.functions = self._places(functions_of, declared_in)
        self.others = self._places(others_of, nested_in)

    def _places(self, names: Names, declared: Names) -> dict[str, set[str]]:
        """name -> the headers that define it."""
        places = defaultdict(set)
        early = {name for text in self.texts.values() for name in declared(text)}
        for file, text in self.texts.items():
            for name in names(text) if file.endswith(".h") else ():
                if file not in WHOLE or name not in early:
                    places[name].add(file)
        return places

    def uses(self, file: str) -> Iterator[tuple[str, set[str]]]:
        """Each name that the file has from elsewhere, and the headers that define it: several of an overloaded one."""
        for word, call in set(WORD.findall(self.texts[file])):
            places = self.others.get(word, set()) | (self.functions.get(word, set()) if call else set())
            if places and file not in places:
                yield word, places

    def missing(self, file: str) -> list[str]:
        """Names that the file uses without including a header that defines them."""
        known = {*self.includes[file], *GROUND}
        unknown = [(word, places) for word, places in self.uses(file) if not places & known]
        return sorted(f"{file} uses {word} of {' or '.join(sorted(places))}" for word, places in unknown)

    def idle(self, file: str) -> list[str]:
        """Headers that the file includes and does not use."""
        if file in WHOLE:  # it includes definitions of what was declared before
            return []
        used = {place for _, places in self.uses(file) for place in places}
        return [f"{file} includes {other}" for other in self.includes[file] if other not in used | GROUND]


def read() -> Headers:
    folder = kernels_folder()
    files = [path for path in folder.rglob("*") if path.suffix in (".h", ".cpp", ".cu")]
    return Headers({path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in files})


def floor_of(name: str) -> int:
    """The number of the floor, from the ground up."""
    places = {place: number for number, floor in enumerate(FLOORS) for place in floor}
    place = PurePosixPath(name)
    return places[next(str(path) for path in (place, *place.parents) if str(path) in places)]


def upward(includes: dict[str, list[str]]) -> list[str]:
    """The includes that go up."""
    every = [(name, other) for name, others in includes.items() for other in others]
    return [f"{name} includes {other}" for name, other in every if floor_of(other) > floor_of(name)]
