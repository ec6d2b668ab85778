"""The order of the stages: imports go downwards only, never round in a circle, and the check stands apart.

And the rules of style that house.py looks after (`make check`): what breaks them is seen.
"""

import ast
from pathlib import Path

import pytest

import turbo_fzn

PACKAGE = Path(turbo_fzn.__file__).parent

# From the ground up, for the package and for a folder in it that has rooms of its own. A module may import from its own
# floor and from those below. What is no folder stands here by its file's name.
PACKAGE_FLOORS = (
    ("version", "tuning", "process"),
    ("base",),
    ("predicates", "read"),
    ("options", "tnf", "check"),
    ("engine", "lower", "symmetry"),
    ("bounds", "proof", "ranks"),
    ("run",),
    ("explain", "report"),
    ("interface",),
    ("__init__", "command", "cpmpy"),
    ("__main__",),
)
ENGINE_FLOORS = (
    ("tuning", "variants"),
    ("abi", "contract", "toolchain"),
    ("layout",),
    ("figures", "library", "logged", "parcels", "posted", "ring"),
    ("root", "cpu", "cuda"),
    ("hybrid", "probing"),
    ("together",),
)
BOUNDS_FLOORS = (
    ("lp",),
    ("rows", "cuts"),
    ("prove",),
    ("reals",),
    ("search",),
    ("thread",),
)
RUN_FLOORS = (
    ("tuning",),
    ("prepared", "machine", "roles", "projection", "refinement", "interruptible", "exact", "proving"),
    ("answer", "arrangement", "policy", "presolve", "profiler"),
    ("judge", "prepare"),
    ("bounding", "unbounded"),
    ("real_bounding", "stated_bounding", "turns"),
    ("engines",),
    ("search",),
    ("driver",),
)
FLOORS = {"": PACKAGE_FLOORS, "engine": ENGINE_FLOORS, "bounds": BOUNDS_FLOORS, "run": RUN_FLOORS}


# What the check of solutions may know beside itself: nothing of the way to a solution but the parsed model, and the
# signatures of predicates, which say nothing of what these mean.
SIGNATURES = {f"predicates.{name}" for name in ("builtins", "floats", "globals", "signature", "sizes", "table")}
KNOWN_TO_THE_CHECK = {"base.domains", "base.errors", "read.model"} | SIGNATURES


def modules() -> dict[str, Path]:
    """Dotted name within the package -> file; a package goes by its folder's name."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)] = path
    return found


def imports(path: Path, known: set[str]) -> set[str]:
    """The modules of ours that a file imports anywhere, also within functions and for type checkers."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.removeprefix("turbo_fzn.") for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("turbo_fzn"):
            package = node.module.removeprefix("turbo_fzn").removeprefix(".")
            inside = {f"{package}.{alias.name}".removeprefix(".") for alias in node.names}
            names |= {name if name in known else package or "__init__" for name in inside}
    return names & known


def room_of(name: str, folder: str) -> str:
    """What stands directly in a folder ("" is the package) and is this module or has it; empty: it is elsewhere."""
    inside = name if not folder else name.removeprefix(f"{folder}.") if name.startswith(f"{folder}.") else ""
    return inside.partition(".")[0]


def rooms(graph: dict[str, set[str]], folder: str) -> dict[str, set[str]]:
    """Which rooms of a folder import which others."""
    found: dict[str, set[str]] = {room_of(name, folder): set() for name in graph if room_of(name, folder)}
    for name, others in graph.items():
        if room := room_of(name, folder):
            found[room] |= {room_of(other, folder) for other in others} - {"", room}
    return found


def upward(graph: dict[str, set[str]]) -> list[str]:
    """The imports that go up, in the package or among the rooms of a folder."""
    found = []
    for folder, floors in FLOORS.items():
        level = {room: number for number, names in enumerate(floors) for room in names}
        inside = {name: level[room] for name in graph if (room := room_of(name, folder))}
        pairs = [(name, other) for name in inside for other in graph[name] if other in inside]
        found += [f"{name} imports {other}" for name, other in pairs if inside[other] > inside[name]]
    return found


def circles(graph: dict[str, set[str]]) -> list[str]:
    """The modules that import themselves in the end."""

    def reached(name: str) -> set[str]:
        seen: set[str] = set()
        ahead = set(graph[name])
        while ahead:
            seen |= ahead
            ahead = {other for module in ahead for other in graph[module]} - seen
        return seen

    return sorted(name for name in graph if name in reached(name))


def reached_from(graph: dict[str, set[str]], names: set[str]) -> set[str]:
    """These modules and all that they import, however far away."""
    reached, ahead = set(names), set(names)
    while ahead:
        ahead = {other for name in ahead for other in graph[name]} - reached
        reached |= ahead
    return reached


def known_to_the_check(graph: dict[str, set[str]]) -> set[str]:
    """All modules that those of `check` import, beside themselves."""
    reached = reached_from(graph, {name for name in graph if name.partition(".")[0] == "check"})
    return {name for name in reached if name.partition(".")[0] != "check"}


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    found = modules()
    return {name: imports(path, set(found)) for name, path in found.items()}


