"""Tunable constants of relaxations with real variables."""

from __future__ import annotations

from turbo_fzn.tuning import Table, tunable

REALS = "of models with real variables, which have kinds of their own"


class Tuning(Table):
    """Tighter enclosures against time."""

    elimination_work: int = tunable(
        200_000,
        "updates of coefficients, of `word_bits` each",
        "more variables that are solved for against time",
        kept=REALS,
    )
    word_bits: int = tunable(
        1024,
        "bits of a fraction",
        "an estimate: so many more count as another update",
        kept=REALS,
    )
    far: float = tunable(
        2.0**40,
        "the magnitude of a bound",
        "a variable that may be beyond is solved for",
        kept=REALS,
    )
    narrow: float = tunable(
        2.0**-40,
        "the relative width of a factor",
        "so narrow a factor is nearly a constant",
        kept=REALS,
    )
    enclosed: int = tunable(
        200,
        "variables",
        "those whose bounds are sought by linear programs, two for each",
        kept=REALS,
    )
    factor: float = tunable(
        1e9,
        "the magnitude of a coefficient of a product's planes",
        "larger ones only make the linear program inaccurate",
        kept=REALS,
    )


TUNING = Tuning()
