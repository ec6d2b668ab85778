"""FlatZinc of constraints over one table, and what their solutions are, by enumeration."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from turbo_fzn import solve_text

Row = tuple[int, ...]
KINDS = {"rows": "", "no rows": "_reif", "reified": "_reif"}


def model_text(domains: list[list[int]], rows: Iterable[Row], constraints: list[tuple[str, list[int]]]) -> str:
    """FlatZinc: tables over variables x0, x1, …, each constraint one of KINDS on variables, the truths in b0, b1, …"""
    cells = [value for row in rows for value in row]
    width = len(constraints[0][1])
    lines = [f"array [1..{len(cells)}] of int: t = [{', '.join(map(str, cells))}];"]
    lines += [f"var {{{', '.join(map(str, values))}}}: x{i} :: output_var;" for i, values in enumerate(domains)]
    lines += [f"var bool: b{k} :: output_var;" for k, (kind, _) in enumerate(constraints) if kind == "reified"]
    for k, (kind, members) in enumerate(constraints):
        truth = {"rows": "", "no rows": ", false", "reified": f", b{k}"}[kind]
        names = ", ".join(f"x{i}" for i in members)
        lines.append(f"constraint turbo_table_int{KINDS[kind]}([{names}], {len(cells) // width}, t{truth});")
    return "\n".join([*lines, "solve satisfy;"])


def expected(domains: list[list[int]], rows: set[Row], constraints: list[tuple[str, list[int]]]) -> list[Row]:
    """The values of the variables in all solutions, and the truths behind them."""
    found = []
    for x in product(*domains):
        truths = [tuple(x[i] for i in members) in rows for _, members in constraints]
        if all(truth == (kind == "rows") for truth, (kind, _) in zip(truths, constraints) if kind != "reified"):
            found.append((*x, *(truth for truth, (kind, _) in zip(truths, constraints) if kind == "reified")))
    return sorted(found)


def solutions(text: str) -> list[Row]:
    result = solve_text(text, arch="cpu", threads=2, all_solutions=True, check=True)
    assert result.status in ("ALL_SOLUTIONS", "UNSATISFIABLE")
    return sorted(tuple(solution.values()) for solution in result.solutions)
