"""Where a launch is laid out for a GPU, all of its blocks are on the GPU at once: none waits for another one to end."""

from __future__ import annotations

import pytest

from support.launches import DEVICES, laid_out
from turbo_fzn.engine.abi.abi import STATE_BYTES


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
