"""Measure our decompositions of global constraints against the standard library's: write lab/notebook/globals.md.

    python examples/globals.py [NAME...]     print the table, or the rows of some globals
    python examples/globals.py --write       write lab/notebook/globals.md anew

For a maintainer, after a change of the MiniZinc library or of the examples. Each example of `MEASURED` is compiled
twice, with our library and with the standard one (to which only the bodies are added that do without sets and floats),
and solved to the proof by one thread of the CPU engine. Nodes do not depend on the machine; times are the best of
REPEATS.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from turbo_fzn import Result, solve_text
from turbo_fzn.base.resources import share_folder

EXAMPLES = Path(__file__).resolve().parent
PAGE = EXAMPLES.parent / "lab" / "notebook" / "globals.md"
REPEATS = 9
NEEDED = "redefinitions.mzn"  # what the standard library needs for a solver without sets and floats

# Global constraints, the example that has them, and how ours differ (nothing: the standard library's is used).
MEASURED: list[tuple[str, str, str]] = [
    ("all_different", "hard_sudoku", "permutation: each value counted once; else pairs (std)"),
    ("alldifferent_except_0", "flower_beds", "a clause for each value and pair"),
    ("inverse", "photo", "both sides share truth values"),
    ("symmetric_all_different", "round_robin", "by inverse"),
    ("circuit", "hamilton", "numbers along the tour, next to truth values of successors"),
    ("subcircuit", "prize_tour", "the same, from the first node on the tour"),
    ("table", "crossword", "truth values of the rows"),
    ("regular", "stretches", "truth values of states and steps"),
    ("cost_regular", "toll_roads", "the same, costs with a truth value for each amount"),
    ("mdd", "diagram", "nodes and edges defined, not searched for"),
    ("cumulative", "workshop", "pairs of tasks or time table, the smaller"),
    ("diffn", "squared_rectangle", "pairs, and time tables in small spaces"),
    ("lex_less(eq), lex_chain, lex2", "lecture_halls", "one comparison a place"),
    ("value_precede", "visitors", "a chain of MAX rows"),
    ("sort", "order_statistics", "sorting network"),
    ("arg_sort", "ranking", "ranks by counting"),
    ("maximum, minimum", "weather", "builtins: negated as well"),
    ("arg_max, arg_min", "weather", ""),
    ("value_precede_chain, seq_precede_chain", "petersen", "a chain of MAX rows"),
    ("disjunctive", "job_shop", "a clause for each pair"),
    ("count families, among, at_most, at_least, exactly", "canteen", "sums of truth values"),
    ("global_cardinality families, distribute", "rota", "counts of truth values"),
    ("nvalue", "stations", "truth values of the values that are taken"),
    ("bin_packing", "removal", "loads that sum up to all weights"),
    ("bin_packing_capa, bin_packing_load", "shelves", "the same"),
    ("knapsack", "picnic", ""),
    ("network_flow", "pipelines", ""),
    ("sliding_sum", "night_shifts", "differences of partial sums"),
    ("int_set_channel", "clubs", ""),
    ("element of constants and of variables", "warehouse", ""),
    ("increasing, decreasing families", "coins", "a comparison for each two neighbours"),
]  # fmt: skip


class Measure(NamedTuple):
    """Sizes of the simplified ternary model, and what the proof took."""

    variables: int
    rows: int
    nodes: int
    milliseconds: float


def measure(example: str, library: Path) -> Measure:
    text = flatten(example, library)
    results = [prove(text) for _ in range(REPEATS)]
    statistics = results[0].statistics
    seconds = min(result.statistics["solveTime"] for result in results)
    sizes = (statistics[name] for name in ("variables", "propagators", "nodes"))
    return Measure(*sizes, 1000 * seconds)


def flatten(example: str, library: Path) -> str:
    """The FlatZinc of an example, compiled with that library."""
    (entry,) = [e for e in json.loads((EXAMPLES / "expected.json").read_text()) if e["model"] == f"{example}.mzn"]
    solver = {"id": "org.turbo.measured", "name": "Measured", "version": "1", "mznlib": str(library)}
    files = [name for name in (entry["model"], entry["data"]) if name]
    with tempfile.TemporaryDirectory() as folder:
        configuration, flat = Path(folder) / "measured.msc", Path(folder) / "model.fzn"
        configuration.write_text(json.dumps({**solver, "executable": sys.executable}))
        command = ["minizinc", "-c", "--solver", configuration, "--no-output-ozn", "--fzn", flat, *files]
        subprocess.run(command, cwd=EXAMPLES, check=True, capture_output=True)
        return flat.read_text()


def prove(text: str) -> Result:
    result = solve_text(text, arch="cpu", blocks=1, lns="off", learn="off", check=False, all_solutions=True)
    if not result.complete:
        sys.exit(f"no complete answer: {result.status}")
    return result


def line(names: str, example: str, ours: str, standard: Path) -> str:
    """The row of the table for some globals."""
    before = measure(example, standard)
    cells = [names, f"[{example}](../../examples/{example}.mzn)", ours or "std"]
    if ours:
        after = measure(example, share_folder() / "minizinc" / "turbo")
        cells += [f"{old:,} → {new:,}" for old, new in zip(before[:3], after[:3])]
        cells.append(f"{before.milliseconds:.1f} → {after.milliseconds:.1f}")
    else:
        cells += [f"{value:,}" for value in before[:3]] + [f"{before.milliseconds:.1f}"]
    return "| " + " | ".join(cells) + " |"


def table(wanted: list[str]) -> str:
    lines = [
        "| global | example | ours | variables | rows | nodes | ms to the proof |",
        "|---|---|---|---:|---:|---:|---:|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(share_folder() / "minizinc" / "turbo" / NEEDED, folder)
        prove("var 1..3: x :: output_var;\nsolve satisfy;\n")  # loads the engine, which is not to count
        for names, example, ours in MEASURED:
            if not wanted or any(word in names for word in wanted):
                lines.append(line(names, example, ours, Path(folder)))
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> None:
    if arguments == ["--write"]:
        text, _, _ = PAGE.read_text(encoding="utf-8").partition("| global | example |")
        PAGE.write_text(text + table([]), encoding="utf-8")
    elif any(argument.startswith("-") for argument in arguments):
        sys.exit(__doc__)
    else:
        print(table(arguments), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
