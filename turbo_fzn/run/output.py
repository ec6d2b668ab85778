"""Solutions and status lines in MiniZinc's text protocol.

Sources: the FlatZinc specification of the MiniZinc handbook. A solution block is `name = value;` for every output
item, then `----------`; a marker stands alone on its line; everything is flushed at once, since whoever reads may stop
the process at any time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from turbo_fzn import progress

if TYPE_CHECKING:  # the status lines are wanted also where NumPy is not loaded yet
    import numpy as np

    from turbo_fzn.tnf.language import Output

SEPARATOR = "----------"
COMPLETE = "=========="
UNSATISFIABLE = "=====UNSATISFIABLE====="
UNKNOWN = "=====UNKNOWN====="
ERROR = "=====ERROR====="


def value_of(item: Output, values: np.ndarray) -> object:
    """The Python value of an output item (int, bool, or a flat list of them), given the values of its variables."""
    plain: list = [bool(v) for v in values] if item.kind == "bool" else [int(v) for v in values]
    return plain if item.ranges is not None else plain[0]


def format_value(item: Output, values: np.ndarray) -> str:
    """As FlatZinc text. `arrayNd(ranges, [...])` is understood by every version of MiniZinc, for any index ranges."""
    if item.kind == "bool":
        texts = ["true" if v else "false" for v in values]
    else:
        texts = [str(v) for v in values.tolist()]
    if item.ranges is None:
        return texts[0]
    ranges = ", ".join(f"{low}..{high}" for low, high in item.ranges)
    return f"array{len(item.ranges)}d({ranges}, [{', '.join(texts)}])"


def write_solution(stream: TextIO, outputs: Sequence[tuple[Output, np.ndarray]]) -> None:
    lines = [f"{item.name} = {format_value(item, values)};\n" for item, values in outputs]
    write(stream, "".join(lines) + SEPARATOR + "\n")


def write_line(stream: TextIO, line: str) -> None:
    write(stream, line + "\n")


def write(stream: TextIO, text: str) -> None:
    progress.erase()  # the terminal may be the same
    stream.write(text)
    stream.flush()


def write_statistics(stream: TextIO, statistics: Mapping[str, Any]) -> None:
    """The `%%%mzn-stat` block: numbers as they are, times as seconds, text in quotes."""
    lines = []
    for name, value in statistics.items():
        text = f'"{value}"' if isinstance(value, str) else f"{value:.6f}" if isinstance(value, float) else str(value)
        lines.append(f"%%%mzn-stat: {name}={text}\n")
    write(stream, "".join(lines) + "%%%mzn-stat-end\n")
