"""The CPU engine that goes ahead until the GPU is ready: answers do not depend on when, or whether, it is handed over.

In most tests what takes over is another CPU engine, made as late as the test wants, so they need no GPU. The state
machine is tested with engines that do what they are told, the whole with models and hand-overs at many moments.
"""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from command import run, write

from turbo_fzn.engine import compiler, cpu, wake
from turbo_fzn.engine.contract import Engine, Found
from turbo_fzn.engine.layout import Settings
from turbo_fzn.engine.relay import Relay
from turbo_fzn.errors import EngineError
from turbo_fzn.options import Options
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run import choose, session

CORPUS = Path(__file__).resolve().parent / "corpus"
SECONDS = 30  # a test that waits so long has failed


class Scripted:
    """An engine that finds what it is told to find; `finish` ends it. It says what it was asked."""

    def __init__(self, name: str = "first"):
        self.name, self.shape, self.asked = name, {"blocks": 1}, []
        self.running = self.complete = False
        self.bound = 5 if name == "first" else 6
        self.arrived: list[Found] = []

    def start(self, incumbent: Found | None = None) -> None:
        self.asked.append(("start", incumbent and incumbent.objective))
        self.running = True

    def finish(self, complete: bool) -> None:
        self.running, self.complete = False, complete

    def poll(self) -> list[Found]:
        found, self.arrived = self.arrived, []
        return found

    def stop(self) -> None:
        self.asked.append("stop")

    def statistics(self) -> dict[str, int]:
        return {"nodes": 10, "peak_level": 3 if self.name == "first" else 2}

    def methods(self) -> dict[str, float]:
        return {"treeTries": 1 if self.name == "first" else 2}

    def close(self) -> None:
        self.asked.append("close")
        self.running = False


def found(objective: int) -> Found:
    return Found(objective, 0, "tree", np.array([objective]))


class Pair:
    """A relay of two scripted engines; the second is ready when `ready` is called, or cannot be made."""

    def __init__(self, sense: int, failure: Exception | None = None):
        self.first, self.second = Scripted(), Scripted("second")
        self.gate, self.failure = threading.Event(), failure
        self.relay = Relay(self.first, self._make, sense)
        self.relay.start()

    def _make(self) -> Engine:
        assert self.gate.wait(SECONDS)
        if self.failure is not None:
            raise self.failure
        return self.second

    def ready(self) -> None:
        self.gate.set()
        self.relay.maker.join(SECONDS)


def objectives(solutions: list[Found]) -> list[int]:
    return [solution.objective for solution in solutions]


def test_a_model_that_is_solved_before_the_second_is_ready_never_starts_it():
    pair = Pair(sense=1)
    pair.first.arrived = [found(7)]
    pair.first.finish(complete=True)
    assert not pair.relay.running and pair.relay.complete
    assert objectives(pair.relay.poll()) == [7]
    pair.ready()
    assert pair.relay.poll() == [] and not pair.relay.running and pair.relay.name == "first"
    pair.relay.close()
    assert pair.second.asked == ["close"]


@pytest.mark.parametrize(("sense", "best"), [(1, 4), (-1, 9), (0, None)])
def test_the_second_begins_with_the_best_solution_that_was_handed_out(sense, best):
    pair = Pair(sense)
    pair.first.arrived = [found(9), found(4)]
    assert objectives(pair.relay.poll()) == [9, 4]
    pair.ready()
    assert pair.relay.poll() == [] and pair.first.asked[-1] == "stop" and pair.second.asked == []
    pair.first.finish(complete=False)
    assert pair.relay.running
    pair.relay.poll()
    assert pair.second.asked == [("start", best)] and pair.relay.name == "second"
    assert pair.relay.shape["handoverTime"] >= 0
    pair.second.finish(complete=True)
    assert not pair.relay.running and pair.relay.complete
    assert pair.relay.statistics() == {"nodes": 20, "peak_level": 3}
    assert pair.relay.bound == 6 and pair.relay.methods() == {"treeTries": 2}


def test_solutions_that_the_first_finds_while_it_stops_are_handed_out_and_bound_the_second():
    pair = Pair(sense=1)
    pair.ready()
    pair.relay.poll()
    pair.first.arrived = [found(3)]
    assert objectives(pair.relay.poll()) == [3]
    pair.first.arrived = [found(2)]
    pair.first.finish(complete=False)
    assert objectives(pair.relay.poll()) == [2] and pair.second.asked == [("start", 2)]


