"""The table of mutations is in step with the code and with docs/correctness.md; `make mutate` tries them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mutate import PAGE, SOURCE
from mutations import MUTATIONS


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: f"{one.mechanism}: {one.fault}")
def test_what_is_to_be_broken_is_there_once(mutation):
    assert (SOURCE / mutation.file).read_text(encoding="utf-8").count(mutation.text) == 1
    assert mutation.text != mutation.replacement


def test_the_page_lists_every_mutation_with_a_test_that_exists():
    page = PAGE.read_text(encoding="utf-8")
    for mutation in MUTATIONS:
        cells = re.escape(f"| {mutation.mechanism} | {mutation.fault} | `{mutation.file}` | ")
        (row,) = re.findall(rf"^{cells}(.*) \|$", page, re.MULTILINE)
        file, name = re.fullmatch(r"`(\w+\.py)` (.*)", row).groups()
        test = f"def test_{name.replace(' ', '_')}("
        assert test in (Path(__file__).parent / file).read_text(encoding="utf-8")
