"""The work before the search: orders of many blocks take a few looks at each other, not one for each pair of pairs."""

from __future__ import annotations

import time

from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.proof.encoding import Encoding
from turbo_fzn.proof.leaders import Leaders, _Orders
from turbo_fzn.proof.tuning import TUNING
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.prepare import prepare


def items(groups: int, size: int) -> str:
    """Groups of interchangeable items for one knapsack."""
    names = [f"x{group}_{item}" for group in range(groups) for item in range(size)]
    weights = ",".join(str(3 + 2 * group) for group in range(groups) for _ in range(size))
    stated = "".join(f"var 0..1: {name} :: output_var;\n" for name in names)
    return f"{stated}constraint int_lin_le([{weights}],[{','.join(names)}],{size * groups});\nsolve satisfy;\n"


def encoding_of(text: str) -> Encoding:
    return Encoding(prepare(parse_text(text), Options(), Interrupt()).tnf)


def test_orders_are_compared_with_those_of_other_families_by_swaps_of_neighbours(monkeypatch):
    looks = []
    image = _Orders._image
    monkeypatch.setattr(_Orders, "_image", lambda *given: looks.append(given) or image(*given))
    found = Leaders(encoding_of(items(2, 12)))
    assert len(found.sums) == 2 * 11
    assert len(looks) == 11 * (12 * 11 // 2)  # each neighbour swap of the second family, and each order of the first


def test_a_run_without_time_goes_on_without_symmetries(caplog, monkeypatch):
    monkeypatch.setattr(TUNING, "symmetry_share", 0.0)
    caplog.set_level("INFO", "turbo_fzn")
    encoding = encoding_of(items(2, 12))
    found = Leaders(encoding, Interrupt(time.monotonic() + 1000))
    assert not found.sums and not found.text and found.count == encoding.count and not found.numbers
    assert "the proof cannot use it: there is too little time" in caplog.text


def test_a_stop_ends_the_search_for_symmetries():
    interrupt = Interrupt()
    interrupt.request()
    assert not Leaders(encoding_of(items(2, 12)), interrupt).sums
