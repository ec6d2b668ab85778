"""QuickXplain: a minimal set of members that are refuted together, by dividing (U. Junker, AAAI 2004).

`refutes` says of a set whether it is proved that it has no solution. It may fail to prove that, and the result is
refuted all the same: every set that is given up here is one without which the rest was refuted. Where `refutes` always
proves what is true, the result is minimal, and of the tests that failed there is, for each member of the result, one of
a set that contains all others of it.

With n members, of which k are left, it takes about 2 k log2(n / k) + 2 k tests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Members = frozenset[int]


def minimal(members: Sequence[int], refutes: Callable[[Members], bool]) -> Members:
    """A part of `members`, which are refuted together. The first ones are the last to be given up."""
    return frozenset() if refutes(frozenset()) else _conflict(frozenset(), False, members, refutes)


def _conflict(base: Members, is_new: bool, members: Sequence[int], refutes: Callable[[Members], bool]) -> Members:
    """What of `members` is needed beside `base`; both together are refuted. `is_new`: `base` alone is not tested."""
    if is_new and refutes(base):
        return frozenset()
    if len(members) <= 1:
        return frozenset(members)
    half = len(members) // 2
    first, second = members[:half], members[half:]
    of_second = _conflict(base.union(first), True, second, refutes)
    return of_second | _conflict(base | of_second, bool(of_second), first, refutes)
