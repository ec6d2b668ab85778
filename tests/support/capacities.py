"""A small model with many solutions, run straight on an engine whose capacities may be too small."""

from __future__ import annotations

from support.engines import drain, make_engine
from turbo_fzn.engine.contract import Engine
from turbo_fzn.engine.layout.layout import Settings
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.prepare import prepare

QUEENS = 7
QUEENS_SOLUTIONS = 40  # OEIS A000170


def queens_text(goal: str = "satisfy") -> str:
    """N queens; the objective is the column of the last queen plus twice that of the first."""
    names = [f"q{i}" for i in range(QUEENS)]
    lines = [f"var 1..{QUEENS}: {name} :: output_var;" for name in names] + ["var 0..100: cost :: output_var;"]
    lines += [
        f"constraint int_lin_ne([1,-1],[q{i},q{j}],{k});"
        for i in range(QUEENS)
        for j in range(i + 1, QUEENS)
        for k in (0, j - i, i - j)
    ]
    lines.append(f"constraint int_lin_eq([1,2,-1],[q{QUEENS - 1},q0,cost],0);")
    return "\n".join(lines) + f"\nsolve :: int_search([{','.join(names)}],input_order,indomain_min,complete) {goal};\n"


def engine_for(name: str, goal: str, settings: Settings) -> Engine:
    return make_engine(name, prepare(parse_text(queens_text(goal)), Options(), Interrupt()), settings)


def run(name: str, goal: str = "satisfy", pause: float = 0.0, **settings) -> tuple[list, Engine, dict[str, int]]:
    """Solutions as (objective, values), the closed engine's completeness as `complete`, its statistics."""
    engine = engine_for(name, goal, Settings(**settings))
    engine.start()
    found = drain(engine, pause)
    statistics = {**engine.statistics(), "complete": engine.complete}
    engine.close()
    return [(f.objective, tuple(f.values)) for f in found], engine, statistics


TOO_SMALL = {
    "trail": {"trail_capacity": 1},
    "levels": {"level_capacity": 1},
    "queue": {"queue_capacity": 3},
    "ring": {"ring_slots": 1},
    "pool path": {"pool_path": 2},
    "all": {"trail_capacity": 1, "level_capacity": 1, "queue_capacity": 3, "ring_slots": 1},
}
