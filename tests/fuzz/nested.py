"""MiniZinc models of nested negations and set operators, through the installed release and the newest one.

An expression is drawn as its text and, independently of any lowering, its value in Python: all solutions of a block are
found by trying all assignments. What a release refuses, and FlatZinc whose definitions the solver refuses as wrong
(turbo_fzn/lower/definitions.py), says nothing ("undecided").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations, pairwise, product
from random import Random
from typing import Any, NamedTuple

from fuzz.batches import Compile, Compiled, Flat, difference, flatten, goal
from fuzz.blocks import HELPERS, Block
from fuzz.judge import Verdict, Way, draw_way
from support.releases import RELEASES, Refused
from turbo_fzn import solve_text
from turbo_fzn.base.errors import TurboError

BATCH = 20  # blocks
REFUSED = ("defined by its own negation", "nothing needs this definition")
SECONDS = 20


class State(NamedTuple):
    """An assignment of the variables that every block has."""

    p: tuple[bool, bool]
    x: tuple[int, int]
    c: frozenset[int]
    d: frozenset[int]


class Drawn(NamedTuple):
    """An expression in MiniZinc, with # for the block's number, and its value."""

    text: str
    value: Callable[[State], Any]


def subsets(values: Sequence[int]) -> list[frozenset[int]]:
    return [frozenset(some) for size in range(len(values) + 1) for some in combinations(values, size)]


C, D = (1, 2, 3), (2, 4)
# Numbers tell what is in a set, for MiniZinc would make Booleans one with its own. Their indices begin with 1, for an
# array of others has another name in the FlatZinc.
DECLARATIONS = """\
array[1..2] of var bool: p_#;
array[1..2] of var 0..3: x_#;
constraint x_#[2] in 1..2;
var set of 1..3: c_#;
var set of {2, 4}: d_#;
array[1..5] of var 0..1: inc_#;
array[1..5] of var 0..1: ind_#;
constraint forall(k in 0..4)(inc_#[k + 1] = bool2int(k in c_#) /\\ ind_#[k + 1] = bool2int(k in d_#));
"""
SHOWN = ("p_#", "x_#", "inc_#", "ind_#")


@cache
def states() -> list[State]:
    truths, numbers = product((False, True), repeat=2), product(range(4), (1, 2))
    return [State(*one) for one in product(truths, numbers, subsets(C), subsets(D))]


def shown(state: State) -> dict[str, str]:
    """What a solution of a block has, by the names of SHOWN."""
    members = [[int(value in members) for value in range(5)] for members in (state.c, state.d)]
    return {name: str(list(value)).lower() for name, value in zip(SHOWN, (state.p, state.x, *members))}


# ---- expressions

Operator = tuple[str, Callable[..., Any]]
BINARY: list[Operator] = [
    ("{} /\\ {}", lambda a, b: a and b),
    ("{} \\/ {}", lambda a, b: a or b),
    ("{} -> {}", lambda a, b: not a or b),
    ("{} <- {}", lambda a, b: a or not b),
    ("{} <-> {}", lambda a, b: a == b),
    ("{} xor {}", lambda a, b: a != b),
    ("{} = {}", lambda a, b: a == b),
    ("{} != {}", lambda a, b: a != b),
    ("{} <= {}", lambda a, b: a <= b),
    ("forall([{}, {}])", lambda a, b: a and b),
    ("exists([{}, {}])", lambda a, b: a or b),
    ("bool2int({}) = bool2int({})", lambda a, b: a == b),
]
COMPARISONS: list[Operator] = [
    ("{} = {}", lambda a, b: a == b),
    ("{} != {}", lambda a, b: a != b),
    ("{} < {}", lambda a, b: a < b),
    ("{} <= {}", lambda a, b: a <= b),
    ("{} > {}", lambda a, b: a > b),
    ("{} >= {}", lambda a, b: a >= b),
]
OF_SETS: list[Operator] = [
    ("{} subset {}", lambda a, b: a <= b),
    ("{} superset {}", lambda a, b: a >= b),
    ("{} = {}", lambda a, b: a == b),
    ("{} != {}", lambda a, b: a != b),
    ("{} < {}", lambda a, b: sorted(a) < sorted(b)),
    ("{} <= {}", lambda a, b: sorted(a) <= sorted(b)),
    ("{} > {}", lambda a, b: sorted(a) > sorted(b)),
    ("{} >= {}", lambda a, b: sorted(a) >= sorted(b)),
]
SET_OPERATIONS: list[Operator] = [
    ("{} union {}", lambda a, b: a | b),
    ("{} intersect {}", lambda a, b: a & b),
    ("{} diff {}", lambda a, b: a - b),
    ("{} symdiff {}", lambda a, b: a ^ b),
]
GLOBALS = [
    Drawn("all_different(x_#)", lambda s: s.x[0] != s.x[1]),
    Drawn("all_equal(x_#)", lambda s: s.x[0] == s.x[1]),
    Drawn("increasing(x_#)", lambda s: s.x[0] <= s.x[1]),
    Drawn("decreasing(x_#)", lambda s: s.x[0] >= s.x[1]),
    Drawn("strictly_increasing(x_#)", lambda s: s.x[0] < s.x[1]),
    Drawn("strictly_decreasing(x_#)", lambda s: s.x[0] > s.x[1]),
    Drawn("xorall(p_#)", lambda s: sum(s.p) % 2 == 1),
    Drawn("iffall(p_#)", lambda s: sum(s.p) % 2 == 0),
    Drawn("increasing(p_#)", lambda s: all(a <= b for a, b in pairwise(s.p))),
    Drawn("count(x_#, 1) = 1", lambda s: s.x.count(1) == 1),
    Drawn("member(x_#, 2)", lambda s: 2 in s.x),
    Drawn("lex_less(x_#, [1, 2])", lambda s: s.x < (1, 2)),
    Drawn("at_most(1, x_#, 0)", lambda s: s.x.count(0) <= 1),
    Drawn("table(x_#, [|0, 1|1, 3|2, 0|])", lambda s: s.x in ((0, 1), (1, 3), (2, 0))),
]  # fmt: skip


