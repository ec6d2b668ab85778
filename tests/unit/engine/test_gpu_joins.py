"""The CPU engine, and the GPU engine that joins it: answers do not depend on when, or whether, the GPU is ready.

In most tests what joins is another CPU engine, made as late as the test wants, so they need no GPU.
"""

from __future__ import annotations

import re
import sys
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from support.command import PATIENCE
from support.engines import search
from support.places import CORPUS
from turbo_fzn import solve_text
from turbo_fzn.base.errors import EngineError
from turbo_fzn.engine import cpu
from turbo_fzn.engine.contract import Engine, Found
from turbo_fzn.engine.cuda import wake
from turbo_fzn.engine.layout.layout import Settings
from turbo_fzn.engine.together import maker
from turbo_fzn.engine.together.team import Team
from turbo_fzn.engine.tuning import TUNING
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.ranks.job import Job
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run import engines
from turbo_fzn.run.answer.outcome import Finished
from turbo_fzn.run.engines import decide_job, make_engine
from turbo_fzn.run.prepare import prepare


class Late(cpu.CpuEngine):
    """Plays the GPU engine."""

    name = "gpu"


@pytest.fixture
def slow_gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[float | None], list[Late]]]:
    """A function that sets after how many seconds the GPU is ready (None: never, until the test ends)."""
    end, made = threading.Event(), []

    def set_delay(seconds: float | None) -> list[Late]:
        def make(tnf, exports, settings, wanted):
            end.wait(seconds if seconds is not None else PATIENCE)
            made.append(Late(tnf, exports, Settings(blocks=2, lns_percent=50)))
            return made[-1]

        monkeypatch.setattr(engines, "make_gpu_engine", make)
        return made

    monkeypatch.setattr(engines.wake, "absence", lambda: None)
    yield set_delay
    end.set()
    for thread in threading.enumerate():
        if thread.name == "make-engine":
            thread.join(PATIENCE)


def example(name: str) -> str:
    return (CORPUS / f"{name}.fzn").read_text(encoding="utf-8")


def answers(text: str, **settings: object) -> tuple[str, int | None, list]:
    """Status, objective, and the solutions of a satisfaction model in some order."""
    result = solve_text(text, check=True, **settings)
    told = [repr(sorted(solution.items())) for solution in result.solutions]
    assert len(told) == len(set(told)), "a solution twice"
    return result.status, result.objective, sorted(told) if result.objective is None else []


@pytest.mark.parametrize("delay", [0.0, 0.002, 0.01, 0.03, None])
@pytest.mark.parametrize("name", ["steiner_triples", "all_interval", "demo", "photo", "pigeons", "wide"])
def test_the_answer_does_not_depend_on_when_the_gpu_is_ready(slow_gpu, name, delay):
    text = example(name)
    slow_gpu(delay)
    assert answers(text, arch="auto", all_solutions=True) == answers(text, arch="cpu", all_solutions=True)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["removal", "photo", "pigeons", "wide", "taxicab", "rota"])
def test_learners_beside_a_gpu_prove_the_same(slow_gpu, monkeypatch, name, seed):
    """The engine that joins gets root bounds and solutions, and sends solutions."""
    monkeypatch.setattr(TUNING, "gpu_start_seconds", 0.0)
    slow_gpu(0.001 * seed)
    together = answers(example(name), arch="auto", free_search=True, threads=5, seed=seed)
    assert together[:2] == answers(example(name), arch="cpu")[:2]


@pytest.mark.parametrize("name", ["demo", "pigeons"])
def test_a_caller_does_not_wait_for_a_gpu_that_is_being_made(slow_gpu, name):
    slow_gpu(None)
    began = time.monotonic()
    assert solve_text(example(name), arch="auto").complete
    assert time.monotonic() - began < PATIENCE / 2


# Enough solutions that the ring of the first is full before the second is ready.
MANY = "".join(f"var 1..8: x{i} :: output_var;\n" for i in range(4)) + "solve satisfy;\n"


