"""The host side of the GPU engine, on a CUDA driver in Python: what it does with a device, and with one that fails.

The device's own work is done by the CPU engine here, so these tests say nothing about kernels on a GPU.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from support import fake_cuda
from support.engines import search
from support.fake_gpu import NVCC, forget, install, lent_gpu
from turbo_fzn import solve_text
from turbo_fzn.base.errors import EngineError
from turbo_fzn.command import doctor, info
from turbo_fzn.engine.abi.abi import STATISTICS
from turbo_fzn.engine.cuda import devices, gpu
from turbo_fzn.engine.layout.layout import Settings
from turbo_fzn.engine.toolchain import ahead, compiler
from turbo_fzn.lower.rewrite import lower
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.answer.outcome import Finished
from turbo_fzn.run.answer.statistics import SUBPROBLEMS
from turbo_fzn.run.prepare import prepare

QUEENS = "".join(f"var 1..6: q{i} :: output_var;\n" for i in range(6))
QUEENS += "".join(
    f"constraint int_lin_ne([1,-1],[q{i},q{j}],{k});\n" for i in range(6) for j in range(i) for k in (0, i - j, j - i)
)
WIDE = "var -5000000000..5000000000: x :: output_var;\nconstraint int_le(4999999998,x);\n"
SATISFY, MAXIMIZE = "solve satisfy;\n", "solve maximize q0;\n"


@pytest.fixture(params=["pycuda", "cuda-bindings"])
def fake_gpu(request, monkeypatch, tmp_path):
    """The fake GPU, through either of the packages that call the driver."""
    with lent_gpu(monkeypatch, tmp_path / "cache", request.param) as driver:
        yield driver


@pytest.mark.parametrize("blocks", [1, 4, None])
def test_a_model_is_solved_and_all_memory_given_back(fake_gpu, blocks):
    result = solve_text(QUEENS + SATISFY, arch="gpu", blocks=blocks, all_solutions=True, check=True)
    assert (result.status, len(result.solutions)) == ("ALL_SOLUTIONS", 4)
    assert result.statistics["engine"] == "gpu" and result.statistics["nodes"] > 0
    assert fake_gpu.held == set() and len(fake_gpu.launches) == 1
    assert fake_gpu.launches[0][0] == (blocks or result.statistics["blocks"])


def test_a_model_with_large_integers_takes_the_wide_kernels(fake_gpu):
    result = solve_text(WIDE + SATISFY, arch="gpu", blocks=2, all_solutions=True)
    assert sorted(solution["x"] for solution in result.solutions) == [4999999998, 4999999999, 5000000000]


def test_the_optimum_is_found_and_neighbourhoods_are_searched(fake_gpu):
    result = solve_text(QUEENS + MAXIMIZE, arch="gpu", blocks=8, lns="on")
    assert (result.status, result.objective) == ("OPTIMAL_SOLUTION", 5)


def test_statistics_and_the_bound_are_copied_beside_the_search(fake_gpu):
    """Anything that waits for the end of the kernel would wait for ever (the fake driver refuses it)."""
    tnf = lower(parse_text("\n".join(f"var 0..1000: x{i} :: output_var;" for i in range(9)) + SATISFY)).tnf
    engine = gpu.GpuEngine(tnf, np.arange(tnf.n_vars, dtype=np.int32), Settings(blocks=2))
    engine.start()
    assert engine.running
    assert engine.statistics().keys() == {*STATISTICS, *SUBPROBLEMS}
    assert engine.bound == engine.layout.root_bound()
    engine.close()
    assert fake_gpu.held == set()


@pytest.mark.parametrize("early", [True, False])
def test_a_bound_that_the_host_has_proved_ends_the_search(fake_gpu, early):
    """The sum of nine variables has a thousand times too many values for the search alone."""
    names = [f"x{i}" for i in range(9)]
    text = "".join(f"var 0..1000: {name} :: output_var;\n" for name in names) + "var 0..9000: s :: output_var;\n"
    text += f"constraint int_lin_eq({[1] * 9 + [-1]},[{','.join(names)},s],0);\nconstraint int_lin_ne([1],[s],0);\n"
    tnf = lower(parse_text(text + "solve maximize s;")).tnf
    engine = gpu.GpuEngine(tnf, np.arange(tnf.n_vars, dtype=np.int32), Settings(blocks=2))
    assert engine.layout.root_bound() == -9000
    if early:
        engine.raise_bound(-1)
    engine.start()
    if not early:
        engine.raise_bound(-1)
        engine.raise_bound(-2000)
    while engine.running:
        engine.poll()
    assert engine.complete and engine.bound == -1
    engine.close()


def test_a_limited_search_stops_the_kernel(fake_gpu):
    result = solve_text(QUEENS + SATISFY, arch="gpu", blocks=4, n_solutions=1)
    assert (result.status, len(result.solutions)) == ("SATISFIED", 1)
    assert fake_gpu.held == set()


def test_little_memory_means_fewer_blocks(fake_gpu):
    many = solve_text(QUEENS + SATISFY, arch="gpu", all_solutions=True)
    few = solve_text(QUEENS + SATISFY, arch="gpu", all_solutions=True, gpu_memory=4)
    assert 0 < few.statistics["blocks"] < many.statistics["blocks"]
    assert len(few.solutions) == len(many.solutions) == 4


def test_a_store_too_large_for_shared_memory_lies_in_the_workspace(fake_gpu):
    text = WIDE + "".join(f"var 1..2: x{i} :: output_var;\n" for i in range(16_000)) + SATISFY
    result = solve_text(text, arch="gpu", blocks=1, n_solutions=1, simplify=False, check=False)
    assert (result.status, result.statistics["store"]) == ("SATISFIED", "global")


# ---- faults: the message, and what becomes of `auto`

FAULTS = {
    "no driver": ({"init": fake_cuda.LogicError("cuInit failed: no device")}, "no usable NVIDIA driver: cuInit failed"),
    "taken": ({"context": fake_cuda.LogicError("exclusive-process")}, "the GPU cannot be used: .*exclusive-process"),
    "no memory": (
        {"mem_alloc": fake_cuda.MemoryError("out of memory")},
        "not enough memory on the GPU: .*out of memory",
    ),
    "bad module": ({"module": fake_cuda.LogicError("no kernel image")}, "the GPU cannot be used: .*no kernel image"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_gpu_that_cannot_be_used_is_an_error_and_auto_takes_the_cpu(fake_gpu, name):
    fake_gpu.fail_at, message = FAULTS[name]
    with pytest.raises(EngineError, match=message):
        solve_text(QUEENS + SATISFY, arch="gpu")
    forget()
    result = solve_text(QUEENS + SATISFY, arch="auto")
    assert (result.status, result.statistics["engine"]) == ("SATISFIED", "cpu")
    assert fake_gpu.held == set()


def test_a_device_without_room_for_a_block_is_an_error(fake_gpu):
    fake_gpu.free_bytes = 1 << 16
    with pytest.raises(EngineError, match="not enough memory on the GPU: a block needs"):
        solve_text(QUEENS + SATISFY, arch="gpu")


def test_a_machine_without_a_gpu_is_told(fake_gpu):
    fake_gpu.count = 0
    with pytest.raises(EngineError, match="no NVIDIA GPU found"):
        gpu.driver()


def test_a_machine_without_a_package_that_calls_the_driver_is_told(fake_gpu, monkeypatch):
    """The command that helps names the package that needs no compiler."""
    forget()
    monkeypatch.setitem(sys.modules, "pycuda.driver", None)
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    with pytest.raises(EngineError, match="PyCUDA cannot be imported .*, nor can cuda-bindings .*pip install 'cuda-"):
        devices.driver()


def test_pycuda_is_the_first_choice(monkeypatch, tmp_path):
    with lent_gpu(monkeypatch, tmp_path / "cache", "cuda-bindings") as driver:
        assert devices.driver().__name__.endswith(".bindings")
        install(monkeypatch, "pycuda.driver", fake_cuda.make_module(driver))
        forget()
        assert devices.driver().__name__ == "pycuda.driver"


def test_a_machine_without_nvcc_is_told(fake_gpu, monkeypatch):
    compiler.find_nvcc.cache_clear()
    monkeypatch.delenv("NVCC")
    monkeypatch.setattr(compiler, "_which", lambda name: None)  # it may be in its usual place
    with pytest.raises(EngineError, match="no nvcc found for the GPU engine: install the CUDA toolkit"):
        compiler.find_nvcc()


@pytest.fixture
def packaged(fake_gpu, monkeypatch, tmp_path) -> Path:
    """The folder of a package that has the GPU engine, on a machine without nvcc, where nobody has set flags."""
    monkeypatch.delenv("TURBO_FZN_KERNEL_FLAGS", raising=False)
    ahead.fill_package_for_gpus(tmp_path / compiler.PACKAGED, lambda text: None)
    monkeypatch.setattr(compiler, "PACKAGE", tmp_path)
    monkeypatch.delenv("NVCC")
    find = compiler._which
    monkeypatch.setattr(compiler, "_which", lambda name: None if "nvcc" in name else find(name))
    compiler.find_nvcc.cache_clear()
    return tmp_path / compiler.PACKAGED


def test_a_package_with_the_gpu_engine_needs_no_nvcc(packaged, monkeypatch, tmp_path):
    monkeypatch.setattr(compiler, "cpu_library", lambda bits, *kind: f"cpu{bits}")
    assert len(list(packaged.glob("gpu*.fatbin"))) == len(ahead.GPU_VARIANTS)
    assert solve_text(QUEENS + SATISFY, arch="gpu").status == "SATISFIED"
    assert list((tmp_path / "cache").glob("gpu*")) == []
    said: list[str] = []
    ahead.fill_cache(devices.architectures, said.append)
    assert sum(str(packaged) in line for line in said) == len(ahead.GPU_VARIANTS)
    assert any(f"in the package, {packaged}" in line for line in info.describe())
    finding = doctor.toolkit()
    assert finding.state == doctor.OK and str(packaged) in finding.said


@pytest.mark.parametrize(
    ("changes", "architecture"),
    [
        ({}, "75"),
        ({"NVCC": str(NVCC)}, "90"),
        ({"TURBO_FZN_KERNEL_FLAGS": "-DCHECK_FIXPOINT"}, "90"),
        ({"TURBO_FZN_NVCC_FLAGS": "-lineinfo"}, "90"),
    ],
)
def test_the_gpu_engine_of_the_package_is_for_its_gpus_and_flags_alone(packaged, monkeypatch, changes, architecture):
    assert compiler.packaged_gpu_binary(64, False, "121", *compiler.GPU_FLOAT_FLAGS) is not None
    assert compiler.packaged_gpu_binary(64, False, "121", "-DTRACE") is None
    for name, text in changes.items():
        monkeypatch.setenv(name, text)
    assert compiler.packaged_gpu_binary(32, True, architecture) is None


def test_a_gpu_engine_that_the_driver_refuses_is_compiled_here(packaged, fake_gpu, monkeypatch, tmp_path, caplog):
    for path in packaged.glob("gpu*.fatbin"):
        path.write_bytes(b"of a toolkit that is newer than the driver")
    with pytest.raises(EngineError, match="no nvcc found"):
        solve_text(QUEENS + SATISFY, arch="gpu")
    assert "the GPU engine of the package cannot be loaded" in caplog.text
    monkeypatch.setattr(compiler, "_find", lambda *names: [str(NVCC)])
    compiler.find_nvcc.cache_clear()
    assert solve_text(QUEENS + SATISFY, arch="gpu").status == "SATISFIED"
    assert list((tmp_path / "cache").glob("gpu*.cubin"))


@pytest.mark.parametrize("goal", [SATISFY, MAXIMIZE])
def test_a_kernel_that_fails_is_told_after_the_solutions_that_it_found(fake_gpu, goal):
    fake_gpu.fail_after_launch = fake_cuda.LogicError("an illegal memory access")
    fake_gpu.fail_at = {"free": fake_cuda.LogicError("an illegal memory access")}
    options = Options(arch="gpu", blocks=2, all_solutions=True, lns="off")
    prepared = prepare(parse_text(QUEENS + goal), options, Interrupt())
    events = []
    with pytest.raises(EngineError, match="the GPU kernel failed: .*an illegal memory access"):
        for event in search(prepared, options, Interrupt()):
            events.append(event)
    assert events and not any(isinstance(event, Finished) for event in events)


# ---- what is told of the machine


def test_the_gpu_and_its_architecture_are_told(fake_gpu):
    assert devices.architectures() == ["90"]
    assert devices.describe_gpus() == ["Fake GPU, compute capability 9.0, 4096 MiB"]
    assert any("GPU engine: Fake GPU" in line for line in info.describe())


def test_the_gpu_kernels_are_compiled_ahead(fake_gpu, monkeypatch, tmp_path):
    monkeypatch.setattr(compiler, "cpu_library", lambda bits, *kind: f"cpu{bits}")
    said = []
    ahead.fill_cache(devices.architectures, said.append)
    assert sum("GPU engine" in line for line in said) == len(ahead.GPU_VARIANTS)
    assert len(list((tmp_path / "cache").glob("gpu*.cubin"))) == len(ahead.GPU_VARIANTS)
