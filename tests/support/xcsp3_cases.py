"""Random constraints of every kind, one function a constraint: it gets a Draw and the form that is wanted.

`FORMS` lists all forms: the name of the constraint, and what distinguishes the form (the kind of its condition, an
operator, a variant). The meanings follow the specification (arXiv 2009.00514), section by section.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import combinations, pairwise

from support.xcsp3_draw import COMPARE, CONDITIONS, Case, Draw, Item, of, texts

ORDERS = ("lt", "le", "ge", "gt")


def intension(d: Draw, _: str) -> Case:
    item = d.truth(3)
    return Case(f"<intension> {item.text} </intension>", lambda v: bool(item.value(v)))


# Generic constraints


def rows_of(d: Draw, width: int, cells: Callable[[], str]) -> list[list[str]]:
    return [[cells() for _ in range(width)] for _ in range(d.random.randint(1, 6))]


MARKS = (("<=", "le"), (">=", "ge"), ("!=", "ne"), ("<", "lt"), (">", "gt"))
MARKS += (("≠", "ne"), ("≤", "le"), ("≥", "ge"), ("﹤", "lt"), ("﹥", "gt"))  # type: ignore[assignment]


def fits(cell: str, x: int) -> bool:
    if cell == "*":
        return True
    if ".." in cell:
        low, high = map(int, cell.lstrip("¬").split(".."))
        return (low <= x <= high) == (cell[0] != "¬")
    if "{" in cell:
        return str(x) in cell.strip("{}").split(",")
    for mark, operator in MARKS:
        if cell.startswith(mark):
            return COMPARE[operator](x, int(cell[len(mark) :]))
    return x == int(cell)


SMART = ["*", "<=1", ">=2", "!=1", "0..1", "<2", ">0", "≠2", "≤2", "≥1", "﹤1", "﹥1", "¬1..2", "{0,2}"]


def extension(d: Draw, form: str) -> Case:
    table, kind = form.split()
    items = d.variables(1, 1) if kind == "unary" else d.variables(2, 3)
    if kind == "unary":
        cells = ["-1", "1", "2..3"]
        body, rows = " ".join(cells), [[cell] for cell in cells]
    else:
        marks = {"plain": [], "starred": ["*"], "smart": SMART}[kind]
        rows = rows_of(d, len(items), lambda: d.random.choice([*map(str, range(-1, 4)), *marks]))
        rows = sorted(dict.fromkeys(map(tuple, rows)))
        body = "".join(f"({','.join(row)})" for row in rows).replace("<", "&lt;")
    text = f"<extension><list> {texts(items)} </list><{table}> {body} </{table}></extension>"
    return Case(
        text,
        lambda v: any(all(map(fits, row, of(items, v))) for row in rows) == (table == "supports"),
        kind != "smart",
    )


def regular(d: Draw, form: str) -> Case:
    items, states = d.variables(2, 4), ["a", "b", "c"]
    steps = {(s, x, d.random.choice(states)) for s in states for x in range(-1, 4) if d.random.random() < 0.7}
    if form == "deterministic":
        steps = set({(s, x): (s, x, t) for s, x, t in sorted(steps)}.values())
    else:
        steps |= {(s, x, d.random.choice(states)) for s in states for x in range(3)}
    steps.add(("a", 0, "b"))
    if form == "deterministic":
        steps = set({(s, x): (s, x, t) for s, x, t in sorted(steps)}.values())
    final = d.random.sample(states, d.random.randint(1, 2))

    def holds(v: dict[str, int]) -> bool:
        at = {"a"}
        for value in of(items, v):
            at = {t for s, x, t in steps if s in at and x == value}
        return bool(at & set(final))

    body = "".join(f"({s},{x},{t})" for s, x, t in sorted(steps))
    text = (
        f"<regular><list> {texts(items)} </list><transitions> {body} </transitions>"
        f"<start> a </start><final> {' '.join(final)} </final></regular>"
    )
    return Case(text, holds, form == "deterministic")


def mdd(d: Draw, form: str) -> Case:
    items = d.variables(2, 4)
    levels = [["r"], *[[f"n{i}_{j}" for j in range(2)] for i in range(1, len(items))], ["t"]]
    steps: set[tuple[str, int, str]] = set()
    for here, there in pairwise(levels):
        for s in here:
            if s == "r" or any(t == s for _, _, t in steps):
                steps |= {(s, x, d.random.choice(there)) for x in d.random.sample(range(-1, 4), d.random.randint(2, 5))}
                if form != "deterministic":
                    steps.add((s, 0, d.random.choice(there)))

    def holds(v: dict[str, int]) -> bool:
        at = {"r"}
        for value in of(items, v):
            at = {t for s, x, t in steps if s in at and x == value}
        return "t" in at

    body = "".join(f"({s},{x},{t})" for s, x, t in sorted(steps, key=lambda step: (step[0] != "r", step)))
    text = f"<mdd><list> {texts(items)} </list><transitions> {body} </transitions></mdd>"
    return Case(text, holds, form == "deterministic")


# Comparisons


def all_different(d: Draw, form: str) -> Case:
    if form == "matrix":
        rows = [d.variables(2, 2) for _ in range(2)]
        body = "".join(f"({','.join(i.text for i in row)})" for row in rows)
        sides = [*rows, *zip(*rows)]
        text = f"<allDifferent><matrix> {body} </matrix></allDifferent>"
        distinct = len({i.text for row in rows for i in row}) == 4
        return Case(text, lambda v: all(len(set(of(side, v))) == len(side) for side in sides), distinct)
    if form == "lists":
        lists = [d.variables(2, 2) for _ in range(3)]
        body = "".join(f"<list> {texts(items)} </list>" for items in lists)
        distinct = len({i.text for items in lists for i in items}) == 6
        return Case(
            f"<allDifferent>{body}</allDifferent>",
            lambda v: all(of(p, v) != of(q, v) for p, q in combinations(lists, 2)),
            distinct,
        )
    items = d.views(3) if form == "expressions" else d.variables(2, 4)
    left_out = [0, 2] if form == "except" else []
    more = "<except> 0 2 </except>" if left_out else ""

    def holds(v: dict[str, int]) -> bool:
        values = [x for x in of(items, v) if x not in left_out]
        return len(set(values)) == len(values)

    return Case(f"<allDifferent><list> {texts(items)} </list>{more}</allDifferent>", holds, form != "expressions")


def all_equal(d: Draw, form: str) -> Case:
    items = d.variables(2, 3)
    left_out = [1, 2] if form == "except" else []
    more = "<except> 1 2 </except>" if left_out else ""
    return Case(
        f"<allEqual><list> {texts(items)} </list>{more}</allEqual>",
        lambda v: len({x for x in of(items, v) if x not in left_out}) <= 1,
        form != "except",
    )


def ordered(d: Draw, form: str) -> Case:
    operator, kind = form.split()
    items = d.variables(2, 4)
    lengths = [Item("0", lambda v: 0)] * (len(items) - 1)
    if kind != "plain":
        lengths = [d.integer(0, 2) if kind == "constants" else d.variable() for _ in lengths]
    more = f"<lengths> {texts(lengths)} </lengths>" if kind != "plain" else ""

    def holds(v: dict[str, int]) -> bool:
        x = of(items, v)
        return all(COMPARE[operator](p + length, q) for (p, q), length in zip(pairwise(x), of(lengths, v)))

    distinct = len({i.text for i in [*items, *lengths]}) == len(items) + len(lengths) or kind != "variables"
    text = f"<ordered><list> {texts(items)} </list>{more}<operator> {operator} </operator></ordered>"
    return Case(text, holds, distinct)


def lex(d: Draw, form: str) -> Case:
    operator, kind = form.split()
    rows = [d.variables(2, 2) for _ in range(2)]
    chains = [rows, list(zip(*rows))] if kind == "matrix" else [rows]

    def holds(v: dict[str, int]) -> bool:
        values = [[of(row, v) for row in chain] for chain in chains]
        return all(COMPARE[operator](p, q) for chain in values for p, q in pairwise(chain))  # type: ignore[arg-type]

    if kind == "matrix":
        body = "<matrix> " + "".join(f"({','.join(i.text for i in row)})" for row in rows) + " </matrix>"
    else:
        body = "".join(f"<list> {texts(row)} </list>" for row in rows)
    distinct = len({i.text for row in rows for i in row}) == 4
    return Case(f"<lex>{body}<operator> {operator} </operator></lex>", holds, distinct)


def precedence(d: Draw, form: str) -> Case:
    items = d.variables(3, 4)
    if form == "all values":
        values = sorted({x for item in items for x in d.domains[item.text]})
        more = ""
    else:
        values = d.random.sample(range(4), 3)
        covered = ' covered="true"' if form == "covered" else ""
        more = f"<values{covered}> {' '.join(map(str, values))} </values>"

    def holds(v: dict[str, int]) -> bool:
        x = of(items, v)
        place = {value: x.index(value) if value in x else len(x) for value in values}
        right = all(place[t] == len(x) or place[s] < place[t] for s, t in pairwise(values))
        return right and (form != "covered" or set(values) <= set(x))

    return Case(f"<precedence><list> {texts(items)} </list>{more}</precedence>", holds)


# Counting


def counted(
    d: Draw, form: str, body: str, name: str, value: Callable[[dict[str, int]], int], core: bool = True
) -> Case:
    operator, kind = form.split()[:2]
    text, holds = d.condition(operator, kind)
    core = core and operator != "notin"
    return Case(f"<{name}>{body}<condition> {text} </condition></{name}>", lambda v: holds(value(v), v), core)


def sum_(d: Draw, form: str) -> Case:
    variant = form.split()[2]
    items = d.views(3) if variant == "expressions" else d.variables(2, 4)
    coefficients = [Item("1", lambda v: 1)] * len(items)
    if variant in ("constants", "variables"):
        coefficients = [d.integer(-2, 3) if variant == "constants" else d.variable() for _ in items]
    more = f"<coeffs> {texts(coefficients)} </coeffs>" if variant in ("constants", "variables") else ""
    body = f"<list> {texts(items)} </list>{more}"
    distinct = variant != "variables" or len({i.text for i in [*items, *coefficients]}) == 2 * len(items)
    total = lambda v: sum(c * x for c, x in zip(of(coefficients, v), of(items, v)))  # noqa: E731
    return counted(d, form, body, "sum", total, distinct)


def count(d: Draw, form: str) -> Case:
    variant = form.split()[2]
    items = d.views(3) if variant == "expressions" else d.variables(3, 4)
    values = [d.variable() for _ in range(2)] if variant == "variables" else [d.integer(0, 3), d.integer(0, 3)]
    values = values[: d.random.randint(1, 2)]
    body = f"<list> {texts(items)} </list><values> {texts(values)} </values>"
    return counted(d, form, body, "count", lambda v: sum(x in of(values, v) for x in of(items, v)))


def n_values(d: Draw, form: str) -> Case:
    items, left_out = d.variables(3, 4), [0, 2] if "except" in form else []
    more = "<except> 0 2 </except>" if left_out else ""
    body = f"<list> {texts(items)} </list>{more}"
    return counted(d, form, body, "nValues", lambda v: len(set(of(items, v)) - set(left_out)))


def cardinality(d: Draw, form: str) -> Case:
    closed, kind = form.split()
    items, values = d.variables(3, 4), [Item(str(x), lambda v, x=x: x) for x in sorted(d.random.sample(range(4), 3))]
    if kind == "values":
        values = [d.variable() for _ in range(2)]
    if kind == "intervals":
        ends = [(low, low + d.random.randint(0, 2)) for low in (d.random.randint(0, 1) for _ in values)]
        occurs = " ".join(f"{low}..{high}" for low, high in ends)
        limits: list = [lambda v, e=e: range(e[0], e[1] + 1) for e in ends]
    else:
        chosen = [d.integer(0, 2) if kind == "constants" else d.variable() for _ in values]
        occurs, limits = texts(chosen), [lambda v, i=i: [i.value(v)] for i in chosen]

    def holds(v: dict[str, int]) -> bool:
        found = Counter(of(items, v))
        right = all(found[x] in limit(v) for x, limit in zip(of(values, v), limits))
        return right and (closed == "open" or set(found) <= set(of(values, v)))

    text = (
        f'<cardinality><list> {texts(items)} </list><values closed="{str(closed == "closed").lower()}"> '
        f"{texts(values)} </values><occurs> {occurs} </occurs></cardinality>"
    )
    named = [item.text for item in [*items, *(chosen if kind == "variables" else [])]]
    distinct = len(set(named)) == len(named)
    return Case(text, holds, kind != "values" and distinct)


def knapsack(d: Draw, form: str) -> Case:
    items = d.variables(2, 4)
    weights, profits = [d.integer(0, 3) for _ in items], [d.integer(0, 3) for _ in items]
    limit, fits_in = d.condition("le", "integer", 2, 9)
    operator, kind = form.split()
    wanted, suits = d.condition(operator, kind, 0, 9)

    def holds(v: dict[str, int]) -> bool:
        x = of(items, v)
        total = [sum(c * one for c, one in zip(of(some, v), x)) for some in (weights, profits)]
        return fits_in(total[0], v) and suits(total[1], v)

    text = (
        f"<knapsack><list> {texts(items)} </list><weights> {texts(weights)} </weights><condition> {limit} </condition>"
        f"<profits> {texts(profits)} </profits><condition> {wanted} </condition></knapsack>"
    )
    return Case(text, holds, operator != "notin")


def conditional(*variants: str) -> list[str]:
    return [f"{operator} {kind} {variant}".strip() for operator, kind in CONDITIONS for variant in variants]


TABLES, OCCURS = ("unary", "plain", "starred", "smart"), ("constants", "variables", "intervals", "values")
FORMS: dict[str, tuple[Callable[[Draw, str], Case], list[str]]] = {
    "intension": (intension, [""]),
    "extension": (extension, [f"{t} {k}" for t in ("supports", "conflicts") for k in TABLES]),
    "regular": (regular, ["deterministic", "nondeterministic"]),
    "mdd": (mdd, ["deterministic", "nondeterministic"]),
    "allDifferent": (all_different, ["plain", "except", "lists", "matrix", "expressions"]),
    "allEqual": (all_equal, ["plain", "except"]),
    "ordered": (ordered, [f"{o} {k}" for o in ORDERS for k in ("plain", "constants", "variables")]),
    "lex": (lex, [f"{o} {k}" for o in ORDERS for k in ("lists", "matrix")]),
    "precedence": (precedence, ["values", "covered", "all values"]),
    "sum": (sum_, conditional("plain", "constants", "variables", "expressions")),
    "count": (count, conditional("constants", "variables", "expressions")),
    "nValues": (n_values, conditional("plain", "except")),
    "cardinality": (cardinality, [f"{c} {k}" for c in ("open", "closed") for k in OCCURS]),
    "knapsack": (knapsack, conditional("")),
}
