"""What a random model has so far: its names, the witness, and the drawing of numbers, domains and arguments.

The witness is an assignment that a model is built around (see generate.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

from turbo_fzn.base.domains import BOOLEAN, IntSet
from turbo_fzn.read.model import Model, Ref, Variable

LANDMARKS = [2**30 - 1, 2**30, 2**31, 2**32, 2**40, 2**61, 2**62 - 3, 2**62 - 1]
LIMIT = 2**62 - 1


@dataclass
class Scope:
    """The names that a model's constraints may use, and the witness's value of each variable."""

    random: Random
    flavour: str
    ints: list[Ref] = field(default_factory=list)
    bools: list[Ref] = field(default_factory=list)
    arrays: dict[str, list[Ref]] = field(default_factory=lambda: {"ints": [], "bools": [], "numbers": [], "truths": []})
    numbers: list[Ref] = field(default_factory=list)
    witness: dict[str, int] = field(default_factory=dict)
    room: int = 1  # by how much the number of assignments may still grow


def small_number(random: Random) -> int:
    return random.randint(-4, 6)


def large_number(random: Random) -> int:
    """Near a landmark, of either sign, within the limits."""
    number = random.choice(LANDMARKS) + random.choice((-1, 0, 0, 1))
    return max(-LIMIT, min(LIMIT, random.choice((-1, 1)) * number))


def draw_number(scope: Scope) -> int:
    large = {"large": 0.6, "mixed": 0.3}.get(scope.flavour, 0.0)
    return (large_number if scope.random.random() < large else small_number)(scope.random)


def draw_domain(scope: Scope) -> IntSet:
    random = scope.random
    if scope.flavour == "large" or (scope.flavour == "mixed" and random.random() < 0.4):
        if random.random() < 0.5:
            low = draw_number(scope)
            return IntSet.interval(low, min(low + random.randint(0, 4), LIMIT))
        return IntSet.of_values(draw_number(scope) for _ in range(random.randint(1, 5)))
    if scope.flavour == "big":
        low = random.randint(-10, 5)
        return IntSet.interval(low, low + random.randint(1, 30))
    if random.random() < 0.6:
        low = random.randint(-6, 4)
        return IntSet.interval(low, low + random.choice((0, 1, 1, 2, 3, 4, 5)))
    return IntSet.of_values(random.randint(-6, 9) for _ in range(random.randint(1, 5)))


def add_variable(model: Model, scope: Scope, name: str, domain: IntSet | None) -> None:
    kind = "bool" if domain is BOOLEAN else "int"
    model.variables[name] = Variable(name, kind, None if kind == "bool" else domain, [Ref("output_var")], None, 0)
    (scope.bools if kind == "bool" else scope.ints).append(Ref(name))
    if domain is not None:
        scope.witness[name] = scope.random.choice(list(domain))


def an_int(scope: Scope) -> object:
    """A variable three times out of four: a constant decides a constraint at once."""
    if scope.random.random() < 0.75:
        return scope.random.choice(scope.ints)
    return scope.random.choice(scope.numbers) if scope.numbers and scope.random.random() < 0.3 else draw_number(scope)


def a_bool(scope: Scope) -> object:
    return scope.random.choice(scope.bools) if scope.random.random() < 0.8 else scope.random.random() < 0.5


def value_in(scope: Scope, expression: object) -> int:
    return scope.witness.get(expression, 0) if isinstance(expression, Ref) else int(expression)  # type: ignore


def resolve(scope: Scope, model: Model, argument: object) -> Any:
    """The value of an argument under the witness."""
    if isinstance(argument, list):
        return [resolve(scope, model, element) for element in argument]
    if isinstance(argument, Ref) and argument in model.arrays:
        return resolve(scope, model, model.arrays[argument].elements)
    if isinstance(argument, Ref):
        return scope.witness[argument] if argument in scope.witness else model.parameters[argument]
    return argument if isinstance(argument, IntSet) else int(argument)  # type: ignore[call-overload]
