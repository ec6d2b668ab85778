"""A compilation outlives the run that wants it, is done once for all that do, and blocks nobody when it is killed.

The compiler of most tests here waits until the test lets it go on: so nothing depends on how long a compilation takes.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from support.builds import ONE_ENGINE, quick_compiler
from support.command import (
    COMMAND,
    LEAST_SUM,
    PATIENCE,
    Answer,
    environment,
    finish,
    run,
    start,
    time_limits,
    value,
    wait_until,
    write,
)
from turbo_fzn.base import cache
from turbo_fzn.engine.toolchain import compilation, compiler

UNKNOWN = ["=====UNKNOWN====="]
WAITING = """echo $$ $PPID >> "{folder}/runs"; while [ ! -e "{folder}/go" ]; do sleep 0.02; done"""


class Workshop:
    """A model, an empty cache, and a compiler that does not optimise and waits until it is let go."""

    def __init__(self, folder: Path):
        self.folder, self.cache, self.temporary = folder, folder / "cache", folder / "temporary"
        self.temporary.mkdir()
        self.model = write(folder, LEAST_SUM)
        self.changes = {
            "TURBO_FZN_CACHE": str(self.cache),
            "CXX": str(quick_compiler(folder, first=WAITING)),
            "TMPDIR": str(self.temporary),
            ONE_ENGINE[0]: ONE_ENGINE[1],
        }

    def run(self, *flags: object) -> Answer:
        return run("--arch", "cpu", *flags, self.model, timeout=PATIENCE, **self.changes)

    def start(self, *flags: object) -> subprocess.Popen[str]:
        return start("--arch", "cpu", *flags, self.model, **self.changes)

    def compilers(self) -> list[tuple[int, int]]:
        """The compiler's runs so far: its process, and the one that started it."""
        try:
            lines = (self.folder / "runs").read_text().splitlines()
        except FileNotFoundError:
            return []
        return [tuple(map(int, line.split())) for line in lines if line.count(" ") == 1]

    def wait_for_compilers(self, number: int) -> None:
        wait_until(lambda: len(self.compilers()) >= number)

    def let_go(self) -> None:
        (self.folder / "go").touch()

    def library(self) -> list[Path]:
        return list(self.cache.glob("*.so"))

    def let_go_and_wait(self, number: int = 1) -> None:
        """For so many libraries."""
        self.let_go()
        wait_until(lambda: len(self.library()) >= number)
        wait_until(lambda: not self.leftovers())

    def leftovers(self) -> list[Path]:
        return [path for path in self.cache.glob("cpu*") if path.suffix != ".so"]


@pytest.fixture
def shop(tmp_path):
    shop = Workshop(tmp_path)
    yield shop
    shop.let_go()


def solved(answer: Answer) -> bool:
    assert (answer.code, answer.errors) == (0, "")
    return answer.markers == ["=========="] and value(answer, "z") == 7


def told(shop: Workshop) -> str:
    rest = f"that goes on, and later runs find them in {shop.cache}"
    return f"fzn-turbo: stopped while the kernels (cpu32) were being compiled; {rest}\n"


@pytest.mark.slow
def test_a_compilation_longer_than_the_time_limit_is_told_and_goes_on_so_that_a_later_run_answers(shop):
    """Two runs are cut while the kernels are compiled; then the compiler gets the time that it needs."""
    for _ in range(2):
        for limit in time_limits():
            answer = shop.run("-t", limit)
            assert (answer.code, answer.markers) == (0, UNKNOWN)
            if answer.errors:  # else it has come no further than the start
                break
        assert answer.errors == told(shop)
    shop.let_go_and_wait()
    assert any(solved(shop.run("-t", limit)) for limit in time_limits())
    assert len(shop.compilers()) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=["INT", "TERM", "KILL"])
def test_a_compilation_goes_on_however_the_run_is_ended(shop, number):
    """Nor does it keep the streams of the run, whose reader would wait for their end."""
    with shop.start() as process:
        shop.wait_for_compilers(1)
        process.send_signal(number)
        answer = finish(process, timeout=PATIENCE)
    if number == signal.SIGKILL:
        assert (answer.code, answer.text, answer.errors) == (-number, "", "")
    else:
        assert (answer.code, answer.markers, answer.errors) == (0, UNKNOWN, told(shop))
    shop.let_go_and_wait()
    assert solved(shop.run())
    assert len(shop.compilers()) == 1


