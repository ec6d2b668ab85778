"""Tunable constants of the cuts that combine rows."""

from __future__ import annotations

from turbo_fzn.tuning import Table, tunable


class Tuning(Table):
    """Stronger cuts against their time and their numbers."""

    # Rounding.
    violation: float = tunable(
        1e-3, "distance from the point", "a cut that removes less is not worth a row", tried=(0.3,)
    )
    coefficient: int = tunable(
        10**7, "the magnitude of a coefficient", "larger ones make programs inaccurate", tried=(2, 100)
    )
    entries: int = tunable(1000, "entries of a cut", "dense cuts make programs slow", tried=(1, 4))
    denominator: int = tunable(
        10**6,
        "the denominator of a multiplier of a tableau's row",
        "cuts of more rows against larger coefficients",
        tried=(1, 6),
    )
    dual_units: int = tunable(
        1000,
        "to which the largest dual is scaled",
        "a more exact sum of rows by duals against larger coefficients",
        tried=(1, 7),
    )
    divisors: int = tunable(6, "divisors tried for each row", "stronger cuts against time", tried=(1, 2))
    fractional: float = tunable(
        1e-4, "distance from an integer", "a value so near to an integer is not cut off", tried=(0.3,)
    )
    parallel: float = tunable(
        0.9, "the cosine of two cuts", "of two cuts that are more parallel, one suffices", tried=(0.1, 2.0)
    )

    # Zero-half cuts.
    half_rows: int = tunable(1500, "rows that are combined", "cuts that are found against time", tried=(1, 4))
    half_sums: int = tunable(30, "sums that are kept", "cuts that are found against time", tried=(1, 4))
    half_additions: int = tunable(
        20_000, "additions of an elimination", "cuts that are found against time: 0.01 ms each", tried=(0, 3)
    )
    half_loss: float = tunable(
        0.95,
        "slacks and odd columns together, of the 1 that is won",
        "sums that lose more cut off nothing",
        tried=(0.5, 2.0),
    )
    half_zero: float = tunable(
        1e-6, "distance from a bound", "what a column may be counted as at its bound", tried=(0.3,)
    )


TUNING = Tuning()
