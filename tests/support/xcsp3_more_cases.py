"""The second half of the cases: connections, space and time, graphs, and what is made of others (groups, slides)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from itertools import combinations

from support.xcsp3_cases import FORMS, Draw, conditional, counted, of, texts
from support.xcsp3_draw import COMPARE, Case, Item


def extreme(name: str) -> Callable[[Draw, str], Case]:
    def make(d: Draw, form: str) -> Case:
        items = d.views(3) if "expressions" in form else d.variables(2, 4)
        best = max if name == "maximum" else min
        return counted(d, form, f"<list> {texts(items)} </list>", name, lambda v: best(of(items, v)))

    return make


def extreme_place(name: str) -> Callable[[Draw, str], Case]:
    def make(d: Draw, form: str) -> Case:
        operator, kind, rank = form.split()
        items = d.variables(2, 4)
        text, suits = d.condition(operator, kind, 0, 3)

        def holds(v: dict[str, int]) -> bool:
            x = of(items, v)
            best = max(x) if name == "maximumArg" else min(x)
            places = [i for i, one in enumerate(x) if one == best]
            chosen = {"any": places, "first": places[:1], "last": places[-1:]}[rank]
            return any(suits(i, v) for i in chosen)

        body = f'<list rank="{rank}"> {texts(items)} </list><condition> {text} </condition>'
        return Case(f"<{name}>{body}</{name}>", holds, operator != "notin")

    return make


def extreme_at(d: Draw, form: str) -> Case:
    """With an index, as XCSP3 3.0 has it: of some extreme element, or of the first or last one."""
    name, rank, numbered = form.split()
    items, (index,), first = d.variables(2, 4), d.indices(1), int(numbered)
    text, suits = d.condition("ge", "variable", 0, 3)

    def holds(v: dict[str, int]) -> bool:
        x = of(items, v)
        best = max(x) if name == "maximum" else min(x)
        places = [i for i, one in enumerate(x, first) if one == best]
        chosen = {"any": places, "first": places[:1], "last": places[-1:]}[rank]
        return index.value(v) in chosen and suits(best, v)

    body = f'<list startIndex="{first}"> {texts(items)} </list><index rank="{rank}"> {index.text} </index>'
    return Case(f"<{name}>{body}<condition> {text} </condition></{name}>", holds, False)


def hybrid(d: Draw, table: str) -> Case:
    """Cells may compare columns; ACE 2.6 adds solutions."""
    items = d.variables(3, 3)

    def cell() -> tuple[str, Callable[[int, list[int]], bool]]:
        sign, name = d.random.choice([("", "eq"), ("≠", "ne"), ("≤", "le"), ("≥", "ge"), ("﹤", "lt"), ("﹥", "gt")])
        column, more, value = d.random.randrange(3), d.random.randint(-2, 2), d.random.randint(-1, 3)
        compare = COMPARE[name]
        return d.random.choice([
            ("*", lambda one, x: True),
            (f"{sign}{value}", lambda one, x: compare(one, value)),
            (f"{value}..3", lambda one, x: value <= one <= 3),
            (f"{sign}c{column}" + (f"{more:+d}" if more else ""), lambda one, x: compare(one, x[column] + more)),
        ])  # fmt: skip

    rows = [[cell() for _ in items] for _ in range(d.random.randint(1, 4))]
    body = "".join(f"({','.join(text for text, _ in row)})" for row in rows)

    def holds(v: dict[str, int]) -> bool:
        x = of(items, v)
        return any(all(suits(one, x) for one, (_, suits) in zip(x, row)) for row in rows) == (table == "supports")

    text = f'<extension type="hybrid-2"><list> {texts(items)} </list><{table}> {body} </{table}></extension>'
    return Case(text, holds, False)


def flow(d: Draw, form: str) -> Case:
    """Through three nodes, the least of which has any number."""
    items, least = d.variables(2, 4), d.random.randint(0, 2)
    arcs = [(0, 2), *(tuple(d.random.sample(range(3), 2)) for _ in items[1:])]
    balances = [d.integer(-2, 3) if form != "variables" else d.scalar() for _ in range(3)]
    weights = [d.integer(-1, 3) for _ in items]
    text, suits = d.condition("le", "variable", 0, 3)

    def holds(v: dict[str, int]) -> bool:
        x = of(items, v)
        net = [sum(one * ((i == node) - (j == node)) for one, (i, j) in zip(x, arcs)) for node in range(3)]
        weight = sum(w * one for w, one in zip(of(weights, v), x))
        return net == of(balances, v) and (form != "weights" or suits(weight, v))

    body = f"<list> {texts(items)} </list><balance> {texts(balances)} </balance>"
    body += f"<arcs> {''.join(f'({i + least},{j + least})' for i, j in arcs)} </arcs>"
    more = f"<weights> {texts(weights)} </weights><condition> {text} </condition>" if form == "weights" else ""
    return Case(f"<flow>{body}{more}</flow>", holds, False)


def element(d: Draw, form: str) -> Case:
    *condition, variant = form.split()
    items = [d.integer(0, 3) for _ in range(4)] if variant == "constants" else d.variables(3, 4)
    (index,) = d.indices(1)
    d.domains[index.text] = list(range(-1, 5))
    if not condition:
        value = d.scalar()
        more, suits = f"<value> {value.text} </value>", lambda x, v: x == value.value(v)
    else:
        text, suits = d.condition(condition[0], condition[1], 0, 3)
        more = f"<condition> {text} </condition>"

    def holds(v: dict[str, int]) -> bool:
        i = index.value(v)
        return 0 <= i < len(items) and suits(items[i].value(v), v)

    body = f"<list> {texts(items)} </list><index> {index.text} </index>{more}"
    apart = index.text not in texts(items) + more
    return Case(f"<element>{body}</element>", holds, apart and "notin" not in condition)


def element_of_matrix(d: Draw, form: str) -> Case:
    operator, kind, variant = form.split()
    rows = [[d.integer(0, 3) if variant == "constants" else d.variable() for _ in range(3)] for _ in range(2)]
    i, j = d.indices(2)
    text, suits = d.condition(operator, kind, 0, 3)
    matrix = "".join(f"({','.join(cell.text for cell in row)})" for row in rows)

    def holds(v: dict[str, int]) -> bool:
        p, q = i.value(v), j.value(v)
        return 0 <= p < 2 and 0 <= q < 3 and suits(rows[p][q].value(v), v)

    body = f"<matrix> {matrix} </matrix><index> {i.text} {j.text} </index><condition> {text} </condition>"
    apart = not {i.text, j.text} & set(re.findall(r"[\w\[\]]+", matrix + text))
    return Case(f"<element>{body}</element>", holds, apart and operator == "eq")


def member(d: Draw, _: str) -> Case:
    items, value = d.variables(2, 3), d.scalar()
    body = f"<list> {texts(items)} </list><value> {value.text} </value>"
    return Case(f"<element>{body}</element>", lambda v: value.value(v) in of(items, v), False)


def is_channel(x: list[int], y: list[int]) -> bool:
    return all(0 <= j < len(y) and y[j] == i for i, j in enumerate(x))


def channel(d: Draw, form: str) -> Case:
    items = d.indices(5 if form in ("two lists", "into") else 3)
    if form == "one list":
        return Case(f"<channel> {texts(items)} </channel>", lambda v: is_channel(of(items, v), of(items, v)))
    if form == "value":
        *members, value = items
        for one in members:
            d.domains[one.text] = [0, 1]

        def holds(v: dict[str, int]) -> bool:
            i, x = value.value(v), of(members, v)
            return 0 <= i < len(x) and all(one == (k == i) for k, one in enumerate(x))

        return Case(f"<channel><list> {texts(members)} </list><value> {value.text} </value></channel>", holds)
    x, y = items[:2], items[2:4] if form == "two lists" else items[2:]
    body = f"<channel><list> {texts(x)} </list><list> {texts(y)} </list></channel>"
    both = form == "two lists"
    return Case(body, lambda v: is_channel(of(x, v), of(y, v)) and (not both or is_channel(of(y, v), of(x, v))))


# Space and time


def no_overlap(d: Draw, form: str) -> Case:
    dimensions, ignored, kind = form.split()
    k = int(dimensions)
    boxes = [d.variables(k, k) for _ in range(3 if k == 1 else 2)]
    sizes = [[d.integer(0, 2) if kind == "constants" else d.non_negative() for _ in range(k)] for _ in boxes]

    def holds(v: dict[str, int]) -> bool:
        placed = [list(zip(of(box, v), of(size, v))) for box, size in zip(boxes, sizes)]
        placed = [box for box in placed if ignored == "false" or all(size for _, size in box)]
        return all(any(p + a <= q or q + b <= p for (p, a), (q, b) in zip(*pair)) for pair in combinations(placed, 2))

    def shown(rows: list[list[Item]]) -> str:
        return texts([row[0] for row in rows]) if k == 1 else "".join(f"({','.join(i.text for i in r)})" for r in rows)

    body = f"<origins> {shown(boxes)} </origins><lengths> {shown(sizes)} </lengths>"
    zeros = any(size.text == "0" or "[" in size.text or size.text == "y" for row in sizes for size in row)
    distinct = len({i.text for row in [*boxes, *sizes] for i in row if not i.text.isdigit()}) == len(boxes) * k
    core = ignored == "true" and not zeros and distinct
    return Case(f'<noOverlap zeroIgnored="{ignored}">{body}</noOverlap>', holds, core)


def cumulative(d: Draw, form: str) -> Case:
    operator, kind, variant = form.split()
    starts = d.variables(2, 3)
    lengths = [d.integer(0, 2) if variant == "constants" else d.non_negative() for _ in starts]
    heights = [d.integer(0, 2) if variant == "constants" else d.non_negative() for _ in starts]
    ends = [d.variable() for _ in starts] if variant == "ends" else []
    text, suits = d.condition(operator, kind, 0, 4)

    def holds(v: dict[str, int]) -> bool:
        s, length, h = of(starts, v), of(lengths, v), of(heights, v)
        if ends and any(p + q != e for p, q, e in zip(s, length, of(ends, v))):
            return False
        return all(suits(sum(use for p, q, use in zip(s, length, h) if p <= time < p + q), v) for time in range(-3, 12))

    more = f"<ends> {texts(ends)} </ends>" if ends else ""
    body = f"<origins> {texts(starts)} </origins><lengths> {texts(lengths)} </lengths>{more}"
    return Case(
        f"<cumulative>{body}<heights> {texts(heights)} </heights><condition> {text} </condition></cumulative>",
        holds,
        form in ("le integer constants", "le variable constants"),
    )


def bin_packing(d: Draw, form: str) -> Case:
    items = d.variables(3, 4)
    sizes = [d.random.randint(1, 3) for _ in items]

    def loads(v: dict[str, int]) -> Counter[int]:
        total: Counter[int] = Counter()
        for place, size in zip(of(items, v), sizes):
            total[place] += size
        return total

    if form.split()[0] in ("limits", "loads", "conditions"):
        kind, operands = form.split()
        parts = [d.integer(1, 6) if operands == "constants" else d.variable() for _ in range(3)]
        compare = COMPARE["eq" if kind == "loads" else "le"]
        body = " ".join(f"(le,{part.text})" for part in parts) if kind == "conditions" else texts(parts)
        more = f"<{kind}> {body} </{kind}>"

        def holds(v: dict[str, int]) -> bool:
            total = loads(v)
            return set(total) <= {0, 1, 2} and all(compare(total[i], x) for i, x in enumerate(of(parts, v)))

    else:
        text, suits = d.condition(*form.split(), 1, 6)
        more = f"<condition> {text} </condition>"

        def holds(v: dict[str, int]) -> bool:
            return all(suits(load, v) for load in loads(v).values())

    body = f"<list> {texts(items)} </list><sizes> {' '.join(map(str, sizes))} </sizes>{more}"
    return Case(f"<binPacking>{body}</binPacking>", holds, form in ("le integer", "lt integer"))


# Graphs, and others


def circuit(d: Draw, form: str) -> Case:
    items = d.indices(4)
    size = d.integer(2, 4) if form == "size" else d.variable()
    more = f"<size> {size.text} </size>" if form != "plain" else ""

    def holds(v: dict[str, int]) -> bool:
        x = of(items, v)
        if sorted(x) != list(range(len(x))):
            return False
        tour = [i for i, j in enumerate(x) if i != j]
        seen, at = [], tour[0] if tour else 0
        while tour and at not in seen:
            seen.append(at)
            at = x[at]
        return len(tour) >= 2 and len(seen) == len(tour) and (form == "plain" or len(tour) == size.value(v))

    return Case(f"<circuit><list> {texts(items)} </list>{more}</circuit>", holds)


def instantiation(d: Draw, _: str) -> Case:
    items = d.variables(1, 2)
    values = [d.random.choice(d.domains[item.text]) for item in items]
    body = f"<list> {texts(items)} </list><values> {' '.join(map(str, values))} </values>"
    return Case(f"<instantiation>{body}</instantiation>", lambda v: of(items, v) == values)


def clause(d: Draw, _: str) -> Case:
    items = d.variables(3, 3)
    for item in items:
        d.domains[item.text] = [0, 1]
    p, q, r = items
    text = f"<clause> {p.text} not({q.text}) {r.text} </clause>"
    return Case(text, lambda v: bool(p.value(v) or not q.value(v) or r.value(v)), False)


def slide(d: Draw, form: str) -> Case:
    names = [d.named(f"x[{i}]") for i in range(d.n)]
    offset = d.random.randint(1, 2)
    kind = ' circular="true"' if form == "circular" else ""
    text = f'<slide{kind}><list offset="{offset}"> x[] </list><intension> ne(%0,add(%1,1)) </intension></slide>'

    def holds(v: dict[str, int]) -> bool:
        x = of(names, v)
        last = len(x) if form == "circular" else len(x) - 1
        return all(x[i] != x[(i + 1) % len(x)] + 1 for i in range(0, last, offset))

    return Case(text, holds)


def group(d: Draw, form: str) -> Case:
    pairs = [d.variables(2, 2) for _ in range(3)]
    if form == "intension":
        k = d.integer(0, 3)
        args = "".join(f"<args> {texts(pair)} {k.text} </args>" for pair in pairs)
        text = f"<group><intension> le(dist(%0,%1),%2) </intension>{args}</group>"
        return Case(text, lambda v: all(abs(p.value(v) - q.value(v)) <= k.value(v) for p, q in pairs))
    args = "".join(f"<args> {texts(pair)} </args>" for pair in pairs)
    if form == "sum":
        text = f"<group><sum><list> %... </list><condition> (le,3) </condition></sum>{args}</group>"
        return Case(text, lambda v: all(sum(of(pair, v)) <= 3 for pair in pairs))
    rows = sorted({(d.random.randint(0, 3), d.random.randint(0, 3)) for _ in range(7)})
    table = "".join(f"({p},{q})" for p, q in rows)
    text = f"<group><extension><list> %0 %1 </list><supports> {table} </supports></extension>{args}</group>"
    return Case(text, lambda v: all(tuple(of(pair, v)) in rows for pair in pairs))


OPERANDS, BINS = ("constants", "variables"), ("limits", "loads", "conditions")
EXTREMES, RANKS = ("minimum", "maximum"), ("any", "first", "last")
FORMS |= {
    "minimum": (extreme("minimum"), conditional("plain", "expressions")),
    "maximum": (extreme("maximum"), conditional("plain", "expressions")),
    "minimumArg": (extreme_place("minimumArg"), conditional("any", "first", "last")),
    "maximumArg": (extreme_place("maximumArg"), conditional("any", "first", "last")),
    "extreme with an index": (extreme_at, [f"{n} {r} {i}" for n in EXTREMES for r in RANKS for i in "01"]),
    "hybrid": (hybrid, ["supports", "conflicts"]),
    "flow": (flow, ["plain", "variables", "weights"]),
    "element": (element, ["constants", "variables", *conditional("constants", "variables")]),
    "element of a matrix": (element_of_matrix, conditional("constants", "variables")),
    "element without an index": (member, [""]),
    "channel": (channel, ["one list", "two lists", "into", "value"]),
    "noOverlap": (no_overlap, [f"{k} {z} {c}" for k in "123" for z in ("true", "false") for c in OPERANDS]),
    "cumulative": (cumulative, conditional("constants", "variables", "ends")),
    "binPacking": (bin_packing, [*conditional(""), *(f"{k} {o}" for k in BINS for o in OPERANDS)]),
    "circuit": (circuit, ["plain", "size", "size variable"]),
    "instantiation": (instantiation, [""]),
    "clause": (clause, [""]),
    "slide": (slide, ["", "circular"]),
    "group": (group, ["intension", "sum", "extension"]),
}
