"""What is kept of a run for its page."""

from __future__ import annotations

from support.pages import parse, tables
from turbo_fzn.options.options import Options
from turbo_fzn.report import listener, record, recorder
from turbo_fzn.run.answer.outcome import Finished, Solution


def test_nothing_is_written_where_no_page_is_wanted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    note = listener(Options(), 0)
    for event in (Solution([], None, 0, "tree"), Finished(True, 1, {})):
        note(event)
    assert list(tmp_path.iterdir()) == []


def test_only_so_many_answers_are_kept(monkeypatch, tmp_path):
    monkeypatch.setattr(record, "MOST_ANSWERS", 2)
    note = recorder.recorder(Options(report=str(tmp_path / "run.html")), 0)
    for _ in range(3):
        note(Solution([], None, 0, "tree"))
    note(Finished(True, 3, {"solutions": 3}))
    root = parse(tmp_path / "run.html")
    assert len(tables(root)["Solutions"]) == 1 + 2 and "3 solutions" in next(root.iter("p")).text
