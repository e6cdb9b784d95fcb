"""The walk that lists matches, where its stack and its path have to grow."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cereus
from tests.languages.ceql.harness import sizes


@pytest.mark.parametrize("chunk", [1, 1 << 14])
def test_long_matches_with_many_choices_are_listed_once_each(chunk: int) -> None:
    """All but one of n events in a row: n matches, each but one event long."""
    n = 280
    events = pa.table({"type": ["A"] * n})
    text = f"SELECT * WHERE {' ; '.join(['A'] * (n - 1))}"
    with sizes(chunk=chunk):
        listed = [match["positions"] for match in cereus.compile(text).run(events)]
    left_out = sorted(sorted(set(range(n)).difference(found)) for found in listed)
    assert left_out == [[i] for i in range(n)]