def test_runs_at_the_same_time_compile_once(shop):
    first = shop.start()
    shop.wait_for_compilers(1)
    others = [shop.start("-v") for _ in range(3)]
    for process in others:
        while "compile: cpu32, by another process" not in process.stderr.readline():
            assert process.poll() is None
    shop.let_go()
    for process in others:
        with process:
            answer = finish(process, timeout=PATIENCE)
        assert (answer.code, answer.markers, value(answer, "z")) == (0, ["=========="], 7)
    with first:
        assert solved(finish(first, timeout=PATIENCE))
    assert len(shop.compilers()) == len(shop.library()) == 1
    assert not shop.leftovers()


# Of a process without a standard stream, whose number the lock would get.
TWO_COMPILATIONS = """
import os, sys
from pathlib import Path
from turbo_fzn.engine.toolchain.compilation import begin

target, compiler, closed = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
os.close(closed)
begun = [begin(target, Path("source"), [compiler]) for _ in range(2)]
sys.exit([one is None for one in begun] != [False, True])
"""


@pytest.mark.parametrize("closed", [0, 1, 2])
def test_a_compilation_has_its_lock_also_where_a_standard_stream_is_closed(shop, closed):
    shop.cache.mkdir()
    command = [sys.executable, "-c", TWO_COMPILATIONS, shop.cache / "cpu32-0.so", shop.changes["CXX"], str(closed)]
    assert subprocess.run(command, env=environment(**shop.changes), timeout=PATIENCE).returncode == 0


def test_a_compilation_that_is_killed_is_an_error_of_its_run_and_blocks_no_other(shop):
    first = shop.start()
    shop.wait_for_compilers(1)
    second = shop.start()
    ((_, driver),) = shop.compilers()
    os.kill(driver, signal.SIGKILL)
    with first:
        answer = finish(first, timeout=PATIENCE)
    assert (answer.code, answer.errors) == (1, "fzn-turbo: the compilation of the kernels was killed: Killed\n")
    shop.wait_for_compilers(2)
    shop.let_go()
    with second:
        assert solved(finish(second, timeout=PATIENCE))
    assert solved(shop.run())
    assert len(shop.compilers()) == 2


def test_the_lock_of_a_killed_compilation_is_taken_over_without_waiting(shop):
    with shop.start() as process:
        shop.wait_for_compilers(1)
        process.kill()
    ((_, driver),) = shop.compilers()
    os.kill(driver, signal.SIGKILL)
    wait_until(lambda: not Path(f"/proc/{driver}").exists() or "Z" in Path(f"/proc/{driver}/stat").read_text())
    assert [path.suffix for path in shop.leftovers()].count(".lock") == 1
    shop.let_go()
    assert solved(shop.run())
    assert not list(shop.cache.glob("*.lock"))


