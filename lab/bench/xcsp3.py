"""How fast XCSP3 is read and lowered, and in how much memory: one line for each kind of content.

    python -m lab.bench.xcsp3                     20 MB of each kind
    python -m lab.bench.xcsp3 -m 5 table group    5 MB of these kinds

The instances are made here, after what fills those of the competitions: tables, groups, expressions, slides, sums,
matrices, automata, variables. Seconds are CPU seconds (user + system, all threads), since the machine may have other
work. Each kind has a process of its own, so that the memory is its own: what it grows by from the imports on, to the
end of reading, and of lowering. The text is in it, which is kept for messages. Lowering ends with the rows, before they
are simplified.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import count, cycle, permutations
from pathlib import Path

from lab.bench.front import peak_bytes
from turbo_fzn.lower.rewrite import lower
from turbo_fzn.read.languages import parse_file

MEGABYTES = 20.0
N = 1000  # variables x[0] to x[N-1], with 0..99
Parts = Iterator[str]  # of the section <constraints>, without end
KINDS: dict[str, Callable[[random.Random], Parts]] = {}


def kind(name: str) -> Callable[[Callable[[random.Random], Parts]], Callable[[random.Random], Parts]]:
    def enter(make: Callable[[random.Random], Parts]) -> Callable[[random.Random], Parts]:
        KINDS[name] = make
        return make

    return enter


def value(i: int) -> int:
    """That of x[i] in a solution of the kinds that could have none."""
    return i * 7 % 100


def names(rng: random.Random, n: int) -> str:
    return " ".join(f"x[{i}]" for i in rng.sample(range(N), n))


@kind("table")
def tables(rng: random.Random) -> Parts:
    """Tables of a million tuples."""
    while True:
        yield f"<extension><list> {names(rng, 4)} </list><supports> "
        for _ in range(10**6):
            number = rng.randrange(10**8)
            yield f"({number % 100},{number // 100 % 100},{number // 10**4 % 100},{number // 10**6})"
        yield " </supports></extension>\n"


@kind("small tables")
def _small_tables(rng: random.Random) -> Parts:
    for table in cycle(("supports", "conflicts")):
        i, j = rng.sample(range(N), 2)
        rows = {(rng.randrange(100), rng.randrange(100)) for _ in range(20)} - {(value(i), value(j))}
        rows |= {(value(i), value(j))} if table == "supports" else set()
        body = "".join(f"({p},{q})" for p, q in sorted(rows))
        yield f"<extension>\n<list> x[{i}] x[{j}] </list>\n<{table}> {body} </{table}></extension>\n"


@kind("short table")
def _short_tables(rng: random.Random) -> Parts:
    while True:
        yield f"<extension><list> {names(rng, 6)} </list><supports> "
        for i in range(10**4):
            yield f"({i % 100},*,{i // 100},*,{rng.randrange(100)},*)"
        yield " </supports></extension>\n"


@kind("group")
def groups(rng: random.Random) -> Parts:
    """Groups of a hundred thousand members, of two expressions in turn."""
    while True:
        for template in ("ne(dist(%0,%1),%2)", "or(le(add(%0,%2),%1),le(add(%1,%2),%0))"):
            yield f"<group>\n<intension> {template} </intension>\n"
            for _ in range(10**5):
                yield f"<args> {names(rng, 2)} {rng.randrange(100)} </args>\n"
            yield "</group>\n"


@kind("group of sums")
def _groups_of_sums(rng: random.Random) -> Parts:
    while True:
        coefficients = " ".join(str(rng.randint(1, 9)) for _ in range(8))
        terms = f"<list> %... </list><coeffs> {coefficients} </coeffs>"
        yield f"<group><sum>{terms}<condition> (le,900) </condition></sum>\n"
        for _ in range(1000):
            yield f"<args> {names(rng, 8)} </args>\n"
        yield "</group>\n"


def _groups_over_one_table(rng: random.Random, kind: str, rows: Iterable[str], arity: int, members: int) -> Parts:
    """A group of so many constraints over variables drawn at random, all with the same rows of `supports` or
    `conflicts`."""
    columns = " ".join(f"%{i}" for i in range(arity))
    yield f"<group><extension><list> {columns} </list><{kind}> {''.join(rows)} </{kind}></extension>\n"
    for _ in range(members):
        yield f"<args> {names(rng, arity)} </args>\n"
    yield "</group>\n"


@kind("group of tables")
def _groups_of_tables(rng: random.Random) -> Parts:
    while True:
        rows = (f"({i % 100},{i * 7 % 100})" for i in range(200))
        yield from _groups_over_one_table(rng, "supports", rows, 2, 10**4)


@kind("group of large tables")
def _groups_of_large_tables(rng: random.Random) -> Parts:
    """A hundred thousand members, which may not have truths for all rows each."""
    while True:
        rows = sorted({f"({i % 100},{i * i % 97},{rng.randrange(100)})" for i in range(5000)})
        yield from _groups_over_one_table(rng, "supports", rows, 3, 10**5)


@kind("group of permutations")
def _groups_of_permutations(_: random.Random) -> Parts:
    """Sudokus, with a table of 362,880 tuples for each row, column and box."""
    cells = [divmod(i, 9) for i in range(81)]
    boxes = [(row // 3, column // 3) for row, column in cells]
    units = [[i for i in range(81) if key[i] == one] for key in (*zip(*cells), boxes) for one in sorted(set(key))]
    rows = "".join(f"({','.join(map(str, one))})" for one in permutations(range(1, 10)))
    columns = " ".join(f"%{i}" for i in range(9))
    head = f"<group><extension><list> {columns} </list><supports> {rows} </supports></extension>\n"
    for first in cycle(range(0, N - 80, 81)):
        members = [" ".join(f"x[{first + i}]" for i in unit) for unit in units]
        yield head + "".join(f"<args> {member} </args>\n" for member in members) + "</group>\n"


@kind("group of conflicts")
def _groups_of_conflicts(rng: random.Random) -> Parts:
    while True:
        rows = (f"({i % 100},{i * 3 % 100},{i % 100})" for i in range(100))
        yield from _groups_over_one_table(rng, "conflicts", rows, 3, 10**5)


@kind("intensions")
def intensions(rng: random.Random) -> Parts:
    """Each of its own, in a few shapes."""
    while True:
        i, j, n = rng.sample(range(N), 3)
        k = value(i) - value(j)
        yield f"<intension> le(x[{i}],add(x[{j}],{k + rng.randrange(50)})) </intension>\n"
        yield f"<intension> or(eq(x[{i}],{value(i)}),gt(x[{j}],x[{n}])) </intension>\n"
        yield f"<intension> eq(dist(x[{i}],x[{j}]),{abs(k)}) </intension>\n"
        yield f"<intension> ne(x[{n}],{(value(n) + rng.randint(1, 99)) % 100}) </intension>\n"


@kind("long intension")
def _long_intensions(rng: random.Random) -> Parts:
    while True:
        pairs = [rng.sample(range(N), 2) for _ in range(99)]
        terms = ",".join(f"and(eq(x[{i}],{rng.randrange(100)}),x[{j}])" for i, j in pairs)
        yield f"<intension> or({terms}) </intension>\n"


@kind("slide")
def slides(rng: random.Random) -> Parts:
    while True:
        yield f"<slide><list> {names(rng, N)} </list><intension> ne(%0,%1) </intension></slide>\n"


@kind("sum")
def sums(rng: random.Random) -> Parts:
    """A thousand terms each."""
    while True:
        coefficients = " ".join(str(rng.randint(1, 999)) for _ in range(N))
        lists = f"<list> {names(rng, N)} </list>\n<coeffs> {coefficients} </coeffs>"
        yield f"<sum>\n{lists}\n<condition> (le,9999999) </condition>\n</sum>\n"


@kind("sum of expressions")
def _sums_of_expressions(rng: random.Random) -> Parts:
    while True:
        items = " ".join(f"eq(x[{rng.randrange(N)}],{rng.randrange(100)})" for _ in range(300))
        yield f"<sum><list> {items} </list><condition> (le,100) </condition></sum>\n"


@kind("matrix")
def matrices(rng: random.Random) -> Parts:
    """Elements of constant matrices."""
    while True:
        rows = "".join(f"({','.join(str(rng.randrange(100)) for _ in range(100))})" for _ in range(100))
        index, value = names(rng, 2), names(rng, 1)
        yield f"<element><matrix> {rows} </matrix><index> {index} </index><value> {value} </value></element>\n"


@kind("element")
def elements(rng: random.Random) -> Parts:
    while True:
        values = " ".join(str(rng.randrange(100)) for _ in range(100))
        index, value = names(rng, 1), names(rng, 1)
        yield f"<element>\n<list> {values} </list>\n<index> {index} </index>\n<value> {value} </value>\n</element>\n"


@kind("regular")
def automata(rng: random.Random) -> Parts:
    while True:
        steps = "".join(f"(q{s},{v},q{rng.randrange(100)})" for s in range(100) for v in range(100))
        states = f"<transitions> {steps} </transitions><start> q0 </start><final> q1 q2 </final>"
        yield f"<regular><list> {names(rng, 10)} </list>{states}</regular>\n"


@kind("mdd")
def _diagrams(rng: random.Random) -> Parts:
    while True:
        levels = [["r"], *([f"n{i}_{j}" for j in range(40)] for i in range(9)), ["t"]]
        steps = [
            f"({s},{v},{rng.choice(ahead)})" for here, ahead in zip(levels, levels[1:]) for s in here for v in range(30)
        ]
        yield f"<mdd><list> {names(rng, 10)} </list><transitions> {''.join(steps)} </transitions></mdd>\n"


@kind("all different")
def all_different(rng: random.Random) -> Parts:
    while True:
        yield f"<allDifferent> {names(rng, 10)} </allDifferent>\n"


@kind("variables")
def variables(_: random.Random) -> Parts:
    """An instance whose section <variables> grows: variables that each have a domain with holes."""
    for i in count():
        yield f'<var id="v{i}"> {i % 7} {i % 7 + 2}..{i % 90 + 10} 200 </var>\n'


def write_instance(path: Path, name: str, megabytes: float) -> None:
    """An instance of that kind and about that size: a table or a group may end early, everything else is whole."""
    array = f'<array id="x" size="[{N}]"> 0..99 </array>\n'
    between = "" if name == "variables" else "</variables>\n<constraints>\n"
    head = f'<instance format="XCSP3" type="CSP">\n<variables>\n{array}{between}'
    with path.open("w") as stream:
        size, is_open = stream.write(head), ""
        for part in KINDS[name](random.Random(name)):
            size += stream.write(part)
            ends = [end for begin, end in OPEN.items() if begin in part and end not in part]
            is_open = ends[-1] if ends else "" if is_open in part else is_open
            if size >= megabytes * 1e6 and (not is_open or part[-1] in ")\n"):
                break
        section = "variables" if name == "variables" else "constraints"
        stream.write(f"{is_open}\n</{section}>\n</instance>\n")


OPEN = {"<supports>": "</supports></extension>", "<group>": "</group>"}


def measure(path: str) -> dict[str, float]:
    """Size, seconds and memory of one instance, in this process."""
    gc.disable()  # as the command does
    base, start = peak_bytes(), time.process_time()
    model = parse_file(path)
    read, memory = time.process_time(), peak_bytes()
    lowered = lower(model)
    end = time.process_time()
    if lowered.tnf.infeasible:
        raise SystemExit("no solution is left, and so not all was lowered")
    return {
        "megabytes": Path(path).stat().st_size / 1e6,
        "constraints": len(model.constraints),
        "read": read - start,
        "lower": end - read,
        "memory to read": (memory - base) / 1e6,
        "memory": (peak_bytes() - base) / 1e6,
    }


def measure_apart(name: str, megabytes: float) -> dict[str, float]:
    """`measure` in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.xml"
        write_instance(path, name, megabytes)
        command = [sys.executable, "-m", "lab.bench.xcsp3", "--one", str(path)]
        environment = {"OPENBLAS_NUM_THREADS": "1", **os.environ}  # as the command does
        answer = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if answer.returncode:
        raise SystemExit(f"{name} could not be measured")
    return json.loads(answer.stdout)


def line(name: str, result: dict[str, float]) -> str:
    size, read, lowering = result["megabytes"], result["read"], result["lower"]
    speed = f"{size:5.1f} MB {result['constraints']:8.0f} constraints  read {read:6.2f} s, {size / read:5.1f} MB/s"
    memory = f"{result['memory to read'] / size:5.1f} and {result['memory'] / size:5.1f} MB for each MB"
    return f"{name:20} {speed}  lower {lowering:6.2f} s  both {read + lowering:6.2f} s  {memory}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m lab.bench.xcsp3", description="Measures the XCSP3 reader.")
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"one of {', '.join(KINDS)} (default: all)")
    parser.add_argument(
        "-m", "--megabytes", type=float, default=MEGABYTES, help="size of each instance (default: %(default)s)"
    )
    parser.add_argument("--write", metavar="FILE", help="write the instance of the kind there, and measure nothing")
    parser.add_argument("--one", metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one)))
        return 0
    if unknown := [name for name in options.kinds if name not in KINDS]:
        parser.error(f"no such kind: {unknown[0]}")
    for name in options.kinds or KINDS:
        if options.write:
            write_instance(Path(options.write), name, options.megabytes)
        else:
            print(line(name, measure_apart(name, options.megabytes)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
