"""Holes in domains (variant `bitset`): what rows of two variables make of them, against enumeration.

A model of one row on two variables, with truths of their values, is a tree. So where each row is consistent by values
and not by bounds alone, a search that decides the truths first never fails.
"""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from support.variant_engines import KINDS
from turbo_fzn import solve_text
from turbo_fzn.base.errors import EngineError
from turbo_fzn.engine import root
from turbo_fzn.engine.abi.abi import HOLE_BITS, MOST_HOLE_VALUES
from turbo_fzn.engine.layout.holes import find_holes
from turbo_fzn.engine.layout.layout import Layout, Settings
from turbo_fzn.engine.root import close_holes
from turbo_fzn.lower.rewrite import lower
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.tnf.language import TNF, Op

KINDS_OF_ROW = {
    "element": ("array_int_element(y,{table},x)", lambda model, x, y, b: not b and x == model.table[y - model.low]),
    "equal": ("int_eq(x,y)", lambda model, x, y, b: not b and x == y),
    "reified": ("int_eq_reif(x,y,b)", lambda model, x, y, b: b == (x == y)),
}
ALONE = {"lns": "off", "learn": "off", "relaxation": "off"}  # so that the tree alone is searched
HOWS = "indomain_min", "indomain_max"
NO_EXPORTS = np.empty(0, np.int32)


class OneRow:
    """A random model: x and y, from whose intervals values are missing, one row on them, and a truth of each value."""

    def __init__(self, seed: int) -> None:
        chance = Random(seed)
        self.kind = chance.choice(list(KINDS_OF_ROW))
        self.low = 1 if self.kind == "element" else chance.choice((1, -3, -40, 27))
        self.values = range(self.low, self.low + chance.randint(3, 40))
        self.table = [self.low + chance.randrange(len(self.values)) for _ in self.values]
        self.chance = chance
        self.kept = {name: [v for v in self.values if chance.random() < 0.7] for name in ("x", "y")}

    def solutions(self) -> list[tuple[int, ...]]:
        holds, bits = KINDS_OF_ROW[self.kind][1], (False, True) if self.kind == "reified" else (False,)
        every = ((x, y, b) for x in self.kept["x"] for y in self.kept["y"] for b in bits)
        return sorted((x, y, int(b)) for x, y, b in every if holds(self, x, y, b))

    def text(self) -> str:
        truths = {f"{name}_is_{i}": (name, v) for name in self.kept for i, v in enumerate(self.values)}
        lines = [f"int_eq_reif({name},{v},{truth})" for truth, (name, v) in truths.items()]
        lines += [f"int_ne({name},{v})" for name, kept in self.kept.items() for v in self.values if v not in kept]
        lines.append(KINDS_OF_ROW[self.kind][0].format(table=self.table))
        lines += ["bool_eq(b,false)"] * (self.kind != "reified")
        order = self.chance.sample(["b", *truths], 1 + len(truths))  # so that values go from the middle
        first = f"bool_search([{','.join(order)}],input_order,{self.chance.choice(HOWS)},complete)"
        then = "int_search([x,y],input_order,indomain_min,complete)"
        variables = [f"var bool: {name} :: output_var;" for name in ("b", *truths)]
        variables += [f"var {self.values[0]}..{self.values[-1]}: {name} :: output_var;" for name in ("x", "y")]
        constraints = [f"constraint {line};" for line in lines]
        return "\n".join([*variables, *constraints, f"solve :: seq_search([{first},{then}]) satisfy;"])


@pytest.mark.slow  # for the kernels
@pytest.mark.parametrize("kind", KINDS)
def test_a_row_of_two_variables_is_consistent_by_values(kind):
    failures = {"unsimplified,bitset": 0, "unsimplified": 0}
    for seed in range(60):
        model = OneRow(seed)
        wanted = model.solutions()
        if not wanted:
            continue
        text = model.text()
        for variant in failures:
            engine = KINDS[kind](text, variant, blocks=1)
            places = [engine.place(name) for name in ("x", "y", "b")]
            found = sorted(tuple(one.values[places].tolist()) for one in engine.run())
            assert (found, engine.complete) == (wanted, True), (seed, variant)
            failures[variant] += engine.total("failures")
    assert failures["unsimplified,bitset"] == 0 < failures["unsimplified"]


def test_a_search_by_values_never_fails():
    for seed in range(20):
        model = OneRow(seed)
        text, wanted = model.text(), model.solutions()
        result = solve_text(text, arch="cpu", variant="bitset,unsimplified", all_solutions=True, blocks=1, **ALONE)
        found = sorted((one["x"], one["y"], int(one["b"])) for one in result.solutions)
        assert (found, result.complete) == (wanted, True), (seed, text)
        assert result.statistics["failures"] == 0 or not wanted, (seed, text)


