"""Random models of things that cannot stand side by side, as rows and as FlatZinc, and what a bound is measured by.

Each thing has a start and an end; starts are variables, or a constant more than others, or the same. A pair is stated
in one of the forms that models have, or not at all; then there are spans, and variables behind all or some things.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations, permutations

import numpy as np
from hypothesis import strategies as st

from support import naive
from support.small_tnf import make_tnf
from turbo_fzn.base.domains import INFINITY
from turbo_fzn.tnf.columns import Rows
from turbo_fzn.tnf.language import TNF, Op
from turbo_fzn.tnf.spans import stretch

FAR = 2**45  # where a variable without bounds is looked for solutions


def rows_of(tnf: TNF) -> Rows:
    return Rows(*(column.astype(np.int64) for column in (tnf.op, tnf.x, tnf.y, tnf.z)))


def stretched(tnf: TNF) -> dict[int, int]:
    """The lower bounds that are found at the root fixpoint, and are better than its own."""
    bounds = naive.propagate(tnf)
    if bounds is None:
        return {}
    variables, low = stretch(rows_of(tnf), *bounds)
    best: dict[int, int] = {}
    for variable, bound in zip(variables.tolist(), low.tolist()):
        if bound > bounds[0][variable]:
            best[variable] = max(bound, best.get(variable, bound))
    return best


@dataclass
class Sheet:
    """A TNF on its way. Variables that rows define are as wide as they need to be."""

    domains: list[tuple[int, int]] = field(default_factory=list)
    rows: list[tuple[int, int, int, int]] = field(default_factory=list)
    constants: dict[int, int] = field(default_factory=dict)
    mentioned: list[int] = field(default_factory=list)

    def variable(self, low: int, high: int) -> int:
        self.domains.append((low, high))
        return len(self.domains) - 1

    def constant(self, value: int) -> int:
        if value not in self.constants:
            self.constants[value] = self.variable(value, value)
        return self.constants[value]

    def sum(self, y: int, z: int) -> int:
        (low, high), (least, most) = self.domains[y], self.domains[z]
        x = self.variable(max(low + least, -INFINITY), min(high + most, INFINITY))
        self.rows.append((Op.ADD, x, y, z))
        return x

    def more(self, x: int, k: int) -> int:
        return self.sum(x, self.constant(k)) if k else x

    def at_most(self, y: int, z: int) -> int:
        truth = self.variable(0, 1)
        self.rows.append((Op.LEQ, truth, y, z))
        return truth

    def holds(self, y: int, z: int, strictly_not: bool = False) -> None:
        """y <= z, or that z + 1 <= y is false."""
        row = (Op.LEQ, self.constant(0), self.more(z, 1), y) if strictly_not else (Op.LEQ, self.constant(1), y, z)
        self.rows.append(row)

    def either(self, form: str, first: tuple[int, int], second: tuple[int, int]) -> None:
        """One of two comparisons y <= z holds."""
        opposite = [(self.more(z, 1), y) for y, z in (first, second)]
        op, result, y, z = {
            "or": (Op.MAX, 1, first, second),
            "not both opposites": (Op.MIN, 0, *opposite),
            "implication": (Op.LEQ, 1, opposite[0], second),
            "the other implication": (Op.LEQ, 1, opposite[1], first),
        }[form]
        self.rows.append((op, self.constant(result), self.at_most(*y), self.at_most(*z)))

    def tnf(self) -> TNF:
        return make_tnf(self.domains, self.rows, outputs=self.mentioned)


FORMS = ("or", "not both opposites", "implication", "the other implication")


@st.composite
def sheets(draw: st.DrawFn, large: bool = True) -> Sheet:
    """`large`: four things, and variables without bounds; else there are few solutions."""
    sheet = Sheet()
    room = 9 if large else 1
    far = large and draw(st.integers(0, 3)) == 0  # then without cycles, where naive propagation might have no end
    kinds = ["own", "own", "own", "moved", "moved", "moved", "shifted", "same", "far" if far else "cycle"]
    few = st.integers(0, 3)
    starts: list[int] = []
    for _ in range(draw(st.sampled_from((2, 3, 3, 4 if large else 3)))):
        kind = draw(st.sampled_from(kinds))
        if kind == "far":
            starts.append(sheet.variable(-INFINITY, draw(st.sampled_from((INFINITY, 5, -(2**41))))))
        elif kind in ("shifted", "same", "cycle") and starts:
            start = draw(st.sampled_from(starts))
            starts.append(sheet.more(start, 0 if kind == "same" else draw(st.integers(-2, 2))))
            if kind == "cycle":
                starts[-1] = sheet.more(start, 1)
                sheet.rows.append((Op.ADD, start, starts[-1], sheet.constant(draw(st.sampled_from((-1, -1, 0))))))
        else:
            low = draw(st.integers(-2, 2))
            moved = draw(st.integers(-3, 3)) if kind == "moved" else 0
            starts.append(sheet.more(sheet.variable(low, low + draw(st.integers(1, 1 + room)) + room // 3), moved))
    sheet.mentioned = list(starts)
    ends = [draw(ends_of(sheet, start)) for start in starts]
    n = len(starts)
    for j, i in combinations(range(n), 2):
        if draw(st.integers(0, 9)):
            first = sheet.more(ends[i], draw(few) // 2), starts[j]
            second = ends[j], sheet.more(starts[i], -(draw(few) // 2))
            sheet.either(draw(st.sampled_from(FORMS)), *draw(st.permutations((first, second))))
    for _ in range(0 if far else draw(st.integers(0, 2))):
        draw(spans(sheet, starts, ends, room))
    for _ in range(draw(st.integers(1, 2))):
        draw(behind(sheet, starts, ends, room))
    return sheet


@st.composite
def ends_of(draw: st.DrawFn, sheet: Sheet, start: int) -> int:
    if draw(st.booleans()):
        return sheet.more(start, draw(st.sampled_from((0, 1, 2, 2, 3, 3, 4))))
    low = draw(st.sampled_from((-1, 0, 1, 1, 2, 2)))
    size = sheet.variable(low, low + 1)
    return sheet.sum(*draw(st.permutations((start, size))))


@st.composite
def spans(draw: st.DrawFn, sheet: Sheet, starts: list[int], ends: list[int], room: int) -> None:
    """s >= p - q + c."""
    low = draw(st.integers(-2, 3)) - room // 3
    s = sheet.variable(low, low + draw(st.integers(1, 1 + room)) + room)
    sheet.mentioned.append(s)
    s = sheet.more(s, draw(st.sampled_from((0, 0, 1))))
    all_of_them = draw(st.booleans())
    for i, p in enumerate(starts):
        for j, q in enumerate(starts):
            if i != j and (all_of_them or draw(st.integers(0, 3))):
                left = ends[i] if draw(st.integers(0, 3)) == 0 else sheet.more(p, draw(st.integers(-2, 3)))
                sheet.holds(left, sheet.sum(*draw(st.permutations((s, q)))), draw(st.booleans()))


@st.composite
def behind(draw: st.DrawFn, sheet: Sheet, starts: list[int], ends: list[int], room: int) -> None:
    """m >= p + c in one step or two, or the greatest of some."""
    low = draw(st.integers(-2, 4)) - room // 3
    far = any(sheet.domains[start][0] <= -INFINITY for start in starts)
    m = sheet.variable(-INFINITY if far else low, low + draw(st.integers(1, 1 + room)) + 2 * (room // 3))
    sheet.mentioned.append(m)
    for p in draw(st.permutations(starts + ends)):
        step = draw(st.sampled_from(("none", "comparison", "comparison", "chain", "extreme", "sum")))
        if step == "comparison":
            sheet.holds(sheet.more(p, draw(st.integers(-2, 3))), m, draw(st.booleans()))
        elif step == "chain":
            low = draw(st.integers(-2, 3))
            between = sheet.variable(-INFINITY if far else low, low + room)
            sheet.holds(sheet.more(p, draw(st.integers(-2, 2))), between)
            sheet.holds(sheet.more(between, draw(st.integers(-2, 2))), m, draw(st.booleans()))
        elif step == "extreme":
            greatest = sheet.variable(-INFINITY if far else -30, 30)
            sheet.rows.append((Op.MAX, greatest, *draw(st.permutations((p, draw(st.sampled_from(starts)))))))
            sheet.holds(greatest, m)
        elif step == "sum":
            low = draw(st.integers(-1, 2))
            sheet.holds(sheet.sum(p, sheet.variable(low, low + 1)), m)


def refuted(tnf: TNF, variable: int, value: int) -> bool:
    """Whether no solution has less than that; variables without bounds are looked for far away, and near 0."""
    for far in (-FAR, -5):
        lower, upper = tnf.lower.copy(), tnf.upper.copy()
        free = lower <= -INFINITY
        lower[free] = np.minimum(far, upper[free])
        upper[free] = np.minimum(upper[free], lower[free] + 8)
        upper[variable] = min(upper[variable], value - 1)
        small = TNF(tnf.op, tnf.x, tnf.y, tnf.z, lower, upper, tnf.tables)
        if next(naive.solutions(small), None) is not None:
            return False
    return True


# ---- FlatZinc


@dataclass
class Text:
    """A FlatZinc model on its way, and one without truths that means the same, since enumeration tries each."""

    variables: list[str] = field(default_factory=list)
    constraints: list[str] = field(default_factory=list)
    plain_variables: list[str] = field(default_factory=list)
    plain_constraints: list[str] = field(default_factory=list)

    def variable(self, name: str, domain: str) -> str:
        self.variables.append(f"var {domain}: {name};")
        self.plain_variables.append(self.variables[-1])
        return name

    def truth(self) -> str:
        self.variables.append(f"var bool: b{len(self.variables)};")
        return f"b{len(self.variables) - 1}"

    def post(self, constraint: str, plain: str | None = None) -> None:
        """`plain`: what to say of it where there are no truths; nothing if empty."""
        self.constraints.append(f"constraint {constraint};")
        plain = constraint if plain is None else plain
        self.plain_constraints += [f"constraint {plain};"] if plain else []

    def text(self, goal: str = "satisfy") -> str:
        return "\n".join([*self.variables, *self.constraints, f"solve {goal};", ""])

    def plain(self) -> str:
        return "\n".join([*self.plain_variables, *self.plain_constraints, "solve satisfy;", ""])


def follows(text: Text, p: str, h: object, q: str) -> tuple[str, str]:
    """A truth of p + h <= q, and one of its opposite; h is a number or a variable."""
    one, other = text.truth(), text.truth()
    if isinstance(h, str):
        text.post(f"int_lin_le_reif([1,1,-1],[{p},{h},{q}],0,{one})", "")
        text.post(f"int_lin_le_reif([1,-1,-1],[{q},{p},{h}],-1,{other})", "")
    else:
        text.post(f"int_lin_le_reif([1,-1],[{p},{q}],{-h},{one})", "")
        text.post(f"int_lin_le_reif([1,-1],[{q},{p}],{h - 1},{other})", "")
    return one, other


def state_pair(text: Text, form: str, p: str, h: object, q: str, k: object) -> None:
    """p + h <= q or q + k <= p."""
    plain = f"turbo_disjunctive([{p},{q}],[{h},{k}])"
    if form == "disjunctive":
        return text.post(plain)
    if form == "diffn":  # they meet in the other direction
        return text.post(f"turbo_diffn([{p},{q}],[0,1],[{h},{k}],[2,2])", plain)
    (a, not_a), (b, not_b) = follows(text, p, h, q), follows(text, q, k, p)
    text.post({
        "or": f"array_bool_or([{a},{b}],true)",
        "clause": f"bool_clause([{b},{a}],[])",
        "negated clause": f"bool_clause([],[{not_a},{not_b}])",
        "mixed clause": f"bool_clause([{a}],[{not_b}])",
        "implication": f"bool_le({not_a},{b})",
        "bool_or": f"bool_or({a},{b},true)",
    }[form], plain)  # fmt: skip
    return None


TEXT_FORMS = ("or", "clause", "negated clause", "mixed clause", "implication", "bool_or", "disjunctive", "diffn")


@st.composite
def texts(draw: st.DrawFn) -> Text:
    """Two to four things; spans, and ends by comparisons, precedences and maxima."""
    text = Text()
    n = draw(st.integers(2, 4))
    starts = []
    for i in range(n):
        low = draw(st.integers(-1, 2))
        starts.append(text.variable(f"x{i}", f"{low}..{low + draw(st.integers(2, 6)) + 2 * (n < 4)}"))
    if draw(st.integers(0, 9)) == 0:
        text.post(f"int_lin_eq([1,-1],[x0,x1],{draw(st.integers(-2, 2))})")
    sizes: list[object] = [draw(st.integers(1, 3)) for _ in range(n)]
    if draw(st.booleans()):
        sizes[0] = text.variable("d", "1..2")
    pairs = [(i, j) for j, i in combinations(range(n), 2) if draw(st.integers(0, 9))]
    for i, j in pairs:
        state_pair(text, draw(st.sampled_from(TEXT_FORMS)), starts[i], sizes[i], starts[j], sizes[j])
    if draw(st.integers(0, 3)) == 0:
        lengths = ",".join(map(str, sizes))
        text.post(f"turbo_disjunctive([{','.join(starts)}],[{lengths}])")
    if draw(st.integers(0, 2)):
        low = draw(st.integers(-2, 3))
        text.variable("s", draw(st.sampled_from((f"{low}..{low + 10}", f"{low}..{low + 5}"))))
        for i, j in permutations(range(n), 2):
            if draw(st.integers(0, 9)):
                text.post(f"int_lin_le([1,-1,-1],[x{i},x{j},s],{draw(st.integers(-3, 2))})")
    if draw(st.integers(0, 2)):
        draw(ends_in_text(text, starts))
    return text


@st.composite
def ends_in_text(draw: st.DrawFn, text: Text, starts: list[str]) -> None:
    low = draw(st.integers(-2, 4))
    text.variable("m", f"{low}..{low + draw(st.integers(4, 12))}")
    before = [x for x in starts if draw(st.integers(0, 5))]
    form = draw(st.sampled_from(("comparisons", "chain", "maximum")))
    if form == "maximum" and before:
        text.variable("top", "-2..12")
        text.post(f"array_int_maximum(top,[{','.join(before)}])")
        text.post(f"int_lin_le([1,-1],[top,m],{draw(st.integers(-3, 1))})")
    elif form == "chain":
        text.variable("between", "-2..12")
        text.post(f"int_lin_le([1,-1],[between,m],{draw(st.integers(-2, 1))})")
        for x in before:
            text.post(f"int_lin_le([1,-1],[{x},between],{draw(st.integers(-2, 1))})")
    else:
        for x in before:
            shifted = f"int_lin_le([1,-1],[{x},m],{draw(st.integers(-3, 2))})"
            text.post(draw(st.sampled_from((f"int_lt({x},m)", shifted))))
