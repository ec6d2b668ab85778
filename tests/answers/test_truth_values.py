"""Builtins as truth values in MiniZinc: whatever the front end reads may be called in a model, implied, and negated.

MiniZinc refuses a builtin under `<->`, `->` or `not` unless the library declares its `_reif` form. What our library
declares is flattened, solved, and compared with the enumeration of the same call in FlatZinc.
"""

from __future__ import annotations

from itertools import product

import pytest

from support.builtin_cases import PLAIN, PREDICATES, calls_of, flatten, model_of
from support.global_models import Compiler
from support.needs import needs_minizinc
from support.oracle import all_solutions
from support.quick import slow_if
from turbo_fzn import solve_text
from turbo_fzn.base.domains import IntSet

pytestmark = needs_minizinc

# MiniZinc 2.6 does not find the reified form of bool_not; a power has none here, and bool_xor of two is not MiniZinc's.
WITHOUT = {"bool_not", "int_pow", "int_pow_fixed", "bool_xor/2"}
NAMES = [name for name in PREDICATES if not name.endswith(("_reif", "_imp")) and name not in WITHOUT]
CRASHES = {("bool2int", "not")}  # an assertion of MiniZinc 2.6 fails, with every library
FORMS = {"<->": "constraint t <-> {};", "->": "constraint t -> {};", "not": "constraint not {};"}


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    return Compiler()


def literal(argument: object) -> str:
    if isinstance(argument, IntSet):
        return "{" + ",".join(map(str, argument)) + "}"
    if isinstance(argument, list):
        return "[" + ",".join(map(literal, argument)) + "]"
    return str(argument).lower() if isinstance(argument, bool) else str(argument)


def domains_in(name: str, call: list) -> dict[str, tuple[int, ...]]:
    """The variables of a call, and the values of each."""
    variables = model_of(name, call).variables
    return {v.name: (0, 1) if v.kind == "bool" else tuple(PLAIN) for v in variables.values()}


def solutions(compiler: Compiler, name: str, call: list, form: str) -> list[tuple[int, ...]]:
    """The solutions of the solver for the flattened model: the values of the variables, and of t."""
    domains = domains_in(name, call)
    kinds = {v: "bool" if values == (0, 1) else f"{values[0]}..{values[-1]}" for v, values in domains.items()}
    declarations = [f"var {kind}: {v};" for v, kind in (kinds | {"t": "bool"}).items()]
    text = f"{name}({','.join(map(literal, flatten(call)))})"
    flat = compiler.flatten("\n".join([*declarations, FORMS[form].format(text), "solve satisfy;\n"]))
    assert flat is not None
    found = solve_text(flat, arch="cpu", all_solutions=True, check=True)
    assert found.status in ("ALL_SOLUTIONS", "UNSATISFIABLE")
    return [tuple(int({**compiler.fixed_values(), **one}[v]) for v in (*domains, "t")) for one in found.solutions]


def names_and_forms() -> list:
    """Each builtin in each form; quick is the first form, and of each third builtin every one."""
    return [
        pytest.param(name, form, id=f"{name}-{form}", marks=slow_if(i % 3 > 0 and form != "<->"))
        for i, name in enumerate(NAMES)
        for form in FORMS
    ]


@pytest.mark.parametrize(("name", "form"), names_and_forms())
def test_a_builtin_may_be_a_truth_value(compiler, name, form):
    if (name, form) in CRASHES:
        with pytest.raises(AssertionError):
            solutions(compiler, name, next(calls_of(name))[1], form)
        return
    _, call = next(calls_of(name))
    holds = {tuple(map(int, solution.values())) for solution in all_solutions(model_of(name, call))}
    meaning = {"<->": lambda t, held: t == held, "->": lambda t, held: t <= held, "not": lambda _, held: not held}[form]
    boxes = product(*domains_in(name, call).values(), (0, 1))
    wanted = {values for values in boxes if meaning(values[-1], values[:-1] in holds)}
    found = solutions(compiler, name, call, form)
    assert len(found) == len(wanted) and set(found) == wanted


@pytest.mark.parametrize("call", ["iffall(x)", "xorall(x)"])
def test_a_parity_may_be_a_truth_value(compiler, call):
    flat = compiler.flatten(f"var bool: b; array [1..3] of var bool: x; constraint b <-> {call}; solve satisfy;\n")
    found = solve_text(flat, arch="cpu", all_solutions=True, check=True)
    parity = call == "xorall(x)"
    assert len(found.solutions) == 8
    assert all(one["b"] == ((sum(one["x"]) % 2 == 1) == parity) for one in found.solutions)
