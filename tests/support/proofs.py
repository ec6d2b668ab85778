"""Random models in ternary normal form, and their proofs by a learner."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple

import numpy as np

from support.naive import solutions
from support.operators import apply_operator
from support.tree_models import random_trees
from turbo_fzn.engine import root
from turbo_fzn.engine.abi.abi import METHODS
from turbo_fzn.engine.contract import Found
from turbo_fzn.engine.cpu import CpuEngine
from turbo_fzn.engine.layout.layout import Settings
from turbo_fzn.engine.logged import Log
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.proof.checker import Refused, check
from turbo_fzn.proof.derived import Derived
from turbo_fzn.proof.encoding import Assumed, Encoding
from turbo_fzn.proof.leaders import Leaders
from turbo_fzn.proof.refutation import Step
from turbo_fzn.proof.relaxed import Relaxed
from turbo_fzn.proof.writer import HEADER, Writer, write_model, write_proof
from turbo_fzn.run.stated_bounding import StatedBounder
from turbo_fzn.tnf.language import ADD, DIV, ELEMENT, EQ, LEQ, MAX, MIN, MOD, MUL, TNF

OPERATORS = (ADD, MUL, DIV, MOD, MIN, MAX, EQ, LEQ, ELEMENT)


class Proved(NamedTuple):
    """The texts of model and proof, the conclusion, the best objective that was found (None: no solution), and the
    method that found it."""

    model: str
    proof: str
    conclusion: str
    found: int | None
    method: str


class _Drawn:
    """A model that is being drawn, with a point that satisfies its rows, except for some that are drawn at random."""

    def __init__(self, random: Random):
        self.random = random
        self.lower: list[int] = []
        self.upper: list[int] = []
        self.point: list[int] = []
        self.rows: list[tuple[int, int, int, int]] = []
        self.tables: list[int] = []
        for _ in range(random.randint(3, 6)):
            low = random.choice((0, 0, 0, -3, 1))
            self.variable(low, low + random.choice((1, 1, 1, 3, 6, 9)))

    def variable(self, low: int, high: int, value: int | None = None) -> int:
        self.lower.append(low)
        self.upper.append(high)
        self.point.append(self.random.randint(low, high) if value is None else value)
        return len(self.lower) - 1

    def row(self) -> None:
        random, op = self.random, self.random.choice(OPERATORS)
        y, z = random.choices(range(len(self.lower)), k=2)
        if op == ELEMENT:
            z = len(self.tables) - self.lower[y]
            self.tables += [random.randint(-2, 8) for _ in range(self.lower[y], self.upper[y] + 1)]
            result = self.tables[z + self.point[y]]
        elif op in (DIV, MOD) and self.point[z] == 0:
            return
        else:
            result = int(apply_operator(op, self.point[y], self.point[z]))
        equal = [v for v, value in enumerate(self.point) if value == result]
        if op in (EQ, LEQ):
            equal = [v for v in equal if self.lower[v] >= 0 and self.upper[v] <= 1]
        x = random.choice(equal) if equal and random.random() < 0.6 else self.result(op, result)
        self.rows.append((op, x, y, z))

    def result(self, op: int, value: int) -> int:
        """A new variable for a row's result, or one that may be wrong."""
        if op in (EQ, LEQ):
            return self.variable(0, 1, value)
        if self.random.random() < 0.1:
            return self.random.randrange(len(self.lower))
        return self.variable(value - self.random.randint(0, 4), value + self.random.randint(0, 4), value)


def random_tnf(random: Random) -> TNF | None:
    """A small model at its root fixpoint; None where that fails."""
    drawn = _Drawn(random)
    for _ in range(random.choice((4, 8, 16, 30))):
        drawn.row()
    if not drawn.rows:
        return None
    columns = np.array(drawn.rows, np.int32).T.copy()
    sense = random.choice((-1, 0, 1, 1))
    ends, tables = (np.array(bounds, np.int64) for bounds in (drawn.lower, drawn.upper)), drawn.tables or [0]
    objective = random.randrange(len(drawn.lower)) if sense else -1
    tnf = TNF(*columns, *ends, np.array(tables, np.int64), objective=objective, sense=sense)
    bounds = root.propagate(tnf)
    if bounds is None:
        return None
    tnf.lower, tnf.upper = bounds
    return tnf


def consistent_models(count: int) -> Iterator[tuple[int, TNF]]:
    """The random models of the seeds 0 to count - 1 that do not fail at the root, with their seeds: each third one is
    of trees, which the learner fuses."""
    for seed in range(count):
        tnf = (random_trees if seed % 3 == 2 else random_tnf)(Random(seed))
        if tnf is not None:
            yield seed, tnf


