"""Small random models with float variables, of which Gecode has the other opinion.

One to three constraints over all builtins that Gecode knows, plain and reified, on arguments that need not satisfy
them. Gecode's boxes are rounded, too, so a solution of one solver is evidence against the other's "unsatisfiable" only
if it holds by itself: ours are checked before they are printed, Gecode's are looked at here, to within a tolerance.
"""

from __future__ import annotations

import math
import re
import subprocess
import tempfile
from collections.abc import Callable
from random import Random

from fuzz.judge import Verdict
from support.command import PATIENCE
from turbo_fzn import solve_text
from turbo_fzn.base.errors import TurboError
from turbo_fzn.check.reals import find_form, may_be
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.read.model import Model

TOLERANCE, CLOSE = 1e-5, 1e-7  # of two optima; of a point of Gecode's
MILLISECONDS = 500
COMPLETE, UNSATISFIABLE = "==========", "=====UNSATISFIABLE====="
FUNCTIONS = ("abs", "sqrt", "exp", "ln", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan")
OPERATORS = ("plus", "times", "div", "min", "max")
COMPARISONS = ("eq", "ne", "le", "lt")
SUMS = ("lin_eq", "lin_le", "lin_lt")
REIFIED = {"eq", "le", "lt", *SUMS}  # as far as Gecode has them


class Drawn:
    """The lines of a model, and its real variables."""

    def __init__(self, random: Random):
        self.random = random
        self.declarations: list[str] = []
        self.constraints: list[str] = []
        self.reals: list[str] = []

    def declare(self, domain: str, is_real: bool = True) -> str:
        name = f"v{len(self.declarations)}"
        self.declarations.append(f"var {domain}: {name} :: output_var;")
        if is_real:
            self.reals.append(name)
        return name

    def real(self) -> str:
        """A new variable or, half of the time, one that is there."""
        if self.reals and self.random.random() < 0.5:
            return self.random.choice(self.reals)
        low = self.random.choice((-8.0, -1.5, -1.0, 0.0, 0.25, 1.0))
        return self.declare(f"{low}..{low + self.random.choice((0.5, 2.0, 6.0))}")

    def text(self, goal: str) -> str:
        lines = [*self.declarations, *(f"constraint {constraint};" for constraint in self.constraints), goal]
        return "\n".join(lines) + "\n"


def number(random: Random) -> float:
    return random.choice((-3.0, -1.25, -0.1, 0.0, 0.3, 1.0, 2.5, 7.0))


def add_function(drawn: Drawn) -> None:
    drawn.constraints.append(f"float_{drawn.random.choice(FUNCTIONS)}({drawn.real()},{drawn.real()})")


def add_operator(drawn: Drawn) -> None:
    arguments = ",".join(drawn.real() for _ in range(3))
    drawn.constraints.append(f"float_{drawn.random.choice(OPERATORS)}({arguments})")


def add_comparison(drawn: Drawn) -> None:
    name = drawn.random.choice(COMPARISONS)
    other = drawn.random.choice((drawn.real(), str(number(drawn.random))))
    drawn.constraints.append(reified(drawn, name, f"{drawn.real()},{other}"))


def add_sum(drawn: Drawn) -> None:
    chosen = list(dict.fromkeys(drawn.real() for _ in range(drawn.random.randint(1, 3))))
    coefficients = [number(drawn.random) or 1.0 for _ in chosen]
    arguments = f"{coefficients},[{','.join(chosen)}],{number(drawn.random)}"
    drawn.constraints.append(reified(drawn, drawn.random.choice(SUMS), arguments))


def add_integer(drawn: Drawn) -> None:
    low = drawn.random.randint(-4, 2)
    integer = drawn.declare(f"{low}..{low + drawn.random.randint(0, 4)}", is_real=False)
    drawn.constraints.append(f"int2float({integer},{drawn.real()})")


def reified(drawn: Drawn, name: str, arguments: str) -> str:
    if name not in REIFIED or drawn.random.random() < 0.5:
        return f"float_{name}({arguments})"
    return f"float_{name}_reif({arguments},{drawn.declare('bool', is_real=False)})"


PARTS: tuple[Callable[[Drawn], None], ...] = (add_function, add_operator, add_comparison, add_sum, add_integer)


def draw_model(random: Random) -> tuple[str, str]:
    """A text, and the name of the objective or nothing."""
    drawn = Drawn(random)
    drawn.real()
    for _ in range(random.randint(1, 3)):
        random.choice(PARTS)(drawn)
    if random.random() < 0.4:
        return drawn.text("solve satisfy;"), ""
    objective = random.choice(drawn.reals)
    return drawn.text(f"solve {random.choice(('minimize', 'maximize'))} {objective};"), objective


def ask_gecode(text: str) -> str:
    """What it says; nothing where it fails, or does not end, as one run in some thousands."""
    with tempfile.NamedTemporaryFile("w", suffix=".fzn") as file:
        file.write(text)
        file.flush()
        command = ["fzn-gecode", "-time", str(MILLISECONDS), file.name]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE / 10, check=False)
        except subprocess.TimeoutExpired:
            return ""
    return "" if done.returncode or "rror" in done.stderr else done.stdout


def last_point(answer: str) -> dict[str, float] | None:
    """The values of the last solution."""
    parts = answer.split("----------")
    if len(parts) < 2:
        return None
    lines = re.findall(r"(\w+) = ([^;]+);", parts[-2])
    return {name: float({"true": 1, "false": 0}.get(value, value)) for name, value in lines}


def holds(model: Model, point: dict[str, float]) -> bool:
    """Whether a point satisfies every constraint closely."""

    def value(argument: object) -> object:
        if isinstance(argument, list):
            return [value(one) for one in argument]
        return point.get(argument, argument) if isinstance(argument, str) else argument

    for constraint in model.constraints:
        form = find_form(constraint.name)
        assert form is not None
        arguments = [value(argument) for argument in constraint.args]
        truth = bool(arguments.pop()) if form.suffix else True
        if not may_be(truth != form.negated, form.measure(*arguments), CLOSE):
            return False
    return True


def try_float_peers(random: Random) -> tuple[Verdict, str]:
    """The verdict on a random model, and its text."""
    text, objective = draw_model(random)
    answer = ask_gecode(text)
    is_complete = COMPLETE in answer or UNSATISFIABLE in answer
    theirs = last_point(answer)
    if not is_complete and theirs is None:
        return Verdict("undecided"), text
    way = {"threads": random.choice((1, 2)), "relaxation": random.choice(("auto", "on", "off"))}
    try:
        result = solve_text(text, arch="cpu", time_limit=MILLISECONDS, seed=1, **way)
    except TurboError as error:
        return Verdict("wrong", f"{type(error).__name__}: {error} ({way})"), text
    if result.status == "UNSATISFIABLE":
        denied = theirs is not None and holds(parse_text(text), theirs)
        return (Verdict("wrong", f"{theirs} is denied ({way})") if denied else Verdict("right")), text
    if not result.complete and (objective or result.status == "UNKNOWN"):
        return Verdict("unclaimed"), text
    if objective and is_complete and theirs is not None and result.objective is not None:
        gap = abs(result.objective - theirs[objective])
        if gap > TOLERANCE * max(1.0, abs(result.objective)) and not math.isnan(gap):
            return Verdict("wrong", f"{result.objective}, Gecode has {theirs[objective]} ({way})"), text
    return Verdict("right"), text
