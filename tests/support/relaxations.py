"""The relaxation of a model, by itself."""

from __future__ import annotations

import numpy as np

from turbo_fzn.bounds.beside import Beside
from turbo_fzn.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.bounding import Boxes, relaxation_of
from turbo_fzn.run.prepare import prepare


def beside_of(text: str) -> Beside:
    """The relaxation of a model, without a search."""
    prepared = prepare(parse_text(text), Options(), Interrupt(None))
    return Beside(lambda: relaxation_of(prepared), Boxes(prepared, np.arange(prepared.tnf.n_vars)))
