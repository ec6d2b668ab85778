"""The file of a proof where a run is stopped, or its log is not whole."""

from __future__ import annotations

import errno
import logging
import os
import threading
from types import SimpleNamespace

import pytest

from support.small_tnf import make_tnf
from turbo_fzn.engine.logged import Log
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.proof import log as records
from turbo_fzn.proof.proof import Proof
from turbo_fzn.symmetry.tuning import TUNING
from turbo_fzn.tnf.language import Op

TNF = make_tnf([(0, 3), (0, 3), (0, 3)], [(int(Op.ADD), 0, 1, 2)])
SOLUTION = [5, records.SOLUTION, 3, 1, 2]


@pytest.fixture
def learned():
    """The log of a run that has found a solution."""
    written = Log(TNF, 2**20)
    written.ring[: len(SOLUTION)] = SOLUTION
    written.shared.written = len(SOLUTION)
    written.start(lambda: None)
    return written


@pytest.mark.parametrize("stopped", [False, True])
def test_a_stop_ends_the_writing_and_leaves_no_part_of_a_proof(tmp_path, caplog, learned, stopped):
    path = tmp_path / "a.pbp"
    interrupt = Interrupt()
    if stopped:
        interrupt.request()
    with caplog.at_level(logging.WARNING):
        Proof(TNF, str(path)).write(learned, interrupt)
    assert path.exists() != stopped and path.with_suffix(".opb").exists() != stopped
    assert caplog.messages == ["--proof: no proof is written: the run has been stopped before that"] * stopped


def test_a_proof_may_go_to_a_reader_who_waits(tmp_path, learned):
    """A pipe is opened once: its reader would take a second opening for the end."""
    path = tmp_path / "a.pbp"
    os.mkfifo(path)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(path.read_text()))
    proof = Proof(TNF, str(path))
    reader.start()
    proof.write(learned, Interrupt())
    reader.join()
    assert read[0].endswith("end pseudo-Boolean proof\n")


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), MemoryError()])
def test_learners_do_not_wait_for_a_log_that_cannot_be_written(tmp_path, caplog, error):
    def fail(words):
        raise error

    written = Log(TNF, 2**20)
    written.file.close()
    written.file = SimpleNamespace(write=fail, flush=lambda: None)
    written.shared.written = 1
    written.start(lambda: None)
    written.thread.join()
    assert written.shared.stopped
    Proof(TNF, str(tmp_path / "a.pbp")).write(written, Interrupt())
    assert caplog.messages == [f"--proof: no proof is written: its log failed: {str(error) or 'out of memory'}"]


def test_a_log_whose_last_part_does_not_fit_on_the_disk_makes_no_proof(tmp_path, caplog, learned):
    def fail():
        raise OSError(errno.ENOSPC, "No space left on device")

    file = learned.file
    learned.file = SimpleNamespace(write=file.write, flush=fail)
    Proof(TNF, str(tmp_path / "a.pbp")).write(learned, Interrupt())
    assert ["No space left" in message for message in caplog.messages] == [True]
    file.close()


def test_a_proof_that_breaks_no_symmetry_leaves_no_leaders_of_an_earlier_one(tmp_path, monkeypatch):
    """Learners would use sums that no step of this proof states."""
    monkeypatch.setattr(TUNING, "least_symmetries", 1)
    tnf = make_tnf([(0, 3), (0, 3), (0, 6)], [(int(Op.ADD), 2, 0, 1)], objective=2)
    for breaks_symmetry in (True, False):
        proof = Proof(tnf, str(tmp_path / "a.pbp"), breaks_symmetry)
        assert bool(tnf.leaders) == (proof.leaders is not None) == breaks_symmetry
