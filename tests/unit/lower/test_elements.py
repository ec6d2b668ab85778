"""Which elements of constants become wide rows, and that these say what the model says."""

from __future__ import annotations

from itertools import product
from random import Random
from unittest.mock import patch

import numpy as np
import pytest

from turbo_fzn.engine import root
from turbo_fzn.lower.rewrite import lower
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.tnf.language import TNF
from turbo_fzn.tnf.simplify import simplify
from turbo_fzn.tnf.wide import Wide, WideKind

VALUES = [7, 3, 9, 3, 5]


def model(*constraints: str, index: str = "1..5", values: list[int] = VALUES) -> str:
    lines = [f"array_int_element(i, {values}, z)", *constraints]
    stated = "".join(f"constraint {line};\n" for line in lines)
    truths = "".join(f"var bool: b{j};\n" for j in range(1, 6) if f"b{j}" in stated)
    above = "var 1..4: k;\n" if "k" in stated else ""
    return f"var {index}: i :: output_var;\nvar 0..99: z :: output_var;\n{above}{truths}{stated}solve satisfy;\n"


def truth(*values: int) -> list[str]:
    return [f"int_eq_reif(i, {j}, b{j})" for j in values]


def wides_of(text: str) -> list[Wide]:
    return [wide for wide in lower(parse_text(text)).tnf.wides if wide.kind == WideKind.ELEMENT]


def test_an_element_is_one_if_most_values_of_its_index_have_a_truth():
    assert [len(wides_of(model(*truth(*known)))) for known in ((), (1, 3), (1, 3, 4), (1, 2, 3, 4, 5))] == [0, 0, 1, 1]


def test_the_order_of_the_constraints_does_not_matter():
    text = model(*truth(1, 2, 3))
    head, first, *rest = text.split("constraint ")
    moved = "constraint ".join([head, *rest[:-1], rest[-1].replace("solve satisfy;\n", ""), first])
    assert len(wides_of(f"{moved}solve satisfy;\n")) == 1


def test_truths_are_made_where_they_are_missing():
    (wide,) = wides_of(model(*truth(1, 2, 3)))
    assert len(wide.groups) == 5 and len(set(wide.groups[:, 0].tolist())) == 5


def test_a_value_that_the_index_cannot_have_needs_no_truth():
    lowered = lower(parse_text(model(*truth(1, 5), index="{1, 3, 5}"))).tnf
    (wide,) = lowered.wides
    assert [int(lowered.upper[truth]) for truth in wide.groups[:, 0]] == [1, 0, 1, 0, 1]


def test_an_index_of_many_values_or_of_one_has_none():
    with patch.object(TUNING, "element_values", 4):
        assert not wides_of(model(*truth(1, 2, 3, 4, 5)))
        assert wides_of(model(*truth(1, 2, 3, 4), index="1..4"))
    assert not wides_of(model(*truth(1, 2, 3), "int_eq(i, 2)"))
    assert not wides_of(model(*truth(1, 2, 3), values=[4] * 5))


def choose(wide: Wide, values: np.ndarray) -> bool:
    (result, index, first), groups = values[wide.head], values[wide.groups]
    told = [first + place == index for place in range(len(groups))]
    return groups[:, 0].tolist() == told and any(told) and groups[told.index(True), 1] == result


def fixpoint(tnf: TNF, fixed: dict[int, int]) -> np.ndarray | None:
    """What follows from some values: that of each variable, where all have one."""
    lower, upper = tnf.lower.copy(), tnf.upper.copy()
    for variable, value in fixed.items():
        lower[variable], upper[variable] = max(lower[variable], value), min(upper[variable], value)
    narrowed = TNF(tnf.op, tnf.x, tnf.y, tnf.z, lower, upper, tnf.tables)
    found = root.propagate(narrowed) if np.all(lower <= upper) else None
    assert found is None or np.array_equal(*found)
    return None if found is None else found[0]


@pytest.mark.parametrize("simplified", [False, True])
def test_solutions_of_the_other_rows_satisfy_the_wide_row(simplified):
    count = 0
    for seed in range(5):
        random = Random(seed)
        low = random.randint(1, 2)
        beside = truth(*random.sample(range(2, 6), 3)) + ["int_plus(k, 1, i)"] * random.randint(0, 1)
        text = model(*beside, index=f"{low}..5", values=random.choices(range(9), k=5))
        lowered = lower(parse_text(text))
        tnf, number = lowered.tnf, [lowered.origin[name] for name in ("i", "z")]
        if simplified:
            small = simplify(tnf, root.propagate)
            tnf, back = small.tnf, small.reconstruction
            number = [int(back.position[back.representative[v]]) for v in number]
        for values in product(range(low, 6), range(9)):
            found = fixpoint(tnf, dict(zip(number, values)))
            if found is not None:
                assert tnf.wides and all(choose(wide, found) and wide.holds(found) for wide in tnf.wides)
                others = [found + (np.arange(len(found)) == v) for wide in tnf.wides for v in wide.head]
                assert not any(wide.holds(other) for wide in tnf.wides for other in others)
                count += 1
    assert count > 10
