"""Tunable constants of the readers: how large a text may be in one place, and how it is cut into pieces."""

from __future__ import annotations

from turbo_fzn.tuning import Table, tunable

REFUSAL = "a refusal of what is too large, at which tests try texts of both sides"
PIECE = "the size of a piece, of which the reader's tests try several by texts"


class Tuning(Table):
    """Memory and time of a text that is made to be large, against what is accepted."""

    # Files.
    head_bytes: int = tunable(
        2**16,
        "bytes",
        "the first piece, checked before the rest of a file is read",
        kept=PIECE,
    )
    piece_bytes: int = tunable(
        2**22,
        "bytes",
        "calls against the delay of a stop, which waits for the piece",
        kept=PIECE,
    )
    head_characters: int = tunable(
        1000,
        "characters",
        "of which blanks may be the first, when the language is guessed",
        kept=PIECE,
    )
    minizinc_characters: int = tunable(
        100_000,
        "characters",
        "of what is no FlatZinc, for items of MiniZinc: a better message against time",
        kept="of a message",
    )

    # FlatZinc.
    nesting: int = tunable(
        100,
        "brackets within each other",
        "deep texts against the stack",
        kept=REFUSAL,
    )
    nested_characters: int = tunable(
        2**23,
        "characters of a statement",
        "long nested statements against seconds of Lark",
        kept=REFUSAL,
    )
    probed_characters: int = tunable(
        2**15,
        "characters",
        "the beginning of a longer statement, to see that it makes sense",
        kept=PIECE,
    )

    # XCSP3.
    states: int = tunable(
        100_000,
        "states of an automaton",
        "large automata against memory",
        kept=REFUSAL,
    )
    list_items: int = tunable(
        10**7,
        "items of a list, of a table or of the steps of an automaton",
        "a run such as 0x1000000000 is a few characters: large lists against memory",
        kept=REFUSAL,
    )
    made_cells: int = tunable(
        10**6,
        "cells of a table, or pairs of a time or bin and a task or item",
        "a constraint for each of them against memory",
        kept=REFUSAL,
    )
    array_cells: int = tunable(
        2 * 10**6,
        "cells of an array",
        "large arrays of variables against memory",
        kept=REFUSAL,
    )
    depth: int = tunable(
        60,
        "elements within each other",
        "deep documents against the stack",
        kept=REFUSAL,
    )
    attribute_characters: int = tunable(
        2**22,
        "characters of an attribute",
        "long attributes against time: expat reads each again with every piece",
        kept=REFUSAL,
    )
    piece_characters: int = tunable(
        2**20,
        "characters",
        "calls against the delay of a stop, which waits for the piece",
        kept=PIECE,
    )
    short_expression: int = tunable(
        400,
        "characters of an expression",
        "shapes of short expressions are remembered; of longer ones few come twice",
        kept=PIECE,
    )
    shapes: int = tunable(
        2**15,
        "shapes of expressions",
        "expressions that are read by their shape against memory",
        kept=PIECE,
    )


TUNING = Tuning()