def test_a_first_that_completes_while_it_is_being_stopped_is_believed():
    pair = Pair(sense=1)
    pair.ready()
    pair.relay.poll()
    pair.first.finish(complete=True)
    assert not pair.relay.running
    pair.relay.poll()
    assert pair.second.asked == [] and pair.relay.complete and pair.relay.name == "first"


def test_a_first_that_gave_up_a_part_waits_for_the_second():
    pair = Pair(sense=1)
    pair.first.finish(complete=False)
    assert pair.relay.running and pair.relay.poll() == []
    pair.ready()
    assert pair.relay.running
    pair.relay.poll()
    assert pair.second.asked == [("start", None)]


@pytest.mark.parametrize("failure", [EngineError("no GPU"), RuntimeError("a fault")])
def test_without_a_second_the_first_goes_on(failure, caplog):
    pair = Pair(sense=1, failure=failure)
    pair.ready()
    assert pair.relay.running and pair.relay.poll() == [] and pair.first.asked == [("start", None)]
    assert ("a fault" in caplog.text) == isinstance(failure, RuntimeError)
    pair.first.finish(complete=False)
    assert not pair.relay.running and not pair.relay.complete


def test_after_a_stop_nothing_is_handed_over():
    pair = Pair(sense=1)
    pair.relay.stop()
    pair.ready()
    pair.first.finish(complete=False)
    assert not pair.relay.running and not pair.relay.complete
    pair.relay.poll()
    assert pair.second.asked == [] and pair.relay.name == "first"


# ---- with models


class Late(cpu.CpuEngine):
    """What stands for the GPU engine."""

    name = "gpu"


@pytest.fixture
def slow_gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[float | None], list[Late]]]:
    """A function that sets after how many seconds the GPU is ready (None: never, until the test ends)."""
    end, made = threading.Event(), []

    def set_delay(seconds: float | None) -> list[Late]:
        def make(prepared, exports, options):
            end.wait(seconds if seconds is not None else SECONDS)
            made.append(Late(prepared.tnf, exports, Settings(blocks=2, lns_percent=50)))
            return made[-1]

        monkeypatch.setattr(choose, "make_gpu_engine", make)
        monkeypatch.setattr(choose.Relay, "close", close_at_once)
        return made

    def close_at_once(relay: Relay) -> None:
        end.set()
        close(relay)

    close = choose.Relay.close
    monkeypatch.setattr(choose.wake, "begin", lambda: type("Awake", (), {"failure": None}))
    yield set_delay
    end.set()


def example(name: str) -> str:
    return (CORPUS / f"{name}.fzn").read_text(encoding="utf-8")


def answers(text: str, **settings: object) -> tuple[str, int | None, list]:
    """Status, objective, and the solutions of a satisfaction model in some order."""
    result = session.solve_text(text, check=True, **settings)
    told = [repr(sorted(solution.items())) for solution in result.solutions]
    assert len(told) == len(set(told)), "a solution twice"
    return result.status, result.objective, sorted(told) if result.objective is None else []


@pytest.mark.parametrize("delay", [0.0, 0.002, 0.01, 0.03, None])
@pytest.mark.parametrize("name", ["steiner_triples", "all_interval", "demo", "photo", "pigeons", "wide"])
def test_the_answer_does_not_depend_on_when_the_gpu_is_ready(slow_gpu, name, delay):
    text = example(name)
    slow_gpu(delay)
    assert answers(text, arch="auto", all_solutions=True) == answers(text, arch="cpu", all_solutions=True)


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


class UntilHandedOver(session.Interrupt):
    """Stops a search as soon as the second engine is at work."""

    def __init__(self) -> None:
        super().__init__(time.monotonic() + SECONDS)
        self.relay: Relay | None = None

    def __bool__(self) -> bool:
        return super().__bool__() or (self.relay is not None and self.relay.engine is not self.relay.first)


