"""The job that rank 0 gives to the other ranks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from turbo_fzn.options.options import Options
from turbo_fzn.tnf.language import TNF


class Job(NamedTuple):
    """A search: the model at its root fixpoint, the variables whose values are exported (int32), and the other inputs
    of the choice of engines (run/policy.py). `wanted` is the number of solutions of a satisfaction model, 0 for all."""

    tnf: TNF
    exports: np.ndarray
    options: Options
    wanted: int
