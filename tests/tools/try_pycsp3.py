"""What docs/guide/xcsp3.md says of PyCSP3 and ACE, with PyPI's pycsp3 in an environment of its own: `make pycsp3`.

The example of the page is run; its model alone is compiled, and the instance solved; and where Java is, the checker of
the competitions looks at solutions of ours, and ACE is asked of our instances, and of random ones. Exit code 1 where
something is not as the page, or tests/data/xcsp3/expected.json, has it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for who runs it as a script
from support.doc_commands import commands
from support.places import DATA, ROOT, TESTS
from support.xcsp3_unnamed import GOALS, UNNAMED

PAGE = ROOT / "docs" / "guide" / "xcsp3.md"
HOME = ROOT / "build" / "pycsp3"
INSTANCES = DATA / "xcsp3"
ASK = TESTS / "tools" / "xcsp3_ace.py"
RANDOM_INSTANCES = "100"
SOLVING = "\nturbo = "  # where the example begins to call the solver


def main() -> int:
    python = HOME / "bin" / "python"
    if not python.exists():
        venv.create(HOME, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "pycsp3"], check=True)
    (packages,) = (HOME / "lib").glob("python*/site-packages")
    script = HOME / "bin" / "fzn-turbo"
    script.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m turbo_fzn "$@"\n')
    script.chmod(0o755)
    variables = {**os.environ, "PATH": f"{HOME / 'bin'}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": ""}
    faults = 0
    for what, is_right in (*examples(variables), *oracle(packages)):
        print(f"{what}: {'as the page says' if is_right else 'NOT as the page says'}", flush=True)
        faults += not is_right
    return 1 if faults else 0


def examples(variables: dict[str, str]) -> Iterator[tuple[str, bool]]:
    """PyCSP3 reads the source of a model from its file."""
    (example,) = (command.text for command in commands(PAGE.read_text()) if command.language == "python")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in (("example.py", example), ("model.py", example.partition(SOLVING)[0])):
            (folder / file).write_text(text)
            call = ["python", file]
            done = subprocess.run(call, cwd=folder, env=variables, capture_output=True, text=True, timeout=600)
            if file == "example.py":
                yield "solve from the model", done.returncode == 0 and "11] 11\n" in done.stdout
        call = ["fzn-turbo", "model.xml"]
        done = subprocess.run(call, cwd=folder, env=variables, capture_output=True, text=True, timeout=600)
        yield "compile, then solve", "\ns OPTIMUM FOUND\n" in done.stdout and "o 11\n" in done.stdout


def oracle(packages: Path) -> Iterator[tuple[str, bool]]:
    if shutil.which("java") is None:
        print("there is no Java, so ACE is not asked")
        return
    variables = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{packages}"}
    paths = sorted(INSTANCES.glob("*.xml"))
    answers = subprocess.run([sys.executable, ASK, *paths], env=variables, capture_output=True, text=True).stdout
    found = {name: answer for line in answers.splitlines() for name, answer in json.loads(line).items()}
    expected = json.loads((INSTANCES / "expected.json").read_text())
    yield f"{len(paths)} instances, by ACE", found == expected
    yield "solutions of ours, by the checker of the competitions", are_accepted(packages)
    done = subprocess.run([sys.executable, ASK, RANDOM_INSTANCES], env=variables)
    yield f"{RANDOM_INSTANCES} random instances, by ACE", done.returncode == 0


def are_accepted(packages: Path) -> bool:
    """Whether the checker that ACE brings takes solutions with `*` and without, and would see a wrong one."""
    (jar,) = packages.glob("pycsp3/solvers/ace/ACE-*.jar")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        instances = [INSTANCES / "golomb.xml", INSTANCES / "queens.xml"]
        for kind, goal in GOALS.items():
            instances.append(folder / f"{kind}.xml")
            instances[-1].write_text(UNNAMED.format(kind, goal))
        answers = [solve(instance) for instance in instances]
        verdicts = [check(jar, *pair, folder) for pair in zip(instances, answers, strict=True)]
        spoilt = check(jar, instances[-1], re.sub("<values> .", "<values> *", answers[-1]), folder)
    return all("\nOK" in verdict for verdict in verdicts) and "\nOK" not in spoilt and "*" in answers[-1]


def solve(instance: Path) -> str:
    variables = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "turbo_fzn", "--arch", "cpu", instance]
    return subprocess.run(command, env=variables, capture_output=True, text=True, timeout=600).stdout


def check(jar: Path, instance: Path, answer: str, folder: Path) -> str:
    """The checker's output for an answer."""
    path = folder / "answer"
    path.write_text(answer)
    command = ["java", "-cp", jar, "org.xcsp.parser.callbacks.SolutionChecker", instance, path]
    return subprocess.run(command, capture_output=True, text=True, timeout=600).stdout


if __name__ == "__main__":
    sys.exit(main())
