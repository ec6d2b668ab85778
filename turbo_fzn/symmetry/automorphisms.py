"""Automorphisms of a coloured graph that swap two variables: found by refinement, and checked exactly.

First all vertices are coloured by their neighbourhoods, until no colour splits (Weisfeiler and Leman 1968; McKay 1981):
only variables of one colour can be mapped to each other. To swap two of them, two copies of the graph are coloured
equally except for these two, which get new colours that are exchanged in the other copy. Refinement spreads the
difference to constraints around them and on, wherever the neighbourhoods in both copies differ. Variables with equal
colours in both copies are fixed, and the others are mapped to the variable with their colour in the other copy, in
order. If several variables share a colour that is a guess, so it is checked: a permutation is an automorphism if it
maps the arcs to the arcs. After a failed guess, another pair is distinguished. The work is limited to the places where
the copies differ, so a local swap in a large graph costs little.

Colours are hashes of 64 bits. An accidental collision may lose a symmetry, but never adds one: the check compares the
arcs themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from turbo_fzn.symmetry.graph import Graph
from turbo_fzn.symmetry.tuning import TUNING
from turbo_fzn.tnf.arrays import distinct

Column = np.ndarray


class Swap(NamedTuple):
    """A permutation that is its own inverse: it maps `moved` to `images` (int64 each) and fixes all other variables."""

    moved: Column
    images: Column


class _Copies(NamedTuple):
    """Colours (uint64 [variables]) in both copies, and the variables that differ."""

    here: Column
    there: Column
    differing: Column


def mixed(x: Column) -> Column:
    """A hash of each number (uint64), as in splitmix64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _hashed(numbers: Column, salt: int) -> Column:
    return mixed(numbers.astype(np.uint64) + np.uint64(salt * 0x9E3779B97F4A7C15 % 2**64))


def starts(numbers: Column, n: int) -> Column:
    """The place in the sorted column where each of 0 … n begins."""
    return np.searchsorted(numbers, np.arange(n + 1))


def places(start: Column, chosen: Column) -> tuple[Column, Column]:
    """The places of the chosen segments, concatenated, and the start of each segment among them."""
    lengths = start[chosen + 1] - start[chosen]
    begins = np.cumsum(lengths) - lengths
    return np.repeat(start[chosen] - begins, lengths) + np.arange(lengths.sum()), begins


