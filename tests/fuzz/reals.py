"""Random models with float variables, made about a point that satisfies them, so that they have a solution.

What is looked at: that they are never called unsatisfiable; that each solution satisfies every constraint to within a
tolerance, evaluated here once more, in other words than check/reals.py; and that what is called the optimum is not
worse than the point.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random

from fuzz.judge import Verdict
from turbo_fzn.base.errors import TurboError
from turbo_fzn.interface.api import Result, solve_text

TOLERANCE = 1e-5  # ten times the precision
MILLISECONDS = 500

FUNCTIONS: dict[str, Callable[[float], float]] = {
    "float_abs": abs, "float_exp": math.exp, "float_sin": math.sin, "float_cos": math.cos, "float_atan": math.atan,
    "float_sinh": math.sinh, "float_cosh": math.cosh, "float_tanh": math.tanh, "float_asinh": math.asinh,
}  # fmt: skip
ON_POSITIVE = {"float_sqrt": math.sqrt, "float_ln": math.log, "float_log2": math.log2, "float_log10": math.log10}
ON_UNIT = {"float_asin": math.asin, "float_acos": math.acos, "float_atanh": math.atanh, "float_tan": math.tan}
OPERATORS: dict[str, Callable[[float, float], float]] = {
    "float_plus": lambda x, y: x + y, "float_times": lambda x, y: x * y, "float_min": min, "float_max": max,
}  # fmt: skip
Values = Mapping[str, float]


@dataclass
class Drawn:
    """A model: its declarations and constraints, the point, and for each constraint whether values satisfy it."""

    random: Random
    lines: list[str] = field(default_factory=list)
    point: dict[str, float] = field(default_factory=dict)
    holds: list[tuple[str, Callable[[Values], bool]]] = field(default_factory=list)
    reals: list[str] = field(default_factory=list)
    goal: str = "solve satisfy;"

    @property
    def text(self) -> str:
        return "\n".join([*self.lines, *(f"constraint {text};" for text, _ in self.holds), self.goal]) + "\n"

    def declare(self, kind: str, value: float) -> str:
        name = f"v{len(self.point)}"
        self.point[name] = value
        self.lines.append(f"var {kind}: {name} :: output_var;")
        if kind not in ("bool",) and ".." not in kind or "." in kind.replace("..", ""):
            self.reals.append(name)
        return name

    def state(self, text: str, holds: Callable[[Values], bool]) -> None:
        self.holds.append((text, holds))


def near(x: float, y: float, *others: float) -> bool:
    return abs(x - y) <= TOLERANCE * max(1.0, abs(x), abs(y), *map(abs, others))


def draw_real(drawn: Drawn) -> str:
    value = drawn.random.randint(-24, 24) / 8
    reach = drawn.random.choice((0.5, 4.0, 50.0))
    return drawn.declare(f"{value - reach}..{value + drawn.random.choice((0.0, reach))}", value)


def add_function(drawn: Drawn) -> None:
    """y = f(x) of a variable in the domain of f, y being new."""
    x = drawn.random.choice(drawn.reals)
    at, known = drawn.point[x], dict(FUNCTIONS)
    known |= ON_POSITIVE if at > 0 else {}
    known |= ON_UNIT if abs(at) < 1 else {}
    if abs(at) > 20:
        return
    name = drawn.random.choice(sorted(known))
    function = known[name]
    bounded = abs(function(at)) < 9999 and drawn.random.random() < 0.5
    y = drawn.declare("-10000.0..10000.0" if bounded else "float", function(at))

    def holds(v: Values) -> bool:
        try:
            return near(function(v[x]), v[y]) or near(function(v[x] + 1e-9), v[y]) or near(function(v[x] - 1e-9), v[y])
        except (ValueError, OverflowError):
            return abs(v[y]) < TOLERANCE  # a root just below 0

    drawn.state(f"{name}({x},{y})", holds)


def add_operator(drawn: Drawn) -> None:
    x, y = drawn.random.choice(drawn.reals), drawn.random.choice(drawn.reals)
    name = drawn.random.choice(sorted(OPERATORS))
    z = drawn.declare("float", OPERATORS[name](drawn.point[x], drawn.point[y]))
    drawn.state(f"{name}({x},{y},{z})", lambda v: near(OPERATORS[name](v[x], v[y]), v[z], v[x], v[y]))


def add_quotient(drawn: Drawn) -> None:
    x, y = drawn.random.choice(drawn.reals), drawn.random.choice(drawn.reals)
    if abs(drawn.point[y]) > 0.1:
        z = drawn.declare("float", drawn.point[x] / drawn.point[y])
        drawn.state(f"float_div({x},{y},{z})", lambda v: near(v[z] * v[y], v[x], v[z], v[y]))


def add_sum(drawn: Drawn) -> None:
    """A linear constraint that the point satisfies, plain or reified."""
    random = drawn.random
    chosen = random.sample(drawn.reals, min(len(drawn.reals), random.randint(1, 3)))
    coefficients = [random.choice((-2.5, -1.0, -0.5, 0.25, 1.0, 3.0)) for _ in chosen]
    value = sum(c * drawn.point[x] for c, x in zip(coefficients, chosen))
    k = round(value + random.choice((-3.0, -0.125, 0.125, 1.0)), 6)
    arguments = f"[{','.join(map(str, coefficients))}],[{','.join(chosen)}],{k}"

    def total(v: Values) -> float:
        return sum(c * v[x] for c, x in zip(coefficients, chosen))

    size = 1 + sum(map(abs, coefficients)) * 60
    if random.random() < 0.5 and value <= k:
        name = random.choice(("float_lin_le", "float_lin_lt"))
        drawn.state(f"{name}({arguments})", lambda v: total(v) <= k + TOLERANCE * size)
        return
    b = drawn.declare("bool", float(value <= k))
    drawn.state(
        f"float_lin_le_reif({arguments},{b})",
        lambda v: total(v) <= k + TOLERANCE * size if v[b] else total(v) >= k - TOLERANCE * size,
    )


def add_integer(drawn: Drawn) -> None:
    value = drawn.random.randint(-5, 5)
    n = drawn.declare(f"{value - 3}..{value + 2}", value)
    x = drawn.declare("float", value)
    drawn.state(f"int2float({n},{x})", lambda v: near(v[n], v[x]))


def add_element(drawn: Drawn) -> None:
    random = drawn.random
    i = random.randint(1, 3)
    values = [random.randint(-16, 16) / 4 for _ in range(3)]
    members = [random.choice((str(value), random.choice(drawn.reals))) for value in values]
    at = [float(member) if member not in drawn.point else drawn.point[member] for member in members]
    index, z = drawn.declare("1..3", i), drawn.declare("float", at[i - 1])

    def holds(v: Values) -> bool:
        member = members[int(v[index]) - 1]
        return near(v[member] if member in v else float(member), v[z])

    name = "array_var_float_element" if any(member in drawn.point for member in members) else "array_float_element"
    drawn.state(f"{name}({index},[{','.join(members)}],{z})", holds)


PARTS = (*(add_function, add_operator, add_sum) * 2, add_quotient, add_integer, add_element)


def draw_model(random: Random) -> Drawn:
    drawn = Drawn(random)
    for _ in range(random.randint(1, 3)):
        draw_real(drawn)
    for _ in range(random.randint(1, 5)):
        random.choice(PARTS)(drawn)
    if random.random() < 0.5:
        drawn.goal = f"solve {random.choice(('minimize', 'maximize'))} {random.choice(drawn.reals)};"
    return drawn


def judge_result(drawn: Drawn, result: Result) -> Verdict:
    if result.status == "UNSATISFIABLE":
        return Verdict("wrong", f"the point {drawn.point} is denied")
    for solution in result.solutions:
        values = {name: float(value) for name, value in solution.items()}  # type: ignore[arg-type]
        for text, holds in drawn.holds:
            if not holds(values):
                return Verdict("wrong", f"{text} does not hold with {values}")
    if result.status == "UNKNOWN":
        return Verdict("unclaimed")
    if result.objective is not None and result.complete:
        _, method, name = drawn.goal.rstrip(";").split()
        sense = 1 if method == "minimize" else -1
        worse = sense * (result.objective - drawn.point[name])
        if worse > TOLERANCE * max(1.0, abs(drawn.point[name])):
            return Verdict("wrong", f"the optimum {result.objective} is worse than the point {drawn.point}")
    return Verdict("right")


def try_reals(random: Random) -> tuple[Verdict, str]:
    """The verdict on a random model, solved in a random way, and its text."""
    drawn = draw_model(random)
    way = {"threads": random.choice((1, 2)), "simplify": random.random() < 0.8, "seed": random.randint(0, 99)}
    way["free_search"] = random.random() < 0.3
    way["relaxation"] = random.choice(("auto", "on", "off"))
    try:
        result = solve_text(drawn.text, arch="cpu", time_limit=MILLISECONDS, intermediate=True, **way)
    except TurboError as error:
        return Verdict("wrong", f"{type(error).__name__}: {error} ({way})"), drawn.text
    verdict = judge_result(drawn, result)
    return Verdict(verdict.kind, f"{verdict.fault} ({way})" if verdict.is_fault else ""), drawn.text
