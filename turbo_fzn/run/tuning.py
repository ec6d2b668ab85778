"""Tunable constants of a run: who works, what is prepared, and how often the search is looked at."""

from __future__ import annotations

from turbo_fzn.tuning import NEVER, Table, tunable

WAIT = "a wait, by which no answer comes sooner"
GPU = "of a GPU, which the fuzzer has no part of"
OUTPUT = "how the output looks"
REALS = "of models with real variables, which have kinds of their own"


class Tuning(Table):
    """Shares of processors and of time."""

    # Who works.
    free_threads: int = tunable(
        2, "threads of a free search", "a second way of searching against processors for others", tried=(1, 3)
    )
    threads_left: int = tunable(
        2,
        "threads beside a GPU",
        "the host's own work: checking solutions, proving bounds",
        kept=GPU,
    )
    most_threads: int = tunable(16, "threads beside a GPU", "more gain little there", kept=GPU)
    gpu_lns_percent: int = tunable(
        75,
        "percent of the blocks",
        "neighbourhoods against the tree: a GPU has many blocks",
        kept=GPU,
    )
    cpu_lns_percent: int = tunable(
        50, "percent of the blocks", "neighbourhoods against the tree, on a CPU", tried=(0, 100)
    )
    relaxation_share: float = tunable(
        0.1, "part of the time", "dividing relaxations beside a single block against its search", tried=(1.0,)
    )
    least_team: int = tunable(
        3, "blocks", "fewer have a soloist, which does the work of all learners in turn", tried=(2, 5)
    )
    others: int = tunable(
        4, "blocks for each that does not learn", "a fresh view against learners; at least one of all", tried=(2, 16)
    )
    rank_others: int = tunable(
        2,
        "blocks for each that does not learn",
        "a fresh view against learners, on a rank without a GPU, which shares the tree",
        tried=(1, 8),
    )

    # Preparation.
    octagon_rounds: int = tunable(
        10, "rounds of octagons and rows", "a tighter root against time, in the variant", tried=(1,)
    )
    equation_rounds: int = tunable(
        3,
        "rounds of equations and rows",
        "a tighter root against time",
        kept=REALS,
    )
    probe_work: int = tunable(
        10**6,
        "propagations and changed variables, of probes for variables without bounds",
        "bounds that probing finds against time: some tenths of a second",
        tried=(0, 10),
    )
    probe_work_per_row: int = tunable(
        200, "the same, for each row", "bounds that probing finds against time", tried=(0, 1)
    )
    probe_cases: int = tunable(100, "cases", "of so many one may cost all of the work", tried=(1, 10**5))
    group: int = tunable(
        64, "literals of a group", "groups that are probed together against the time of one", tried=(2, NEVER)
    )
    truth_work: int = tunable(
        100_000,
        "propagations and changed variables, of probes of all truths",
        "a smaller model and a tighter root against time: some hundredths of a second",
        tried=(0, 10, 10**6),
        measured="docs/measurements/presolve.md",
    )
    truth_work_per_row: int = tunable(2, "the same, for each row", "a smaller model against time", tried=(0, 1))
    truth_cases: int = tunable(4, "cases", "of so many truths one may cost all of that work", tried=(1, 10**5))
    reward: int = tunable(
        1000, "the same, more for each variable that becomes fixed", "probing goes on where it pays", tried=(0, 10**5)
    )
    most_rewards: int = tunable(20, "times the work without rewards", "the end of that", tried=(0, 1000))
    presolve_seconds: float = tunable(1.0, "seconds", "a tighter root against time", kept=WAIT)
    presolve_seconds_per_row: float = tunable(1e-4, "seconds for each row", "a tighter root against time", kept=WAIT)

    # The search.
    poll_seconds: float = tunable(
        0.001,
        "seconds between two looks at the engine",
        "late answers against time of a processor",
        kept=WAIT,
    )
    stop_seconds: float = tunable(
        0.1,
        "seconds",
        "for the last solutions; MiniZinc leaves 0.2 s between SIGTERM and SIGKILL",
        kept=WAIT,
    )
    ready_seconds: float = tunable(
        0.05,
        "seconds without a solution",
        "after these the checker's tables are built, before one is there",
        kept=WAIT,
    )
    making_seconds: float = tunable(
        3e-5,
        "seconds for each row",
        "an estimate, of making an engine",
        kept="a time by turns, which is the same on each machine",
    )

    # Answers.
    checked: int = tunable(
        2_000_000,
        "literals and array elements",
        "whether each solution is checked: about 0.1 s a check",
        kept="whether a solution is checked at all",
    )
    batch_elements: int = tunable(
        2**20, "values and literals checked at once", "calls of NumPy against memory", tried=(1, 10)
    )
    inexact: int = tunable(
        10,
        "solutions without an exact point",
        "after these a model is supposed to have none",
        kept=REALS,
    )
    relations: int = tunable(
        2_000,
        "relations of a model",
        "exact points against the time of their program; beyond this points are printed as they come",
        kept=REALS,
    )
    kept_distance: float = tunable(
        0.5,
        "part of the distance from the border",
        "that may be lost for fewer digits",
        kept=REALS,
    )
    reach: float = tunable(
        1 / 4,
        "part of the width of a decided interval",
        "the reach of a box around a point",
        kept=REALS,
    )
    digest_bytes: int = tunable(
        32, "bytes", "outputs that are longer are remembered by a digest", kept="memory of outputs"
    )

    # Rays of models without bounds.
    moving: int = tunable(100, "variables of a ray", "rays that are found against time", tried=(0, 1))
    ray_checks: int = tunable(50_000, "checks of rows", "rays that are found against time", tried=(0, 3))
    ray_rows: int = tunable(
        2**27, "rows scanned for the rows of a variable", "rays that are found against time", tried=(0, 3)
    )
    ray_solutions: int = tunable(
        2**14, "solutions, each better than the one before", "after these a ray is looked for", tried=(1, 3)
    )

    # Progress.
    progress_seconds: float = tunable(1.0, "seconds between two lines", "news against lines", kept=OUTPUT)
    log_share: float = tunable(1 / 20, "part of the time so far", "news against lines, in a file", kept=OUTPUT)
    sample_seconds: float = tunable(
        0.02,
        "seconds between two samples",
        "points of a page, whose axis is logarithmic, against memory",
        kept=OUTPUT,
    )
    sample_share: float = tunable(1 / 20, "part of the time so far", "points of a page against memory", kept=OUTPUT)
    stream_seconds: float = tunable(
        0.5, "seconds", "that a bound which was proved, or a warning, may wait", kept=OUTPUT
    )
    profiler_connect_seconds: float = tunable(2.0, "seconds", "for a profiler that does not answer", kept=OUTPUT)
    profiler_end_seconds: float = tunable(5.0, "seconds", "for a profiler that does not read, at the end", kept=OUTPUT)
    profiler_bytes: int = tunable(
        2**18, "bytes", "formatted and not yet read: memory against pauses of the profiler", kept=OUTPUT
    )
    profiler_records: int = tunable(
        2**14,
        "records formatted at once",
        "some 20 ms, for which the search is not looked at",
        kept=OUTPUT,
    )


TUNING = Tuning()
