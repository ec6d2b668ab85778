"""Is an answer right? Solve a model in one of many ways and compare with enumeration (tests/oracle.py).

Never allowed: a solution that is none, one that is printed twice, one that is missing from a complete search, another
optimum, a claim that is not true, an exception that is no answer. Where numbers are large or without bounds the solver
may refuse the model, or give up its claim; then what it prints is judged all the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from random import Random
from typing import Any

from flatzinc_text import with_text
from loopback import in_process
from oracle import all_solutions, fingerprint, is_small, objective_of, outputs_of

from turbo_fzn import Result, solve_model, solve_text
from turbo_fzn.errors import EngineError, InternalError, UnsupportedError
from turbo_fzn.read.model import Model

BLOCKS = (1, 1, 1, 2, 3, 32)
TEAMS = ("prover", "finder", "follower", "soloist", "prover,finder", "finder,follower,prover")  # of blocks that learn
SECONDS = 100  # a small model that takes longer hangs, on any machine


@dataclass(frozen=True)
class Way:
    """How to solve: the settings of a run, and whether the model goes through the parser."""

    arch: str = "cpu"
    blocks: int = 1
    simplify: bool = True
    check: bool = False
    free_search: bool = False
    lns: str = "auto"
    seed: int = 0
    n_solutions: int | None = None
    learn: str = "off"
    by_text: bool = False
    ranks: int = 1

    def settings(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if name not in ("by_text", "ranks")}


def draw_way(random: Random, arch: str = "cpu") -> Way:
    blocks = random.choice(BLOCKS) if arch == "cpu" else random.choice((0, 1, 4, 33, 200)) or None
    return Way(
        arch=arch,
        blocks=blocks,  # type: ignore[arg-type]
        simplify=random.random() < 0.6,
        check=random.random() < 0.2,
        free_search=random.random() < 0.3,
        lns=random.choice(("auto", "auto", "on", "off")),
        seed=random.randint(0, 9),
        n_solutions=random.choice((None, None, None, 1, 2)),
        by_text=random.random() < 0.2,
        learn=random.choice(("off", "off", *TEAMS)) if arch == "cpu" else "off",
    )


def draw_learning_way(random: Random) -> Way:
    """One in which a block learns."""
    return replace(draw_way(random), learn=random.choice(TEAMS), n_solutions=1)


def draw_ranks_way(random: Random) -> Way:
    """One in which several ranks search."""
    return replace(draw_way(random), ranks=random.choice((2, 3, 8)))


def every_way() -> Iterator[Way]:
    """What a regression is tried with."""
    for blocks in (1, 2, 3):
        for simplify in (True, False):
            for free_search in (True, False):
                yield Way(blocks=blocks, simplify=simplify, free_search=free_search, by_text=True)
    for team in TEAMS:
        for simplify in (True, False):
            yield Way(blocks=3, simplify=simplify, learn=team, n_solutions=1, by_text=True)


@dataclass(frozen=True)
class Verdict:
    """`kind` is right, refused, unclaimed or slow, which may be, or what is wrong; `fault` says more of the latter."""

    kind: str
    fault: str = ""

    @property
    def is_fault(self) -> bool:
        return bool(self.fault)


class Expected:
    """What enumeration finds: the solutions as they are shown, and their objectives."""

    def __init__(self, model: Model):
        self.model = model
        self.is_small = is_small(model) and all(
            variable.domain is not None or variable.value is not None
            for variable in model.variables.values()
            if variable.kind == "int"
        )
        self.optimise = model.goal.method != "satisfy"  # type: ignore[union-attr]
        self.objectives: dict[str, set[int]] = {}
        for solution in all_solutions(model):
            shown = fingerprint(outputs_of(model, solution))
            self.objectives.setdefault(shown, set()).add(objective_of(model, solution) if self.optimise else 0)

    @property
    def optimum(self) -> int | None:
        best = min if self.model.goal.method == "minimize" else max  # type: ignore[union-attr]
        return best((value for values in self.objectives.values() for value in values), default=None)


def judge(model: Model, way: Way, expected: Expected | None = None) -> Verdict:
    """Solves and compares. Raises oracle.WindowTooSmall where enumeration cannot tell."""
    expected = expected or Expected(model)
    milliseconds = SECONDS * 1000 if expected.is_small else 300
    settings: dict[str, Any] = {**way.settings(), "all_solutions": way.n_solutions is None, "time_limit": milliseconds}
    try:
        with in_process(way.ranks, delay=way.seed % 4, seed=way.seed):
            if way.by_text:
                result = solve_text(model.text or with_text(model).text, **settings)
            else:
                result = solve_model(model, **settings)
    except (UnsupportedError, EngineError) as error:
        return Verdict("refused") if not expected.is_small else Verdict("crash", f"refused: {error}")
    except InternalError as error:
        return Verdict("wrong", str(error))
    except Exception as error:
        return Verdict("crash", f"{type(error).__name__}: {error}")
    return compare(result, way, expected)


def compare(result: Result, way: Way, expected: Expected) -> Verdict:
    printed = [fingerprint(solution) for solution in result.solutions]
    strange = [shown for shown in printed if shown not in expected.objectives]
    if strange:
        return Verdict("wrong", f"no solution: {strange[0]}")
    if errors := result.statistics.get("explanationErrors", 0):
        return Verdict("wrong", f"{errors} explanations or clauses of a learner do not hold")
    fault = (wrong_optimum if expected.optimise else wrong_solutions)(result, printed, way, expected)
    if fault:
        return Verdict("wrong", fault)
    limited = not expected.optimise and way.n_solutions and len(printed) == way.n_solutions
    if result.status in ("ALL_SOLUTIONS", "UNSATISFIABLE") or limited:
        return Verdict("right")
    if not expected.is_small:
        return Verdict("unclaimed")
    return Verdict("slow", f"status {result.status} of a small model after {SECONDS} s")


def wrong_solutions(result: Result, printed: list[str], way: Way, expected: Expected) -> str:
    """What is wrong with the answer to a satisfaction problem, or nothing."""
    twice = [shown for shown, count in Counter(printed).items() if count > 1]
    if twice:
        return f"printed twice: {twice[0]}"
    claims = result.status in ("ALL_SOLUTIONS", "UNSATISFIABLE")
    missing = expected.objectives.keys() - set(printed)
    if claims and missing:
        return f"status {result.status}, {len(missing)} of {len(expected.objectives)} missing: {min(missing)}"
    if claims and (result.status == "UNSATISFIABLE") != (not printed):
        return f"status {result.status} with {len(printed)} solutions"
    if way.n_solutions and len(printed) > way.n_solutions:
        return f"{len(printed)} solutions where {way.n_solutions} were wanted"
    return ""


def wrong_optimum(result: Result, printed: list[str], way: Way, expected: Expected) -> str:
    """What is wrong with the answer to an optimisation problem, or nothing."""
    sense = 1 if expected.model.goal.method == "minimize" else -1  # type: ignore[union-attr]
    bound = None
    for shown in printed:  # each at least as good as can be told from what is shown
        better = [sense * value for value in expected.objectives[shown] if bound is None or sense * value < bound]
        if not better:
            return f"no improvement: {shown}"
        bound = max(better)
    claims = result.status in ("ALL_SOLUTIONS", "UNSATISFIABLE")
    optimum = expected.optimum
    if result.status == "UNBOUNDED":
        return f"called unbounded where {optimum} is the optimum"
    if claims and result.objective != optimum:
        return f"status {result.status}, objective {result.objective} where {optimum} is the optimum"
    if claims and (result.status == "UNSATISFIABLE") != (not printed):
        return f"status {result.status} with {len(printed)} solutions"
    if printed and result.objective not in expected.objectives[printed[-1]]:
        return f"objective {result.objective} of {printed[-1]}"
    return ""
