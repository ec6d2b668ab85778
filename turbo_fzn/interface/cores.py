"""All minimal sets of constraints that have no solution together, one by one: `from turbo_fzn import Cores`.

    for core in Cores(text, time_limit=60_000):
        print(core.titles)

MARCO (M. Liffiton, A. Previti, A. Malik and J. Marques-Silva, Constraints 2016): a map, itself a model, represents the
sets that are still open. A greatest open set is tried: a set without a solution is shrunk to a core, and sets that
contain the core are no longer open; a set with a solution closes all its subsets. Each core could be the result of
`--explain`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from turbo_fzn.explain.explainer import Explainer
from turbo_fzn.explain.quickxplain import Members
from turbo_fzn.explain.tuning import TUNING as EXPLAIN
from turbo_fzn.interface.api import interrupt_of
from turbo_fzn.interface.building import Builder
from turbo_fzn.options.settings import options_of
from turbo_fzn.read.languages import parse_named
from turbo_fzn.read.model import Model as ParsedModel
from turbo_fzn.run.answer.outcome import Core


class Cores:
    """The cores of a model: FlatZinc, FlatZinc-JSON or XCSP3 as text, or a model as a reader or a `Builder` has it.

    `settings` as in `solve_text`. When the iteration has ended, `complete` is whether these were all cores, each of
    them minimal: a time limit ends it early, and so does a set for which no search has a result. A model that has a
    solution has no core.
    """

    def __init__(self, text: str | ParsedModel, **settings: Any):
        self._options = options_of(settings)
        self._model = parse_named(text, self._options.file) if isinstance(text, str) else text
        self.complete = False

    def __iter__(self) -> Iterator[Core]:
        self.complete, all_minimal = False, True
        interrupt = interrupt_of(self._options, time.monotonic())
        explainer = Explainer(self._model, self._options, interrupt, EXPLAIN.least_seconds)
        open_sets = _Map(len(explainer.groups))
        while not interrupt:
            members = open_sets.greatest()
            if members is None:
                self.complete = all_minimal
                return
            if explainer.refutes(members):
                core = explainer.shrunk(sorted(members))
                is_minimal = explainer.is_minimal(core)
                all_minimal &= is_minimal
                yield explainer.told(core, is_minimal)
                open_sets.close_above(core)
            elif explainer.has_solution(members):
                open_sets.close_below(max((known for known in explainer.solved if members <= known), key=len))
            elif members in explainer.undecidable:
                return
            else:
                explainer.seconds *= EXPLAIN.round_factor


class _Map:
    """The open sets of members."""

    def __init__(self, n_members: int):
        self.build = Builder()
        self.members = self.build.bools("member", (n_members,))
        size = self.build.ints("size", 0, n_members)
        self.build.bool_lin_eq([1] * n_members, self.members, size)
        self.build.maximize(size)

    def greatest(self) -> Members | None:
        """An open set with the most members, or None."""
        result = self.build.model(arch="cpu").solve()
        if result.status == "UNSATISFIABLE":
            return None
        return frozenset(np.flatnonzero(self.build.values(result.solutions[-1])["member"]).tolist())

    def close_above(self, core: Members) -> None:
        self.build.bool_clause([], self.members[sorted(core)])

    def close_below(self, solved: Members) -> None:
        others = sorted(set(range(len(self.members))) - solved)
        self.build.bool_clause(self.members[others], [])
