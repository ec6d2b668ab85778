"""Tunable constants of proofs of bounds."""

from __future__ import annotations

from turbo_fzn.tuning import Table, tunable


class Tuning(Table):
    """How exact multipliers are, and which inequalities learners get."""

    denominator: int = tunable(
        2**30,
        "the denominator of multipliers",
        "a bound that is as good as the program against sums beyond 64 bits",
        tried=(2**12, 2**16),
    )
    objective_part: float = tunable(
        1e-9,
        "the objective's part of a ray's length",
        "a bound by a ray that has nearly none of the objective is none",
        tried=(0.5,),
    )
    reason_entries: int = tunable(
        100_000, "entries of the rows of a sum", "inequalities for learners against time", tried=(0, 10)
    )
    reason_terms: int = tunable(256, "terms of an inequality", "longer ones explain little", tried=(2, 5))
    reason_factor: int = tunable(
        2**20,
        "the magnitude of a factor",
        "an inequality that keeps small terms against sums that overflow",
        tried=(1, 5, 1000),
    )
    reason_sum: int = tunable(
        2**58, "the magnitudes of all terms together", "learners compute sums in 64 bits", tried=(50, 10000)
    )


TUNING = Tuning()
