"""Tunable constants that all may use: of the memory and of the line of progress."""

from __future__ import annotations

from turbo_fzn.tuning import Table, tunable


class Tuning(Table):
    """Estimates of memory, and the delay of the line of progress."""

    libraries_bytes: int = tunable(
        96 << 20,
        "bytes of address space",
        "an estimate, of NumPy, OpenBLAS and the kernels: a refusal with a reason against a crash",
        kept="a check for memory, which tests meet with real limits",
    )
    stack_bytes: int = tunable(
        8 << 20,
        "bytes",
        "an estimate, of the stack of a thread by the usual limit: a refusal against a crash",
        kept="a check for memory, which tests meet with real limits",
    )
    progress_patience_seconds: float = tunable(
        2.0,
        "seconds",
        "a stage that ends by then shows no line: nothing flickers, and long waits have a line",
        kept="how the output looks",
    )
    progress_seconds: float = tunable(
        0.1, "seconds between two looks", "a fresh line against processor time", kept="how the output looks"
    )


TUNING = Tuning()
