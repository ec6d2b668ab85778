"""Run the fuzzer: many processes, seeded, for a time or a count; failures are shrunk and kept.

Kinds of instances: `models` compares with enumeration (generate.py, shapes.py, thresholds.py, judge.py), `damage` reads
damaged input (damage.py), `flatzinc` and `minizinc` compare with Gecode (peers.py), and so does `blocks`, with a batch
of MiniZinc models a number (batches.py, blocks.py), `nested` enumerates the models of such a batch (nested.py),
`bounds` checks what linear relaxations prove (bounds.py), `floats` has float variables (reals.py), and `float-peers`
compares small ones with Gecode (float_peers.py). `proofs` checks the proofs that Python's `proof=` writes (proofs.py).
`cpmpy` draws models in CPMpy, which must be installed (cpmpy_models.py).

Instance number i of seed s is the same model and the same way to solve it on every machine: `--seed s --first i
--count 1` makes it again. Processes take the numbers in turn, so their number does not change what is tried.

    python tests/fuzz --count 1000000 --processes 16     # on CPU threads
    python tests/fuzz --arch gpu --count 10000           # in one process, with one GPU context
    python tests/fuzz --ranks                            # several ranks a model, in one process
    TURBO_FZN_KERNEL_FLAGS=-DCHECK_EXPLANATIONS python tests/fuzz --learn    # each explanation is checked
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import logging
import multiprocessing
import os
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import Empty
from random import Random
from typing import Any

from fuzz import editions
from fuzz.batches import try_batch
from fuzz.bounds import try_bounds
from fuzz.damage import draw_text, judge_text
from fuzz.float_peers import try_float_peers
from fuzz.judge import Expected, Verdict, Way, draw_learning_way, draw_ranks_way, draw_way, judge
from fuzz.nested import try_nested
from fuzz.peers import try_flatzinc, try_minizinc
from fuzz.proofs import try_proof
from fuzz.reals import try_reals
from fuzz.shapes import draw_any
from fuzz.shrink import shrink
from support.flatzinc_text import with_text
from support.oracle import WindowTooSmall
from support.places import DATA
from turbo_fzn.read.model import Model

REGRESSIONS = DATA / "regressions"
REPORT_SECONDS = 5.0
MOST_FAILURES = 20  # after that many the run ends: one fault shows in many models
WATCHDOG_SECONDS = 600  # without a sign of life, a process is said to hang


def try_cpmpy(random: Random) -> tuple[Verdict, str]:
    from fuzz.cpmpy_models import try_cpmpy as tried  # only here: CPMpy may be missing

    return tried(random)


# Kinds that draw a model and say whether it was solved rightly: the verdict, and the text.
ON_THEIR_OWN: dict[str, Callable[[Random], tuple[Verdict, str]]] = {
    "bounds": lambda random: try_bounds(random)[:2],
    "floats": try_reals,
    "float-peers": try_float_peers,
    "proofs": try_proof,
    "cpmpy": try_cpmpy,
}

# Kinds of which a number is a batch.
BATCHES = {"blocks": try_batch, "nested": try_nested}


@dataclass
class Failure:
    number: int
    verdict: Verdict
    way: Way
    text: str


def instance(seed: int, number: int, arch: str, flavour: str | None, special: str = "") -> tuple[Model, Way]:
    """The model and the way to solve it that belong to a number."""
    random = Random(f"{seed}/{number}")
    ways = {"learn": draw_learning_way, "ranks": draw_ranks_way}
    return draw_any(random, flavour), ways[special](random) if special else draw_way(random, arch)


def try_instance(
    seed: int, number: int, arch: str, flavour: str | None, special: str = ""
) -> tuple[str, Failure | None]:
    """The kind of the verdict, and the failure if it is one."""
    model, way = instance(seed, number, arch, flavour, special)
    try:
        expected = Expected(model)
    except WindowTooSmall:
        return "undecided", None
    verdict = judge(model, way, expected)
    if not verdict.is_fault:
        return verdict.kind, None
    return verdict.kind, Failure(number, verdict, way, with_text(model).text)


def try_damage(seed: int, number: int) -> tuple[str, Failure | None]:
    text = draw_text(Random(f"damage/{seed}/{number}"))
    verdict = judge_text(text)
    failure = Failure(number, verdict, Way(), text.decode("utf-8", "backslashreplace")) if verdict.is_fault else None
    return verdict.kind, failure


def try_number(arguments: argparse.Namespace, number: int) -> tuple[list[str], Failure | None]:
    """The kinds of the verdicts, one where the number is that of one instance, and a failure if there is one."""
    if arguments.kind in BATCHES:
        verdicts, text = BATCHES[arguments.kind](Random(f"{arguments.kind}/{arguments.seed}/{number}"))
        faults = [verdict for verdict in verdicts if verdict.is_fault]
        return [verdict.kind for verdict in verdicts], Failure(number, faults[0], Way(), text) if faults else None
    kind, failure = try_one(arguments, number)
    return [kind], failure


def try_one(arguments: argparse.Namespace, number: int) -> tuple[str, Failure | None]:
    if arguments.kind == "damage":
        return try_damage(arguments.seed, number)
    if arguments.kind in ON_THEIR_OWN:
        random = Random(f"{arguments.kind}/{arguments.seed}/{number}")
        verdict, text = ON_THEIR_OWN[arguments.kind](random)
        return verdict.kind, Failure(number, verdict, Way(), text) if verdict.is_fault else None
    if arguments.kind in ("flatzinc", "minizinc"):
        random = Random(f"{arguments.kind}/{arguments.seed}/{number}")
        verdict, text = try_flatzinc(random, arguments.arch) if arguments.kind == "flatzinc" else try_minizinc(random)
        return verdict.kind, Failure(number, verdict, Way(), text) if verdict.is_fault else None
    return try_instance(arguments.seed, number, arguments.arch, arguments.flavour, arguments.special)


def work(index: int, arguments: argparse.Namespace, results: Any, stop: Any) -> None:
    """A process: tries every `processes`-th number, and reports counts."""
    quiet()
    counts: Counter[str] = Counter()
    reported = time.monotonic()
    number = arguments.first + index
    last = arguments.first + arguments.count if arguments.count else None
    while not stop.is_set() and (last is None or number < last):
        try:
            kinds, failure = try_number(arguments, number)
        except Exception:
            kinds, failure = ["fuzzer"], Failure(number, Verdict("fuzzer", traceback.format_exc()), Way(), "")
        counts.update(kinds)
        if failure is not None:
            results.put((index, number, Counter(), failure))
        number += arguments.processes
        if time.monotonic() > reported + 1:
            results.put((index, number, counts, None))
            counts, reported = Counter(), time.monotonic()
            gc.collect()
    results.put((index, None, counts, None))


def quiet() -> None:
    """Warnings of search annotations are not for here; Ctrl-C is for the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.getLogger("turbo_fzn").setLevel(logging.ERROR)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


