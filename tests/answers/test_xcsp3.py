"""XCSP3: each constraint with each kind of condition, against enumeration with a meaning of its own."""

from __future__ import annotations

import re
import zlib
from itertools import product

import pytest

from support.places import ROOT
from support.xcsp3_draw import Draw
from support.xcsp3_more_cases import FORMS
from support.xcsp3_random import random_instance
from turbo_fzn.interface.api import solve_model
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.read.xcsp3.reader import CONSTRAINTS, SOLUTION, parse_xcsp3

REPETITIONS = [pytest.param(range(1), id="first"), pytest.param(range(1, 3), id="more", marks=pytest.mark.slow)]
PAGE = ROOT / "docs" / "guide" / "xcsp3.md"


def solutions_of(text: str, engine: str) -> list[tuple[int, ...]]:
    """All solutions, found by the solver and checked by the checker."""
    result = solve_model(parse_xcsp3(text), arch=engine, all_solutions=True, check=True)
    assert result.complete
    return sorted(tuple(solution[SOLUTION]) for solution in result.solutions)


def seed_of(*parts: object) -> int:
    return zlib.crc32(repr(parts).encode())


@pytest.mark.parametrize("numbers", REPETITIONS)
@pytest.mark.parametrize(("name", "form"), [(name, form) for name, (_, forms) in FORMS.items() for form in forms])
def test_a_constraint_has_the_solutions_of_its_meaning(name, form, numbers, engine):
    make, _ = FORMS[name]
    for number in numbers:
        draw = Draw(seed_of(name, form, number))
        case = make(draw, form)
        expected = sorted(tuple(v.values()) for v in draw.assignments() if case.holds(v))
        assert solutions_of(draw.instance([case]), engine) == expected, case.text


@pytest.mark.parametrize("seed", range(150))
def test_random_instances_have_the_solutions_and_the_optimum_of_their_meaning(seed, engine):
    instance = random_instance(seed, core=False)
    if instance.goal:
        result = solve_model(parse_xcsp3(instance.text), arch=engine, check=True)
        assert result.complete
        assert result.objective == instance.best(), instance.text
    else:
        expected = sorted(tuple(v.values()) for v in instance.solutions())
        assert solutions_of(instance.text, engine) == expected, instance.text


def test_the_page_names_every_constraint_and_its_case():
    table = PAGE.read_text().split("| constraint | forms |")[1].split("\n\n")[0]
    rows = [line.split("|") for line in table.splitlines() if "`" in line]
    named = [name for row in rows for name in row[1].strip().split(", ")]
    assert set(named) == {*CONSTRAINTS, "group", "slide", "block"}
    cases = [case for row in rows for case in re.findall(r"`([^`]+)`", row[4])]
    assert sorted(cases) == sorted(FORMS)


def test_the_files_that_the_page_names_exist():
    names = set(re.findall(r"`((?:tests|turbo_fzn)/[\w/.]+)`", PAGE.read_text()))
    assert len(names) > 5
    assert [name for name in names if not (ROOT / name).exists()] == []


SHARED = 90  # rows, more than those of a table that is taken apart row by row


@pytest.mark.parametrize("cells", [TUNING.table_rows, 0, 3 * SHARED])
@pytest.mark.parametrize("kind", ["supports", "conflicts"])
def test_constraints_that_share_a_table_have_its_solutions(monkeypatch, kind, cells):
    """Where all of them have truth values, where those after the first have the number of the row, and in between."""
    monkeypatch.setattr(TUNING, "table_rows", cells)
    rows = {(i * 7 % 12, i * 5 % 13) for i in range(SHARED)}
    pairs = [(0, 1), (1, 2), (0, 2)]
    body = "".join(f"({p},{q})" for p, q in sorted(rows))
    args = "".join(f"<args> x[{i}] x[{j}] </args>" for i, j in pairs)
    constraint = f"<extension><list> %0 %1 </list><{kind}> {body} </{kind}></extension>"
    text = (
        '<instance><variables><array id="x" size="[3]"> 0..12 </array></variables>'
        f"<constraints><group>{constraint}{args}</group></constraints></instance>"
    )
    expected = [
        x for x in product(range(13), repeat=3) if all(((x[i], x[j]) in rows) == (kind == "supports") for i, j in pairs)
    ]
    assert solutions_of(text, "cpu") == expected
