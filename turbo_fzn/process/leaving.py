"""The end of the process: at once, without freeing anything, after the registered actions.

Resources are never freed in order: a GPU that is being initialised, or a compiler, would delay the end, or the answer.
The last line is printed, and the process exits. Code that would leave something behind, such as a file, a line on the
terminal or other processes, registers an action by `before_leaving` first.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

from turbo_fzn.process import worker

_to_do: list[Callable[[], object]] = []


def before_leaving(do: Callable[[], object]) -> None:
    """Registers an action for the end of the process, which may be in a signal handler; the last action runs first."""
    if do not in _to_do:
        _to_do.append(do)


def leave_process(code: int = 0) -> NoReturn:
    """Runs the actions of `before_leaving` and ends the process without freeing anything else. If an action fails, the
    others still run."""
    try:
        for do in reversed(_to_do):
            with suppress(Exception):
                do()
        worker.tell_parent(code)
    finally:
        os._exit(code)