class Run:
    """The parent: starts the processes, gathers what they report, and ends them."""

    def __init__(self, arguments: argparse.Namespace):
        self.arguments = arguments
        context = multiprocessing.get_context("fork")
        self.results, self.stop = context.Queue(), context.Event()
        self.processes = [
            context.Process(target=work, args=(index, arguments, self.results, self.stop), daemon=True)
            for index in range(arguments.processes)
        ]
        self.counts: Counter[str] = Counter()
        self.failures: list[Failure] = []
        self.positions = dict.fromkeys(range(arguments.processes), (arguments.first, time.monotonic()))
        self.started = time.monotonic()

    def __call__(self) -> int:
        for process in self.processes:
            process.start()
        shown = time.monotonic()
        try:
            while self.positions:
                self.take()
                now = time.monotonic()
                if now > shown + REPORT_SECONDS:
                    self.show()
                    shown = now
                over = self.arguments.seconds and now > self.started + self.arguments.seconds
                if over or len(self.failures) >= MOST_FAILURES:
                    self.stop.set()
                self.look_for_the_dead(now)
        except KeyboardInterrupt:
            self.stop.set()
        self.show()
        return 1 if self.failures else 0

    def take(self) -> None:
        try:
            index, number, counts, failure = self.results.get(timeout=0.5)
        except Empty:
            return
        self.counts += counts
        if failure is not None:
            self.failures.append(failure)
            self.keep(failure)
        elif number is None:
            self.positions.pop(index, None)
        else:
            self.positions[index] = (number, time.monotonic())

    def look_for_the_dead(self, now: float) -> None:
        for index, (number, since) in list(self.positions.items()):
            dead = not self.processes[index].is_alive() and self.results.empty()
            if dead or now > since + WATCHDOG_SECONDS:
                what = "died" if dead else "hangs"
                where = f"one of the numbers {number}, {number + self.arguments.processes}, …"
                self.failures.append(Failure(number, Verdict(what, where), Way(), ""))
                print(f"process {index} {what} at {where} (seed {self.arguments.seed})", flush=True)
                self.positions.pop(index)

    def show(self) -> None:
        seconds = time.monotonic() - self.started
        total = sum(self.counts.values())
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self.counts.items()))
        print(f"{seconds:6.0f} s  {total} instances ({total / seconds:.0f}/s): {kinds or 'none yet'}", flush=True)

    def keep(self, failure: Failure) -> None:
        print(
            f"\nnumber {failure.number} of seed {self.arguments.seed}: {failure.verdict.kind}: {failure.verdict.fault}"
        )
        if self.arguments.kind != "models":
            text = failure.text
            print(
                text if len(text) < 3000 else f"{text[:1500]}\n... {len(text)} characters ...\n{text[-1000:]}",
                flush=True,
            )
            return
        print(f"{failure.way}\n{failure.text}", flush=True)
        if failure.text:
            path = keep_regression(self.arguments, failure)
            print(f"shrunk: {path}\n{path.read_text()}", flush=True)


