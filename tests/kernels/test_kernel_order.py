"""The kernels' headers include what they use and nothing else, downwards only, never round in a circle.

What a header needs stands in it (kernel_order.py), so that none hangs on what another one happens to bring.
"""

from __future__ import annotations

import subprocess
from graphlib import CycleError, TopologicalSorter

import pytest

from support.kernel_order import FLOORS, Headers, floor_of, read, upward
from turbo_fzn.base.resources import kernels_folder
from turbo_fzn.engine.toolchain import compiler

KERNELS = read()
ALONE = [name for name in sorted(KERNELS.includes) if name.endswith(".h") and name != "core/abi_check.h"]
REALS = ("-DFLOATS", "-DBOUND_BITS=64")
# Headers that belong to builds of one kind alone.
VARIANTS = {"core/sweep.h": ("-DSWEEP=SWEEP_ROWS",), "learn/propagators/check.h": ("-DCHECK_EXPLANATIONS",)}
BUILDS = [(name, VARIANTS.get(name, ())) for name in ALONE if not name.startswith("floats/")]
BUILDS += [(name, (*REALS, *VARIANTS.get(name, ()))) for name in ALONE]


def test_every_header_has_its_floor():
    assert {floor_of(name) for name in KERNELS.includes} == set(range(len(FLOORS)))
    with pytest.raises(StopIteration):
        floor_of("attic/old.h")


def test_includes_go_downwards():
    assert upward(KERNELS.includes) == []
    assert upward({"core/store.h": ["search/task.h"]}) == ["core/store.h includes search/task.h"]


def test_no_includes_go_round_in_a_circle():
    TopologicalSorter(KERNELS.includes).prepare()
    with pytest.raises(CycleError):
        TopologicalSorter({**KERNELS.includes, "core/port.h": ["learn/state/trail.h"]}).prepare()


@pytest.mark.parametrize("name", sorted(KERNELS.includes))
def test_a_header_includes_what_it_uses_and_nothing_else(name):
    assert KERNELS.missing(name) + KERNELS.idle(name) == []


def test_what_a_header_does_not_include_and_what_it_does_not_use_would_be_seen():
    texts = {
        "core/one.h": "struct Row { i32 op; };\nDEVICE bool is_row(Row r) { return r.op > 0; }\n#define LIMIT 3\n",
        "core/two.h": '#include "one.h"\n// LIMIT\nDEVICE i32 two(i32 is_row) { return is_row + a.LIMIT; }\n',
        "core/three.h": "PART(Trail, trail);\nDEVICE i32 three(i32 a) { return is_row(a) ? LIMIT : 0; }\n",
        "search/four.h": '#include "../core/three.h"\nDEVICE i32 four(const Learner& l) { return trail(l).size; }\n',
    }
    headers = Headers(texts)
    assert headers.missing("core/two.h") == [] and headers.idle("core/two.h") == ["core/two.h includes core/one.h"]
    assert headers.missing("core/three.h") == [
        "core/three.h uses LIMIT of core/one.h",
        "core/three.h uses is_row of core/one.h",
    ]
    assert headers.missing("search/four.h") + headers.idle("search/four.h") == []


@pytest.mark.slow
@pytest.mark.parametrize(("name", "flags"), BUILDS, ids=[f"{name}{''.join(flags)}" for name, flags in BUILDS])
def test_a_header_compiles_by_itself(name, flags):
    command = [*compiler.find_cpu_compiler(), "-std=c++17", "-fsyntax-only", "-w", "-x", "c++", *flags]
    done = subprocess.run([*command, str(kernels_folder() / name)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
