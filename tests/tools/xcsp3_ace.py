"""ACE (Lecoutre, arXiv 2302.05405), the solver in PyPI's pycsp3, as an oracle: many instances in one run of Java.

python tests/tools/xcsp3_ace.py 2000 [SEED]    # until so many random instances are solved by both; what disagrees,
                                               # and who is wrong by enumeration; exit code 1 where we are
python tests/tools/xcsp3_ace.py FILE...        # status and optimum of these by ACE, as expected.json has them
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for who runs it as a script
if TYPE_CHECKING:
    from support.xcsp3_random import Instance
    from turbo_fzn.interface.api import Result

HERE = Path(__file__).resolve().parent
FILES_FOR_EACH_JAVA = 80
WE_ARE = "we are"


class Verdict(NamedTuple):
    """`status` as in the competitions, or "" where ACE has not searched the whole space; `said`, the same all the same;
    `best` the last objective; `solutions` as the values of the variables by name, without those that ACE leaves out."""

    status: str
    said: str
    best: int | None
    solutions: list[dict[str, int]]


def find_jar() -> Path | None:
    spec = importlib.util.find_spec("pycsp3")
    folder = Path(spec.origin).parent if spec and spec.origin else None
    return next(folder.glob("solvers/ace/ACE-*.jar"), None) if folder else None


def ask(paths: Iterable[Path], *options: str) -> dict[str, Verdict]:
    """ACE's answers to the files. A Java process gets only some of them, since ACE keeps what it has solved."""
    every = list(paths)
    verdicts: dict[str, Verdict] = {}
    for start in range(0, len(every), FILES_FOR_EACH_JAVA):
        verdicts |= ask_one(every[start : start + FILES_FOR_EACH_JAVA], *options)
    return verdicts


def ask_one(paths: list[Path], *options: str) -> dict[str, Verdict]:
    jar = find_jar()
    assert jar is not None
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as listing:
        listing.write("\n".join(str(path) for path in paths))
        listing.flush()
        java = ["java", "-XX:+UseSerialGC", "-Djava.security.manager=allow", "-cp", str(jar)]
        command = [*java, str(HERE / "AceMany.java"), listing.name, "-npc", *options]
        text = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    parts = [part.partition("\n") for part in text.split("\nFILE ")[1:]]
    return {path: read_verdict(body) for path, _, body in parts}


def read_verdict(body: str) -> Verdict:
    status = re.search(r"^s (.*)$", body, re.MULTILINE)
    bests = re.findall(r"^o (-?\d+)", body, re.MULTILINE)
    found = re.findall(r"^v .*<list>(.*)</list> <values>(.*)</values>", body, re.MULTILINE)
    complete = status is not None and "\nd COMPLETE EXPLORATION" in body
    said = status[1].strip() if status else ""
    return Verdict(
        said if complete else "",
        said,
        int(bests[-1]) if bests else None,
        [instantiation(names.split(), values.split()) for names, values in found],
    )


def instantiation(names: list[str], words: list[str]) -> dict[str, int]:
    """`x[] y` and `1x3 * 2`: the only array, if there is one, is as long as is left for it."""
    values: list[str] = []
    for word in words:
        value, _, count = word.partition("x")
        values += [value] * int(count or 1)
    n = len(values) - len(names) + 1
    flat = [one for name in names for one in ([f"x[{i}]" for i in range(n)] if name == "x[]" else [name])]
    return {name: int(value) for name, value in zip(flat, values) if value != "*"}


def disagreements(seeds: Iterable[int]) -> tuple[int, list[str]]:
    """How many instances both have solved, and one line for each on which they disagree."""
    from support.xcsp3_random import random_instance

    instances = {seed: random_instance(seed, core=True) for seed in seeds}
    with tempfile.TemporaryDirectory() as folder:
        paths = {seed: Path(folder) / f"random{seed}.xml" for seed in instances}
        for seed, path in paths.items():
            path.write_text(instances[seed].text)
        verdicts = ask(paths.values(), "-s=all", "-xe")
    compared, found = 0, []
    for seed, instance in instances.items():
        verdict = verdicts.get(str(paths[seed]), Verdict("", "", None, []))
        compared += bool(verdict.status)
        if verdict.status and not agree(instance, verdict):
            who = "ACE is wrong" if is_right(instance) else WE_ARE
            found.append(f"seed {seed}: {', '.join(instance.forms)}; by enumeration {who}")
    return compared, found


def solved(instance: Instance) -> Result:
    from turbo_fzn.interface.api import solve_model
    from turbo_fzn.read.xcsp3.reader import parse_xcsp3

    return solve_model(parse_xcsp3(instance.text), arch="cpu", all_solutions=not instance.goal, check=True)


def is_right(instance: Instance) -> bool:
    """Whether our answer is that of enumeration, which knows neither solver."""
    from turbo_fzn.read.xcsp3.reader import SOLUTION

    result = solved(instance)
    if instance.goal:
        return result.objective == instance.best()
    return {tuple(one[SOLUTION]) for one in result.solutions} == {tuple(v.values()) for v in instance.solutions()}


def agree(instance: Instance, verdict: Verdict) -> bool:
    from turbo_fzn.read.xcsp3.reader import SOLUTION

    result = solved(instance)
    if verdict.status == "UNSATISFIABLE" or instance.goal:
        return result.objective == verdict.best and bool(result.solutions) == (verdict.status != "UNSATISFIABLE")
    if not verdict.solutions:  # ACE left out all variables: any assignment is a solution
        return bool(result.solutions)
    names = [name for name in instance.draw.domains if name in verdict.solutions[0]]
    theirs = {tuple(solution[name] for name in names) for solution in verdict.solutions}
    place = {name: i for i, name in enumerate(instance.draw.domains)}
    ours = {tuple(solution[SOLUTION][place[name]] for name in names) for solution in result.solutions}
    return ours == theirs


def main(arguments: list[str]) -> int:
    if arguments and arguments[0].isdigit():
        wanted, seed = int(arguments[0]), int(arguments[1]) if len(arguments) > 1 else 0
        compared, every, ours = 0, 0, 0
        while compared < wanted:
            more, found = disagreements(range(seed, seed + FILES_FOR_EACH_JAVA))
            compared, every, seed = compared + more, every + len(found), seed + FILES_FOR_EACH_JAVA
            ours += sum(line.endswith(WE_ARE) for line in found)
            summary = f"{compared} instances by both, up to seed {seed}; {every} disagreements"
            print(*found, summary, sep="\n", flush=True)
        return 1 if ours else 0
    for path, verdict in ask(map(Path, arguments), "-t=120s").items():
        is_enough = verdict.best is None and verdict.said == "SATISFIABLE"  # without an objective
        print(json.dumps({Path(path).name: [verdict.said if is_enough else verdict.status, verdict.best]}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
