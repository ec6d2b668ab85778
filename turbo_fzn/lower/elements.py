"""Elements of constants as wide rows (tnf/wide.py), where the index has truth values.

The ternary row of such an element uses the bounds of the index. A value that is removed in the middle does not narrow
the result, nor the reverse, though other constraints may have a truth value for it: all_different, regular, a count,
another element. The wide row links the result with these. So it is stated when all other constraints have been lowered.
Missing truth values are made only where most of an index's values have truth values.

Elements of variables are not stated in this way, nor are truth values made for the wide row alone: measurements show no
gain on average (docs/measurements/learning.md).
"""

from __future__ import annotations

from turbo_fzn.base.domains import IntSet
from turbo_fzn.lower import bulk
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.tnf.language import EQ
from turbo_fzn.tnf.wide import WideKind


def state_whole(b: RowBuilder) -> None:
    """States elements of constants as wide rows where most values of the index have a truth value."""
    for result, at, values, first in b.wides.elements if b.wides.wanted else ():
        i = b.find(at)
        if b.value(i) is not None or b.value(b.find(result)) is not None:
            continue
        domain = bulk.domain(b, i)
        if domain.upper - domain.lower >= TUNING.element_values or not _has_truths(b, i, domain):
            continue
        groups = [
            (bulk.shared(b, EQ, i, b.constant(j)) if j in domain else b.false, b.constant(values[j - first]))
            for j in range(domain.lower, domain.upper + 1)
        ]
        b.wides.add(WideKind.ELEMENT, [result, i, b.constant(domain.lower)], groups)


def _has_truths(b: RowBuilder, x: int, domain: IntSet) -> bool:
    """Whether enough values of the domain have a truth of x = v."""
    constants = [b.constants[v] for v in domain if v in b.constants]
    known = sum(b.known(EQ, min(x, c), max(x, c)) is not None for c in constants)
    return TUNING.values_per_truth * known >= domain.size
