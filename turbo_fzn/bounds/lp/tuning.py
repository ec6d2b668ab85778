"""Tunable constants of linear programs."""

from __future__ import annotations

from turbo_fzn.tuning import Table, tunable

METHOD = "a method of solving or an estimate of its time, whose answer is checked"


class Tuning(Table):
    """How large a program may be, and which method solves it."""

    iterations: int = tunable(
        5_000,
        "iterations of the simplex method",
        "beyond them an interior point is quicker, of which a vertex is made",
        kept=METHOD,
    )
    interior_iterations: int = tunable(
        100,
        "iterations of the simplex method",
        "an estimate, of an iteration of the interior point method",
        kept=METHOD,
    )
    iteration_seconds: float = tunable(
        1e-5,
        "seconds",
        "an estimate, of an iteration of the simplex method: work that is the same on each machine",
        kept=METHOD,
    )
    entry_seconds: float = tunable(
        3e-9,
        "seconds for each entry of the rows",
        "an estimate, of an iteration of the simplex method",
        kept=METHOD,
    )
    coefficient: int = tunable(
        2**31,
        "the magnitude of a coefficient",
        "products with a multiplier fit into 64 bits; rows beyond this are left out",
        tried=(2, 100),
    )
    side: int = tunable(
        2**52, "the magnitude of a side", "exact as a double; rows beyond this are left out", tried=(10, 1000)
    )
    short_terms: int = tunable(
        3, "terms of a sum", "implications of short sums are kept, for the loads of tours", tried=(0, 1)
    )


TUNING = Tuning()
