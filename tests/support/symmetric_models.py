"""Models that have symmetries: one for each constraint whose arguments may be permuted, and random ones.

A random model is a grid of variables. A part, drawn once, is put on each row, and perhaps another one on each column;
what belongs to a part is there once for each line, or once for all. So rows are symmetric to each other, columns too
where the part treats its variables alike, and all of it now and then but for one thing that is disturbed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from random import Random
from typing import NamedTuple

from fuzz.drawer import Drawer
from fuzz.generate import draw_constraint, draw_global
from fuzz.scope import Scope, add_variable
from support.flatzinc_text import with_text
from turbo_fzn.base.domains import BOOLEAN, IntSet
from turbo_fzn.predicates.table import PREDICATES
from turbo_fzn.read.model import Array, Constraint, Goal, Index, Model, Ref, Variable

MOST_ASSIGNMENTS = 60_000  # of a random model
SIZES = ((2, 2), (2, 2), (2, 3), (3, 2), (3, 3), (4, 2), (2, 4), (4, 1), (5, 1))  # rows and columns
LONG = ((5, 1), (6, 1), (7, 1), (5, 2), (2, 5), (6, 2), (2, 6), (5, 2))  # four and more generators of one kind
THREE = IntSet.interval(0, 2)


class Even(NamedTuple):
    """Arguments in which x, y and z count alike; in `odd` y does not count as x and z do, if a constant can say so."""

    arguments: Callable[[list], list]
    odd: Callable[[list], list] | None = None
    bools: bool = False


def sums(bound: object) -> Even:
    return Even(lambda x: [[2, 2, 2], x, bound], lambda x: [[2, 3, 2], x, bound])


def truths(*more: object) -> Even:
    return Even(lambda x: [x, *more], bools=True)


C, T = Ref("c"), Ref("t")  # another variable, of either kind
EVEN: dict[str, Even] = {
    "int_lin_eq": sums(4),
    "int_lin_ne": sums(4),
    "int_lin_le": sums(5),
    "bool_lin_eq": sums(C)._replace(bools=True),
    "bool_lin_le": sums(5)._replace(bools=True),
    "array_bool_and": truths(T),
    "array_bool_or": truths(T),
    "array_bool_xor": truths(),
    "array_int_minimum": Even(lambda x: [C, x]),
    "array_int_maximum": Even(lambda x: [C, [*x, 1]]),
    "bool_clause": Even(lambda x: [[T], x], bools=True),
    "turbo_all_different": Even(lambda x: [[*x, 7]]),
    "turbo_all_different_except": Even(lambda x: [x, IntSet.of_values([0])]),
    "turbo_all_equal": Even(lambda x: [x]),
    "turbo_member_int": Even(lambda x: [x, C]),
    "turbo_member_bool": truths(T),
    **{f"turbo_count_{kind}": Even(lambda x: [x, 1, C]) for kind in ("eq", "neq", "lt", "leq", "gt", "geq")},
    "turbo_among": Even(lambda x: [C, x, IntSet.of_values([0, 2])]),
    "turbo_nvalue": Even(lambda x: [C, x]),
    **{
        f"turbo_global_cardinality{kind}": Even(lambda x: [[C, 1], [1, 1, 1], x], lambda x: [[C, 1], [1, 2, 1], x])
        for kind in ("", "_closed")
    },
    **{
        f"turbo_global_cardinality_low_up{kind}": Even(lambda x: [x, [0, 2], [1, 0], [1, 2]])
        for kind in ("", "_closed")
    },
    "turbo_cumulative": Even(lambda x: [x, [2, 2, 2], [1, 1, 1], 2], lambda x: [x, [2, 2, 2], [1, 2, 1], 2]),
    **{
        f"turbo_disjunctive{kind}": Even(lambda x: [x, [1, 1, 1]], lambda x: [x, [1, 2, 1]]) for kind in ("", "_strict")
    },
    **{
        f"turbo_diffn{kind}": Even(
            lambda x: [[*x, C], [0, 0, 0, 1], [1] * 4, [1] * 4], lambda x: [[*x, C], [0, 2, 0, 1], [1] * 4, [1] * 4]
        )
        for kind in ("", "_nonstrict")
    },
    "turbo_bin_packing": Even(lambda x: [3, x, [2, 2, 2]], lambda x: [3, x, [2, 1, 2]]),
}
# Of these only the first two arguments may be swapped.
PAIRS: dict[str, Even] = {
    **{name: Even(lambda x: x[:2]) for name in ("int_eq", "int_ne")},
    **{name: Even(lambda x: x[:2], bools=True) for name in ("bool_eq", "bool_not")},
    **{name: Even(lambda x: x, bools=True) for name in ("bool_xor", "bool_and", "bool_or")},
    **{name: Even(lambda x: x) for name in ("int_plus", "int_times", "int_min", "int_max")},
}


def forms(name: str) -> list[str]:
    """The suffixes of a predicate."""
    return list(PREDICATES[name].forms)


def cells(names: str, bools: bool) -> dict[str, IntSet]:
    return dict.fromkeys(names, BOOLEAN if bools else THREE)


# ---- random models


def draw_symmetric(random: Random, sizes: Sequence[tuple[int, int]] = SIZES, most: int = MOST_ASSIGNMENTS) -> Model:
    """One of at most so many assignments, with so many rows and columns as one of the sizes says."""
    while True:
        model = draw_any(random, sizes)
        if assignments(model) <= most:
            return with_text(model)


def assignments(model: Model) -> int:
    """How many there are, but for variables that others define."""
    sizes = [2 if one.kind == "bool" else one.domain.size for one in model.variables.values() if not is_defined(one)]
    return prod(sizes)


def is_defined(variable: Variable) -> bool:
    return variable.kind == "int" and variable.domain is None


def draw_any(random: Random, sizes: Sequence[tuple[int, int]]) -> Model:
    model, bools = Model(file="symmetric.fzn", goal=Goal("satisfy", None, [], 0)), random.random() < 0.5
    n_rows, n_columns = random.choice(sizes)
    domain = BOOLEAN if bools else random.choice([IntSet.interval(0, 1), THREE, IntSet.of_values([-1, 2])])
    if domain.size ** (n_rows * n_columns) > MOST_ASSIGNMENTS // 60:
        domain = BOOLEAN if bools else IntSet.interval(0, 1)
    grid = [[Ref(f"x{i}{j}") for j in range(n_columns)] for i in range(n_rows)]
    scope = Scope(random, "small")
    for row in grid:
        for name in row:
            add_variable(model, scope, name, domain)
    lines = [grid] if random.random() < 0.5 else [grid, [list(column) for column in zip(*grid)]]
    for kind, some in enumerate(lines):
        put_on_lines(model, random, some, domain, f"{'rc'[kind]}")
    if random.random() < 0.3:
        disturb(model, random)
    add_goal(model, random, [name for row in grid for name in row])
    return model


def put_on_lines(model: Model, random: Random, lines: list[list[Ref]], domain: IntSet, suffix: str) -> None:
    """Puts a drawn part of a model, small enough to be enumerated, on each of the lines."""
    part = draw_part(random, len(lines[0]), domain)
    own = [name for name in part.variables if not name.startswith("p")]
    shared = {name for name in own if random.random() < 0.4}
    for number, line in enumerate(lines):
        names = {f"p{place}": cell for place, cell in enumerate(line)}
        names |= {name: Ref(f"{name}{suffix}{'' if name in shared else number}") for name in own}
        names |= {name: Ref(f"{name}{suffix}{number}") for name in part.arrays}
        put(model, part, names)


def draw_part(random: Random, n: int, domain: IntSet) -> Model:
    """Constraints over p0 to p(n - 1), and over variables of their own."""
    part, scope = Model(), Scope(random, "small")
    for place in range(n):
        add_variable(part, scope, f"p{place}", domain)
    line = scope.bools if domain is BOOLEAN else scope.ints
    if random.random() < 0.6:
        even = {name: one for name, one in EVEN.items() if one.bools == (domain is BOOLEAN)}
        name = random.choice(list(even))
        more = {"c": THREE, "t": BOOLEAN}
        arguments = [put_even(argument, random) for argument in of_any_length(even[name], list(line))]
        form = random.choice(["", *forms(name)])
        part.constraints.append(Constraint(name + form, arguments + ([T] if form else []), [], 0))
        used = names_in(part.constraints[-1].args)
        for other in sorted(used - part.variables.keys()):
            add_variable(part, scope, other, more[other])
    for kind, other in ((scope.ints, "c"), (scope.bools, "t")):
        if not kind:
            add_variable(part, scope, other, THREE if other == "c" else BOOLEAN)
    scope.room = 3
    for _ in range(random.choice((0, 1, 1, 2)) if part.constraints else 2):
        part.constraints.extend(draw_constraint(scope, part, random.random() < 0.7))
    if random.random() < 0.3:
        part.constraints.append(draw_global(Drawer(scope, part), random.random() < 0.7))
    mentioned = names_in([constraint.args for constraint in part.constraints])
    mentioned |= names_in([array.elements for array in part.arrays.values()])
    part.variables = {name: one for name, one in part.variables.items() if name[0] == "p" or name in mentioned}
    return part


def of_any_length(even: Even, line: list) -> list:
    """The arguments for so many variables: three of a line are alike, and constants where it has fewer."""
    constants: list = [False, True] if even.bools else [0, 1]
    return even.arguments([*line, *constants, *constants][:3])


def put_even(argument: object, random: Random) -> object:
    """In another order, where it does not matter."""
    is_line = isinstance(argument, list) and any(isinstance(one, Ref) and one.startswith("p") for one in argument)
    return random.sample(argument, len(argument)) if is_line and random.random() < 0.2 else argument  # type: ignore


def names_in(expression: object) -> set[str]:
    if isinstance(expression, list):
        return set().union(*map(names_in, expression))
    return {str(expression)} if isinstance(expression, Ref) else set()


def put(model: Model, part: Model, names: dict[str, Ref]) -> None:
    def renamed(expression: object) -> object:
        if isinstance(expression, list):
            return [renamed(one) for one in expression]
        return names.get(expression, expression) if isinstance(expression, Ref) else expression

    for name, variable in part.variables.items():
        new = names[name]
        if new not in model.variables:
            model.variables[new] = Variable(new, variable.kind, variable.domain, [Ref("output_var")], None, 0)
    for name, array in part.arrays.items():
        new, elements = names[name], renamed(array.elements)
        model.arrays[new] = Array(new, array.kind, array.is_variable, array.domain, elements, [], 0)  # type: ignore
    for name, arguments, _, _ in part.constraints:
        model.constraints.append(Constraint(name, renamed(arguments), [], 0))  # type: ignore[arg-type]


def add_goal(model: Model, random: Random, grid: list[Ref]) -> None:
    """None, a variable, an element of an array, a parameter, an alias, or a sum."""
    integers = [Ref(name) for name, variable in model.variables.items() if variable.kind == "int"]
    choice, objective = random.randrange(6), None
    if choice == 0 and integers:
        objective: object = random.choice(integers)
    elif choice == 1 and integers:
        model.arrays["goals"] = Array("goals", "int", True, None, [*random.choices(integers, k=2), 1], [], 0)
        objective = Index("goals", random.randint(1, 3))
    elif choice == 2:
        model.parameters["fixed"], objective = 3, Ref("fixed")
    elif choice == 3 and integers:
        model.variables["alias"] = Variable("alias", "int", None, [], random.choice(integers), 0)
        objective = Ref("alias")
    elif choice == 4 and integers:
        total = [name for name in grid if name in integers] or integers
        coefficients = [random.choice((1, 1, 1, 2)) for _ in total] if random.random() < 0.3 else [1] * len(total)
        model.variables["total"] = Variable("total", "int", None, [Ref("is_defined_var")], None, 0)
        model.constraints.append(Constraint("int_lin_eq", [[*coefficients, -1], [*total, Ref("total")], 0], [], 0))
        objective = Ref("total")
    if objective is not None:
        model.goal = Goal(random.choice(("minimize", "maximize")), objective, [], 0)


def disturb(model: Model, random: Random) -> None:
    """One thing is not as it is in the other lines."""
    scope = Scope(random, "small", room=1)
    for name, variable in model.variables.items():
        (scope.bools if variable.kind == "bool" else scope.ints).append(Ref(name))
    choice = random.randrange(4)
    if choice == 0 and scope.ints:
        variable = model.variables[random.choice(scope.ints)]
        if variable.domain is not None:
            low, high = variable.domain.lower, variable.domain.upper
            variable.domain = IntSet.interval(low, random.randint(low, high))
    elif choice == 1 and model.constraints:
        model.constraints.pop(random.randrange(len(model.constraints)))
    elif choice == 2 and scope.ints and scope.bools:
        model.constraints.extend(draw_constraint(scope, model, False))
    elif model.constraints:  # another constant, but for those of a global, which have to fit together
        place = random.randrange(len(model.constraints))
        constraint = model.constraints[place]
        by = 0 if constraint.name.startswith("turbo_") else 1
        changed = [one + by if type(one) is int else one for one in constraint.args]
        model.constraints[place] = constraint._replace(args=changed)
