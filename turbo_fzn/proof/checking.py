"""Checks a proof in files, which may be packed, and returns the result that it proves for the model.

The file of the formula minimises a sum of 0-1 variables. A comment in it defines how the model's objective depends on
this sum (writer.write_model), or that all solutions have the same objective; without a comment, the sum is the
objective.
"""

from __future__ import annotations

import gzip
import re
import zlib
from typing import IO, NamedTuple

from turbo_fzn.proof.checker import Refused, Verdict, check

_COMMENT = re.compile(r"\* (-?)objective = (-?\d+) (?:\+ what is minimised here|(in all solutions))\s*")


class Scale(NamedTuple):
    """How the model's objective depends on the sum that is minimised: it is sign * (start + sum). If all solutions have
    the same objective, nothing is minimised."""

    sign: int = 1
    start: int = 0
    is_constant: bool = False

    def words(self, verdict: Verdict) -> str:
        """The status that the proof justifies, by the names of MiniZinc's Python package, and the objective."""
        if self.is_constant and verdict.conclusion == "SAT":
            return f"OPTIMAL_SOLUTION, objective {self.start}"
        if verdict.conclusion != "BOUNDS":
            return {"NONE": "UNKNOWN", "SAT": "SATISFIED", "UNSAT": "UNSATISFIABLE"}[verdict.conclusion]
        ends = [None if end is None else self.sign * (self.start + end) for end in (verdict.lower, verdict.upper)]
        if verdict.upper is None:
            limit = "least" if self.sign > 0 else "most"
            return "UNSATISFIABLE" if verdict.lower is None else f"UNKNOWN, the objective is at {limit} {ends[0]}"
        if ends[0] == ends[1]:
            return f"OPTIMAL_SOLUTION, objective {ends[0]}"
        return f"SATISFIED, objective {ends[1]}, and none is better than {ends[0]}"


def scale_of(formula: str) -> Scale:
    """The scale of the model whose formula is in this file."""
    with open_text(formula) as file:
        for line in file:
            if (found := _COMMENT.fullmatch(line)) is not None:
                return Scale(-1 if found[1] else 1, int(found[2]), found[3] is not None)
            if not line.startswith("*"):
                break
    return Scale()


def check_files(formula: str, proof: str) -> Verdict:
    """Checks the files, packed where their names end with .gz. Raises Refused, and OSError if they cannot be read."""
    try:
        with open_text(formula) as first, open_text(proof) as second:
            return check(first, second)
    except (UnicodeDecodeError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise Refused(f"the file is damaged: {error}") from None


def open_text(path: str) -> IO[str]:
    return gzip.open(path, "rt", encoding="ascii") if path.endswith(".gz") else open(path, encoding="ascii")
