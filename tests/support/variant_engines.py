"""Engines of variants (turbo_fzn/engine/variants.py), for tests: with one lane a block, as on a CPU, and with many.

Many lanes run on coroutines where there is no GPU (tests/data/kernels/lanes.h), the text of its kernels with them. So
what only many lanes can do to each other is tried on any machine, and a test that fails does so again. It does not take
the place of a GPU, where lanes run at the same time.

All run every row once more at each fixpoint, and look at what the kernels assert.
"""

from __future__ import annotations

import ctypes
import subprocess
from functools import cache
from pathlib import Path

from support.builds import build_once
from support.engines import OpenEngine
from support.places import DATA
from turbo_fzn.base.resources import kernels_folder
from turbo_fzn.engine import variants
from turbo_fzn.engine.contract import Found
from turbo_fzn.engine.figures import subproblem_counts
from turbo_fzn.engine.toolchain import compiler

SOURCES = DATA / "kernels"
FLAGS = ("-std=c++17", "-O0", "-shared", "-fPIC", "-w", "-DCHECK_FIXPOINT")
ASSERTING = "-DCHECK_ASSERTIONS"
MANY_LANES = f'-DLANES="{SOURCES / "lanes.h"}"'


@cache
def library(bits: int, source: Path, macros: tuple[str, ...]) -> ctypes.CDLL:
    """`solve_block` of an entry point, compiled once a run of the tests."""
    own = [f"-DBOUND_BITS={bits}", f"-I{kernels_folder()}", *macros]
    command = [*compiler.find_cpu_compiler(), *FLAGS, *own, str(source), "-o"]

    def compile_here(folder: Path) -> None:
        subprocess.run([*command, str(folder / "solve.so")], check=True)

    texts = [path.read_text() for path in sorted(SOURCES.iterdir())]
    folder = build_once("variant", compile_here, command, compiler.source_hash(), texts)
    compiled = ctypes.CDLL(str(folder / "solve.so"))
    compiled.solve_block.argtypes = [ctypes.c_void_p, ctypes.c_int32]
    return compiled


class VariantEngine(OpenEngine):
    """For a FlatZinc text. `variant`: names as --variant has them; `asserts`: whether a process ends where something
    that is asserted does not hold."""

    KIND, SOURCE, MORE = "cpu", kernels_folder() / "solve.cpp", ()

    def __init__(self, text: str, variant: str = "", asserts: bool = True, **settings: object):
        chosen = variants.chosen(variant, self.KIND).settings(self.KIND)
        macros = chosen.pop("macros") + (variants.ROWS_SHARED,) * (chosen.get("model") == "shared")
        super().__init__(text, variants.simplifies(variant), **{**chosen, **settings})
        self.library = library(self.layout.bits, self.SOURCE, (*macros, *self.MORE, *[ASSERTING] * asserts))

    def total(self, name: str) -> int:
        return sum(self.counted(name))

    def subproblems(self) -> dict[str, int]:
        return subproblem_counts(self.layout, self.common)

    def run(self) -> list[Found]:
        """All that is found. No row could tighten anything at a fixpoint."""
        found = super().run()
        assert self.total("fixpoint_errors") == 0
        return found


class ManyLanes(VariantEngine):
    """The engine with many lanes for each block, as on a GPU."""

    KIND, SOURCE, MORE = "gpu", SOURCES / "lanes.cpp", (MANY_LANES,)


KINDS = {"cpu": VariantEngine, "gpu": ManyLanes}
