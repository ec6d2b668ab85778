"""Tunable constants of proofs."""

from __future__ import annotations

from turbo_fzn.tuning import Table, tunable


class Tuning(Table):
    """The size of a proof against the rows that can be encoded."""

    cases: int = tunable(
        4096,
        "values of a variable, or pairs of values",
        "rows that are proved by cases against the length of the proof; beyond this there is none",
        kept="a refusal, at which tests try models of both sides",
    )
    rounds: int = tunable(
        3,
        "rounds of rounding in a case",
        "harder rows against time",
        kept="a proof that is not found is an error of the writer, not of an answer",
    )
    explained: int = tunable(
        1 << 18,
        "explanations whose steps are remembered",
        "time against memory",
        kept="of the writer, which then searches for a step again",
    )
    clauses: int = tunable(
        1 << 12,
        "learned clauses that are remembered",
        "reading them again against memory",
        kept="of the writer",
    )
    kept_rows: int = tunable(
        1 << 14,
        "rows whose cases are remembered",
        "making them again against memory",
        kept="of the writer",
    )
    kept_sums: int = tunable(
        1 << 14,
        "sums of bits whose words are remembered",
        "spelling them again against memory",
        kept="of the writer",
    )
    block_lines: int = tunable(
        1 << 12,
        "lines of a model's file that are written at a time",
        "fewer writes against memory",
        kept="below a megabyte",
    )
    text_bytes: int = tunable(
        1 << 22,
        "bytes of a model's file that are kept in memory before a file takes them",
        "no file for small models against memory",
        kept="of the writer",
    )
    relaxed_rows: int = tunable(
        200_000,
        "rows of the model",
        "the relaxation's bound against time and memory; beyond this there is none",
        kept="a proof without it is longer, or not found",
    )
    denominator: int = tunable(
        60,
        "the denominator of multipliers, of which divisors are tried",
        "short numbers in the step of a bound against the time to find them",
        kept="larger ones are those of bounds/prove",
    )
    relaxed_terms: int = tunable(
        4_000_000,
        "multipliers that the nodes of branch and bound keep, with paths and nodes by their memory",
        "a better bound of the relaxation against memory and the length of the proof",
        kept="some tens of megabytes",
    )
    looked_through: int = tunable(
        150_000,
        "constraints of a formula",
        "the symmetries of larger models against the time before the search",
        kept="some seconds",
    )
    symmetry_share: float = tunable(
        0.2,
        "of the time that is left to the run",
        "the symmetries of large models against the time of the search",
        tried=(0.0, 1.0),
    )
    swapped: int = tunable(
        4_000_000,
        "constraints that all swaps of a family touch",
        "its symmetries against the time of the checker, which looks at each",
        kept="some tens of seconds",
    )
    key: int = tunable(
        1 << 28,
        "values of a block's key, and the magnitude of its variables",
        "a longer comparison against the numbers of a learner's rows",
        kept="sums of two keys stay below 2^60, which 64 bits compute",
    )
    piece_words: int = tunable(
        1 << 16,
        "words of a log that are read at a time",
        "fewer reads against memory",
        kept="below a megabyte",
    )


TUNING = Tuning()
