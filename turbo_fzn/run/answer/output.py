"""Solutions and status lines in MiniZinc's text protocol, and what other styles of an answer share with it.

Source: the FlatZinc specification of the MiniZinc handbook. Everything is flushed at once, since the reader may stop
the process at any time; only solutions that arrive together are flushed together. The other styles are for the XCSP3
competitions (competition.py) and a stream of JSON (json_stream.py); styles.py chooses the style.

| | MiniZinc | XCSP3 | JSON: objects of the type |
|---|---|---|---|
| a solution | `name = value;` for each output, then `----------` | `o` and its objective; in the end `v` | `solution` |
| the end | `==========` where the whole space was searched | `s OPTIMUM FOUND`, `s SATISFIABLE`, … | `status` |
| whether it was searched | the same | `d COMPLETE EXPLORATION` or `d INCOMPLETE EXPLORATION` | `status` |
| statistics | `%%%mzn-stat: name=value` | `d name value` | `statistics` |
| why there is no solution | `% ` and text, then `%%%mzn-core: ["name", …]` | `c ` and text | `core` |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TextIO

from turbo_fzn.base import progress
from turbo_fzn.run.answer import turbo_statistics

if TYPE_CHECKING:  # the status lines are also used before NumPy is loaded
    import numpy as np

    from turbo_fzn.options.options import Options
    from turbo_fzn.read.model import Model
    from turbo_fzn.run.answer.outcome import Core, Finished, Sample, Solution
    from turbo_fzn.tnf.language import Output

SEPARATOR = "----------"
STATUS_LINES = {  # the last line of an answer by its status; no line where solutions were found and there may be more
    "OPTIMAL_SOLUTION": "==========",
    "ALL_SOLUTIONS": "==========",
    "UNSATISFIABLE": "=====UNSATISFIABLE=====",
    "UNBOUNDED": "=====UNBOUNDED=====",
    "UNKNOWN": "=====UNKNOWN=====",
    "ERROR": "=====ERROR=====",
}
PYTHON_TYPES: dict[str, Any] = {"bool": bool, "float": float}  # types of values; all others are int
NOTHING_COUNTED = {"nodes": 0, "failures": 0}


def value_of(item: Output, values: np.ndarray) -> object:
    """The Python value of an output item (int, bool, or a flat list of them), given the values of its variables."""
    plain: list = [PYTHON_TYPES.get(item.kind, int)(v) for v in values]
    return plain if item.ranges is not None else plain[0]


def _format_value(item: Output, values: np.ndarray) -> str:
    """The value as FlatZinc text. Every version of MiniZinc reads `arrayNd(ranges, [...])`, for any index ranges."""
    text = TEXTS.get(item.kind, str)
    if item.ranges is None:
        return text(values.tolist()[0])
    ranges = ", ".join(f"{low}..{high}" for low, high in item.ranges)
    return f"array{len(item.ranges)}d({ranges}, [{', '.join(map(text, values.tolist()))}])"


def _bool_text(value: int) -> str:
    return "true" if value else "false"


def float_text(value: float) -> str:
    """The shortest text that is read as the same number, in MiniZinc's form: with a point, and a zero without a
    sign."""
    mantissa, exponent, power = repr(value + 0.0).partition("e")
    return (mantissa if "." in mantissa else f"{mantissa}.0") + exponent + power


TEXTS: dict[str, Callable[[Any], str]] = {"bool": _bool_text, "float": float_text}  # by type; others by str


def write_line(stream: TextIO, line: str) -> None:
    write(stream, line + "\n")


def write(stream: TextIO, text: str) -> None:
    hold(stream, text)
    stream.flush()


def hold(stream: TextIO, text: str) -> None:
    """Appends text to the buffer that the next `write` or `flush` sends to the reader."""
    progress.erase()  # the line of progress may be on the same terminal
    stream.write(text)


def format_number(value: Any) -> str:
    return f"{value:.6f}" if isinstance(value, float) else str(value)


class MiniZincStyle:
    """Prints the answers in MiniZinc's protocol. In optimisation, improving solutions before the last solution are
    printed only if the options ask for them."""

    def __init__(self, stream: TextIO, options: Options, model: Model | None = None):
        self.stream, self.options, self.model = stream, options, model
        self.every = options.intermediate or options.all_solutions
        self.held: Solution | None = None  # the best solution so far, if it is not printed

    def add(self, solution: Solution) -> None:
        """Prints a solution, or holds it if only the best solution is wanted."""
        if self.every or solution.objective is None:
            self.print_solution(solution)
            return
        if self.held is not None and self.held.objective == solution.objective and self.options.optimal_limit() != 1:
            self.print_held()
        self.held = solution

    def look(self, sample: Sample) -> None:
        """Takes a sample of the search; prints nothing here."""

    def flush_warnings(self) -> None:
        """Prints the warnings that belong among the answers; prints nothing here."""

    def print_held(self) -> None:
        held, self.held = self.held, None
        if held is not None:
            self.print_solution(held)

    def print_solution(self, solution: Solution) -> None:
        if solution.statistics is not None:
            self.print_statistics(solution.statistics)
        self.print_values(solution)

    def print_values(self, solution: Solution) -> None:
        lines = [f"{item.name} = {_format_value(item, values)};\n" for item, values in solution.outputs]
        tell = hold if solution.is_followed else write
        tell(self.stream, "".join(lines) + SEPARATOR + "\n")

    def explain(self, core: Core) -> None:
        """Prints why there is no solution, before the end; the last line is for programs, a list in JSON."""
        import json  # only here: it takes a while

        titles = json.dumps(core.titles, ensure_ascii=False)
        write(self.stream, "".join(f"% {line}\n" for line in core.lines()) + f"%%%mzn-core: {titles}\n")

    def end(self, finished: Finished) -> None:
        """Prints the held solution, the status and the statistics."""
        self.print_held()
        self.stream.flush()
        self.print_status(finished.status)
        if self.options.statistics:
            self.print_statistics(finished.statistics)

    def fail(self) -> bool:
        """Called when an error ends the search: prints the held solution, which was checked. Returns whether that is
        the complete answer."""
        self.print_held()
        self.stream.flush()
        return False

    def unknown(self) -> None:
        self.print_status("UNKNOWN")
        if self.options.statistics:
            self.print_statistics(NOTHING_COUNTED)

    def print_status(self, status: str) -> None:
        if status in STATUS_LINES:
            write_line(self.stream, STATUS_LINES[status])

    def print_statistics(self, statistics: Mapping[str, Any]) -> None:
        """The `%%%mzn-stat` block: numbers as they are, times as seconds, text in quotes."""
        lines = []
        for name, value in self.named(statistics).items():
            text = f'"{value}"' if isinstance(value, str) else format_number(value)
            lines.append(f"%%%mzn-stat: {name}={text}\n")
        write(self.stream, "".join(lines) + "%%%mzn-stat-end\n")

    def named(self, statistics: Mapping[str, Any]) -> Mapping[str, Any]:
        """The statistics by the names that the options ask for."""
        return turbo_statistics.named(statistics) if self.options.turbo_statistics else statistics
