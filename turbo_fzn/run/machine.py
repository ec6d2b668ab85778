"""The resources of a run: cores, a GPU, other ranks."""

from __future__ import annotations

import os
from dataclasses import dataclass

from turbo_fzn.engine.cuda import wake
from turbo_fzn.options.options import Options
from turbo_fzn.ranks.world import world


@dataclass(frozen=True, repr=False)
class Machine:
    """The machine: the number of `cores` that this process may use; `no_gpu`, the reason why there is no GPU, None if
    there is a driver; `is_rank`, whether this process is one of several ranks."""

    cores: int
    no_gpu: str | None
    is_rank: bool = False


def here(options: Options) -> Machine:
    """The machine of this process. Does not look for a driver if `--arch` excludes GPUs."""
    no_gpu = wake.foreseen_absence() if options.may_use_gpu() else "--arch wants none"
    return Machine(len(os.sched_getaffinity(0)), no_gpu, world() is not None)
