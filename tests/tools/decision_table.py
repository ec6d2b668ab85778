"""The decisions about a run, as a table: of which model, with which flags, on which machine, what is decided.

tests/data/decisions.txt has the cases that matter, a line each; every rule of policy.py is seen by at least one.
`python tests/tools/decision_table.py --write` decides them anew; look at what has changed. A new case is a line whose
last cell is empty.
"""

from __future__ import annotations

import sys
from collections import Counter
from functools import cache
from pathlib import Path
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for who runs it as a script
from support.places import DATA
from turbo_fzn.base.errors import UsageError
from turbo_fzn.engine.abi.abi import METHODS
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.options.options import Options
from turbo_fzn.options.parsing import parse_arguments
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.arrangement import arranged
from turbo_fzn.run.machine import Machine
from turbo_fzn.run.policy import Decision, decide
from turbo_fzn.run.prepare import prepare
from turbo_fzn.tnf.language import TNF

FILE = DATA / "decisions.txt"
ANNOTATION = ":: int_search([x,y],input_order,indomain_min,complete)"
VARIABLES = "var 0..9: x; var 0..9: y; constraint int_ne(x,y);"
ROW = "var 0..1: x; var 0..1: y; var 0..1: z; constraint int_lin_eq([1,1,1],[x,y,z],1);"
TASKS = (
    "predicate turbo_cumulative(array [int] of var int: s, array [int] of var int: d, array [int] of var int: r, "
    f"var int: b); {VARIABLES} constraint turbo_cumulative([x,y],[2,2],[2,2],3);"
)
MODELS = {
    "annotated, to satisfy": f"{VARIABLES} solve {ANNOTATION} satisfy;",
    "annotated, to optimise": f"{VARIABLES} solve {ANNOTATION} minimize y;",
    "to satisfy": f"{VARIABLES} solve satisfy;",
    "rows to satisfy": f"{ROW} solve satisfy;",
    "rows to optimise": f"{ROW} solve minimize x;",
    "to optimise": f"{VARIABLES} solve maximize y;",
    "without bounds": f"var int: z; {VARIABLES} solve minimize y;",
    "real objective": f"var 0.0..1.0: r; {VARIABLES} solve minimize r;",
    "too large for rows": f"{TASKS} solve {ANNOTATION} minimize y;",
}
NONE, CORES = "there is none", (1, 2, 8, 16, 32)
MACHINES = {
    **{f"{cores} cores": Machine(cores, NONE) for cores in CORES},
    **{f"{cores} cores, GPU": Machine(cores, None) for cores in CORES},
    "rank": Machine(8, NONE, is_rank=True),
    "rank, GPU": Machine(8, None, is_rank=True),
}


def lines(cases: list[str]) -> list[str]:
    """The lines of these, `model | flags | machine | decision`, whatever decision they have; others stay."""
    return [_decided(case) if " | " in case else case for case in cases]


def _decided(case: str) -> str:
    model, flags, machine, *_ = (cell.strip() for cell in case.split("|"))
    options = parse_arguments([*flags.split(), "model.fzn"]).options
    return f"{model} | {flags} | {machine} | {decision_of(_tnf(model), options, MACHINES[machine])}"


@cache
def _tnf(model: str) -> TNF:
    with patch.object(TUNING, "budget_cells", 0):
        options = Options(simplify="turbo_cumulative" in MODELS[model])  # without the simplifier, every row is there
        return arranged(prepare(parse_text(MODELS[model]), options, Interrupt())).tnf


def decision_of(tnf: TNF, options: Options, machine: Machine) -> str:
    try:
        return line(decide(tnf, options, machine, options.solution_limit() if tnf.sense == 0 else 0))
    except UsageError as error:
        return f"refused: {error}"


def line(decision: Decision) -> str:
    if not decision.engines:
        return "no engine"
    parts = ["+".join(decision.engines)]
    if decision.threads:
        roles = Counter(learner.role for learner in decision.learners)
        parts.append(f"{decision.threads} threads{''.join(f' {role} {count}' for role, count in roles.items())}")
        parts.append(f"{decision.cpu_lns_percent} % elsewhere" if decision.cpu_lns_percent else "")
        parts += [f"without {method}" for method in METHODS if method not in decision.methods]
    if "gpu" in decision.engines:
        parts.append(f"GPU {decision.gpu_lns_percent} % elsewhere" if decision.gpu_lns_percent else "")
        parts += ["GPU with repair"] * ("repair" in decision.gpu_methods)
    if decision.relaxation is not None:
        in_turns, share = decision.relaxation
        parts.append(f"relaxation {'in turns' if in_turns else 'beside'} {share}")
    parts += ["by failures"] * decision.by_failures + ["repeatable"] * decision.repeatable
    return f"{', '.join(filter(None, parts))}: {decision.reason}"


def main() -> None:
    found = lines(FILE.read_text(encoding="utf-8").splitlines())
    if "--write" in sys.argv:
        FILE.write_text("\n".join(found) + "\n", encoding="utf-8")
    print("\n".join(found))


if __name__ == "__main__":
    main()
