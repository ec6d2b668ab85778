"""Tunable constants of the search for symmetries, and of the constraints that break them."""

from __future__ import annotations

from turbo_fzn.tuning import Table, tunable


class Tuning(Table):
    """How long symmetries are searched for, and how many constraints break them."""

    # Which models.
    constraints: int = tunable(
        30_000, "constraints", "larger models are left alone: the graph takes longer than it gains", tried=(0, 3)
    )
    arcs: int = tunable(
        300_000, "arcs of the graph", "larger graphs are left alone: they take longer than they gain", tried=(0, 30)
    )

    # The search.
    rounds: int = tunable(60, "rounds of refinement", "finer colours against time", tried=(0, 1, 2))
    guesses: int = tunable(6, "guesses of one swap", "swaps that need more are not found", tried=(0, 1, 2))
    failures: int = tunable(
        3, "failures in succession", "variables of one colour that seem to have no swap against time", tried=(1,)
    )
    work: int = tunable(
        10_000_000,
        "visited arcs",
        "symmetries that are found against time: a second or two",
        tried=(0, 100, 3000, 50000),
    )
    round_work: int = tunable(5000, "arcs", "an estimate: the fixed cost of a round", tried=(0, 50))

    # What is stated.
    most_symmetries: int = tunable(
        100, "symmetries", "rows of each against what it excludes", kept="models that are drawn have fewer"
    )
    least_symmetries: int = tunable(4, "symmetries", "few of them save less search than their rows cost", tried=(1,))
    compared_pairs: int = tunable(
        40, "pairs of variables of a symmetry", "a longer comparison excludes little more", tried=(0, 1, 3)
    )
    compared_value: int = tunable(
        2**28,
        "the magnitude of a compared value",
        "sums of a few stay far below the limits of a store; larger ones are not compared",
        tried=(1, 3),
    )


TUNING = Tuning()
