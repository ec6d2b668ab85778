"""Runs the command `fzn-turbo` in a process of its own, and reads what it prints; used by the tests of the command."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import NamedTuple

from turbo_fzn.resources import PACKAGE

SEPARATOR = "----------"
MARKERS = ("==========", "=====UNSATISFIABLE=====", "=====UNKNOWN=====", "=====ERROR=====")
COMMAND = [sys.executable, "-m", "turbo_fzn"]


class Answer(NamedTuple):
    """What a process has printed: the lines of each solution, the status lines, the statistics, and its end."""

    solutions: list[tuple[str, ...]]
    markers: list[str]
    statistics: dict[str, str]
    text: str
    errors: str
    code: int


def environment(**changes: str) -> dict[str, str]:
    """Of the processes: without a GPU, whose blocks would make the order of solutions a matter of chance."""
    path = os.pathsep.join([str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path, "CUDA_VISIBLE_DEVICES": "", **changes}


def start(*arguments: object, **changes: str) -> subprocess.Popen[str]:
    """`changes`: environment variables."""
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(**changes)
    )


def run(*arguments: object, timeout: float = 60, **changes: str) -> Answer:
    """Runs to the end. Fails where a solution is not ended, or anything stands outside of the protocol."""
    with start(*arguments, **changes) as process:
        return finish(process, timeout=timeout)


def finish(process: subprocess.Popen[str], already: str = "", timeout: float = 60) -> Answer:
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
NO_SOLUTION_BY_LONG_PROPAGATION = """\
var int: x :: output_var;
var int: y :: output_var;
constraint int_lt(x,y);
constraint int_lt(y,x);
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


def large(constraints: int = 150_000) -> str:
    """A model that takes seconds to prepare."""
    n = 1000
    lines = [f"var 0..1000: v{i} :: output_var;" for i in range(n)]
    lines += [f"constraint int_lin_le([1,-1,1],[v{i % n},v{i * 7 % n},v{i * 31 % n}],{i});" for i in range(constraints)]
    return "\n".join([*lines, "solve satisfy;\n"])
