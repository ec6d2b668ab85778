"""Random parts of XCSP3 instances, each with its meaning in Python, which shares nothing with the reader.

An item is a text and a function of an assignment (name -> value). A case is a constraint's text and its truth.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import product
from typing import NamedTuple

Values = dict[str, int]


class Item(NamedTuple):
    text: str
    value: Callable[[Values], int]


class Case(NamedTuple):
    """A constraint: its text, whether it holds, and whether ACE takes it (what it does not is beyond XCSP3-core)."""

    text: str
    holds: Callable[[Values], bool]
    core: bool = True


CONDITIONS = [(op, kind) for op in ("lt", "le", "ge", "gt", "eq", "ne") for kind in ("integer", "variable")]
CONDITIONS += [(op, kind) for op in ("in", "notin") for kind in ("interval", "set")]
COMPARE: dict[str, Callable[[int, int], bool]] = {
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "ge": lambda x, y: x >= y,
    "gt": lambda x, y: x > y,
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
}


class Draw:
    """An instance in the making: x[0] to x[n-1] and y, with small domains, some with holes."""

    def __init__(self, seed: int, n: int = 4, most: int = 3):
        self.random = random.Random(seed)
        self.domains: dict[str, list[int]] = {}
        for name in [f"x[{i}]" for i in range(n)] + ["y"]:
            low = self.random.choice([0, 0, 0, 0, -1, 1])
            values = list(range(low, low + self.random.randint(2, most) + 1))
            if len(values) > 3 and self.random.random() < 0.2:
                values.remove(self.random.choice(values[1:-1]))
            self.domains[name] = values
        self.n = n

    def indices(self, count: int, low: int = 0) -> list[Item]:
        """Variables that get domains fit for indices."""
        names = self.random.sample(list(self.domains), min(count, len(self.domains)))
        for name in names:
            self.domains[name] = list(range(low - self.random.randint(0, 1), low + count + self.random.randint(-1, 1)))
            if len(self.domains[name]) < 2:
                self.domains[name] = [low, low + 1]
        return [self.named(name) for name in names]

    def named(self, name: str) -> Item:
        return Item(name, lambda v: v[name])

    def variable(self) -> Item:
        return self.named(self.random.choice(list(self.domains)))

    def integer(self, low: int = -1, high: int = 4) -> Item:
        number = self.random.randint(low, high)
        return Item(str(number), lambda v: number)

    def variables(self, least: int = 2, most: int = 4) -> list[Item]:
        names = list(self.domains)
        count = self.random.randint(least, min(most, len(names)))
        return [self.named(name) for name in self.random.sample(names, count)]

    def scalar(self) -> Item:
        return self.variable() if self.random.random() < 0.5 else self.integer()

    def non_negative(self) -> Item:
        """A constant or a variable of no negative value."""
        names = [name for name, values in self.domains.items() if values[0] >= 0]
        return self.named(self.random.choice(names)) if names and self.random.random() < 0.4 else self.integer(0, 3)

    # Conditions

    def condition(
        self, operator: str, kind: str, low: int = 0, high: int = 5
    ) -> tuple[str, Callable[[int, Values], bool]]:
        if operator in COMPARE:
            item = self.variable() if kind == "variable" else self.integer(low, high)
            return f"({operator},{item.text})", lambda x, v: COMPARE[operator](x, item.value(v))
        if kind == "interval":
            first = self.random.randint(low, high)
            last = first + self.random.randint(0, 2)
            members, text = set(range(first, last + 1)), f"{first}..{last}"
        else:
            members = {self.random.randint(low, high) for _ in range(3)}
            text = "{" + ",".join(map(str, sorted(members))) + "}"
        return f"({operator},{text})", lambda x, v: (x in members) == (operator == "in")

    # Expressions

    def views(self, count: int) -> list[Item]:
        """Expressions that are neither names nor integers."""
        found: list[Item] = []
        while len(found) < count:
            item = self.term(1)
            found += [item] if "(" in item.text else []
        return found

    def term(self, depth: int = 2) -> Item:
        """An integer expression."""
        if depth == 0 or self.random.random() < 0.2:
            return self.scalar()
        name = self.random.choice(list(ARITHMETIC))
        count, function = ARITHMETIC[name]
        items = [self.term(depth - 1) for _ in range(count if count else self.random.randint(2, 3))]
        if name == "if":
            items[0] = self.truth(depth - 1)
        if name in ("div", "mod"):
            items[1] = self.integer(1, 3)
        if name == "pow":
            items[1] = self.integer(0, 2)
        return Item(f"{name}({','.join(i.text for i in items)})", lambda v: function(*(i.value(v) for i in items)))

    def truth(self, depth: int = 2) -> Item:
        """A Boolean expression."""
        if depth <= 1 or self.random.random() < 0.4:
            name = self.random.choice([*COMPARE, "in", "notin"])
            left = self.term(max(depth - 1, 0))
            if name in COMPARE:
                right = self.term(max(depth - 1, 0))
                compare = COMPARE[name]
                return Item(f"{name}({left.text},{right.text})", lambda v: int(compare(left.value(v), right.value(v))))
            members = sorted({self.random.randint(-1, 4) for _ in range(3)})
            text = f"{name}({left.text},set({','.join(map(str, members))}))"
            return Item(text, lambda v: int((left.value(v) in members) == (name == "in")))
        name = self.random.choice(list(LOGIC))
        count, function = LOGIC[name]
        items = [self.truth(depth - 1) for _ in range(count if count else self.random.randint(2, 3))]
        return Item(f"{name}({','.join(i.text for i in items)})", lambda v: int(function(*(i.value(v) for i in items))))

    # The whole

    def instance(self, cases: Sequence[Case], objective: str = "", kind: str = "CSP") -> str:
        domains = "".join(
            f'<domain for="{name}"> {" ".join(map(str, values))} </domain>'
            for name, values in self.domains.items()
            if name != "y"
        )
        last = " ".join(map(str, self.domains["y"]))
        variables = f'<array id="x" size="[{self.n}]">{domains}</array><var id="y">{last}</var>'
        body = "".join(case.text for case in cases)
        goal = f"<objectives>{objective}</objectives>" if objective else ""
        return (
            f'<instance format="XCSP3" type="{kind}"><variables>{variables}</variables>\n'
            f"<constraints>{body}</constraints>\n{goal}</instance>\n"
        )

    def assignments(self) -> list[Values]:
        return [dict(zip(self.domains, values)) for values in product(*self.domains.values())]


def truncated(x: int, y: int) -> int:
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def times(*factors: int) -> int:
    result = 1
    for factor in factors:
        result *= factor
    return result


ARITHMETIC: dict[str, tuple[int, Callable[..., int]]] = {
    "add": (0, lambda *x: sum(x)),
    "sub": (2, lambda x, y: x - y),
    "mul": (0, times),
    "div": (2, truncated),
    "mod": (2, lambda x, y: x - y * truncated(x, y)),
    "neg": (1, lambda x: -x),
    "abs": (1, abs),
    "sqr": (1, lambda x: x * x),
    "pow": (2, lambda x, y: x**y),
    "dist": (2, lambda x, y: abs(x - y)),
    "min": (0, lambda *x: min(x)),
    "max": (0, lambda *x: max(x)),
    "if": (3, lambda c, x, y: x if c else y),
}
LOGIC: dict[str, tuple[int, Callable[..., bool]]] = {
    "and": (0, lambda *x: all(x)),
    "or": (0, lambda *x: any(x)),
    "not": (1, lambda x: not x),
    "xor": (2, lambda x, y: bool(x) != bool(y)),
    "iff": (2, lambda x, y: bool(x) == bool(y)),
    "imp": (2, lambda x, y: not x or bool(y)),
}


def texts(items: Sequence[Item]) -> str:
    return " ".join(item.text for item in items)


def of(items: Sequence[Item], v: Values) -> list[int]:
    return [item.value(v) for item in items]
