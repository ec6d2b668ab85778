"""The property that makes the fast way of reading safe: the scan and Lark both give what was written."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from support.both_ways import read_by_lark, typed
from support.flatzinc_items import ITEMS, goals, models, written
from turbo_fzn.read import flatzinc as parse
from turbo_fzn.read.flatzinc import parse_text


@settings(suppress_health_check=list(HealthCheck), max_examples=settings.default.max_examples * 6 // 10)
@given(models())
def test_the_scan_and_lark_read_what_was_written(pair: tuple) -> None:
    text, expected = pair
    assert typed(parse_text(text)) == typed(expected)
    assert typed(read_by_lark(text)) == typed(expected)


def kind_of_match(text: str) -> str | None:
    """The flat terminal that matches the whole statement; OTHER where it is for Lark."""
    match = parse._scan_pattern().match(text)
    return match.lastgroup if match is not None and match.end() == len(text) else "OTHER"


@pytest.mark.parametrize("name", parse.FLAT_STATEMENTS)
def test_the_generated_items_of_every_kind_go_both_ways(name: str) -> None:
    """So that the two tests around this one compare what they say that they compare."""
    generate = settings(max_examples=1000, phases=[Phase.generate], database=None, derandomize=True, deadline=None)
    items = written({**ITEMS, "FLAT_SOLVE": goals}[name]()).map(lambda pair: pair[0])
    for wanted in (name, "OTHER"):
        find(items, lambda text, wanted=wanted: kind_of_match(text) == wanted, settings=generate)


@settings(suppress_health_check=list(HealthCheck))
@given(models(), st.data())
def test_the_scan_and_lark_refuse_alike(pair: tuple, data: st.DataObject) -> None:
    """A character lost, doubled or put in is an error with the same message both ways, or the same model."""
    text = pair[0]
    position = data.draw(st.integers(0, len(text)))
    inserted = data.draw(st.sampled_from([*"", *'[](){};:,="%1a-. \n', "..", "::", "true", "var "]))
    broken = text[:position] + inserted + text[position + data.draw(st.integers(0, 2)) :]
    outcomes = []
    for read in (parse_text, read_by_lark):
        try:
            outcomes.append(typed(read(broken)))
        except parse.ModelError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]
