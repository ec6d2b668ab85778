"""The table of predicates: nothing that a row needs is missing, what it says is true, and the library is printed of it.

A new predicate is a row of turbo_fzn/predicates; `missing` says what else it needs, and where.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from fuzz import global_calls
from fuzz.drawer import Drawer
from fuzz.generate import declare_variables
from fuzz.scope import Scope, resolve
from support import builtin_cases, oracle, symmetric_models
from support.global_meanings import GLOBAL_MEANINGS
from turbo_fzn.base.resources import share_folder
from turbo_fzn.bounds.rows import linearise
from turbo_fzn.check import column_relations, reals, relations
from turbo_fzn.lower import globals as globals_folder
from turbo_fzn.lower import table as lowering
from turbo_fzn.lower.families import FAMILIES, FLOAT_FAMILY, NARROWING, table_of
from turbo_fzn.predicates import __main__ as command
from turbo_fzn.predicates.builtins import BUILTINS
from turbo_fzn.predicates.floats import FLOATS
from turbo_fzn.predicates.globals import GLOBALS, PREFIX, XCSP3
from turbo_fzn.predicates.minizinc import BY_HAND, library, statement
from turbo_fzn.predicates.signature import PLAIN, REIFIED, Predicate, row
from turbo_fzn.predicates.table import FORMS, PREDICATES, find
from turbo_fzn.read.model import Model

LIBRARY = share_folder() / "minizinc" / "turbo"
DOCUMENT = share_folder().parent / "docs" / "design" / "globals.md"


# ---- what a predicate needs


def documented() -> set[str]:
    """The words of the first column of the table of forms."""
    _, _, section = DOCUMENT.read_text(encoding="utf-8").partition("\n## Forms\n")
    cells = re.findall(r"^\| ([^|]*) \|", section.partition("\n## ")[0], re.MULTILINE)
    return set(re.findall(r"\w+", " ".join(cells)))


Ways = list[set[str]]  # of which one is enough, with all of its names


def own_name(one: Predicate) -> Ways:
    return [{one.name}]


def name_or_forms(one: Predicate) -> Ways:
    """Floats are drawn by test_float_models.py, what only XCSP3 has by xcsp3_draw.py."""
    if one in GLOBALS:
        return [{one.name}]
    plain, _, _ = one.name.partition("/")
    return [{one.name}, {plain + suffix for suffix in one.forms}] if one in BUILTINS else []


def name_or_forms_or_either(one: Predicate) -> Ways:
    """A meaning may take arguments of two numbers."""
    ways = name_or_forms(one)
    return [*ways, {one.name.partition("/")[0]}] if ways else []


def files_of(one: Predicate) -> Ways:
    files = {f"fzn_{face.file}{suffix}.mzn" for face in one.faces for suffix in (PLAIN, REIFIED)}
    return [files or {f"fzn_{one.name}.mzn"}] if one in GLOBALS else []


def names_in_the_docs(one: Predicate) -> Ways:
    """Our name or MiniZinc's, with the kind of its elements or without."""
    names = {one.name.removeprefix(PREFIX), *(face.name for face in one.faces)}
    names |= {re.sub("_(int|bool)$", "", name) for name in names}
    return [{name} for name in names] if one in GLOBALS else []


class Place(NamedTuple):
    """Where something stands for each predicate: under which names, and which of these a predicate needs."""

    what: str
    names: set[str]
    needed: Callable[[Predicate], Ways]


PLACES = [
    Place("no lowering in turbo_fzn/lower (table.py, or a family of globals/)", {*lowering.CONSTRAINTS}, own_name),
    Place("no meaning in turbo_fzn/check", {*relations.RELATIONS, *reals.RELATIONS}, own_name),
    Place("no file in share/minizinc/turbo", {path.name for path in LIBRARY.glob("*.mzn")}, files_of),
    Place(
        "no drawer of arguments in tests/support/builtin_cases.py or tests/fuzz/global_calls.py",
        {*builtin_cases.PREDICATES, *global_calls.CALLS},
        name_or_forms,
    ),
    Place(
        "no meaning in other words in tests/support/oracle.py or tests/support/global_meanings.py",
        {*oracle.MEANING},
        name_or_forms_or_either,
    ),
    Place("no row in the table of forms of docs/design/globals.md", documented(), names_in_the_docs),
]


def missing(one: Predicate, places: list[Place]) -> list[str]:
    found = [(place.what, place.names, place.needed(one)) for place in places]
    return [f"{one.name}: {what}" for what, names, ways in found if ways and not any(way <= names for way in ways)]


