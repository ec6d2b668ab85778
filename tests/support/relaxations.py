"""The relaxation of a model, by itself."""

from __future__ import annotations

import numpy as np

from turbo_fzn.bounds.beside import Beside
from turbo_fzn.bounds.root import Root
from turbo_fzn.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.bounding import Boxes, relaxation_of
from turbo_fzn.run.prepare import prepare


def beside_of(text: str) -> Beside:
    """The relaxation of a model, without a search."""
    prepared = prepare(parse_text(text), Options(), Interrupt(None))
    return Beside(lambda: relaxation_of(prepared), Boxes(prepared, np.arange(prepared.tnf.n_vars)))


def root_of(text: str) -> Root:
    """The root of a model's relaxation, whose listener is its `Beside`, with its linear program solved."""
    beside = beside_of(text)
    relaxation = beside.make()
    assert relaxation is not None
    beside.boxes.attach(relaxation)
    root = Root(relaxation, beside)
    root.settle()
    return root
