"""How much of what its hull would prove the relaxation of each constraint proves: a table in Markdown.

    python tests/tools/hull.py                        # all predicates, a minute or two
    python tests/tools/hull.py int_le_reif --count 200

A random constraint over a few variables of small domains, and a random linear objective over all of them. The best
objective over the convex hull of the solutions is that of the best solution, by enumeration. What the interval of the
objective says beyond that is the gap; the table has the share of it that the linear program closes, and that it closes
with cuts, in the mean and at least.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from random import Random
from statistics import mean
from typing import NamedTuple
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for who runs it as a script
import numpy as np

from fuzz import generate
from fuzz.drawer import Drawer
from fuzz.global_calls import CALLS
from fuzz.scope import Scope
from support.flatzinc_text import with_text
from support.oracle import WindowTooSmall, all_solutions, objective_of
from turbo_fzn.base.errors import TurboError
from turbo_fzn.bounds.search.listener import NO_SOLUTION
from turbo_fzn.bounds.search.root import Root
from turbo_fzn.bounds.thread.relaxation_thread import Beside
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.process.streams import keep_libraries_out
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.read.model import Constraint, Goal, Model, Ref, Variable
from turbo_fzn.run.bounding import EngineBoxes, relaxation_of
from turbo_fzn.run.prepare import prepare

COUNT = 40
TRIES = 12  # for each instance that is wanted
WEIGHTS = (-5, -3, -2, -1, 1, 2, 3, 5)
NAMES = sorted(set(generate.KINDS)) + [name + form for name in sorted(CALLS) for form in generate.FORMS]


class Shares(NamedTuple):
    """The shares of the gap between interval and hull that the linear program closes, without and with cuts."""

    plain: float
    with_cuts: float


def draw(random: Random, name: str) -> Model | None:
    """A model with this constraint and an objective, if one is found that suits."""
    scope, model = Scope(random, "small"), Model(file=f"{name}.fzn")
    generate.declare_variables(model, scope)
    model.constraints.extend(draw_constraint(scope, model, name))
    if not model.constraints:
        return None
    terms = []
    for variable in list(model.variables.values()):
        term = Ref(variable.name)
        if variable.kind == "bool":
            term = Ref(f"n_{variable.name}")
            model.variables[term] = Variable(term, "int", generate.BOOLEAN, [], None, 0)
            model.constraints.append(Constraint("bool2int", [Ref(variable.name), term], [], 0))
        terms.append(term)
    weights = [random.choice(WEIGHTS) for _ in terms]
    model.variables["total"] = Variable("total", "int", None, [], None, 0)
    model.constraints.append(Constraint("int_lin_eq", [[*weights, -1], [*terms, Ref("total")], 0], [], 0))
    model.goal = Goal("minimize", Ref("total"), [], 0)
    return model


def draw_constraint(scope: Scope, model: Model, name: str) -> list[Constraint]:
    if name in generate.KINDS:
        with patch.object(generate, "NAMES", [name]):
            return list(generate.draw_constraint(scope, model, with_witness=True))
    base = max((one for one in CALLS if name.startswith(one)), key=len)
    with patch.object(generate, "CALLS", {base: CALLS[base]}), patch.object(generate, "FORMS", {name[len(base) :]: 1}):
        found = generate.draw_global(Drawer(scope, model), with_witness=True)
    return [found] if found.name == name else []  # one without a form may have become a reified one


def shares(model: Model) -> Shares | None:
    """None where there is no gap to be closed, or no telling."""
    try:
        solutions = all_solutions(model)
        prepared = prepare(model, Options(), Interrupt())
    except (WindowTooSmall, TurboError):
        return None
    tnf = prepared.tnf
    if not solutions or tnf.infeasible or tnf.sense == 0:
        return None
    best, interval = min(objective_of(model, one) for one in solutions), int(tnf.lower[tnf.objective])
    if best == interval:
        return None
    relaxation = relaxation_of(prepared)
    if relaxation is None:
        return Shares(0.0, 0.0)
    beside = Beside(lambda: relaxation, EngineBoxes(prepared, np.arange(0)))
    beside.boxes.attach(relaxation)
    root = Root(relaxation, beside)
    root.settle()
    plain = closed(max(root.value, float(root.bound) if root.bound == NO_SOLUTION else -np.inf), interval, best)
    root.cut()
    return Shares(plain, closed(float(root.bound), interval, best))


def closed(bound: float, interval: int, best: int) -> float:
    return min(1.0, max(0.0, (bound - interval) / (best - interval)))


def line(name: str, count: int, seed: int) -> str | None:
    random = Random(f"{name}/{seed}")
    found: list[Shares] = []
    for _ in range(count * TRIES):
        model = draw(random, name)
        got = shares(parse_text(with_text(model).text)) if model else None
        if got is not None:
            found.append(got)
        if len(found) == count:
            break
    if not found:
        return None
    columns = [[one.plain for one in found], [one.with_cuts for one in found]]
    figures = (f"{100 * mean(column):.0f} | {100 * min(column):.0f}" for column in columns)
    return f"| `{name}` | {len(found)} | {' | '.join(figures)} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="predicates (default: all)")
    parser.add_argument("--count", type=int, default=COUNT, help="instances of each")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    keep_libraries_out()  # HiGHS says hello
    print("| constraint | instances | closed, % | least | with cuts, % | least |\n|---|---:|---:|---:|---:|---:|")
    for name in arguments.names or NAMES:
        if (text := line(name, arguments.count, arguments.seed)) is not None:
            print(text, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
