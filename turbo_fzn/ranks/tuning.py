"""Tunable constants of several ranks: how often they poll, and how long they wait for each other."""

from __future__ import annotations

from turbo_fzn.tuning import Table, tunable

WAIT = "a wait, by which no answer comes sooner"


class Tuning(Table):
    """Messages against idle time."""

    news_seconds: float = tunable(
        0.02, "seconds between two looks", "late news of the proved bound against messages", tried=(0.0,)
    )
    alive_seconds: float = tunable(
        1.0,
        "seconds between two signs of life",
        "messages against the time after which a rank is missed",
        kept=WAIT,
    )
    silence_seconds: float = tunable(
        10.0,
        "seconds",
        "after these a silent rank is reported missing: a false alarm against a late one",
        kept=WAIT,
    )
    master_silence_seconds: float = tunable(60.0, "seconds", "after these a silent rank 0 is taken for dead", kept=WAIT)
    poll_seconds: float = tunable(
        0.001,
        "seconds between two looks",
        "late answers against processor time",
        kept=WAIT,
    )
    end_seconds: float = tunable(
        2.0,
        "seconds",
        "an orderly end against the wait for ranks that do not answer",
        kept=WAIT,
    )
    paths: int = tunable(32, "subproblems in a message", "fewer messages against even loads", tried=(1, 2))
    hold_seconds: float = tunable(
        0.005, "seconds", "a thief is kept waiting for work that is about to come, instead of a refusal", tried=(0.0,)
    )
    first_pause_seconds: float = tunable(
        0.0005,
        "seconds",
        "the first pause after a refusal, or between two counts: idle time against messages; doubled each time",
        kept=WAIT,
    )
    refused_pause_seconds: float = tunable(0.01, "seconds", "the longest pause after refusals", kept=WAIT)
    census_pause_seconds: float = tunable(
        0.02,
        "seconds",
        "the longest pause between two counts: a late end against messages",
        kept=WAIT,
    )


TUNING = Tuning()
