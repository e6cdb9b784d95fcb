"""Ranges of whole numbers are written out in order, empty ones too."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cereus.engine.ranges import ranges

PAIRS = st.lists(st.tuples(st.integers(-50, 50), st.integers(0, 6)), max_size=12)


@given(PAIRS)
def test_they_are_those_of_python(pairs: list[tuple[int, int]]) -> None:
    begins = np.array([begin for begin, _ in pairs], np.int64)
    sizes = np.array([size for _, size in pairs], np.int32)
    every = [number for begin, size in pairs for number in range(begin, begin + size)]
    assert ranges(begins, sizes).tolist() == every
