"""Models laid out for a launch on a GPU."""

from __future__ import annotations

from types import SimpleNamespace

from turbo_fzn.engine.cuda.shape import Shape, launch_shape
from turbo_fzn.engine.layout.layout import Settings

# Of sm_70, sm_80, sm_86 and sm_90: bytes of shared memory an SM, those that a block may have and those that the system
# takes of each block; threads an SM; and of how many bytes what a block takes is a multiple (CUDA's occupancy tables).
DEVICES = {
    "sm_70": (98304, 98304, 0, 2048, 256),
    "sm_80": (167936, 166912, 1024, 2048, 128),
    "sm_86": (102400, 101376, 1024, 1536, 128),
    "sm_90": (233472, 232448, 1024, 2048, 128),
}
USUAL = Settings(blocks=0)


def laid_out(
    device: str, store_bytes: int, capacity: int, registers: int, settings: Settings = USUAL, rows_bytes: int = 0
) -> Shape:
    shared_per_sm, shared_per_block, shared_reserved, threads_per_sm, _ = DEVICES[device]
    here = SimpleNamespace(
        shared_per_sm=shared_per_sm,
        shared_per_block=shared_per_block,
        shared_reserved=shared_reserved,
        registers_per_sm=65536,
        threads_per_sm=threads_per_sm,
        sms=1,
    )
    layout = SimpleNamespace(
        store_bytes=store_bytes,
        rows_bytes=rows_bytes,
        queue_capacity=capacity,
        changed_capacity=capacity // 2,
        tnf=SimpleNamespace(floats=None),
    )
    return launch_shape(here, layout, {True: registers, False: registers}, settings)  # type: ignore[arg-type]
