"""The decisions about a run, as lines of a text: for each model, flags and machines, in decisions.txt.

`python tests/tools/decision_table.py --write` writes the table as the package has it now; look at what has changed.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for who runs it as a script
from support.places import DATA
from turbo_fzn.engine.abi.abi import METHODS
from turbo_fzn.options.options import Options, parse_arguments
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.machine import Machine
from turbo_fzn.run.policy import Decision, decide
from turbo_fzn.run.prepare import prepare
from turbo_fzn.tnf.language import TNF

FILE = DATA / "decisions.txt"
ANNOTATION = ":: int_search([x,y],input_order,indomain_min,complete)"
VARIABLES = "var 0..9: x; var 0..9: y; constraint int_ne(x,y);"
MODELS = {
    "annotated, to satisfy": f"{VARIABLES} solve {ANNOTATION} satisfy;",
    "annotated, to optimise": f"{VARIABLES} solve {ANNOTATION} minimize y;",
    "to satisfy": f"{VARIABLES} solve satisfy;",
    "to optimise": f"{VARIABLES} solve maximize y;",
    "to optimise, without bounds": f"var int: z; {VARIABLES} solve minimize y;",
    "to optimise a real objective": f"var 0.0..1.0: r; {VARIABLES} solve minimize r;",
}
CORES = (1, 2, 8, 16)
MACHINES = {
    **{f"{cores} cores": Machine(cores, "there is none") for cores in CORES},
    **{f"{cores} cores and a GPU": Machine(cores, None) for cores in CORES},
    "a rank": Machine(8, "there is none", is_rank=True),
    "a rank with a GPU": Machine(8, None, is_rank=True),
}
# What is the same for some machines is told of them together.
TOGETHER = {
    "any": tuple(MACHINES),
    "no GPU": tuple(name for name, machine in MACHINES.items() if machine.no_gpu and not machine.is_rank),
    "a GPU": tuple(name for name, machine in MACHINES.items() if not machine.no_gpu and not machine.is_rank),
}
FLAGS = (
    "", "-f", "-p 1", "-p 4", "-f -p 1", "-a", "-n 3", "-r 5", "-r 5 -f", "-r 5 -f -p 1", "--learn off",
    "-f --learn off", "-f -p 4 --learn soloist,finder:truths", "-f --without soloist,prover", "--arch cpu",
    "--arch gpu", "--arch gpu -f", "--arch hybrid", "--arch hybrid -f -p 4", "--arch hybrid -r 5", "--blocks 1",
    "--blocks 4", "--blocks 1 -r 5", "--lns off", "--lns on", "--relaxation on -p 1", "-f --relaxation off",
    "--cp-profiler 1,6565", "--variant recompute", "-f --variant recompute", "--arch hybrid --variant recompute",
)  # fmt: skip


def lines() -> list[str]:
    """The table: a heading for each model, then `flags | machines | what is decided`."""
    found = []
    for name, text in MODELS.items():
        tnf = prepare(parse_text(text), Options(simplify=False), Interrupt()).tnf
        found.append(f"[{name}]")
        for flags in FLAGS:
            options = parse_arguments([*flags.split(), "model.fzn"]).options
            found += [f"{flags or 'no flag'} | {where} | {what}" for what, where in decisions(tnf, options).items()]
    return found


def decisions(tnf: TNF, options: Options) -> dict[str, str]:
    """A mapping from each decision to the machines that it is made on."""
    wanted = options.solution_limit() if tnf.sense == 0 else 0
    machines: dict[str, list[str]] = {}
    for name, machine in MACHINES.items():
        machines.setdefault(line(decide(tnf, options, machine, wanted)), []).append(name)
    return {what: together(names) for what, names in machines.items()}


def together(names: list[str]) -> str:
    for title, group in TOGETHER.items():
        if set(group) <= set(names):
            names = [title, *(name for name in names if name not in group)]
    return ", ".join(names)


def line(decision: Decision) -> str:
    if not decision.engines:
        return "no engine"
    parts = ["+".join(decision.engines)]
    if decision.threads:
        roles = Counter(learner.role for learner in decision.learners)
        parts.append(f"{decision.threads} threads{''.join(f' {role} {count}' for role, count in roles.items())}")
        parts.append(f"{decision.cpu_lns_percent} % elsewhere" if decision.cpu_lns_percent else "")
        parts += [f"without {method}" for method in METHODS if method not in decision.methods]
    if "gpu" in decision.engines and decision.gpu_lns_percent:
        parts.append(f"GPU {decision.gpu_lns_percent} % elsewhere")
    if decision.relaxation is not None:
        in_turns, share = decision.relaxation
        parts.append(f"relaxation {'in turns' if in_turns else 'beside'} {share}")
    parts += ["by failures"] * decision.by_failures + ["repeatable"] * decision.repeatable
    return f"{', '.join(filter(None, parts))}: {decision.reason}"


if __name__ == "__main__":
    if "--write" in sys.argv:
        FILE.write_text("\n".join(lines()) + "\n")
    print("\n".join(lines()))
