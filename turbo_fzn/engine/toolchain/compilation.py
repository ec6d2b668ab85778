"""One compilation, in a separate process that outlives the run which needs it.

A time limit may be shorter than a compilation. If the compiler ended with the run, the next run would begin again, and
no run would ever answer. So a process in its own session drives the compiler, and the run waits for it until its time
limit. The process writes to a temporary folder, loads the compiled file, seals it (cache.py) and renames it to its
place: so no run ever reads a half-written file, or a file that cannot be loaded.

If several runs need the same file, one of them compiles it. It takes a lock, flock(2) on `FILE.lock`, that the process
inherits and that the system releases however the process ends. The others check repeatedly, until the file exists or
they get the lock. The holder of a lock removes its file in the end: so a lock is valid only while its file has that
name. If the file system has no locks, a file may be compiled twice; the last result stays.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from turbo_fzn.base import cache, progress
from turbo_fzn.base.cache import NoRoom
from turbo_fzn.base.errors import EngineError
from turbo_fzn.base.resources import PACKAGE
from turbo_fzn.engine.tuning import TUNING
from turbo_fzn.process import footprint

log = logging.getLogger("turbo_fzn")

LIBRARY, ELF = ".so", b"\x7fELF"  # the suffix of a CPU engine; the first bytes of any binary
FAILED, NO_ROOM = 3, 4  # format: exit codes of the process, which prints the reason
ONCE = "code of the solver for this machine, once; takes up to a minute"
BESIDE = "the same, optimised, for later runs; in the background, nothing waits for it"
PROGRAM = "import sys; sys.path[0] = sys.argv.pop(1); from turbo_fzn.engine.toolchain.compilation import main; main()"


# ---- in the run


class _Awaited(NamedTuple):
    """The compilation that the main thread waits for; `lasting` is whether its folder stays when the run ends."""

    target: Path
    lasting: bool


_awaited: _Awaited | None = None
_passing: dict[Path, subprocess.Popen[str]] = {}  # compilations for this run only, which end with it


def obtain(target: Path, source: Path, command: list[str], lasting: bool) -> None:
    """Waits until there is a sealed `target`, compiled from `source` by `command` (compiler and flags).

    Raises EngineError with the compiler's first error, NoRoom if the file cannot be written.
    """
    told = False
    with _awaiting(_Awaited(target, lasting)):
        while cache.read(target) is None:
            process = begin(target, source, command)
            if process is not None:
                _finish(process, target, lasting)
                return
            if not told:
                log.info("compile: %s, by another process", short_name(target))
                told = True
            time.sleep(TUNING.compile_look_seconds)


@contextlib.contextmanager
def _awaiting(awaited: _Awaited) -> Iterator[None]:
    """Records the compilation that the main thread waits for; other threads work in the background, and the end of the
    process does not wait for them."""
    global _awaited
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _awaited = awaited
    try:
        yield
    finally:
        _awaited = None


def begin(target: Path, source: Path, command: list[str], what: str = ONCE) -> subprocess.Popen[str] | None:
    """Starts the process, which the caller need not wait for; returns None if the file exists by now, or another
    process compiles it. `what` is for the log. Raises EngineError, NoRoom."""
    try:
        lock = _take_lock(target)
    except OSError as error:
        raise NoRoom(target.parent, error.strerror or str(error)) from error
    if lock is None:
        return None
    process = None
    try:
        if cache.read(target) is None:
            log.info("compile: %s, by %s: %s", short_name(target), command[0], what)
            footprint.expect_helpers()
            process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, str(PACKAGE.parent), str(target), str(source), *command],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                pass_fds=[lock], start_new_session=True,
            )  # fmt: skip
    except OSError as error:
        raise EngineError(f"cannot compile the kernels: {error}") from error
    finally:
        if process is None:
            _lock_file(target).unlink(missing_ok=True)
        os.close(lock)
    return process


def _finish(process: subprocess.Popen[str], target: Path, lasting: bool) -> None:
    if not lasting:
        _passing[target] = process
    try:
        said, _ = process.communicate()
    finally:
        _passing.pop(target, None)
    code, reason = process.returncode, said.strip() or "no message"
    if code == NO_ROOM:
        raise NoRoom(target.parent, reason)
    if code == FAILED:
        raise EngineError(reason)
    if code < 0:
        raise EngineError(f"the compilation of the kernels was killed: {signal.strsignal(-code)}")
    if code > 0:
        raise EngineError(f"the compilation of the kernels failed: {reason.splitlines()[-1]}")


def _lock_file(target: Path) -> Path:
    return target.with_name(target.name + ".lock")


def _take_lock(target: Path) -> int | None:
    """An open file that holds the lock of `target`; None while another process holds it. Raises OSError where it cannot
    be written."""
    path = _lock_file(target)
    handle = _above_streams(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600))
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        current = os.stat(path)
    except (BlockingIOError, FileNotFoundError):
        os.close(handle)
        return None
    except OSError:  # a file system without locks
        return handle
    if not os.path.samestat(current, os.fstat(handle)):
        os.close(handle)
        return None
    return handle


def _above_streams(handle: int) -> int:
    """The open file under a number that no standard stream has. If a standard stream was closed from the beginning, the
    file may have its number, and the process that inherits the file would put its own stream there."""
    try:
        return fcntl.fcntl(handle, fcntl.F_DUPFD_CLOEXEC, 3)
    finally:
        os.close(handle)


def abandon() -> None:
    """For the end of the process, also in a signal handler: reports whether the awaited compilation goes on, and ends
    the compilations that no other run can use."""
    for process in list(_passing.values()):
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
            os.waitpid(process.pid, 0)  # not process.wait: a signal handler must not wait for its lock
    if _awaited is not None:
        progress.abandon()
        with contextlib.suppress(OSError):
            os.write(2, f"fzn-turbo: {_what_becomes_of(_awaited)}\n".encode())


def _what_becomes_of(awaited: _Awaited) -> str:
    if awaited.lasting:
        rest = f"that goes on, and later runs find them in {awaited.target.parent}"
    else:
        rest = "they are lost, for no cache folder can be used (fzn-turbo --info)"
    return f"stopped while the kernels ({short_name(awaited.target)}) were being compiled; {rest}"


def short_name(target: Path) -> str:
    return target.name.partition("-")[0]


# ---- in the process


def main() -> None:
    """The process: target, source, and the command as arguments."""
    target, source, *command = sys.argv[1:]
    code, reason = work(Path(target), source, command)
    with contextlib.suppress(OSError):  # the run may have ended
        os.write(1, reason.encode())
    os._exit(code)


def work(target: Path, source: str, command: list[str]) -> tuple[int, str]:
    """Compiles and releases the lock. Returns the exit code, and the reason of a failure."""
    try:
        make(target, source, command)
    except NoRoom as error:
        return NO_ROOM, error.reason
    except EngineError as error:
        return FAILED, str(error)
    finally:
        _lock_file(target).unlink(missing_ok=True)
    return 0, ""


def make(target: Path, source: str, command: list[str]) -> None:
    """Compiles to `target`. Raises EngineError, and NoRoom where it cannot be written."""
    folder = ""
    try:
        _remove_leftovers(target.parent)
        folder = tempfile.mkdtemp(prefix=f"{target.name}.", dir=target.parent)
        compiled = os.path.join(folder, target.name)
        _compile_if_room([*command, "-o", compiled, source], folder)
        check_binary(compiled, command[0])
        cache.seal(Path(compiled))
        os.replace(compiled, target)
    except OSError as error:
        raise NoRoom(target.parent, error.strerror or str(error)) from error
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def check_binary(path: str, compiler: str) -> None:
    """Raises EngineError for a compiled file that cannot be loaded as a library, or, for a GPU, which need not exist
    here, is no ELF file."""
    import ctypes

    try:
        if path.endswith(LIBRARY):
            ctypes.CDLL(path).abi_digest  # noqa: B018
        elif Path(path).read_bytes()[: len(ELF)] != ELF:
            raise OSError("it does not begin as a binary does")
    except (OSError, AttributeError) as error:
        reason = str(error).removeprefix(f"{path}: ")
        raise EngineError(f"what {compiler} has made of the kernels cannot be loaded: {reason}") from error


def _compile_if_room(command: list[str], folder: str) -> None:
    """Compiles. Raises OSError where that fails and the disk is full, which compilers report in different ways."""
    try:
        run_compiler(command, folder)
    except EngineError:
        _fill(folder)
        raise


def _fill(folder: str) -> None:
    """Raises OSError where there is no room for a compilation."""
    block = os.urandom(1 << 20)  # not zeros, which a file system may store without taking room
    with tempfile.TemporaryFile(dir=folder) as file:
        for _ in range(0, TUNING.compile_bytes, len(block)):
            file.write(block)


def _remove_leftovers(folder: Path) -> None:
    """Removes the files of killed compilations, once no process can still be using them."""
    for path in folder.glob("*pu*"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < time.time() - 2 * TUNING.compile_seconds:
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                elif path.suffix == ".lock":
                    path.unlink()


def run_compiler(command: list[str], folder: str) -> str:
    """Runs a compiler with its temporary files in `folder`. Returns its output. Raises EngineError with its first
    error."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, "TMPDIR": folder}, timeout=TUNING.compile_seconds,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        _end_group()
        raise EngineError(f"cannot compile the kernels with {command[0]}: {error}") from error
    if done.returncode < 0:
        number = -done.returncode
        raise EngineError(f"{command[0]} was killed on the kernels: {signal.strsignal(number) or f'signal {number}'}")
    if done.returncode != 0:
        said = done.stdout.splitlines()
        lines = [line for line in said if "error" in line.lower()] or said or ["no message"]
        raise EngineError(f"{command[0]} failed on the kernels: {lines[0]}")
    return done.stdout


def _end_group() -> None:
    """Ends the processes started by a compiler that took too long, if this process leads its own group."""
    if os.getpgrp() == os.getpid():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.killpg(0, signal.SIGTERM)
