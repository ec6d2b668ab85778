"""The graph of a search's rows, and the families of blocks that its symmetries generate."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations
from random import Random

import numpy as np
import pytest

from support.naive import solutions
from support.small_tnf import make_tnf
from turbo_fzn.symmetry.automorphisms import Automorphisms, Swap
from turbo_fzn.symmetry.families import Block, families
from turbo_fzn.symmetry.graph import Graph
from turbo_fzn.symmetry.rows import graph_of_rows
from turbo_fzn.symmetry.tuning import TUNING
from turbo_fzn.tnf.fuse import fuse_whole
from turbo_fzn.tnf.language import ADD, DIV, ELEMENT, EQ, LEQ, MAX, MIN, MOD, MUL, TNF

N_PERMUTED = 60
THREE = (0, 3)


def graph_of(tnf: TNF) -> Graph:
    found = graph_of_rows(tnf, fuse_whole(tnf))
    assert found is not None
    return found


def swap_of(*pairs: tuple[int, int]) -> Swap:
    one, other = np.array(pairs, np.int64).T
    return Swap(np.append(one, other), np.append(other, one))


def may_be_swapped(tnf: TNF, *pairs: tuple[int, int]) -> bool:
    return Automorphisms(graph_of(tnf)).is_automorphism(swap_of(*pairs))


def long_sum(factors: list[int], most: int) -> TNF:
    """Variables 0 to k - 1, whose sum with these factors is at most a number: a tree of ADD and MUL."""
    domains, rows, parts = [THREE] * len(factors), [], []

    def variable(low: int, high: int) -> int:
        domains.append((low, high))
        return len(domains) - 1

    for v, factor in enumerate(factors):
        constant = variable(factor, factor)
        rows.append((int(MUL), variable(*sorted((0, 3 * factor))), v, constant) if factor != 1 else None)
        parts.append(v if factor == 1 else len(domains) - 1)
    total = parts[0]
    for part in parts[1:]:
        ends = [one + other for one, other in zip(domains[total], domains[part])]
        rows.append((int(ADD), variable(*ends), total, part))
        total = len(domains) - 1
    rows.append((int(LEQ), variable(1, 1), total, variable(most, most)))
    domains[total] = domains[total][0], most
    return make_tnf(domains, list(filter(None, rows)))


# ---- the graph


def test_equal_terms_of_a_sum_may_be_swapped_wherever_they_are_in_its_tree():
    """Two terms with different factors may not."""
    tnf = long_sum([1, 2, 1, 2, 1], 9)
    found = {pair for pair in combinations(range(5), 2) if may_be_swapped(tnf, pair)}
    assert found == {(0, 2), (0, 4), (2, 4), (1, 3)}


def test_a_link_and_an_absorbed_row_have_no_vertex():
    tnf = long_sum([1, 1, 1, 1], 9)
    fused, found = fuse_whole(tnf), graph_of(tnf)
    assert fused.links.any() and not fused.links[found.variable].any()
    assert len(found.kinds) == fused.linears.n_rows + (~fused.absorbed).sum() == 1
    assert sorted(found.variable.tolist()) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("op", "swappable"),
    [(ADD, True), (MIN, True), (MAX, True), (EQ, True), (LEQ, False), (MUL, False), (DIV, False), (MOD, False)],
)
def test_the_operands_of_a_row_may_be_swapped_where_its_proof_treats_them_alike(op, swappable):
    """The encoding of a product has a case for each value of one operand."""
    ends = (0, 1) if op in (EQ, LEQ) else (0, 9)
    tnf = make_tnf([ends, (1, 3), (1, 3), (0, 2)], [(int(op), 0, 1, 2), (int(MUL), 3, 0, 0)])
    assert may_be_swapped(tnf, (1, 2)) == swappable
    assert not may_be_swapped(tnf, (0, 1))


def test_two_products_may_be_swapped_place_by_place():
    tnf = make_tnf([(0, 9), THREE, THREE, (0, 9), THREE, THREE], [(int(MUL), 0, 1, 2), (int(MUL), 3, 4, 5)])
    assert may_be_swapped(tnf, (0, 3), (1, 4), (2, 5)) and not may_be_swapped(tnf, (0, 3), (1, 5), (2, 4))


@pytest.mark.parametrize(("other", "alike"), [(4, True), (5, False)])
def test_a_constant_belongs_to_the_kind_of_its_row(other, alike):
    tnf = make_tnf(
        [THREE, THREE, (0, 9), (0, 9), (4, 4), (other, other)],
        [(int(MAX), 2, 0, 4), (int(MAX), 3, 1, 5)],
    )
    assert may_be_swapped(tnf, (0, 1), (2, 3)) == alike


@pytest.mark.parametrize(("last", "alike"), [(7, True), (6, False)])
def test_a_table_belongs_to_the_kind_of_its_row_as_far_as_the_index_goes(last, alike):
    """The values outside of the index's domain do not count, and the places of tables neither."""
    tables = [9, 5, 1, 7, 8, 5, 1, last, 0]
    rows = [(int(ELEMENT), 2, 0, 1), (int(ELEMENT), 3, 1, 5)]
    tnf = make_tnf([(0, 2), (0, 2), (0, 9), (0, 9)], rows, tables)
    assert may_be_swapped(tnf, (0, 1), (2, 3)) == alike


def test_variables_of_different_domains_and_the_objective_are_not_swapped():
    rows = [(int(MAX), 3, 0, 1), (int(MAX), 4, 1, 2), (int(MAX), 5, 0, 2)]
    domains = [THREE] * 6
    assert may_be_swapped(make_tnf(domains, rows), (0, 1), (4, 5))
    assert not may_be_swapped(make_tnf(domains, rows, objective=4), (0, 1), (4, 5))
    assert not may_be_swapped(make_tnf([(0, 2), *domains[1:]], rows), (0, 1), (4, 5))


