"""Tunable constants of the lowering."""

from __future__ import annotations

from turbo_fzn.tuning import NEVER, Table, tunable

MEMORY = "memory of the columns that are made at once against calls of NumPy"


class Tuning(Table):
    """Between forms of constraints, and between ways of making them. All forms have the same solutions."""

    # Domains and membership.
    domain_values: int = tunable(
        4096,
        "values",
        "up to here a domain with holes is a row over a table, above it a comparison for each gap",
        tried=(0, 1, 3),
    )
    values_per_gap: int = tunable(
        16,
        "values for each one removed",
        "a table of what is left against a row for each removed value",
        tried=(0, 1, 100),
    )
    member_values: int = tunable(
        1024, "values", "membership by a table of 0 and 1 against truth values of intervals", tried=(0, 1, 3)
    )
    narrowing_rounds: int = tunable(
        20, "rounds", "smaller domains before forms are chosen against time", tried=(0, 1, 2)
    )

    # Wide rows and elements.
    whole_least: int = tunable(
        3,
        "variables or tasks",
        "a wide row beside the others: two that differ, or of which one is first, are a row already",
        tried=(2, 4, NEVER),
    )
    narrowed_cells: int = tunable(
        200_000,
        "values of indices and terms of rows, in a model",
        "smaller domains of elements against time: a round looks at all of them",
        tried=(0, 20),
    )
    element_values: int = tunable(
        1000,
        "values of an index",
        "a wide row sees more at once, but each run looks at all values",
        tried=(0, 3, NEVER),
    )
    values_per_truth: int = tunable(
        2,
        "values for each truth value",
        "a wide row needs truth values of its index: made anew, they cost more than it gains",
        tried=(0, 1, NEVER),
        measured="docs/measurements/learning.md",
    )

    # Columns: many constraints of one shape, lowered at once.
    columns_least: int = tunable(
        32, "places", "columns are quicker for many constraints, single ones for few", tried=(1, 2, 5)
    )
    columns_first: int = tunable(
        256, "places", "a large first column is in vain where constraints turn out odd", tried=(1, 2, 8)
    )
    columns_most: int = tunable(2**14, "places", MEMORY, tried=(1, 2, 16))
    columns_slots: int = tunable(
        2**19, "numbers in one column", "memory of wide shapes against calls of NumPy", tried=(64, 256)
    )
    columns_patience: int = tunable(
        64,
        "constraints",
        "after columns in vain, so many are lowered singly before columns are tried again; doubled each time",
        tried=(1, 4),
    )
    columns_patience_most: int = tunable(
        2**12,
        "constraints",
        "the end of that doubling: the loss by odd constraints against the gain by later regular ones",
        tried=(1, 8),
    )
    ranged_places: int = tunable(
        2**10,
        "places",
        "from here on the range of a column is computed, which costs time and saves rows",
        tried=(0, 1, 4),
    )
    bulk_leaves: int = tunable(
        64, "leaves or elements", "above this, arrays are quicker than lists", tried=(0, 1, 4, NEVER)
    )

    # Trees of operators.
    paired_leaves: int = tunable(
        8,
        "leaves of a tree",
        "pairs of leaves that are known already save rows; there are quadratically many",
        tried=(0, 1, 2, 100),
    )
    known_results: int = tunable(
        2**18, "rows of one operator", "above this, looking for known pairs takes longer than it saves", tried=(0, 1, 4)
    )
    tuple_rows: int = tunable(
        2**16, "rows", "rows as tuples of Python are quicker to change, and larger, than as arrays", tried=(0, 1, 4)
    )

    # all_different.
    permutation_size: int = tunable(
        150,
        "variables",
        "n * n truth values see more than the n * n / 2 rows of a longer permutation",
        tried=(0, 2, 3),
        measured="lab/notebook/globals.md: hard_sudoku, 3,385 nodes became 347",
    )
    clauses_per_pair: int = tunable(
        50, "clauses for each pair", "clauses on truth values against rows that are fewer and see less", tried=(0, 1)
    )
    values_left: int = tunable(
        1000, "values", "each value of a variable is looked at when its truth values are sought", tried=(0, 2)
    )
    pairs_at_once: int = tunable(2**18, "pairs of variables", MEMORY, tried=(1, 4))

    # Scheduling and packing.
    energy_tasks: int = tunable(
        300, "tasks", "bounds by energy in windows against the square of this in steps of a run", tried=(0, 3)
    )
    crossing_cells: int = tunable(
        10,
        "cells of a time table for each pair of boxes",
        "a time table of boxes against its rows",
        tried=(0, 1, NEVER),
    )
    filled_part: float = tunable(
        0.5,
        "part of the space",
        "a time table pays where boxes leave little room",
        tried=(0.0, 0.1, 1.0),
        measured="lab/notebook/globals.md: squared_rectangle, 229,135 nodes became 109",
    )
    time_cells: int = tunable(
        2,
        "cells of a time table for each pair of tasks",
        "a time table against rows for pairs, which are fewer for few tasks",
        tried=(0, NEVER),
        measured="lab/notebook/free-search.md: pairs need about as many conflicts, and a tenth of the rows",
    )
    budget_cells: int = tunable(
        40_000,
        "cells of a model, of about three rows each",
        "rows see more than wide rows; constraints beyond this stand as wide rows alone",
        tried=(0, 20),
        measured="docs/measurements/presolve.md: of ten models, 10,000 cells are better on five, worse on two",
    )

    # Counting and automata.
    counted_values: int = tunable(
        1000, "values of all variables", "truth values of each value against rows", tried=(0, 1, 5)
    )
    automaton_steps: int = tunable(
        20_000,
        "steps of all layers",
        "truth values of states and steps against a variable for each state",
        tried=(0, 5),
    )

    # Tables.
    table_rows: int = tunable(
        2**20,
        "rows of all tables",
        "truth values of rows see all that a table allows; beyond this, weak rows stand for it",
        tried=(0, 1, 8, 30),
    )
    table_rows_alone: int = tunable(
        40_000, "rows of one table", "strong forms of a single table against rows", tried=(0, 1, 8, 30)
    )
    table_rows_at_once: int = tunable(2**20, "rows", MEMORY, tried=(1, 8))
    few_cells: int = tunable(
        64, "cells of a table", "lists of Python against arrays, which cost more for so few", tried=(0, 6, NEVER)
    )
    indexed_tuples: int = tunable(
        1000,
        "tuples of one table",
        "where some columns tell the others, elements against truth values",
        tried=(0, 2, 5),
    )
    diagram_rows: int = tunable(
        1000, "rows of one table", "from here on it is looked whether a decision diagram is smaller", tried=(0, 30)
    )
    diagram_gain: int = tunable(
        2,
        "times as few rows",
        "a diagram sees less than the rows, so it must save this much",
        tried=(0, 1, 100),
        measured="lab/notebook/globals.md: Latin squares by tables",
    )
    diagram_edges: int = tunable(
        10_000, "edges of one diagram", "a diagram against the time of finding that it is large", tried=(0, 8, 30)
    )
    rows_of_edge: int = tunable(
        4, "rows for each edge", "an estimate, by which a diagram is compared with rows", tried=(0, 100)
    )
    diagram_nodes_at_once: int = tunable(
        2**14,
        "nodes",
        "nodes that are made before their number is looked at: calls of NumPy against work in vain",
        tried=(1, 8),
    )
    index_columns: int = tunable(
        3, "columns", "an index over more columns is found more often, and is larger", tried=(0, 1)
    )
    index_sets: int = tunable(
        1000, "sets of columns", "a smaller index against the time of looking for it", tried=(0, 1)
    )
    index_cells: int = tunable(
        4, "cells for each row", "a table of elements may have gaps: memory against truth values", tried=(0, 1, 100)
    )
    rows_per_conflict: int = tunable(
        3,
        "rows for each combination that is none",
        "stating what is forbidden against stating what is allowed",
        tried=(0, 1, 100),
    )
    relation_pairs: int = tunable(
        2**23,
        "pairs of a value and what may stand before it",
        "a smaller table by its relation against the time of finding it",
        tried=(0, 8),
    )
    interval_rows: int = tunable(
        20_000, "intervals of one table", "truth values of intervals against weak rows", tried=(0, 6)
    )
    column_supports: int = tunable(
        20_000, "pairs of a value and a row in one column", "support clauses against weak rows", tried=(0, 4)
    )

    # Tours with time windows.
    tour_least: int = tunable(4, "places", "a first tour against the time of looking for it", tried=(3, NEVER))
    tour_places: int = tunable(250, "places", "a first tour against the time of looking for it", tried=(0, 5))
    tour_states: int = tunable(
        100,
        "states in a step of the first beam",
        "a first tour more often, and a better one, against its time",
        tried=(1, 2),
        measured="docs/measurements/free-search.md",
    )
    tour_cells: int = tunable(
        4_000_000,
        "states and pairs of places, multiplied",
        "a tour for wide windows against up to three seconds of preparation",
        tried=(0, 1000),
        measured="docs/measurements/free-search.md",
    )
    tour_extensions: int = tunable(
        8, "extensions looked at for each state kept", "a better tour against its time", tried=(1, 2)
    )

    # Numbers that take a safer way.
    small_factor: int = tunable(
        2**30,
        "the magnitude of a factor",
        "products of smaller numbers fit into 64 bits; larger ones are computed one by one",
        tried=(1, 4, 100),
    )
    offset_limit: int = tunable(
        2**30,
        "the magnitude of a least value",
        "a row has 32 bits for the offset of a table; beyond this there is no table",
        tried=(1, 4),
    )
    compared_value: int = tunable(
        2**60,
        "the largest value",
        "a table is seen as a comparison only where differences are far from the limits of 64 bits",
        tried=(0, 1, 3),
    )


TUNING = Tuning()
