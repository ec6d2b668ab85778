"""The order of the stages: imports go downwards only, never round in a circle, and the check stands apart.

And the rules of style that house.py looks after (`make check`): what is longer than they allow is seen.
"""

import ast
from pathlib import Path

import pytest

import turbo_fzn

PACKAGE = Path(turbo_fzn.__file__).parent

# From the ground up. A module may import from its own floor and from those below. What is no folder stands here by its
# file's name.
FLOORS = (
    ("process",),
    ("errors", "domains", "floats", "collector", "memory", "progress", "resources", "cache", "spellings", "limits"),
    ("predicates",),
    ("read",),
    ("tnf",),
    ("lower", "symmetry"),
    ("check",),
    ("engine",),
    ("options", "ranks"),
    ("bounds",),
    ("run",),
    ("report",),
    ("settings", "bench", "info", "install", "manual", "messages", "answering"),
    ("api",),
    ("doctor", "reference"),
    ("actions",),
    ("__init__", "cli", "__main__"),
)


# What the check of solutions may know beside itself: nothing of the way to a solution but the parsed model, and the
# signatures of predicates, which say nothing of what these mean.
SIGNATURES = {f"predicates.{name}" for name in ("builtins", "floats", "globals", "signature", "sizes", "table")}
KNOWN_TO_THE_CHECK = {"domains", "errors", "read.model"} | SIGNATURES


def modules() -> dict[str, Path]:
    """Dotted name within the package -> file; a package goes by its folder's name."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)] = path
    return found


def imports(path: Path, known: set[str], types: bool) -> set[str]:
    """The modules of ours that a file imports anywhere, also within functions; and for type checkers, with `types`."""
    names = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types = [node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)]
    left_out = set() if types else {inner for node in for_types for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if node in left_out:
            continue
        if isinstance(node, ast.Import):
            names |= {alias.name.removeprefix("turbo_fzn.") for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("turbo_fzn"):
            package = node.module.removeprefix("turbo_fzn").removeprefix(".")
            inside = {f"{package}.{alias.name}".removeprefix(".") for alias in node.names}
            names |= {name if name in known else package for name in inside}
    return names & known


def upward(graph: dict[str, set[str]]) -> list[str]:
    """The imports that go up."""
    floor = {name: number for number, names in enumerate(FLOORS) for name in names}
    level = {name: floor[name.partition(".")[0]] for name in graph}
    return [
        f"{name} imports {other}" for name, others in graph.items() for other in others if level[other] > level[name]
    ]


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


def known_to_the_check(graph: dict[str, set[str]]) -> set[str]:
    """All modules that those of `check` import, however far away."""
    reached = {name for name in graph if name.partition(".")[0] == "check"}
    ahead = set(reached)
    while ahead:
        ahead = {other for name in ahead for other in graph[name]} - reached
        reached |= ahead
    return {name for name in reached if name.partition(".")[0] != "check"}


def graph_of_imports(types: bool) -> dict[str, set[str]]:
    found = modules()
    return {name: imports(path, set(found), types) for name, path in found.items()}


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    return graph_of_imports(types=True)


def test_every_module_has_its_floor(graph):
    named = [name for floor in FLOORS for name in floor]
    assert len(named) == len(set(named))
    assert {name.partition(".")[0] for name in graph} <= set(named)


def test_imports_go_downwards(graph):
    assert upward(graph) == []


def test_no_imports_go_round_in_a_circle():
    assert circles(graph_of_imports(types=False)) == []


def test_the_check_imports_nothing_of_the_way_that_it_checks(graph):
    assert known_to_the_check(graph) == KNOWN_TO_THE_CHECK
    assert "lower.builder" in known_to_the_check({**graph, "check.tables": {"lower.scope"}})


def test_an_upward_import_and_a_circle_would_be_seen(graph):
    assert upward({**graph, "tnf.language": {"run.search"}}) == ["tnf.language imports run.search"]
    assert {"tnf.columns", "tnf.simplify"} <= set(
        circles({**graph, "tnf.columns": graph["tnf.columns"] | {"tnf.simplify"}})
    )


@pytest.mark.parametrize("suffix", ["py", "h"])
def test_what_is_longer_than_the_rules_allow_is_seen(suffix, tmp_path, monkeypatch):
    import house

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
