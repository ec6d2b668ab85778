"""Bounds from linear relaxations: never above the optimum, whatever the solver of linear programs says."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from fuzz.bounds import try_bounds

pytest.importorskip("highspy", reason="highspy is not installed")


def test_every_certificate_on_random_models_proves_what_it_says() -> None:
    verdicts: Counter[str] = Counter()
    n_certificates = 0
    for number in range(150):
        verdict, text, checked = try_bounds(Random(f"bounds/1/{number}"))
        assert not verdict.is_fault, f"{number}: {verdict.fault}\n{text}"
        verdicts[verdict.kind] += 1
        n_certificates += checked
    assert verdicts["right"] > 60 and n_certificates > 300
