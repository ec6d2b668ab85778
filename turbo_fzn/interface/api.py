"""Solving from Python: `from turbo_fzn import solve_text`. A model that is solved many times: model.py.

A call does the same as the command, within the caller's process: it catches no signals, prints nothing, and raises
errors.
"""

from __future__ import annotations

import contextlib
import io
import logging
import math
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from turbo_fzn import report
from turbo_fzn.base.errors import UsageError
from turbo_fzn.explain.explainer import Explainer
from turbo_fzn.interface.listening import Listener, OnBound, OnLog, OnSolution, Values, values_of
from turbo_fzn.options.options import Options
from turbo_fzn.options.settings import options_of
from turbo_fzn.process.footprint import watched
from turbo_fzn.process.interrupt import Interrupt, Interrupted, deadline
from turbo_fzn.read.files import check_proof_names, forget_proof
from turbo_fzn.read.languages import parse_named
from turbo_fzn.read.model import Model
from turbo_fzn.report.record import Record
from turbo_fzn.run.answer.outcome import CLOSED, Core, Finished, Solution
from turbo_fzn.run.answer.output import MiniZincStyle
from turbo_fzn.run.driver import Run
from turbo_fzn.run.prepared import Prepared


@dataclass
class Result:
    """The result of `solve_text` and `solve_model`.

    `status` has the names of MiniZinc's Python package: SATISFIED (there may be more or better solutions),
    ALL_SOLUTIONS and OPTIMAL_SOLUTION (the whole space was searched, in a model without and with an objective),
    UNSATISFIABLE, UNBOUNDED (the objective is proved to be unbounded) or UNKNOWN. `solutions` are the solutions that
    the command would print, each a dict from output name to bool, int, float or flat list; the best is the last.
    `objective` is the objective of the last solution, None for a satisfaction model. `core` has, with `explain=True`,
    constraints that have no solution together.
    """

    status: str
    solutions: list[Values]
    objective: float | None
    statistics: dict[str, Any]
    core: Core | None = None
    record: Record | None = field(default=None, repr=False, compare=False)  # the course of the search

    def _repr_html_(self) -> str:
        """The picture of a notebook: the objective over time, as `--report` draws it."""
        from turbo_fzn.report.page import chart  # only here: few callers need it

        return chart(self.record) if self.record is not None else f"<p>{self.status}</p>"

    @property
    def complete(self) -> bool:
        """Whether the whole space was searched, so that there are no other or better solutions."""
        return self.status in CLOSED


def solve_text(
    text: str,
    *,
    on_solution: OnSolution | None = None,
    on_bound: OnBound | None = None,
    on_log: OnLog | None = None,
    **settings: Any,
) -> Result:
    """Solves a text in FlatZinc, FlatZinc-JSON or XCSP3.

    `settings` are fields of `Options` (options.py), with the values of the flags; `check` may also be True or False,
    and `file` is the name of the text in messages and in the report. The Result has what the command would print to
    stdout, and always the statistics; `verbose` writes to stderr. `time_limit` counts from this call; neither it nor
    `memory_limit` stops the reading of the text, after which the call ends at once. `on_solution`, `on_bound` and
    `on_log` are called during the search (listening.py); an exception raised by a callback ends it.

    Raises TypeError for an unknown setting, and the errors of errors.py. An exception that ends a search early, also
    KeyboardInterrupt, has the attribute `result`: a Result with the solutions found before, without statistics.
    """
    start = time.monotonic()
    options = options_of(settings)
    model = parse_named(text, options.file)
    return solve_run(Run(model, options, interrupt_of(options, start)), Listener(on_solution, on_bound, on_log))


def solve_model(
    model: Model,
    *,
    on_solution: OnSolution | None = None,
    on_bound: OnBound | None = None,
    on_log: OnLog | None = None,
    **settings: Any,
) -> Result:
    """Solves a parsed model; settings, result and errors as in `solve_text`."""
    start = time.monotonic()
    options = options_of({"file": model.file, **settings})
    return solve_run(Run(model, options, interrupt_of(options, start)), Listener(on_solution, on_bound, on_log))


