"""Symmetry breaking that a proof can state: the keys of interchangeable blocks of variables are in order.

The key of a block is a sum of its first variables, in which each outweighs those behind it. For blocks B0, B1, ... the
proof adds key(B0) <= key(Bb) for each b, then key(B1) <= key(Bb), and so on. Each is a step of redundance, whose
witness swaps the two blocks: it maps the formula to itself, and where key(Ba) > key(Bb), an order from before holds
after the swap, too: key(Ba) <= key(Bc) becomes key(Bb) <= key(Bc), the sum of the two. So neither dominance nor an
order on solutions is needed (rules: Bogaerts, Gocht, McCreesh, Nordström, JAIR 2023).

A tree of rows gives each term of a sum a place, so it has no such symmetry; meanwhile the formula is without trees
(unlinked.py). The learners that log get the orders of neighbours as linear rows. All this is written before the search,
and begins its proof.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Hashable, Iterable, Iterator
from itertools import accumulate, islice, pairwise
from math import inf, isqrt
from operator import mul
from typing import NamedTuple, TypeVar

from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.proof.checker import Checker, Refused
from turbo_fzn.proof.encoding import Encoding, Inequality
from turbo_fzn.proof.hints import NotJustified
from turbo_fzn.proof.steps import Steps
from turbo_fzn.proof.tuning import TUNING
from turbo_fzn.proof.unlinked import Unlinked
from turbo_fzn.symmetry.automorphisms import Automorphisms
from turbo_fzn.symmetry.families import Block, families
from turbo_fzn.symmetry.rows import graph_of_rows
from turbo_fzn.symmetry.tuning import TUNING as SYMMETRY
from turbo_fzn.tnf.fuse import Fused, fuse_whole

log = logging.getLogger("turbo_fzn")

Terms = list[tuple[int, int]]  # pairs (variable, coefficient)
Form = frozenset[tuple[int, int]]  # the same, in any order
Family = list[Block]
T = TypeVar("T")


class _Swap(NamedTuple):
    """A swap of two blocks, as the image of each variable, and the sum that is at least 0 where they are in order."""

    image: dict[int, int]
    terms: Terms


class Leaders:
    """The orders of a proof's model. `sums` are at least 0, each by the constraint of `stated`; `text` are the steps
    that begin the proof, after which there are `count` constraints, some of them under new `numbers`."""

    def __init__(self, encoding: Encoding, interrupt: Interrupt | None = None):
        """Looks for symmetries of an encoding whose text is not written yet. Finds none where that takes too much of
        the time until the interrupt's deadline."""
        start = time.monotonic()
        self.sums: list[Terms] = []
        self.stated: list[int] = []
        self.text, self.count, self.numbers = "", encoding.count, dict[int, int]()
        fused = fuse_whole(encoding.tnf)
        graph = graph_of_rows(encoding.tnf, fused) if encoding.count <= TUNING.looked_through else None
        clock, n_swaps = _Clock(Interrupt() if interrupt is None else interrupt), 0
        try:
            found = [] if graph is None else Automorphisms(graph).swaps()
            swaps = list(clock.in_time(islice(found, SYMMETRY.most_symmetries)))
            n_swaps = len(swaps)
            if graph is not None and n_swaps >= SYMMETRY.least_symmetries:
                orders = _Orders(encoding, fused, clock)
                if orders.write(families(swaps, graph.rank)):
                    self.sums, self.stated, self.text = orders.sums, orders.stated, "".join(orders.text)
                    self.count, self.numbers = orders.steps.count, orders.unlinked.numbers
        except (NotJustified, Refused) as gap:
            log.info("symmetry: the proof cannot use it: %s", gap)
        seconds = time.monotonic() - start
        log.info("symmetry: %.2f s, %d generators, %d orders in the proof", seconds, n_swaps, len(self.sums))