def test_nothing_is_missing_for_any_predicate():
    assert [line for one in PREDICATES.values() for line in missing(one, PLACES)] == []


@pytest.mark.parametrize("number", range(len(PLACES)))
def test_what_is_missing_for_a_predicate_is_named(number):
    place, n_tried = PLACES[number], 0
    for one in PREDICATES.values():
        if ways := place.needed(one):
            without = place._replace(names=place.names - {min(way) for way in ways})
            assert missing(one, [*PLACES[:number], without, *PLACES[number + 1 :]]) == [f"{one.name}: {place.what}"]
            n_tried += 1
    assert n_tried >= len(GLOBALS)


def test_no_predicate_has_two_rows():
    assert len(PREDICATES) == sum(map(len, (BUILTINS, FLOATS, GLOBALS, XCSP3)))
    lowered = [table_of(f"turbo_fzn.lower.globals.{family}", "LOWERINGS") for family in FAMILIES]
    assert len(set().union(*lowered)) == sum(map(len, lowered))


@pytest.mark.parametrize(("names", "table"), [(FAMILIES, "LOWERINGS"), (NARROWING, "NARROWERS")])
def test_the_families_are_listed_with_all_their_predicates(names, table):
    modules = [path.stem for path in Path(globals_folder.__path__[0]).glob("*.py") if table in path.read_text()]
    found = {module: table_of(f"turbo_fzn.lower.globals.{module}", table) for module in modules}
    listed = {family: [PREFIX + name for name in text.split()] for family, text in names.items()}
    assert {family: sorted(names) for family, names in listed.items()} == {one: sorted(found[one]) for one in found}
    assert table_of(FLOAT_FAMILY, "LOWERINGS").keys() == {one.name for one in FLOATS}


def test_tables_beside_name_only_predicates_that_there_are():
    by_predicate = {*column_relations.COLUMN_RELATIONS, *column_relations.OVERFLOWS, *lowering.CONSTRAINTS}
    by_predicate |= {*relations.RELATIONS, *reals.RELATIONS, *GLOBAL_MEANINGS, *global_calls.CALLS}
    by_predicate |= {*symmetric_models.EVEN, *symmetric_models.PAIRS}
    assert sorted(by_predicate - PREDICATES.keys()) == []
    by_form = {*linearise.FORMS, *linearise.LITERALS, *oracle.MEANING, *oracle.DEFINITION}
    assert sorted(by_form - FORMS.keys()) == []


@pytest.mark.parametrize("name", linearise.FORMS)
def test_the_rows_of_a_relaxation_take_as_many_arguments_as_the_predicate_has(name):
    for form in FORMS[name]:
        inspect.signature(linearise.FORMS[name]).bind("the linearizer", *form.kinds)


# ---- what is printed


def test_the_library_is_what_the_table_prints():
    """If not: python -m turbo_fzn.predicates --write"""
    printed = library()
    assert {path.name for path in LIBRARY.glob("*.mzn")} - BY_HAND == printed.keys()
    changed = [file for file, text in printed.items() if (LIBRARY / file).read_text(encoding="utf-8") != text]
    assert changed == []


def test_the_command_writes_the_library_and_takes_away_what_is_printed_no_more(tmp_path, monkeypatch):
    folder = tmp_path / "minizinc" / "turbo"
    folder.mkdir(parents=True)
    for name in ("fzn_of_yesterday.mzn", "nosets.mzn"):
        (folder / name).write_text("text")
    monkeypatch.setattr(command, "share_folder", lambda: tmp_path)
    monkeypatch.setattr("sys.argv", ["predicates", "--write"])
    command.main()
    found = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    assert found == {**library(), "nosets.mzn": "text"}


def test_a_statement_of_the_library_is_broken_between_parameters():
    parameters = [f"array [int, int] of var int: x{number}" for number in range(5)]
    lines = statement("fzn_long", parameters, "turbo_long(x0)").splitlines()
    assert lines[0] == "predicate fzn_long(" and lines[-1] == ") = turbo_long(x0);"
    assert [part for line in lines[1:-1] for part in re.findall(r"array[^:]*: \w+", line)] == parameters
    assert max(map(len, lines)) <= 120


# ---- what a row says


