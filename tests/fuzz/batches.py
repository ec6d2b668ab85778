"""MiniZinc models by the batch: flattened together, taken apart, and solved each by itself, by Gecode and by us.

A start of `minizinc`, which reads the whole library, takes as long as some dozens of small models to flatten. So many
blocks (blocks.py) are flattened at once, with our library and, for Gecode, with the plain standard library. They share
no variable; so the FlatZinc falls into parts, one for each block, which get a solve item of their own. Where flattening
finds a contradiction, or an error, the batch is halved until the block that has it is alone.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from command import PATIENCE, without_home

from fuzz.blocks import HELPERS, Block, draw_block
from fuzz.judge import Verdict, Way, draw_way
from fuzz.peers import MOST_SOLUTIONS, SECONDS, Answer, environment, run, show, solvers
from turbo_fzn import solve_text
from turbo_fzn.errors import TurboError

BATCH = 12  # blocks
STANDARD = ("--solver", "gecode", "-G", "std")
OURS = ("--solver", "turbo")
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
DECLARED = re.compile(r"(var|array|predicate|constraint|solve)\b(?:[^:(]*?: ?([A-Za-z_]\w*))?")
OF_BLOCK = re.compile(r"[a-z]+_(\d+)")
INCONSISTENT = "inconsistency"


class Flat(NamedTuple):
    """What flattening made of a block: FlatZinc without its solve item, `false` where it has no solution, or an error."""

    lines: list[str]
    is_false: bool = False
    error: str = ""


def try_batch(random: Random) -> tuple[list[Verdict], str]:
    """The verdict of each block, and the text of the first that is wrong."""
    blocks = [draw_block(random, number) for number in range(BATCH)]
    theirs, ours = flatten(blocks, STANDARD), flatten(blocks, OURS)
    verdicts, text = [], ""
    for block in blocks:
        verdict = compare(block, ours[block.number], theirs[block.number], draw_way(random))
        text = text or (verdict.is_fault and wrong_text(block)) or ""
        verdicts.append(verdict)
    return verdicts, text


def wrong_text(block: Block) -> str:
    return f"{HELPERS}{block.text}solve {block.method} {block.cost};\n"


# ---- flattening


def flatten(blocks: Sequence[Block], flags: Sequence[str]) -> dict[int, Flat]:
    text = HELPERS + "".join(block.text for block in blocks) + "solve satisfy;\n"
    lines, said = flattened(text, flags)
    if lines is not None and INCONSISTENT not in said:
        return {number: Flat(part) for number, part in split(lines, [block.number for block in blocks]).items()}
    if len(blocks) == 1:
        return {blocks[0].number: Flat([], INCONSISTENT in said, said)}
    middle = len(blocks) // 2
    return flatten(blocks[:middle], flags) | flatten(blocks[middle:], flags)


def flattened(text: str, flags: Sequence[str]) -> tuple[list[str] | None, str]:
    """The lines of the FlatZinc, None where there is none; and what MiniZinc says."""
    with tempfile.TemporaryDirectory(prefix="turbo-batch-") as folder:
        model, flat = Path(folder, "model.mzn"), Path(folder, "model.fzn")
        model.write_text(text)
        command = ["minizinc", "-c", *flags, "--fzn", str(flat), "--no-output-ozn", str(model)]
        home = environment(MZN_SOLVER_PATH=solvers(), **without_home(Path(solvers())))
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=home)
        lines = flat.read_text().splitlines() if flat.exists() and not done.returncode else None
    return lines, done.stdout + done.stderr


def split(lines: list[str], numbers: Sequence[int]) -> dict[int, list[str]]:
    """The lines of each block: those that its variables are connected to. Constants belong to all that name them.
    Lines that no block's variables are connected to belong to every block."""
    names = [name_of(line) for line in lines]
    shared = {name for name, line in zip(names, lines) if name and is_constant(line)}
    known = {name for name in names if name} - shared
    group = Groups()
    for name, line in zip(names, lines):
        if name not in shared:
            group.join([word for word in WORD.findall(line) if word in known])
    owner = {group.find(name): int(found[1]) for name in known if (found := OF_BLOCK.fullmatch(name))}
    for name in known:
        found = OF_BLOCK.fullmatch(name)
        assert not found or group.find(f"block {found[1]}") is not None
    parts: dict[int, list[str]] = {number: [] for number in numbers}
    for name, line in zip(names, lines):
        if line.startswith("solve"):
            continue
        inside = [word for word in WORD.findall(line) if word in known]
        number = owner.get(group.find(inside[0])) if inside and name not in shared else None
        for part in parts.values() if number is None else (parts[number],):
            part.append(line)
    return parts
