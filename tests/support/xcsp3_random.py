"""Random XCSP3 instances: one to three constraints over a few small domains, and perhaps an objective.

What ACE is to solve too has only the forms that it implements, and gets right (`Case.core`). ACE 2.6 takes `notin` of a
condition for `in`, misreads expressions in which an operator has constants only, an `if` twice the same branch or a
`mod` the divisor 1, takes an inequality of a variable and a `pow` for an equation, and loses or adds solutions where a
variable occurs twice in an <ordered>, <element>, <sum> or <cardinality>, where the values of a closed <cardinality> are
not in order, and where a table has a tuple twice.
"""

from __future__ import annotations

import re
import zlib
from typing import NamedTuple

from support.xcsp3_cases import Draw, of, texts
from support.xcsp3_draw import Case, Item, Values, times
from support.xcsp3_more_cases import FORMS

SETS_DOMAINS = {"element", "element of a matrix", "channel", "circuit", "clause", "precedence"}  # so comes first
OF_CONSTANTS = re.compile(r"\b(?!set)\w+\((?:[-\d,]|set\([-\d,]*\))+\)")  # an operator without a variable
MODULO_1 = re.compile(r"mod\((?:[^()]|\([^()]*\))*,1\)")
NO_EQUATION = r"\b(?:lt|le|ge|gt|ne)"
POWER = r"pow\((?:[^()]|\([^()]*\))*\)"
OF_POWER = re.compile(rf"{NO_EQUATION}\((?:[\w\[\]]+,{POWER}|{POWER},[\w\[\]]+)\)")
SAME_BRANCHES = re.compile(r"if\(.*,([^,()]+),\1\)")
KINDS = ("expression", "sum", "minimum", "maximum", "nValues", "product", "lex")


class Instance(NamedTuple):
    text: str
    draw: Draw
    cases: list[Case]
    goal: str  # minimize, maximize or nothing
    objective: Item | None
    forms: list[str]

    def solutions(self) -> list[Values]:
        return [v for v in self.draw.assignments() if all(case.holds(v) for case in self.cases)]

    def best(self) -> int | None:
        """The value of the best solution, None where there is none."""
        assert self.objective is not None
        values = [self.objective.value(v) for v in self.solutions()]
        return (min if self.goal == "minimize" else max)(values, default=None)


def random_instance(seed: int, core: bool) -> Instance:
    draw = Draw(zlib.crc32(str(seed).encode()), n=4, most=3)
    cases: list[Case] = []
    names_of_forms: list[str] = []
    wanted = draw.random.randint(1, 3)
    names = list(FORMS)
    while len(cases) < wanted:
        name = draw.random.choice(names)
        make, forms = FORMS[name]
        if name in SETS_DOMAINS and cases:
            continue
        form = draw.random.choice(forms)
        case = make(draw, form)
        if not core or (case.core and is_read_by_ace(case.text)):
            cases.append(case)
            names_of_forms.append(f"{name} {form}".strip())
    goal = draw.random.choice(["", "minimize", "maximize"])
    objective, text = draw_objective(draw, goal, core) if goal else (None, "")
    kind = "COP" if goal else "CSP"
    return Instance(draw.instance(cases, text, kind), draw, cases, goal, objective, names_of_forms)


def is_read_by_ace(text: str) -> bool:
    return not any(pattern.search(text) for pattern in (OF_CONSTANTS, SAME_BRANCHES, MODULO_1, OF_POWER))


def draw_objective(d: Draw, goal: str, core: bool) -> tuple[Item, str]:
    kind = d.random.choice(KINDS[:5] if core else KINDS)
    if kind == "expression":
        item = d.term(2)
        if "(" not in item.text or (core and not is_read_by_ace(item.text)):
            item = d.variable()
        return item, f"<{goal}> {item.text} </{goal}>"
    items = d.variables(2, 4)
    if kind == "sum":
        coefficients = [d.integer(1, 3), *(d.integer(-2, 3) for _ in items[1:])]
        body = f"<list> {texts(items)} </list><coeffs> {texts(coefficients)} </coeffs>"
        total = Item("", lambda v: sum(c * x for c, x in zip(of(coefficients, v), of(items, v))))
        return total, f'<{goal} type="sum">{body}</{goal}>'
    functions = {
        "minimum": min,
        "maximum": max,
        "nValues": lambda x: len(set(x)),
        "product": lambda x: times(*x),
        "lex": lambda x: rank_of(d, items, x),
    }
    function = functions[kind]
    return Item("", lambda v: function(of(items, v))), f'<{goal} type="{kind}"> {texts(items)} </{goal}>'


def rank_of(d: Draw, items: list[Item], values: list[int]) -> int:
    """The place of a tuple in the lexicographic order of all within the ranges of the domains, from 0."""
    rank = 0
    for item, value in zip(items, values):
        low, high = d.domains[item.text][0], d.domains[item.text][-1]
        rank = rank * (high - low + 1) + value - low
    return rank
