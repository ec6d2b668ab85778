"""Solving from Python: `from turbo_fzn import solve_text`.

A call does the same as the command, within the caller's process: it catches no signals, prints nothing, and raises
errors.
"""

from __future__ import annotations

import contextlib
import io
import logging
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from turbo_fzn.options import Options
from turbo_fzn.process.interrupt import Interrupt, Interrupted, deadline
from turbo_fzn.read.languages import parse_named
from turbo_fzn.read.model import Model
from turbo_fzn.report.recorder import recorder
from turbo_fzn.run.driver import Run
from turbo_fzn.run.outcome import CLOSED, Finished, Solution
from turbo_fzn.run.output import MiniZincStyle, value_of
from turbo_fzn.run.prepared import Prepared
from turbo_fzn.settings import options_of
from turbo_fzn.tnf.text import write_file


@dataclass
class Result:
    """The result of `solve_text` and `solve_model`.

    `status` has the names of MiniZinc's Python package: SATISFIED (there may be more or better solutions),
    ALL_SOLUTIONS and OPTIMAL_SOLUTION (the whole space was searched, in a model without and with an objective),
    UNSATISFIABLE, UNBOUNDED (the objective is proved to be unbounded) or UNKNOWN. `solutions` are those that the
    command would print, each a dict from output name to bool, int, float or flat list; the best is the last.
    `objective` is that of the last solution, None for a satisfaction model.
    """

    status: str
    solutions: list[dict[str, object]]
    objective: float | None
    statistics: dict[str, Any]

    @property
    def complete(self) -> bool:
        """Whether the whole space was searched, so that there are no other or better solutions."""
        return self.status in CLOSED


def solve_text(text: str, **settings: Any) -> Result:
    """Solves a text in FlatZinc, FlatZinc-JSON or XCSP3.

    `settings` are fields of `Options` (options.py), with the values of the flags; `check` may also be True or False,
    and `file` is the name of the text in messages and in the report. The Result has what the command would print to
    stdout, and always the statistics; `verbose` writes to stderr. `time_limit` counts from this call.

    Raises TypeError for an unknown setting, and the errors of errors.py. An exception that ends a search early, also
    KeyboardInterrupt, has the attribute `result`: a Result with the solutions found before, without statistics.
    """
    start = time.monotonic()
    options = options_of(settings)
    return _solve(parse_named(text, options.file), options, start)


def solve_model(model: Model, **settings: Any) -> Result:
    """Solves a parsed model; settings, result and errors are those of `solve_text`."""
    start = time.monotonic()
    return _solve(model, options_of({"file": model.file, **settings}), start)


def _solve(model: Model, options: Options, start: float) -> Result:
    run = Run(model, options, Interrupt(deadline(options.time_limit, start)))
    kept = _Kept(options)
    with _told_on_stderr(options.verbose), closing(run):
        try:
            return _answers(run, options, kept)
        except Interrupted:
            return kept.result("UNKNOWN")
        except BaseException as error:
            kept.fail()
            status = "SATISFIED" if kept.solutions else "UNKNOWN"
            error.result = kept.result(status)  # type: ignore[attr-defined]
            raise


def _answers(run: Run, options: Options, kept: _Kept) -> Result:
    """Runs the search to its end, and keeps the solutions, also if an error ends the search."""
    for event in run.events():
        if isinstance(event, Prepared):
            if options.dump_tnf is not None:
                write_file(event.tnf, options.dump_tnf)
                return kept.result("UNKNOWN")
            note = recorder(options, event.tnf.sense)
            continue
        if isinstance(event, Solution):
            kept.add(event)
        elif isinstance(event, Finished):
            kept.print_held()
        note(event)
        if isinstance(event, Finished):
            return kept.result(event.status, event.statistics)
    raise AssertionError("the last event is Finished")


class _Kept(MiniZincStyle):
    """Keeps the solutions that the command would print."""

    def __init__(self, options: Options):
        super().__init__(io.StringIO(), options)
        self.solutions: list[dict[str, object]] = []
        self.objective: float | None = None

    def print_solution(self, solution: Solution) -> None:
        self.solutions.append({item.name: value_of(item, values) for item, values in solution.outputs})
        self.objective = solution.objective

    def result(self, status: str, statistics: dict[str, Any] | None = None) -> Result:
        return Result(status, self.solutions, self.objective, statistics or {})


@contextlib.contextmanager
def _told_on_stderr(verbose: bool) -> Iterator[None]:
    """A context in which the log lines of the command's -v are written to stderr, if `verbose`."""
    log = logging.getLogger("turbo_fzn")
    if not verbose:
        yield
        return
    handler, level = logging.StreamHandler(), log.level
    handler.setFormatter(logging.Formatter("turbo_fzn: %(message)s"))
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
