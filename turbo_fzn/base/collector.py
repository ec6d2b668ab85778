"""Switches off Python's collector of cyclic garbage while a model is prepared."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def without_collector(keep: bool = False) -> Iterator[None]:
    """A context without garbage collection: preparation makes millions of tuples and no cycles, which the collector
    would scan repeatedly in vain. With `keep` it does not scan them later either, since they stay to the end."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if keep:
            gc.freeze()
        if was_enabled:
            gc.enable()


def resume() -> None:
    """Switches on the collector that __main__.py has switched off; what exists stays to the end, and is not scanned."""
    gc.freeze()
    gc.enable()
