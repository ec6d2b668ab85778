"""The instances of tests/xcsp3, whose status and optimum ACE has found too (expected.json); and ACE itself, where it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import xcsp3_ace

from turbo_fzn.api import solve_model
from turbo_fzn.read.languages import parse_file

FOLDER = Path(__file__).resolve().parent / "xcsp3"
EXPECTED: dict[str, list] = json.loads((FOLDER / "expected.json").read_text())
FIRST_SEED, RANDOM_INSTANCES = 500, 60

needs_ace = pytest.mark.skipif(not xcsp3_ace.is_there(), reason="java or ACE is not installed (pip install pycsp3)")


def status_of(result) -> str:
    if result.status == "ALL_SOLUTIONS":
        return "SATISFIABLE" if result.objective is None else "OPTIMUM FOUND"
    return {"SATISFIED": "SATISFIABLE"}.get(result.status, result.status)


def test_every_instance_has_an_expected_status():
    assert {path.name for path in FOLDER.glob("*.xml")} == set(EXPECTED)
    assert len(EXPECTED) >= 40


@pytest.mark.parametrize("name", EXPECTED)
def test_an_instance_has_the_status_and_optimum_that_ace_found(name, engine):
    result = solve_model(parse_file(str(FOLDER / name)), arch=engine, check=True)
    assert [status_of(result), result.objective] == EXPECTED[name]


@needs_ace
def test_ace_finds_the_expected_status_and_optimum():
    found = xcsp3_ace.ask(sorted(FOLDER.glob("*.xml")))
    assert {Path(path).name: [verdict.status, verdict.best] for path, verdict in found.items()} == EXPECTED


@needs_ace
def test_random_instances_have_the_solutions_and_the_optimum_that_ace_finds():
    compared, found = xcsp3_ace.disagreements(range(FIRST_SEED, FIRST_SEED + RANDOM_INSTANCES))
    assert found == []
    assert compared >= RANDOM_INSTANCES // 3
