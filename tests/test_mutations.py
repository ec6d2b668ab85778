"""The table of mutations is in step with the code; `make mutate` tries them."""

from __future__ import annotations

import pytest
from mutate import SOURCE
from mutations import MUTATIONS


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: f"{one.mechanism}: {one.fault}")
def test_what_is_to_be_broken_is_there_once(mutation):
    assert (SOURCE / mutation.file).read_text(encoding="utf-8").count(mutation.text) == 1
    assert mutation.text != mutation.replacement
