"""The thresholds that the fuzzer draws are other ones than those of the tables, and are what the code then meets."""

from __future__ import annotations

from random import Random

import pytest

from fuzz import editions
from fuzz.thresholds import THRESHOLDS, draw_thresholds, find, with_thresholds
from turbo_fzn import solve_text
from turbo_fzn.base.resources import kernels_folder
from turbo_fzn.engine.toolchain import compiler
from turbo_fzn.lower import linear_columns, runs
from turbo_fzn.lower.tuning import TUNING


@pytest.mark.parametrize("name", THRESHOLDS)
def test_a_threshold_is_there_and_is_given_other_values_than_its_own(name):
    table, constant = find(name)
    own = getattr(table, constant)
    assert own not in THRESHOLDS[name] and {type(value) for value in THRESHOLDS[name]} == {type(own)}


def test_thresholds_hold_meanwhile_only():
    own = TUNING.domain_values, TUNING.columns_least
    with with_thresholds({"lower.domain_values": 3, "lower.columns_least": 2}):
        assert (TUNING.domain_values, TUNING.columns_least) == (3, 2)
    assert (TUNING.domain_values, TUNING.columns_least) == own


def test_what_was_computed_with_other_thresholds_is_forgotten():
    shape = linear_columns.Shape((True, True), 2)
    own = runs._form_of_sum(shape).most
    with with_thresholds({"lower.columns_most": 16}):
        assert runs._form_of_sum(shape).most == 16
    assert runs._form_of_sum(shape).most == own > 16


@pytest.mark.parametrize(("name", "error"), [("lower.not_there", AttributeError), ("lower.runs.most", KeyError)])
def test_a_threshold_that_vanished_is_an_error(name, error):
    with pytest.raises(error), with_thresholds({name: 3}):
        pass


def test_every_threshold_is_drawn():
    random = Random(1)
    drawn = {name for _ in range(500) for name in draw_thresholds(random)}
    assert drawn == set(THRESHOLDS)
    assert any(not draw_thresholds(random) for _ in range(20))


def test_a_small_run_goes_the_way_of_a_long_one(monkeypatch):
    """Three constraints of one shape are lowered in columns where so few are enough."""
    made: list[int] = []
    original = runs.Columns.commit
    monkeypatch.setattr(runs.Columns, "commit", lambda self: made.append(1) or original(self))
    variables = "".join(f"var 0..2: {name} :: output_var; " for name in "xyz")
    text = variables + "".join(f"constraint int_ne({a},{b}); " for a, b in ("xy", "yz", "xz")) + "solve satisfy;"
    for least, columns in ((32, False), (2, True)):
        made.clear()
        with with_thresholds({"lower.columns_least": least} if columns else {}):
            assert len(solve_text(text, arch="cpu", all_solutions=True).solutions) == 6
        assert bool(made) == columns


# ---- of the kernels

KERNELS = {path: path.read_text(encoding="utf-8") for path in kernels_folder().rglob("*.h")}


@pytest.mark.parametrize("name", editions.THRESHOLDS)
def test_a_threshold_of_the_kernels_is_there_once_and_is_given_other_numbers(name):
    texts = [text for path, text in KERNELS.items() if path.name != "abi_check.h"]
    own = [numbers[name] for text in texts if name in (numbers := editions.numbers_of(text))]
    assert len(own) == 1 and own[0] not in editions.THRESHOLDS[name]


def test_an_edition_has_other_numbers_and_nothing_else(monkeypatch):
    monkeypatch.setattr(compiler, "kernels_folder", kernels_folder)
    usual = compiler.source_hash()
    numbers = editions.use(3)
    assert numbers == editions.draw_numbers(Random("edition/3")) and compiler.source_hash() != usual
    for path, text in KERNELS.items():
        changed = (compiler.kernels_folder() / path.relative_to(kernels_folder())).read_text(encoding="utf-8")
        own, others = editions.numbers_of(text), editions.numbers_of(changed)
        assert others == {**own, **{name: number for name, number in numbers.items() if name in own}}
        assert editions.rewritten(changed, {name: own[name] for name in numbers if name in own}) == text
    monkeypatch.undo()
    compiler.source_hash.cache_clear()
    assert editions.use(0) == {} and compiler.source_hash() == usual


def test_what_a_build_asserts_of_a_number_follows_it():
    text = KERNELS[kernels_folder() / "core" / "abi_check.h"]
    both = set(editions.numbers_of(text)) & set(editions.THRESHOLDS)
    assert both  # a line asserts several
    changed = editions.rewritten(text, dict.fromkeys(both, "1"))
    assert all(f"SAME({name}, 1)" in changed for name in both)
