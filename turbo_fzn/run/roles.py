"""Which blocks of the CPU engine learn from conflicts, and in which role (kernels/learn, docs/learning.md).

A prover restarts often and probes the objective's bound, a finder restarts seldom and stays near the incumbent, a
follower decides as the annotation says; a soloist does all of it in turn. The rest of the blocks search the tree and
neighbourhoods, as without learners.
"""

from __future__ import annotations

import numpy as np

from turbo_fzn.domains import INFINITY
from turbo_fzn.engine.abi import LEARNERS
from turbo_fzn.errors import UsageError
from turbo_fzn.options import Options
from turbo_fzn.ranks.world import world
from turbo_fzn.read.model import Goal, Model
from turbo_fzn.tnf.language import TNF

# With free search: from how many blocks on there is one in this role. With fewer, there is a soloist.
TO_OPTIMISE = {"prover": 3, "finder": 3, "follower": 6}
TO_SATISFY = {"finder": 3, "prover": 3, "follower": 6}
# Without free search, where there is an annotation to follow: who does, to optimise (True) and to satisfy.
AS_ANNOTATED: dict[bool, tuple[str, ...]] = {True: ("follower",), False: ()}
# Beside a GPU, which has blocks enough for the rest: in this order, again and again, but for one block that searches
# neighbourhoods until the GPU does.
BESIDE_GPU = ("prover", "finder", "follower", "soloist")


def choose_roles(tnf: TNF, options: Options, blocks: int, free: bool, beside_gpu: bool = False) -> tuple[str, ...]:
    """The roles of the blocks that learn, at most `blocks`. None do where all solutions are wanted, where a bound is
    infinite, or where there are real variables. Raises UsageError for a name that is no role."""
    named = tuple(options.learn.replace(",", " ").split())
    if named not in (("auto",), ("off",)) and (unknown := set(named) - set(LEARNERS)):
        raise UsageError(f"--learn: no role {', '.join(sorted(unknown))}; there are {', '.join(LEARNERS)}")
    one_is_enough = options.solution_limit() == options.optimal_limit() == 1
    finite = bool(np.all(tnf.lower > -INFINITY) and np.all(tnf.upper < INFINITY))
    if named == ("off",) or not finite or tnf.floats is not None or (tnf.sense == 0 and not one_is_enough):
        return ()
    if named != ("auto",):
        return named[:blocks]
    if not free:
        return AS_ANNOTATED[tnf.sense != 0] if tnf.annotated and world() is None else ()
    if beside_gpu and blocks > 2:
        return tuple(BESIDE_GPU[i % len(BESIDE_GPU)] for i in range(blocks - 1))
    table = TO_OPTIMISE if tnf.sense else TO_SATISFY
    return tuple(role for role, least in table.items() if blocks >= least) or ("soloist",)


def may_learn(model: Model, options: Options) -> bool:
    """Whether some block is likely to learn, as far as can be told before the model is lowered."""
    goal = model.goal or Goal("satisfy", None, [], 0)
    optimises = goal.method != "satisfy"
    several = not optimises and options.solution_limit() != 1
    if options.learn != "auto":
        return options.learn != "off"
    if options.arch == "gpu" or options.cp_profiler or several:
        return False
    return options.free_search or not goal.annotations or bool(AS_ANNOTATED[optimises])
