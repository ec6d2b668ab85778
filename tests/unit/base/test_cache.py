"""The cache of compiled kernels and grammar tables: private, verified, and never in the way of an answer."""

from __future__ import annotations

import os
import pickle
import re
import stat
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from support.builds import ONE_ENGINE, quick_compiler
from support.command import LEAST_SUM, PATIENCE, environment, run, value, write
from turbo_fzn.base import cache
from turbo_fzn.base.errors import EngineError
from turbo_fzn.engine import library
from turbo_fzn.engine.toolchain import compilation
from turbo_fzn.engine.toolchain import compiler as compiling
from turbo_fzn.engine.tuning import TUNING
from turbo_fzn.read import grammar
from turbo_fzn.read.flatzinc import parse_text

NESTED = "solve % a comment inside a statement\nminimize z;\n"


@pytest.fixture
def model(tmp_path) -> Path:
    """One that needs Lark and the kernels."""
    return write(tmp_path, LEAST_SUM[: LEAST_SUM.index("solve")] + NESTED)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("TURBO_FZN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def compiler(tmp_path, monkeypatch) -> str:
    monkeypatch.setenv(*ONE_ENGINE)
    return str(quick_compiler(tmp_path))


def runs(tmp_path: Path) -> int:
    return len((tmp_path / "runs").read_text().split())


# ---- who may write


def test_what_is_kept_is_private_to_the_user(tmp_path, model, folder, compiler):
    old = os.umask(0)
    try:
        assert value(run(model, CXX=compiler), "z") == 7
    finally:
        os.umask(old)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    kept = sorted(folder.iterdir())
    assert [path.suffix for path in kept] == [".so", ".lark"]
    for path in kept:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert cache.read(path) is not None


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777])
def test_a_folder_that_others_can_write_to_is_not_used_and_the_user_is_told(tmp_path, model, folder, compiler, mode):
    folder.mkdir()
    folder.chmod(mode)
    answer = run(model, CXX=compiler)
    assert value(answer, "z") == 7
    assert answer.errors.count("\n") == 1 and "nobody else may write to it" in answer.errors
    assert list(folder.iterdir()) == []


def test_a_folder_of_somebody_else_is_not_used(folder, monkeypatch):
    assert cache.find_folder() == folder
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    assert cache.find_folder() is None


# ---- what is loaded


def sealed(path: Path, data: bytes = b"data") -> Path:
    path.write_bytes(data)
    cache.seal(path)
    return path


def test_a_sealed_file_is_read_back(tmp_path):
    for data in (b"", b"data", b"\0" * 100_000):
        assert cache.read(sealed(tmp_path / "file", data)) == data


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(path.read_bytes()[:-1]),
        lambda path: path.write_bytes(path.read_bytes()[: len(path.read_bytes()) // 2]),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"D" + path.read_bytes()[1:]),
        lambda path: path.write_bytes(path.read_bytes() + b"more"),
        lambda path: path.chmod(0o620),
        lambda path: path.chmod(0o602),
        lambda path: (path.rename(path.with_suffix(".other")), path.symlink_to(path.with_suffix(".other"))),
        lambda path: (path.unlink(), os.mkfifo(path)),
        lambda path: path.unlink(),
        lambda path: (path.unlink(), path.mkdir()),
    ],
    ids=["cut", "half", "empty", "changed", "longer", "group", "others", "link", "fifo", "missing", "folder"],
)
def test_a_damaged_or_foreign_file_is_not_read(tmp_path, damage):
    path = sealed(tmp_path / "file")
    damage(path)
    assert cache.read(path) is None


def test_a_file_of_somebody_else_is_not_read(tmp_path, monkeypatch):
    path = sealed(tmp_path / "file")
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    assert cache.read(path) is None


@pytest.mark.parametrize("size", [0, 100, 20_000])
def test_a_damaged_library_is_compiled_again(tmp_path, model, folder, compiler, size):
    assert value(run(model, CXX=compiler), "z") == 7
    (library,) = folder.glob("*.so")
    library.write_bytes(library.read_bytes()[:size])
    answer = run(model, CXX=compiler)
    assert (value(answer, "z"), answer.errors) == (7, "")
    assert runs(tmp_path) == 2 and cache.read(library) is not None


class Opened:
    """Its pickle makes a folder when it is loaded."""

    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_a_pickle_that_was_not_written_by_us_is_not_loaded(tmp_path, model, folder, compiler):
    assert value(run(model, CXX=compiler), "z") == 7
    (tables,) = folder.glob("*.lark")
    first_line = cache.read(tables).split(b"\n")[0] + b"\n"
    tables.write_bytes(first_line + pickle.dumps(Opened(tmp_path / "opened")))
    answer = run(model, CXX=compiler)
    assert (value(answer, "z"), answer.errors) == (7, "")
    assert not (tmp_path / "opened").exists()
    assert cache.read(tables) is not None  # made again