def interrupt_of(options: Options, start: float) -> Interrupt:
    """A stop at the time limit, which counts from `start`."""
    return Interrupt(deadline(options.time_limit, start))


def solve_run(run: Run, listener: Listener) -> Result:
    """The result of a run, which is closed afterwards. Raises UsageError if several objectives are set."""
    if run.options.front is not None or run.options.lexicographic is not None:
        raise UsageError(
            "front, lexicographic: settings of the command; Python has Front and lexicographic of turbo_fzn"
        )
    check_proof_names(run.options.file, run.options.proof)
    forget_proof(run.options.proof)
    kept = _Kept(run.options)
    run.sample_seconds = run.sample_seconds or math.inf  # for bounds, and for the record
    stop = run.interrupt.request
    with _told(run.options.verbose, listener.on_log), watched(run.options.memory_bytes(), stop), closing(run):
        try:
            with run.proving.guarded():
                return _answers(run, kept, listener)
        except Interrupted:
            return kept.result("UNKNOWN")
        except BaseException as error:
            kept.fail()
            status = "SATISFIED" if kept.solutions else "UNKNOWN"
            error.result = kept.result(status)  # type: ignore[attr-defined]
            raise


def _answers(run: Run, kept: _Kept, listener: Listener) -> Result:
    """Runs the search to its end, and keeps the solutions, also if an error ends the search."""
    options = run.options
    for event in run.events():
        if isinstance(event, Prepared):
            if options.dump_tnf is not None:
                run.dump(event, options.dump_tnf)
                return kept.result("UNKNOWN")
            note = report.listener(options, event.tnf.sense)
            record = Record(options, event.tnf.sense)
            continue
        if isinstance(event, Solution):
            if not options.count:
                kept.add(event)
        elif isinstance(event, Finished):
            kept.print_held()
        note(event)
        record.note(event)
        listener.hear(event)
        if isinstance(event, Finished):
            result = kept.result(event.status, event.statistics)
            result.record = record
            if options.explain and event.status == "UNSATISFIABLE":
                assert run.prepared is not None and run.prepared.model is not None, "it was not read from a .tnf file"
                result.core = Explainer(run.prepared.model, options, run.interrupt, event.seconds).run()
            return result
    raise AssertionError("the last event is Finished")


class _Kept(MiniZincStyle):
    """Keeps the solutions that the command would print."""

    def __init__(self, options: Options):
        super().__init__(io.StringIO(), options)
        self.solutions: list[Values] = []
        self.objective: float | None = None

    def print_solution(self, solution: Solution) -> None:
        self.solutions.append(values_of(solution))
        self.objective = solution.objective

    def result(self, status: str, statistics: dict[str, Any] | None = None) -> Result:
        return Result(status, self.solutions, self.objective, statistics or {})


class _Ear(logging.Handler):
    """Passes log lines to a function."""

    def __init__(self, on_log: OnLog):
        super().__init__()
        self.on_log = on_log

    def emit(self, record: logging.LogRecord) -> None:
        self.on_log(self.format(record))


class _Loudness:
    """The level of the package's log: as with -v while any call asks for it; calls of several threads may overlap."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0
        self.level = logging.NOTSET  # level before the first of the calls

    def change(self, users: int) -> None:
        log = logging.getLogger("turbo_fzn")
        with self.lock:
            if self.users == 0:
                self.level = log.level
            self.users += users
            log.setLevel(min(self.level or logging.INFO, logging.INFO) if self.users else self.level)


_LOUDNESS = _Loudness()


@contextlib.contextmanager
def _told(verbose: bool, on_log: OnLog | None) -> Iterator[None]:
    """A context in which the log lines of the command's -v go to stderr, if `verbose`, and to `on_log`."""
    handlers: list[logging.Handler] = [] if on_log is None else [_Ear(on_log)]
    if verbose:
        handlers.append(logging.StreamHandler())
        handlers[-1].setFormatter(logging.Formatter("turbo_fzn: %(message)s"))
    log = logging.getLogger("turbo_fzn")
    _LOUDNESS.change(len(handlers))
    for handler in handlers:
        log.addHandler(handler)
    try:
        yield
    finally:
        for handler in handlers:
            log.removeHandler(handler)
        _LOUDNESS.change(-len(handlers))
