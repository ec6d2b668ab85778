"""A TNF as text: `--dump-tnf FILE` writes it, `fzn-turbo FILE.tnf` solves it.

One item a line, words separated by blanks; `#` begins a comment. Variables are numbered in the order of their lines.

    var LOWER UPPER                      a variable; `-inf` and `inf` for no bound
    real LOWER UPPER                     a real one, its bounds being numbers such as -0.5
    row OP X Y Z                         x = y op z; for ELEMENT, z is an offset into the table
    table VALUE ...                      entries of the table; several lines continue it
    minimize X | maximize X              the objective (neither: satisfy)
    search VARCHOICE VALUECHOICE X ...   a strategy; X:M where the choice looks at the bounds of M, and X:M:1>5,5>9
                                         where M has no values between 1 and 5, and 5 and 9 (for MAX_REGRET)
    suggest VARCHOICE VALUECHOICE X ...  a strategy that is our default, not the model's
    output KIND NAME X                   a scalar output item, KIND bool, int or float
    output KIND NAME LOW..HIGH ... : X ...   an array with its index ranges
    warm_start X=VALUE ...               a hint
    neighbourhood X=PERCENT ...          the variables that a neighbourhood fixes, each with its probability
    restarts KIND SCALE BASE             when searches restart, as --restart
    infeasible                           the front end has found a contradiction

The columns of a large model are written and read in one go each, so that a dump of 300,000 rows takes about a second.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

import numpy as np

from turbo_fzn.base import floats
from turbo_fzn.base.domains import INFINITY
from turbo_fzn.base.errors import ModelError, UsageError
from turbo_fzn.read.files import read_text
from turbo_fzn.tnf.language import (
    RESTARTS,
    TNF,
    BrokenRule,
    FloatOp,
    Floats,
    Op,
    Output,
    Restarts,
    Strategy,
    ValueChoice,
    VarChoice,
)

OPERATORS: dict[str, Op | FloatOp] = {op.name: op for op in (*Op, *FloatOp)}
GOALS = {"minimize": 1, "maximize": -1}
TABLE_VALUES_PER_LINE = 20  # format: of the text of a table
LINE = re.compile("^.*$", re.MULTILINE)  # line by line: a list of all lines would take memory and time


def write_file(tnf: TNF, path: str) -> None:
    """Writes the text of a TNF to the file `path`. Raises UsageError where it cannot be written."""
    try:
        with open(path, "w", encoding="utf-8") as file:
            write(tnf, file)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def write(tnf: TNF, file: TextIO) -> None:
    """Writes the text of a TNF to an open file."""
    file.write(f"# {tnf.n_vars} variables, {tnf.n_rows} rows\n")
    if tnf.infeasible:
        file.write("infeasible\n")
    real = np.zeros(tnf.n_vars, dtype=bool) if tnf.floats is None else tnf.floats.mask
    file.writelines(
        f"real {floats.number(low)!r} {floats.number(high)!r}\n"
        if is_real
        else f"var {_show_bound(low)} {_show_bound(high)}\n"
        for low, high, is_real in zip(tnf.lower.tolist(), tnf.upper.tolist(), real.tolist())
    )
    names = {int(op): name for name, op in OPERATORS.items()}
    columns = (column.tolist() for column in (tnf.op, tnf.x, tnf.y, tnf.z))
    file.writelines(f"row {names[op]} {x} {y} {z}\n" for op, x, y, z in zip(*columns))
    values = tnf.tables.tolist()
    file.writelines(
        f"table {join(values[start : start + TABLE_VALUES_PER_LINE])}\n"
        for start in range(0, len(values), TABLE_VALUES_PER_LINE)
    )
    file.writelines(f"{goal} {tnf.objective}\n" for goal, sense in GOALS.items() if sense == tnf.sense)
    for strategy in tnf.strategies:
        file.write(
            join(
                [
                    "search" if strategy.asked else "suggest",
                    strategy.var_choice.name,
                    strategy.value_choice.name,
                    *members(strategy),
                ]
            )
            + "\n"
        )
    for output in tnf.outputs:
        ranges = "" if output.ranges is None else join([f"{low}..{high}" for low, high in output.ranges]) + " : "
        file.write(f"output {output.kind} {output.name} {ranges}{join(output.variables.tolist())}".rstrip() + "\n")
    file.writelines(_hints(tnf))


def _hints(tnf: TNF) -> Iterator[str]:
    """The lines of warm start, neighbourhood and restarts."""
    for word, pairs in (("warm_start", tnf.warm_start), ("neighbourhood", tnf.stated)):
        if pairs is not None:
            yield f"{word} {join([f'{x}={value}' for x, value in zip(*pairs)])}\n"
    if tnf.restarts is not None:
        yield f"restarts {join(list(tnf.restarts))}\n"


def members(strategy: Strategy) -> Iterator[str]:
    """The text of the variables of a strategy."""
    for place, (variable, measured) in enumerate(zip(strategy.variables.tolist(), strategy.measured.tolist())):
        pairs = strategy.gaps[place].tolist() if strategy.gaps is not None else []
        holes = ",".join(f"{below}>{above}" for below, above in pairs)
        yield (
            f"{variable}:{measured}:{holes}"
            if holes
            else f"{variable}:{measured}"
            if measured != variable
            else f"{variable}"
        )


def join(words: list) -> str:
    return " ".join(map(str, words))


def _show_bound(bound: int) -> str:
    return "inf" if bound >= INFINITY else "-inf" if bound <= -INFINITY else str(bound)


def read(path: str | Path) -> TNF:
    """The TNF in a file. Raises UsageError if it cannot be read, ModelError with the line if it is no TNF."""
    return _TnfReader(str(path)).read(read_text(str(path)))


class _TnfReader:
    """Collects the items of a text; the variables that they name are checked at the end, when all are known."""

    def __init__(self, file: str):
        self.file = file
        self.bounds: list[tuple[int, int]] = []
        self.reals: list[int] = []
        self.rows: list[tuple[int, int, int, int]] = []
        self.tables: list[int] = []
        empty = np.zeros(0, np.int64)
        self.tnf = TNF(empty, empty, empty, empty, empty, empty, empty)
        self.mentioned: list[tuple[int, list[int]]] = []  # (line, variables)
        self.line = 0
        self.lines: dict[str, list[int]] = {"var": [], "row": []}  # the line of each variable and each row
        self.items: dict[str, Callable[[list[str]], None]] = {
            "var": self.read_var,
            "real": self.read_real,
            "row": self.read_row,
            "table": lambda words: self.tables.extend(map(_read_integer, words)),
            "minimize": lambda words: self.read_goal(1, words),
            "maximize": lambda words: self.read_goal(-1, words),
            "search": self.read_search,
            "suggest": lambda words: self.read_search(words, asked=False),
            "output": self.read_output,
            "warm_start": self.read_warm_start,
            "neighbourhood": self.read_neighbourhood,
            "restarts": self.read_restarts,
            "infeasible": self.read_infeasible,
        }

    def read(self, text: str) -> TNF:
        for number, match in enumerate(LINE.finditer(text), 1):
            line, self.line = match.group(), number
            words = line.partition("#")[0].split()
            if not words:
                continue
            try:
                self.items[words[0]](words[1:])
            except KeyError as error:
                raise self.error(f"unknown word {str(error)[:80]}") from None
            except (ValueError, OverflowError) as error:
                raise self.error(str(error)[:200]) from None
        return self.finish()

    def error(self, message: str) -> ModelError:
        return ModelError(message, self.file, self.line, 1)

    def mention(self, variables: list[int]) -> np.ndarray:
        self.mentioned.append((self.line, variables))
        return np.array(variables, dtype=np.int32)

    def read_var(self, words: list[str]) -> None:
        low, high = words
        bounds = _read_bound(low), _read_bound(high)
        if low == "inf" or high == "-inf":
            raise ValueError(f"the domain {low} {high} has no integers")
        if bounds[0] > bounds[1] and not self.tnf.infeasible:
            raise ValueError(f"the domain {low} {high} is empty")
        self.bounds.append(bounds)
        self.lines["var"].append(self.line)

    def read_real(self, words: list[str]) -> None:
        low, high = map(float, words)
        if not low <= high:
            raise ValueError(f"the domain {words[0]} {words[1]} is empty")
        self.reals.append(len(self.bounds))
        self.bounds.append((floats.below(low), floats.above(high)))
        self.lines["var"].append(self.line)

    def read_row(self, words: list[str]) -> None:
        name, x, y, z = words
        self.rows.append((int(OPERATORS[name]), _read_number(x), _read_number(y), _read_number(z)))
        self.lines["row"].append(self.line)

    def read_goal(self, sense: int, words: list[str]) -> None:
        (word,) = words
        if self.tnf.sense:
            raise ValueError("a second objective")
        self.tnf.objective, self.tnf.sense = int(self.mention([int(word)])[0]), sense

    def read_search(self, words: list[str], asked: bool = True) -> None:
        variable_choice, value_choice, *variables = words
        choices = VarChoice[variable_choice], ValueChoice[value_choice]
        parts = [_read_member(word) for word in variables]
        labelled = self.mention([variable for variable, _, _ in parts])
        measured = self.mention([variable for _, variable, _ in parts])
        gaps = [pairs for _, _, pairs in parts] if choices[0] == VarChoice.MAX_REGRET else None
        self.tnf.strategies.append(Strategy(*choices, labelled, measured, gaps, asked))

    def read_output(self, words: list[str]) -> None:
        kind, name, *rest = words
        if kind not in ("int", "bool", "float"):
            raise ValueError(f"the kind of an output is int, bool or float, found {kind}")
        ranges = None
        if ":" in rest:
            colon = rest.index(":")
            ranges = [_read_range(word) for word in rest[:colon]]
            rest = rest[colon + 1 :]
        size = 1
        for low, high in ranges or []:
            size *= high - low + 1
        if len(rest) != size:
            raise ValueError(f"output {name} has {len(rest)} variables, its ranges say {size}")
        self.tnf.outputs.append(Output(name, kind, ranges, self.mention([int(word) for word in rest])))

    def read_warm_start(self, words: list[str]) -> None:
        self.tnf.warm_start = self.read_pairs("warm_start", words)

    def read_neighbourhood(self, words: list[str]) -> None:
        variables, percentages = self.read_pairs("neighbourhood", words)
        if np.any((percentages < 0) | (percentages > 100)):
            raise ValueError("a percentage is in 0..100")
        self.tnf.stated = variables, percentages

    def read_pairs(self, item: str, words: list[str]) -> tuple[np.ndarray, np.ndarray]:
        pairs = [word.split("=") for word in words]
        if any(len(pair) != 2 for pair in pairs):
            raise ValueError(f"{item} takes words of the form variable=value")
        variables = self.mention([int(variable) for variable, _ in pairs])
        return variables, np.array([_read_integer(value) for _, value in pairs], dtype=np.int64)

    def read_restarts(self, words: list[str]) -> None:
        kind, scale, base = words
        if kind not in RESTARTS:
            raise ValueError(f"the kinds of restarts are {', '.join(RESTARTS)}")
        if np.isnan(float(base)):
            raise ValueError("the base of restarts is not a number")
        self.tnf.restarts = Restarts(kind, _read_integer(scale), float(base))

    def read_infeasible(self, words: list[str]) -> None:
        self.tnf.infeasible = True

    def finish(self) -> TNF:
        tnf = self.tnf
        n = len(self.bounds)
        for line, variables in self.mentioned:
            for variable in variables:
                if not 0 <= variable < n:
                    raise ModelError(f"there is no variable {variable}", self.file, line, 1)
        columns = np.array(self.rows, dtype=np.int32).reshape(-1, 4).T
        tnf.op, tnf.x, tnf.y, tnf.z = (column.copy() for column in columns)
        tnf.lower, tnf.upper = np.array(self.bounds, dtype=np.int64).reshape(-1, 2).T.copy()
        tnf.tables = np.array(self.tables, dtype=np.int64)
        if self.reals or np.any(tnf.op > max(Op)):
            tnf.floats = Floats(np.isin(np.arange(n), self.reals))
        try:
            tnf.check()
        except BrokenRule as error:
            place = (self.lines[error.kind][error.number], 1) if error.kind else ()
            raise ModelError(error.message, self.file, *place) from None
        return tnf


def _read_number(word: str) -> int:
    """The number of a variable, or the offset of a table."""
    value = int(word)
    if abs(value) >= 2**31:
        raise ValueError(f"{word} is no number of a variable")
    return value


def _read_member(word: str) -> tuple[int, int, np.ndarray]:
    """(variable, measured variable, gaps int64 [k, 2] in the domain of the measured variable) of a strategy's word."""
    variable, _, rest = word.partition(":")
    measured, _, holes = rest.partition(":")
    pairs = [_read_gap(gap) for gap in holes.split(",")] if holes else []
    if any(above > below for (_, above), (below, _) in zip(pairs, pairs[1:])):
        raise ValueError(f"the gaps {holes} are not in order")
    return int(variable), int(measured or variable), np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _read_gap(word: str) -> tuple[int, int]:
    below, _, above = word.partition(">")
    if _read_integer(above) - _read_integer(below) < 2:
        raise ValueError(f"there is no gap in {word}")
    return _read_integer(below), _read_integer(above)


def _read_integer(word: str) -> int:
    value = int(word)
    if abs(value) >= INFINITY:
        raise ValueError(f"{word}: the largest absolute value is 2**62 - 1")
    return value


def _read_bound(word: str) -> int:
    return {"inf": INFINITY, "-inf": -INFINITY}[word] if word.endswith("inf") else _read_integer(word)


def _read_range(word: str) -> tuple[int, int]:
    low, dots, high = word.partition("..")
    if not dots:
        raise ValueError(f"expected a range, found {word}")
    return _read_integer(low), _read_integer(high)
