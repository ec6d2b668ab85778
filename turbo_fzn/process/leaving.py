"""How the process leaves: at once, with nothing taken down but what has asked for it.

What the process holds is never taken down in order: a GPU that is still being made ready, or a compiler, would delay
the end, or the answer. The last line is printed, and the process leaves. Whoever would leave something behind, a file,
a line on the terminal, other processes, says so by `before_leaving` before it does.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

from turbo_fzn.process import worker

_to_do: list[Callable[[], object]] = []


def before_leaving(do: Callable[[], object]) -> None:
    """Has this done when the process leaves, perhaps in a signal handler; what was asked for last is done first."""
    if do not in _to_do:
        _to_do.append(do)


def leave_process(code: int = 0) -> NoReturn:
    """Ends the process without tearing anything down, but for what `before_leaving` was told. Whatever fails on the
    way, the rest is done and the process ends."""
    try:
        for do in reversed(_to_do):
            with suppress(Exception):
                do()
        worker.tell_parent(code)
    finally:
        os._exit(code)
