"""Points as in the MiniZinc Challenge: what was computed by hand."""

from __future__ import annotations

import pytest

from lab.bench.anytime import points_table
from lab.bench.curves import Curve
from lab.bench.points import Outcome, outcome, points, solvers_of, vote

NOTHING = Outcome(1, None, False, 20.0)
REFUTED = Outcome(1, None, True, 3.0)


def row(kind: str = "minimize", a: str = "", a_s: str = "", a_proof: str = "", **others: str) -> dict[str, str]:
    return {"model": "m", "kind": kind, "a_8t_best": a, "a_best_s": a_s, "a_proof_s": a_proof, **others}


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [
        (NOTHING, NOTHING, 0),
        (Outcome(1, 9, False, 5), NOTHING, 1),
        (Outcome(1, 9, False, 5), Outcome(1, 8, False, 15), 0),
        (Outcome(-1, 9, False, 5), Outcome(-1, 8, False, 1), 1),
        (Outcome(1, 9, False, 5), Outcome(1, 9, False, 15), 0.75),
        (Outcome(1, 9, True, 19), Outcome(1, 9, False, 1), 1),
        (Outcome(1, 9, True, 4), Outcome(1, 9, True, 1), 0.2),
        (Outcome(1, 9, True, 0), Outcome(1, 9, True, 0), 0.5),
        (REFUTED, NOTHING, 1),
        (REFUTED, REFUTED._replace(seconds=1.0), 0.25),
        (Outcome(0, 0, True, 2), Outcome(0, 0, True, 6), 0.75),
    ],
)
def test_the_better_answer_takes_the_point_and_equal_ones_share_it_by_time(one, other, share):
    assert vote(one, other) == pytest.approx(share)
    both = 0 if one == other == NOTHING else 1
    assert vote(one, other) + vote(other, one) == pytest.approx(both)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (("minimize", "12", "1.5", ""), Outcome(1, 12, False, 1.5)),
        (("maximize", "-3", "1.5", "2"), Outcome(-1, -3, True, 2.0)),
        (("satisfy", "SAT", "0.2", ""), Outcome(0, 0, True, 0.2)),
        (("satisfy", "SAT", "", "0.3"), Outcome(0, 0, True, 0.3)),
        (("satisfy", "", "", "0.5"), Outcome(0, None, True, 0.5)),
        (("minimize", "UNSAT", "", "0.5"), Outcome(1, None, True, 0.5)),
    ],
)
def test_a_line_of_the_table_is_read(cells, expected):
    assert outcome(row(*cells), "a") == expected
    assert solvers_of([row(*cells, b_proof_s="")]) == ["a", "b"]


def test_a_solver_without_an_answer_has_none():
    said = outcome(row(), "a")
    assert not said.closed and said.objective is None


def test_three_solvers_vote_on_each_model_in_pairs():
    first = {"a": Outcome(1, 5, True, 1.0), "b": Outcome(1, 5, True, 3.0), "c": Outcome(1, 6, False, 1.0)}
    second = {"a": NOTHING, "b": NOTHING, "c": Outcome(1, 6, False, 1.0)}
    assert points([first, second]) == pytest.approx({"a": 1.75, "b": 1.25, "c": 2.0})


def test_our_points_are_a_mean_over_the_seeds():
    curves = [
        Curve("m", 1, 1, 20.0, "ALL_SOLUTIONS", 4.0, improvements=[(1.0, 12, "tree")]),
        Curve("m", 2, 1, 20.0, "SATISFIED", 20.0, improvements=[(1.0, 13, "tree")]),
        Curve("unknown", 1, 1, 20.0),
    ]
    peers = {"m": row("minimize", "12", "5", "12")}
    assert points_table(curves, peers) == ["points of 1 models: ours 0.4, a 0.6", "in pairs: 0.4 : 0.6 a"]
    assert points_table(curves, {"m": {"model": "m", "best_known": "12"}}) == []
