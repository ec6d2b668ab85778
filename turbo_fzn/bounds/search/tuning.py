"""Tunable constants of the search by relaxations: probing, cuts of the root, branch and bound, sub-MIPs."""

from __future__ import annotations

from turbo_fzn.tuning import NEVER, Table, tunable

REALS = "of models with real variables, which have kinds of their own"
ESTIMATE = "an estimate of time, which decides when something is delivered"


class Tuning(Table):
    """Bounds and solutions that are found soon against the time of the others."""

    # Probing.
    root_probes: int = tunable(2000, "probes", "implied bounds against time", tried=(0, 1, 5))
    root_probe_work: int = tunable(
        10**7, "columns visited by all probes", "implied bounds against time", tried=(0, 100)
    )
    root_probing_seconds: float = tunable(1.0, "seconds of work", "implied bounds against time", tried=(0.0,))
    implied_bounds: int = tunable(
        2 * 10**6, "implied bounds that are kept", "cuts by them against memory", tried=(0, 5)
    )
    implied_excess: float = tunable(
        0.01, "by how much a point violates a cut", "a cut that removes less is not worth a row", tried=(0.5,)
    )
    implied_cuts: int = tunable(100, "cuts at a point", "a tighter relaxation against a larger one", tried=(0, 1))
    probe_estimate_seconds: float = tunable(
        2e-4,
        "seconds",
        "an estimate, of a probe",
        kept=ESTIMATE,
    )

    # Cuts of the root.
    root_rounds: int = tunable(50, "rounds", "a better bound before the tree begins against time", tried=(0, 1, 3))
    root_cuts: int = tunable(80, "cuts of a round", "a better bound of a round against time", tried=(1,))
    tableau_rows: int = tunable(80, "rows of the tableau in a round", "more cuts against time", tried=(1,))
    idle_rounds: int = tunable(4, "rounds without a gain", "after these cutting ends", tried=(1,))
    round_gain: float = tunable(
        0.005, "part of the gain of all rounds", "a round that gains less is idle", tried=(0.5,)
    )
    cut_seconds: float = tunable(
        6.0,
        "seconds",
        "a better bound before the tree begins against time",
        kept="a wait, which no answer comes sooner by",
    )
    root_reasons: int = tunable(
        12, "cuts that are passed on to learners", "inequalities that prune against time of each node", tried=(0, 1)
    )
    closed_part: float = tunable(
        0.05,
        "part of the gap",
        "cuts by probing that close less are dropped, since every node would pay for them",
        tried=(0.0, 2.0),
    )
    trial_rounds: int = tunable(
        3,
        "rounds of cuts that a tree has to be beaten by",
        "after these the first half of the way must be behind",
        tried=(0, NEVER),
    )
    round_estimate_seconds: float = tunable(
        0.005,
        "seconds",
        "an estimate, of a round of cuts",
        kept=ESTIMATE,
    )
    row_estimate_seconds: float = tunable(
        2e-5, "seconds for each row", "an estimate, of a round of cuts", kept=ESTIMATE
    )
    half_estimate_seconds: float = tunable(
        1e-4,
        "seconds for each row",
        "an estimate, of the zero-half cuts of a round",
        kept=ESTIMATE,
    )

    # Branch and bound.
    tree_bytes: int = tunable(2**28, "bytes of open nodes", "the tree against memory", tried=(1, 1000))
    node_rounds: int = tunable(
        4, "linear programs of a node, with cuts", "cuts of the last round help its children only", tried=(1, 2)
    )
    tree_cuts: int = tunable(2000, "cuts of the whole tree", "a tighter relaxation against slower nodes", tried=(0, 1))
    node_cuts: int = tunable(20, "cuts of a round of a node", "a tighter relaxation against slower nodes", tried=(1,))
    branch_probes: int = tunable(
        8, "columns probed in a node", "a better choice of the column to divide against time", tried=(1, 2)
    )
    reliable: int = tunable(
        2, "gains of a column on each side", "a column with so many gains is not probed again", tried=(0, NEVER)
    )
    branch_iterations: int = tunable(
        100, "iterations of a probe", "a better choice of the column against time", tried=(0, 1)
    )
    branch_probe_seconds: float = tunable(
        0.05, "seconds of work, of one side", "an iteration of a large program takes long", tried=(0.0,)
    )
    fractional: float = tunable(
        1e-5, "distance from an integer", "a value so near to an integer is taken for one", tried=(0.3,)
    )
    largest_gain: float = tunable(
        1e15, "gain of an objective", "more is taken for an error of the program", tried=(1.0,)
    )
    node_estimate_seconds: float = tunable(
        3e-4,
        "seconds",
        "an estimate, of a node without its linear program",
        kept=ESTIMATE,
    )

    # Boxes of real variables.
    box_bytes: int = tunable(
        2**28,
        "bytes of open boxes",
        "the tree against memory",
        kept=REALS,
    )
    box_fractional: float = tunable(
        1e-6,
        "distance from an integer, or from a curve",
        "a value so near is taken for one on it",
        kept=REALS,
    )
    box_margin: float = tunable(
        0.1,
        "part of an interval at each end",
        "in which it is not divided, so that both sides get smaller",
        kept=REALS,
    )

    # Sub-MIPs near the best solution.
    sub_mip_seconds: float = tunable(
        2.0, "seconds of the first program", "HiGHS hardly looks at a stop in between", tried=(0.0, 0.01)
    )
    longest_sub_mip_seconds: float = tunable(
        8.0, "seconds of a program", "the limit after programs without a solution, each of twice the time", tried=(0.1,)
    )
    released_part: float = tunable(
        0.2,
        "part of the truths that are released at first",
        "larger programs find more, and take longer",
        tried=(0.0, 0.5, 1.0),
    )
    least_released_part: float = tunable(
        0.02,
        "part of the truths that are released, at least",
        "larger programs find more, and take longer",
        tried=(0.0, 1.0),
    )
    part_growth: float = tunable(1.3, "times as large a part", "after a program that was solved soon", tried=(1.0, 9.0))
    part_decay: float = tunable(
        0.7, "times as large a part", "after a program that was not solved in time", tried=(0.0, 1.0)
    )
    sub_mip_rest: int = tunable(
        32, "times as long as the program", "the longest pause after failed programs, for the tree", tried=(0,)
    )
    sub_mip_entries: int = tunable(
        1_000_000, "entries of a relaxation", "larger ones would not be solved in time", tried=(0, 9)
    )
    connecting_row: int = tunable(
        30, "entries of a row that connects truths", "longer ones connect all with all", tried=(0, 2)
    )


TUNING = Tuning()
