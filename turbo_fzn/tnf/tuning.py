"""Tunable constants of the ternary normal form: its simplifier, and the rows that stand for several others."""

from __future__ import annotations

from turbo_fzn.tuning import NEVER, Table, tunable


class Tuning(Table):
    """How far the simplifier looks, and which sums stay whole."""

    # Arrays.
    few_numbers: int = tunable(256, "numbers", "Python sorts few of them faster, NumPy many", tried=(0, 1, 4, NEVER))
    counted_range: int = tunable(
        4,
        "values for each number",
        "counting against sorting: memory of what does not occur against time",
        tried=(0, 1, 100),
    )
    probing_gain: int = tunable(
        50, "variables", "of so many, one must be fixed or merged for a further round of probing", tried=(0, NEVER)
    )

    # Sums that stay whole.
    joint_terms: int = tunable(
        8,
        "terms",
        "partial sums that clauses can name against fewer variables",
        tried=(2, 3, NEVER),
        measured="docs/measurements/learning.md: joints",
    )
    joint_values: int = tunable(
        16,
        "values above the least",
        "links of at most so many values stay variables: counts of truths",
        tried=(0, 1, NEVER),
        measured="docs/measurements/learning.md: joints",
    )
    arranged_terms: int = tunable(
        32, "terms", "one row for a whole sum against a link that bounds can be passed on by", tried=(2, 3, NEVER)
    )
    short_terms: int = tunable(
        4, "terms", "sums that one lane of a GPU runs against sums that all lanes share", tried=(0, 1, NEVER)
    )
    core_terms: int = tunable(
        3, "terms", "cores of an objective need several terms to be worth their clauses", tried=(0, 1, 2, 5)
    )

    # Rows to branch on.
    row_share: float = tunable(
        0.75, "of the variables to decide", "rows that have fewer say too little about the rest", tried=(0.0, 2.0)
    )
    row_members: int = tunable(
        2**17, "members of all rows", "each node of a search looks at all of them", tried=(0, 1, 100)
    )

    # Octagons.
    octagon_variables: int = tunable(
        400,
        "variables of a group",
        "bounds of sums and differences against the cube of this in time",
        tried=(2, 4),
        measured="docs/measurements/journal.md: octagon",
    )

    # Spans. Within these limits the time stays below half a second; beyond them some bounds are not found.
    span_hops: int = tunable(3, "doublings", "longer chains of x = y + k are followed against time", tried=(1, 2))
    span_offset: int = tunable(
        2**20,
        "offset",
        "larger offsets are not counted as places: keys of two numbers must fit into 64 bits",
        tried=(4,),
    )
    span_pairs: int = tunable(2**20, "pairs", "things that exclude each other against time", tried=(0, 1, 3))
    span_things: int = tunable(2**14, "things", "the heaviest are kept; each has a bit for each other", tried=(1, 2, 3))
    span_groups: int = tunable(
        1000, "variables", "those with the most inequalities on things are looked at", tried=(1, 2)
    )
    spanned_things: int = tunable(
        1000, "things for one variable", "their distances take the square of this in memory", tried=(1, 2)
    )
    last_variables: int = tunable(
        100, "variables", "ends to which all paths are searched against time", tried=(0, 1, 2)
    )
    path_arcs: int = tunable(
        2**21,
        "arcs in all paths",
        "longer and more paths against time",
        kept="path_depth, which ends the same search, is the nearer limit",
    )
    path_depth: int = tunable(
        200, "arcs in one path", "longer paths against time", kept="a path of the models that are drawn has few arcs"
    )
    clique_seeds: int = tunable(
        30, "seeds", "cliques from things that another clique has already against time", tried=(1, 2)
    )
    clique_steps: int = tunable(2**19, "steps", "the search of all cliques against time", tried=(1, 10))

    # Numbers that take a safer way.
    largest_code: int = tunable(
        2**62,
        "the product of all sizes",
        "several numbers as one code of 64 bits against sorting by each of them",
        tried=(0, 5, 100),
    )
    small_factor: int = tunable(
        2**30,
        "the magnitude of a factor",
        "products of smaller numbers fit into 64 bits; larger ones are computed with care",
        tried=(1, 8),
    )
    narrow_bound: int = tunable(
        2**30 - 1,
        "the magnitude of a bound",
        "stores of 32 bits are half as large; the sum of two bounds must fit",
        tried=(0, 5),
    )
    largest_coefficient: int = tunable(
        2**31 - 1,
        "the magnitude of a coefficient",
        "a linear row has 32 bits for it; beyond this a sum stays a tree",
        tried=(1, 3),
    )
    largest_sum: int = tunable(
        2**60,
        "the magnitudes of all terms together",
        "sums are computed in 64 bits; beyond this a sum stays a tree",
        tried=(0, 50, 1000),
    )
    span_time: int = tunable(
        2**40, "the magnitude of a time", "larger ones are ignored, so that nothing overflows", tried=(8, 64)
    )


TUNING = Tuning()