class Automorphisms:
    """The search for automorphisms of one graph. `work` counts visited arcs, and `round_work` for each round."""

    def __init__(self, graph: Graph):
        self.graph, self.work = graph, 0
        n = len(graph.colours)
        self.label, self.kind = _hashed(graph.label, 1), _hashed(graph.kinds, 2)
        self.by_variable = np.argsort(graph.variable, kind="stable")
        self.variable_start = starts(graph.variable[self.by_variable], n)
        self.constraint_start = starts(graph.constraint, len(graph.kinds))
        self.n_arcs = np.diff(self.constraint_start)
        self.special = _hashed(np.arange(2 * TUNING.guesses + 2), 3)
        self.orbit = np.arange(n)

    def swaps(self) -> Iterator[Swap]:
        """Automorphisms that are swaps; they need not generate all symmetries."""
        colours = self.refine(_hashed(self.graph.colours, 4))
        cells: dict[int, list[int]] = {}
        ordered = np.argsort(self.graph.rank, kind="stable")
        for variable in ordered[np.diff(self.variable_start)[ordered] > 0].tolist():
            cells.setdefault(int(colours[variable]), []).append(variable)
        for cell in cells.values():
            if len(cell) > 1:
                yield from self.within(colours, cell)

    def refine(self, colours: Column) -> Column:
        """Refines the colours of variables until no colour splits."""
        graph = self.graph
        present = np.flatnonzero(np.diff(self.variable_start))
        n_colours = 0
        for _ in range(TUNING.rounds):
            n_before, n_colours = n_colours, len(distinct(colours))
            if n_colours == n_before or not len(present):
                break
            kinds = self.kinds_around(colours, np.arange(len(graph.kinds)))
            back = mixed(kinds[graph.constraint] ^ self.label)[self.by_variable]
            colours = colours.copy()
            colours[present] = mixed(
                colours[present] * np.uint64(3) + np.add.reduceat(back, self.variable_start[present])
            )
        return colours

    def kinds_around(self, colours: Column, constraints: Column) -> Column:
        """Hashes of constraints by their kinds and the colours in them."""
        arcs, begins = places(self.constraint_start, constraints)
        self.work += len(arcs)
        around = mixed(colours[self.graph.variable[arcs]] ^ self.label[arcs])
        return mixed(self.kind[constraints] + np.add.reduceat(around, begins))

    def within(self, colours: Column, cell: list[int]) -> Iterator[Swap]:
        """Automorphisms that swap a variable with an earlier variable of the cell, unless they are in the same orbit
        already."""
        heads, n_failures, few = [cell[0]], 0, 0  # every variable before this one is in the orbit of a head
        for before, variable in pairwise(cell):
            if n_failures == TUNING.failures or self.is_spent():
                return
            if self.orbit[variable] not in self.orbit[heads]:
                found = self.least_swap(colours, variable, [before, heads[-1], heads[0]], few)
                n_failures = n_failures + 1 if found is None else 0
                heads.append(variable)
                if found is not None:
                    few = len(found.moved)
                    self.join(found)
                    yield found

    def is_spent(self) -> bool:
        return self.work > TUNING.work

    def join(self, swap: Swap) -> None:
        """Joins the orbits of variables that the swap maps to each other; an orbit is named by its least member."""
        one, other = self.orbit[swap.moved], self.orbit[swap.images]
        while np.any(one != other):
            low, high = np.minimum(one, other), np.maximum(one, other)
            least = np.arange(len(self.orbit))
            np.minimum.at(least, high, low)
            self.orbit = least[self.orbit]
            one, other = self.orbit[swap.moved], self.orbit[swap.images]

    def least_swap(self, colours: Column, variable: int, others: list[int], few: int) -> Swap | None:
        """The automorphism that swaps the variable with one of the others and moves the fewest variables, or the first
        that moves at most `few`: swaps of similar variables are similar."""
        least = None
        for other in dict.fromkeys(others):
            found = self.swap(colours, other, variable)
            if found is not None and (least is None or len(found.moved) < len(least.moved)):
                least = found
            if least is not None and len(least.moved) <= few:
                break
        return least

    def swap(self, colours: Column, first: int, second: int) -> Swap | None:
        """An automorphism that swaps the two variables, or None."""
        pairs = [(first, second)]
        for _ in range(TUNING.guesses):
            copies = self.compare(colours, pairs)
            swap = self.match(copies)
            if swap is None or self.is_automorphism(swap):
                return swap
            pair = self.next_pair(copies, swap)
            if pair is None or self.is_spent():
                return None
            pairs.append(pair)
        return None

    def compare(self, colours: Column, pairs: list[tuple[int, int]]) -> _Copies:
        """The copies with pairs of variables swapped in one of them, refined where they differ."""
        own_here, own_there = colours.copy(), colours.copy()
        for number, (first, second) in enumerate(pairs):
            one, other = self.special[2 * number], self.special[2 * number + 1]
            own_here[first], own_here[second] = one, other
            own_there[first], own_there[second] = other, one
        special = distinct(np.array(pairs).reshape(-1))
        copies, size = _Copies(own_here, own_there, special), (0, 0)
        for _ in range(TUNING.rounds):
            copies = self.spread(own_here, own_there, copies, special)
            before, size = size, (len(copies.differing), len(distinct(copies.here[copies.differing])))
            if size == before or self.is_spent():
                break
        return copies

    def spread(self, own_here: Column, own_there: Column, copies: _Copies, special: Column) -> _Copies:
        """One round: from variables that differ to constraints that do, and back."""
        graph = self.graph
        self.work += TUNING.round_work
        arcs = self.by_variable[places(self.variable_start, copies.differing)[0]]
        constraints = distinct(graph.constraint[arcs])
        here, there = own_here.copy(), own_there.copy()
        if not len(constraints):
            return _Copies(here, there, special)
        kinds = [self.kinds_around(side, constraints) for side in copies[:2]]
        differ = kinds[0] != kinds[1]
        arcs, _ = places(self.constraint_start, constraints[differ])
        lengths = self.n_arcs[constraints[differ]]
        variables, place = np.unique(graph.variable[arcs], return_inverse=True)
        for side, own, kind in ((here, own_here, kinds[0]), (there, own_there, kinds[1])):
            sums = np.zeros(len(variables), np.uint64)
            np.add.at(sums, place, mixed(np.repeat(kind[differ], lengths) ^ self.label[arcs]))
            side[variables] = mixed(own[variables] * np.uint64(3) + sums)
        return _Copies(here, there, distinct(np.append(variables[here[variables] != there[variables]], special)))

    def match(self, copies: _Copies) -> Swap | None:
        """The swap that maps each variable to its colour in the other copy; None if the colours do not match."""
        here, there, differing = copies
        ordered = differing[np.argsort(self.graph.rank[differing], kind="stable")]
        sources = ordered[np.argsort(here[ordered], kind="stable")]
        targets = ordered[np.argsort(there[ordered], kind="stable")]
        return Swap(sources, targets) if np.array_equal(here[sources], there[targets]) else None

    def next_pair(self, copies: _Copies, swap: Swap) -> tuple[int, int] | None:
        """The first variable that shares its colour with others, and its image, or None."""
        colour, inverse, sizes = np.unique(copies.here[swap.moved], return_inverse=True, return_counts=True)
        shared = np.flatnonzero(sizes[inverse] > 1)
        if not len(shared):
            return None
        place = shared[np.argmin(self.graph.rank[swap.moved[shared]])]
        return int(swap.moved[place]), int(swap.images[place])

    def is_automorphism(self, swap: Swap) -> bool:
        """Whether the permutation is its own inverse, keeps the colours, and maps the arcs to the arcs."""
        graph = self.graph
        image = np.arange(len(graph.colours))
        image[swap.moved] = swap.images
        if np.any(image[swap.images] != swap.moved) or np.any(graph.colours[swap.moved] != graph.colours[swap.images]):
            return False
        touched = distinct(graph.constraint[self.by_variable[places(self.variable_start, swap.moved)[0]]])
        arcs, _ = places(self.constraint_start, touched)
        self.work += len(arcs)
        before, after = (
            self.canonical(arcs, variable[graph.variable[arcs]]) for variable in (np.arange(len(image)), image)
        )
        return np.array_equal(before, after)

    def canonical(self, arcs: Column, variable: Column) -> Column:
        """The renumbered constraints with their kinds, labels and variables (int64 [4, arcs]), in an order that does
        not depend on their original numbers, except for hash collisions."""
        graph = self.graph
        constraint, label = graph.constraint[arcs], graph.label[arcs]
        start = np.flatnonzero(np.diff(constraint, prepend=-1))
        sums = np.add.reduceat(mixed(_hashed(variable, 5) ^ self.label[arcs]), start)
        sums = np.repeat(sums, np.diff(np.append(start, len(arcs))))
        kind = graph.kinds[constraint]
        order = np.lexsort((variable, label, constraint, sums, kind))
        number = np.cumsum(np.diff(constraint[order], prepend=-1) != 0)
        return np.stack((number, kind[order], label[order], variable[order]))