def search_until_handed_over(monkeypatch: pytest.MonkeyPatch) -> session.Finished:
    interrupt, chosen = UntilHandedOver(), session.choose_engine

    def remember(*arguments):
        interrupt.relay = chosen(*arguments)
        return interrupt.relay

    monkeypatch.setattr(session, "choose_engine", remember)
    options = Options(arch="auto")
    prepared = session.prepare(parse_text(without_end()), options, interrupt)
    (finished,) = session.search(prepared, options, interrupt)
    return finished


def test_a_model_without_end_is_handed_over(slow_gpu, monkeypatch):
    made = slow_gpu(0.05)
    finished = search_until_handed_over(monkeypatch)
    assert made and finished.statistics["engine"] == "gpu" and finished.statistics["blocks"] == 2
    assert "handoverTime" in finished.statistics and not finished.complete


@pytest.mark.gpu
def test_a_model_without_end_is_handed_over_to_a_real_gpu(monkeypatch):
    finished = search_until_handed_over(monkeypatch)
    assert finished.statistics["engine"] == "gpu" and finished.statistics["threadsPerBlock"] >= 32
    assert "handoverTime" in finished.statistics and not finished.complete


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["steiner_triples", "all_interval", "demo", "photo", "pigeons", "wide", "queens"])
def test_the_answer_does_not_depend_on_a_real_gpu(name):
    text = example(name)
    assert answers(text, arch="auto", all_solutions=True) == answers(text, arch="cpu", all_solutions=True)


def test_the_first_takes_no_more_threads_than_were_granted(slow_gpu, monkeypatch):
    slow_gpu(None)
    prepared = session.prepare(parse_text(MANY), Options(), session.Interrupt())
    exports = np.arange(prepared.tnf.n_vars, dtype=np.int32)
    relay = choose.choose_engine(prepared, Options(arch="auto", blocks=500, threads=2), exports)
    assert isinstance(relay, Relay) and relay.first.shape == {"blocks": 2}


@pytest.mark.parametrize("name", ["golomb", "knights", "max_clique"])
def test_a_search_from_an_incumbent_finds_only_better_solutions(name):
    """Also a neighbourhood search, which begins with the incumbent's values."""
    prepared = session.prepare(parse_text(example(name)), Options(), session.Interrupt())
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
    """A driver whose functions return 0, or what is given."""
    names = ("cuInit", "cuDeviceGet", "cuDevicePrimaryCtxRetain")
    return type("Driver", (), {name: staticmethod(lambda *_, name=name: results.get(name, 0)) for name in names})


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
            thread.join(SECONDS)
    assert waking.failure == failure


def test_a_library_that_is_no_driver_means_no_gpu(monkeypatch):
    monkeypatch.setattr(wake.ctypes, "CDLL", lambda name: object())
    waking = wake.Waking()
    assert waking.thread is not None
    waking.thread.join(SECONDS)
    assert waking.failure == "no usable NVIDIA driver: libcuda.so.1 has no cuInit"


@pytest.fixture(scope="module")
def sleeping_driver(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with a driver that takes a minute to wake up."""
    folder = tmp_path_factory.mktemp("driver")
    source = folder / "driver.cpp"
    source.write_text('#include <unistd.h>\nextern "C" int cuInit(unsigned) { sleep(60); return 0; }\n')
    library = str(folder / "libcuda.so.1")
    subprocess.run([compiler.find_cpu_compiler(), "-shared", "-fPIC", "-o", library, str(source)], check=True)
    return str(folder)


def test_a_small_model_is_solved_before_the_gpu_is_awake(sleeping_driver):
    answer = run("-a", "-s", CORPUS / "queens.fzn", timeout=SECONDS, LD_LIBRARY_PATH=sleeping_driver)
    assert len(answer.solutions) == 92 and answer.markers == ["=========="]
    assert answer.statistics["engine"] == '"cpu"' and "handoverTime" not in answer.statistics


def test_an_error_does_not_wait_for_the_gpu(sleeping_driver, tmp_path):
    answer = run(write(tmp_path, "no FlatZinc"), timeout=SECONDS, LD_LIBRARY_PATH=sleeping_driver)
    assert answer.code == 1 and answer.markers == ["=====ERROR====="] and answer.errors.startswith("fzn-turbo: ")


def test_without_a_driver_there_is_nothing_to_wake(monkeypatch):
    monkeypatch.setattr(wake, "LIBRARY", "libnothing.so.1")
    assert "no NVIDIA driver: libnothing.so.1" in wake.Waking().failure
