"""The measurements of a run by its nodes, and their form as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from turbo_fzn.run.answer.outcome import CLOSED


@dataclass
class Run:
    """One model on one engine. Times in seconds; `status` as in api.Result, or the error; `sense`: 1 to minimise, -1 to
    maximise, 0 to satisfy; `improvements`: (seconds since the model was prepared, objective, method), in order.
    `variant`: its names, empty for the usual build; `memory`: bytes by kind; `phases`: seconds by phase, from reading
    to the end of the search, which is divided where kernels count where the time goes."""

    model: str
    engine: str
    status: str
    objective: float | None = None
    nodes: int = 0
    nodes_per_second: float = 0.0
    runs_per_second: float = 0.0
    runs_per_node: float = 0.0
    rounds_per_node: float = 0.0
    idle_share: float = 0.0
    blocks: int = 0
    threads: int = 0
    store: str = ""
    prepare_seconds: float = 0.0
    engine_seconds: float = 0.0
    compile_seconds: float = 0.0
    best_seconds: float | None = None
    solutions: int = 0
    peer_ratio: float | None = None
    fixpoint_errors: int = 0
    activities: dict[str, float] = field(default_factory=dict)
    sense: int = 0
    seconds: float = 0.0
    improvements: list[tuple[float, float, str]] = field(default_factory=list)
    variant: str = ""
    rounds_per_second: float = 0.0
    rows_in: str = ""
    memory: dict[str, int] = field(default_factory=dict)
    phases: dict[str, float] = field(default_factory=dict)
    subproblems: dict[str, int] = field(default_factory=dict)

    @property
    def is_closed(self) -> bool:
        """Whether the whole space was searched."""
        return self.status in CLOSED

    @property
    def has_failed(self) -> bool:
        return self.status.startswith("error")


def load(path: Path) -> list[Run]:
    """The runs of a JSON file. ValueError where it is something else."""
    try:
        return [Run(**run) for run in json.loads(path.read_text())]
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: not what --json has written") from error


def geometric_mean(values: Iterable[float]) -> float:
    positive = [value for value in values if value > 0]
    return math.exp(sum(map(math.log, positive)) / len(positive)) if positive else 0.0
