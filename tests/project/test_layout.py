"""Where tests stand (tests/README.md): each in its folder, under a name of its own, and none imports another."""

from __future__ import annotations

import re

from support.places import ROOT, TESTS

PLACES = {"answers", "command", "kernels", "lab", "project", "unit"}
NAMED = {  # folder of modules -> folder of their tests
    "turbo_fzn/lower/globals": "unit/lower",
    "turbo_fzn/ranks": "unit/ranks",
    "turbo_fzn/report": "unit/report",
    "kernels/learn/propagators": "kernels",
}
ELSEWHERE = {  # module without a test of its name -> the test that has it meanwhile
    "test_globals.py": "automata counting different graph logic order sort reachability",
    "test_large_cumulative.py": "packing scheduling time_table",
    "test_tables.py": "own table table_forms",
    "test_table_pairs.py": "table_plan table_relation",
    "test_policy.py": "job",
    "test_ranks_apart.py": "serve",
    "test_constants.py": "tuning",
    "test_bench_pages.py": "charts html",
    "test_wide_rows.py": "all_different circuit cumulative element energy reachable time_table delay kinds wide",
    "test_linear_rows.py": "linear",
    "test_posted_rows.py": "posted",
    "test_objective_cores.py": "counters",
    "test_learning.py": "advance check priority wake",
    "test_explanations.py": "oracle resolvent",
}
OF_TESTS = re.compile(r"^ *(?:from|import) +((?:[\w.]*\.)?(?:test_\w+|conftest))\b", re.MULTILINE)


def test_every_test_stands_in_a_folder_that_the_readme_names():
    folders = {path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")}
    assert {folder.parts[:1] for folder in folders} == {(place,) for place in PLACES}
    assert [str(folder) for folder in folders if len(folder.parts) > 1 and folder.parts[0] != "unit"] == []
    readme = (TESTS / "README.md").read_text(encoding="utf-8")
    assert [place for place in PLACES if f"- `{place}/" not in readme] == []


def test_a_folder_of_unit_tests_has_the_name_of_one_of_the_package():
    folders = [path.parent.relative_to(TESTS / "unit") for path in (TESTS / "unit").rglob("test_*.py")]
    assert folders and [str(folder) for folder in folders if not (ROOT / "turbo_fzn" / folder).is_dir()] == []


def test_no_two_tests_have_one_name():
    """Pytest imports them by it; mutations and documents name them so."""
    names = [path.name for path in TESTS.rglob("test_*.py")]
    assert sorted(name for name in set(names) if names.count(name) > 1) == []


def test_a_module_has_a_test_of_its_name_or_a_place_in_the_list_of_those_without():
    without = [
        path.stem
        for folder, tests in NAMED.items()
        for path in (ROOT / folder).iterdir()
        if path.suffix in (".py", ".h") and path.stem != "__init__"
        if not (TESTS / tests / f"test_{path.stem}.py").exists()
    ]
    assert sorted(" ".join(ELSEWHERE.values()).split()) == sorted(without)
    assert sorted(ELSEWHERE.keys() - {path.name for path in TESTS.rglob("test_*.py")}) == []


def test_nothing_imports_a_test():
    """Not even within the scripts that tests have as strings."""
    found = {path: OF_TESTS.findall(path.read_text(encoding="utf-8")) for path in TESTS.rglob("*.py")}
    assert [f"{path.relative_to(TESTS)} imports {name}" for path, names in found.items() for name in names] == []


def test_an_import_of_a_test_would_be_seen():
    text = "import test_a\n    from unit.test_b import c\nfrom .conftest import d\nfrom support.test import e\n"
    assert OF_TESTS.findall(text) == ["test_a", "unit.test_b", ".conftest"]
