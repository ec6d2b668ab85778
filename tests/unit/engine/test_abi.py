"""Host and kernels mean the same by every struct, enum and constant: engine/abi/abi.py alone says it."""

from __future__ import annotations

import ctypes
import inspect
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turbo_fzn import solve_text
from turbo_fzn.base.errors import InternalError
from turbo_fzn.base.resources import kernels_folder
from turbo_fzn.engine import library
from turbo_fzn.engine.abi import abi, agreement, header, model_records
from turbo_fzn.engine.abi.records import RECORDS, WIDTHS, fields_of
from turbo_fzn.engine.abi.trace_records import TraceRecord
from turbo_fzn.engine.layout.layout import Layout, Settings
from turbo_fzn.engine.toolchain import compiler
from turbo_fzn.run.profiler import Profiler
from turbo_fzn.tnf.language import TNF, Op

MODEL = "var 1..3: x :: output_var; solve satisfy;"

# A text of abi.h, and what a careless hand makes of it.
SLIPS = {
    "fields": ("i32 pool_slots, pool_path", "i32 pool_path, pool_slots"),
    "pointers": ("  const i32* watchers;\n", ""),
    "widths": ("i32 n_blocks, use_weights", "i32 n_blocks; i64 use_weights"),
    "alignment": ("alignas(64) i64 pool_tail", "i64 pool_tail"),
    "bounds": ("  bound_t upper[2];", "  i32 upper[2];"),
    "operators": ("OP_MIN = 4, OP_MAX = 5", "OP_MAX = 4, OP_MIN = 5"),
    "methods": ("METHOD_RANDOM = 1, METHOD_WINDOW = 2", "METHOD_WINDOW = 1, METHOD_RANDOM = 2"),
    "constants": ("WARM_START = 1;", "WARM_START = 2;"),
    "room for the state": ("STATE_BYTES = 544;", "STATE_BYTES = 64;"),
}


def compile_with(tmp_path: Path, bits: int, old: str = "", new: str = "") -> subprocess.CompletedProcess[str]:
    """The C++ compiler's opinion of the kernels with a change of abi.h."""
    kernels = shutil.copytree(kernels_folder(), tmp_path / "kernels")
    changed = kernels / "core" / "abi.h"
    assert not old or changed.read_text().count(old) == 1
    changed.write_text(changed.read_text().replace(old, new))
    command = [*compiler.find_cpu_compiler(), "-std=c++17", "-fsyntax-only", f"-DBOUND_BITS={bits}", "-DTRACE"]
    return subprocess.run([*command, str(kernels / "solve.cpp")], capture_output=True, text=True, check=False)


def test_the_header_is_what_the_table_prints():
    assert header.stale() == [], header.HOW


@pytest.mark.parametrize("bits", WIDTHS)
def test_the_compiler_lays_out_every_struct_as_the_host_does(tmp_path, bits):
    """Each field, enumerator and constant is asserted, in every build of the kernels."""
    asserted = (kernels_folder() / "core" / "abi_check.h").read_text()
    for fact in [*agreement.named_facts(), *agreement.placed_facts(bits)]:
        assert f"SAME({fact.expression}, " in asserted
    compiled = compile_with(tmp_path, bits)
    assert compiled.returncode == 0, compiled.stderr


@pytest.mark.parametrize("slip", SLIPS)
def test_a_header_that_differs_from_the_table_is_not_compiled(tmp_path, slip):
    compiled = compile_with(tmp_path, 64, *SLIPS[slip])
    assert compiled.returncode != 0
    assert "static assertion failed" in compiled.stderr or "static_assert failed" in compiled.stderr  # GCC, Clang


@pytest.mark.parametrize(
    "old, new",
    [
        ("    n_vars: i32\n    n_rows: i32\n", "    n_rows: i32\n    n_vars: i32\n"),
        ('tables: Annotated[pointer, "const bound_t"]', 'tables: Annotated[pointer, "const i32"]'),
        ("Times(N_EXTENTS, N_SIZES)", "Times(N_SIZES, N_EXTENTS)"),
        ("    RANDOM = 1\n    WINDOW = 2\n", "    WINDOW = 1\n    RANDOM = 2\n"),
        ("SHARE_UNIT = 65536", "SHARE_UNIT = 65535"),
    ],
)
def test_any_change_of_the_table_has_another_digest(monkeypatch, old, new):
    text, digest = inspect.getsource(abi), agreement.digest()
    assert text.count(old) == 1
    assert digest_of(text, monkeypatch) == digest
    assert digest_of(text.replace(old, new), monkeypatch) != digest


