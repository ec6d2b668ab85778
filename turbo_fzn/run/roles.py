"""Which blocks of the CPU engine learn from conflicts, and in which role (kernels/learn, docs/learning.md).

A prover restarts often and probes the objective's bound, a finder restarts seldom and stays near the incumbent, a
follower decides as the annotation says. The rest of the blocks search the tree and neighbourhoods, as without learners.
"""

from __future__ import annotations

import numpy as np

from turbo_fzn.domains import INFINITY
from turbo_fzn.engine.abi import LEARNERS
from turbo_fzn.errors import UsageError
from turbo_fzn.options import Options
from turbo_fzn.tnf.language import TNF

# With free search, by the number of blocks; more of them than the table has are as many as its last entry.
TO_OPTIMISE = ((), ("prover",), ("prover",), ("prover", "finder"), ("prover", "finder"), ("prover", "finder"), ("prover", "finder", "follower"))
TO_SATISFY = ((), ("finder",), ("finder",), ("finder", "prover"), ("finder", "prover"), ("finder", "prover"), ("finder", "prover", "follower"))


def choose_roles(tnf: TNF, options: Options, blocks: int) -> tuple[str, ...]:
    """The roles of the blocks that learn, at most `blocks`. None do where all solutions are wanted, or where a bound is
    infinite. Raises UsageError for a name that is no role."""
    named = tuple(options.learn.replace(",", " ").split())
    unknown = set(named) - {*LEARNERS, "auto", "off"}
    if unknown or (len(named) != 1 and {"auto", "off"} & set(named)):
        raise UsageError(f"--learn: auto, off or roles: no role {', '.join(sorted(unknown or named))}; there are {', '.join(LEARNERS)}")
    one_is_enough = options.solution_limit() == options.optimal_limit() == 1
    finite = bool(np.all(tnf.lower > -INFINITY) and np.all(tnf.upper < INFINITY))
    if named == ("off",) or not finite or (tnf.sense == 0 and not one_is_enough):
        return ()
    if named != ("auto",):
        return named[:blocks]
    table = TO_OPTIMISE if tnf.sense else TO_SATISFY
    return table[min(blocks, len(table) - 1)] if options.free_search else ()
