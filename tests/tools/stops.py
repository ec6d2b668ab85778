"""How soon the command ends when it is told to, and whether it loses a solution: random signals, and time limits.

    python tests/tools/stops.py --moments 300 --limits 160 FILE.fzn.gz …

runs the files in turn. With `--moments` each run gets SIGTERM (MiniZinc 2.6 would kill it 0.2 s later) at a moment
drawn from its start to its last second: half of them from the first second of the search, where most is still being
made. With `--limits` runs are left to their time limit `-t`. Several runs are at work at once, each on processors of
its own (`--cores`).

What is measured, from the signal to the end of the process: wall time, and processor time of all threads. What is
looked at: the best solution of the log (`-v`) is printed, whole, and nothing takes it back.

The exit code is 1 where a solution was lost.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

COMMAND = [sys.executable, "-m", "turbo_fzn", "-v", "-s", "--arch", "cpu"]
LOGGED = re.compile(r"solution (\d+),(?: objective (\S+?)[ ,])?")
END = "----------\n"
PATIENCE_SECONDS = 60.0  # behind its end, and a process hangs


class Draw(NamedTuple):
    """A run: seconds from the start (or from the engine's line in the log) to the signal, None where it gets none, and
    its time limit in seconds."""

    path: Path
    moment: float | None
    in_search: bool
    limit: float


class Outcome(NamedTuple):
    """Seconds from the signal, or from the limit, to the end; `verdict` is empty where all is well."""

    draw: Draw
    wall: float
    processor: float
    solutions: int
    verdict: str


def main() -> int:
    options = read_options()
    draws = draw(options)
    outcomes = list(run_all(draws, options))
    for title, chosen in (("SIGTERM", False), ("time limit", True)):
        report(title, [outcome for outcome in outcomes if (outcome.draw.moment is None) == chosen])
    return int(any(outcome.verdict for outcome in outcomes))


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--moments", type=int, default=0, metavar="N", help="runs that get a signal")
    parser.add_argument("--limits", type=int, default=0, metavar="N", help="runs that are left to their time limit")
    parser.add_argument("--seconds", type=float, default=6.0, help="the longest run (default: 6)")
    parser.add_argument("--flags", default="-f -p 2", help="of the command (default: -f -p 2)")
    parser.add_argument("--processes", type=int, default=1, metavar="N", help="how many at once (default: 1)")
    parser.add_argument("--cores", type=int, default=0, metavar="N", help="processors of each (default: all, shared)")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def draw(options: argparse.Namespace) -> list[Draw]:
    random.seed(options.seed)
    draws = []
    for number in range(options.moments):
        early = number // len(options.files) % 2 == 0
        moment = random.uniform(0, 1.2) if early else random.uniform(0, options.seconds)
        draws.append(Draw(options.files[number % len(options.files)], moment, early, options.seconds + 5))
    for number in range(options.limits):
        limit = round(random.uniform(1, options.seconds), 3)
        draws.append(Draw(options.files[number % len(options.files)], None, False, limit))
    return draws


def run_all(draws: list[Draw], options: argparse.Namespace) -> Iterator[Outcome]:
    """Prints what is not well at once."""
    places: SimpleQueue[set[int]] = SimpleQueue()
    every = sorted(os.sched_getaffinity(0))
    for number in range(options.processes):
        own = every[number * options.cores : (number + 1) * options.cores]
        places.put(set(own) or set(every))

    def one(drawn: Draw) -> Outcome:
        place = places.get()
        try:
            return run(drawn, options.flags.split(), place)
        finally:
            places.put(place)

    with ThreadPoolExecutor(options.processes) as pool:
        for number, outcome in enumerate(pool.map(one, draws), 1):
            if outcome.verdict:
                print(f"{describe(outcome)}: {outcome.verdict}", flush=True)
            if number % 50 == 0:
                print(f"{number} of {len(draws)} runs", file=sys.stderr, flush=True)
            yield outcome


def run(drawn: Draw, flags: list[str], place: set[int]) -> Outcome:
    command = [*COMMAND, *flags, "-t", str(round(1000 * drawn.limit)), str(drawn.path)]
    began = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(process.pid, place)  # threads that are made later inherit it
        streams = Streams(process)
        spent, due = wait_for_moment(process, streams, drawn, began)
        killer = threading.Timer(drawn.limit + PATIENCE_SECONDS, process.kill)
        killer.start()
        _, status, usage = os.wait4(process.pid, 0)
        ended = time.monotonic()
        killer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        output, log = streams.end()
    processor = 0.0 if due is None or drawn.moment is None else usage.ru_utime + usage.ru_stime - spent
    solutions, verdict = judge(output, log, process.returncode)
    due = ended if due is None else due
    return Outcome(drawn, max(ended - due, 0.0), processor, solutions, verdict)


def wait_for_moment(
    process: subprocess.Popen[str], streams: Streams, drawn: Draw, began: float
) -> tuple[float, float | None]:
    """Sends the signal; the processor seconds until then, and when that was: None where the run has ended before."""
    if drawn.moment is None:
        return 0.0, began + drawn.limit
    if drawn.in_search:
        streams.searching.wait(drawn.limit)
        began = time.monotonic()
    time.sleep(max(began + drawn.moment - time.monotonic(), 0))
    if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
        return 0.0, None
    spent = time.clock_gettime((~process.pid << 3) | 2)  # of all its threads: clock_getcpuclockid(3)
    due = time.monotonic()
    os.kill(process.pid, signal.SIGTERM)
    return spent, due


class Streams:
    """Reads both streams of a process. `searching` is set when its search begins, or when it ends without."""

    def __init__(self, process: subprocess.Popen[str]):
        self.process, self.output, self.log = process, "", ""
        self.searching = threading.Event()
        self.threads = [threading.Thread(target=work) for work in (self._read_output, self._read_log)]
        for thread in self.threads:
            thread.start()

    def _read_output(self) -> None:
        assert self.process.stdout is not None
        self.output = self.process.stdout.read()

    def _read_log(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log += line
            if ": engine: " in line or line.startswith("fzn-turbo: engine"):
                self.searching.set()
        self.searching.set()

    def end(self) -> tuple[str, str]:
        for thread in self.threads:
            thread.join()
        return self.output, self.log


def judge(output: str, log: str, code: int) -> tuple[int, str]:
    """How many solutions the log tells, and what is wrong with what was printed."""
    told = LOGGED.findall(log)
    printed = output.count(END)
    if code != 0 or "=====ERROR=====" in output:
        return len(told), f"exit code {code}: {log.splitlines()[-1:]}"
    if output and not output.endswith("%%%mzn-stat-end\n"):
        return len(told), "the answer has no end"
    if not told:
        return 0, ""
    if not printed:
        return len(told), "LOST: no solution is printed"
    objective = re.findall(r"^%%%mzn-stat: objective=(.*)$", output, re.MULTILINE)
    if told[-1][1] and (not objective or is_worse(told, objective[-1])):
        return len(told), f"LOST: {told[-1]} was found, {objective[-1:]} is printed"
    return len(told), "a status line takes the solution back" if "=====U" in output else ""


def is_worse(told: list[tuple[str, str]], printed: str) -> bool:
    """Whether the best solution of the log is better than the one that is printed. Each of the log improves."""
    first, last = float(told[0][1]), float(told[-1][1])
    return float(printed) > last if last <= first else float(printed) < last


def describe(outcome: Outcome) -> str:
    drawn = outcome.draw
    moment = "" if drawn.moment is None else f" {drawn.moment:.2f} s{' of search' if drawn.in_search else ''}"
    late = f"{outcome.wall:.3f} s wall, {outcome.processor:.3f} s of processors"
    return f"{drawn.path.name.partition('.')[0]}{moment}: {late}, {outcome.solutions} solutions"


def report(title: str, outcomes: list[Outcome]) -> None:
    if not outcomes:
        return
    lost = sum("LOST" in outcome.verdict for outcome in outcomes)
    found = sum(outcome.solutions > 0 for outcome in outcomes)
    wrong = sum(bool(outcome.verdict) for outcome in outcomes) - lost
    print(f"{title}: {len(outcomes)} runs, {found} with a solution, {lost} lost it, {wrong} otherwise wrong")
    for name in ("wall", "processor"):
        if name == "processor" and outcomes[0].draw.moment is None:
            continue
        values = sorted(getattr(outcome, name) for outcome in outcomes)
        middle, high, worst = (values[int(share * (len(values) - 1))] for share in (0.5, 0.99, 1))
        print(f"  {name} seconds: median {middle:.3f}, 99 % {high:.3f}, worst {worst:.3f}")
    for outcome in sorted(outcomes, key=lambda outcome: -outcome.wall)[:5]:
        print(f"    {describe(outcome)}")


if __name__ == "__main__":
    sys.exit(main())
