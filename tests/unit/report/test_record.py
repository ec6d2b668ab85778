"""What a page draws of a run: improvements, bounds, rates and idle time."""

from __future__ import annotations

from support.pages import kept
from turbo_fzn.report import page
from turbo_fzn.run.answer.outcome import Sample


def test_an_improvement_is_better_than_all_before():
    answers = (0.1, 9), (0.2, 9), (0.3, 7), (0.4, 8)
    assert [value for _, value, _ in kept(1, *answers).improvements()] == [9, 7]
    assert [value for _, value, _ in kept(-1, (0.1, 7), (0.3, 9), (0.4, 9)).improvements()] == [7, 9]


def test_a_bound_is_drawn_when_it_changes_and_as_it_is_at_the_end():
    samples = [Sample(0.1, 10, None), Sample(0.2, 20, 3), Sample(0.3, 30, 3), Sample(0.4, 40, 5)]
    run_of = kept(1, samples=samples, seconds=1.0, statistics={"objectiveBound": 8})
    assert run_of.bounds() == [(0.2, 3), (0.4, 5), (1.0, 8)]
    assert kept(1).bounds() == []


def test_a_rate_is_the_nodes_between_two_looks():
    samples = [Sample(1.0, 100, None), Sample(2.0, 400, None), Sample(9.9, 401, None)]
    run_of = kept(0, samples=samples, seconds=10.0, statistics={"nodes": 2000})
    assert run_of.rates() == [(0.0, 100.0), (1.0, 300.0), (2.0, 200.0)]


def test_idle_time_is_the_share_of_all_blocks_that_waited_between_two_looks():
    samples = [Sample(1.0, 10, None, 0.0), Sample(2.0, 20, None, 1.0), Sample(3.0, 30, None, 5.0)]
    run_of = kept(1, samples=samples, seconds=4.0, statistics={"blocks": 2, "idleTime": 5.5})
    assert run_of.idle() == [(0.0, 0.0), (1.0, 50.0), (2.0, 100.0), (3.0, 25.0)]
    assert "Idle" in "".join(page.figures(run_of))
    assert kept(1, samples=samples, seconds=4.0, statistics={"blocks": 1}).idle() == []
