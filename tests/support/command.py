"""Runs the command `fzn-turbo` in a process of its own, and reads what it prints; used by the tests of the command.

No test may depend on how busy the machine is. What must end is given PATIENCE. What must end soon, or needs time for a
search, is measured by what a start of the command takes at that moment (`ends_soon`, `time_limits`).
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import site
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from support.places import CORPUS
from turbo_fzn.base.resources import PACKAGE, user_cache_folder

SEPARATOR = "----------"
MARKERS = ("==========", "=====UNSATISFIABLE=====", "=====UNBOUNDED=====", "=====UNKNOWN=====", "=====ERROR=====")
COMMAND = [sys.executable, "-m", "turbo_fzn"]
PATIENCE = float(os.environ.get("TURBO_FZN_PATIENCE", "600"))  # seconds; what takes longer hangs, on any machine
SECONDS_TO_STOP = 1.0  # on an idle machine; MiniZinc kills after 0.2 s, but not every machine is as quick


class Answer(NamedTuple):
    """The output of a process: the lines of each solution, the status lines, the statistics, and its end."""

    solutions: list[tuple[str, ...]]
    markers: list[str]
    statistics: dict[str, str]
    text: str
    errors: str
    code: int


def environment(**changes: str) -> dict[str, str]:
    """The environment of the processes, which see no GPU: its blocks would make the order of solutions random."""
    path = os.pathsep.join([str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path, "CUDA_VISIBLE_DEVICES": "", **changes}


def without_home(folder: Path) -> dict[str, str]:
    """Changes that make the folder the user's own, where MiniZinc finds no solver that the user has installed.

    The user's Python packages and compiled kernels are found all the same.
    """
    caches = user_cache_folder()
    return {"HOME": str(folder), "PYTHONUSERBASE": site.getuserbase(), "XDG_CACHE_HOME": caches}


def start(*arguments: object, **changes: str) -> subprocess.Popen[str]:
    """`changes`: environment variables."""
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(**changes)
    )


def run(*arguments: object, timeout: float = PATIENCE, **changes: str) -> Answer:
    """Runs to the end. Fails where a solution is not ended, or anything stands outside of the protocol."""
    with start(*arguments, **changes) as process:
        return finish(process, timeout=timeout)


def finish(process: subprocess.Popen[str], already: str = "", timeout: float = PATIENCE) -> Answer:
    """The answer of a process that is running; `already` is what has been read of it.

    Not by communicate(), which passes over what readline() has put into the stream's buffer.
    """
    assert process.stdout and process.stderr
    killer = threading.Timer(timeout, process.kill)
    killer.start()
    try:
        text, errors = process.stdout.read(), process.stderr.read()
        process.wait()
    finally:
        killer.cancel()
    return read(already + text, errors, process.returncode)


def read(text: str, errors: str, code: int) -> Answer:
    solutions, markers, open_lines = [], [], []
    statistics: dict[str, str] = {}
    for line in text.splitlines():
        if line == SEPARATOR:
            solutions.append(tuple(open_lines))
            open_lines = []
            assert not markers, "a solution after the status line"
        elif line in MARKERS:
            markers.append(line)
        elif line.startswith("%%%mzn-stat: "):
            name, _, value = line.removeprefix("%%%mzn-stat: ").partition("=")
            statistics[name] = value
        elif not line.startswith("%"):
            assert line.endswith(";") and " = " in line, f"no line of the protocol: {line}"
            open_lines.append(line)
    assert not open_lines, "a solution without an end"
    assert len(markers) <= 1
    return Answer(solutions, markers, statistics, text, errors, code)


def write(folder: Path, text: str, name: str = "model.fzn") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def value(answer: Answer, name: str) -> int:
    """The value of an int output in the last solution."""
    (line,) = [line for line in answer.solutions[-1] if line.startswith(f"{name} = ")]
    return int(line.removeprefix(f"{name} = ").rstrip(";"))


def core_line(text: str) -> list[str]:
    """The titles in the line of `--explain`."""
    (line,) = [line for line in text.splitlines() if line.startswith("%%%mzn-core: ")]
    return json.loads(line.removeprefix("%%%mzn-core: "))


# ---- time


class Start(NamedTuple):
    """The wall time and the processor time of one run of the command on a small model, in seconds."""

    wall: float
    processor: float


def processor_seconds() -> float:
    """The processor seconds of the processes that this one has started and that have ended.

    A measure of work that a busy machine does not change.
    """
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@cache
def compile_kernels() -> None:
    """The first run of all compiles the engine, which is not to count."""
    run("--arch", "cpu", CORPUS / "queens.fzn")


def measure_start() -> Start:
    """Measures the time of a start on the machine in its present state."""
    compile_kernels()
    before, began = processor_seconds(), time.monotonic()
    run("--arch", "cpu", CORPUS / "queens.fzn")
    return Start(time.monotonic() - began, processor_seconds() - before)


def slowness() -> float:
    """How many times as long as on an idle machine a process takes now, at least 1."""
    start = measure_start()
    return max(start.wall / start.processor, 1.0)


@contextlib.contextmanager
def ends_soon(after: float = 0.0) -> Iterator[None]:
    """What stands below ends within `after` seconds and as long as a process needs to end on a machine as busy as this,
    which is looked at only where a second was not enough."""
    began = time.monotonic()
    yield
    seconds = time.monotonic() - began - after
    print(f"ended {seconds * 1000:.0f} ms after it was to end")
    if seconds > SECONDS_TO_STOP:
        slow = max(slowness() for _ in range(3))
        assert seconds <= 2 * slow * SECONDS_TO_STOP, f"{seconds:.2f} s late, on a machine slowed down {slow:.1f} times"


def time_limits(searching: float = 0.3) -> Iterator[int]:
    """Time limits in milliseconds that leave about so many seconds to a search, the start taking what it takes now.

    Each is four times the one before, for where the machine has become busier meanwhile: take the first with which the
    search has begun.
    """
    first = 3 * measure_start().wall + searching
    return (round(1000 * first * 4**number) for number in range(5))


def wait_until(holds: Callable[[], object]) -> None:
    """Looks every millisecond."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, "it does not come"
        time.sleep(0.001)


