"""Axes: their ticks and numbers."""

from __future__ import annotations

import re

import pytest

from turbo_fzn.report import axes


def test_ticks_are_round_and_cover_the_axis():
    assert axes.nice_ticks(0, 10) == [0, 2, 4, 6, 8, 10]
    assert axes.nice_ticks(93, 107) == [95, 100, 105]
    assert axes.time_axis(0.0).ticks() == pytest.approx([0.0001, 0.0003, 0.001])
    assert axes.time_axis(0.05).ticks() == pytest.approx([0.001, 0.003, 0.01, 0.03])
    assert axes.time_axis(5.0).ticks() == pytest.approx([0.01, 0.03, 0.1, 0.3, 1, 3])
    assert axes.time_axis(1000.0).ticks() == pytest.approx([0.01, 0.1, 1, 10, 100, 1000])
    assert [axes.plain_number(value) for value in (0, 2.5, 9_999, 30_000, 123_456, 2e6, -3e9)] == [
        "0", "2.5", "9999", "30k", "123.5k", "2M", "-3G"
    ]  # fmt: skip


def test_numbers_below_an_axis_stand_apart():
    for size in (axes.SMALL, axes.FULL):
        frame = axes.Frame(axes.time_axis(30.0), axes.Axis(0, 1), size)
        places = [
            float(x) for x in re.findall(r'<text x="([\d.]+)"[^>]*>[\d.]+ s<', "".join(frame.across_axis("", " s")))
        ]
        assert len(places) >= 4 and min(b - a for a, b in zip(places, places[1:])) > 40
