"""The mutations are in step with the code and with the tests; `make mutate` tries them."""

from __future__ import annotations

import re

import pytest

from support.places import ROOT, TESTS
from tools.mutate import Outcome, table
from tools.mutations import MUTATIONS


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: f"{one.mechanism}: {one.fault}")
def test_what_is_to_be_broken_is_there_once(mutation):
    assert (ROOT / mutation.file).read_text(encoding="utf-8").count(mutation.text) == 1
    assert mutation.text != mutation.replacement


@pytest.mark.parametrize("tests", sorted({mutation.tests for mutation in MUTATIONS}))
def test_the_tests_that_are_to_see_it_are_there(tests):
    """With `-k WORD`, the word is in the name of a test of the files, or is a case of one."""
    files, _, word = tests.partition(" -k ")
    texts = [next(TESTS.rglob(file)).read_text(encoding="utf-8") for file in files.split()]
    assert texts and all("\ndef test_" in text for text in texts)
    assert any(re.search(rf"\ndef test_\w*{word}|[\"'/]{word}[\"'.]", text) for text in texts)


def test_the_table_has_a_row_for_each_mutation_with_the_test_or_the_fault():
    seen, survived = Outcome(MUTATIONS[0], test="`test_a.py` it holds"), Outcome(MUTATIONS[1], fault="SURVIVED\nmore")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table([seen, survived]).splitlines()]
    assert [len(row) for row in rows] == [4] * 4
    first, second = MUTATIONS[:2]
    assert rows[2] == [first.mechanism, first.fault, f"`{first.file}`", "`test_a.py` it holds"]
    assert rows[3] == [second.mechanism, second.fault, f"`{second.file}`", "SURVIVED"]
