"""How the process leaves: what was asked for is done, the last first, and the exit code is told."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support.command import PATIENCE
from turbo_fzn.process import leaving


def test_what_was_asked_for_last_is_done_first_and_once(monkeypatch):
    done = []
    monkeypatch.setattr(leaving, "_to_do", [])
    monkeypatch.setattr(leaving.os, "_exit", lambda code: done.append(code))
    first, second = (lambda: done.append("first")), (lambda: done.append("second"))
    for do in (first, second, first):
        leaving.before_leaving(do)
    leaving.leave_process(3)
    assert done == ["second", "first", 3]


def test_whatever_fails_on_the_way_the_rest_is_done_and_the_process_ends(monkeypatch):
    done = []
    monkeypatch.setattr(leaving, "_to_do", [])
    monkeypatch.setattr(leaving.os, "_exit", lambda code: done.append(code))
    leaving.before_leaving(lambda: done.append("first"))
    leaving.before_leaving(lambda: [].pop())
    leaving.leave_process(3)
    assert done == ["first", 3]


BY_ITSELF = """
from turbo_fzn.process import leaving
import turbo_fzn.{module} as module
{begun}
print([do.__module__ for do in leaving._to_do])
"""


@pytest.mark.parametrize(
    ("module", "begun", "asked"),
    [
        ("process.stopping", "", []),
        ("command.cli", "", []),
        ("engine.toolchain.compiler", "", []),
        ("engine.toolchain.compiler", "module._temporary_folder()", ["turbo_fzn.engine.toolchain.compiler"]),
    ],
)
def test_only_who_would_leave_something_behind_asks_for_anything(module, begun, asked):
    """No module is known by name to the process: what it leaves behind, each says itself when it begins with it."""
    script = BY_ITSELF.format(module=module, begun=begun)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.stdout, done.stderr) == (f"{asked}\n", "")
