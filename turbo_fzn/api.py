"""Solving from Python: `from turbo_fzn import solve_text`.

The same run as the command's, without its process: no signals are caught, nothing is printed, and errors are raised.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, fields
from typing import Any

from turbo_fzn.interrupt import Interrupt, Interrupted, deadline
from turbo_fzn.options import Options
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.read.model import Model
from turbo_fzn.run.output import value_of
from turbo_fzn.run.prepare import prepare
from turbo_fzn.run.search import Finished, search, status_of


@dataclass
class Result:
    """What `solve_text` returns. `status`: SATISFIED, ALL_SOLUTIONS (space exhausted, so an optimum is proved),
    UNSATISFIABLE, UNBOUNDED (it is proved that the objective is) or UNKNOWN. `solutions`: one dict a solution, output
    name -> bool, int, float or flat list."""

    status: str
    solutions: list[dict[str, object]]
    objective: float | None
    statistics: dict[str, Any]


def solve_text(text: str, **settings: Any) -> Result:
    """Solves FlatZinc given as text. `settings` are fields of `Options`; `check` may also be True or False.

    Raises the errors of errors.py. Whatever ends a search before its time, Ctrl-C too, has as its attribute `result`
    what had been found: such a Result, without statistics.
    """
    return solve_model(parse_text(text), **settings)


def solve_model(model: Model, **settings: Any) -> Result:
    """The same for a model that is parsed already."""
    if isinstance(settings.get("check"), bool):
        settings["check"] = "always" if settings["check"] else "never"
    unknown = settings.keys() - {option.name for option in fields(Options)}
    if unknown:
        raise TypeError(f"unknown settings: {', '.join(sorted(unknown))}")
    options = Options(**settings)
    interrupt = Interrupt(deadline(options.time_limit, time.monotonic()))
    solutions: list[dict[str, object]] = []
    objective, finished = None, None
    try:
        for event in search(prepare(model, options, interrupt), options, interrupt):
            if isinstance(event, Finished):
                finished = event
            else:
                solutions.append({item.name: value_of(item, values) for item, values in event.outputs})
                objective = event.objective
    except Interrupted:
        return Result("UNKNOWN", [], None, {})
    except BaseException as error:
        status = "SATISFIED" if solutions else "UNKNOWN"
        error.result = Result(status, solutions, objective, {})  # type: ignore[attr-defined]
        raise
    assert finished is not None, "the last event"
    return Result(status_of(finished), solutions, objective, finished.statistics)
