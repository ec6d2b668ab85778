"""Random models of shapes that a handful of random constraints never has; each can be enumerated.

| shape     | what it has                                                                                   |
|-----------|-----------------------------------------------------------------------------------------------|
| squares   | variables with one bound, or with bounds to 2^31, squared and multiplied; all values are small  |
| runs      | 32 and more constraints of one shape, now and then an odd one between                         |
| tables    | several constraints over one named table: plain, negated and reified                          |
| symmetric | five and more lines that may be exchanged, so four and more generators                        |
| selves    | constraints that have one variable in several places: int_ne(x,x)                              |
| calls     | two to four calls of one global over the same variables                                        |
| machines  | the tasks of one machine, and sums over the same starts: spans, and an end behind all           |
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from random import Random

from fuzz.drawer import Drawer
from fuzz.generate import declare_variables, draw_constraint, draw_goal, draw_model, hide_some, is_satisfied
from fuzz.global_calls import CALLS
from fuzz.scope import Scope, add_variable, value_in
from support import symmetric_models
from turbo_fzn.base.domains import BOOLEAN, IntSet
from turbo_fzn.read.model import Array, Constraint, Model, Ref

HUGE = (2**16, 2**31 - 1, 2**31, 2**32)  # ends of domains
MOST_SYMMETRIC = 2500  # assignments
MOST_AREA = 50  # a square of an end of the oracle's window is beyond it


def begin(random: Random) -> tuple[Model, Scope]:
    model, scope = Model(file="fuzz.fzn"), Scope(random, "small")
    declare_variables(model, scope)
    return model, scope


def end(model: Model, scope: Scope) -> Model:
    model.goal = draw_goal(scope, model)
    hide_some(model, scope.random)
    return model


def add_some(model: Model, scope: Scope, most: int, with_witness: bool) -> None:
    """At most so many other constraints, anywhere."""
    for _ in range(scope.random.randint(0, most)):
        for constraint in draw_constraint(scope, model, with_witness):
            model.constraints.insert(scope.random.randint(0, len(model.constraints)), constraint)


# ---- squares


def draw_squares(random: Random) -> Model:
    """Sides with one bound each, and areas in which they are multiplied, which enclose them."""
    model, scope = Model(file="fuzz.fzn"), Scope(random, "small")
    sides = [Ref(f"s{number}") for number in range(random.choice((1, 1, 1, 2)))]
    for side in sides:
        most = 7 if len(sides) == 1 else 3
        scope.witness[side] = random.choice((1, 1, 1, -1)) * random.randint(0 if len(sides) == 1 else 1, most)
        declare_side(model, scope, side)
    for number in range(random.choice((1, 1, 2))):
        enclose_area(model, scope, Ref(f"a{number}"), sides)
    add_variable(model, scope, "b0", BOOLEAN)
    if random.random() < 0.4:
        add_variable(model, scope, "x0", IntSet.interval(-2, random.randint(0, 6)))
    add_some(model, scope, 2, random.random() < 0.7)
    return end(model, scope)


def declare_side(model: Model, scope: Scope, side: Ref) -> None:
    """A variable bounded on one side of the witness's value, by a constraint or by a domain with a far end."""
    random, value = scope.random, scope.witness[side]
    near = value + random.choice((-1, 1)) * random.choice((0, 0, 1, 2, 6))
    is_lower, form = near <= value, random.choice(("none", "int_le", "int_lt", "int_lin_le", "domain", "domain"))
    domain = None
    if form == "domain":
        far = random.choice(HUGE)
        domain = IntSet.interval(near, far) if is_lower else IntSet.interval(-far, near)
    add_variable(model, scope, side, None)
    model.variables[side].domain, scope.witness[side] = domain, value
    if form == "int_le":
        say(model, scope, form, [near, side] if is_lower else [side, near])
    elif form == "int_lt":
        say(model, scope, form, [near - 1, side] if is_lower else [side, near + 1])
    elif form == "int_lin_le":
        factor = random.randint(1, 3) * (-1 if is_lower else 1)
        say(model, scope, form, [[factor], [side], factor * near])


def say(model: Model, scope: Scope, name: str, arguments: list) -> None:
    model.constraints.insert(scope.random.randint(0, len(model.constraints)), Constraint(name, arguments, [], 0))


