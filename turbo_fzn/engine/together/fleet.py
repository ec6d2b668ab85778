"""All GPUs of a host as one engine: a team with one engine for each device, which share the tree (team.py, tree.py).

The devices may differ in size and architecture: each gets as many blocks as fit it, and its own kernels. A device whose
engine cannot be made is left out with a warning.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from turbo_fzn.base.errors import EngineError
from turbo_fzn.engine.contract import Engine
from turbo_fzn.engine.cuda import gpu
from turbo_fzn.engine.cuda.devices import chosen, driver
from turbo_fzn.engine.layout.layout import Settings
from turbo_fzn.engine.together.maker import describe
from turbo_fzn.engine.together.team import Team
from turbo_fzn.tnf.language import TNF

log = logging.getLogger("turbo_fzn")

SEEDS_APART = 1_000_003  # formula: difference of the seeds of two devices, which makes their neighbourhoods differ


class _Making:
    """Makes an engine in a thread."""

    def __init__(self, tnf: TNF, exports: np.ndarray, settings: Settings):
        self.arguments = tnf, exports, settings
        self.engine: gpu.GpuEngine | None = None
        self.failure: Exception | None = None
        self.thread = threading.Thread(target=self._run, name=f"make-gpu{settings.device}", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        try:
            self.engine = gpu.make_elsewhere(*self.arguments)
        except Exception as error:
            self.failure = error


def devices(wanted: str) -> list[int]:
    """The numbers of the GPUs that `wanted` names (devices.chosen)."""
    return chosen(wanted, driver().Device.count())


def make(tnf: TNF, exports: np.ndarray, settings: Settings, wanted: str) -> Engine:
    """An engine on the GPUs that `wanted` names (devices.chosen); with one block, on the first of them only."""
    numbers = devices(wanted)
    if settings.blocks == 1:
        numbers = numbers[:1]
    if len(numbers) == 1:
        return gpu.make_elsewhere(tnf, exports, replace(settings, device=numbers[0] or None))
    return Team(make_all(tnf, exports, settings, numbers), [], tnf.sense)


def make_all(tnf: TNF, exports: np.ndarray, settings: Settings, numbers: Sequence[int]) -> list[gpu.GpuEngine]:
    """The engines of the devices, without engines that cannot be made. Raises EngineError if no engine can be made."""
    makings = [
        _Making(tnf, exports, replace(settings, device=device, seed=settings.seed + SEEDS_APART * place, shares=True))
        for place, device in enumerate(numbers)
    ]
    for making, device in zip(makings, numbers):
        making.thread.join()
        if making.failure is not None:
            log.warning("GPU %d is left out: %s", device, describe(making.failure))
    engines = [making.engine for making in makings if making.engine is not None]
    if not engines:
        raise EngineError("none of the GPUs can be used")
    return engines
