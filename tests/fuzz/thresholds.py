"""The thresholds of the code as random variables, so that small models go the ways that only large ones go.

The solver chooses between ways by sizes: so many constraints of one shape are lowered in columns, a table of so many
cells is stated by truth values, so many values are worth a column of the relaxation. None of these numbers decides an
answer. THRESHOLDS names each with values to try beside its own, KEPT those that are not varied, and why. A case of the
fuzzer draws values for some of them (`draw_thresholds`), and is solved with these (`with_thresholds`).

`test_fuzz_thresholds.py` compares both tables with the modules of turbo_fzn: a threshold that vanishes fails there, and
so does a new one that is in neither table.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from random import Random
from types import ModuleType
from unittest.mock import patch

from support.places import ROOT

PACKAGE = ROOT / "turbo_fzn"
NEVER = 10**9  # a size that nothing reaches here
VARIED = ("lower", "symmetry", "tnf", "bounds", "engine", "ranks", "run")  # folders whose numbers are in the tables

Values = tuple[float, ...]

LOWER: dict[str, Values] = {
    "lower.builder.TABLE_LIMIT": (0, 1, 3),
    "lower.bulk.FEW": (0, 1, 4, NEVER),
    "lower.columns.SMALL": (1, 4, 100),
    "lower.columns.MANY": (0, 1, 4),
    "lower.constraints_int.MEMBER_TABLE_LIMIT": (0, 1, 3),
    "lower.constraints_int.OFFSET_LIMIT": (1, 4),
    "lower.early.TABLE_VALUES_PER_GAP": (0, 1, 100),
    "lower.elements.LARGEST_WHOLE": (0, 3, NEVER),
    "lower.elements.VALUES_A_TRUTH": (0, 1, NEVER),
    "lower.globals.automata.STEP_LIMIT": (0, 5),
    "lower.globals.counting.VALUES_LIMIT": (0, 1, 5),
    "lower.globals.different.CLAUSES_FOR_EACH_PAIR": (0, 1),
    "lower.globals.different.LEAST_WHOLE": (2, 4, NEVER),
    "lower.globals.different.MOST_LEFT": (0, 2),
    "lower.globals.different.PAIRS_AT_ONCE": (1, 4),
    "lower.globals.different.PERMUTATION_LIMIT": (0, 2, 3),
    "lower.globals.own.CELLS_LIMIT": (0, 6),
    "lower.globals.own.SUPPORTS_LIMIT": (0, 4),
    "lower.globals.packing.CELLS_FOR_EACH_PAIR": (0, 1, NEVER),
    "lower.globals.packing.FILLED": (0.0, 0.1, 1.0),
    "lower.globals.packing.LEAST_WHOLE": (2, 4, NEVER),
    "lower.globals.packing.MOST_IN_WINDOWS": (0, 3),
    "lower.globals.scheduling.CELLS_FOR_EACH_PAIR": (0, NEVER),
    "lower.budget.MOST_CELLS": (0, 20),
    "lower.globals.table.ALONE_LIMIT": (0, 1, 8, 30),
    "lower.globals.table.AT_ONCE": (1, 8),
    "lower.globals.table.DIAGRAM_GAINS": (0, 1, 100),
    "lower.globals.table.FEW_CELLS": (0, 6, NEVER),
    "lower.globals.table.MANY_BY_TRUTHS": (0, 2, 5),
    "lower.globals.table.MANY_ROWS": (0, 30),
    "lower.globals.table.MOST_ROWS": (0, 1, 8, 30),
    "lower.globals.table_diagram.AT_ONCE": (1, 8),
    "lower.globals.table_diagram.MOST_EDGES": (0, 8, 30),
    "lower.globals.table_diagram.ROWS_OF_EDGE": (0, 100),
    "lower.globals.table_index.CELLS_FOR_EACH_ROW": (0, 1, 100),
    "lower.globals.table_index.MOST_COLUMNS": (0, 1),
    "lower.globals.table_index.MOST_LOOKED_AT": (0, 1),
    "lower.globals.table_plan.LARGEST": (0, 1, 3),
    "lower.globals.table_plan.ROWS_FOR_EACH_CONFLICT": (0, 1, 100),
    "lower.globals.table_relation.MOST_LOOKED_AT": (0, 8),
    "lower.narrow_elements.MOST_CELLS": (0, 20),
    "lower.narrow.MOST_ROUNDS": (0, 1, 2),
    "lower.rewrite.MOST_TUPLES": (0, 1, 4),
    "lower.runs.FIRST": (1, 2, 8),
    "lower.runs.LEAST": (1, 2, 5),
    "lower.runs.MOST": (1, 2, 16),
    "lower.runs.MOST_PATIENCE": (1, 8),
    "lower.runs.MOST_SLOTS": (64, 256),
    "lower.runs.PATIENCE": (1, 4),
    "lower.trees.MANY_RESULTS": (0, 1, 4),
    "lower.trees.PAIRED": (0, 1, 2, 100),
}
SYMMETRY: dict[str, Values] = {
    "symmetry.automorphisms.MOST_FAILURES": (1,),
    "symmetry.automorphisms.MOST_GUESSES": (0, 1, 2),
    "symmetry.automorphisms.MOST_ROUNDS": (0, 1, 2),
    "symmetry.automorphisms.MOST_WORK": (0, 100, 3000, 50_000),
    "symmetry.automorphisms.ROUND": (0, 50),
    "symmetry.breaking.LARGEST": (1, 3),
    "symmetry.breaking.MOST_PAIRS": (0, 1, 3),
    "symmetry.graph.MOST_ARCS": (0, 30),
    "symmetry.graph.MOST_CONSTRAINTS": (0, 3),
}
TNF: dict[str, Values] = {
    "tnf.arrays.FEW": (0, 1, 4, NEVER),
    "tnf.arrays.LARGEST_CODE": (0, 5, 100),
    "tnf.arrays.SPARSE": (0, 1, 100),
    "tnf.columns.FACTOR_LIMIT": (1, 8),
    "tnf.linear_rows.MOST_COEFFICIENT": (1, 3),
    "tnf.linear_rows.MOST_SUM": (0, 50, 1000),
    "tnf.goal.FEWEST_TERMS": (0, 1, 2, 5),
    "tnf.arrange.MOST_TERMS": (2, 3, NEVER),
    "tnf.arrange.SHORT": (0, 1, NEVER),
    "tnf.linear_rows.MOST_TERMS": (2, 3, NEVER),
    "tnf.linear_rows.NARROW": (0, 1, NEVER),
    "tnf.language.NARROW_LIMIT": (0, 5),  # 64 bits for nearly all
    "tnf.octagon.MOST_VARIABLES": (2, 4),
    "tnf.simplify.WORTH": (0, NEVER),
    "tnf.spans.HOPS": (1, 2),
    "tnf.spans.LARGEST": (8, 64),
    "tnf.spans.MOST_GROUPS": (1, 2),
    "tnf.spans.MOST_LAST": (0, 1, 2),
    "tnf.spans.MOST_PAIRS": (0, 1, 3),
    "tnf.spans.MOST_SEEDS": (1, 2),
    "tnf.spans.MOST_SPANNED": (1, 2),
    "tnf.spans.MOST_STEPS": (1, 10),
    "tnf.spans.MOST_THINGS": (1, 2, 3),
    "tnf.spans.NEAR": (4,),
}
BOUNDS: dict[str, Values] = {
    "bounds.cuts.cutter.DIVISORS": (1, 2),
    "bounds.cuts.cutter.DUAL_UNITS": (1, 7),
    "bounds.cuts.cutter.FRACTIONAL": (0.3,),
    "bounds.cuts.cutter.LARGEST_COEFFICIENT": (2, 100),
    "bounds.cuts.cutter.LARGEST_DENOMINATOR": (1, 6),
    "bounds.cuts.cutter.LEAST_VIOLATION": (0.3,),
    "bounds.cuts.cutter.MOST_ENTRIES": (1, 4),
    "bounds.cuts.cutter.PARALLEL": (0.1, 2.0),
    "bounds.cuts.zero_half.MOST_ADDITIONS": (0, 3),
    "bounds.cuts.zero_half.MOST_LOSS": (0.5, 2.0),
    "bounds.cuts.zero_half.MOST_ROWS": (1, 4),
    "bounds.cuts.zero_half.MOST_SUMS": (1, 4),
    "bounds.cuts.zero_half.ZERO": (0.3,),
    "bounds.lp.relaxation.LARGEST_COEFFICIENT": (2, 100),
    "bounds.lp.relaxation.LARGEST_SIDE": (10, 1000),
    "bounds.lp.relaxation.SHORT": (0, 1),
    "bounds.prove.certificate.DENOMINATOR": (2**12, 2**16),
    "bounds.prove.farkas.LEAST_PART": (0.5,),
    "bounds.prove.reasons.LARGEST_FACTOR": (1, 5, 1000),
    "bounds.prove.reasons.LARGEST_SUM": (50, 10_000),
    "bounds.prove.reasons.MOST_ENTRIES": (0, 10),
    "bounds.prove.reasons.MOST_TERMS": (2, 5),
    "bounds.rows.capacity_cuts.LARGEST_LOAD": (0, 3),
    "bounds.rows.capacity_cuts.MOST_CUTS": (1,),
    "bounds.rows.capacity_cuts.MOST_SEEDS": (1,),
    "bounds.rows.capacity_cuts.MOST_STEPS": (1, 2),
    "bounds.rows.cliques.ACTIVE": (0.0, 0.5),
    "bounds.rows.cliques.LEAST_EXCESS": (0.5,),
    "bounds.rows.cliques.MOST_ACTIVE": (1, 3),
    "bounds.rows.cliques.MOST_SEEDS": (1,),
    "bounds.rows.cliques.MOST_WORK": (0, 10),
    "bounds.rows.counting.MOST_TRUTHS": (0, 5),
    "bounds.rows.encoding.LARGEST_DOMAIN": (0, 2, 5),
    "bounds.rows.encoding.VALUES_PER_LITERAL": (1, 100),
    "bounds.rows.energy.MOST_PAIRS": (0, 1, 2),
    "bounds.rows.energy.MOST_STEPS": (0, 1),
    "bounds.rows.flows.MOST_CELLS": (0, 6),
    "bounds.rows.flows.MOST_EDGES": (0, 6),
    "bounds.rows.flows.MOST_LOOKED_AT": (0, 6),
    "bounds.rows.indices.MOST_IN_ALL": (0, 5),
    "bounds.rows.indices.MOST_PRODUCTS": (0, 5),
    "bounds.rows.indices.MOST_TOGETHER": (0, 5),
    "bounds.rows.indices.MOST_VARIABLES": (0, 1),
    "bounds.rows.linearise.MOST_ENTRIES": (0, 20),
    "bounds.rows.linearizer.SMALL_DOMAIN": (0, 1, 3, 100),
    "bounds.rows.logical.FEW_VALUES": (0, 2),
    "bounds.rows.logical.MOST_SPLIT": (0, 4),
    "bounds.rows.logical.MOST_VALUES": (0, 2),
    "bounds.rows.nonlinear.LARGEST_ROOT": (1, 3),
    "bounds.rows.nonlinear.LEAST_EXCESS": (0.5,),
    "bounds.rows.nonlinear.MOST_CHOICES": (0, 2),
    "bounds.rows.tours.LEAST_EXCESS": (0.5,),
    "bounds.rows.tours.MOST_NODES": (0, 2, 3),
    "bounds.search.probing.LEAST_EXCESS": (0.5,),
    "bounds.search.probing.MOST_CELLS": (0, 5),
    "bounds.search.probing.MOST_CUTS": (0, 1),
    "bounds.search.probing.MOST_PROBES": (0, 1, 5),
    "bounds.search.probing.MOST_SECONDS": (0.0,),
    "bounds.search.probing.MOST_WORK": (0, 100),
    "bounds.search.root.IDLE_ROUNDS": (1,),
    "bounds.search.root.LEAST_CLOSED": (0.0, 2.0),
    "bounds.search.root.LEAST_GAIN": (0.5,),
    "bounds.search.root.MOST_CUTS": (1,),
    "bounds.search.root.MOST_REASONS": (0, 1),
    "bounds.search.root.MOST_ROUNDS": (0, 1, 3),
    "bounds.search.root.MOST_TABLEAU_ROWS": (1,),
    "bounds.search.root.TRIAL_ROUNDS": (0, NEVER),
    "bounds.search.sub_mip.LARGER": (1.0, 9.0),
    "bounds.search.sub_mip.LEAST_PART": (0.0, 1.0),
    "bounds.search.sub_mip.LONGEST_ROW": (0, 2),
    "bounds.search.sub_mip.MOST_ENTRIES": (0, 9),
    "bounds.search.sub_mip.MOST_REST": (0,),
    "bounds.search.sub_mip.MOST_SECONDS": (0.1,),
    "bounds.search.sub_mip.PART": (0.0, 0.5, 1.0),
    "bounds.search.sub_mip.SECONDS": (0.0, 0.01),
    "bounds.search.sub_mip.SMALLER": (0.0, 1.0),
    "bounds.search.tree.FRACTIONAL": (0.3,),
    "bounds.search.tree.MOST_BYTES": (1, 1000),
    "bounds.search.tree.MOST_CUTS": (0, 1),
    "bounds.search.tree.MOST_CUTS_AT_ONCE": (1,),
    "bounds.search.tree.MOST_GAIN": (1.0,),
    "bounds.search.tree.MOST_PROBES": (1, 2),
    "bounds.search.tree.MOST_ROUNDS": (1, 2),
    "bounds.search.tree.PROBE_ITERATIONS": (0, 1),
    "bounds.search.tree.PROBE_SECONDS": (0.0,),
    "bounds.search.tree.RELIABLE": (0, NEVER),
    "bounds.thread.relaxation_thread.HEAD_START_SECONDS": (0.0,),
    "bounds.thread.relaxation_thread.HOPE": (0, 1),
    "bounds.thread.relaxation_thread.LOOK_SECONDS": (0.0,),
    "bounds.thread.relaxation_thread.REASON_SECONDS": (0.0,),
    "bounds.thread.relaxation_thread.REST_SECONDS": (0.0,),
    "bounds.thread.relaxation_thread.SMALL_SECONDS": (0.0, 9.0),
    "bounds.thread.relaxation_thread.SMALL_TREE": (0, 1, 4),
    "bounds.thread.relaxation_thread.SUGGESTION_SECONDS": (0.0,),
}
ENGINE: dict[str, Values] = {
    "engine.abi.aligned.FIRST_SHARE": (0, 65_000),
    "engine.layout.neighbours.FURTHEST_OWNER": (1, 2),
    "engine.layout.layout.MAX_ISLANDS": (2, 3),
    "engine.layout.layout.MAX_RING_SLOTS": (1, 2),
    "engine.layout.layout.POOL_BYTES": (1, 2000),
    "engine.layout.layout.RING_BYTES": (1, 200),
    "engine.posted.MOST_SUM": (0, 50, 10_000),
    "engine.together.maker.HEAD_START_SECONDS": (0.0,),
    "engine.together.team.EXCHANGE_SECONDS": (0.0,),
    "engine.together.team.EXCHANGE_SHARE": (1.0,),
    "engine.together.tree.BLOCKS_A_RESERVE": (1, 2),
    "engine.together.tree.PORTION": (1, 2),
    "engine.together.tree.RICHER": (1,),
    "engine.together.tree.STOCK": (1, 2),
    "ranks.ranks.NEWS_SECONDS": (0.0,),
    "ranks.stealing.HOLD_SECONDS": (0.0,),
    "ranks.stealing.MOST_PATHS": (1, 2),
    "engine.probing.MOST_IMPLIED": (0, 2),
    "run.presolve.LEAST_WORK": (0, 10),
    "run.presolve.MOST_IN_GROUP": (2, NEVER),
    "run.presolve.CASES": (1, 10**5),
    "run.presolve.WORK_A_ROW": (0, 1),
    "run.policy.CPU_LNS_PERCENT": (0, 100),
    "run.prepare.OCTAGON_ROUNDS": (1,),
    "run.policy.FREE_THREADS": (1, 3),
    "run.policy.SHARE_BESIDE_ONE": (1.0,),
    "run.roles.LEAST_TEAM": (2, 5),
    "run.roles.OTHERS": (2, 16),
    "run.roles.RANK_OTHERS": (1, 8),
    "run.judge.BATCH_ELEMENTS": (1, 10),
    "run.unbounded.MOST_CHECKS": (0, 3),
    "run.unbounded.MOST_LOOKED_AT": (0, 3),
    "run.unbounded.MOST_MOVING": (0, 1),
    "run.unbounded.MOST_SOLUTIONS": (1, 3),
}
FAMILIES = (LOWER, SYMMETRY, TNF, BOUNDS, ENGINE)
THRESHOLDS: dict[str, Values] = {name: values for family in FAMILIES for name, values in family.items()}

# Not varied: by why, the names. A whole module is named without a constant.
KEPT: dict[str, str] = {
    "a number that means something, or that code is to stay within": """
        bounds.search.listener.NO_SOLUTION bounds.lp.highs tnf.spans.UNKNOWN tnf.links.NOBODY
        lower.columns.NO_ROW lower.expression_columns.NEGATIVE lower.trees.KEY_BITS lower.power.LARGEST_EXPONENT
        engine.abi.abi engine.abi.float_abi engine.contract engine.abi.records engine.abi.header run.profiler
        run.bounding.RELAXATION
        bounds.prove.certificate.LARGEST_MULTIPLIER bounds.prove.certificate.SAFE_SUM
        bounds.prove.certificate.LEAST_DENOMINATOR bounds.prove.certificate.FINEST
        bounds.cuts.cutter.EXACT bounds.cuts.cutter.SAFE_PRODUCT bounds.reals.envelopes.LARGEST_INTEGER ranks.world
        engine.layout.strategies.MAX_LEVELS
        engine.layout.layout.BYTES_A_ROW run.unbounded.LEAP run.unbounded.LARGEST_FLOAT""",
    "of the GPU, of compilers, of variants and of how output looks": """
        engine.layout.split.PARTS_A_BLOCK engine.cuda.shape engine.cuda.gpu engine.cuda.bindings engine.hybrid
        engine.toolchain.compilation engine.toolchain.compiler.OLDEST_PACKAGED
        engine.cuda.context engine.cuda.wake engine.together.fleet.SEEDS_APART engine.cpu.TRACE_CAPACITY
        engine.logged
        run.policy.GPU_LNS_PERCENT
        run.engines.UNLIMITED
        run.policy.THREADS_LEFT run.policy.MOST_THREADS run.engines.SEEDS_APART run.answer.live tnf.text
        run.answer.selection""",
    "of models with floats, which have kinds of their own": """
        bounds.reals.envelopes.LARGEST_FACTOR bounds.search.spatial bounds.reals.certificate bounds.reals.elimination
        bounds.reals.enclosure lower.constraints_float
        lower.elementary run.real_bounding run.exact run.prepare.EQUATION_ROUNDS run.judge.MOST_INEXACT""",
    "whether a solution is checked at all": "run.judge.CHECK_LIMIT",
    "of walks, which claim nothing": "engine.layout.repair",
    "how long something waits, which no answer comes sooner by": """
        run.presolve.MOST_SECONDS run.presolve.SECONDS_A_ROW
        bounds.thread.relaxation_thread.END_SECONDS bounds.thread.relaxation_thread.LAST_SECONDS
        bounds.thread.relaxation_thread.PATIENCE_SECONDS bounds.thread.relaxation_thread.PROBING_SECONDS
        engine.together.maker.TURN_SECONDS ranks.ranks.ALIVE_SECONDS ranks.ranks.SILENCE_SECONDS ranks.serve run.search
        bounds.search.root.CUT_SECONDS bounds.search.root.HALF_SECONDS bounds.search.probing.PROBE_SECONDS
        bounds.search.tree.NODE_SECONDS bounds.thread.turns run.turns""",
}


def draw_thresholds(random: Random) -> dict[str, float]:
    """Values for a few thresholds, for all of a family, or for none."""
    names: list[str] = []
    choice = random.random()
    if choice < 0.4:
        names = random.sample(list(THRESHOLDS), random.randint(1, 12))
    elif choice < 0.75:
        names = list(random.choice(FAMILIES))
        names = random.sample(names, random.randint(len(names) // 2, len(names)))
    return {name: random.choice(THRESHOLDS[name]) for name in names}


def find(name: str) -> tuple[ModuleType, str]:
    """The module and the constant. Raises AttributeError where there is none of that name."""
    place, _, constant = name.rpartition(".")
    module = import_module(f"turbo_fzn.{place}")
    getattr(module, constant)
    return module, constant


@contextmanager
def with_thresholds(values: Mapping[str, float]) -> Iterator[None]:
    """What is solved meanwhile meets these thresholds, in every module that has them by name."""
    changed: list[ModuleType] = []
    with ExitStack() as stack:
        for name, value in values.items():
            origin, constant = find(name)
            for module in (origin, *importers(origin.__name__, constant, len(sys.modules))):
                stack.enter_context(patch.object(module, constant, value))
                changed.append(module)
        forget(changed)
        try:
            yield
        finally:
            forget(changed)


@cache
def importers(origin: str, constant: str, n_modules: int) -> list[ModuleType]:
    """The loaded modules, so many, that import the constant by name from its own."""
    ours = [module for name, module in sys.modules.items() if name.startswith("turbo_fzn.") and name != origin]
    return [module for module in ours if constant in vars(module) and (origin, constant) in imported(module.__file__)]


@cache
def imported(file: str | None) -> set[tuple[str, str]]:
    """(module, name) of all that a module imports by name."""
    tree = ast.parse(Path(str(file)).read_text(encoding="utf-8"))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {(str(node.module), one.name) for node in found for one in node.names}


def forget(modules: list[ModuleType]) -> None:
    """What functions remember may have been computed with other thresholds."""
    for module in set(modules):
        for function in vars(module).values():
            if hasattr(function, "cache_clear") and getattr(function, "__module__", "") == module.__name__:
                function.cache_clear()


# ---- what the code has


def constants() -> Iterator[str]:
    """Every number at the level of a module, as `folder.module.NAME`, in the folders that the tables are about."""
    for folder in VARIED:
        for path in sorted((PACKAGE / folder).rglob("*.py")):
            module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None and is_number(node.value):
                    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                    yield from (f"{module}.{one.id}" for one in targets if isinstance(one, ast.Name))


def is_number(expression: ast.expr) -> bool:
    """Whether it is made of numbers alone, as 2**20 and 1 / 3 are."""
    if isinstance(expression, ast.BinOp):
        return is_number(expression.left) and is_number(expression.right)
    if isinstance(expression, ast.UnaryOp):
        return is_number(expression.operand)
    return isinstance(expression, ast.Constant) and type(expression.value) in (int, float)


def is_kept(name: str) -> bool:
    kept = {word for words in KEPT.values() for word in words.split()}
    return name in kept or name.rpartition(".")[0] in kept
