"""Runs that cannot write a proof: they say why, leave no file of it, and answer as others do."""

from __future__ import annotations

import pytest

from support.command import golomb
from support.proofs import consistent_models, logged_engine, optimum
from turbo_fzn import solve_text
from turbo_fzn.base.errors import UsageError
from turbo_fzn.engine.abi.abi import NO_INCUMBENT
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.proof.checking import check_files
from turbo_fzn.proof.proof import Proof


@pytest.mark.slow
def test_a_proof_within_a_run_that_writes_one_is_refused_and_leaves_the_other_whole(tmp_path):
    refused = []

    def nest(*heard: object) -> None:
        with pytest.raises(UsageError, match="one at a time") as caught:
            solve_text(golomb(5), arch="cpu", proof=str(tmp_path / "b.pbp"))
        refused.append(caught.value)

    for name in ("a", "c"):  # the end of the first run makes room for the next
        result = solve_text(golomb(5), arch="cpu", proof=str(tmp_path / f"{name}.pbp"), on_solution=nest)
        verdict = check_files(str(tmp_path / f"{name}.opb"), str(tmp_path / f"{name}.pbp"))
        assert verdict.lower == verdict.upper is not None and result.objective == 11
    assert len(refused) >= 2 and not list(tmp_path.glob("b.*"))


@pytest.mark.slow
def test_where_the_learner_has_too_little_memory_others_end_the_search_without_a_proof(tmp_path, caplog):
    for number, tnf in [pair for pair in consistent_models(40) if pair[1].sense]:
        engine, proof = logged_engine(tnf, "prover", blocks=2, learn_bytes=16), Proof(tnf, str(tmp_path / "a.pbp"))
        engine.start()
        found = []
        while engine.running:
            found += engine.poll()
        found += engine.poll()
        engine.close()
        assert engine.complete and engine.log.is_abandoned
        best = min((tnf.sense * one.objective for one in found), default=None)
        assert (best and tnf.sense * best) == optimum(tnf), number
        proof.write(engine.log, Interrupt())
    assert "had too little memory" in caplog.text and list(tmp_path.glob("*.pbp")) == []


@pytest.mark.slow
def test_learners_go_on_where_nothing_more_is_logged():
    """From solution to solution, to the optimum; else some would find the same one again and again."""
    for number, tnf in consistent_models(50):
        engine, found, is_running = logged_engine(tnf, "prover finder", 2), [NO_INCUMBENT], tnf.sense != 0
        assert engine.log is not None
        engine.log.shared.stopped = 1
        engine.start()
        while is_running:
            is_running = engine.running
            found += [tnf.sense * one.objective for one in engine.poll()]
        engine.close()
        best = optimum(tnf) if tnf.sense else None
        assert min(found) == (NO_INCUMBENT if best is None else tnf.sense * best), number
