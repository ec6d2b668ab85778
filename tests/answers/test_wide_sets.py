"""Sets of numbers beyond 32 bits: a row keeps the offset of a table in 32 bits, so these may not be tables."""

from __future__ import annotations

import pytest

from turbo_fzn import solve_text


@pytest.mark.parametrize(
    "base", [2**30, -(2**30), 2**31, -(2**31), 3 * 10**9, -3 * 10**9, 2**40, -(2**61), 2**61], ids=str
)
@pytest.mark.parametrize("simplify", [True, False])
def test_membership_far_from_zero_has_the_right_solutions(engine, base, simplify):
    members = {base, base + 2, base + 5, base + 7}
    text = (
        f"var {base}..{base + 9}: x :: output_var;\nvar bool: b :: output_var;\n"
        f"constraint set_in_reif(x,{{{','.join(map(str, sorted(members)))}}},b);\nsolve satisfy;\n"
    )
    result = solve_text(text, arch=engine, blocks=1, all_solutions=True, simplify=simplify)
    assert result.status == "ALL_SOLUTIONS"
    found = {(solution["x"], solution["b"]) for solution in result.solutions}
    assert found == {(x, x in members) for x in range(base, base + 10)}


@pytest.mark.parametrize("base", [2**31, -(2**40), 2**61], ids=str)
def test_a_domain_with_holes_far_from_zero_is_exact(engine, base):
    values = [base, base + 3, base + 4, base + 9]
    text = f"var {{{','.join(map(str, values))}}}: x :: output_var;\nsolve satisfy;\n"
    result = solve_text(text, arch=engine, blocks=1, all_solutions=True)
    assert sorted(solution["x"] for solution in result.solutions) == values
