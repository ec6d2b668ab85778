"""Flatten the examples into tests/data/corpus, and the models of tests/data/counting beside themselves, for tests on
machines without MiniZinc, such as a GPU host.

    python examples/flatten.py

For a maintainer, after adding or changing an example. The FlatZinc is that of our own MiniZinc library.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path

from turbo_fzn.command.install import install_solver

EXAMPLES = Path(__file__).resolve().parent
CORPUS = EXAMPLES.parent / "tests" / "data" / "corpus"
COUNTING = EXAMPLES.parent / "tests" / "data" / "counting"


def main() -> None:
    CORPUS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        install_solver(Path(folder))
        for entry in json.loads((EXAMPLES / "expected.json").read_text()):
            files = [EXAMPLES / name for name in (entry["model"], entry["data"]) if name]
            flatten(files, CORPUS / f"{files[0].stem}.fzn", folder)
        for model in sorted(COUNTING.glob("*.mzn")):
            flatten([model], model.with_suffix(".fzn"), folder)


def flatten(files: list[Path], target: Path, solvers: str) -> None:
    names = [os.path.relpath(file, EXAMPLES) for file in files]
    command = ["minizinc", "-c", "--solver", "org.turbo.turbo", "--no-output-ozn", "--fzn", str(target), *names]
    subprocess.run(command, cwd=EXAMPLES, env={**os.environ, "MZN_SOLVER_PATH": solvers}, check=True)


if __name__ == "__main__":
    main()
