"""MiniZinc models of the cases of global_cases.py, and their FlatZinc with our library."""

from __future__ import annotations

import re
import subprocess
from itertools import product
from pathlib import Path

from support.builds import build_once
from support.command import PATIENCE
from support.global_notation import Case, Vars, values_of
from turbo_fzn.command.install import CONFIGURATION, install_solver
from turbo_fzn.read.model import Model, Ref

UNSATISFIABLE = "UNSATISFIABLE"


class Compiler:
    """MiniZinc with our library; a model is compiled once a run of the tests."""

    def __init__(self) -> None:
        self.solver = build_once("library", install_solver) / CONFIGURATION

    def flatten(self, text: str) -> str | None:
        """The FlatZinc of a model, or None where MiniZinc finds that it has no solution."""
        folder = build_once("model", lambda folder: self._compile(folder, text), text)
        self.output = folder / "model.ozn"
        return None if (folder / UNSATISFIABLE).exists() else (folder / "model.fzn").read_text()

    def _compile(self, folder: Path, text: str) -> None:
        model = folder / "model.mzn"
        model.write_text(text)
        command = ["minizinc", "-c", "--solver", self.solver, model]  # writes its files beside the model
        run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        assert run.returncode == 0, run.stderr
        if f"====={UNSATISFIABLE}=====" in run.stdout:
            (folder / UNSATISFIABLE).touch()

    def fixed_values(self) -> dict[str, object]:
        """What MiniZinc has found out while compiling: it is no variable of the FlatZinc."""
        found = re.findall(r"^(?:int|bool): (\w+) = (true|false|-?\d+);$", self.output.read_text(), re.MULTILINE)
        return {name: value == "true" if value in ("true", "false") else int(value) for name, value in found}

    def completed(self, solution: dict[str, object]) -> dict[str, object]:
        """With the fixed values, and with the variables that MiniZinc has found to be equal to others."""
        values = {**self.fixed_values(), **solution}
        equal = re.findall(r"^(?:int|bool): (\w+) = ([A-Za-z]\w*);$", self.output.read_text(), re.MULTILINE)
        return values | {name: values[other] for name, other in equal if other in values}


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


FORMS = {
    "posted": ("constraint {call};", lambda holds, truth: holds),
    "reified": ("var bool: truth; constraint truth <-> {call};", lambda holds, truth: holds == truth),
    "negated": ("constraint not {call};", lambda holds, truth: not holds),
}


def names_of(case: Case, model: Model) -> list[str] | None:
    """The FlatZinc variables of a case in the order of its values, if there are no others and no aliases."""
    names: list[str] = []
    for name, variables in case.variables.items():
        plain = plain_name(name, variables)
        if variables.length is None:
            names.append(plain)
        elif plain in model.arrays:
            names.extend(model.arrays[plain].elements)
    known = all(isinstance(name, str) and (isinstance(name, Ref) or name in model.variables) for name in names)
    return names if known and sorted(names) == sorted(model.variables) else None
