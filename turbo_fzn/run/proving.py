"""The proof of a search, if one is wanted (`--proof`)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from turbo_fzn.engine.contract import Engine
from turbo_fzn.engine.cpu import CpuEngine
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.files import model_of_proof, remove_file
from turbo_fzn.tnf.language import TNF

if TYPE_CHECKING:
    from turbo_fzn.proof.proof import Proof

log = logging.getLogger("turbo_fzn")


def begin_proof(tnf: TNF, options: Options) -> Proof | None:
    """Encodes the model, so that what cannot be logged is known before the search. Raises UnsupportedError for it."""
    if options.proof is None or tnf.infeasible:
        return None
    from turbo_fzn.proof.proof import Proof

    return Proof(tnf, options.proof)


def discard_proof(proof: Proof | None) -> None:
    """Removes the files of a run that has been refused."""
    if proof is not None:
        for path in (proof.path, model_of_proof(proof.path)):
            remove_file(path)


def end_proof(proof: Proof | None, options: Options, engine: Engine | None, interrupt: Interrupt) -> None:
    """Writes the proof, after the answer, unless there is a stop; the engine is closed."""
    if proof is not None and isinstance(engine, CpuEngine) and engine.log is not None:
        engine.close()
        proof.write(engine.log, interrupt)
    elif options.proof is not None:
        log.warning("--proof: no proof is written: the model is refuted before the search, which is not logged")