# ---- faults while it is filled


@pytest.fixture
def temporary(tmp_path, monkeypatch) -> Path:
    """The folder that serves where the cache does not."""
    path = tmp_path / "temporary"
    path.mkdir()
    monkeypatch.setattr(compiling, "_temporary_folder", lambda: path)
    return path


class InThisProcess:
    """Stands for the process that compiles: does its work here, where a test can order faults."""

    def __init__(self, command: list[str], **options: object):
        target, source, *compiler = command[4:]
        self.returncode, self.reason = compilation.work(Path(target), source, compiler)

    def communicate(self) -> tuple[str, None]:
        return self.reason, None


def fill(monkeypatch, *folders: Path) -> list[Path]:
    """Lets each of the folders be full, so that the compiler fails there; returns where it runs."""
    places = []

    def compile_there(command: list[str], folder: str) -> None:
        places.append(Path(folder).parent)
        if places[-1] in folders:
            raise EngineError("c++ failed on the kernels: as: cannot write")
        Path(command[-2]).write_bytes(b"compiled")

    monkeypatch.setattr(compilation.subprocess, "Popen", InThisProcess)
    monkeypatch.setattr(compilation, "run_compiler", compile_there)
    monkeypatch.setattr(compilation, "check_binary", lambda path, compiler: None)
    monkeypatch.setattr(compilation, "_fill", lambda folder: Path(folder).parent in folders and raise_full_disk())
    return places


def test_of_a_full_cache_the_temporary_folder_takes_the_place_and_the_user_is_told(
    folder, temporary, monkeypatch, caplog
):
    places = fill(monkeypatch, folder)
    library = compiling.cpu_library(32)
    assert library.parent == temporary and cache.read(library) == b"compiled"
    assert compiling.cpu_library(32) == library
    assert compiling.cpu_library(64).parent == temporary
    assert places == [folder, temporary, temporary]  # it is found full only once
    (line,) = [line for line in caplog.messages if str(folder) in line]
    assert line == (
        f"cannot write compiled kernels to {folder}: No space left on device; a temporary folder serves for this run"
    )
    assert list(folder.iterdir()) == []


def test_what_a_full_cache_holds_is_used(folder, temporary, monkeypatch):
    assert fill(monkeypatch) == []
    library = compiling.cpu_library(32)
    fill(monkeypatch, folder)
    assert compiling.cpu_library(64).parent == temporary
    assert compiling.cpu_library(32) == library and library.parent == folder


@pytest.mark.parametrize("step", ["seal", "mkdtemp"])
def test_a_cache_that_is_full_before_or_after_the_compiler_runs_is_full_too(folder, temporary, monkeypatch, step):
    module = {"seal": cache, "mkdtemp": compilation.tempfile}[step]
    real = getattr(module, step)
    fill(monkeypatch)

    def refuse(*arguments: object, **named: object) -> object:
        return raise_full_disk() if str(folder) in f"{arguments}{named}" else real(*arguments, **named)

    monkeypatch.setattr(module, step, refuse)
    assert compiling.cpu_library(32).parent == temporary
    assert list(folder.iterdir()) == []


def test_a_full_disk_is_told(folder, temporary, monkeypatch):
    fill(monkeypatch, folder, temporary)
    full = "No space left on device"
    with pytest.raises(EngineError, match=f"^cannot write .* to {folder}: {full}; nor to {temporary}: {full}$"):
        compiling.cpu_library(32)
    with pytest.raises(EngineError, match=f"^cannot write .* to {temporary}: {full}$"):
        compiling.cpu_library(64)
    assert list(folder.iterdir()) == list(temporary.iterdir()) == []


def test_a_full_disk_without_a_temporary_folder_is_told(folder, monkeypatch):
    fill(monkeypatch, folder)
    compiling._temporary_folder.cache_clear()
    monkeypatch.setattr(tempfile, "tempdir", "/dev/null")
    with pytest.raises(EngineError, match=f"^cannot write .* to {folder}: No space .*; nor to a temporary folder: "):
        compiling.cpu_library(32)


def test_what_the_compiler_complains_of_where_there_is_room_is_told(folder, temporary, monkeypatch):
    monkeypatch.setenv("CXX", "false")
    compiling.find_cpu_compiler.cache_clear()
    try:
        with pytest.raises(EngineError, match="^false failed on the kernels: no message$"):
            compiling.cpu_library(32)
    finally:
        compiling.find_cpu_compiler.cache_clear()
    assert list(folder.iterdir()) == list(temporary.iterdir()) == []


def raise_full_disk(*arguments: object) -> None:
    raise OSError(28, "No space left on device")


