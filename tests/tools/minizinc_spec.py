"""MiniZinc's own tests with our solver: `make spec SPEC=FOLDER`, where FOLDER is tests/spec of a clone of libminizinc.

Each model there has its expected results in a YAML header. Take the tag of the release that runs: newer models use
what older releases lack. A case is left out where it is not solved (other types than `solve`), or wants a solver of
another kind, such as one for integer programs alone, or has a checker. Where a model has several solutions, or
several best ones, any of them may be printed: the expected one must be among all of them. A table shows the failures,
those of KNOWN with their reasons; the exit code is 1 where another case fails, or one of KNOWN passes. Needs PyYAML
and MiniZinc.

    python tests/tools/minizinc_spec.py FOLDER --minizinc MINIZINC --only globals
"""

from __future__ import annotations

import argparse
import json
import math
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for who runs it as a script
from turbo_fzn.command.install import install_solver

HEADER = re.compile(r"/\*\*\*\s*\n(.*?)\*\*\*/", re.DOTALL)
LIKE_US = {"gecode", "chuffed"}  # solvers whose cases are ours, too
CONFIGURATION = "turbo.msc"
SECONDS = 60  # of one case; the time limit of the solver is half of it
TOLERANCE = 1e-4  # of floats, which are printed to within a precision
MORE = {"SATISFIED": "-n", "OPTIMAL_SOLUTION": "--optimal-solutions"}  # the flag by which there are more solutions
MOST = 5000  # solutions among which an expected one is looked for

# Cases that fail with MiniZinc 2.6.4 and the headers of its tag, and why.
SAME = "Gecode has as many solutions as we have, and the header another number"
OTHERS = "one of too many solutions, or of infinitely many"
KNOWN = {
    "examples/latin_squares_fd.mzn": OTHERS,
    "examples/magicsq_5.mzn": OTHERS,
    "unit/general/test_queens.mzn": OTHERS,
    "unit/general/test_var_set_element.mzn": OTHERS,
    "unit/regression/bug282.mzn": OTHERS,
    "unit/regression/bug67.mzn": OTHERS,
    "unit/regression/test_parout.mzn:1": OTHERS,
    "unit/regression/bug318_orig.mzn": "unbounded; the header has the least integer of solvers with 32 bits",
    "unit/general/stack_overflow.mzn": "MiniZinc ends with other words, as with Gecode",
    "unit/param_file/param_file_array.mzn": "its parameters are for an executable of Gecode",
    "unit/param_file/param_file_nested_object.mzn": "its parameters are for an executable of Gecode",
    "unit/globals/inverse/inverse_opt.mzn": SAME,
    "unit/globals/subcircuit/test_subcircuit.mzn:1": SAME,
    "unit/optional/test_if_then_else_var_opt_float.mzn": SAME,
}


class Tagged(NamedTuple):
    """A value of a header with a tag of its own, such as !Range."""

    tag: str
    value: Any


class Case(NamedTuple):
    """A test of a model: its name in the table, and the mapping of the header."""

    name: str
    model: Path
    header: dict[str, Any]


class Answer(NamedTuple):
    """The answer of MiniZinc: the solutions as mappings from names; the status; the message of an error, or None."""

    solutions: list[dict[str, Any]]
    status: str
    error: str | None


def headers(text: str) -> Iterator[dict[str, Any]]:
    """The mappings of the cases in the header of a model. Raises yaml.YAMLError."""
    import yaml

    class Loader(yaml.SafeLoader):
        pass

    def tagged(loader: Any, suffix: str, node: Any) -> Tagged:
        kinds = {yaml.MappingNode: loader.construct_mapping, yaml.SequenceNode: loader.construct_sequence}
        if type(node) in kinds:
            return Tagged(suffix, kinds[type(node)](node, deep=True))
        return Tagged(suffix, loader.construct_scalar(node))

    Loader.add_multi_constructor("!", tagged)
    found = HEADER.match(text)
    for document in yaml.load_all(found[1], Loader) if found else ():
        if isinstance(document, Tagged) and document.tag == "Test":
            yield document.value


def cases(folder: Path, only: str) -> Iterator[Case]:
    """The cases that are for us, of the models whose path contains `only`."""
    import yaml

    for path in sorted(folder.rglob("*.mzn")):
        name = path.relative_to(folder).as_posix()
        if only not in name:
            continue
        try:
            found = list(headers(path.read_text(encoding="utf-8", errors="replace")))
        except yaml.YAMLError as error:
            print(f"{name}: its header cannot be read: {str(error).splitlines()[0]}")
            continue
        for number, header in enumerate(found, 1):
            if is_for_us(header):
                yield Case(name if len(found) == 1 else f"{name}:{number}", path, header)