class _Clock:
    """The time that symmetries may take: a share of what is left to the run, so that there is a search."""

    def __init__(self, interrupt: Interrupt):
        now, end = time.monotonic(), interrupt.end
        self.interrupt = interrupt
        self.until = inf if end is None else now + TUNING.symmetry_share * (end - now)

    def check(self) -> None:
        """Raises NotJustified when the time is over, or a stop was requested."""
        if self.interrupt or time.monotonic() > self.until:
            raise NotJustified("there is too little time")

    def in_time(self, items: Iterable[T]) -> Iterator[T]:
        """Yields the items. Raises NotJustified as `check` does."""
        for item in items:
            self.check()
            yield item


class _Orders:
    """The steps for some families. The formula without links is checked, and that swaps of neighbours are symmetries of
    it: all other swaps of a family are products of these."""

    def __init__(self, encoding: Encoding, fused: Fused, clock: _Clock):
        self.encoding, self.checker, self.clock = encoding, Checker(), clock
        objective = encoding.objective()
        self.checker.read_formula([f"min: {objective};"] if objective else [])
        encoding.text.seek(0)
        self.checker.read_formula(line.decode("ascii") for line in clock.in_time(encoding.text))
        self.text: list[str] = []
        self.steps = Steps(encoding, self._take)
        self.unlinked = Unlinked(self.steps, fused)
        self.sums: list[Terms] = []
        self.stated: list[int] = []
        self.forms: set[Form] = set()  # of all orders so far

    def _check(self, text: str) -> None:
        """Checks lines. Raises Refused."""
        for line in text.splitlines():
            self.checker.rule(line.split())

    def _take(self, text: str) -> None:
        """Checks and takes lines. Raises Refused."""
        self._check(text)
        self._append(text)

    def _append(self, text: str) -> None:
        self.clock.check()
        self.text.append(text)

    def write(self, found: list[Family]) -> bool:
        """Writes all steps. Returns whether a family could be ordered."""
        self.unlinked.remove_links()
        self.images = _Images(self.encoding, self.unlinked)
        self.steps.write = self._append
        for family in found:
            try:
                self._order(family)
            except Refused as refusal:
                log.debug("symmetry: %d blocks of %d variables: %s", len(family), len(family[0]), refusal)
        self.unlinked.restore_links()
        return bool(self.sums)

    def _order(self, family: Family) -> None:
        """Orders the keys of a family. Raises Refused, before it writes anything."""
        key = self._key(family[0])
        near = [self._swap(first, second, key) for first, second in pairwise(family)]
        touched = self._look(near[0])
        family = family[: 1 + isqrt(2 * TUNING.swapped // touched)]  # of many blocks the first ones
        near = near[: len(family) - 1]
        for swap in self.clock.in_time(near[1:]):
            self._look(swap)
        for swap in near:  # so all other swaps keep them, too
            if any(self._image(form, swap.image) not in self.forms for form in self.forms):
                raise Refused("an order of another family would not hold any more")
        stated = list[int]()
        for first, block in enumerate(family[:-1]):
            own = list[int]()  # its orders with the blocks behind it
            for other in family[first + 1 :]:
                swap = self._swap(block, other, key)
                own.append(self._state(self.steps, swap, own))
                self.forms.add(frozenset(swap.terms))
            stated.append(own[0])
        self.sums += [swap.terms for swap in near]
        self.stated += stated

    def _swap(self, first: Block, second: Block, key: list[tuple[int, int]]) -> _Swap:
        image = dict([*zip(first, second), *zip(second, first)])
        sides = (first, -1), (second, 1)
        return _Swap(image, [(block[place], sign * weight) for place, weight in key for block, sign in sides])

    def _look(self, swap: _Swap) -> int:
        """Checks that the swap is a symmetry. Returns the number of constraints that it touches. Raises Refused."""
        checker = self.checker
        trial = Steps(self.encoding, self._check)
        trial.count = checker.count
        self._state(trial, swap, [])
        checker.rule(["del", "id", str(checker.count)])
        bits = [bit for v in swap.image for bit in self.encoding.bits[v]]
        names = [checker.literal(self.encoding.name_of(bit)) >> 1 for bit in bits]
        return len({number for name in names for number in checker.occurrences[name]})

    def _state(self, steps: Steps, swap: _Swap, own: list[int]) -> int:
        """Writes the step that the swap's sum is at least 0. Returns its constraint. `own` are the orders of the first
        block so far, which the swap makes new ones, so each needs a proof."""
        degree = -sum(a * self.encoding.lower[v] for v, a in swap.terms)
        words = "".join(self.encoding.sum_of(v, a) for v, a in swap.terms)
        against = steps.count + 1
        proofs = [("#1", [against]), *((number, [against, number]) for number in own)]
        return steps.redundant(f"{words}>= {degree}", " ".join(self.images.witness(swap.image)), proofs)

    def _image(self, form: Form, image: dict[int, int]) -> Form:
        return frozenset((image.get(v, v), a) for v, a in form)

    def _key(self, block: Block) -> list[tuple[int, int]]:
        """The places that are compared, with their weights, the least weight first. Raises Refused if there is none."""
        lower, upper = self.encoding.lower, self.encoding.upper
        product, sizes = 1, list[int]()
        for v in block:
            product *= upper[v] - lower[v] + 1
            if max(product, -lower[v], upper[v]) > TUNING.key:
                break
            sizes.append(upper[v] - lower[v] + 1)
        if not sizes:
            raise Refused("the first variable has too many values")
        weights = accumulate(sizes[:0:-1], mul, initial=1)
        return list(zip(range(len(sizes) - 1, -1, -1), weights))


class _Images:
    """What a swap of variables maps the 0-1 variables of a formula to."""

    def __init__(self, encoding: Encoding, unlinked: Unlinked):
        self.encoding = encoding
        self.offsets: dict[int, list[int]] = {}  # of each variable: those of its order literals
        for variable, offset in encoding.orders:
            self.offsets.setdefault(variable, []).append(offset)
        self.chosen: dict[int, list[Inequality]] = {}  # variable -> the inequalities of cases that name it
        self.literals: dict[Hashable, int] = {}  # the literal of such a case, by what it says
        for row in dict.fromkeys(row for _, row in encoding.selectors):
            for one in unlinked.inequalities(row):
                if one.chosen:
                    one = unlinked.whole_of.get(one.number, one)
                    self.literals[_said(one.terms, one.least)] = one.chosen[0]
                    for v, _ in one.terms:
                        self.chosen.setdefault(v, []).append(one)

    def witness(self, image: dict[int, int]) -> Iterator[str]:
        """The words of the swap. Raises Refused where the formula has no literal for an image."""
        encoding, cases = self.encoding, dict[int, int]()
        for v, other in image.items():
            for bit, target in zip(encoding.bits[v], encoding.bits[other]):
                yield f"{encoding.name_of(bit)} -> {encoding.name_of(target)}"
            for offset in self.offsets.get(v, ()):
                if (other, offset) not in encoding.orders:
                    raise Refused("an order literal has no image")
                literals = encoding.orders[v, offset], encoding.orders[other, offset]
                yield " -> ".join(map(encoding.name_of, literals))
            for one in self.chosen.get(v, ()):
                case = self.literals.get(_said([(image.get(u, u), a) for u, a in one.terms], one.least))
                if case is None:
                    raise Refused("a case has no image")
                cases[one.chosen[0] >> 1] = case ^ (one.chosen[0] & 1)
        for case, target in cases.items():
            if target != 2 * case:
                yield f"{encoding.name_of(case)} -> {encoding.spell(target)}"


def _said(terms: Iterable[tuple[int, int]], least: int) -> Hashable:
    return frozenset(terms), least
