"""The instances of tests/data/xcsp3, whose status and optimum ACE has found (expected.json); xcsp3_ace.py asks it
again."""

from __future__ import annotations

import json

import pytest

from support.places import DATA
from turbo_fzn.interface.api import solve_model
from turbo_fzn.read.languages import parse_file

FOLDER = DATA / "xcsp3"
EXPECTED: dict[str, list] = json.loads((FOLDER / "expected.json").read_text())


def status_of(result) -> str:
    names = {"SATISFIED": "SATISFIABLE", "ALL_SOLUTIONS": "SATISFIABLE", "OPTIMAL_SOLUTION": "OPTIMUM FOUND"}
    return names.get(result.status, result.status)


def test_every_instance_has_an_expected_status():
    assert {path.name for path in FOLDER.glob("*.xml")} == set(EXPECTED)
    assert len(EXPECTED) >= 40


@pytest.mark.parametrize("name", EXPECTED)
def test_an_instance_has_the_status_and_optimum_that_ace_found(name, engine):
    result = solve_model(parse_file(str(FOLDER / name)), arch=engine, check=True)
    assert [status_of(result), result.objective] == EXPECTED[name]