def is_for_us(header: dict[str, Any]) -> bool:
    """Whether a case is solved, by a solver like ours, and its solutions are not judged by a checker of its own."""
    checked = any(".mzc" in name for name in header.get("extra_files") or ())
    solved = header.get("type", "solve") == "solve" and "solver" not in header
    return solved and not checked and bool(LIKE_US & set(header.get("solvers") or LIKE_US))


def flags_of(options: dict[str, Any]) -> Iterator[str]:
    """The options of a header as words of MiniZinc's command line."""
    for name, value in options.items():
        if name == "all_solutions":
            yield from ["-a"] if value else []
        elif name != "timeout":
            yield name if name.startswith("-") else f"--{name}"
            yield from [] if value is True else [str(value)]


def ask(case: Case, minizinc: str, solver: Path, *more: str) -> Answer:
    """The answer of MiniZinc with our solver."""
    data = [str(case.model.parent / name) for name in case.header.get("extra_files") or ()]
    shape = ["--json-stream", "--output-mode", "json", "--output-output-item", "--output-objective"]
    command = [minizinc, "--solver", str(solver), *shape, "-t", str(SECONDS * 500), *more]
    command += [*flags_of(case.header.get("options") or {}), str(case.model), *data]
    try:
        done = subprocess.run(command, cwd=case.model.parent, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return Answer([], "no answer in time", None)
    solutions, status, error = [], None, None
    for line in done.stdout.splitlines():
        message = json.loads(line) if line.startswith("{") else {}
        if message.get("type") == "solution":
            solutions.append(message["output"].get("json", {}))
        elif message.get("type") == "status":
            status = message["status"]
        elif message.get("type") == "error":
            error = str(message.get("message", message))
    if status is None:
        status = "SATISFIED" if solutions else "ERROR" if done.returncode or error is not None else "UNKNOWN"
    return Answer(solutions, status, error or (done.stderr[-200:] if status == "ERROR" else None))


def plain(value: Any) -> Any:
    """A value of MiniZinc's JSON in the form of a header: sets, members of enumerations."""
    if isinstance(value, list):
        return [plain(one) for one in value]
    if not isinstance(value, dict):
        return value
    names = set(value)
    if names == {"set"}:
        return {one for part in value["set"] for one in members(part)}
    if names == {"c", "e"}:
        return (value["c"], plain(value["e"]))
    if names == {"e", "i"}:
        return (value["e"], value["i"])
    return value["e"] if names == {"e"} else {name: plain(one) for name, one in value.items()}


def members(part: Any) -> Any:
    """The members that a part of a set in JSON stands for; a range of floats stays as it is."""
    if not isinstance(part, list):
        return [plain(part)]
    return range(part[0], part[1] + 1) if all(isinstance(end, int) for end in part) else [tuple(part)]


def pairs_up(wanted: Iterable[Any], found: Iterable[Any], fits: Callable[[Any, Any], bool]) -> bool:
    """Whether each of what is wanted fits one of what was found, in any order, and nothing is left."""
    left = list(found)
    for one in wanted:
        place = next((i for i, other in enumerate(left) if fits(one, other)), None)
        if place is None:
            return False
        del left[place]
    return not left


def agrees(wanted: Any, found: Any) -> bool:
    """Whether a value is what the header expects."""
    if isinstance(wanted, Tagged):
        return agrees_with_tag(wanted, found)
    if isinstance(wanted, dict) and isinstance(found, dict):
        return all(name in found and agrees(value, found[name]) for name, value in wanted.items())
    if isinstance(wanted, (list, tuple)) and isinstance(found, (list, tuple)):
        return len(wanted) == len(found) and all(map(agrees, wanted, found))
    if isinstance(wanted, set) and isinstance(found, (set, list)):
        return pairs_up(wanted, found, agrees)
    numbers = all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in (wanted, found))
    if numbers and isinstance(wanted, float):
        return math.isclose(wanted, found, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return bool(wanted == found)


def agrees_with_tag(wanted: Tagged, found: Any) -> bool:
    tag, value = wanted
    if tag == "Range":
        low, high = map(int, value.split(".."))
        return bool(found == set(range(low, high + 1)))
    if tag == "set":
        return agrees(set(value), found)
    if tag == "Trim":
        return isinstance(found, str) and found.strip() == value.strip()
    if tag == "Approx":
        return isinstance(found, (int, float)) and math.isclose(float(value), found, rel_tol=TOLERANCE)
    if tag == "Unordered":
        return isinstance(found, list) and pairs_up(value, found, agrees)
    if tag == "ConstrEnum":
        return agrees((value["constructor"], value["argument"]), found)
    if tag == "AnonEnum":
        return agrees((value["enumName"], value["value"]), found)
    return agrees(value, found)


NAMES = {"_output_item": "_output", "objective": "_objective"}  # of a header, and in MiniZinc's JSON


def is_solution(wanted: Any, found: dict[str, Any]) -> bool:
    """Whether a solution has the values that the header names."""
    values = wanted.value if isinstance(wanted, Tagged) else wanted
    own = {name: plain(value) for name, value in found.items()}
    named = {NAMES.get(name, name): plain(value) for name, value in (values or {}).items()}
    if isinstance(named.get("_output"), str) and "_output" in own:  # a last line may end or not
        named["_output"], own["_output"] = named["_output"].rstrip("\n"), own["_output"].rstrip("\n")
    return agrees(named, own)


def is_expected(wanted: Any, answer: Answer) -> bool:
    """Whether an answer is one result of the header."""
    if isinstance(wanted, Tagged) and wanted.tag == "Error":
        details = wanted.value if isinstance(wanted.value, dict) else {}
        pattern = details.get("regex") or re.escape(details.get("message") or "")
        return answer.error is not None and re.search(pattern, answer.error) is not None
    details = (wanted.value or {}) if isinstance(wanted, Tagged) else wanted
    if not isinstance(details, dict) or answer.error is not None:
        return False
    if "status" in details and details["status"] != answer.status:
        return False
    if "solution" not in details:
        return True
    solution = details["solution"]
    if isinstance(solution, list) or (isinstance(solution, Tagged) and solution.tag == "SolutionSet"):
        every = solution.value if isinstance(solution, Tagged) else solution
        return pairs_up(every, answer.solutions, is_solution)
    return bool(answer.solutions) and is_solution(solution, answer.solutions[-1])


def fault(case: Case, minizinc: str, solver: Path) -> str | None:
    """The difference between a case's answer and all of its expected results; None where it is one of them."""
    expected = case.header.get("expected")
    wanted = expected if isinstance(expected, list) else [expected]
    answer = ask(case, minizinc, solver)
    if any(is_expected(one, answer) for one in wanted):
        return None
    if answer.status in MORE and answer.solutions:
        every = ask(case, minizinc, solver, MORE[answer.status], str(MOST)).solutions
        if any(is_expected(one, answer._replace(solutions=[solution])) for one in wanted for solution in every):
            return None
    if answer.error is not None:
        return f"error: {' '.join(answer.error.split())[:150]}"
    return f"{answer.status}, last solution {json.dumps(answer.solutions[-1:])[:150]}"


def table(faults: dict[str, str | None]) -> int:
    """Prints the failures, and returns the number of unexpected outcomes."""
    unexpected = 0
    reasons: Counter[str] = Counter()
    for name, found in faults.items():
        reason = KNOWN.get(name)
        if found is not None and reason is not None:
            reasons[reason] += 1
            print(f"expected | {name} | {reason}")
        elif found is not None or reason is not None:
            unexpected += 1
            print(f"UNEXPECTED | {name} | {found or 'passes, but is in KNOWN'}")
    for reason, number in reasons.most_common():
        print(f"{number} failures: {reason}")
    passed = sum(found is None for found in faults.values())
    print(f"{passed} of {len(faults)} cases as their headers expect, {unexpected} unexpected outcomes")
    return unexpected


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minizinc", default="minizinc", help="the executable (default: minizinc)")
    parser.add_argument("--only", default="", help="models whose path contains this")
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    chosen = list(cases(given.folder.resolve(), given.only))
    if not chosen:
        sys.exit(f"{given.folder}: no cases; the folder is tests/spec of libminizinc")
    with tempfile.TemporaryDirectory() as solvers, ThreadPoolExecutor(given.processes) as pool:
        install_solver(Path(solvers))
        solver = Path(solvers) / CONFIGURATION
        found = pool.map(lambda case: fault(case, given.minizinc, solver), chosen)
        faults = dict(zip((case.name for case in chosen), found))
    sys.exit(1 if table(faults) else 0)


if __name__ == "__main__":
    main()
