"""Tunable constants of the engines: memory, times and shapes on the host's side."""

from __future__ import annotations

from turbo_fzn.tuning import Table, tunable

WAIT = "a wait, by which no answer comes sooner"
GPU = "of a GPU, which the fuzzer has no part of"


class Tuning(Table):
    """Sizes of buffers, waits, and shapes of launches; none of them decides an answer."""

    # Memory of a search.
    pool_bytes: int = tunable(2**28, "bytes", "longer paths of subproblems that wait against memory", tried=(1, 2000))
    parcels: int = tunable(
        64,
        "parcels",
        "subproblems under way between engines against memory; equal on all engines",
        kept="two engines of one process must agree on it",
    )
    parcel_path: int = tunable(
        1024,
        "decisions in a parcel",
        "deeper subproblems can be sent against memory; equal on all engines",
        kept="two engines of one process must agree on it",
    )
    ring_bytes: int = tunable(2**24, "bytes", "solutions that wait for the host against memory", tried=(1, 200))
    ring_slots: int = tunable(
        1024, "solutions", "solutions that wait for the host against memory, of small models", tried=(1, 2)
    )
    bytes_per_row: int = tunable(
        128,
        "bytes for each row",
        "an estimate of what making the arrays takes: without these bytes NumPy has been seen to crash",
        kept="a check for memory, which small models never fail",
    )
    implied: int = tunable(2**20, "implied bounds", "bounds that probing finds against memory", tried=(0, 2))
    posted_sum: int = tunable(
        2**60,
        "the magnitudes of all terms together",
        "sums are computed in 64 bits; rows beyond this are not posted",
        tried=(0, 50, 10000),
    )
    trace_records: int = tunable(
        2**14, "records", "nodes that the profiler may lag behind against memory", kept="of the profiler"
    )
    log_words: int = tunable(
        2**20,
        "words",
        "lines of a proof that may wait for the disk against memory",
        kept="of the log of a proof, which a full ring makes wait",
    )
    log_pause_seconds: float = tunable(0.002, "seconds", "the delay of the log against processor time", kept=WAIT)

    # Neighbourhoods and walks.
    islands: int = tunable(
        33, "solutions that neighbourhoods start from", "diverse beginnings against few good ones", tried=(2, 3)
    )
    owner_distance: int = tunable(
        16,
        "rows",
        "the nearest decision variable of each variable is sought so far: larger neighbourhoods against time",
        tried=(1, 2),
    )
    first_share: int = tunable(
        40000, "65536ths", "the share of variables that neighbourhoods fix at first; it adapts", tried=(0, 65000)
    )
    walked_rows: int = tunable(
        3 * 10**5,
        "rows",
        "a walk needs 24 bytes for a row, and 72 to 112 for a variable, in each block",
        kept="of walks, which claim nothing",
    )
    circle_rounds: int = tunable(
        64,
        "rounds",
        "rounds that free a few variables of circles; then all that are left become free",
        kept="of walks, which claim nothing",
    )

    # Work on a GPU.
    parts_per_block: int = tunable(
        32,
        "subproblems for each block",
        "even loads against nodes that several blocks visit, in the variant that splits ahead",
        kept="of a variant",
        measured="Régin, Rezgui and Malapert found 30 and more to be best",
    )
    workspace_share: float = tunable(
        0.7,
        "part of the free memory",
        "blocks that fit against memory for the driver and others",
        kept=GPU,
    )
    short_list: int = tunable(
        256,
        "entries",
        "propagation lists in shared memory against more blocks",
        kept=GPU,
        measured="docs/measurements/tree-search.md",
    )
    blocks_per_sm: int = tunable(
        32,
        "blocks",
        "blocks that hide latency against memory",
        kept=GPU,
        measured="docs/measurements/tree-search.md",
    )
    global_blocks_per_sm: int = tunable(
        8,
        "blocks",
        "blocks that hide latency against memory, for stores in global memory",
        kept=GPU,
        measured="docs/measurements/tree-search.md",
    )
    lns_global_blocks_per_sm: int = tunable(
        2,
        "blocks",
        "the same with neighbourhoods: fewer at once, which end sooner, are better",
        kept=GPU,
    )
    float_threads: int = tunable(
        256,
        "threads of a block",
        "with real variables, whose rows need more registers",
        kept=GPU,
    )
    few_blocks_per_sm: int = tunable(
        2,
        "blocks",
        "where at most so many fit, stores without inner links are looked at",
        kept=GPU,
        measured="docs/measurements/tree-search.md",
    )
    packed_gain: float = tunable(
        1.5,
        "times as many blocks, or as few bytes",
        "so many more stores must fit with packed truths",
        kept=GPU,
        measured="docs/measurements/tree-search.md",
    )
    fused_gain: float = tunable(
        1.5,
        "times as many blocks",
        "so many more must fit without inner links",
        kept=GPU,
        measured="docs/measurements/tree-search.md",
    )
    mailbox_entries: int = tunable(
        2**13,
        "entries of a message's list",
        "memory against messages; longer lists are sent in parts",
        kept=GPU,
    )
    hybrid_threads: int = tunable(
        128,
        "threads of a block",
        "a block has a multiprocessor to itself, and a thread waits for its answer",
        kept=GPU,
    )
    driver_patience_seconds: float = tunable(
        2.0,
        "seconds",
        "an orderly exit against the wait for a driver that is at work",
        kept=WAIT,
    )

    # Several engines.
    gpu_start_seconds: float = tunable(
        0.25, "seconds", "a model solved by then does not wake the GPU; the GPU begins later", tried=(0.0,)
    )
    maker_turn_seconds: float = tunable(
        0.0005,
        "seconds",
        "switches between threads against the wait of one that prints an answer",
        kept=WAIT,
    )
    exchange_seconds: float = tunable(
        0.02, "seconds between two exchanges", "late news of bounds against time", tried=(0.0,)
    )
    exchange_share: float = tunable(
        0.1, "part of the time", "late bounds against time, where an exchange takes long", tried=(1.0,)
    )
    blocks_per_reserve: int = tunable(
        32, "blocks for each ready subproblem", "idle blocks against subproblems that are moved", tried=(1, 2)
    )
    stock: int = tunable(
        8, "subproblems for each other engine", "idle blocks against subproblems in the queue", tried=(1, 2)
    )
    portion: int = tunable(32, "subproblems at once", "fewer messages against even loads", tried=(1, 2))
    richer: int = tunable(
        2, "times as small a share of waiting blocks", "work is moved only where it helps", tried=(1,)
    )

    # Compilation.
    compile_seconds: int = tunable(600, "seconds", "a compiler that hangs against a slow machine", kept=WAIT)
    compile_bytes: int = tunable(
        32 << 20,
        "bytes",
        "an estimate, more than a compilation writes: the disk is asked for them first",
        kept="a check for room on the disk",
    )
    compile_look_seconds: float = tunable(
        0.02,
        "seconds between two looks",
        "the wait for a library that another process compiles against processor time",
        kept=WAIT,
    )


TUNING = Tuning()