def enclose_area(model: Model, scope: Scope, area: Ref, sides: list[Ref]) -> None:
    """A variable with bounds, or with one, that is a product of sides: where there are two, of both, and not 0."""
    random = scope.random
    x, y = sides[0], sides[-1]
    name = random.choice(("int_times", "int_times", "int_pow", "int_pow_fixed")) if x == y else "int_times"
    product = scope.witness[x] * scope.witness[y]
    low, high = product - random.choice((0, 0, 1, 7, 30)), min(product + random.choice((0, 1, 9)), MOST_AREA)
    if x != y:
        low, high = (max(low, 1), high) if product > 0 else (low, min(high, -1))
    add_variable(model, scope, area, IntSet.interval(low, max(high, product)))
    scope.witness[area] = product
    say(model, scope, name, [x, y if name == "int_times" else 2, area])
    if random.random() < 0.2:  # its bounds as constraints
        domain, model.variables[area].domain = model.variables[area].domain, None
        assert domain is not None
        say(model, scope, "int_le", [domain.lower, area])
        say(model, scope, "int_lin_le", [[1], [area], domain.upper])


# ---- runs

Arguments = Callable[[Scope], list]


def some(scope: Scope, names: list[Ref], n: int) -> list:
    """So many variables, which differ."""
    return scope.random.sample(names, n) if n <= len(names) else scope.random.choices(names, k=n)


def of(ints: int, bools: int = 0) -> Callable[[Random], Arguments]:
    """Arguments for so many integers, then so many Booleans."""
    return lambda random: lambda scope: [*some(scope, scope.ints, ints), *some(scope, scope.bools, bools)]


def sums(random: Random) -> Arguments:
    """Sums with the same coefficients, just below the greatest that the common domain has."""
    n = random.choice((2, 2, 2, 3, 4))
    coefficients = [random.choice((-1, 1)) * random.choice((1, 1, 1, 2, 3)) for _ in range(n)]
    below = random.choice((0, 1, 1, 1, 2, 3))

    def arguments(scope: Scope) -> list:
        greatest = sum(max(c * end for end in COMMON) for c in coefficients)
        return [coefficients, some(scope, scope.ints, len(coefficients)), greatest - below]

    return arguments


def lists(random: Random) -> Arguments:
    n = random.choice((2, 2, 3))
    return lambda scope: [some(scope, scope.ints, n)]


COLUMNS: dict[str, Callable[[Random], Arguments]] = {  # that lower/runs.py lowers in columns
    **dict.fromkeys(("int_ne", "int_le", "int_lt"), of(2)),
    **dict.fromkeys(("int_eq_reif", "int_le_reif"), of(2, 1)),
    **dict.fromkeys(("bool_eq_reif", "bool_le_reif"), of(0, 3)),
    "bool_le": of(0, 2),
    "int_lin_le": sums,
    "turbo_all_different": lists,
}
OTHERS: dict[str, Callable[[Random], Arguments]] = {
    **dict.fromkeys(("int_eq", "int_abs"), of(2)),
    **dict.fromkeys(("int_plus", "int_times", "int_max"), of(3)),
    **dict.fromkeys(("int_lin_eq", "int_lin_ne"), sums),
    "int_ne_reif": of(2, 1),
    "bool_xor": of(0, 3),
    "turbo_all_different_reif": lambda random: lambda scope: [*lists(random)(scope), *some(scope, scope.bools, 1)],
}
LENGTHS = (32, 33, 40, 64, 110, 150)
COMMON = (0, 2)  # the domain of most variables: constraints that narrow one, or that hold anyhow, are odd


def draw_runs(random: Random) -> Model:
    """One run or two, kept by the witness but for odd constraints. Reified ones are over many variables of two values:
    two with the same operands are odd."""
    model, scope = Model(file="fuzz.fzn"), Scope(random, "small")
    kinds = COLUMNS if random.random() < 0.8 else OTHERS
    names = [random.choice(list(kinds)) for _ in range(random.choice((1, 1, 2)))]
    n_ints, n_bools = random.randint(4, 7), random.randint(3, 4)
    if names[0].endswith("_reif"):
        n_ints, n_bools = (2, 10) if names[0].startswith("bool") else (9, 4)
    for number in range(n_ints):
        low, high = COMMON if random.random() < 0.95 else (random.randint(-1, 0), random.randint(1, 4))
        add_variable(model, scope, f"x{number}", IntSet.interval(low, 1 if n_ints == 9 else high))
    for number in range(n_bools):
        add_variable(model, scope, f"b{number}", BOOLEAN)
    for name in names:
        add_run(model, scope, name, kinds[name](random))
    add_some(model, scope, 3, random.random() < 0.8)
    return end(model, scope)


