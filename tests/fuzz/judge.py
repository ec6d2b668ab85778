"""Is an answer right? Solve a model in one of many ways and compare with enumeration (tests/support/oracle.py).

Never allowed: a solution that is none, one that is printed twice, one that is missing from a complete search, another
optimum, a claim that is not true, an exception that is no answer. Where numbers are large the solver may refuse the
model, and where they are large or without bounds it may give up its claim; then what it prints is judged all the same.
A model whose numbers and solutions are small must not be refused, whatever bounds its variables have or lack.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from random import Random
from typing import Any

from fuzz.pairs import FORMS, as_team
from fuzz.thresholds import draw_thresholds, with_thresholds
from support.flatzinc_text import with_text
from support.loopback import in_process
from support.oracle import all_solutions, fingerprint, is_small, is_tried_whole, objective_of, outputs_of
from turbo_fzn import Result, solve_model, solve_text
from turbo_fzn.base.errors import EngineError, InternalError, ModelError, UnsupportedError
from turbo_fzn.read.model import Model

BLOCKS = (1, 1, 1, 2, 3, 32)
TEAMS = (  # of blocks that learn
    *("prover", "finder", "follower", "soloist", "cores", "auto"),
    *("prover,finder", "finder,follower,prover", "cores,finder", "prover,cores"),
    "finder:all,finder:labelled,cores:labelled,follower:all,finder:truths,follower:labelled,prover",
)
MOST_END = 2**32  # of domains, beyond which a model may be refused
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
    relaxation: str = "auto"
    symmetry: str = "auto"
    memory: int | None = None
    n_optimal: int | None = None
    team: str = ""  # of two CPU engines (pairs.py)
    thresholds: dict[str, float] = field(default_factory=dict)

    def settings(self) -> dict[str, Any]:
        ours = ("by_text", "ranks", "team", "thresholds")
        return {name: value for name, value in asdict(self).items() if name not in ours}

    @contextmanager
    def surroundings(self) -> Iterator[None]:
        """What is not said by settings."""
        with ExitStack() as stack:
            stack.enter_context(with_thresholds(self.thresholds))
            stack.enter_context(as_team(self.team))
            stack.enter_context(in_process(self.ranks, delay=self.seed % 4, seed=self.seed))
            yield


def draw_way(random: Random, arch: str = "cpu") -> Way:
    blocks = random.choice(BLOCKS) if arch == "cpu" else random.choice((0, 1, 4, 33, 200)) or None
    more: dict[str, Any] = draw_cpu_way(random, blocks or 1) if arch == "cpu" else {"blocks": blocks}
    return Way(
        arch=arch,
        simplify=random.random() < 0.6,
        check=random.random() < 0.2,
        free_search=random.random() < 0.3,
        lns=random.choice(("auto", "auto", "on", "off")),
        seed=random.randint(0, 9),
        n_solutions=random.choice((None, None, None, 1, 2)),
        by_text=random.random() < 0.2,
        relaxation=random.choice(("auto", "auto", "auto", "on", "off")),
        symmetry=random.choice(("auto", "auto", "on", "off")),
        n_optimal=random.choice((None, None, None, 0, 2)),
        **more,
    )


def draw_cpu_way(random: Random, blocks: int) -> dict[str, Any]:
    """Learners, in little memory and without another block beside them now and then; teams; thresholds."""
    learn = random.choice(("off", "off", *TEAMS))
    alone = learn != "off" and random.random() < 0.5
    return {
        "learn": learn,
        "blocks": 1 + learn.count(",") if alone else blocks,
        "memory": 1 if random.random() < 0.3 else None,
        "team": random.choice(("", "", "", "", *FORMS)),
        "thresholds": draw_thresholds(random),
    }


def draw_learning_way(random: Random) -> Way:
    """One in which a block learns."""
    return replace(draw_way(random), learn=random.choice(TEAMS), n_solutions=1)


def draw_ranks_way(random: Random) -> Way:
    """One in which several ranks search."""
    return replace(draw_way(random), ranks=random.choice((2, 3, 8)), team="")


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
        variables = [variable for variable in model.variables.values() if variable.value is None]
        self.is_small = is_small(model) and all(map(is_tried_whole, variables))
        ends = [abs(end) for one in variables if one.domain for end in (one.domain.lower, one.domain.upper)]
        self.may_be_refused = not is_small(model) or max(ends, default=0) > MOST_END
        self.optimise = model.goal.method != "satisfy"  # type: ignore[union-attr]
        self.objectives: dict[str, set[int]] = {}
        for solution in all_solutions(model):
            shown = fingerprint(outputs_of(model, solution))
            self.objectives.setdefault(shown, set()).add(objective_of(model, solution) if self.optimise else 0)

    @cached_property
    def optimum(self) -> int | None:
        best = min if self.model.goal.method == "minimize" else max  # type: ignore[union-attr]
        return best((value for values in self.objectives.values() for value in values), default=None)


def judge(model: Model, way: Way, expected: Expected | None = None, must_claim: bool = False) -> Verdict:
    """Solves and compares. Raises oracle.WindowTooSmall where enumeration cannot tell. Who expects a claim of a model
    that is not small waits for it as long as for a small one's."""
    expected = expected or Expected(model)
    milliseconds = SECONDS * 1000 if expected.is_small or must_claim else 300
    settings: dict[str, Any] = {**way.settings(), "all_solutions": way.n_solutions is None, "time_limit": milliseconds}
    try:
        with way.surroundings():
            if way.by_text:
                result = solve_text(model.text or with_text(model).text, **settings)
            else:
                result = solve_model(model, **settings)
    except (UnsupportedError, EngineError) as error:
        return Verdict("refused") if expected.may_be_refused else Verdict("without need", f"refused: {error}")
    except InternalError as error:
        return Verdict("wrong", str(error))
    except ModelError as error:
        is_too_large = "does not fit in 64 bits" in str(error) and expected.may_be_refused
        return Verdict("refused") if is_too_large else Verdict("crash", f"ModelError: {error}")
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
    limited = has_enough(printed, way, expected)
    if result.complete or limited:
        return Verdict("right")
    if not expected.is_small or may_lack_memory(way):
        return Verdict("unclaimed")
    return Verdict("slow", f"status {result.status} of a small model, for which there are {SECONDS} s")


