"""Why a model has no solution: a minimal set of its groups that have no solution together, as small as the time allows.

A set of groups is tried by the whole solver, as a model of its own; only its proof that there is no solution counts. So
`core` is refuted at any time. QuickXplain halves the groups (quickxplain.py). A test may take much longer than the
proof for the whole model did: then it is abandoned, the group stays, and tests without one member each, with ever more
time, decide at the end (deletion, the usual way to a minimal unsatisfiable subset).

The core is called minimal when a solution is known for each set with one member less. A solution that a test finds is
checked against the constraints of the whole model (check/): all groups that hold in it have a solution together, so
that no subset of them needs a test.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace

from turbo_fzn.base.domains import INFINITY, IntSet
from turbo_fzn.base.errors import EngineError
from turbo_fzn.check.checker import Checker
from turbo_fzn.explain.groups import groups_of, variables_of
from turbo_fzn.explain.quickxplain import Members, minimal
from turbo_fzn.explain.tuning import TUNING
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt, Interrupted
from turbo_fzn.read.model import Goal, Model, Ref
from turbo_fzn.run.answer.outcome import Core, Finished, Solution
from turbo_fzn.run.driver import Run
from turbo_fzn.run.tuning import TUNING as RUN

log = logging.getLogger("turbo_fzn")


class Explainer:
    """Shrinks the constraints of a model that was proved infeasible, in so many seconds; `core` is the set so far."""

    def __init__(self, model: Model, options: Options, interrupt: Interrupt, seconds: float):
        self.model, self.interrupt = model, interrupt
        self.groups = groups_of(model)
        self.parts = _Parts(model)
        self.options = _for_tests(options)
        self.seconds = max(TUNING.least_seconds, TUNING.test_factor * seconds)
        self.solved: list[Members] = []  # sets that have a solution
        self.undecidable: set[Members] = set()  # sets for which no search, however long, has a result
        self.n_tests = 0
        self.core = self.told(frozenset(range(len(self.groups))))

    def run(self) -> Core:
        """The core, minimal unless the interrupt comes before. An error keeps the proved results: it is logged as a
        warning."""
        try:
            self.shrink()
        except Exception as error:
            log.warning("--explain ends early: %s", error or type(error).__name__)
        return self.core

    def shrink(self) -> None:
        members = self.shrunk(range(len(self.groups)))
        self.core = self.told(members, self.is_minimal(members))
        log.info("explain: %d of %d constraints, after %d tests", len(members), len(self.groups), self.n_tests)

    def shrunk(self, refuted: Sequence[int]) -> Members:
        """A part of these members that is refuted as they are, and minimal unless the interrupt comes before."""
        members = minimal(refuted, self.refutes)
        while (open_ones := self.open_ones(members)) and not self.interrupt:
            self.seconds *= TUNING.round_factor
            for member in open_ones:
                if self.refutes(members - {member}):
                    members -= {member}
        return members

    def told(self, members: Members, is_minimal: bool = False) -> Core:
        return Core([self.groups[member].named for member in sorted(members)], is_minimal)

    def open_ones(self, members: Members) -> list[int]:
        """The members for which it is open whether the others have a solution, and which a longer test may decide."""
        less = {member: members - {member} for member in sorted(members)}
        return [one for one, rest in less.items() if not self.has_solution(rest) and rest not in self.undecidable]

    def is_minimal(self, members: Members) -> bool:
        return all(self.has_solution(members - {member}) for member in members)

    def has_solution(self, members: Members) -> bool:
        return any(members <= known for known in self.solved)

    def refutes(self, members: Members) -> bool:
        """Whether it is proved that these groups have no solution together."""
        if self.interrupt or self.has_solution(members):
            return False
        self.n_tests += 1
        numbers = self.constraints_of(members)
        start = time.monotonic()
        try:
            answer = self.solve(self.parts.only(numbers), _Share(self.interrupt, self.seconds))
        except EngineError as error:  # numbers beyond a store, which the whole model excludes; no such engine
            log.info("explain: a part of the model cannot be searched: %s", error)
            self.undecidable.add(members)
            return False
        if isinstance(answer, Solution):
            self.solved.append(members | self.satisfied(answer))
        elif answer:
            self.seconds = max(self.seconds, TUNING.test_factor * (time.monotonic() - start))
            self.core = self.told(members)
        return answer is True

    def constraints_of(self, members: Iterable[int]) -> set[int]:
        return {number for member in members for number in self.groups[member].constraints}

    def solve(self, model: Model, share: _Share) -> Solution | bool:
        """A solution, or whether it is proved that there is none; a longer search may decide False. Raises EngineError
        if no search can decide it."""
        with closing(Run(model, self.options, share)) as run:
            try:
                for event in run.events():
                    if isinstance(event, Solution):
                        return event
                    if isinstance(event, Finished):
                        if event.status == "UNKNOWN" and not share:  # as with boxes of floats that stay undecided
                            raise EngineError("the search ends without an answer")
                        return event.status == "UNSATISFIABLE"
            except Interrupted:
                pass
        return False

    def satisfied(self, solution: Solution) -> Members:
        """The groups that hold in a solution of some of them."""
        failed = self.parts.failed({item.name: int(values[0]) for item, values in solution.outputs})
        if failed is None:
            return frozenset()
        return frozenset(member for member, group in enumerate(self.groups) if failed.isdisjoint(group.constraints))


class _Share(Interrupt):
    """A stop for one test, after so many seconds or when all is to stop."""

    def __init__(self, whole: Interrupt, seconds: float):
        super().__init__(time.monotonic() + seconds)
        self.whole, self.settled = whole, True
        whole.halt = self.request

    def __bool__(self) -> bool:
        return super().__bool__() or bool(self.whole)


class _Parts:
    """Models with some of the constraints, and without an objective, which output the variables in these
    constraints."""

    def __init__(self, model: Model):
        self.model = model
        self.hidden = {name: replace(one, annotations=[]) for name, one in model.variables.items()}
        self.shown = {name: replace(one, annotations=[Ref("output_var")]) for name, one in model.variables.items()}
        self.always = {name for name, one in model.variables.items() if one.value is not None}
        self.always.update(model.names_in(one.value for one in model.variables.values()))
        arrays = {name: replace(one, annotations=[]) for name, one in model.arrays.items()}
        self.bare = replace(model, arrays=arrays, goal=Goal("satisfy", None, [], 0), unnamed=frozenset())
        self.checker = Checker(model)
        self.is_checked = not self.checker.has_floats and self.checker.cost <= RUN.checked
        self.values = {name: _any_of(one.domain) for name, one in model.variables.items()}

    def only(self, numbers: set[int]) -> Model:
        constraints = [self.model.constraints[number] for number in sorted(numbers)]
        named = self.always.union(*(variables_of(self.model, one) for one in constraints))
        variables = {name: self.shown[name] if name in named else one for name, one in self.hidden.items()}
        return replace(self.bare, variables=variables, constraints=constraints)

    def failed(self, values: dict[str, int]) -> frozenset[int] | None:
        """The numbers of the constraints that do not hold, where other variables have some value; None if a value is
        outside of the declared domain of an array, or if it is not checked, since the model is too large or has
        floats."""
        if not self.is_checked:
            return None
        assignment = self.checker.assign({**self.values, **values})
        if not self.checker.declarations_hold(assignment):
            return None
        return frozenset(self.checker.failed_constraints(assignment))


def _any_of(domain: object) -> int:
    """Some value of a domain; 0 for an empty or missing domain."""
    if not isinstance(domain, IntSet) or not domain or 0 in domain:
        return 0
    return domain.lower if domain.lower > -INFINITY else domain.upper


def _for_tests(options: Options) -> Options:
    """One solution is enough, which is checked with all of its values; there is no profiler; and a GPU is not worth
    initialising for many small proofs, unless the options name it."""
    return replace(
        options,
        arch="gpu" if options.arch == "gpu" else "cpu",
        all_solutions=False,
        n_solutions=1,
        project=None,
        json_stream=False,
        check="always",
        statistics=False,
        cp_profiler=None,
        report=None,
        dump_tnf=None,
        proof=None,
    )
