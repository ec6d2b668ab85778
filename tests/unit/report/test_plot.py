"""Legends of plots."""

from __future__ import annotations

from turbo_fzn.report import axes, plot


def test_a_long_legend_takes_more_rows():
    entries = [plot.Entry("objective", "red")] * 9
    rows = plot.legend_rows(entries)
    assert len(rows) > 1 and sum(map(len, rows)) == 9
    assert all(sum(map(plot.width_of, row)) <= axes.FULL.width - axes.FULL.left for row in rows)
