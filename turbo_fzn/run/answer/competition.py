"""The answer to an XCSP3 instance, as the XCSP3 competitions want it (their rules, and the output of ACE)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from turbo_fzn.run.answer.output import NOTHING_COUNTED, MiniZincStyle, format_number, write, write_line

if TYPE_CHECKING:
    from turbo_fzn.read.model import Model
    from turbo_fzn.run.answer.outcome import Core, Finished, Solution

INCOMPLETE = "d INCOMPLETE EXPLORATION"  # as ACE, a solver of XCSP3, prints if there may be other or better solutions


class CompetitionStyle(MiniZincStyle):
    """The style of the XCSP3 competitions. With -a and -i solutions are printed as they come, the status at the end."""

    def add(self, solution: Solution) -> None:
        """Prints the objective of an improvement, and holds the solution; with -a or -i prints the previous one."""
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

    def explain(self, core: Core) -> None:
        write(self.stream, "".join(f"c {line}\n" for line in core.lines()))

    def end(self, finished: Finished) -> None:
        """Prints the status, the last solution, and what was searched."""
        optimised = self.held is not None and self.held.objective is not None
        if finished.n_solutions == 0:
            status = "UNSATISFIABLE" if finished.complete else "UNKNOWN"
        else:
            status = "OPTIMUM FOUND" if finished.complete and optimised else "SATISFIABLE"
        write_line(self.stream, f"s {status}")
        self.print_held(status)
        write_line(self.stream, f"d FOUND SOLUTIONS {finished.n_solutions}")
        write_line(self.stream, "d COMPLETE EXPLORATION" if finished.complete else INCOMPLETE)
        if finished.unbounded:  # for which the competitions have no status
            write_line(self.stream, "d UNBOUNDED")
        if self.options.statistics:
            self.print_statistics(finished.statistics)

    def fail(self) -> bool:
        """Called when an error ends the search: prints the held solution. Returns whether there was one."""
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
        write(self.stream, "".join(f"d {name} {format_number(value)}\n" for name, value in named.items()))


def instantiation(solution: Solution, model: Model | None, kind: str) -> str:
    """The `v` line: all variables, in the order of the instance, and their values; `*`, any value, for a variable that
    the instance does not mention."""
    assert model is not None, "an XCSP3 instance has a model"
    texts = ["*" if value is None else str(value) for value in assignment(solution, model).values()]
    cost = "" if solution.objective is None else f' cost="{solution.objective}"'
    body = f"<list> {model.listing} </list> <values> {' '.join(texts)} </values>"
    return f'v <instantiation type="{kind}"{cost}> {body} </instantiation>'


def assignment(solution: Solution, model: Model) -> dict[str, int | str | None]:
    """The variables of an instance, in its order, with their values: a number or a symbol, and None for a variable that
    the instance does not mention."""
    ((item, values),) = solution.outputs
    numbers = dict(zip(model.arrays[item.name].elements, values.tolist()))
    symbols = {name: words[numbers[name]] for name, words in model.symbols.items()}
    return {**numbers, **symbols, **dict.fromkeys(model.unnamed)}
