"""Reads MiniZinc's output: the number of solutions, the objectives, and the status."""

from __future__ import annotations

import re
import subprocess


def count_solutions(run: subprocess.CompletedProcess) -> int:
    return run.stdout.splitlines().count("----------")


def status(run: subprocess.CompletedProcess) -> str | None:
    """The one status line, or None where there is none."""
    lines = [line for line in run.stdout.splitlines() if line.startswith("=====")]
    assert len(lines) <= 1, run.stdout
    return lines[0] if lines else None


def objectives(run: subprocess.CompletedProcess) -> list[float]:
    return [float(value) for value in re.findall(r"^_objective = (.+);$", run.stdout, re.MULTILINE)]
