"""Literals of which at most one is true, and variables that all differ, as sets that pairs of them make."""

from __future__ import annotations

import itertools
import subprocess
import sys
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz.bounds import judge_bounds
from support.command import PATIENCE
from turbo_fzn.base.domains import INFINITY
from turbo_fzn.bounds.lp.relaxation import LinearRows
from turbo_fzn.bounds.rows.cliques import Conflicts, groups, inequality
from turbo_fzn.bounds.rows.tuning import TUNING
from turbo_fzn.read.flatzinc import parse_text


def test_literals_in_conflict_by_pairs_make_one_clique() -> None:
    conflicts = Conflicts()
    rows = LinearRows.of([({0: 1, 1: 1}, -INFINITY, 1), ({1: 1, 2: -1}, -INFINITY, 0), ({0: -1, 2: 1}, 0, INFINITY)])
    conflicts.add_rows(rows, np.zeros(3, np.int64), np.ones(3, np.int64))
    (entries, side, excess) = next(conflicts.cuts(np.array([0.5, 0.5, 0.5])))
    assert (entries, side) == ({0: 1, 1: 1, 2: -1}, 0) and excess == pytest.approx(0.5)
    assert list(conflicts.cuts(np.array([1.0, 0.0, 1.0]))) == []


def test_pairs_that_exclude_each_other_join_the_cliques_of_rows() -> None:
    """Literals 0, 1 and not 2: two of the pairs are told, a row has the third."""
    conflicts = Conflicts()
    rows = LinearRows.of([({0: 1, 1: 1}, -INFINITY, 1)])
    conflicts.add_rows(rows, np.zeros(3, np.int64), np.ones(3, np.int64))
    conflicts.exclude(np.array([[0, 5], [5, 2]]))
    found = [(entries, side) for entries, side, _ in conflicts.cuts(np.array([0.5, 0.5, 0.5]))]
    assert found == [({0: 1, 1: 1, 2: -1}, 0)]


def test_what_differs_in_pairs_is_covered_by_sets_that_all_differ() -> None:
    pairs = {(0, 1), (0, 2), (1, 2), (2, 3)}
    assert sorted(groups(pairs)) == [[0, 1, 2], [2, 3]]


@pytest.mark.parametrize("most", [0, 40, TUNING.clique_work])
def test_every_pair_that_differs_is_in_a_set_however_much_work_is_allowed(monkeypatch, most) -> None:
    monkeypatch.setattr("turbo_fzn.bounds.rows.tuning.TUNING.clique_work", most)
    rng = Random(most)
    for _ in range(20):
        pairs = {tuple(sorted(rng.sample(range(9), 2))) for _ in range(rng.randint(1, 30))}
        found = groups([*pairs, (3, 3)])
        inside = {pair for group in found for pair in itertools.combinations(group, 2)}
        assert inside == pairs
        assert most > 0 or len(found) == len(pairs)


def test_a_variable_that_differs_from_itself_ends_the_search_for_sets() -> None:
    """In a process of its own: it went on for ever."""
    script = "from turbo_fzn.bounds.rows.cliques import groups; print(groups([(1, 1), (1, 2), (1, 3), (2, 3)]))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE)
    assert run.stdout == "[[1, 2, 3]]\n", run.stderr


def test_the_search_for_sets_that_differ_stops_when_told() -> None:
    seen: list[int] = []

    def is_stopped() -> bool:
        seen.append(len(seen))
        return len(seen) > 2

    assert groups({(0, 1), (2, 3), (4, 5), (6, 7)}, is_stopped) == [[0, 1], [2, 3]]


BOTH_SIDES = """
var 0..5: x; var 0..5: y; var 0..9: z; var bool: b; var bool: c; var 0..1: n; var 0..1: m; var -200..2000: total;
var 0..1: u; var 0..1: v; var 0..1: t; var 0..9: e;
constraint int_eq_reif(x,2,b);
constraint int_eq_reif(z,5,c);
constraint int_ne_reif(y,1,b);
constraint int_lin_ne([1,-1],[x,y],1);
constraint int_lin_ne([1,-1],[x,z],-3);
constraint int_lin_ne([1,-1],[y,z],-4);
constraint bool2int(b,n);
constraint bool2int(c,m);
constraint int_lin_le([60,31,31,20],[n,u,v,t],80);
constraint int_lin_eq([101,53,53,10,3,-1],[n,u,v,t,m,total],0);
solve maximize total;
"""  # 111; of b, its complement and c at most one is 1


@pytest.mark.parametrize("number", [0, *(pytest.param(number, marks=pytest.mark.slow) for number in range(1, 8))])
def test_a_clique_with_a_literal_and_its_complement_says_that_the_others_are_0(number):
    """For any order of the variables, which further ones change."""
    dummies = "".join(f"var bool: d{i}; constraint int_eq_reif(e,{i},d{i});\n" for i in range(number))
    text = BOTH_SIDES.replace("constraint int_eq_reif(x", f"{dummies}constraint int_eq_reif(x", 1)
    text = text.replace("var 0..9: e", f"var 0..{number}: e")
    verdict, _, _ = judge_bounds(parse_text(text), Random(number))
    assert not verdict.is_fault, verdict.fault


@given(st.sets(st.integers(0, 9), min_size=2))
def test_the_inequality_of_a_clique_holds_where_at_most_one_is_1(clique):
    entries, side = inequality(clique)
    for point in itertools.product((0, 1), repeat=5):
        n_true = sum(point[literal >> 1] != literal & 1 for literal in clique)
        assert (sum(value * point[column] for column, value in entries.items()) <= side) == (n_true <= 1)