def add_run(model: Model, scope: Scope, name: str, draw: Arguments) -> None:
    random = scope.random
    length, odd = random.choice(LENGTHS), random.choice((0.0, 0.0, 0.0, 0.01))
    seen: set[str] = set()
    for _ in range(15 * length):  # in vain, where the witness keeps too few
        arguments = draw(scope)
        operands = repr(sorted(map(repr, arguments[:2]))) if name.endswith("_reif") else ""
        if random.random() < odd:
            arguments[0] = arguments[1] if len(arguments) > 1 and isinstance(arguments[0], Ref) else arguments[0]
        elif operands in seen or not is_satisfied(scope, model, name, arguments):
            continue
        seen |= {operands} - {""}
        model.constraints.append(Constraint(name, arguments, [], 0))
        length -= 1
        if not length:
            break


# ---- tables


def draw_tables(random: Random) -> Model:
    """One named table or two, each with two to six constraints. Most variables have the same domain: only so is what is
    known of the table for one list known for another."""
    model, scope = Model(file="fuzz.fzn"), Scope(random, "small")
    common = random.choice((IntSet.interval(0, 2), IntSet.interval(-1, 1), IntSet.of_values([-1, 0, 2])))
    for number in range(random.randint(3, 6)):
        other = IntSet.interval(0, random.randint(1, 3))
        add_variable(model, scope, f"x{number}", common if random.random() < 0.9 else other)
    for number in range(random.randint(2, 4)):
        add_variable(model, scope, f"b{number}", BOOLEAN)
    for number in range(random.choice((1, 1, 2))):
        add_table(model, scope, f"t{number}", random.choice((1, 2, 2, 3, 3)), random.random() < 0.2)
    add_some(model, scope, 2, random.random() < 0.8)
    return end(model, scope)


def add_table(model: Model, scope: Scope, name: str, width: int, is_bool: bool) -> None:
    random, names = scope.random, scope.bools if is_bool else scope.ints
    lists = [some(scope, names, width) for _ in range(random.randint(2, 6))]
    n_beside = random.choice((0, 2, 12, 40, 40, 80))  # the cells of few rows are not worth array operations
    beside = [[random.randint(-1, 3) for _ in range(width)] for _ in range(n_beside)]
    rows = [[value_in(scope, x) for x in members] for members in lists if random.random() < 0.6] + beside
    random.shuffle(rows)
    cells = [bool(cell % 2) if is_bool else cell for row in rows for cell in row]
    kind = "bool" if is_bool else "int"
    model.arrays[name] = Array(name, kind, False, None, cells, [], 0)
    for members in lists:
        arguments = [members, len(rows), Ref(name)]
        predicate = f"turbo_table_{kind}"
        truth = is_satisfied(scope, model, predicate, arguments)
        form = random.choice(("", "", "_reif", "_imp")) if truth else random.choice(("_reif", "_reif", "_imp"))
        if form:
            negated = random.random() < 0.7
            arguments.append(truth if negated else Drawer(scope, model).truth(truth))
        model.constraints.append(Constraint(predicate + form, arguments, [], 0))


# ---- symmetric, selves


def draw_symmetric(random: Random) -> Model:
    return symmetric_models.draw_symmetric(random, symmetric_models.LONG, MOST_SYMMETRIC)


def draw_selves(random: Random) -> Model:
    """Each constraint has one variable, or two, wherever it has variables; half of the models have a global, too."""
    model = draw_model(random, "small", 0.5)
    names = [Ref(name) for name, variable in model.variables.items() if variable.kind == "int"]
    truths = [Ref(name) for name, variable in model.variables.items() if variable.kind == "bool"]
    model.constraints += [Constraint(random.choice(("int_ne", "int_lt_reif", "int_eq_reif", "int_ne_reif")), [], [], 0)]
    model.constraints[-1].args[:] = [random.choice(names), random.choice(names)]
    if model.constraints[-1].name != "int_ne":
        model.constraints[-1].args.append(random.choice(truths) if truths else random.random() < 0.5)
    for constraint in model.constraints:
        if random.random() < 0.7:
            pool = random.sample(names, min(len(names), random.choice((1, 1, 2))))
            constraint.args[:] = [merged(argument, names, pool, random) for argument in constraint.args]
    return model