# ---- models

THREE_SOLUTIONS = "var 1..3: x :: output_var;\nsolve satisfy;\n"
NO_SOLUTION = "var 1..3: x :: output_var;\nconstraint int_lin_le([1],[x],0);\nsolve satisfy;\n"
NO_SOLUTION_BY_SEARCH = """\
array [1..3] of var int: p :: output_array([1..3]) = [a,b,c];
var 1..2: a;
var 1..2: b;
var 1..2: c;
constraint int_ne(a,b);
constraint int_ne(b,c);
constraint int_ne(a,c);
solve satisfy;
"""
LEAST_SUM = """\
var 1..10: x :: output_var;
var 1..10: y :: output_var;
var 2..20: z :: output_var :: is_defined_var;
constraint int_plus(x,y,z) :: defines_var(z);
constraint int_lin_le([-1,-1],[x,y],-7);
constraint int_ne(x,y);
solve :: int_search([x,y],input_order,indomain_max,complete) minimize z;
"""
GREATEST_SUM = LEAST_SUM.replace("minimize", "maximize").replace("[-1,-1],[x,y],-7", "[1,1],[x,y],11")


def grid(side: int = 4) -> str:
    """All of side**3 assignments but those of equal neighbours: side * (side - 1)**2 solutions."""
    lines = [f"var 1..{side}: x{i} :: output_var;" for i in range(3)]
    lines += [f"constraint int_ne(x{i},x{i + 1});" for i in range(2)]
    return "\n".join([*lines, "solve satisfy;\n"])


def golomb(marks: int) -> str:
    """The shortest Golomb ruler. Improves quickly; the proof for 12 marks takes hours."""
    places = [f"m{i}" for i in range(marks)]
    lines = [f"var 0..{marks**2}: {place} :: output_var;" for place in places]
    pairs = [(i, j) for j in range(marks) for i in range(j)]
    lines += [f"var 1..{marks**2}: d{i}_{j};" for i, j in pairs]
    lines += ["constraint int_eq(m0,0);"]
    lines += [f"constraint int_plus(d{i}_{j},m{i},m{j});" for i, j in pairs]
    names = [f"d{i}_{j}" for i, j in pairs]
    lines += [f"constraint int_ne({names[a]},{names[b]});" for a in range(len(names)) for b in range(a)]
    search = f"int_search([{','.join(places)}],input_order,indomain_min,complete)"
    return "\n".join([*lines, f"solve :: {search} minimize {places[-1]};\n"])


def one_solution_soon() -> str:
    """All of twenty pigeons in hole 0 is a solution, which is found at once. That there is no other takes ages."""
    places = [f"p{i}" for i in range(20)]
    pairs = [(i, j) for j in range(20) for i in range(j)]
    lines = ["var bool: together :: output_var;", *(f"var 0..19: {place};" for place in places)]
    lines += [f"var bool: apart{i}_{j};" for i, j in pairs]
    lines += [f"constraint int_eq_reif({place},0,together);" for place in places]
    lines += [f"constraint int_ne_reif(p{i},p{j},apart{i}_{j});" for i, j in pairs]
    lines += [f"constraint bool_clause([together,apart{i}_{j}],[]);" for i, j in pairs]
    search = f"int_search([{','.join(places)}],input_order,indomain_min,complete)"
    return "\n".join([*lines, f"solve :: {search} satisfy;\n"])


def long_propagation(domain: str) -> str:
    """Two variables less than the greater of them, and greater than the lesser, which a propagator of bounds refutes by
    going through the domain from one end to the other."""
    variables = "".join(f"var {domain}: {name} :: output_var;\n" for name in ("x", "y", "greater", "lesser"))
    extremes = "constraint int_max(x,y,greater);\nconstraint int_min(x,y,lesser);\n"
    steps = "".join(f"constraint int_lt({name},greater);\nconstraint int_lt(lesser,{name});\n" for name in "xy")
    return f"{variables}{extremes}{steps}solve satisfy;\n"


def large(constraints: int = 150_000) -> str:
    """A model that takes seconds to prepare."""
    n = 1000
    lines = [f"var 0..1000: v{i} :: output_var;" for i in range(n)]
    lines += [f"constraint int_lin_le([1,-1,1],[v{i % n},v{i * 7 % n},v{i * 31 % n}],{i});" for i in range(constraints)]
    return "\n".join([*lines, "solve satisfy;\n"])
