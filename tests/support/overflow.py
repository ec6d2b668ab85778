"""A model whose values no store can hold."""

from __future__ import annotations

LARGE = 2**61 + 1000  # three of them are more than a store can hold


def sum_text(forced: str) -> str:
    """a + b + c = d + e + f, satisfied by all of them LARGE, although neither side can be stored."""
    names = "abcdef"
    lines = [f"var 0..{LARGE}: {name} :: output_var;" for name in names]
    lines += ["var bool: s :: output_var;", "constraint int_lin_eq([1,1,1,-1,-1,-1],[a,b,c,d,e,f],0);"]
    lines += [f"constraint int_le_reif({LARGE},{name},s);" for name in names]
    return "\n".join([*lines, forced, "solve :: bool_search([s],input_order,indomain_max,complete) satisfy;"])


BY_BRANCHING = "var bool: t;\nconstraint bool_clause([s,t],[]);\nconstraint bool_clause([s],[t]);"