@pytest.mark.slow
@pytest.mark.parametrize("action, is_all", [("--build-kernels", True), ("--install-solver", False)])
def test_what_is_compiled_ahead_is_told_before_it_is_there(shop, action, is_all):
    with subprocess.Popen(
        [*COMMAND, action], env=environment(**shop.changes, HOME=str(shop.folder)),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        first = process.stderr.readline()
        assert first == f"fzn-turbo: compile: cpu32, by {shop.changes['CXX']}: {compilation.ONCE}\n"
        assert shop.library() == []
        shop.let_go()
        _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert re.search(r"compile: [\d.]+ s, cpu32,", errors)
    assert bool(re.search(r"compile: cpu64, by .*\n.*compile: [\d.]+ s, cpu64,", errors)) == is_all


def test_the_log_of_a_first_run_names_what_is_compiled_in_the_background(tmp_path, monkeypatch, caplog):
    """Where the engine that compiles in a third of the time is there, and the optimised one is not."""
    for name in ("CXX", "TURBO_FZN_KERNEL_FLAGS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TURBO_FZN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(compiler, "find_cpu_compiler", lambda: ["false"])
    hasty = [*compiler._cpu_command(32, ()), *compiler.QUICK_FLAGS]
    path = cache.find_folder() / compiler._name("cpu32", ".so", hasty)
    path.write_bytes(b"compiled")
    cache.seal(path)
    with caplog.at_level("INFO", "turbo_fzn"):
        assert compiler.soonest_cpu_library(32) == path
    assert caplog.messages == [f"compile: cpu32, by false: {compilation.BESIDE}"]
    wait_until(lambda: not list(path.parent.glob("*.lock")))


def test_a_compiler_that_lacks_the_flags_of_the_engine_that_is_there_soon_compiles_the_right_one(shop):
    quick = shop.changes["CXX"]
    refusing = shop.folder / "other-c++"
    refusing.write_text(f'#!/bin/sh\ncase "$*" in *-Og*) echo unknown option >&2; exit 2;; esac\nexec "{quick}" "$@"\n')
    refusing.chmod(0o755)
    shop.changes |= {"TURBO_FZN_KERNEL_FLAGS": "", "CXX": str(refusing)}
    shop.let_go()
    assert solved(shop.run())
    assert len(shop.compilers()) == len(shop.library()) == 1


@pytest.mark.covers("V5")
def test_without_a_profiler_no_kernels_are_compiled_for_one(shop):
    shop.let_go()
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    answer = shop.run("--cp-profiler", f"1,{port}")
    assert (answer.markers, value(answer, "z")) == (["=========="], 7)
    assert f"no profiler on port {port}" in answer.errors
    assert len(shop.compilers()) == len(shop.library()) == 1


def test_where_no_cache_can_be_used_the_compiler_ends_with_the_run_and_leaves_nothing(shop):
    shop.changes["TURBO_FZN_CACHE"] = "/proc/cache"
    with shop.start() as process:
        shop.wait_for_compilers(1)
        process.send_signal(signal.SIGTERM)
        answer = finish(process, timeout=PATIENCE)
    assert (answer.code, answer.markers) == (0, UNKNOWN)
    assert answer.errors == (
        "fzn-turbo: the cache folder /proc/cache cannot be written: what is compiled now is lost when this run ends\n"
        "fzn-turbo: stopped while the kernels (cpu32) were being compiled; "
        "they are lost, for no cache folder can be used (fzn-turbo --info)\n"
    )
    for number in shop.compilers()[0]:
        wait_until(lambda number=number: not Path(f"/proc/{number}").exists())
    assert list(shop.temporary.iterdir()) == []


def test_what_neither_the_cache_nor_the_temporary_folder_takes_is_told_with_the_reason(shop):
    """No process here may write a file of more than 100 blocks."""
    shop.let_go()
    command = ["sh", "-c", 'ulimit -f 100; exec "$@"', "sh", *COMMAND, "--arch", "cpu", str(shop.model)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(**shop.changes), timeout=PATIENCE)
    assert done.returncode == 1
    large = "File too large"
    places = f"{shop.cache}: {large}; nor to {shop.temporary}/turbo_fzn-"
    assert done.stderr.startswith(f"fzn-turbo: cannot write compiled kernels to {places}")
    assert done.stderr.endswith(f": {large}\n")
    assert not list(shop.cache.glob("cpu*")) and list(shop.temporary.iterdir()) == []


# Stands for c++: what is compiled with all optimisation waits until the test lets it go.
TWO_SPEEDS = """#!/bin/sh
cd "{folder}"
case "$*" in *-Og*) ;; *) echo $$ $PPID >> runs; while [ ! -e go ]; do sleep 0.02; done;; esac
exec {compiler} "$@" -O0
"""


@pytest.mark.slow
@pytest.mark.parametrize("is_named", [False, True], ids=["found", "named"])
def test_the_first_run_has_an_engine_that_compiles_soon_and_later_ones_the_right_one(shop, is_named):
    usual = shutil.which("c++")
    (shop.folder / "c++").write_text(TWO_SPEEDS.format(folder=shop.folder, compiler=usual))
    (shop.folder / "c++").chmod(0o755)
    path = os.pathsep.join([str(shop.folder), os.environ["PATH"]])
    choice = {"CXX": str(shop.folder / "c++")} if is_named else {"CXX": "", "PATH": path}
    shop.changes |= {"TURBO_FZN_KERNEL_FLAGS": "", **choice}
    assert solved(shop.run()) and solved(shop.run()), "while the right one is being compiled"
    (quick,) = shop.library()
    shop.wait_for_compilers(1)
    assert len(shop.compilers()) == 1, "for both runs"
    shop.let_go_and_wait(2)
    (right,) = set(shop.library()) - {quick}
    quick.write_bytes(b"no library")  # whoever used it would fail
    assert solved(shop.run()) and right.exists()
    assert len(shop.compilers()) == 1