def test_a_root_without_a_solution_is_told():
    text = "var 1..3: x;\nvar 1..3: y;\nconstraint int_ne(x,2);\nconstraint array_int_element(y,[5,2,9],x);\n"
    assert solve_text(text + "solve satisfy;\n", arch="cpu", variant="bitset,unsimplified").status == "UNSATISFIABLE"


@pytest.mark.parametrize(("outcome", "status"), [(0, "UNSATISFIABLE"), (-1, "SATISFIED"), (1, "SATISFIED")])
def test_only_a_contradiction_is_told_as_one(monkeypatch, outcome, status):
    """A stop proves nothing; no memory, or a bound too large, is an error."""
    text = "var 0..9: x;\nvar 1..4: i;\nconstraint array_int_element(i,[9,5,2,7],x);\nsolve satisfy;\n"
    usual = root.library

    class Broken:
        def __init__(self, outcome):
            self.propagate_root = lambda *arguments: outcome

    monkeypatch.setattr(root, "library", lambda bits, *more: Broken(outcome) if more else usual(bits))
    asked = {"arch": "cpu", "variant": "bitset,unsimplified", "learn": "off"}
    assert solve_text(text, **asked).status == status
    for fault in (root.NO_MEMORY, root.OVERFLOW):
        monkeypatch.setattr(root, "library", lambda bits, *more, fault=fault: Broken(fault) if more else usual(bits))
        with pytest.raises(EngineError, match="memory|64 bits"):
            solve_text(text, **asked)


def layout_of(text: str, **settings: object) -> tuple[Layout, TNF]:
    tnf = lower(parse_text(text)).tnf
    return Layout(tnf, NO_EXPORTS, Settings(**{"bitsets": True, **settings})), tnf


def test_a_variable_has_a_bit_for_each_value():
    """Words begin at multiples of the values in a word, so that those of two variables can be compared."""
    text = "var -35..5: x;\nvar 0..29: y;\nvar 0..1000: z;\nvar bool: b;\nvar 3..9: free;\n"
    layout, tnf = layout_of(text + "constraint int_eq_reif(x,y,b);\nconstraint int_eq_reif(z,7,b);\nsolve satisfy;\n")
    sizes = {(int(low), int(up)): i for i, (low, up) in enumerate(zip(tnf.lower, tnf.upper))}
    records = layout.holes.records
    assert records[sizes[-35, 5]].tolist()[1] == -60 and records[sizes[0, 29]].tolist()[1] == 0
    assert [int(records[sizes[pair]][0]) >= 0 for pair in ((0, 1000), (3, 9), (0, 1))] == [False] * 3
    assert layout.holes.n_words == 3 + 1 and layout.store_vars == tnf.n_vars + 4
    assert sorted(int(records[sizes[pair]][0]) - tnf.n_vars for pair in ((-35, 5), (0, 29))) in ([0, 1], [0, 3])
    row = int(np.flatnonzero(tnf.op == Op.EQ)[0])
    assert (row in layout.holes.watches[1]) and (tnf.n_vars <= layout.holes.watches[0]).all()


@pytest.mark.parametrize(
    ("domain", "settings"),
    [(f"0..{MOST_HOLE_VALUES}", {}), ("0..1", {}), ("0..9", {"bitsets": False}), ("0..9", {"roles": ("prover",)})],
)
def test_there_are_no_holes(domain, settings):
    """Large domains and truth values have none; nor has any where nobody asks, or where a block learns."""
    layout, tnf = layout_of(
        f"var {domain}: x;\nvar bool: b;\nconstraint int_eq_reif(x,1,b);\nsolve satisfy;\n", **settings
    )
    assert layout.store_vars == tnf.n_vars


def test_wide_stores_have_no_holes():
    layout, tnf = layout_of("var 0..9: x;\nvar 0..9000000000: y;\nvar bool: b;\nconstraint int_eq_reif(x,1,b);\n"
                            "constraint int_le(5,y);\nsolve satisfy;\n")  # fmt: skip
    assert layout.bits == 64 and layout.holes is None and layout.store_vars == tnf.n_vars


def test_the_root_has_the_holes_that_rows_make_there():
    """A value that is gone from the middle is false at the root, before anything is decided."""
    text = "var 0..9: x;\nvar 1..4: i;\nvar bool: b;\nconstraint array_int_element(i,[9,5,2,7],x);\n"
    lowered = lower(parse_text(text + "constraint int_ne(i,2);\nconstraint int_eq_reif(x,5,b);\nsolve satisfy;\n"))
    layout, b = Layout(lowered.tnf, NO_EXPORTS, Settings(bitsets=True)), lowered.origin["b"]
    place, first = find_holes(lowered.tnf).records[lowered.origin["x"]]
    assert layout.arrays["root_upper"][b] == 1
    assert close_holes(layout)
    assert layout.arrays["root_upper"][b] == 0
    assert layout.arrays["root_lower"][place] >> (5 - first) & 1 and 0 <= 5 - first < HOLE_BITS
