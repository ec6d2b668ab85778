"""Global constraints through our MiniZinc library: all solutions of each small call, against enumeration.

MiniZinc compiles the call in three places: as a constraint, as the truth value of a variable, and negated. The
library has other decompositions for each of them.
"""

from __future__ import annotations

import re
import subprocess
from itertools import product

import pytest
from conftest import needs_minizinc
from global_cases import CASES, Case, Vars, identify, values_of

from turbo_fzn.install import install_solver
from turbo_fzn.run.session import solve_text

pytestmark = needs_minizinc

FORMS = {
    "posted": ("constraint {call};", lambda holds, truth: holds),
    "reified": ("var bool: truth; constraint truth <-> {call};", lambda holds, truth: holds == truth),
    "negated": ("constraint not {call};", lambda holds, truth: not holds),
}


@pytest.fixture(scope="module")
def solutions_of(tmp_path_factory):
    """A function from a model's text to its solutions, as compiled with our library."""
    folder = tmp_path_factory.mktemp("globals")
    solver = install_solver(folder)
    model, flat, output = (folder / f"model.{suffix}" for suffix in ("mzn", "fzn", "ozn"))
    command = ["minizinc", "-c", "--solver", solver, "--fzn", flat, "--ozn", output, model]

    def solve(text: str) -> list[dict]:
        model.write_text(text)
        run = subprocess.run(command, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        if "=====UNSATISFIABLE=====" in run.stdout:
            return []
        result = solve_text(flat.read_text(), arch="cpu", all_solutions=True, check=True)
        assert result.status in ("ALL_SOLUTIONS", "UNSATISFIABLE")
        return [{**fixed_values(output.read_text()), **solution} for solution in result.solutions]

    return solve


def fixed_values(output_model: str) -> dict[str, object]:
    """What MiniZinc has found out while compiling: it is no variable of the FlatZinc."""
    found = re.findall(r"^(?:int|bool): (\w+) = (-?\w+);$", output_model, re.MULTILINE)
    return {name: value == "true" if value in ("true", "false") else int(value) for name, value in found}


def declaration(name: str, variables: Vars) -> str:
    kind = "bool" if variables.domain is bool else "{" + ",".join(map(str, variables.domain)) + "}"
    if variables.length is None:
        return f"var {kind}: {name};"
    indices = f"{variables.first}..{variables.first + variables.length - 1}"
    if variables.first == 1:
        return f"array [{indices}] of var {kind}: {name};"
    plain = plain_name(name, variables)
    return (
        f"array [1..{variables.length}] of var {kind}: {plain};\n"
        f"array [{indices}] of var {'bool' if kind == 'bool' else 'int'}: {name} = array1d({indices}, {plain});"
    )


def plain_name(name: str, variables: Vars) -> str:
    """Under which name FlatZinc gives the values: newer MiniZincs keep the names of arrays from index 1 only."""
    return name if variables.first == 1 else f"{name}_from_1"


def model_of(case: Case, item: str) -> str:
    lines = [declaration(name, variables) for name, variables in case.variables.items()]
    if case.file:
        lines.insert(0, f'include "{case.file}.mzn";')
    return "\n".join([*lines, item.format(call=f"({case.call})"), "solve satisfy;\n"])


def assignments(case: Case) -> list[dict]:
    """All of them, a value or a list of values by name."""
    choices = [
        values_of(v) if v.length is None else list(map(list, product(values_of(v), repeat=v.length)))
        for v in case.variables.values()
    ]
    return [dict(zip(case.variables, values)) for values in product(*choices)]


def frozen(names: list[str], assignment: dict) -> tuple:
    return tuple(tuple(v) if isinstance(v, list) else v for v in (assignment[name] for name in names))


def calls() -> list:
    """Each case posted and reified; the first one of each global negated as well."""
    first = {case.name: case for case in reversed(CASES)}
    return [
        pytest.param(case, form, id=f"{identify(case)}-{form}")
        for case in CASES
        for form in FORMS
        if form != "negated" or case is first[case.name]
    ]


@pytest.mark.parametrize("case, form", calls())
def test_a_global_has_the_solutions_that_its_meaning_has(solutions_of, case, form):
    item, is_wanted = FORMS[form]
    truth_name = ["truth"] if form == "reified" else []
    names = [*case.variables, *truth_name]
    plain_names = [plain_name(name, variables) for name, variables in case.variables.items()]
    truths = [False, True] if form == "reified" else [True]
    wanted = {
        frozen(names, {**assignment, "truth": truth})
        for assignment in assignments(case)
        for truth in truths
        if is_wanted(case.meaning(*assignment.values()), truth)
    }
    found = [frozen([*plain_names, *truth_name], solution) for solution in solutions_of(model_of(case, item))]
    assert len(found) == len(set(found))
    assert set(found) == wanted
