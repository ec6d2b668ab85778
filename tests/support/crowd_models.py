"""Random models of tasks that share resources, for proofs: FlatZinc, its ternary normal form, and the best value by
trying all starts."""

from __future__ import annotations

from collections.abc import Iterator
from operator import mul
from random import Random
from typing import NamedTuple

from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.prepare import prepare
from turbo_fzn.tnf.language import TNF

PREDICATE = """predicate turbo_cumulative(array [int] of var int: s, array [int] of var int: d,
 array [int] of var int: r, var int: c);
"""


class Tasks(NamedTuple):
    """The domain of each start, the lengths, the uses of each resource and the capacities of these, pairs of tasks of
    which the first ends before the second starts, and whether a late end is wanted. The first capacity may be a
    variable that can be less, which is added to the end."""

    starts: list[tuple[int, int]]
    lengths: list[int]
    uses: list[list[int]]
    capacities: list[int]
    least: int
    pairs: list[tuple[int, int]]
    is_late: bool

    def text(self) -> str:
        """FlatZinc that minimises (or maximises, up to the end of all) the last end."""
        ends = [high + length for (_, high), length in zip(self.starts, self.lengths)]
        names = [f"s{i}" for i in range(len(self.starts))]
        lines = [f"var {low}..{high}: {name} :: output_var;" for name, (low, high) in zip(names, self.starts)]
        lines += [f"var {self.least}..{self.capacities[0]}: c :: output_var;"]
        lines += [f"var -9..{max(ends) + self.capacities[0]}: m :: output_var;"]
        for number, (own, most) in enumerate(zip(self.uses, self.capacities)):
            capacity = most if number else "c"
            lines.append(f"constraint turbo_cumulative([{','.join(names)}],{self.lengths},{own},{capacity});")
        lines += [f"constraint int_lin_le([1,-1],[{names[i]},{names[j]}],{-self.lengths[i]});" for i, j in self.pairs]
        sign = -1 if self.is_late else 1
        for name, length in zip(names, self.lengths):
            lines.append(f"constraint int_lin_le([{sign},1,{-sign}],[{name},c,m],{-sign * length});")
        return PREDICATE + "\n".join(lines) + f"\nsolve {'maximize' if self.is_late else 'minimize'} m;\n"

    def tnf(self) -> TNF | None:
        """At its root fixpoint; None where that fails."""
        return self.prepared()[0]

    def prepared(self) -> tuple[TNF | None, dict[str, int]]:
        """The model at its root fixpoint, and the variables of those names that it still has."""
        prepared = prepare(parse_text(self.text()), Options(arch="cpu"), Interrupt())
        back, numbers = prepared.reconstruction, dict(prepared.origin)
        if back is not None:
            numbers = {name: int(back.position[back.representative[v]]) for name, v in numbers.items()}
        return None if prepared.tnf.infeasible else prepared.tnf, {name: v for name, v in numbers.items() if v >= 0}

    def best(self) -> int | None:
        """The best value of m, by trying all starts; None without a solution."""
        values = []
        for capacity, starts in self.solutions():
            ends = [start + length for start, length in zip(starts, self.lengths)]
            values.append(min(ends) - capacity if self.is_late else max(ends) + capacity)
        return None if not values else max(values) if self.is_late else min(values)

    def solutions(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """The first capacity, and the starts."""
        for capacity in range(self.least, self.capacities[0] + 1):
            for starts in self._starts(capacity, ()):
                yield capacity, starts

    def _starts(self, capacity: int, starts: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """All that begin with these."""
        if not self._fit(capacity, starts):
            return
        if len(starts) == len(self.starts):
            yield starts
            return
        low, high = self.starts[len(starts)]
        for start in range(low, high + 1):
            yield from self._starts(capacity, (*starts, start))

    def _fit(self, capacity: int, starts: tuple[int, ...]) -> bool:
        """Whether the first tasks can start so."""
        if any(j < len(starts) and starts[i] + self.lengths[i] > starts[j] for i, j in self.pairs):
            return False
        limits = (capacity, *self.capacities[1:])
        return all(self._uses(own, time, starts) <= limit for own, limit in zip(self.uses, limits) for time in starts)

    def _uses(self, own: list[int], time: int, starts: tuple[int, ...]) -> int:
        """What the first tasks use at the time; use rises only where one starts."""
        return sum(use for use, start, length in zip(own, starts, self.lengths) if start <= time < start + length)


def draw_tasks(random: Random) -> Tasks:
    """Four to six tasks that nearly fill the time that they have, of one or two resources, of which three or more at a
    time are too much for the most part. Some may start at few times only."""
    n = random.choice((4, 5, 6))
    lengths = [random.choice((1, 2, 2, 3, 3, 4)) for _ in range(n)]
    uses = [[random.choice((1, 1, 1, 2, 2, 3, 0)) for _ in range(n)] for _ in range(random.choice((1, 1, 2)))]
    capacities = [max(max(own), random.choice((2, 3, 3, 4))) for own in uses]
    energies = [-(-sum(map(mul, own, lengths)) // most) for own, most in zip(uses, capacities)]
    last = max(*energies, *lengths) + random.choice((0, 1, 1, 2))
    starts = []
    for length in lengths:
        low = random.choice((0, 0, 0, 0, 1, -1))
        high = max(last - length, low)
        starts.append((low, high) if random.random() < 0.8 else (low, random.randint(low, high)))
    least = max(capacities[0] - random.choice((0, 0, 0, 1)), *uses[0])
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n) if random.random() < 0.05]
    return Tasks(starts, lengths, uses, capacities, least, pairs, random.random() < 0.2)
