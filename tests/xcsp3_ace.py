"""ACE (Lecoutre, arXiv 2302.05405), the solver in PyPI's pycsp3, as an oracle: many instances in one run of Java.

    python tests/xcsp3_ace.py 2000 [SEED]    # as many random instances, solved by both; prints what disagrees
    python tests/xcsp3_ace.py FILE...        # status and optimum of these by ACE, as tests/xcsp3/expected.json has them
"""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent


class Verdict(NamedTuple):
    """`status` as in the competitions, or "" where ACE refused; `best` the last objective; `count` solutions found."""

    status: str
    best: int | None
    count: int | None


def find_jar() -> Path | None:
    spec = importlib.util.find_spec("pycsp3")
    folder = Path(spec.origin).parent if spec and spec.origin else None
    return next(folder.glob("solvers/ace/ACE-*.jar"), None) if folder else None


def is_there() -> bool:
    return shutil.which("java") is not None and find_jar() is not None


def ask(paths: Iterable[Path], *options: str) -> dict[str, Verdict]:
    """What ACE says of each file."""
    jar = find_jar()
    assert jar is not None
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as listing:
        listing.write("\n".join(str(path) for path in paths))
        listing.flush()
        command = ["java", "-XX:+UseSerialGC", "-Djava.security.manager=allow", "-cp", str(jar), str(HERE / "AceMany.java"), listing.name, "-npc", *options]
        text = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    verdicts = {}
    for part in text.split("\nFILE ")[1:]:
        path, _, body = part.partition("\n")
        status = re.search(r"^s (.*)$", body, re.MULTILINE)
        bests = re.findall(r"^o (-?\d+)", body, re.MULTILINE)
        count = re.search(r"^d FOUND SOLUTIONS\s+(\d+)", body, re.MULTILINE)
        complete = "COMPLETE EXPLORATION" in body
        verdicts[path] = Verdict(
            status[1].strip() if status and complete else "", int(bests[-1]) if bests else None, int(count[1]) if count else None
        )
    return verdicts


def disagreements(seeds: Iterable[int]) -> tuple[int, list[str]]:
    """How many instances both have solved, and one line for each on which they disagree."""
    from turbo_fzn.api import solve_model
    from turbo_fzn.read.xcsp3.reader import parse_xcsp3
    from xcsp3_random import random_instance

    instances = {seed: random_instance(seed, core=True) for seed in seeds}
    with tempfile.TemporaryDirectory() as folder:
        paths = {seed: Path(folder) / f"random{seed}.xml" for seed in instances}
        for seed, path in paths.items():
            path.write_text(instances[seed].text)
        verdicts = ask(paths.values(), "-s=all")
    compared, found = 0, []
    for seed, instance in instances.items():
        verdict = verdicts.get(str(paths[seed]), Verdict("", None, None))
        if not verdict.status:
            continue
        compared += 1
        result = solve_model(parse_xcsp3(instance.text), arch="cpu", all_solutions=not instance.goal, check=True)
        ours = result.objective if instance.goal else len(result.solutions) // instance.unused()
        theirs = verdict.best if instance.goal else verdict.count
        if verdict.status == "UNSATISFIABLE":
            theirs = None if instance.goal else 0
        if ours != theirs:
            found.append(f"seed {seed}: {ours}, and {theirs} by ACE")
    return compared, found


def main(arguments: list[str]) -> int:
    if arguments and arguments[0].isdigit():
        first = int(arguments[1]) if len(arguments) > 1 else 0
        compared, found = disagreements(range(first, first + int(arguments[0])))
        print("\n".join(found))
        print(f"{compared} of {arguments[0]} instances were solved by ACE; {len(found)} disagreements")
        return 1 if found else 0
    for path, verdict in ask(map(Path, arguments), "-t=120s").items():
        print(json.dumps({Path(path).name: [verdict.status, verdict.best]}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