def keep_regression(arguments: argparse.Namespace, failure: Failure) -> Path:
    """Shrinks the model and writes it into the folder of regressions."""
    model, way = instance(arguments.seed, failure.number, arguments.arch, arguments.flavour, arguments.special)

    def fails(candidate: Model) -> bool:
        try:
            return judge(candidate, way).kind == failure.verdict.kind
        except (WindowTooSmall, KeyError, IndexError, ValueError, TypeError):
            return False

    small = with_text(shrink(model, fails))
    try:
        fault = judge(small, way).fault
    except WindowTooSmall:
        fault = failure.verdict.fault
    head = (
        f"% Found by the fuzzer: {failure.verdict.kind}: {' '.join(fault.split())[:300]}\n% {json.dumps(asdict(way))}\n"
    )
    name = hashlib.sha256(small.text.encode()).hexdigest()[:12]
    arguments.keep.mkdir(parents=True, exist_ok=True)
    path = arguments.keep / f"{failure.verdict.kind}-{name}.fzn"
    path.write_text(head + small.text)
    return path


def parse_arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python tests/fuzz", description="Compare the solver with enumeration on random models."
    )
    parser.add_argument("--seed", type=int, default=1, help="of all that is random (default 1)")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="number of the first instance")
    parser.add_argument(
        "--count", type=int, default=0, metavar="N", help="how many instances (default: until the time is over)"
    )
    parser.add_argument("--seconds", type=float, default=0, metavar="S", help="stop after that time")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, metavar="N")
    kinds = ("models", "damage", "flatzinc", "minizinc", *BATCHES, *ON_THEIR_OWN)
    parser.add_argument("--kind", choices=kinds, default="models")
    parser.add_argument("--arch", choices=("cpu", "gpu", "hybrid"), default="cpu")
    parser.add_argument("--learn", dest="special", action="store_const", const="learn", default="",
                        help="every instance with blocks that learn")  # fmt: skip
    parser.add_argument("--ranks", dest="special", action="store_const", const="ranks", default="",
                        help="every instance by several ranks")  # fmt: skip
    parser.add_argument("--flavour", default=None, help="only models of this flavour (generate.py, shapes.py)")
    parser.add_argument("--keep", type=Path, default=REGRESSIONS, metavar="FOLDER", help="where shrunk failures go")
    parser.add_argument("--edition", type=int, default=0, metavar="N",
                        help="of the kernels, with thresholds that this number draws (editions.py)")  # fmt: skip
    arguments = parser.parse_args(argv)
    if not arguments.count and not arguments.seconds:
        arguments.count = 1000
    return arguments


def main() -> int:
    arguments = parse_arguments()
    editions.use(arguments.edition)
    return Run(arguments)()


if __name__ == "__main__":
    sys.exit(main())
