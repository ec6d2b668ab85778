"""Models for which enumeration is no judge: larger FlatZinc, and MiniZinc over globals. Gecode is the other opinion.

Both solvers enumerate, or prove an optimum, within a time limit; where one of them does not, or refuses the model, the
instance says nothing ("undecided"). Larger FlatZinc uses the builtins that both know. A MiniZinc model goes through
`minizinc` twice, with our library and, for Gecode, with the plain standard library.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from fuzz.generate import draw_model
from fuzz.judge import Verdict, draw_way
from support.command import PATIENCE, without_home
from support.flatzinc_text import with_text
from turbo_fzn import solve_text
from turbo_fzn.base.errors import TurboError
from turbo_fzn.command.install import install_solver
from turbo_fzn.read.model import Ref

SECONDS = 1
MOST_SOLUTIONS = 3000
COMPLETE, UNSATISFIABLE = "==========", "=====UNSATISFIABLE====="
UNKNOWN_TO_GECODE = re.compile(r".*_imp|int_pow_fixed|bool_lin_.*|.*_clause_reif|int_lin_.*_imp")


class Answer:
    """What a solver printed in MiniZinc's protocol: its solutions as sets of lines, and whether that is all."""

    def __init__(self, text: str):
        parts = text.split("----------\n")
        self.solutions = [
            tuple(sorted(normal(line) for line in part.splitlines() if ";" in line)) for part in parts[:-1]
        ]
        self.is_complete = COMPLETE in parts[-1] or UNSATISFIABLE in parts[-1]


def normal(line: str) -> str:
    """`x = array1d(1..2, [1,2]);` without blanks."""
    return re.sub(r"\s", "", line)


def run(command: list[str], **environment: str) -> Answer | None:
    """None where the solver has an objection, or too little time."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, env={**os.environ, **environment}
        )
    except subprocess.TimeoutExpired:
        return None
    return None if done.returncode or "rror" in done.stderr else Answer(done.stdout)


def disagreement(ours: Answer, theirs: Answer, objective: str | None) -> str:
    """What the two complete answers differ in, or nothing. `objective` names the variable of an optimisation."""
    if objective is None:
        missing, strange = set(theirs.solutions) - set(ours.solutions), set(ours.solutions) - set(theirs.solutions)
        if missing or strange:
            return f"{len(missing)} solutions missing, {len(strange)} too many: {min(missing | strange)}"
        return "a solution twice" if len(ours.solutions) != len(set(ours.solutions)) else ""
    values = [[line for line in answer.solutions[-1] if line.startswith(f"{objective}=")] if answer.solutions else []
              for answer in (ours, theirs)]  # fmt: skip
    return f"optimum {values[0]} where Gecode has {values[1]}" if values[0] != values[1] else ""


# ---- FlatZinc


def draw_flatzinc(random: Random) -> tuple[str, str | None]:
    """A model's text, and the name of its objective."""
    model = draw_model(random, "big", with_globals=0)
    model.variables.pop("alias", None)
    known = [item for item in model.constraints if not UNKNOWN_TO_GECODE.fullmatch(item.name)]
    model.constraints = known
    goal = model.goal
    assert goal is not None
    if not isinstance(goal.objective, str):
        goal.method, goal.objective = "satisfy", None
    for variable in model.variables.values():
        variable.annotations = [Ref("output_var")]
    for array in model.arrays.values():
        array.annotations = []
    goal.annotations = []
    return with_text(model).text, goal.objective  # type: ignore[return-value]


def try_flatzinc(random: Random, arch: str) -> tuple[Verdict, str]:
    text, objective = draw_flatzinc(random)
    with tempfile.NamedTemporaryFile("w", suffix=".fzn") as file:
        file.write(text)
        file.flush()
        limits = ["-n", str(MOST_SOLUTIONS)] if objective is None else []
        theirs = run(["fzn-gecode", *limits, "-time", str(1000 * SECONDS), file.name])
    if theirs is None or not theirs.is_complete:
        return Verdict("undecided"), text
    way = draw_way(random, arch)
    settings: dict[str, Any] = {**way.settings(), "n_solutions": None, "all_solutions": True, "check": True}
    try:
        result = solve_text(text, **settings, time_limit=1000 * SECONDS)
    except TurboError as error:
        return Verdict("wrong", str(error)), text
    if not result.complete:
        return Verdict("undecided"), text
    ours = Answer("")
    ours.solutions = [tuple(sorted(f"{name}={show(v)};" for name, v in found.items())) for found in result.solutions]
    fault = disagreement(ours, theirs, objective)
    return Verdict("wrong" if fault else "right", fault and f"{fault} ({way})"), text


