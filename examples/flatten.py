"""Flatten the examples into tests/corpus, for tests on machines without MiniZinc, such as a GPU host.

    python examples/flatten.py

For a maintainer, after adding or changing an example. The FlatZinc is that of our own MiniZinc library.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path

from turbo_fzn.install import install_solver

EXAMPLES = Path(__file__).resolve().parent
CORPUS = EXAMPLES.parent / "tests" / "corpus"


def main() -> None:
    CORPUS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        install_solver(Path(folder))
        for entry in json.loads((EXAMPLES / "expected.json").read_text()):
            flatten(entry["model"], entry["data"], folder)


def flatten(model: str, data: str | None, solvers: str) -> None:
    target = CORPUS / (Path(model).stem + ".fzn")
    files = [name for name in (model, data) if name]
    command = ["minizinc", "-c", "--solver", "org.turbo.turbo", "--no-output-ozn", "--fzn", str(target), *files]
    subprocess.run(command, cwd=EXAMPLES, env={**os.environ, "MZN_SOLVER_PATH": solvers}, check=True)


if __name__ == "__main__":
    main()