@pytest.mark.parametrize("folder", FLOORS)
def test_every_room_has_its_floor(graph, folder):
    named = [name for floor in FLOORS[folder] for name in floor]
    assert len(named) == len(set(named))
    assert set(rooms(graph, folder)) == set(named)


def test_imports_go_downwards(graph):
    assert upward(graph) == []


def test_no_imports_go_round_in_a_circle(graph):
    assert circles(graph) == []


@pytest.mark.parametrize("folder", FLOORS)
def test_no_rooms_import_each_other_in_a_circle(graph, folder):
    assert circles(rooms(graph, folder)) == []


def test_the_check_imports_nothing_of_the_way_that_it_checks(graph):
    assert known_to_the_check(graph) == KNOWN_TO_THE_CHECK
    assert "lower.builder" in known_to_the_check({**graph, "check.tables": {"lower.scope"}})


def test_the_checker_of_proofs_is_two_files(graph):
    checker = {"proof.checker", "proof.constraints"}
    assert reached_from(graph, {"proof.checker"}) == checker
    assert reached_from({**graph, "proof.constraints": {"proof.log"}}, {"proof.checker"}) > checker


def test_an_upward_import_and_a_circle_would_be_seen(graph):
    assert upward({**graph, "tnf.language": {"run.search"}}) == ["tnf.language imports run.search"]
    of_the_engine = {**graph, "engine.abi.records": {"engine.cpu"}}
    assert upward(of_the_engine) == ["engine.abi.records imports engine.cpu"]
    assert {"abi", "cpu", "layout"} <= set(circles(rooms(of_the_engine, "engine")))
    assert {"tnf.columns", "tnf.simplify"} <= set(
        circles({**graph, "tnf.columns": graph["tnf.columns"] | {"tnf.simplify"}})
    )


def test_an_import_for_type_checkers_counts(tmp_path):
    path = tmp_path / "typed.py"
    path.write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from turbo_fzn.run.search import Search\n"
    )
    assert imports(path, {"run.search"}) == {"run.search"}


@pytest.mark.parametrize("suffix", ["py", "h"])
def test_what_is_longer_than_the_rules_allow_is_seen(suffix, tmp_path, monkeypatch):
    from tools import house

    monkeypatch.setattr(house, "ROOT", tmp_path)
    texts = {"py": ("def f(x):", "    x += 1", "    return x"), "h": ("int f(int x) {", "    ++x;", "}")}
    begin, line, end = texts[suffix]
    for name, more in (("right", 0), ("wrong", 1)):
        function = [begin, *[line] * (house.FUNCTION_LINES - 2 + more), end]
        wide = ("# " if suffix == "py" else "//").ljust(house.LINE_CHARACTERS + more, "x")
        lines = [*function, wide, *[""] * (house.FILE_LINES - len(function) - 1 + more)]
        (tmp_path / f"{name}.{suffix}").write_text("\n".join(lines) + "\n")
    assert list(house.too_long([tmp_path / f"right.{suffix}"])) == []
    assert list(house.too_long([tmp_path / f"wrong.{suffix}"])) == [
        f"wrong.{suffix}: 401 lines, more than 400",
        f"wrong.{suffix}:42: 121 characters, more than 120",
        f"wrong.{suffix}: f: 41 lines, more than 40",
    ]


def test_no_docstring_leaves_its_subject_to_another_one(tmp_path, monkeypatch):
    from tools import house

    assert list(house.vague(house.python_files(*house.PYTHON))) == []
    monkeypatch.setattr(house, "ROOT", tmp_path)
    docstrings = ["The same.", "Of\nwhich some.", "Those that hold.", "As above.", "Offers a sum.", "A sum, as above."]
    text = "\n".join(f'"""{docstring}"""\nx = "Of no interest"' for docstring in docstrings)
    (tmp_path / "module.py").write_text(text)
    found = list(house.vague([tmp_path / "module.py"]))
    assert [complaint.rsplit("begins with ")[1] for complaint in found] == [
        "'The same.'", "'Of which some.'", "'Those that hold.'", "'As above.'",
    ]  # fmt: skip


def test_no_file_names_a_place_in_somebodys_checkout(tmp_path, monkeypatch):
    from tools import house

    assert list(house.elsewhere(house.text_files())) == []
    monkeypatch.setattr(house, "ROOT", tmp_path)
    (tmp_path / "docs").mkdir()
    place = "/".join(("", "home", "me", "tests", ""))
    (tmp_path / "docs" / "page.md").write_text(f"tests/data/x.mzn\nhttps://host/tests/x\nx\t{place}x.mzn|5\n")
    (tmp_path / "picture.png").write_bytes(b"\0" + place.encode())
    found = list(house.elsewhere(house.text_files()))
    assert found == [f"docs/page.md:3: {place} is a place in somebody's checkout"]
