"""Sentences and tables of a page."""

from __future__ import annotations

import re
from dataclasses import replace

from support.pages import kept
from turbo_fzn.report import page


def test_what_is_left_to_prove_is_told_as_a_gap():
    left = kept(
        -1, seconds=2.0, status="SATISFIED", statistics={"objective": 90, "objectiveBound": 100, "solutions": 2}
    )
    told = "There may be more or better solutions; objective 90; bound 100; gap 10 %; 2 solutions in 2.00 s of search."
    assert page.verdict(left) == told
    proved = replace(left, status="OPTIMAL_SOLUTION", statistics={**left.statistics, "solutions": 1})
    assert page.verdict(proved) == "The optimum is proved; objective 90; 1 solution in 2.00 s of search."


def test_of_many_solutions_the_first_and_last_are_listed(monkeypatch):
    monkeypatch.setattr(page, "MOST_ROWS", 4)
    text = page.solutions(kept(0, *[(0.1 * n, n) for n in range(10)]))
    assert "6 in the middle are left out" in text
    assert re.findall(r"<tr><td>(\d+)</td>", text) == ["1", "2", "9", "10"]


def test_a_run_without_an_objective_has_no_column_for_it():
    assert "objective" not in page.solutions(kept(0, (0.1, 1)))
    assert "objective" in page.solutions(kept(1, (0.1, 1)))
