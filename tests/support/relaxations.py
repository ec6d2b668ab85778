"""The relaxation of a model, by itself."""

from __future__ import annotations

import numpy as np

from turbo_fzn.bounds.search.root import Root
from turbo_fzn.bounds.thread.relaxation_thread import Beside
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.bounding import EngineBoxes, relaxation_of, root_bounds
from turbo_fzn.run.prepare import prepare
from turbo_fzn.run.prepared import Prepared


def prepared_of(text: str, simplify: bool = True) -> Prepared:
    """The prepared model. Without the simplifier there is no presolve, which may prove what a test is about."""
    return prepare(parse_text(text), Options(simplify=simplify), Interrupt(None))


def numbers_of(prepared: Prepared) -> dict[str, int]:
    """The number of each name's variable in the TNF."""
    numbers, _, _ = root_bounds(prepared)
    back = prepared.reconstruction
    return {name: number if back is None else int(back.position[number]) for name, number in numbers.items()}


def beside_of(text: str, simplify: bool = True) -> Beside:
    """The relaxation of a model, without a search."""
    return beside_a(prepared_of(text, simplify))


def beside_a(prepared: Prepared) -> Beside:
    return Beside(lambda: relaxation_of(prepared), EngineBoxes(prepared, np.arange(prepared.tnf.n_vars)))


def root_of(text: str, simplify: bool = True) -> Root:
    """The root of a model's relaxation, whose listener is its `Beside`, with its linear program solved."""
    root = unsolved(beside_of(text, simplify))
    root.settle()
    return root


def unsolved(beside: Beside) -> Root:
    """The root of a relaxation, whose linear program is not solved."""
    relaxation = beside.make()
    assert relaxation is not None
    beside.boxes.attach(relaxation)
    return Root(relaxation, beside)
