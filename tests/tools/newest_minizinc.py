"""The globals and the examples through the newest MiniZinc: `make newest-minizinc`.

Debian has one version of MiniZinc. The newest one comes as WebAssembly in the package `minizinc` of the npm registry,
which node runs (tests/support/releases.py), with our library. It compiles each case of global_cases.py as a constraint,
reified and negated, and each model of examples/. Of a case all solutions are compared with its meaning; of an example
the status and the objective with examples/expected.json. Exit code 1 where anything differs. Needs node and npm.

python tests/tools/newest_minizinc.py --every 10    all examples, but a tenth of the cases only
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for who runs it as a script
from support.global_cases import CASES
from support.global_models import FORMS, assignments, model_of, plain_name
from support.global_notation import Case, identify
from support.places import ROOT
from support.releases import Newest, Refused
from turbo_fzn import solve_text

EXAMPLE_MS = 120_000


def cases() -> dict[str, tuple[Case, str]]:
    return {f"{identify(case)}-{form}": (case, form) for case in CASES for form in FORMS}


def models(every: int) -> Iterator[tuple[str, str, dict[str, str]]]:
    """The name of each model, its text, and its data by the name of their file; of the cases each `every`-th."""
    for name, (case, form) in islice(cases().items(), 0, None, every):
        yield name, model_of(case, FORMS[form][0]), {}
    for path in sorted((ROOT / "examples").glob("*.mzn")):
        data = path.with_suffix(".dzn")
        yield path.name, path.read_text(), {"data.dzn": data.read_text()} if data.exists() else {}


def frozen(value: object) -> object:
    return tuple(map(int, value)) if isinstance(value, list) else int(value)  # type: ignore[call-overload]


def complaint(case: Case, form: str, flat: str) -> str | None:
    """The differences from the meaning. Variables that MiniZinc has fixed are not in the FlatZinc, and are ignored."""
    is_wanted = FORMS[form][1]
    truths = [False, True] if form == "reified" else [True]
    names = {name: plain_name(name, variables) for name, variables in case.variables.items()}
    wanted = [
        {**{names[name]: frozen(value) for name, value in values.items()}, "truth": int(truth)}
        for values in assignments(case)
        for truth in truths
        if is_wanted(case.meaning(*values.values()), truth)
    ]
    found = solve_text(flat, arch="cpu", all_solutions=True).solutions
    if not found or not wanted:
        return None if not found and not wanted else f"{len(wanted)} solutions wanted, {len(found)} found"
    shown = sorted(found[0].keys() & wanted[0].keys())
    differing = {tuple(values[name] for name in shown) for values in wanted} ^ {
        tuple(frozen(solution[name]) for name in shown) for solution in found
    }
    return f"{sorted(differing)[:3]}" if differing else None


def complaint_of_example(name: str, flat: str) -> str | None:
    """A figure that differs, or that is not there in time."""
    rows = json.loads((ROOT / "examples" / "expected.json").read_text())
    (expected,) = [row for row in rows if row["model"] == name]
    is_count = expected["kind"] == "count"
    result = solve_text(flat, arch="cpu", all_solutions=is_count, time_limit=EXAMPLE_MS)
    figure = len(result.solutions) if is_count else result.objective
    is_same = figure is not None and abs(figure - expected["figure"]) <= 1e-5 * abs(expected["figure"])
    return None if is_same else f"{result.status}, {figure} instead of {expected['figure']}"


def fault_of(newest: Newest, name: str, text: str, data: dict[str, str], known: tuple[Case, str] | None) -> str | None:
    """What is wrong with a model through the newest release."""
    try:
        flat = newest.flatten(text, data)
    except Refused as refusal:
        return str(refusal)
    return complaint(*known, flat) if known else complaint_of_example(name, flat)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="of the cases each N-th (default: all)")
    faults, compared, known, every = 0, 0, cases(), parser.parse_args().every
    newest = Newest()
    print(newest.version())
    for name, text, data in models(every):
        found = fault_of(newest, name, text, data, known.get(name))
        compared += 1
        if compared % 50 == 0:
            print(f"{compared} models", file=sys.stderr)
        if found:
            faults += 1
            print(f"{name}: {found}", flush=True)
    newest.close()
    print(f"{compared} models compared, {faults} differ")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
