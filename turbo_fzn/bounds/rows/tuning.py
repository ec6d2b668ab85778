"""Tunable constants of the rows of a relaxation, and of the cuts that single constraints have."""

from __future__ import annotations

from turbo_fzn.tuning import Table, tunable


class Tuning(Table):
    """A tighter relaxation against the time that it takes."""

    # All rows.
    entries: int = tunable(
        4_000_000, "entries of all rows", "a larger relaxation would not be solved in time", tried=(0, 20)
    )
    excess: float = tunable(
        0.01, "by how much a point violates a cut", "a cut that removes less is not worth a row", tried=(0.5,)
    )

    # Columns for values.
    encoded_values: int = tunable(
        600, "values of a variable", "a tighter relaxation against a column for each value", tried=(0, 2, 5)
    )
    values_per_literal: int = tunable(
        3,
        "values for each literal of the model",
        "where the model has literals for so large a part, the others are created too",
        tried=(1, 100),
    )
    small_values: int = tunable(
        12, "values of a variable", "forms by values pay for small domains", tried=(0, 1, 3, 100)
    )
    counted_truths: int = tunable(
        100_000, "truth values that one constraint may create", "a tighter relaxation against time", tried=(0, 5)
    )

    # Clauses and equations.
    split_values: int = tunable(
        64, "values of a variable", "rows for each value of an equation with a truth value against time", tried=(0, 2)
    )
    split_in_all: int = tunable(
        4_000, "values of all equations", "beyond these only equations of few values have such rows", tried=(0, 4)
    )
    split_few: int = tunable(16, "values of a variable", "equations of so few values always have them", tried=(0, 2))

    # Products and elements.
    root: int = tunable(
        2**25, "the magnitude of a value that is squared", "its square still fits the side of a row", tried=(1, 3)
    )
    choices: int = tunable(256, "values of an element", "a column for each against the bounds alone", tried=(0, 2))
    index_variables: int = tunable(
        4,
        "variables of an equation that makes an index",
        "indices of arrays of at most three dimensions are found",
        tried=(0, 1),
    )
    index_values: int = tunable(
        2_000, "values of these variables together", "a tighter relaxation against time", tried=(0, 5)
    )
    index_values_in_all: int = tunable(
        200_000, "values of all such indices", "a tighter relaxation against time", tried=(0, 5)
    )
    index_products: int = tunable(
        50_000, "products that rows are made of", "a tighter relaxation against time", tried=(0, 5)
    )

    # Tables, automata and tasks.
    table_cells: int = tunable(
        50_000, "cells of a table's rows that the domains leave", "a tighter relaxation against time", tried=(0, 6)
    )
    automaton_edges: int = tunable(30_000, "edges of an automaton", "a tighter relaxation against time", tried=(0, 6))
    automaton_steps: int = tunable(
        1_000_000,
        "steps of an automaton that are looked at",
        "a flow against the time of finding that it is large",
        tried=(0, 6),
    )
    task_pairs: int = tunable(
        3000, "pairs of tasks in a model", "their order by a column against time", tried=(0, 1, 2)
    )
    task_steps: int = tunable(
        2,
        "steps from a start to a variable that is at least its end",
        "longest ends that are found against time",
        tried=(0, 1),
    )

    # Cliques of literals.
    clique_work: int = tunable(
        2**24, "variables that are looked up in sets", "larger cliques against time: about a second", tried=(0, 10)
    )
    active_value: float = tunable(
        0.01, "the value of a literal", "a literal of a smaller value is in no cut", tried=(0.0, 0.5)
    )
    active_literals: int = tunable(3000, "literals above that value", "cuts that are found against time", tried=(1, 3))
    clique_pairs: int = tunable(2**16, "pairs of such literals", "cuts that are found against time", tried=(0, 1))
    clique_seeds: int = tunable(300, "literals that a clique is grown from", "likewise", tried=(1,))

    # Tours and loads.
    tour_nodes: int = tunable(250, "nodes of a tour", "subtours by a column for each arc against time", tried=(0, 2, 3))
    load_seeds: int = tunable(64, "sets that are grown at a time", "cuts that are found against time", tried=(1,))
    load_steps: int = tunable(64, "nodes of a set that is grown", "cuts that are found against time", tried=(1, 2))
    load_cuts: int = tunable(20, "cuts of a point", "a tighter relaxation against a larger one", tried=(1,))
    load: int = tunable(
        2**40,
        "the magnitude of a load, or of a difference of loads",
        "floating-point numbers are exact with sums of such integers",
        tried=(0, 3),
    )


TUNING = Tuning()
