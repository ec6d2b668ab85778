"""Ways of messages between ranks: each rank is reached once."""

from __future__ import annotations

from collections import Counter

import pytest

from turbo_fzn.ranks.wire import children, parent


@pytest.mark.parametrize("size", [1, 2, 3, 8, 13, 64])
def test_news_reaches_every_rank_once_and_soon(size):
    for origin in range(size):
        reached, wave, steps = Counter([origin]), [origin], 0
        while wave:
            wave = [target for rank in wave for target in children(rank, size, origin)]
            reached.update(wave)
            steps += bool(wave)
        assert reached == Counter(range(size)) and steps <= size.bit_length()
    assert all(rank in children(parent(rank), size) for rank in range(1, size))