def show(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


# ---- MiniZinc

Part = Callable[[Random], str]


def numbers(random: Random, count: int, low: int, high: int) -> str:
    return "[" + ",".join(str(random.randint(low, high)) for _ in range(count)) + "]"


def relation(random: Random) -> str:
    return random.choice(("<=", ">=", "=", "!=", "<", ">"))


def table_of(random: Random) -> str:
    rows = [",".join(str(random.randint(0, 4)) for _ in range(3)) for _ in range(random.randint(1, 6))]
    return "[|" + "|".join(rows) + "|]"


def automaton(random: Random) -> str:
    states, symbols = 3, 5
    moves = "|".join(",".join(str(random.randint(0, states)) for _ in range(symbols)) for _ in range(states))
    return f"[x[i]+1 | i in 1..n], {states}, {symbols}, [|{moves}|], 1, {{{random.randint(1, states)},3}}"


# In each, x and y are arrays of n variables in 0..4, p one of n variables in 1..n, b of n Booleans, z a variable in
# 0..8 and s a set variable within 0..4.
GLOBALS: list[Part] = [
    lambda r: "all_different(x)",
    lambda r: "all_different_except_0(x)",
    lambda r: "all_equal([x[1],y[1],z])",
    lambda r: f"at_least({r.randint(0, 3)}, x, {r.randint(0, 4)})",
    lambda r: f"at_most({r.randint(0, 3)}, x, {r.randint(0, 4)})",
    lambda r: f"exactly({r.randint(0, 3)}, x, {r.randint(0, 4)})",
    lambda r: "among(z, x, {0,2,3})",
    lambda r: "count(x, y[1], z)",
    lambda r: f"count(x, {r.randint(0, 4)}) {relation(r)} z",
    lambda r: f"count_{r.choice(('eq', 'geq', 'gt', 'leq', 'lt', 'neq'))}(x, y[2], z)",
    lambda r: f"global_cardinality(x, [0,1,2], {numbers(r, 3, 0, 2)})",
    lambda r: "global_cardinality(x, [0,2], [y[1],y[2]])",
    lambda r: "global_cardinality_closed(x, [0,1,3], [y[1],y[2],z])",
    lambda r: f"global_cardinality_low_up(x, [0,1], {numbers(r, 2, 0, 1)}, {numbers(r, 2, 1, 3)})",
    lambda r: "distribute([y[1],y[2]], [0,1], x)",
    lambda r: "nvalue(z, x)",
    lambda r: f"z {relation(r)} max(x)",
    lambda r: "maximum(z, x)",
    lambda r: "minimum(z, y)",
    lambda r: f"sum(x) {relation(r)} z",
    lambda r: "arg_max(x) = p[1]",
    lambda r: "arg_min(y) = p[2]",
    lambda r: "member(x, z)",
    lambda r: "increasing(x)",
    lambda r: "decreasing(y)",
    lambda r: "lex_less(x, y)",
    lambda r: "lex_lesseq(x, y)",
    lambda r: "lex_greater(y, x)",
    lambda r: "sort(x, y)",
    lambda r: "arg_sort(x, p)",
    lambda r: "inverse(p, [if i = n then p[1] else p[i+1] endif | i in 1..n])",
    lambda r: "circuit(p)",
    lambda r: "subcircuit(p)",
    lambda r: f"value_precede({r.randint(0, 2)}, {r.randint(2, 4)}, x)",
    lambda r: "value_precede_chain([0,1,3], x)",
    lambda r: f"table([x[1],x[2],y[1]], {table_of(r)})",
    lambda r: f"regular({automaton(r)})",
    lambda r: f"sliding_sum({r.randint(0, 3)}, {r.randint(3, 7)}, 2, x)",
    lambda r: f"cumulative(x, [{r.randint(0, 3)} | i in 1..n], [1 + (i mod 2) | i in 1..n], {r.randint(1, 4)})",
    lambda r: "cumulative(x, y, [1 | i in 1..n], z)",
    lambda r: f"disjunctive(x, [{r.randint(0, 2)} | i in 1..n])",
    lambda r: "diffn(x, y, [1 | i in 1..n], [2 | i in 1..n])",
    lambda r: f"bin_packing({r.randint(2, 6)}, x, [i | i in 1..n])",
    lambda r: "bin_packing_load([z, y[1]], [1 + (x[i] mod 2) | i in 1..n], [i | i in 1..n])",
    lambda r: "bin_packing_capa([2,3,1,4,2], [x[i] + 1 | i in 1..n], [i | i in 1..n])",
    lambda r: "knapsack([i | i in 1..n], [2*i - 1 | i in 1..n], x, z, sum(y))",
    lambda r: "element(p[1], x, y[2])",
    lambda r: f"x[p[1]] {relation(r)} y[p[2]]",
    lambda r: "p[1] in s",
    lambda r: f"card(s) {relation(r)} z",
    lambda r: f"s {r.choice(('subset', 'superset', '=', '!='))} {{0,1,{r.randint(2, 4)}}}",
    lambda r: "sum(i in s)(i) = z",
    lambda r: f"x[1] * y[1] {relation(r)} z + {r.randint(-2, 4)}",
    lambda r: f"x[1] div (y[1] + {r.randint(0, 1)}) {relation(r)} z",
    lambda r: f"x[1] mod (y[2] - {r.randint(0, 2)}) {relation(r)} 1",
    lambda r: f"pow(x[1], {r.randint(0, 3)}) {relation(r)} z",
    lambda r: f"abs(x[1] - y[1]) {relation(r)} {r.randint(0, 3)}",
    lambda r: "xorall(b)",
    lambda r: "exists(b) -> forall(i in 1..n)(x[i] < y[i])",
]  # fmt: skip
NOT_REIFIED = ("circuit", "subcircuit", "arg_sort", "sort(", "regular")


def draw_constraint(random: Random) -> str:
    part = random.choice(GLOBALS)(random)
    if random.random() < 0.25 and not part.startswith(NOT_REIFIED):
        form = random.choice(("b[1] <-> ({})", "b[2] -> ({})", "({}) \\/ b[1]", "not ({})", "({}) xor b[2]"))
        return form.format(part)
    return part


def draw_minizinc(random: Random) -> tuple[str, str | None]:
    n = random.choice((3, 3, 4))
    lines = [
        'include "globals.mzn";',
        f"int: n = {n};",
        f"array[1..n] of var {random.choice(('0..4', '0..3', '{0,1,3,4}'))}: x;",
        f"array[1..n] of var {random.choice(('0..2', '1..3', '{0,2,4}'))}: y;",
        "array[1..n] of var 1..n: p;",
        "array[1..n] of var bool: b;",
        "var 0..8: z;",
        "var set of 0..4: s;",
        *(f"constraint {draw_constraint(random)};" for _ in range(random.randint(2, 4))),
    ]
    fixed = [
        "constraint forall(b);",
        "constraint s = {0,2};",
        "constraint p = [i | i in 1..n];",
        "constraint y[1] = y[2];",
    ]
    text = "\n".join(lines)
    used = [name for name in "xypbzs" if re.search(rf"\b{name}\b", text.partition("var set of 0..4: s;")[2])]
    lines += [line for name, line in zip("bspy", fixed, strict=True) if name not in used or random.random() < 0.3]
    objective = random.choice((None, "z", "sum(x) - z", "sum(p) + x[1]"))
    lines.append(f"var int: cost = {objective or 0};")
    goal = f"{random.choice(('minimize', 'maximize'))} cost" if objective else "satisfy"
    lines.append(f"solve {goal};")
    # All of them: Gecode leaves variables open that are not shown, and may then print what is no solution.
    shown = ", ".join(f'"{name}=\\({name});\\n"' for name in [*used, "cost"])
    lines.append(f"output [{shown}];")
    return "\n".join(lines) + "\n", objective and "cost"


@cache
def solvers() -> str:
    """The folder of our solver configuration."""
    folder = tempfile.mkdtemp(prefix="turbo-solvers-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    install_solver(Path(folder))
    return folder


def try_minizinc(random: Random) -> tuple[Verdict, str]:
    text, objective = draw_minizinc(random)
    with tempfile.NamedTemporaryFile("w", suffix=".mzn") as file:
        file.write(text)
        file.flush()
        common = ["minizinc", "--time-limit", str(20_000 * SECONDS), *(["-a"] if objective is None else []), file.name]
        theirs = run([*common, "--solver", "gecode", "-G", "std"])
        if theirs is None or not theirs.is_complete or len(theirs.solutions) > MOST_SOLUTIONS:
            return Verdict("undecided"), text
        flags = random.choice(([], ["-p", "2"], ["--no-simplify"], ["-f", "-p", "2"]))
        command = [*common, "--solver", "turbo", "--arch", "cpu", *flags]
        ours = run(command, MZN_SOLVER_PATH=solvers(), **without_home(Path(solvers())))
    if ours is None:
        return Verdict("wrong", f"no answer where Gecode has one ({flags})"), text
    if not ours.is_complete:
        return Verdict("undecided"), text
    ours.solutions, theirs.solutions = list(dict.fromkeys(ours.solutions)), list(dict.fromkeys(theirs.solutions))
    fault = disagreement(ours, theirs, objective)
    return Verdict("wrong" if fault else "right", fault and f"{fault} ({flags})"), text
