"""The meaning of the operators of the ternary normal form, on numbers: the reference for all code that computes
them."""

from __future__ import annotations

from turbo_fzn.tnf.language import Op


def apply_operator(op: int, y: int, z: int) -> int | None:
    """The value of `y op z`, or None where it is undefined (division by zero). Not for ELEMENT."""
    if op == Op.ADD:
        return y + z
    if op == Op.MUL:
        return y * z
    if op == Op.DIV or op == Op.MOD:
        if z == 0:
            return None
        quotient = abs(y) // abs(z) * (1 if (y < 0) == (z < 0) else -1)
        return quotient if op == Op.DIV else y - z * quotient
    if op == Op.MIN:
        return min(y, z)
    if op == Op.MAX:
        return max(y, z)
    if op == Op.EQ:
        return int(y == z)
    if op == Op.LEQ:
        return int(y <= z)
    raise ValueError(f"operator {op} has no value of its own")
