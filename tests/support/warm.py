"""Asks the command `fzn-turbo` by a process that has its modules already: a fifth of what a start takes.

A server, which each process that runs tests starts once, imports what the command imports and forks for every
question. The child is the command as it is: arguments, environment, folder and streams are its own, and it ends by
itself. This is for tests of answers. What is about a process, its start, signals, streams and how it repeats itself,
takes `command.run`.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import socket
import subprocess
import sys
import threading
import traceback
from functools import cache
from typing import Any, NoReturn, TextIO

from support.command import PATIENCE, Answer, environment, read
from support.places import TESTS

LONGEST = 1 << 16  # bytes of a question
IMPORTED = """command.answering command.cli run.bounding run.driver run.engines run.judge run.answer.outcome
run.answer.output run.policy run.prepare run.search read.flatzinc read.languages report.recorder
bounds.thread.relaxation_thread tnf.text""".split()  # what runs import late


class Server:
    def __init__(self) -> None:
        self.channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, __file__, str(theirs.fileno())]
            nothing = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
            variables = environment()
            variables["PYTHONPATH"] += f"{os.pathsep}{TESTS}"
            self.process = subprocess.Popen(command, pass_fds=[theirs.fileno()], env=variables, **nothing)
        self.seconds = 0.0  # that the children have taken of processors
        atexit.register(self.close)

    def close(self) -> None:
        self.channel.close()
        self.process.wait()

    def ask(self, arguments: list[str], variables: dict[str, str], timeout: float) -> tuple[str, str, int]:
        """What the command prints to stdout and to stderr, and its exit code."""
        question = json.dumps([arguments, variables, os.getcwd()]).encode()
        (out, their_out), (errors, their_errors) = os.pipe(), os.pipe()
        socket.send_fds(self.channel, [question], [their_out, their_errors])
        os.close(their_out)
        os.close(their_errors)
        child = json.loads(self.channel.recv(LONGEST))
        killer = threading.Timer(timeout, os.kill, (child, 9))
        killer.start()
        try:
            with open(out, encoding="utf-8") as told, open(errors, encoding="utf-8") as complained:
                texts = told.read(), complained.read()
            code, seconds = json.loads(self.channel.recv(LONGEST))
        finally:
            killer.cancel()
        self.seconds += seconds
        return *texts, code


@cache
def server() -> Server:
    return Server()


def processor_seconds() -> float:
    """That the questions have taken; they are no children of this process."""
    return server().seconds if server.cache_info().currsize else 0.0


def ask(*arguments: object, timeout: float = PATIENCE, **changes: str) -> Answer:
    """What `command.run` gives. Variables that Python itself reads at its start change nothing any more."""
    return read(*server().ask([*map(str, arguments)], environment(**changes), timeout))


# ---- the server


def serve(channel: socket.socket) -> None:
    """Answers until the other end is closed."""
    while True:
        question, streams, _, _ = socket.recv_fds(channel, LONGEST, 2)
        if not question:
            return
        child = os.fork()
        if not child:
            channel.close()
            become(*json.loads(question), streams)
        for stream in streams:
            os.close(stream)
        channel.send(json.dumps(child).encode())
        _, status, used = os.wait4(child, 0)
        channel.send(json.dumps([os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime]).encode())


def become(arguments: list[str], variables: dict[str, str], folder: str, streams: list[int]) -> NoReturn:
    """The command, in a child that has just been made."""
    try:
        for number, stream in enumerate(streams, 1):
            os.dup2(stream, number)
            os.close(stream)
        sys.stdout, sys.stderr = _stream(1), _stream(2, buffering=1, errors="backslashreplace")
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(variables)
        sys.argv[1:] = arguments
        sys.modules["turbo_fzn.__main__"].main()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(70)  # the command has left before


def _stream(number: int, **how: Any) -> TextIO:
    """A stream as Python makes it at its start: its number stays in use when the command replaces the stream."""
    return open(number, "w", closefd=False, **how)


if __name__ == "__main__":
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as cli.py does; a process with threads is none to fork
    importlib.import_module("turbo_fzn.__main__")
    for name in IMPORTED:
        importlib.import_module(f"turbo_fzn.{name}")
    sys.argv[0] = "fzn-turbo"
    serve(socket.socket(fileno=int(sys.argv[1])))
