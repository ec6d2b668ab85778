"""Cases of every float builtin: arguments of which it holds, and models that state it of variables with such values."""

from __future__ import annotations

import math

from turbo_fzn.predicates.floats import FLOATS

# Of each builtin: arguments of which it holds. The last number is the one that is made wrong.
CASES: dict[str, list[list]] = {
    "float_eq": [[1.5, 1.5]],
    "float_le": [[1.0, 2.5], [-1.0, -1.0]],
    "float_lt": [[1.0, 2.5]],
    "float_ne": [[1.0, 2.5]],
    "float_lin_eq": [[[1.0, -2.0], [3.0, 1.0], 1.0]],
    "float_lin_le": [[[1.0, -2.0], [3.0, 1.0], 1.5]],
    "float_lin_lt": [[[0.5, 2.0], [3.0, 1.0], 4.0]],
    "float_lin_ne": [[[0.5, 2.0], [3.0, 1.0], 4.0]],
    "float_plus": [[0.1, 0.2, 0.3], [1e20, 1.0, 1e20]],
    "float_times": [[0.1, 3.0, 0.3], [-2.0, -2.0, 4.0], [0.0, 5.0, 0.0]],
    "float_div": [[1.0, 3.0, 1 / 3], [-6.0, 2.0, -3.0]],
    "float_pow": [[2.0, 10.0, 1024.0], [-2.0, 3.0, -8.0], [2.0, 0.5, 2**0.5], [2.0, -1.0, 0.5], [3.0, 0.3, 3**0.3]],
    "float_min": [[1.0, 2.0, 1.0]],
    "float_max": [[1.0, 2.0, 2.0]],
    "float_in": [[1.5, 1.0, 2.0]],
    "float_dom": [[1.5, [0.0, 1.0, 1.25, 2.0]], [0.5, [0.0, 1.0]]],
    "int2float": [[3, 3.0], [-(2**40), -(2.0**40)]],
    "bool2float": [[True, 1.0], [False, 0.0]],
    "array_float_minimum": [[-1.0, [2.0, -1.0, 3.0]]],
    "array_float_maximum": [[3.0, [2.0, -1.0, 3.0]]],
    "array_float_element": [[2, [2.0, -1.0, 3.0], -1.0]],
    "array_var_float_element": [[3, [2.0, -1.0, 3.0], 3.0]],
    "float_abs": [[-1.5, 1.5], [0.25, 0.25]],
    "float_sqrt": [[2.0, math.sqrt(2)], [0.0, 0.0], [9.0, 3.0]],
    "float_exp": [[1.0, math.e], [-2.0, math.exp(-2)], [20.0, math.exp(20)]],
    "float_ln": [[10.0, math.log(10)], [1.0, 0.0]],
    "float_log2": [[8.0, 3.0], [0.1, math.log2(0.1)]],
    "float_log10": [[1000.0, 3.0], [7.0, math.log10(7)]],
    "float_sin": [[1.0, math.sin(1)], [-100.0, math.sin(-100)]],
    "float_cos": [[1.0, math.cos(1)], [0.0, 1.0], [1e4, math.cos(1e4)]],
    "float_tan": [[1.0, math.tan(1)], [4.0, math.tan(4)]],
    "float_asin": [[0.5, math.asin(0.5)], [1.0, math.pi / 2]],
    "float_acos": [[0.5, math.acos(0.5)], [-1.0, math.pi]],
    "float_atan": [[3.0, math.atan(3)], [-1e6, math.atan(-1e6)]],
    "float_sinh": [[1.5, math.sinh(1.5)]],
    "float_cosh": [[-1.5, math.cosh(-1.5)]],
    "float_tanh": [[0.7, math.tanh(0.7)]],
    "float_asinh": [[1.5, math.asinh(1.5)]],
    "float_acosh": [[1.5, math.acosh(1.5)]],
    "float_atanh": [[0.7, math.atanh(0.7)]],
}
CONSTANTS = ("f", "[f]")
PARAMETERS = {  # the places of constants
    one.name: tuple(place for place, kind in enumerate(one.kinds) if kind in CONSTANTS) for one in FLOATS
}
RELATIVE = {"float_eq", "float_le", "float_lt", "float_ne", "float_in", "float_dom", "int2float", "bool2float"}
FUNCTIONS = {name for name in CASES if name not in RELATIVE and "_lin_" not in name and "array" not in name}
# What breaks a relation, where it is no equality in its last number.
BROKEN: dict[str, list] = {
    "float_le": [2.5, 1.0], "float_lt": [1.0, 1.0], "float_ne": [2.5, 2.5], "float_in": [2.5, 1.0, 2.0],
    "float_lin_le": [[1.0, -2.0], [3.0, 1.0], 0.5], "float_lin_lt": [[1.0], [3.0], 3.0],
    "float_lin_ne": [[0.5, 2.0], [3.0, 1.0], 3.5], "float_dom": [1.1, [0.0, 1.0, 1.25, 2.0]],
    "array_float_minimum": [-0.5, [2.0, -1.0, 3.0]], "array_float_maximum": [2.5, [2.0, -1.0, 3.0]],
}  # fmt: skip
FORMS = [(name, index) for name, cases in CASES.items() for index in range(len(cases))]

ABOUT = 1e-9  # the result of a function is mostly no double


def declaration(value: object, number: int, about: float = 0.0) -> tuple[str, str]:
    """A variable that has the value, or one about it, and its name."""
    kind = "bool" if isinstance(value, bool) else f"{value}..{value}"
    if about:
        assert isinstance(value, float)
        kind = f"{value - about * max(1.0, abs(value))}..{value + about * max(1.0, abs(value))}"
    right = f" = {str(value).lower()}" if isinstance(value, bool) else ""
    return f"var {kind}: x{number}{right};\n", f"x{number}"


def posed(name: str, arguments: list, suffix: str = "", truth: str = "") -> str:
    """A model that states a builtin of variables with these values."""
    lines, written = "", []
    for place, argument in enumerate(arguments):
        members = argument if isinstance(argument, list) else [argument]
        if place not in PARAMETERS[name]:
            about = ABOUT if name in FUNCTIONS and place == len(arguments) - 1 else 0.0
            pairs = [declaration(member, 10 * place + i, about) for i, member in enumerate(members)]
            lines += "".join(line for line, _ in pairs)
            members = [known for _, known in pairs]
        text = ",".join(map(str, members))
        written.append(f"[{text}]" if isinstance(argument, list) else text)
    lines += f"var bool: b :: output_var{truth};\n" if suffix else ""
    return f"{lines}constraint {name}{suffix}({','.join([*written, *(['b'] if suffix else [])])});\nsolve satisfy;\n"


def broken(name: str, arguments: list) -> list:
    if name in BROKEN:
        return BROKEN[name]
    *rest, last = arguments
    wrong = not last if isinstance(last, bool) else last + 0.01 * max(1.0, abs(last))
    return [*rest, wrong]
