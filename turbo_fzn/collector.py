"""Python's collector of cyclic garbage, which the preparation of a model does without."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def without_collector(keep: bool = False) -> Iterator[None]:
    """Preparation makes millions of tuples and no cycles: the collector would look at them again and again, and find
    nothing. With `keep` it does not look at them later either, as is right for what stays to the end of the process."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if keep:
            gc.freeze()
        if was_enabled:
            gc.enable()
