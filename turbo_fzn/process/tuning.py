"""Tunable constants of the process: how it stops in time."""

from __future__ import annotations

from turbo_fzn.tuning import Table, tunable

STOP = "a time of a stop, which tests/command/test_stops.py varies by its moments"


class Tuning(Table):
    """Times of a stop, within the limits of MiniZinc and the user."""

    # A time limit.
    overtime_seconds: float = tunable(
        0.28,
        "seconds",
        "for preparation after the deadline: with the end of the process, 0.2 s after the limit",
        kept=STOP,
    )
    dive_seconds: float = tunable(
        0.05,
        "seconds",
        "for the search within the overtime: a first solution against punctuality",
        kept=STOP,
    )

    # A signal.
    last_call_seconds: float = tunable(
        0.15,
        "seconds",
        "for the last solution; MiniZinc leaves 0.2 s between SIGTERM and SIGKILL",
        kept=STOP,
    )
    first_solution_seconds: float = tunable(
        0.12,
        "seconds of processor time",
        "for a first solution, if none is checked yet: a late end against an end without an answer",
        kept=STOP,
    )
    first_solution_wait_seconds: float = tunable(
        1.0,
        "seconds",
        "a late end against an end without an answer, on a busy machine",
        kept=STOP,
    )
    again_seconds: float = tunable(
        0.02,
        "seconds between two attempts to end",
        "late action against processor time",
        kept=STOP,
    )
    firm_seconds: float = tunable(
        1.0,
        "seconds",
        "a signal so long after the first ends the process at once; sooner it is the same signal, sent twice",
        kept=STOP,
    )
    turn_seconds: float = tunable(
        0.0005,
        "seconds",
        "switches between threads against the delay of a stop",
        kept=STOP,
    )

    # Memory.
    memory_look_seconds: float = tunable(
        0.005,
        "seconds between two looks",
        "late action against processor time",
        kept=STOP,
    )
    helpers_look_seconds: float = tunable(
        0.02,
        "seconds between two looks",
        "late action against processor time, with helpers, which are sought among all processes",
        kept=STOP,
    )
    memory_share: float = tunable(
        15 / 16,
        "part of the limit",
        "at which the end is asked for: what is under way until then takes memory, too",
        kept="a limit of memory that small models do not reach",
    )

    # Output.
    reader_seconds: float = tunable(
        1.0,
        "seconds",
        "for a reader that does not read, once the process must end: a lost answer against a late end",
        kept=STOP,
    )


TUNING = Tuning()
