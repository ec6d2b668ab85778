"""Tunable constants of the relaxation's thread: when it begins, looks and rests."""

from __future__ import annotations

from turbo_fzn.tuning import Table, tunable

WAIT = "a wait, by which no answer comes sooner"


class Tuning(Table):
    """Time of a processor that the relaxation takes from the search against bounds that come soon."""

    # Waits.
    head_start_seconds: float = tunable(
        0.05,
        "seconds",
        "an easy model is solved by then, without a linear program or the import of its library",
        tried=(0.0,),
    )
    look_seconds: float = tunable(
        0.002,
        "seconds between two looks whether the search is over",
        "late ends of the thread against time of a processor",
        tried=(0.0,),
    )
    rest_seconds: float = tunable(
        0.05, "seconds", "a pause where there is nothing to do: late work against time of a processor", tried=(0.0,)
    )
    end_seconds: float = tunable(
        0.2,
        "seconds",
        "a linear program does not look at a stop before its first iteration",
        kept=WAIT,
    )
    last_seconds: float = tunable(
        10.0,
        "seconds",
        "for all threads, at the end of the interpreter",
        kept=WAIT,
    )

    # Branch and bound.
    small_tree: int = tunable(
        100, "nodes", "a tree that ends by then is done before more cuts of the root would pay", tried=(0, 1, 4)
    )
    small_tree_seconds: float = tunable(1.0, "seconds of work", "as small_tree, by time", tried=(0.0, 9.0))
    tree_seconds: float = tunable(
        4.0,
        "seconds of work",
        "the least time of nodes; probes are additional",
        kept=WAIT,
    )
    free_probing_seconds: float = tunable(8.0, "seconds of probes", "at most so many do not count", kept=WAIT)
    hope: int = tunable(
        20,
        "times as far as the bound has risen",
        "the bound is expected to rise at most so far; otherwise the tree is given up",
        tried=(0, 1),
    )

    # What is passed on.
    suggestion_seconds: float = tunable(
        0.1, "seconds between two suggestions", "points for the search against its time", tried=(0.0,)
    )
    reason_seconds: float = tunable(
        0.05, "seconds between two inequalities of nodes", "inequalities for learners against their time", tried=(0.0,)
    )

    # Turns with the search, on one processor.
    turn_seconds: float = tunable(
        0.05,
        "seconds of a turn",
        "switches against bounds that come late",
        kept="a time by turns, which is the same on each machine",
    )
    stop_look_seconds: float = tunable(
        0.1,
        "seconds between two looks at a stop",
        "late stops against time of a processor",
        kept=WAIT,
    )


TUNING = Tuning()
