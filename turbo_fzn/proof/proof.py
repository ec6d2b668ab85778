"""The proof of a run: the model is encoded before the search, and the proof is written after the answer."""

from __future__ import annotations

import logging
import os
import stat
import tempfile
import time

from turbo_fzn.base.collector import without_collector
from turbo_fzn.base.errors import UsageError
from turbo_fzn.engine.logged import Log
from turbo_fzn.process.interrupt import Interrupt, Interrupted
from turbo_fzn.proof.encoding import Encoding
from turbo_fzn.proof.hints import NotJustified
from turbo_fzn.proof.leaders import Leaders
from turbo_fzn.proof.relaxed import Relaxed
from turbo_fzn.proof.writer import open_for_writing, write_model, write_proof
from turbo_fzn.read.files import forget_proof, model_of_proof
from turbo_fzn.tnf.language import TNF

log = logging.getLogger("turbo_fzn")


def _mode(path: str) -> int:
    """The mode of a file; 0 if it does not exist."""
    try:
        return os.stat(path).st_mode
    except OSError:
        return 0


class Proof:
    """The model `tnf` and the file of the proof. `relaxed`: the relaxation whose bound the proof can state."""

    def __init__(self, tnf: TNF, path: str, breaks_symmetry: bool = False, interrupt: Interrupt | None = None):
        """Writes the file of the model, whose `tnf` gets leaders if it `breaks_symmetry`. Raises UnsupportedError for a
        row that cannot be encoded, and UsageError where the files cannot be written."""
        self.path = path
        try:
            self.encoding = Encoding(tnf)
            leaders = Leaders(self.encoding, interrupt) if breaks_symmetry else None
            self.leaders = leaders if leaders is not None and leaders.sums else None
            tnf.leaders = [] if self.leaders is None else self.leaders.sums  # an earlier proof's are not stated here
            self.relaxed = Relaxed(self.encoding)
            with open_for_writing(model_of_proof(path)) as file:
                write_model(self.encoding, file)
            if not stat.S_ISFIFO(_mode(path)):  # the reader of a pipe would read its end here
                open_for_writing(path).close()
        except OSError as error:
            what = "the file" if error.filename else f"the file, or one in {tempfile.gettempdir()}"
            raise UsageError(f"--proof: cannot write {what}: {error.strerror or error}", error.filename) from None

    def write(self, learned: Log, interrupt: Interrupt, answer: list[int] | None = None) -> None:
        """Writes the proof of the log and of the last solution that was printed, unless there is a stop; logs why it is
        missing. Without a proof, no file is left."""
        try:
            why = self._write(learned, interrupt, answer)
        except BaseException:
            self.discard()
            raise
        if why is not None:
            self.discard()
            self.say(f"no proof is written: {why}")

    def _write(self, learned: Log, interrupt: Interrupt, answer: list[int] | None) -> str | None:
        """Writes the proof. Returns None, or the reason why there is no proof."""
        start = time.monotonic()
        learned.finish()
        self.relaxed.close()
        if learned.over or learned.failure is not None:
            why = str(learned.failure) or "out of memory"
            return "its log has reached --proof-limit" if learned.over else f"its log failed: {why}"
        try:
            with open_for_writing(self.path) as file, without_collector():
                conclusion = write_proof(self.encoding, learned, file, interrupt, answer, self.relaxed, self.leaders)
        except Interrupted:
            return "the run has been stopped before that"
        except NotJustified as gap:
            self.say(f"the proof ends without a conclusion: {gap}")
            return None
        except MemoryError:
            return "out of memory"
        except OSError as error:
            return f"its file cannot be written: {error.strerror or error}"
        if conclusion == "NONE" and learned.is_abandoned:
            return "the learners whose conclusions are logged had too little memory"
        if conclusion == "NONE":
            self.say("the search has not ended, so the proof has no conclusion")
        log.info("proof: %.2f s, %s, log of %.1f MB", time.monotonic() - start, conclusion, learned.n_bytes / 1e6)
        return None

    def discard(self) -> None:
        """Removes both files."""
        forget_proof(self.path)

    def say(self, what: str) -> None:
        log.warning("--proof: %s", what)