def merged(argument: object, names: list[Ref], pool: list[Ref], random: Random) -> object:
    """The argument with each integer variable one of the pool."""
    if isinstance(argument, list):
        return [merged(one, names, pool, random) for one in argument]
    return random.choice(pool) if isinstance(argument, Ref) and argument in names else argument


def draw_many_globals(random: Random) -> Model:
    """Several calls of one global, over the same variables."""
    model, scope = begin(random)
    name = random.choice(list(CALLS))
    scope.room *= 4
    for _ in range(random.randint(2, 4)):
        drawer = Drawer(scope, model)
        arguments = CALLS[name](drawer)
        truth = is_satisfied(scope, model, name, arguments)
        form = "" if truth and random.random() < 0.6 else "_reif"
        arguments += [drawer.truth(truth)] if form else []
        drawer.give_name(arguments)
        model.constraints.append(Constraint(name + form, arguments, [], 0))
    return end(model, scope)


# ---- machines


def draw_machines(random: Random) -> Model:
    """Tasks in the order of the witness, closely; rows over two starts and their span, or over all of them, are what
    bounds of spans follow from (tnf/spans.py)."""
    model, scope = Model(file="fuzz.fzn"), Scope(random, "small")
    starts, lengths = [Ref(f"x{number}") for number in range(random.choice((2, 3, 3, 4)))], []
    now = random.randint(-2, 1)
    for start in starts:
        lengths.append(random.randint(1, 3))
        add_variable(model, scope, start, IntSet.interval(now - random.randint(0, 4), now + random.randint(1, 4)))
        scope.witness[start] = now
        now += lengths[-1] + random.choice((0, 0, 1))
    say(model, scope, "turbo_disjunctive", [starts, lengths])
    add_variable(model, scope, "b0", BOOLEAN)
    bound_spans(model, scope, starts)
    if random.random() < 0.6:
        last = Ref("last")
        add_variable(model, scope, last, IntSet.interval(now - random.randint(0, 4), now + 3))
        scope.witness[last] = now
        for start, length in zip(starts, lengths):
            bound(model, scope, [1, -1], [start, last], random.choice((-length, -length, 0)))
    add_some(model, scope, 1, random.random() < 0.8)
    return end(model, scope)


def bound_spans(model: Model, scope: Scope, starts: list[Ref]) -> None:
    """A variable that is at least as long as some starts are apart, and now and then a sum of all."""
    random, span = scope.random, Ref("span")
    times = [scope.witness[start] for start in starts]
    widest = max(times) - min(times)
    add_variable(model, scope, span, IntSet.interval(widest - random.randint(0, 4), widest + random.randint(0, 3)))
    scope.witness[span] = widest
    for first, second in permutations(starts, 2):
        if random.random() < 0.7:
            bound(model, scope, [1, -1, -1], [first, second, span], random.randint(-3, 0))
    if random.random() < 0.4:
        bound(model, scope, [*(random.choice((-1, 1)) for _ in starts), -1], [*starts, span], random.randint(-3, 1))


def bound(model: Model, scope: Scope, coefficients: list[int], names: list[Ref], at_most: int) -> None:
    """An inequality with that right-hand side, or the least that the witness allows."""
    least = sum(factor * scope.witness[name] for factor, name in zip(coefficients, names))
    say(model, scope, "int_lin_le", [coefficients, names, max(least, at_most)])


SHAPES: dict[str, Callable[[Random], Model]] = {
    "squares": draw_squares,
    "runs": draw_runs,
    "tables": draw_tables,
    "symmetric": draw_symmetric,
    "selves": draw_selves,
    "calls": draw_many_globals,
    "machines": draw_machines,
}
SHARE = 0.5  # of all models, that have one of these shapes


def draw_any(random: Random, flavour: str | None = None) -> Model:
    """A model of that shape, or of that flavour (generate.py); without one, of any."""
    if flavour is None and random.random() < SHARE:
        flavour = random.choice(list(SHAPES))
    return SHAPES[flavour](random) if flavour in SHAPES else draw_model(random, flavour)
