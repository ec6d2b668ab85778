"""Tunable constants of the command."""

from __future__ import annotations

from turbo_fzn.tuning import Table, tunable


class Tuning(Table):
    """When the search stops, and how long others are waited for."""

    stop_margin_seconds: float = tunable(
        0.1,
        "seconds",
        "the search stops this long before the limit, so that the last solution is printed in time",
        kept="a time of a stop",
    )
    long_read_bytes: int = tunable(
        500_000,
        "bytes of a model",
        "a larger one takes as long to read as a GPU takes to initialise: tenths of a second",
        kept="of a GPU, which the fuzzer has no part of",
    )
    doctor_seconds: float = tunable(
        60.0, "seconds", "for a driver or a MiniZinc that does not answer", kept="a wait of the diagnosis"
    )


TUNING = Tuning()