def joined(operator: Operator, *operands: Drawn) -> Drawn:
    form, function = operator
    text = form.format(*(f"({one.text})" for one in operands))
    return Drawn(text, lambda state: function(*(one.value(state) for one in operands)))


def draw_truth(random: Random, depth: int) -> Drawn:
    if depth == 0 or random.random() < 0.15:
        return draw_atom(random)
    kind = random.random()
    if kind < 0.45:
        return joined(("not {}", lambda a: not a), draw_truth(random, depth - 1))
    if kind < 0.9:
        return joined(random.choice(BINARY), draw_truth(random, depth - 1), draw_truth(random, depth - 1))
    operands = [draw_truth(random, depth - 1) for _ in range(3)]
    return joined(("if {} then {} else {} endif", lambda a, b, c: b if a else c), *operands)


def draw_atom(random: Random) -> Drawn:
    kind = random.random()
    if kind < 0.2:
        place = random.randint(0, 1)
        return Drawn(f"p_#[{place + 1}]", lambda state: state.p[place])
    if kind < 0.3:
        return random.choice(GLOBALS)
    if kind < 0.45:
        return joined(random.choice(COMPARISONS), draw_number(random), draw_number(random))
    if kind < 0.7:
        return joined(("{} in {}", lambda a, b: a in b), draw_number(random), draw_set(random, 2))
    return joined(random.choice(OF_SETS), draw_set(random, 2), draw_set(random, 2))


def draw_number(random: Random) -> Drawn:
    kind, number, place = random.random(), random.randint(-1, 5), random.randint(0, 1)
    if kind < 0.4:
        return Drawn(str(number), lambda state: number)
    if kind < 0.75:
        return Drawn(f"x_#[{place + 1}]", lambda state: state.x[place])
    return joined(("card({})", len), draw_set(random, 1))


def draw_set(random: Random, depth: int) -> Drawn:
    kind = random.random()
    if depth and kind < 0.35:
        return joined(random.choice(SET_OPERATIONS), draw_set(random, depth - 1), draw_set(random, depth - 1))
    if kind < 0.5:
        values = frozenset(random.sample(range(6), random.randint(1, 3)))  # MiniZinc refuses `{} union {}`
        return Drawn("{" + ", ".join(map(str, sorted(values))) + "}", lambda state: values)
    if kind < 0.6:
        return Drawn("[c_#, d_#][x_#[2]]", lambda state: (state.c, state.d)[state.x[1] - 1])
    return Drawn("c_#", lambda state: state.c) if kind < 0.85 else Drawn("d_#", lambda state: state.d)


# ---- blocks


class Puzzle(NamedTuple):
    """A block, and the values of what is shown in each of its solutions, with the objective where there is one."""

    block: Block
    solutions: list[dict[str, str]]


