"""What ranks are given to do."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from turbo_fzn.options import Options
from turbo_fzn.tnf.language import TNF


class Job(NamedTuple):
    """A search: the model at its root fixpoint, the variables whose values are wanted (int32), and all else that the
    choice of engines is made by (run/policy.py). `wanted`: so many solutions of a satisfaction model, 0 for all."""

    tnf: TNF
    exports: np.ndarray
    options: Options
    wanted: int
