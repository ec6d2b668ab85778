"""Sums and clauses as whole rows of a block (kernels/core/sums.h), by one lane and by many, against enumeration.

Every engine here runs all rows once more at each fixpoint: no sum could tighten anything.
"""

from __future__ import annotations

import ctypes
from itertools import product
from random import Random

import numpy as np
import pytest

from support.engines import OpenEngine
from support.variant_engines import ManyLanes, VariantEngine
from turbo_fzn.tnf.linear_rows import LinearKind
from turbo_fzn.tnf.tuning import TUNING

MODELS = 12
POINTER = ctypes.c_void_p


def one_lane(text: str) -> OpenEngine:
    return VariantEngine(text, fused=True, blocks=1)


def many_lanes(text: str) -> OpenEngine:
    return ManyLanes(text, "fused", blocks=2)


ENGINES = [one_lane, pytest.param(many_lanes, marks=pytest.mark.slow)]


class Drawn:
    """Constraints over some variables, as FlatZinc and as a test of their values."""

    def __init__(self, random: Random):
        self.domains = [(low, low + random.randint(1, 2)) for low in random.choices((-2, 0, 1), k=4)]
        self.domains += [(0, 1)] * 3
        self.names = [f"x{i}" for i in range(len(self.domains))]
        self.lines: list[str] = []
        self.tests = []
        for _ in range(random.randint(1, 2)):
            self.add_sum(random)
        for _ in range(random.randint(0, 2)):
            self.add_clause(random)

    def add_sum(self, random: Random) -> None:
        places = random.sample(range(7), random.randint(4, 6))
        factors = [random.choice((-3, -2, -1, 1, 2, 3)) for _ in places]
        middle = sum(f * (self.domains[p][0] + self.domains[p][1]) // 2 for f, p in zip(factors, places))
        constant, name = middle + random.randint(-2, 2), random.choice(("le", "eq"))
        rest = [p for p in (4, 5, 6) if p not in places]
        listed = f"[{','.join(map(str, factors))}],[{','.join(self.names[p] for p in places)}],{constant}"
        truth = rest[0] if rest and random.random() < 0.5 else None
        form = "" if truth is None else "_reif"
        self.lines.append(f"constraint int_lin_{name}{form}({listed}{'' if truth is None else f',b{truth}'});")

        def test(values: tuple[int, ...]) -> bool:
            total = sum(f * values[p] for f, p in zip(factors, places))
            holds = total <= constant if name == "le" else total == constant
            return holds if truth is None else holds == bool(values[truth])

        self.tests.append(test)

    def add_clause(self, random: Random) -> None:
        places = [4, 5, 6]
        positive = [random.random() < 0.5 for _ in places]
        yes = ",".join(f"b{p}" for p, sign in zip(places, positive) if sign)
        no = ",".join(f"b{p}" for p, sign in zip(places, positive) if not sign)
        self.lines.append(f"constraint bool_clause([{yes}],[{no}]);")
        self.tests.append(lambda values: any(values[p] == sign for p, sign in zip(places, positive)))

    def text(self) -> str:
        declared = [f"var {low}..{high}: {name};" for name, (low, high) in zip(self.names, self.domains)]
        truths = [f"var bool: b{p};" for p in (4, 5, 6)]
        same = [f"constraint bool2int(b{p},x{p});" for p in (4, 5, 6)]
        shown = [line.replace(";", " :: output_var;") for line in declared]
        return "\n".join([*shown, *truths, *same, *self.lines, "solve satisfy;\n"])

    def solutions(self) -> set[tuple[int, ...]]:
        every = product(*(range(low, high + 1) for low, high in self.domains))
        return {values for values in every if all(test(values) for test in self.tests)}


def found_by(engine: OpenEngine, drawn: Drawn) -> list[tuple[int, ...]]:
    places = [engine.prepared.origin[name] for name in drawn.names]
    return [tuple(engine.prepared.original(one.values)[places].tolist()) for one in engine.run()]


@pytest.mark.parametrize("short", [0, 4, 99])
@pytest.mark.parametrize("make", ENGINES)
def test_every_solution_is_found_once(make, short, monkeypatch):
    """By rows that a lane runs and by rows that a group runs."""
    monkeypatch.setattr(TUNING, "short_terms", short)
    kinds, n_short, n_long = set(), 0, 0
    for number in range(MODELS):
        drawn = Drawn(Random(f"sums/{number}"))
        engine = make(drawn.text())
        if engine.layout.arranged is not None:
            sums = engine.layout.arranged
            kinds |= set(sums.sums.kind.tolist())
            n_short, n_long = n_short + sums.n_short, n_long + sums.sums.n_rows - sums.n_short
        found = found_by(engine, drawn)
        assert sorted(found) == sorted(drawn.solutions())
    assert kinds == set(LinearKind) and (n_short > 0) == (short > 0) and (n_long > 0) == (short < 99)


@pytest.mark.parametrize("make", ENGINES)
@pytest.mark.parametrize("clause", ["[b0,b1,b2],[]", "[],[b0,b1,b2]"])
@pytest.mark.parametrize("at_once", [False, True])
def test_a_clause_of_three_truths_leaves_none_without_a_solution(make, clause, at_once, no_probing):
    """One alone never fails. It fails where others make its last two literals false at once."""
    declared = "".join(f"var bool: b{i} :: output_var;\n" for i in range(3))
    of_first = "[b0],[b{}]" if clause.endswith("[]") else "[b{}],[b0]"
    others = "".join(f"constraint bool_clause({of_first.format(i)});\n" for i in (1, 2) if at_once)
    order = "solve :: bool_search([b0,b1,b2],input_order,indomain_min,complete) satisfy;\n"
    engine = make(f"{declared}constraint bool_clause({clause});\n{others}{order}")
    assert engine.layout.arranged is not None
    assert set(engine.layout.arranged.sums.kind.tolist()) == {LinearKind.CLAUSE}
    assert len(engine.run()) == (4 if at_once else 7) and engine.total("failures") == at_once


def test_a_clause_fails_on_a_domain_that_others_have_emptied():
    """Two lanes may empty one at once. Here it is empty from the start, and another row wakes the clause."""
    declared = "".join(f"var bool: b{i} :: output_var;\n" for i in range(4))
    engine = one_lane(
        f"{declared}constraint bool_clause([b0,b1,b2],[]);\nconstraint bool_clause([b3],[b0]);\nsolve satisfy;\n"
    )
    layout = engine.layout
    clause, implies = layout.arranged.sums.variables.tolist(), layout.stored
    (row,) = np.flatnonzero(np.isin(implies.y, clause) & ~np.isin(implies.z, clause))
    first, last = int(implies.y[row]), int(implies.z[row])
    for emptied in (variable for variable in clause if variable != first):
        for ends in ((0, 1), (1, 0)):
            lower, upper = layout.stored.lower.astype(np.int32), layout.stored.upper.astype(np.int32)
            upper[last] = 0
            lower[emptied], upper[emptied] = ends
            arguments = (ctypes.byref(engine.problem), lower.ctypes.data_as(POINTER), upper.ctypes.data_as(POINTER))
            assert bool(engine.library.propagate_root(*arguments)) == (ends == (0, 1)) and upper[first] == 0


@pytest.mark.parametrize("make", ENGINES)
@pytest.mark.parametrize(("relation", "limit"), [("le", 9), ("le_reif", 9), ("eq_reif", 8), ("ne", 8)])
def test_one_row_leaves_no_value_without_a_solution(make, relation, limit):
    """So a search that follows it never fails (a disequality is known by the values that it leaves last)."""
    names = [f"x{i}" for i in range(6)]
    declared = "".join(f"var 0..3: {name};\n" for name in names) + "var bool: b :: output_var;\n"
    truth = ",b" if relation.endswith("reif") else ""
    row = f"constraint int_lin_{relation}([3,-2,1,2,-1,1],[{','.join(names)}],{limit}{truth});\n"
    order = f"solve :: int_search([{','.join(names)}],input_order,indomain_min,complete) satisfy;\n"
    engine = make(declared + row + order)
    assert engine.layout.arranged is not None and engine.layout.arranged.sums.n_rows > 0
    assert engine.run() and engine.total("failures") == 0


def test_a_store_is_without_links_and_a_solution_has_their_values():
    names = [f"x{i}" for i in range(40)]
    declared = "".join(f"var 0..1: {name};\n" for name in names)
    text = f"{declared}constraint int_lin_le([{','.join(['1'] * 40)}],[{','.join(names)}],20);\nsolve satisfy;\n"
    engine, ternary = OpenEngine(text, fused=True, blocks=1), OpenEngine(text, blocks=1)
    assert engine.layout.stored.n_vars < ternary.layout.stored.n_vars == engine.layout.tnf.n_vars
    assert engine.layout.store_bytes < ternary.layout.store_bytes
    tnf, (one,) = engine.layout.tnf, engine.run()[:1]
    adds = [(x, y, z) for op, x, y, z in zip(tnf.op, tnf.x, tnf.y, tnf.z) if op == 0]
    assert adds and all(one.values[x] == one.values[y] + one.values[z] for x, y, z in adds)
