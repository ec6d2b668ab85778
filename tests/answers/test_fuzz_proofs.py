"""The fuzzer's kind `proofs`: a short run, which faults of a proof it sees, and that models and ways of all sorts are
drawn.

The kernels that log are a build of their own, so what runs them is slow.
"""

from __future__ import annotations

from collections import Counter
from io import StringIO
from random import Random

import pytest

from fuzz.judge import Expected, Way
from fuzz.proofs import Proved, draw_proof_way, judge_proof, solve_with_proof, try_proof
from turbo_fzn import Result
from turbo_fzn.proof import proof, writer
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.driver import Run
from turbo_fzn.run.proving import Proving

SEED = 66
WAY = Way(learn="auto", n_solutions=1, by_text=True)
REFUTED = "var 1..2: x; var 1..2: y; constraint int_lin_le([1,1],[x,y],1); solve satisfy;\n"
LEAST = (
    "var 1..9: x :: output_var; var 1..9: y :: output_var; constraint int_times(x,y,12);"
    "constraint int_ne(x,3); constraint int_lin_le([-1,-1],[x,y],-8); solve minimize x;"
)


def judged(text: str) -> tuple[str, str]:
    """The kind of the verdict and the fault."""
    verdict = judge_proof(solve_with_proof(text, WAY), WAY, Expected(parse_text(text)))
    return verdict.kind, verdict.fault


@pytest.mark.slow
def test_proofs_of_random_models_prove_what_enumeration_says():
    verdicts = [try_proof(Random(f"proofs/{SEED}/{number}")) for number in range(120)]
    assert [(verdict.fault, text) for verdict, text in verdicts if verdict.is_fault] == []
    kinds = Counter(verdict.kind for verdict, _ in verdicts)
    assert kinds["right"] > 60 and kinds["unproved"] > 0, kinds


@pytest.mark.slow
def test_a_proof_that_is_not_written_or_proves_something_else_is_seen(monkeypatch):
    assert judged(LEAST) == ("right", "")
    with monkeypatch.context() as patch:  # nothing is done behind the last event
        patch.setattr(Run, "conclude", lambda self: None)
        kind, fault = judged(LEAST)
        assert kind == "wrong" and fault.startswith("a.opb, a.pbp: ")
    with monkeypatch.context() as patch:
        patch.setattr(proof, "write_proof", lambda encoding, words, file, *more: file.write("") or "NONE")
        assert judged(LEAST)[0] == "wrong"
    monkeypatch.setattr(proof, "write_model", write_model_beside)
    kind, fault = judged(LEAST)
    assert kind == "wrong" and "proves OPTIMAL_SOLUTION, objective" in fault


def write_model_beside(encoding, file) -> None:
    """The model with an objective that is 1 more."""
    start = int(encoding.lower[encoding.tnf.objective])
    text = StringIO()
    writer.write_model(encoding, text)
    file.write(text.getvalue().replace(f"objective = {start}", f"objective = {start + 1}"))


def test_a_run_without_a_proof_is_right_where_it_says_why(monkeypatch):
    assert judged(REFUTED) == ("unproved", "")
    monkeypatch.setattr(Proving, "give_up", lambda self, why="": self.discard())
    assert judged(REFUTED) == ("wrong", "neither a proof nor the reason why there is none")


@pytest.mark.parametrize(
    ("goal", "words", "fault"),
    [
        ("satisfy", "SATISFIED", ""),
        ("satisfy", "UNSATISFIABLE", "proves UNSATISFIABLE, not SATISFIED"),
        ("satisfy", "UNKNOWN", "proves UNKNOWN, not SATISFIED"),
        ("maximize x", "OPTIMAL_SOLUTION, objective 3", ""),
        ("maximize x", "OPTIMAL_SOLUTION, objective 2", "proves OPTIMAL_SOLUTION, objective 2, not"),
        ("maximize x", "SATISFIED", "proves SATISFIED, not OPTIMAL_SOLUTION, objective 3"),
    ],
)
def test_what_is_proved_is_compared_with_enumeration(goal, words, fault):
    expected = Expected(parse_text(f"var 1..3: x :: output_var; solve {goal};"))
    status, objective = ("SATISFIED", None) if goal == "satisfy" else ("OPTIMAL_SOLUTION", 3)
    result = Result(status, [{"x": 3}], objective, {})
    found = judge_proof(Proved(result, ["a.opb", "a.pbp"], [], words), WAY, expected).fault
    assert fault in found and bool(fault) == bool(found)


def test_the_answer_beside_a_proof_is_judged_too():
    expected = Expected(parse_text("var 1..3: x :: output_var; solve maximize x;"))
    proved = Proved(Result("OPTIMAL_SOLUTION", [{"x": 2}], 2, {}), [], [], "OPTIMAL_SOLUTION, objective 3")
    assert "objective 2 where 3 is the optimum" in judge_proof(proved, WAY, expected).fault


def test_every_way_that_a_proof_can_be_written_in_is_drawn():
    ways = [draw_proof_way(Random(f"proof/{number}")) for number in range(300)]
    assert {way.blocks for way in ways} == {1, 2, 3, 4} and {way.ranks for way in ways} == {
        way.n_solutions for way in ways
    }
    assert {way.simplify for way in ways} == {way.free_search for way in ways} == {way.check for way in ways}
    assert {way.learn.split(",")[0] for way in ways} >= {"auto", "prover", "finder", "follower", "soloist", "cores"}
    assert any(way.thresholds for way in ways) and not any(way.team or way.n_optimal is not None for way in ways)