def test_all_solutions_are_printed_once_when_the_second_finds_them_again(slow_gpu):
    slow_gpu(0.0)
    status, _, solutions = answers(MANY, arch="auto", all_solutions=True)
    assert status == "ALL_SOLUTIONS" and len(solutions) == 8**4


def without_end() -> str:
    """Twenty pigeons: nothing is found, and the proof would take years."""
    names = [f"p{i}" for i in range(20)]
    lines = [f"var 1..19: {name} :: output_var;" for name in names]
    lines += [f"constraint int_ne({x},{y});" for i, x in enumerate(names) for y in names[i + 1 :]]
    return "\n".join([*lines, "solve satisfy;", ""])


class UntilJoined(Interrupt):
    """Stops a search as soon as the second engine is at work."""

    def __init__(self) -> None:
        super().__init__(time.monotonic() + PATIENCE)
        self.team: Team | None = None

    def __bool__(self) -> bool:
        return super().__bool__() or (self.team is not None and self.team.others[0].engine is not None)


def search_until_joined(monkeypatch: pytest.MonkeyPatch) -> Finished:
    interrupt = UntilJoined()

    def remember(*arguments):
        interrupt.team = make_engine(*arguments)
        return interrupt.team

    monkeypatch.setattr("turbo_fzn.run.search.make_engine", remember)
    options = Options(arch="auto")
    prepared = prepare(parse_text(without_end()), options, interrupt)
    (finished,) = search(prepared, options, interrupt)
    return finished


def test_the_gpu_joins_the_search_of_a_model_without_end(slow_gpu, monkeypatch):
    made = slow_gpu(0.05)
    finished = search_until_joined(monkeypatch)
    assert made and finished.statistics["engine"] == "cpu+gpu" and finished.statistics["blocks"] == 2
    assert "joinTime" in finished.statistics and not finished.complete


def test_while_an_engine_is_made_threads_hand_over_soon():
    """Else what the search has found waits until the other thread has had its 5 ms, again and again."""
    intervals: list[float] = []

    def fail() -> Engine:
        intervals.append(sys.getswitchinterval())
        raise EngineError("there is none")

    before = sys.getswitchinterval()
    making = maker.Maker(fail)
    making.start()
    making.thread.join(PATIENCE)
    assert intervals == [pytest.approx(TUNING.maker_turn_seconds)] and sys.getswitchinterval() == pytest.approx(before)


@pytest.mark.gpu
def test_a_real_gpu_joins_the_search_of_a_model_without_end(monkeypatch):
    finished = search_until_joined(monkeypatch)
    assert re.fullmatch(r"cpu\+gpu(0(\+gpu\d+)+)?", finished.statistics["engine"])
    assert finished.statistics["threadsPerBlock"] >= 32
    assert "joinTime" in finished.statistics and not finished.complete


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["steiner_triples", "all_interval", "demo", "photo", "pigeons", "wide", "queens"])
def test_the_answer_does_not_depend_on_a_real_gpu(name):
    text = example(name)
    assert answers(text, arch="auto", all_solutions=True) == answers(text, arch="cpu", all_solutions=True)


def test_the_first_takes_no_more_threads_than_were_granted(slow_gpu, monkeypatch):
    slow_gpu(None)
    prepared = prepare(parse_text(MANY), Options(), Interrupt())
    exports = np.arange(prepared.tnf.n_vars, dtype=np.int32)
    job = Job(prepared.tnf, exports, Options(arch="auto", blocks=500, threads=2), wanted=1)
    team = make_engine(job, decide_job(job))
    assert isinstance(team, Team) and team.core[0].engine.shape["blocks"] == 2


