"""The order of the stages: imports go downwards only, and never round in a circle."""

import ast
from pathlib import Path

import pytest

import turbo_fzn

PACKAGE = Path(turbo_fzn.__file__).parent

# From the ground up. A module may import from its own floor and from those below. What is no folder stands here by its
# file's name.
FLOORS = (
    ("errors", "domains", "collector", "interrupt", "progress", "resources", "cache", "spellings", "options"),
    ("streams", "worker"),
    ("read",),
    ("tnf",),
    ("lower",),
    ("check",),
    ("engine",),
    ("bounds",),
    ("run",),
    ("api", "bench", "info", "install"),
    ("__init__", "cli", "__main__"),
)


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


def test_an_upward_import_and_a_circle_would_be_seen(graph):
    assert upward({**graph, "tnf.language": {"run.search"}}) == ["tnf.language imports run.search"]
    assert {"tnf.columns", "tnf.simplify"} <= set(
        circles({**graph, "tnf.columns": graph["tnf.columns"] | {"tnf.simplify"}})
    )
