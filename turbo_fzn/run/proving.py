"""The proof of a run, if one is wanted (`--proof`): begun before the search, written behind the answer.

A run writes a proof, or leaves no file of a proof and logs why; a run that ends with an error reports only the error.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING

from turbo_fzn.engine.contract import Engine, Found
from turbo_fzn.engine.cpu import CpuEngine
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt, Interrupted
from turbo_fzn.read.files import forget_proof
from turbo_fzn.tnf.language import TNF

if TYPE_CHECKING:
    from turbo_fzn.proof.proof import Proof

log = logging.getLogger("turbo_fzn")


class Proving:
    """The proof that the options of a run ask for. `is_over`: nothing is left to write or to log."""

    def __init__(self, options: Options):
        self.path = options.proof
        self.proof: Proof | None = None
        self.is_over = self.path is None

    def begin(self, tnf: TNF, breaks_symmetry: bool = False, interrupt: Interrupt | None = None) -> None:
        """Encodes the model before the search, and breaks its symmetries. Raises UnsupportedError for constraints that
        cannot be logged, and UsageError if the files cannot be written."""
        if self.path is not None and not tnf.infeasible:
            from turbo_fzn.proof.proof import Proof

            self.proof = Proof(tnf, self.path, breaks_symmetry, interrupt)

    def end(self, engine: Engine | None, last: Found | None, interrupt: Interrupt) -> None:
        """Writes the proof of a search that has ended, whose last solution this is, unless there is a stop; the engine
        is closed."""
        if self.is_over:
            return
        if self.proof is not None and isinstance(engine, CpuEngine) and engine.log is not None:
            engine.close()
            self.proof.write(engine.log, interrupt, None if last is None else last.values.tolist())
            self.is_over = True
        else:
            self.give_up("the model is refuted before the search, which is not logged")

    def give_up(self, why: str = "the run has been stopped before that") -> None:
        """Logs why there is no proof, and removes its file; does nothing if `is_over`. May be called in a signal
        handler."""
        if not self.is_over:
            self.discard()
            log.warning("--proof: no proof is written: %s", why)

    def discard(self) -> None:
        """Removes the file of an unfinished proof, without a message."""
        if not self.is_over:
            forget_proof(self.path)
        self.is_over = True

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """A context whose errors end the proof of the run."""
        try:
            yield
        except Interrupted:
            self.give_up()
            raise
        except Exception:
            self.discard()
            raise
