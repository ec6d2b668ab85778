"""MiniZinc models by the batch: flattened together, taken apart, and solved each by itself, by Gecode and by us.

A start of `minizinc`, which reads the whole library, takes as long as some dozens of small models to flatten. So many
blocks (blocks.py) are flattened at once, with our library and, for Gecode, with the plain standard library. They share
no variable; so the FlatZinc falls into parts, one for each block, which get a solve item of their own. Where flattening
finds a contradiction, or an error, or something that is in no part, the batch is halved until that block is alone.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from fuzz.blocks import HELPERS, Block, draw_block
from fuzz.judge import Verdict, Way, draw_way
from fuzz.peers import MOST_SOLUTIONS, SECONDS, UNSATISFIABLE, Answer, run, solvers
from support.command import PATIENCE, without_home
from turbo_fzn import solve_text
from turbo_fzn.base.errors import TurboError

BATCH = 12  # blocks
STANDARD = ("--solver", "gecode", "-G", "std")
OURS = ("--solver", "turbo")
Compiled = tuple[list[str] | None, str]  # the lines of the FlatZinc, None where there is none; what MiniZinc says
Compile = Callable[[str], Compiled]
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
DECLARED = re.compile(r"(?:var|array|bool|int|float|set)\b[^:]*: ?([A-Za-z_]\w*)")
OF_BLOCK = re.compile(r"[a-z]+_(\d+)")
INCONSISTENT = "inconsistency"


class Flat(NamedTuple):
    """What flattening made of a block: FlatZinc without its solve item, or that there is no solution, or an error."""

    lines: list[str]
    is_false: bool = False
    error: str = ""


def try_batch(random: Random) -> tuple[list[Verdict], str]:
    """The verdict of each block, and the text of the first that is wrong."""
    blocks = [draw_block(random, number) for number in range(BATCH)]
    theirs, ours = flatten(blocks, partial(flattened, STANDARD)), flatten(blocks, partial(flattened, OURS))
    verdicts, text = [], ""
    for block in blocks:
        verdict = compare(block, ours[block.number], theirs[block.number], draw_way(random))
        text = text or (verdict.is_fault and wrong_text(block)) or ""
        verdicts.append(verdict)
    return verdicts, text


def wrong_text(block: Block) -> str:
    goal = f"{block.method} {block.cost}[1]" if block.cost else "satisfy"
    return f"{HELPERS}{block.text}solve {goal};\n"


# ---- flattening


def flatten(blocks: Sequence[Block], compile: Compile) -> dict[int, Flat]:
    """What flattening makes of each block, by its number; `compile` is the release, with a library. Raises
    AssertionError where blocks share a name."""
    tell_apart(blocks)
    text = HELPERS + "".join(block.text for block in blocks) + "solve satisfy;\n"
    lines, said = compile(text)
    if len(blocks) == 1:
        is_false, body = INCONSISTENT in said, [line for line in lines or [] if not line.startswith("solve")]
        return {blocks[0].number: Flat(body, is_false, said if lines is None or is_false else "")}
    parts = split(lines, [block.number for block in blocks]) if lines and INCONSISTENT not in said else None
    if parts is not None:
        return {number: Flat(part) for number, part in parts.items()}
    middle = len(blocks) // 2
    return flatten(blocks[:middle], compile) | flatten(blocks[middle:], compile)


def tell_apart(blocks: Sequence[Block]) -> None:
    """Raises AssertionError where blocks name something alike: they would be flattened as one model, or not together
    and never seen to belong to each other."""
    numbers = [block.number for block in blocks]
    assert len(set(numbers)) == len(numbers), f"two blocks with one number: {numbers}"
    for block in blocks:
        declared = {found[1] for line in block.lines if (found := DECLARED.match(line))}
        named = {word for word in WORD.findall(block.text) if OF_BLOCK.fullmatch(word)}
        strange = [name for name in declared | named if not name.endswith(f"_{block.number}")]
        assert not strange, f"block {block.number} names {strange}, as another block may"


def flattened(flags: Sequence[str], text: str) -> Compiled:
    """What the installed MiniZinc makes of a text, with the solver and library of these flags."""
    with tempfile.TemporaryDirectory(prefix="turbo-batch-") as folder:
        model, flat = Path(folder, "model.mzn"), Path(folder, "model.fzn")
        model.write_text(text)
        command = ["minizinc", "-c", *flags, "--fzn", str(flat), "--no-output-ozn", str(model)]
        home = {**os.environ, "MZN_SOLVER_PATH": solvers(), **without_home(Path(solvers()))}
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=home)
        lines = flat.read_text().splitlines() if flat.exists() and not done.returncode else None
    return lines, done.stdout + done.stderr


def split(lines: list[str], numbers: Sequence[int]) -> dict[int, list[str]] | None:
    """The lines of each block: those of the variables that its own are connected to. Constants and predicates belong to
    every block. None where there are constraints that no block's variables are connected to, and where blocks share a
    variable that MiniZinc has introduced, as for an expression without variables that both have."""
    declared = [found[1] if (found := DECLARED.match(line)) else "" for line in lines]
    constants = {name for name, line in zip(declared, lines) if name and is_constant(line)}
    variables = {name for name in declared if name} - constants
    words = [[word for word in WORD.findall(line) if word in variables] for line in lines]
    leader = connected(words)
    of_block = {name: int(found[1]) for name in variables if (found := OF_BLOCK.fullmatch(name))}
    owner: dict[str, int] = {}
    for name, number in of_block.items():
        if owner.setdefault(leader[name], number) != number:
            return None
    parts: dict[int, list[str]] = {number: [] for number in numbers}
    for line, inside in zip(lines, words):
        if line.startswith("constraint") and not (inside and leader[inside[0]] in owner):
            return None
        if not line.startswith("solve"):
            number = owner.get(leader[inside[0]]) if inside else None
            for part in parts.values() if number is None else (parts[number],):
                part.append(line)
    return parts


def is_constant(line: str) -> bool:
    return not re.match(r"var\b|array *\[[^\]]*\] of var\b", line)


def connected(groups: Sequence[Sequence[str]]) -> dict[str, str]:
    """For each name one that stands for all that it is connected to, by being in one group with them."""
    above: dict[str, str] = {}

    def find(name: str) -> str:
        while (upper := above.setdefault(name, name)) != name:
            above[name] = name = above[upper]
        return name

    for group in groups:
        for name in group:
            above[find(name)] = find(group[0])
    return {name: find(name) for name in above}


# ---- solving


def compare(block: Block, ours: Flat, theirs: Flat, way: Way) -> Verdict:
    if theirs.error and not theirs.is_false:
        return Verdict("undecided")
    expected = gecode(block, theirs)
    if expected is None or not expected.is_complete:
        return Verdict("undecided")
    if ours.error and not ours.is_false and theirs.is_false:  # the contradiction may have come before the error
        return Verdict("undecided")
    if ours.error and not ours.is_false:
        return Verdict("wrong", f"no FlatZinc where Gecode has some: {ours.error}")
    if ours.is_false:
        fault = "a contradiction where Gecode has solutions" if expected.solutions else ""
        return Verdict("wrong" if fault else "right", fault)
    text = "\n".join([*ours.lines, goal(block, ours.lines)])
    several = {"n_solutions": None, "n_optimal": None, "all_solutions": True}
    settings: dict[str, Any] = {**way.settings(), **({} if block.cost else several)}
    try:
        with way.surroundings():
            result = solve_text(text, **settings, time_limit=2000 * SECONDS)
    except TurboError as error:
        return Verdict("wrong", f"{error} ({way})\n{text}")
    if result.status in ("UNKNOWN", "SATISFIED"):
        return Verdict("undecided")
    found = [{name: str(value).lower() for name, value in one.items()} for one in result.solutions]
    fault = difference(block, found, [values(lines) for lines in expected.solutions])
    return Verdict("wrong" if fault else "right", fault and f"{fault} ({way})\n{text}")


def goal(block: Block, lines: Sequence[str]) -> str:
    """The solve item; what flattening has fixed need not be minimised."""
    given = [line for line in lines if re.match(rf"array .*: ?{block.cost}\b", line)] if block.cost else []
    objective = given[0].rpartition("[")[2].partition("]")[0] if given else ""
    return f"solve {block.method} {objective};\n" if WORD.fullmatch(objective) else "solve satisfy;\n"


def gecode(block: Block, flat: Flat) -> Answer | None:
    if flat.is_false:
        return Answer(UNSATISFIABLE)
    with tempfile.NamedTemporaryFile("w", suffix=".fzn") as file:
        file.write("\n".join([*flat.lines, goal(block, flat.lines)]))
        file.flush()
        limits = [] if block.cost else ["-n", str(MOST_SOLUTIONS)]
        return run(["fzn-gecode", *limits, "-time", str(1000 * SECONDS), file.name])


def difference(block: Block, ours: list[dict[str, str]], theirs: list[dict[str, str]]) -> str:
    """What Gecode's solutions and ours differ in, or nothing. Of an optimisation the last one counts."""
    if block.cost:
        best = [solutions[-1][block.cost] if solutions else "none" for solutions in (ours, theirs)]
        return f"optimum {best[0]} where Gecode has {best[1]}" if best[0] != best[1] else ""
    found, expected = ({of_shown(block, one) for one in solutions} for solutions in (ours, theirs))
    if found != expected:
        example = min(found ^ expected)
        return f"{len(expected - found)} solutions missing, {len(found - expected)} too many: {example}"
    return ""


def of_shown(block: Block, solution: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, solution[name]) for name in block.shown)


def values(lines: Sequence[str]) -> dict[str, str]:
    """Names and values in lines such as `x=array1d(1..2,[1,2]);`; an array is a list of its elements."""
    pairs = [line.rstrip(";").split("=", 1) for line in lines]
    return {name: re.sub(r"^array\dd\(.*?(\[.*\])\)$", r"\1", value).replace(",", ", ") for name, value in pairs}