def test_a_full_disk_costs_the_tables_of_the_grammar_but_no_answer(folder, monkeypatch):
    monkeypatch.setattr(cache, "seal", raise_full_disk)
    grammar._lark.cache_clear()
    assert parse_text(NESTED).goal.method == "minimize"
    assert list(folder.iterdir()) == []


def test_half_a_file_of_the_grammar_is_not_kept(folder, monkeypatch):
    """Where the disk is full for a moment, and no more when the file is sealed."""
    seal = cache.seal

    def write_half(path: Path) -> None:
        path.write_bytes(path.read_bytes()[:1000])
        raise_full_disk()

    monkeypatch.setattr(cache, "seal", write_half)
    grammar._lark.cache_clear()
    assert parse_text(NESTED).goal.method == "minimize"
    assert list(folder.iterdir()) == []
    monkeypatch.setattr(cache, "seal", seal)
    grammar._lark.cache_clear()
    assert parse_text(NESTED).goal.method == "minimize"
    assert [path.suffix for path in folder.iterdir()] == [".lark"]


def test_a_compiler_that_is_killed_is_told(tmp_path, model, folder):
    compiler = tmp_path / "killed-c++"
    compiler.write_text("#!/bin/sh\nkill -KILL $$\n")
    compiler.chmod(0o755)
    answer = run(model, CXX=str(compiler))
    assert (answer.code, answer.text) == (1, "=====ERROR=====\n")
    assert answer.errors == f"fzn-turbo: {compiler} was killed on the kernels: Killed\n"
    assert not list(folder.glob("cpu*"))


def test_what_a_killed_compilation_has_left_is_removed_when_it_is_old(model, folder, compiler):
    folder.mkdir(mode=0o700)
    left = [folder / "cpu32-0.so.x", folder / "gpu64s-sm90-0.cubin.x", folder / "cpu32-0.so.lock"]
    for number, path in enumerate(left):
        (path / "half").mkdir(parents=True) if number < 2 else path.touch()
    assert value(run(model, CXX=compiler), "z") == 7
    assert all(path.exists() for path in left)  # they may belong to a compilation that goes on
    long_ago = time.time() - 10 * TUNING.compile_seconds
    for path in left:
        os.utime(path, (long_ago, long_ago))
    next(folder.glob("*.so")).unlink()
    assert value(run(model, CXX=compiler), "z") == 7
    assert not any(path.exists() for path in left)


GARBAGE = {
    "text": ('echo no library > "$2"', "invalid ELF header|file too short"),
    "nothing": (': > "$2"', "file too short"),
    "another library": ('echo "int x;" > x.c; cc -shared -o "$2" x.c', "undefined symbol: abi_digest"),
}


@pytest.mark.parametrize("name", GARBAGE)
def test_what_a_compiler_makes_and_cannot_be_loaded_is_not_kept(tmp_path, model, folder, name):
    made, reason = GARBAGE[name]
    compiler = tmp_path / "bad-c++"
    compiler.write_text(f'#!/bin/sh\ncd "{tmp_path}"\nwhile [ "$1" != -o ]; do shift; done\n{made}\n')
    compiler.chmod(0o755)
    answer = run(model, CXX=str(compiler))
    said = f"fzn-turbo: what {compiler} has made of the kernels cannot be loaded: "
    assert (answer.code, answer.text) == (1, "=====ERROR=====\n")
    assert answer.errors.startswith(said) and answer.errors.count("\n") == 1
    assert re.search(reason, answer.errors)
    assert not list(folder.glob("cpu*"))


def test_a_binary_for_a_gpu_that_is_none_is_not_kept(folder, monkeypatch):
    monkeypatch.setattr(compilation, "run_compiler", lambda command, _: Path(command[-2]).write_bytes(b"garbage"))
    folder.mkdir(mode=0o700)
    with pytest.raises(EngineError, match="^what nvcc has made of the kernels cannot be loaded: "):
        compilation.make(folder / "gpu32s-sm90-0.cubin", "solve.cu", ["nvcc"])
    assert list(folder.iterdir()) == []


def test_a_kept_library_that_cannot_be_loaded_here_is_named(folder, monkeypatch):
    """It may have been compiled on another machine that shares the cache."""
    folder.mkdir()
    path = sealed(folder / "cpu32-0.so", b"for another machine")
    monkeypatch.setattr(compiling, "soonest_cpu_library", lambda bits, *extra: path)
    with pytest.raises(EngineError, match=rf"^cannot load the CPU engine \(remove {path}, and it is made again\): "):
        library.load(32)


def test_a_reader_of_one_line_gets_it(model):
    command = f'"{os.sys.executable}" -m turbo_fzn -a "{model}" | head -1'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, env=environment(), timeout=PATIENCE)
    assert done.stdout.count("\n") == 1 and done.stdout.endswith(";\n")
    assert done.stderr == ""
