"""A single budget of rows for a model: it decides which constraints are stated by ternary rows besides a wide row.

Such rows cost start-up time and memory. Learned clauses benefit from the truths of the order of two tasks, so tasks
that must not overlap come first, the smallest constraints before others. The truths of cumulatives gain little beside
wide rows (docs/measurements/presolve.md), but other engines than learners need them: so all cumulatives get rows if the
budget suffices, or none of them.

The constraints wait until everything else has narrowed the domains, which their sizes depend on, and constraints of one
size get rows together or not at all. So the order of the text does not matter.
"""

from __future__ import annotations

from itertools import groupby

from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.inner import Choice
from turbo_fzn.lower.tuning import TUNING


def state_waiting(b: RowBuilder) -> None:
    """States the constraints that wait, by rows while the budget lasts."""
    sized = [(choice.cells(), choice) for choice in b.wides.waiting]
    b.wides.waiting.clear()
    left = TUNING.budget_cells
    for _, group in groupby(sorted(sized, key=_place_in_line), _place_in_line):
        sizes, choices = zip(*group)
        alone = b.wides.may_stand_alone and sum(sizes) > left
        left -= 0 if alone else sum(sizes)
        for choice in choices:
            choice.state(alone)


def _place_in_line(sized: tuple[int, Choice]) -> tuple[bool, int]:
    """The place in the order in which constraints get rows; constraints at one place get them together."""
    cells, choice = sized
    return not choice.gains, cells if choice.gains else 0
