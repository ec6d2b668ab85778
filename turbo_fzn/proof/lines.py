"""The lines of a model's file: names of 0-1 variables, the words of sums, and a file that takes the constraints.

A large model has millions of lines, so they are not kept, and names of bits are spelt out where they are needed.
"""

from __future__ import annotations

import tempfile
from array import array
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate

from turbo_fzn.proof.tuning import TUNING


class Lines:
    """A file without a name, `text`, until write_model has taken it. `count` is the number of constraints, `n_names`
    that of 0-1 variables: the bits of each variable come first. `is_again`: constraints are counted, not written."""

    def __init__(self, widths: list[int]):
        """`widths`: the number of bits of each variable."""
        self.count, self.is_again = 0, False
        self.text = tempfile.SpooledTemporaryFile(TUNING.text_bytes, prefix="turbo_fzn-proof-")
        self.block: list[str] = []  # the lines that are written next
        self.sums: dict[tuple[int, int, str], str] = {}
        self.other_names: list[str] = []  # of 0-1 variables that are no bits
        self.first_bits = array("q", accumulate(widths, initial=0))
        self.bits = [range(start, start + width) for start, width in zip(self.first_bits, widths)]

    def flush(self) -> None:
        self.text.write("".join(self.block).encode("ascii"))
        self.block.clear()

    @property
    def n_names(self) -> int:
        return self.first_bits[-1] + len(self.other_names)

    def name(self, name: str) -> int:
        """A new 0-1 variable of this name."""
        self.other_names.append(name)
        return self.n_names - 1

    def state(self, constraint: str) -> int:
        """Adds the constraint. Returns its number, from 1 on."""
        self.count += 1
        if not self.is_again:
            self.block.append(f"{constraint} ;\n")
            if len(self.block) >= TUNING.block_lines:
                self.flush()
        return self.count

    def name_of(self, number: int) -> str:
        """The name of a 0-1 variable."""
        place = number - self.first_bits[-1]
        if place >= 0:
            return self.other_names[place]
        variable = bisect_right(self.first_bits, number) - 1
        return f"x{variable}b{number - self.first_bits[variable]}"

    def spell(self, literal: int) -> str:
        return "~" * (literal & 1) + self.name_of(literal >> 1)

    def spell_terms(self, terms: Iterable[tuple[int, int]]) -> str:
        """The words of a sum of (coefficient, literal), with a space behind it."""
        return "".join([f"{coefficient} {self.spell(literal)} " for coefficient, literal in terms])

    def weakening(self, variable: int) -> str:
        """The words by which a `pol` step does without a variable's bits, each with a space before it."""
        key = variable, 0, "w"
        words = self.sums.get(key)
        if words is None:
            words = self._keep(key, "".join([f" x{variable}b{i} w" for i in range(len(self.bits[variable]))]))
        return words

    def sum_of(self, variable: int, factor: int, sign: str = "") -> str:
        """The words of the sum of a variable's bits, or of their negations, times a factor, with a space behind it."""
        key = variable, factor, sign
        words = self.sums.get(key)
        if words is None:
            width = len(self.bits[variable])
            words = self._keep(key, "".join([f"{factor << i} {sign}x{variable}b{i} " for i in range(width)]))
        return words

    def _keep(self, key: tuple[int, int, str], words: str) -> str:
        """The words, which are kept for later unless others take their place."""
        if len(self.sums) >= TUNING.kept_sums:
            self.sums.clear()
        self.sums[key] = words
        return words