def puzzle(
    number: int, constraints: Sequence[Drawn], objective: Drawn | None = None, method: str = "satisfy"
) -> Puzzle:
    """The block of these constraints. Of an optimisation the first solution is one of the best."""
    cost = f"cost_{number}" if objective else ""
    lines = [DECLARATIONS, *(f"constraint {one.text};" for one in constraints)]
    if objective:
        lines.append(f"array[1..1] of var -100..100: cost_# = [{objective.text}];")
    lines = "\n".join(lines).replace("#", str(number)).splitlines()
    names = [name.replace("#", str(number)) for name in SHOWN]
    block = Block(number, lines, names, method, cost)
    held = [state for state in states() if all(one.value(state) for one in constraints)]
    if objective:
        best = sorted({objective.value(state) for state in held}, reverse=method == "minimize")
        return Puzzle(block, [{cost: f"[{value}]"} for value in best[-1:]])
    found = [{name.replace("#", str(number)): value for name, value in shown(state).items()} for state in held]
    return Puzzle(block, found)


def draw_puzzle(random: Random, number: int) -> Puzzle:
    constraints = [draw_truth(random, random.randint(1, 4)) for _ in range(random.randint(1, 2))]
    if random.random() < 0.7:
        return puzzle(number, constraints)
    objective = joined(("{} + 2 * {}", lambda a, b: a + 2 * b), draw_number(random), draw_number(random))
    return puzzle(number, constraints, objective, random.choice(("minimize", "maximize")))


# ---- both releases


@cache
def releases() -> dict[str, Any]:
    return {name: release() for name, release in RELEASES.items()}


def compiler(release: Any) -> Compile:
    """A function of a text that has this release flatten it."""

    def compile(text: str) -> Compiled:
        try:
            flat = release.flatten(text)
        except Refused as refusal:
            return None, str(refusal)
        return flat.splitlines(), "inconsistency" if "bool_eq(false,true)" in flat else ""

    return compile


def judged(puzzles: Sequence[Puzzle], release: Any, ways: Iterator[Way]) -> list[Verdict]:
    """The verdict of each puzzle, through a release. One without solutions is flattened alone: with others it would be
    looked for."""
    together, alone = ([one.block for one in puzzles if bool(one.solutions) == have] for have in (True, False))
    flat: dict[int, Flat] = {}
    for blocks in filter(None, (together, *([block] for block in alone))):
        flat |= flatten(blocks, compiler(release))
    return [compare(one, flat[one.block.number], next(ways)) for one in puzzles]


def compare(one: Puzzle, flat: Flat, way: Way) -> Verdict:
    if flat.is_false:
        fault = "a contradiction where there are solutions" if one.solutions else ""
        return Verdict("wrong" if fault else "right", fault)
    if flat.error:
        return Verdict("undecided")
    text = "\n".join([*flat.lines, goal(one.block, flat.lines)])
    several = {"n_solutions": None, "n_optimal": None, "all_solutions": True} if "solve satisfy" in text else {}
    try:
        with way.surroundings():
            result = solve_text(text, **{**way.settings(), **several}, time_limit=1000 * SECONDS)
    except TurboError as error:
        is_refused = any(words in str(error) for words in REFUSED)
        return Verdict("undecided") if is_refused else Verdict("wrong", f"{error} ({way})\n{text}")
    if result.status in ("UNKNOWN", "SATISFIED"):
        return Verdict("undecided")
    found = [{name: str(value).lower() for name, value in values.items()} for values in result.solutions]
    fault = disagreement(one, found)
    return Verdict("wrong" if fault else "right", fault and f"{fault} ({way})\n{text}")


def disagreement(one: Puzzle, found: list[dict[str, str]]) -> str:
    """What the solutions differ in, or nothing. An array that flattening has fixed may not be there to be compared."""
    if not found or not one.solutions:
        return f"{len(found)} solutions found, {len(one.solutions)} wanted" if found or one.solutions else ""
    names = [one.block.cost] if one.block.cost else one.block.shown
    known = [name for name in names if name in found[0]]
    block = replace(one.block, shown=known, cost=one.block.cost if known else "")
    return difference(block, found, one.solutions)


def try_nested(random: Random) -> tuple[list[Verdict], str]:
    """The verdict of each block through each release, and the text of the first that is wrong."""
    puzzles = [draw_puzzle(random, number) for number in range(BATCH)]
    verdicts: list[Verdict] = []
    text = ""
    for name, release in releases().items():
        found = judged(puzzles, release, iter(lambda: draw_way(random), None))
        wrong = [one.block for one, verdict in zip(puzzles, found) if verdict.is_fault]
        text = text or (wrong and f"% {name}\n{HELPERS}{wrong[0].text}solve {wrong[0].method};\n") or ""
        verdicts += found
    return verdicts, text