def may_lack_memory(way: Way) -> bool:
    """Whether several learners share little memory, and may alone know a constraint, which stands as a wide row: a
    search that they leave for want of memory ends early, with a warning."""
    return way.memory is not None and way.blocks > 1 and "lower.budget_cells" in way.thresholds


def wrong_solutions(result: Result, printed: list[str], way: Way, expected: Expected) -> str:
    """What is wrong with the answer to a satisfaction problem, or nothing."""
    twice = [shown for shown, count in Counter(printed).items() if count > 1]
    if twice:
        return f"printed twice: {twice[0]}"
    claims = result.complete
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
    optimum, rest = expected.optimum, []
    if way.n_optimal is not None:
        printed, rest = split_optima(printed, expected)
        if rest and (fault := wrong_optima(result, rest, way, expected)):
            return fault
    bound = None
    for shown in printed:  # each at least as good as can be told from what is shown
        better = [sense * value for value in expected.objectives[shown] if bound is None or sense * value < bound]
        if not better:
            return f"no improvement: {shown}"
        bound = max(better)
    claims = result.complete
    if result.status == "UNBOUNDED":
        return f"called unbounded where {optimum} is the optimum"
    if claims and result.objective != optimum:
        return f"status {result.status}, objective {result.objective} where {optimum} is the optimum"
    printed = printed + rest
    if claims and (result.status == "UNSATISFIABLE") != (not printed):
        return f"status {result.status} with {len(printed)} solutions"
    if printed and result.objective not in expected.objectives[printed[-1]]:
        return f"objective {result.objective} of {printed[-1]}"
    return ""


def optima(expected: Expected) -> set[str]:
    return {shown for shown, values in expected.objectives.items() if expected.optimum in values}


def split_optima(printed: list[str], expected: Expected) -> tuple[list[str], list[str]]:
    """The improvements, and from the first optimum on the optima; where what is shown does not tell which solutions are
    optimal, the most that may be."""
    place = len(printed)
    while place and expected.optimum in expected.objectives[printed[place - 1]]:
        place -= 1
    return printed[:place], printed[place:]


def wrong_optima(result: Result, printed: list[str], way: Way, expected: Expected) -> str:
    """What is wrong with the last solutions, which may be optimal, where several of these are wanted, or nothing."""
    are_told = all(len(expected.objectives[shown]) == 1 for shown in printed)
    if are_told and len(printed) != len(set(printed)):
        return "an optimal solution twice"
    if are_told and way.n_optimal and len(printed) > way.n_optimal:
        return f"{len(printed)} optimal solutions where {way.n_optimal} were wanted"
    wanted = min(way.n_optimal or len(optima(expected)), len(optima(expected)))
    if result.complete and len(set(printed)) < wanted:
        return f"status {result.status}, {len(set(printed))} optimal solutions of {wanted}"
    return ""


def has_enough(printed: list[str], way: Way, expected: Expected) -> bool:
    """Whether there are as many solutions as were wanted, and nobody need say that these are all."""
    if expected.optimise:
        return bool(way.n_optimal) and set(printed[-(way.n_optimal or 1) :]) <= optima(expected)
    return bool(way.n_solutions) and len(printed) == way.n_solutions