@pytest.mark.parametrize("name", ["golomb", "knights", "max_clique"])
def test_a_search_from_an_incumbent_finds_only_better_solutions(name):
    """Also a neighbourhood search, which begins with the incumbent's values."""
    prepared = prepare(parse_text(example(name)), Options(), Interrupt())
    tnf = prepared.tnf
    exports = np.arange(tnf.n_vars, dtype=np.int32)
    settings = [Settings(), Settings(blocks=2, lns_percent=50)]
    found = run_to_the_end(cpu.CpuEngine(tnf, exports, settings[0]), None)
    for setting in settings:
        assert run_to_the_end(cpu.CpuEngine(tnf, exports, setting), found[-1]) == []
        (better, *_) = run_to_the_end(cpu.CpuEngine(tnf, exports, setting), found[0])
        assert tnf.sense * better.objective < tnf.sense * found[0].objective


def run_to_the_end(engine: Engine, incumbent: Found | None) -> list[Found]:
    engine.start(incumbent)
    solutions: list[Found] = []
    while engine.running:
        solutions += engine.poll()
        time.sleep(0.001)
    solutions += engine.poll()
    assert engine.complete
    engine.close()
    return solutions


# ---- waking


def driver(**results: int) -> type:
    """A driver of one GPU, whose functions return 0, or what is given."""
    names = ("cuInit", "cuDeviceGet", "cuDevicePrimaryCtxRetain")

    def count(there) -> int:
        there._obj.value = 1
        return results.get("cuDeviceGetCount", 0)

    functions = {name: staticmethod(lambda *_, name=name: results.get(name, 0)) for name in names}
    return type("Driver", (), {**functions, "cuDeviceGetCount": staticmethod(count)})


@pytest.mark.parametrize(
    ("results", "failure"),
    [
        ({}, None),
        ({"cuInit": 100}, "no usable NVIDIA driver: cuInit returns error 100"),
        ({"cuDevicePrimaryCtxRetain": 2}, "no usable NVIDIA driver: cuDevicePrimaryCtxRetain returns error 2"),
    ],
)
def test_waking_says_why_there_is_no_gpu(monkeypatch, results, failure):
    monkeypatch.setattr(wake.ctypes, "CDLL", lambda name: driver(**results))
    waking = wake.Waking()
    for thread in threading.enumerate():
        if thread.name == "wake":
            thread.join(PATIENCE)
    assert waking.failure == failure


def test_a_library_that_is_no_driver_means_no_gpu(monkeypatch):
    monkeypatch.setattr(wake.ctypes, "CDLL", lambda name: object())
    waking = wake.Waking()
    assert waking.thread is not None
    waking.thread.join(PATIENCE)
    assert waking.failure == "no usable NVIDIA driver: libcuda.so.1 has no cuInit"


def test_without_a_driver_there_is_nothing_to_wake(monkeypatch):
    monkeypatch.setattr(wake, "LIBRARY", "libnothing.so.1")
    assert "no NVIDIA driver: libnothing.so.1" in wake.Waking().failure


def test_a_driver_is_foreseen_without_being_loaded(tmp_path, monkeypatch):
    monkeypatch.setattr(wake.ctypes, "CDLL", lambda name: pytest.fail("the driver is loaded"))
    monkeypatch.setattr(wake, "LINKER_CACHE", str(tmp_path / "ld.so.cache"))
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    (tmp_path / wake.LIBRARY).touch()
    assert wake.foreseen_absence() is None
    monkeypatch.delenv("LD_LIBRARY_PATH")
    (tmp_path / "ld.so.cache").write_bytes(b"libm.so.6\0/usr/lib/libcuda.so.1\0")
    assert wake.foreseen_absence() is None


def test_a_driver_that_the_linker_would_not_find_is_absent_with_the_linkers_reason(tmp_path, monkeypatch):
    def refuse(name):
        raise OSError(f"{name}: cannot open")

    monkeypatch.setattr(wake.ctypes, "CDLL", refuse)
    monkeypatch.setattr(wake, "LINKER_CACHE", str(tmp_path / "missing"))
    monkeypatch.setenv("LD_LIBRARY_PATH", "")
    wake.absence.cache_clear()
    try:
        assert wake.foreseen_absence() == "no NVIDIA driver: libcuda.so.1: cannot open"
    finally:
        wake.absence.cache_clear()
