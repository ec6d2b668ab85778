"""Solutions and status lines: MiniZinc's text protocol, and that of the XCSP3 competitions.

Sources: the FlatZinc specification of the MiniZinc handbook; the rules of the XCSP3 competitions. The language of the
input determines the style. All output is flushed at once, since the reader may stop the process at any time.

| | MiniZinc | XCSP3 |
|---|---|---|
| a solution | `name = value;` for every output item, then `----------` | `o` and its objective; in the end `v` |
| the end | `==========` where the whole space was searched | `s OPTIMUM FOUND`, `s SATISFIABLE`, … |
| whether it was searched | the same | `d COMPLETE EXPLORATION` or `d INCOMPLETE EXPLORATION` |
| statistics | `%%%mzn-stat: name=value` | `d name value` |
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from turbo_fzn import progress
from turbo_fzn.run import turbo_statistics

if TYPE_CHECKING:  # the status lines are also used before NumPy is loaded
    import numpy as np

    from turbo_fzn.options import Options
    from turbo_fzn.read.model import Model
    from turbo_fzn.run.outcome import Finished, Solution
    from turbo_fzn.tnf.language import Output

SEPARATOR = "----------"
COMPLETE = "=========="
UNSATISFIABLE = "=====UNSATISFIABLE====="
UNBOUNDED = "=====UNBOUNDED====="
UNKNOWN = "=====UNKNOWN====="
ERROR = "=====ERROR====="
INCOMPLETE = "d INCOMPLETE EXPLORATION"  # the line of ACE when there may be other or better solutions
PYTHON_TYPES: dict[str, Any] = {"bool": bool, "float": float}  # of values; all others are int
NOTHING_COUNTED = {"nodes": 0, "failures": 0}


def value_of(item: Output, values: np.ndarray) -> object:
    """The Python value of an output item (int, bool, or a flat list of them), given the values of its variables."""
    plain: list = [PYTHON_TYPES.get(item.kind, int)(v) for v in values]
    return plain if item.ranges is not None else plain[0]


def _format_value(item: Output, values: np.ndarray) -> str:
    """The value as FlatZinc text. Every version of MiniZinc reads `arrayNd(ranges, [...])`, for any index ranges."""
    if item.kind == "bool":
        texts = ["true" if v else "false" for v in values]
    elif item.kind == "float":
        texts = [float_text(v) for v in values.tolist()]
    else:
        texts = [str(v) for v in values.tolist()]
    if item.ranges is None:
        return texts[0]
    ranges = ", ".join(f"{low}..{high}" for low, high in item.ranges)
    return f"array{len(item.ranges)}d({ranges}, [{', '.join(texts)}])"


def float_text(value: float) -> str:
    """The shortest text that is read as the same number, in MiniZinc's form: with a point, and a zero without a
    sign."""
    mantissa, exponent, power = repr(value + 0.0).partition("e")
    return (mantissa if "." in mantissa else f"{mantissa}.0") + exponent + power


def _write_solution(stream: TextIO, outputs: Sequence[tuple[Output, np.ndarray]]) -> None:
    lines = [f"{item.name} = {_format_value(item, values)};\n" for item, values in outputs]
    write(stream, "".join(lines) + SEPARATOR + "\n")


def write_line(stream: TextIO, line: str) -> None:
    write(stream, line + "\n")


def write(stream: TextIO, text: str) -> None:
    progress.erase()  # the terminal may be the same
    stream.write(text)
    stream.flush()


def _write_statistics(stream: TextIO, statistics: Mapping[str, Any]) -> None:
    """Writes the `%%%mzn-stat` block: numbers as they are, times as seconds, text in quotes."""
    lines = []
    for name, value in statistics.items():
        text = f'"{value}"' if isinstance(value, str) else _format_number(value)
        lines.append(f"%%%mzn-stat: {name}={text}\n")
    write(stream, "".join(lines) + "%%%mzn-stat-end\n")


def _format_number(value: Any) -> str:
    return f"{value:.6f}" if isinstance(value, float) else str(value)


class MiniZincStyle:
    """Prints the answers in MiniZinc's protocol. In optimisation, improving solutions before the last one are printed
    only if the options ask for them."""

    def __init__(self, stream: TextIO, options: Options, model: Model | None = None):
        self.stream, self.options, self.model = stream, options, model
        self.every = options.intermediate or options.all_solutions
        self.held: Solution | None = None  # the best so far, if it is not printed

    def add(self, solution: Solution) -> None:
        if self.every or solution.objective is None:
            self.print_solution(solution)
            return
        if self.held is not None and self.held.objective == solution.objective:
            self.print_held()
        self.held = solution

    def print_held(self) -> None:
        held, self.held = self.held, None
        if held is not None:
            self.print_solution(held)

    def print_solution(self, solution: Solution) -> None:
        if solution.statistics is not None:
            _write_statistics(self.stream, self.named(solution.statistics))
        _write_solution(self.stream, solution.outputs)

    def end(self, finished: Finished) -> None:
        self.print_held()
        status = _status_line(finished)
        if status:
            write_line(self.stream, status)
        if self.options.statistics:
            _write_statistics(self.stream, self.named(finished.statistics))

    def fail(self) -> bool:
        """Called when an error ends the search: prints the held solution, which was checked. Returns whether that is
        the complete answer."""
        self.print_held()
        return False

    def unknown(self) -> None:
        write_line(self.stream, UNKNOWN)
        if self.options.statistics:
            _write_statistics(self.stream, self.named(NOTHING_COUNTED))

    def named(self, statistics: Mapping[str, Any]) -> Mapping[str, Any]:
        """The statistics by the names that the options ask for."""
        return turbo_statistics.named(statistics) if self.options.turbo_statistics else statistics


def _status_line(finished: Finished) -> str:
    """The last line of the answer; empty if there are solutions and there may be more."""
    if finished.unbounded:
        return UNBOUNDED
    if finished.n_solutions == 0:
        return UNSATISFIABLE if finished.complete else UNKNOWN
    return COMPLETE if finished.complete else ""


class CompetitionStyle(MiniZincStyle):
    """Prints the answers in the format of the XCSP3 competitions. With -a and -i solutions are printed as they come,
    the status at the end."""

    def add(self, solution: Solution) -> None:
        improves = solution.objective is not None and (self.held is None or self.held.objective != solution.objective)
        if improves:
            write_line(self.stream, f"o {solution.objective}")
        if self.every or not improves:
            self.print_held()
        self.held = solution

    def print_held(self, status: str = "") -> None:
        held, self.held = self.held, None
        if held is not None:
            kind = "optimum" if "OPTIMUM" in status else "solution"
            write_line(self.stream, instantiation(held, self.model, kind))

    def end(self, finished: Finished) -> None:
        optimised = self.held is not None and self.held.objective is not None
        if finished.n_solutions == 0:
            status = "UNSATISFIABLE" if finished.complete else "UNKNOWN"
        else:
            status = "OPTIMUM FOUND" if finished.complete and optimised else "SATISFIABLE"
        write_line(self.stream, f"s {status}")
        self.print_held(status)
        write_line(self.stream, f"d FOUND SOLUTIONS {finished.n_solutions}")
        write_line(self.stream, "d COMPLETE EXPLORATION" if finished.complete else INCOMPLETE)
        if finished.unbounded:  # the competitions have no status for it
            write_line(self.stream, "d UNBOUNDED")
        if self.options.statistics:
            self.print_statistics(finished.statistics)

    def fail(self) -> bool:
        answered = self.held is not None
        if answered:
            write_line(self.stream, "s SATISFIABLE")
            self.print_held()
            write_line(self.stream, INCOMPLETE)
        return answered

    def unknown(self) -> None:
        write_line(self.stream, "s UNKNOWN")
        write_line(self.stream, INCOMPLETE)
        if self.options.statistics:
            self.print_statistics(NOTHING_COUNTED)

    def print_statistics(self, statistics: Mapping[str, Any]) -> None:
        named = self.named(statistics)
        write(self.stream, "".join(f"d {name} {_format_number(value)}\n" for name, value in named.items()))


def instantiation(solution: Solution, model: Model | None, kind: str) -> str:
    """The `v` line: all variables in the order of the instance, and their values; `*`, any value, for a variable that
    occurs in no constraint."""
    ((item, values),) = solution.outputs
    texts = [str(v) for v in values.tolist()]
    assert model is not None, "an XCSP3 instance has a model"
    names = model.arrays[item.name].elements
    if model.unnamed:
        texts = ["*" if name in model.unnamed else text for name, text in zip(names, texts)]
    if model.symbols:
        texts = [
            model.symbols[name][int(text)] if name in model.symbols and text != "*" else text
            for name, text in zip(names, texts)
        ]
    cost = "" if solution.objective is None else f' cost="{solution.objective}"'
    body = f"<list> {model.listing} </list> <values> {' '.join(texts)} </values>"
    return f'v <instantiation type="{kind}"{cost}> {body} </instantiation>'


def _is_xcsp3(path: str) -> bool:
    """Whether a file is an XCSP3 instance, by its name alone: errors, too, must have the right style."""
    return ".xml" in [suffix.lower() for suffix in Path(path).suffixes[-2:]]


def style_of(path: str, model: Model | None = None) -> type[MiniZincStyle]:
    """The style for a file, by its name, or by its model if it has been read: XCSP3 instances may have other names."""
    in_xcsp3 = _is_xcsp3(path) or (model is not None and model.language == "XCSP3")
    return CompetitionStyle if in_xcsp3 else MiniZincStyle


def unknown_answer(options: Options) -> str:
    """The whole output to stdout when there is no result."""
    text = io.StringIO()
    style_of(options.file)(text, options).unknown()
    return text.getvalue()


def error_line(argv: Sequence[str], unsupported: bool) -> str:
    """The line on stdout for an error, in the style of the file that the command line names."""
    if not any(_is_xcsp3(word) for word in argv):
        return ERROR
    return "s UNSUPPORTED" if unsupported else "s UNKNOWN"
