"""Editions of the kernels, whose thresholds are random variables as those of the package are (thresholds.py).

A learner reduces its clauses after 4000 conflicts, a soloist changes its turn after 500, and a neighbourhood is given
up after 100 failures: no small model gets there. An edition is a copy of the kernels in which a few of the numbers of
THRESHOLDS, or all, are others; it is compiled once, and then kept in the cache as any kernels are.
"""

from __future__ import annotations

import atexit
import re
import shutil
import tempfile
from pathlib import Path
from random import Random

from turbo_fzn.base.resources import kernels_folder
from turbo_fzn.engine.toolchain import compiler

# A macro, a constant, or what a build asserts of one that the host knows too.
DEFINITION = re.compile(
    r"((?:^#define +|^constexpr \w+ |\bSAME\()(\w+)(?: +| = |, ))(\d+(?:\.\d+)?f?)(?=\);|;|\s|$)", re.MULTILINE
)
THRESHOLDS: dict[str, tuple[str, ...]] = {
    "BISECTIONS": ("1", "3"),
    "BLOCKS_A_RESERVE": ("1", "2"),
    "COUNT_NODES": ("1", "2"),
    "CREEP_DOMAIN": ("1", "2"),
    "CREEP_ENTRIES": ("1", "10"),
    "CREEP_LOOK_BACK": ("1", "5"),
    "CREEP_ROUNDS": ("1", "3"),
    "CREEP_WARNING": ("1", "4"),
    "CYCLE_PASSES": ("1", "3"),
    "CYCLE_TERMS": ("2", "3"),
    "DEEPEST_DESCENT": ("1", "2"),
    "DEEPEST_MINIMISATION": ("1", "2"),
    "DISTANCES": ("1", "2"),
    "EVEN_SHARE": ("0.9f",),
    "EXCHANGE_SLOTS": ("1", "2", "4"),
    "FAILURES_SURE": ("1",),
    "FAILURE_LIMIT": ("1", "4"),
    "FADING_CONFLICTS": ("1", "20"),
    "FIRST_REDUCTION": ("1", "5", "20"),
    "GLUCOSE_EXCESS": ("0.5", "1.0"),
    "GLUCOSE_LEAST": ("1", "3"),
    "HUB_DEGREE": ("1", "3"),
    "KEPT_LBD": ("0", "1"),
    "KEPT_WHILE_USED": ("1", "2"),
    "LIVELY": ("1", "2"),
    "LONG_ROUND": ("1",),
    "LUBY_UNIT": ("1", "3", "10"),
    "MOST_DOUBLINGS": ("1",),
    "MOST_FULL_RESTARTS": ("0", "1"),
    "MOST_VIVIFIED": ("3", "4"),
    "OPEN_LEVELS": ("1", "4"),
    "POLL_EVERY": ("1", "3"),
    "PRIOR_NS": ("1",),
    "PROBE_EVERY": ("1", "2"),
    "PROBE_DEPTHS": ("1", "2"),
    "RANDOM_SIZE": ("1", "3"),
    "RECENT_NS": ("1000",),
    "REDUCTION_STEP": ("1", "5"),
    "RESTART_UNIT": ("1", "5"),
    "RESTART_WORK": ("1", "8"),
    "RETURN_ODDS": ("1", "2"),
    "ROOT_PATIENCE": ("1", "2"),
    "ROUNDS_A_ROW": ("0",),
    "SETTLE_FLIPS": ("1", "2"),
    "SETTLE_TRIES": ("1", "3"),
    "SMALL_NODES": ("0", "2"),
    "STEPS_A_DESCENT": ("1", "2"),
    "STEPS_A_VARIABLE": ("1",),
    "STOP_POLL_ROUNDS": ("1",),
    "TOLD_LBD": ("1", "8"),
    "TOLD_SIZE": ("1", "8"),
    "TRIES_A_VARIABLE": ("1", "2"),
    "TURN_CONFLICTS": ("1", "3", "10"),
    "VIVIFIED_SHARE": ("1", "2"),
    "WISH_EVERY": ("1", "2"),
    "WORK_UNIT": ("1",),
}


def numbers_of(text: str) -> dict[str, str]:
    """What is defined as a number, and the number."""
    return {name: number for _, name, number in DEFINITION.findall(text)}


def draw_numbers(random: Random) -> dict[str, str]:
    """Other numbers for a few thresholds, or for all."""
    names = list(THRESHOLDS) if random.random() < 0.4 else random.sample(list(THRESHOLDS), random.randint(3, 20))
    return {name: random.choice(THRESHOLDS[name]) for name in names}


def rewritten(text: str, numbers: dict[str, str]) -> str:
    return DEFINITION.sub(lambda found: found[1] + numbers.get(found[2], found[3]), text)


def use(number: int) -> dict[str, str]:
    """Makes this process use that edition; 0 is the kernels as they are. Returns the numbers that are others."""
    if number == 0:
        return {}
    numbers = draw_numbers(Random(f"edition/{number}"))
    folder = Path(tempfile.mkdtemp(prefix="turbo-edition-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    copy = folder / "kernels"
    shutil.copytree(kernels_folder(), copy)
    for path in copy.rglob("*.h"):
        path.write_text(rewritten(path.read_text(encoding="utf-8"), numbers), encoding="utf-8")
    compiler.kernels_folder = lambda: copy
    compiler.source_hash.cache_clear()
    return numbers