def logged_engine(
    tnf: TNF, role: str, blocks: int, seed: int = 0, learn_bytes: int = 2**24, lns: bool = True
) -> CpuEngine:
    """An engine whose last blocks learn, one for each role (words), and log that; half of them have fused rows. Other
    blocks look for solutions; without `lns` those that cannot learn would search the tree."""
    roles = tuple(role.split())
    blocks = max(blocks, len(roles))
    lns = lns and blocks > 1
    settings = Settings(
        blocks=blocks,
        lns_percent=100 * lns,
        methods=frozenset(METHODS) - {"tree"} if lns else frozenset(METHODS),
        proof=2**40,
        roles=roles,
        decides=(("all", "truths"),) * len(roles),
        fuses=tuple(place % 2 == 0 for place in range(len(roles))),
        learn_bytes=learn_bytes,
        seed=seed,
    )
    return CpuEngine(tnf, np.arange(tnf.n_vars, dtype=np.int32), settings)


def prove(
    tnf: TNF,
    role: str = "soloist",
    seed: int = 0,
    interrupt: Interrupt | None = None,
    damage: Callable[[Log], None] = lambda log: None,
    blocks: int = 1,
    tell: Callable[[CpuEngine], Found | None] = lambda engine: None,
    relax: Callable[[Relaxed], None] | None = None,
    learn_bytes: int = 2**24,
    lead: Callable[[Leaders], None] | None = None,
) -> Proved:
    """Has learners solve the model, with other blocks that search neighbourhoods, damages their log, and writes its
    proof. `tell` tells the engine something before it starts, and returns the solution that it has told. With `relax`
    it begins with the relaxation's bound; then `relax` may damage that. With `lead` symmetries are broken; before
    the search `lead` may damage what the learners and the proof get of that."""
    encoding = Encoding(tnf)
    leaders = _led(encoding, lead)
    engine = logged_engine(tnf, role, blocks, seed, learn_bytes)
    last = tell(engine)
    relaxed = _relaxed(engine, encoding, relax)
    last = _searched(engine, tnf.sense, last)
    model, proof = io.StringIO(), io.StringIO()
    write_model(encoding, model)
    relaxed.close()
    assert engine.log is not None
    damage(engine.log)
    answer = None if last is None else last.values.tolist()
    stop = Interrupt() if interrupt is None else interrupt
    conclusion = write_proof(encoding, engine.log, proof, stop, answer, relaxed, leaders)
    found = None if last is None else last.objective if tnf.sense else 0
    return Proved(model.getvalue(), proof.getvalue(), conclusion, found, last.method if last else "")


def _searched(engine: CpuEngine, sense: int, last: Found | None) -> Found | None:
    """The best solution of a search, or the one from before."""
    engine.start()
    while True:
        running = engine.running
        for one in engine.poll():
            last = one if last is None or sense * one.objective < sense * last.objective else last
        if last is not None and sense == 0:
            engine.stop()
        if not running:
            break
        time.sleep(0.0005)
    engine.close()
    return last


def _led(encoding: Encoding, lead: Callable[[Leaders], None] | None) -> Leaders | None:
    """The leaders, which the TNF gets, as `prove` says."""
    encoding.tnf.leaders = []
    if lead is None:
        return None
    leaders = Leaders(encoding)
    lead(leaders)
    encoding.tnf.leaders = leaders.sums
    return leaders


def _relaxed(engine: CpuEngine, encoding: Encoding, relax: Callable[[Relaxed], None] | None) -> Relaxed:
    """The relaxation, whose bound the engine gets, as `prove` says."""
    relaxed = Relaxed(encoding)
    if relax is not None:
        StatedBounder(relaxed, encoding.tnf.sense).run()
        relax(relaxed)
        if relaxed.bound is not None:
            engine.raise_bound(relaxed.bound)
    return relaxed


def accepts(rows: Derived, text: list[str], steps: list[Step], claim: tuple[Assumed, ...]) -> bool:
    """Whether the checker accepts a proof about this model that these bounds cannot hold together, by the last of the
    steps."""
    lines = [HEADER + "\n"]
    writer = Writer(rows.encoding, lines.append, rows.words)
    numbers = [writer.part(step) for step in steps]
    writer.rup([(side ^ 1, 1 - k) for side, k in claim], [str(numbers[-1])])
    lines.append("output NONE\nconclusion NONE\nend pseudo-Boolean proof\n")
    try:
        return check(text, "".join(lines).splitlines()).conclusion == "NONE"
    except Refused:
        return False


def optimum(tnf: TNF) -> int | None:
    """The best objective by enumeration (0 without one); None without a solution."""
    values = [one[tnf.objective] if tnf.sense else 0 for one in solutions(tnf)]
    if not values:
        return None
    return min(values) if tnf.sense > 0 else max(values)