def test_a_name_and_a_number_of_arguments_tell_the_form():
    assert find("bool_xor", 3) == (PREDICATES["bool_xor"], PLAIN)
    assert find("bool_xor", 2) == (PREDICATES["bool_xor/2"], PLAIN)
    assert find("bool_xor_reif", 3) == (PREDICATES["bool_xor/2"], REIFIED)
    assert find("int_le", 7) == (PREDICATES["int_le"], PLAIN)
    assert find("array_bool_and_imp", 2).predicate.name == "array_bool_and/1"
    assert find("int_le_if", 2) is None and find("_reif", 1) is None
    assert find("int_lin_le_reif", 4).kinds == ("[i]", "[I]", "i", "B")


def test_a_row_says_which_arguments_are_of_one_length():
    one = row("some", "a [I] n, b [i], c [I] m, d [i] n, e [B] m, k i")
    assert one.alike == ((0, 3), (2, 4))
    assert one.fits([1], [], [1, 2], [1], [1, 2], 0)
    assert not one.fits([1], [], [1, 2], [1, 2], [1, 2], 0)
    assert not one.fits([1], [], [1, 2], [1], [1], 0)
    assert row("other", "a [I], b [i]").fits is None
    for wrong in ("a", "a [I] n m", "a [I],b I"):
        with pytest.raises(ValueError, match="no arguments"):
            row("wrong", wrong)


Call = list[Any]
Meaning = Callable[..., bool]

SOME: dict[str, list] = {
    "I": [-1, 0, 1, 2], "B": [0, 1], "i": [-2, 0, 1, 3],
    "[I]": [[], [2], [0, 1], [2, -1]], "[i]": [[], [1], [2, 1], [0, -1]],
    "[B]": [[], [1], [0, 1], [1, 1, 0]], "[b]": [[], [0], [1, 0]],
}  # fmt: skip


def calls_of(one: Predicate) -> Iterator[tuple[Meaning, Call]]:
    """Arguments of a predicate, and what it means in the words of the tests, or of the checker."""
    if one not in GLOBALS:
        signature = relations.find_signature(one.name.partition("/")[0], len(one.kinds))
        for call in product(*(SOME[kind] for kind in one.kinds)):
            if one.fits is None or one.fits(*call):
                yield signature.relation, list(call)
        return
    for number in range(60):
        model, scope = Model(file="facts.fzn"), Scope(Random(f"{one.name}/{number}"), "small")
        declare_variables(model, scope)
        call = [resolve(scope, model, argument) for argument in global_calls.CALLS[one.name](Drawer(scope, model))]
        yield GLOBAL_MEANINGS[one.name], call


def permuted(call: Call, group: tuple[int, ...], random: Random) -> Call:
    order = random.sample(range(len(call[group[0]])), len(call[group[0]]))
    return [[value[i] for i in order] if place in group else value for place, value in enumerate(call)]


@pytest.mark.parametrize("name", [name for name, one in PREDICATES.items() if one.unordered and PLAIN in one.forms])
def test_what_is_unordered_may_be_permuted(name):
    one, random, n_tried = PREDICATES[name], Random(name), 0
    for meaning, call in calls_of(one):
        for group in one.unordered * 4:
            other = permuted(call, group, random)
            assert meaning(*other) == meaning(*call), (group, call)
            n_tried += other != call
    assert n_tried >= 2


@pytest.mark.parametrize("name", [name for name, one in PREDICATES.items() if one.commutes and one in BUILTINS])
def test_what_commutes_may_be_exchanged(name):
    for meaning, (x, y, *rest) in calls_of(PREDICATES[name]):
        assert meaning(y, x, *rest) == meaning(x, y, *rest)


def changed(value: Any, kind: str) -> Iterator[Any]:
    """Other values of an argument near this one."""
    if isinstance(value, list):
        for place, element in enumerate(value):
            yield from ([*value[:place], other, *value[place + 1 :]] for other in changed(element, kind.strip("[]")))
    elif kind == "B":
        yield 1 - value
    else:
        yield from (value + step for step in (-3, -2, -1, 1, 2, 3))


DEFINING = [one for one in (*BUILTINS, *GLOBALS) if one.defined is not None]


@pytest.mark.parametrize("one", DEFINING, ids=lambda one: one.name)
def test_an_argument_that_is_defined_has_one_value_at_most(one):
    n_tried = 0
    for meaning, call in calls_of(one):
        if meaning(*call):
            for other in changed(call[one.defined], one.kinds[one.defined]):
                n_tried += 1
                assert not meaning(*call[: one.defined], other, *call[one.defined + 1 :]), (call, other)
    assert n_tried >= 2
