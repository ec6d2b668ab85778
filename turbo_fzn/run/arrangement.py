"""The stage between the simplifier and the engine: the order of variables and rows in which a model is searched.

All later stages (engines, relaxation, proof, judge) number variables in this order; earlier stages (`--dump-tnf`, the
assumptions of `Model.solve`) use the simplifier's numbers.
"""

from __future__ import annotations

import logging
import time
from dataclasses import replace

from turbo_fzn.run.prepared import Prepared
from turbo_fzn.tnf.arrange import arrange
from turbo_fzn.tnf.covering import covering
from turbo_fzn.tnf.reconstruction import moved, of_itself

log = logging.getLogger("turbo_fzn")


def arranged(prepared: Prepared) -> Prepared:
    """The prepared model for engines whose stores have no inner links: with its variables and rows in another order."""
    start = time.monotonic()
    tnf, number = arrange(prepared.tnf)
    rows = covering(tnf)
    if rows is not None:
        log.info("rows: %d, to branch on", len(rows.rows[0]))  # type: ignore[index]
        tnf = replace(tnf, strategies=[rows, *tnf.strategies])
    if tnf.arranged is None:
        return replace(prepared, tnf=tnf)
    log.info("arrange: %.2f s, stores of %d variables", time.monotonic() - start, tnf.arranged.n_vars)
    return replace(prepared, tnf=tnf, reconstruction=moved(prepared.reconstruction or of_itself(prepared.tnf), number))
