"""A model whose optimum no search proves."""

from __future__ import annotations

import random


def market_split_model() -> str:
    """Four equations over 40 Booleans, with slack to be minimised (Cornuéjols and Dawande 1998).

    No proof is in sight: all weights are even and the right sides odd, which bounds do not see, so slack 0 is
    impossible.
    """
    generator = random.Random(1)
    names = [f"b{i}" for i in range(40)]
    lines = [f"var 0..1: {name};" for name in names]
    lines += [f"var 0..4000: {sign}{k};" for k in range(4) for sign in "su"]
    lines.append("var 0..32000: cost :: output_var;")
    for k in range(4):
        weights = [2 * generator.randrange(50) for _ in names]
        terms = ",".join(map(str, [*weights, 1, -1]))
        lines.append(f"constraint int_lin_eq([{terms}],[{','.join(names)},s{k},u{k}],{sum(weights) // 2 | 1});")
    slacks = [f"{sign}{k}" for k in range(4) for sign in "su"]
    lines.append(f"constraint int_lin_eq([{','.join('1' * 8)},-1],[{','.join(slacks)},cost],0);")
    search = f":: int_search([{','.join(names)}],input_order,indomain_max,complete)"
    return "\n".join([*lines, f"solve {search} minimize cost;"]) + "\n"
