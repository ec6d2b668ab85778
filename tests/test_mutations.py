"""The table of mutations is in step with the code; `make mutate` tries them."""

from __future__ import annotations

import pytest
from mutate import HEAD, PAGE, SOURCE
from mutations import MUTATIONS


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: f"{one.mechanism}: {one.fault}")
def test_what_is_to_be_broken_is_there_once(mutation):
    assert (SOURCE / mutation.file).read_text(encoding="utf-8").count(mutation.text) == 1
    assert mutation.text != mutation.replacement


def listed() -> list[list[str]]:
    """The rows of the page's table: mechanism, fault, file, test."""
    _, _, rows = PAGE.read_text(encoding="utf-8").partition(HEAD)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in rows.splitlines()]


def test_the_page_lists_every_mutation_with_a_test_that_exists():
    assert [row[:3] for row in listed()] == [[one.mechanism, one.fault, f"`{one.file}`"] for one in MUTATIONS]
    for *_, test in listed():
        _, file, name = test.split("`")
        source = (SOURCE / "tests" / file).read_text(encoding="utf-8")
        assert f"def test_{name.strip().replace(' ', '_')}(" in source, test
