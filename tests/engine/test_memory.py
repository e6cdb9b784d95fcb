"""Memory that is given again is never given while someone looks at it."""

from __future__ import annotations

import numpy as np
import pytest

from cereus.engine import memory
from cereus.engine.results.match_chunks import BufferPool, ChunkBuffer


@pytest.mark.parametrize("size", [10, 1 << 20])
def test_arrays_are_like_numpys(size: int) -> None:
    assert memory.empty(size, np.int32).shape == (size,)
    assert memory.empty((size, 3), np.float64).shape == (size, 3)
    assert memory.filled(size, 7, np.int64).tolist() == [7] * size
    places = np.arange(0, size, 2)
    assert memory.taken(np.arange(size), places).tolist() == places.tolist()


@pytest.mark.parametrize("size", [8, 1 << 16])
def test_a_chunk_is_in_use_while_a_part_of_it_is(size: int) -> None:
    chunk = ChunkBuffer(size, size, with_labels=True)
    states = [chunk.in_use]
    part = chunk.events[:2]
    states.append(chunk.in_use)
    del part
    states.append(chunk.in_use)
    assert states == [False, True, False]


def test_a_chunk_in_use_is_left_alone() -> None:
    chunks = BufferPool(1 << 14, with_labels=False)
    part = chunks.free().events[:3]
    assert chunks.free().events.base is not part.base


def test_chunks_that_are_filled_become_longer_up_to_a_limit() -> None:
    chunks = BufferPool(8, with_labels=False, most=20)
    sizes = []
    for _ in range(3):
        sizes.append((len(chunks.free().at), len(chunks.free().events)))
        chunks.filled()
    assert sizes == [(8, 64), (20, 256), (20, 256)]
