"""What NumPy has too, at a price: np.unique imports numpy.ma, which is a tenth of the time to a first answer."""

from __future__ import annotations

import numpy as np


def distinct(values: np.ndarray) -> np.ndarray:
    """The values in ascending order, each once."""
    ascending = np.sort(values)
    is_first = np.ones(len(ascending), bool)
    np.not_equal(ascending[1:], ascending[:-1], out=is_first[1:])
    return ascending[is_first]
