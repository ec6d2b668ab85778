"""Tunable constants of explanations: how long a test may take."""

from __future__ import annotations

from turbo_fzn.tuning import Table, tunable


class Tuning(Table):
    """A smaller explanation against time."""

    least_seconds: float = tunable(
        1.0,
        "seconds",
        "for a test, at least: what is not refuted by then stays in the explanation",
        kept="a wait, of which tests try short ones",
    )
    test_factor: int = tunable(10, "times the longest proof so far", "what a test may take", kept="a wait")
    round_factor: int = tunable(4, "times as long", "in each round of tests that had not enough time", kept="a wait")


TUNING = Tuning()