def test_the_literals_of_a_clause_may_be_swapped_and_not_with_negated_ones():
    """x or y or not z: z and its negation differ."""
    rows = [(int(EQ), 3, 2, 6), (int(MAX), 4, 0, 1), (int(MAX), 5, 4, 3)]
    tnf = make_tnf([(0, 1)] * 5 + [(1, 1), (0, 0)], rows)
    assert may_be_swapped(tnf, (0, 1)) and not may_be_swapped(tnf, (0, 2))


def test_a_graph_beyond_the_limits_is_not_made(monkeypatch):
    tnf = long_sum([1, 1, 1, 1], 9)
    fused = fuse_whole(tnf)
    for limit, enough in (("constraints", tnf.n_rows), ("arcs", 4)):
        with monkeypatch.context() as patch:
            patch.setattr(TUNING, limit, enough)
            assert graph_of_rows(tnf, fused) is not None
            patch.setattr(TUNING, limit, enough - 1)
            assert graph_of_rows(tnf, fused) is None
    alone = make_tnf([THREE, (2, 2)], [])
    assert graph_of_rows(alone, fuse_whole(alone)) is None


def drawn_rows(random: Random) -> TNF:
    domains = [(0, 2)] * 4 + [(2, 2)]
    rows = []
    for _ in range(random.choice((2, 3, 4))):
        op = random.choice((ADD, MUL, MIN, MAX, EQ, LEQ))
        domains.append((0, 1) if op in (EQ, LEQ) else (0, 4))
        rows.append((int(op), len(domains) - 1, *random.choices(range(len(domains) - 1), k=2)))
    return make_tnf(domains, rows)


def test_what_passes_for_a_symmetry_of_the_rows_maps_solutions_to_solutions():
    found = 0
    for number in range(N_PERMUTED):
        tnf = drawn_rows(Random(f"rows/{number}"))
        graph = graph_of_rows(tnf, fuse_whole(tnf))
        if graph is None:
            continue
        kept = np.flatnonzero(~fuse_whole(tnf).links).tolist()
        points, automorphisms = list(solutions(tnf)), Automorphisms(graph)
        whole = {tuple(point[v] for v in kept) for point in points}
        for pairs in pairs_of(tnf, kept, Random(number)):
            if automorphisms.is_automorphism(swap_of(*pairs)):
                image = dict([*pairs, *(pair[::-1] for pair in pairs)])
                assert {tuple(point[image.get(v, v)] for v in kept) for point in points} == whole, number
                found += 1
    assert found > N_PERMUTED / 4, found


def pairs_of(tnf: TNF, kept: list[int], random: Random) -> Iterator[list[tuple[int, int]]]:
    """Swaps of one or two pairs of variables."""
    free = [v for v in kept if tnf.lower[v] < tnf.upper[v]]
    yield from ([pair] for pair in combinations(free, 2))
    several = list(permutations(free, 4))
    for a, b, c, d in random.sample(several, min(30, len(several))):
        yield [(a, b), (c, d)]


def test_what_the_search_names_comes_first_and_what_rows_define_last():
    tnf = make_tnf([THREE] * 4, [(int(MAX), 0, 1, 2), (int(MIN), 3, 1, 2)], strategy=[3, 2, 3])
    rank = graph_of(tnf).rank
    assert sorted(range(4), key=rank.__getitem__) == [3, 2, 1, 0]


# ---- families

RANK = np.arange(40)


def test_swaps_that_share_a_block_and_chains_of_swaps_make_one_family():
    for pairs in ((0, 1), (1, 2), (2, 3)), ((0, 1), (0, 2), (0, 3)), ((2, 3), (1, 2), (0, 3)):
        swaps = [swap_of((a, b), (a + 10, b + 10)) for a, b in pairs]
        assert families(swaps, RANK) == [[(0, 10), (1, 11), (2, 12), (3, 13)]]


def test_blocks_and_their_places_are_in_the_order_of_ranks():
    assert families([swap_of((1, 2), (11, 12)), swap_of((0, 1), (10, 11))], RANK[::-1]) == [[(12, 2), (11, 1), (10, 0)]]


def test_variables_that_a_swap_fixes_are_in_no_block():
    fixing = Swap(np.array([0, 1, 5]), np.array([1, 0, 5]))
    assert families([fixing], RANK) == [[(0,), (1,)]]


@pytest.mark.parametrize(
    "other",
    [
        [(0, 2)],  # a part of a block
        [(0, 2), (10, 12), (5, 6)],  # another variable, too
        [(0, 2), (11, 12)],  # parts of two blocks
        [(0, 11), (1, 10)],  # two blocks, crosswise
        [(0, 10), (2, 12)],  # a block with itself
        [(4, 5), (14, 15)],  # no block
    ],
)
def test_another_swap_begins_a_family(other: list[Block]):
    first = swap_of((0, 1), (10, 11))
    found = families([first, swap_of(*other)], RANK)
    assert len(found) == 2 and found[0] == [(0, 10), (1, 11)]
    assert {v for block in found[1] for v in block} == {v for pair in other for v in pair}


def test_a_swap_of_two_blocks_that_are_known_adds_none():
    swaps = [swap_of((0, 1)), swap_of((1, 2)), swap_of((0, 2))]
    assert families(swaps, RANK)[0] == [(0,), (1,), (2,)]
