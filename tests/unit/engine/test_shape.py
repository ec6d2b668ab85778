"""Where a launch is laid out for a GPU, all of its blocks are on the GPU at once: none waits for another one to end."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from turbo_fzn.engine.abi.abi import STATE_BYTES
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


@pytest.mark.parametrize("capacity", [100, 700, 3000, 20000])
@pytest.mark.parametrize("device", DEVICES)
def test_all_blocks_fit_at_once(device, capacity):
    shared_per_sm, shared_per_block, reserved, threads_per_sm, granule = DEVICES[device]
    for store_bytes in range(512, shared_per_block + 4096, 208):
        for registers in (96, 128):
            shape = laid_out(device, store_bytes, capacity, registers)
            taken = -(-(reserved + STATE_BYTES + shape.shared_bytes) // granule) * granule
            assert shape.blocks * taken <= shared_per_sm, (store_bytes, shape)
            assert STATE_BYTES + shape.shared_bytes <= shared_per_block
            assert shape.blocks * shape.threads * registers <= 65536 and shape.blocks * shape.threads <= threads_per_sm
            assert shape.store_shared or store_bytes > shared_per_block - 4096


@pytest.mark.parametrize("device", DEVICES)
def test_little_shared_memory_is_left_unused(device):
    """Where stores fill it: the lists get what is left of each block's part, to within its last multiples."""
    shared_per_sm, _, reserved, _, _ = DEVICES[device]
    for store_bytes in range(24 << 10, 40 << 10, 208):
        shape = laid_out(device, store_bytes, 20000, 96)
        assert shared_per_sm // shape.blocks - (reserved + STATE_BYTES + shape.shared_bytes) < 256 + 32 + 16
