"""What the examples must give: recompute `expected.json` with Gecode, or check it.

    python examples/expected.py            write expected.json anew
    python examples/expected.py --check    compare, and fail where a figure differs

For a maintainer, after adding or changing an example. The models are flattened with the plain standard library
and solved by fzn-gecode, so that nothing of our own has a part in the figures. (Gecode's own library is passed by
on purpose: as Debian ships it, it does not fit newer releases of MiniZinc.) A satisfaction model gives the number
of its solutions, an optimisation model the optimum. NAME.mzn takes NAME.dzn as its data, where there is one.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent
EXPECTED = EXAMPLES / "expected.json"

DIGITS = 6  # behind the point, of an optimum that is no integer

# Figures that Gecode cannot give, and how they were found.
BY_HAND = {
    # Gecode's integers have 32 bits. Of laps 1 to 4 only 3 leaves a total of 4 modulo 9 (1, 2 and 4 ask of teeth
    # a remainder modulo 9 that contradicts teeth mod 3 = 2, or none exists); then teeth = 2 modulo 9, at most 38:
    # 38 * (3 * 1000000007 + 5).
    "wide": 114000000988,
    # Gecode does not come to an end with these in 20 s.
    "can": 264.356810,  # 3 * (2 pi 330^2)^(1/3): twice the radius is the height
    "fence": 1250,  # 25 by 50
    "ladder": 4.161938,  # (1 + 2^(2/3))^1.5
    "loan": 0.077139,  # the root of 1000 (1 + i)^4 - 300 ((1 + i)^4 - 1) / i = 0.0001, by bisection
    "pendulum": 0.994219,  # 9.81 * 2.0005^2 / (4 pi^2 * 1.00024), when it is hottest
    "refraction": 19.119617,  # where the derivative by x is 0, by bisection
    "thermometers": 0.24,  # half of 20.6 - 20.12
    "two_circles": 0.292893,  # 1 / (2 + sqrt(2)), on the diagonal
    # Gecode has no float_pow and no array_var_float_element without its own library.
    "beam": 26.305522,  # 1.5 * 6.75^1.5: the square of the height is three quarters of 9
    "tariffs": 82.5,  # 12.5 + 0.28 * 250
}


def reference_solver(folder: Path) -> Path:
    """A solver configuration that runs fzn-gecode on the plain standard library."""
    executable = shutil.which("fzn-gecode")
    if executable is None:
        sys.exit("fzn-gecode is not installed: apt-get install flatzinc")
    path = folder / "reference.msc"
    path.write_text(
        json.dumps(
            {
                "id": "org.turbo.reference",
                "name": "Reference",
                "version": "1",
                "mznlib": "",
                "executable": executable,
                "tags": ["cp", "int", "float", "set"],
                "stdFlags": ["-a"],
                "needsSolns2Out": True,
            }
        )
    )
    return path


def solve(solver: Path, model: Path, data: Path | None, kind: str) -> float:
    """The optimum or the number of solutions, after a complete search."""
    command = ["minizinc", "--solver", str(solver), "--output-mode", "dzn", "--output-objective"]
    command += ["-a"] if kind == "count" else []
    command += [str(model)] + ([str(data)] if data else [])
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    complete = "==========" in run.stdout or "=====UNSATISFIABLE=====" in run.stdout
    if run.returncode != 0 or not complete:
        sys.exit(f"{model.name}: no complete answer\n{run.stdout}{run.stderr}")
    if kind == "count":
        return run.stdout.splitlines().count("----------")
    figure = re.findall(r"^_objective = (.*);$", run.stdout, re.MULTILINE)[-1]
    return round(float(figure), DIGITS) if "." in figure else int(figure)


def entry(solver: Path, model: Path) -> dict[str, object]:
    data = model.with_suffix(".dzn")
    satisfaction = re.search(r"\bsatisfy\s*;", model.read_text()) is not None
    kind = "count" if satisfaction else "optimum"
    figure = BY_HAND.get(model.stem)
    if figure is None:
        figure = solve(solver, model, data if data.exists() else None, kind)
    return {
        "model": model.name,
        "data": data.name if data.exists() else None,
        "kind": kind,
        "figure": figure,
    }


def as_text(entries: list[dict[str, object]]) -> str:
    return "[\n" + ",\n".join("  " + json.dumps(item) for item in entries) + "\n]\n"


def main(arguments: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        solver = reference_solver(Path(folder))
        text = as_text([entry(solver, model) for model in sorted(EXAMPLES.glob("*.mzn"))])
    if arguments == ["--check"]:
        if text != EXPECTED.read_text():
            sys.exit(f"{EXPECTED.name} is out of date. It should be:\n{text}")
        print(f"{EXPECTED.name} is up to date")
    elif arguments:
        sys.exit(__doc__)
    else:
        EXPECTED.write_text(text)


if __name__ == "__main__":
    main(sys.argv[1:])
