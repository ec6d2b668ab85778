"""The steps of a cut, for the checker: they prove the cut itself, of rows and of cuts before."""

from __future__ import annotations

from random import Random

import numpy as np

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.bounds.cuts.cutter import Cut
from turbo_fzn.bounds.lp.relaxation import LinearRows
from turbo_fzn.proof.checker import Checker
from turbo_fzn.proof.constraints import implies, normal
from turbo_fzn.proof.encoding import Encoding
from turbo_fzn.proof.recorded import StatedCutter
from turbo_fzn.proof.relaxed import Relaxed
from turbo_fzn.proof.rounded import Rounder, said
from turbo_fzn.proof.writer import Writer
from turbo_fzn.tnf.language import TNF

N_MODELS = 400


class Rows:
    """Random rows over a few variables, as constraints of a formula, and what a cutter needs of them."""

    def __init__(self, random: Random):
        self.random, n = random, random.randint(2, 4)
        self.lower = np.array([random.choice((0, 0, 0, -3, 2)) for _ in range(n)])
        self.upper = self.lower + np.array([random.choice((1, 1, 2, 3, 6, 7)) for _ in range(n)])
        nothing = np.empty(0, np.int32)
        tnf = TNF(nothing, nothing, nothing, nothing, self.lower, self.upper, np.array([0], np.int64))
        self.relaxed = Relaxed(Encoding(tnf))
        self.formula: list[str] = []
        encoding = self.relaxed.encoding
        size = random.choice((3, 9, 100))
        for _ in range(random.randint(1, 4)):
            entries = {v: random.randint(-size, size) or 1 for v in random.sample(range(n), random.randint(1, n))}
            self.values = np.array([random.uniform(low, high) for low, high in zip(self.lower, self.upper)])
            least = int(np.ceil(sum(a * self.values[v] for v, a in entries.items())))
            words = "".join(encoding.sum_of(v, a) for v, a in entries.items())
            number = encoding.state(f"{words}>= {least - sum(a * int(self.lower[v]) for v, a in entries.items())}")
            self.relaxed.builder.rows.append((entries, least, INFINITY))
            self.relaxed.numbers.append(number)
        encoding.flush()
        encoding.text.seek(0)
        self.formula = encoding.text.read().decode().splitlines()

    def cuts(self) -> list[Cut]:
        """Returns those of two rounds, at random points."""
        found: list[Cut] = []
        rows = LinearRows.of(self.relaxed.builder.rows)
        for _ in range(2):
            names = self.relaxed.names_of(rows)
            new: list[Cut] = []
            for _ in range(10):
                ends = zip(self.lower.tolist(), self.upper.tolist())
                values = np.array([self.random.choice((low, high, (low + high) / 2, low + 0.5)) for low, high in ends])
                cutter = StatedCutter(rows, self.lower, self.upper, values, names, self.relaxed.roundings)
                factors = {row: self.random.choice((-2, -1, 1, 1, 3)) for row in range(len(rows))}
                new += [*cutter.of_halves(), *cutter.of_rows()]
                new += cutter.of_combination(factors, [self.random.choice((2, 3, 4, 5, 7, 12))])
            if not new:
                break
            found += new
            chosen = self.random.sample(new, min(2, len(new)))
            rows = rows.followed_by(LinearRows.of([(cut.entries, -INFINITY, cut.side) for cut in chosen]))
        return found


def test_the_steps_of_a_cut_prove_it():
    plain = by_cases = nested = 0
    for seed in range(N_MODELS):
        rows = Rows(Random(seed))
        for cut in rows.cuts():
            lines: list[str] = []
            writer = Writer(rows.relaxed.encoding, lines.append)
            rounding = rows.relaxed.roundings[said(cut.entries, cut.side)]
            number = Rounder(rows.relaxed.builder.rows, rows.relaxed.numbers, writer).number(rounding)
            checker = Checker()
            checker.read_formula(rows.formula)
            for line in "".join(lines).splitlines():
                checker.rule(line.split())
            terms = [(-a * 2**i, f"x{v}b{i}") for v, a in cut.entries.items() for i in range(width(rows, v))]
            degree = -cut.side + sum(a * int(rows.lower[v]) for v, a in cut.entries.items())
            wanted = normal([checker.literal(name) for _, name in terms], [a for a, _ in terms], degree)
            assert implies(checker.at(str(number)), wanted), (seed, cut)
            is_split = any(line.startswith("red") for line in lines)
            by_cases += is_split
            plain += not is_split
            nested += any(not isinstance(name, int) for name, _ in rounding.slacks)
    assert min(plain, by_cases, nested) > N_MODELS / 10, (plain, by_cases, nested)


def width(rows: Rows, v: int) -> int:
    return len(rows.relaxed.encoding.bits[v])
