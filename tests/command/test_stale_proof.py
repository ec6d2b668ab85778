"""A proof of an earlier run does not stay where a run comes to none."""

from __future__ import annotations

import pytest

from support.command import write
from support.warm import ask
from turbo_fzn import solve_text

REFUTED = "var 1..2: x; var 1..2: y; constraint int_lin_le([1,1],[x,y],1); solve satisfy;\n"


@pytest.mark.parametrize(
    ("flags", "marker"),
    [([], "=====UNSATISFIABLE====="), (["-t", -1], "=====UNKNOWN=====")],
    ids=["refuted", "no-time"],
)
def test_an_old_proof_is_gone(tmp_path, flags, marker):
    old = write(tmp_path, "the proof of another model", "a.pbp")
    answer = ask("--arch", "cpu", "--proof", old, *flags, write(tmp_path, REFUTED))
    assert answer.markers == [marker] and not old.exists()


def test_an_old_proof_is_gone_from_python_too(tmp_path):
    old = write(tmp_path, "the proof of another model", "a.pbp")
    assert solve_text(REFUTED, arch="cpu", proof=str(old)).status == "UNSATISFIABLE" and not old.exists()


def test_a_model_that_the_proof_would_overwrite_stays(tmp_path):
    path = write(tmp_path, REFUTED)
    assert ask("--arch", "cpu", "--proof", path, path).code == 1
    assert path.read_text() == REFUTED