def digest_of(text: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The digest if abi.py had this text."""
    changed = ModuleType("changed")
    records = list(RECORDS)
    RECORDS[:] = [one for one in records if one.__module__ != abi.__name__]
    monkeypatch.setattr(agreement, "abi", changed)
    try:
        exec(compile(text, "changed", "exec", dont_inherit=True), vars(changed))
        return str(agreement.digest.__wrapped__())
    finally:
        RECORDS[:] = records


@pytest.mark.parametrize("first", sorted({one.__module__ for one in RECORDS}))
def test_the_digest_is_the_same_whichever_module_is_imported_first(first):
    program = f"import {first}\nfrom turbo_fzn.engine.abi import agreement\nprint(agreement.digest())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == agreement.digest()


def test_a_library_compiled_for_another_table_is_refused(monkeypatch):
    monkeypatch.setattr(library, "digest", lambda floats: "0123456789abcdef")
    with pytest.raises(InternalError, match="host and kernels differ"):
        library.library.__wrapped__(32)


def test_a_gpu_binary_compiled_for_another_table_is_refused(fake_gpu):
    assert solve_text(MODEL, arch="gpu").solutions
    fake_gpu.digest = b"0123456789abcdef\0"
    from turbo_fzn.engine.cuda import context

    context._context.cache_clear()
    with pytest.raises(InternalError, match="host and kernels differ"):
        solve_text(MODEL, arch="gpu")


def names_of(record: type) -> list[str]:
    return [field.name for field in fields_of(record)]


def some_tnf(n_vars: int, n_rows: int, wide: bool) -> TNF:
    op, zeros = np.full(n_rows, Op.MIN, np.int32), np.zeros(n_rows, np.int32)
    lower, upper = np.zeros(n_vars, np.int64), np.full(n_vars, 2**40 if wide else 1)
    return TNF(op, zeros, zeros, zeros, lower, upper, np.zeros(0, np.int64))


sizes = st.integers(1, 1000)


@given(sizes, sizes, st.booleans(), sizes, sizes)
def test_both_sides_reckon_with_the_same_memory(n_vars, n_rows, wide, queue, levels):
    settings = Settings(queue_capacity=queue, level_capacity=levels, trail_capacity=queue + levels)
    layout = Layout(some_tnf(n_vars, n_rows, wide), np.arange(1), settings)
    problem = abi.Problem()
    layout.fill(problem, 0)
    library.check_sums(layout, problem)


def test_memory_of_another_size_is_refused():
    layout = Layout(some_tnf(10, 10, wide=False), np.arange(1), Settings())
    problem = abi.Problem()
    layout.fill(problem, 0)
    problem.trail_capacity += 4
    with pytest.raises(InternalError, match="memory of a block"):
        library.check_sums(layout, problem)


def test_what_the_host_writes_by_place_has_the_places_of_the_table():
    assert names_of(model_records.Strategy) == ["var_choice", "value_choice", "start", "count"]  # strategies.pack
    assert names_of(model_records.Watch) == ["start", "both", "upper", "end"]  # watch.watch_lists
    assert names_of(abi.MethodBook)[:3] == ["tries", "busy_ns", "improvements"]  # contract.method_statistics
    assert {field.type for field in fields_of(abi.Statistics)} == {"i64"}
    assert ctypes.sizeof(abi.Statistics) == 8 * len(abi.STATISTICS)
    assert set(inspect.signature(Profiler.add_node).parameters) == {"self", *names_of(TraceRecord)}


def test_the_header_is_written_and_compared_by_one_command(tmp_path, monkeypatch, capsys):
    shutil.copytree(kernels_folder(), tmp_path / "kernels")
    monkeypatch.setattr(header, "kernels_folder", lambda: tmp_path / "kernels")
    monkeypatch.setattr("sys.argv", ["header"])
    assert header.main() == 0
    os.remove(tmp_path / "kernels" / "core" / "abi.h")
    assert header.main() == 1
    assert capsys.readouterr().out == f"kernels/core/abi.h is stale: {header.HOW}\n"
    monkeypatch.setattr("sys.argv", ["header", "--write"])
    assert header.main() == 0
    assert header.stale() == []
