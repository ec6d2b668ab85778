"""The answer as a stream of JSON: `--json-stream`. One object a line, for every language of the input.

The types are the types of MiniZinc's stream (handbook, "Machine-readable JSON output format"), with the same fields:
`solution`, `status`, `statistics`, `warning` and `error`. Two types are added: `bound` contains the proved bound of the
objective, and `core` the constraints that contradict each other (`--explain`). docs/guide/json.md describes all of
them.

Warnings arise in any thread, and only the main thread, which a signal may interrupt, writes to stdout: so they wait in
a queue until the main thread writes a message or polls the search, which it does here twice a second.
"""

from __future__ import annotations

import json
import logging
import time
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TextIO

from turbo_fzn.base.errors import EngineError, ModelError, TurboError, UnsupportedError, UsageError
from turbo_fzn.process.age import process_start
from turbo_fzn.run.answer.output import STATUS_LINES, MiniZincStyle, value_of, write

if TYPE_CHECKING:
    import numpy as np

    from turbo_fzn.options.options import Options
    from turbo_fzn.read.model import Model
    from turbo_fzn.run.answer.outcome import Core, Finished, Sample, Solution
    from turbo_fzn.tnf.language import Output

ERRORS: dict[type[BaseException], str] = {  # the kind of each error in its message; all others are internal errors
    UsageError: "usage error",
    UnsupportedError: "unsupported model",  # before ModelError, its base class
    ModelError: "model error",
    EngineError: "engine error",
    MemoryError: "out of memory",
    RecursionError: "model error",
    OSError: "system error",
    KeyboardInterrupt: "interrupted",
}

_warnings: deque[str] = deque()
_started = process_start()  # read once, since the system reports it inexactly


def warn(text: str) -> None:
    """Queues a warning, to be written before the next message; may be called in any thread."""
    _warnings.append(text)


class Warnings(logging.Handler):
    """Queues the warnings of a log for the stream."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)

    def emit(self, record: logging.LogRecord) -> None:
        warn(record.getMessage())


class JsonStyle(MiniZincStyle):
    """The stream of JSON: solutions are written as in MiniZinc's text protocol."""

    def __init__(self, stream: TextIO, options: Options, model: Model | None = None):
        super().__init__(stream, options, model)
        self.bound: float | None = None  # the last bound that was written

    def look(self, sample: Sample) -> None:
        self.flush_warnings()
        self.print_bound(sample.bound)

    def flush_warnings(self) -> None:
        send(self.stream)

    def print_bound(self, bound: float | None) -> None:
        if bound is not None and bound != self.bound:
            self.bound = bound
            send(self.stream, {"type": "bound", "bound": bound, "time": now()})

    def explain(self, core: Core) -> None:
        send(self.stream, {"type": "core", "constraints": core.titles, "minimal": core.minimal, "time": now()})

    def end(self, finished: Finished) -> None:
        self.print_held()
        self.print_bound(finished.statistics.get("objectiveBound"))
        super().end(finished)

    def print_values(self, solution: Solution) -> None:
        """Sends a solution, with its objective as `_objective`."""
        values = self.values(solution)
        if solution.objective is not None:
            values.setdefault("_objective", solution.objective)
        message = {"type": "solution", "output": {"json": values}, "sections": ["json"], "time": now()}
        send(self.stream, message)

    def values(self, solution: Solution) -> dict[str, object]:
        """The values by output name, in XCSP3 by variable."""
        if self.model is not None and self.model.language == "XCSP3":
            from turbo_fzn.run.answer.competition import assignment

            return {**assignment(solution, self.model)}
        return {item.name: nested(item, values) for item, values in solution.outputs}

    def print_status(self, status: str) -> None:
        if status in STATUS_LINES:
            send(self.stream, {"type": "status", "status": status, "time": now()})

    def print_statistics(self, statistics: Mapping[str, Any]) -> None:
        send(self.stream, {"type": "statistics", "statistics": dict(self.named(statistics))})


def now() -> int:
    """The milliseconds since the process began."""
    return round(1000 * (time.monotonic() - _started))


def send(stream: TextIO, *messages: Mapping[str, object]) -> None:
    """Writes messages, each on its line, behind the warnings that wait."""
    waiting = [{"type": "warning", "message": _warnings.popleft()} for _ in range(len(_warnings))]
    if lines := [json.dumps(message) for message in (*waiting, *messages)]:
        write(stream, "\n".join(lines) + "\n")


def nested(item: Output, values: np.ndarray) -> object:
    """The value of an output item as MiniZinc writes it in JSON: an array of several dimensions as lists of lists,
    whatever its indices are."""
    plain: Any = value_of(item, values)
    for low, high in reversed((item.ranges or [])[1:]):
        size = max(high - low + 1, 0)
        plain = [plain[at : at + size] for at in range(0, len(plain), size)] if size else []
    return plain


def send_error(stream: TextIO, message: str, error: BaseException) -> None:
    """The message of an error, which follows the answers found before it."""
    what = next((what for kind, what in ERRORS.items() if isinstance(error, kind)), "internal error")
    told: dict[str, object] = {"type": "error", "what": what, "message": message}
    if isinstance(error, TurboError) and error.file and error.line is not None:
        told |= {"location": location(error.file, error.line, error.column), "message": error.without_place}
    send(stream, told, {"type": "status", "status": "ERROR", "time": now()})


def location(file: str, line: int, column: int | None) -> dict[str, object]:
    """A place in a file, as MiniZinc writes it; without columns where they are unknown."""
    columns = {} if column is None else {"firstColumn": column, "lastColumn": column}
    return {"filename": file, "firstLine": line, "lastLine": line, **columns}
