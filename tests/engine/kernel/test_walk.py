"""The walk that lists matches, where its stack and its path have to grow."""

from __future__ import annotations

import pyarrow as pa
import pytest

import cereus
from tests.languages.ceql.harness import sizes


@pytest.mark.parametrize("chunk", [1, 7, 1 << 14])
@pytest.mark.parametrize("select", ["SELECT *", "SELECT ANY *"])
def test_long_matches_with_a_choice_at_every_event_are_listed_once_each(
    chunk: int, select: str
) -> None:
    """All but one of n events: of those that end with the last, n - 1 matches, one with ANY."""
    n = 400
    events = pa.table({"type": ["A"] * n})
    text = f"{select} WHERE {' ; '.join(['A'] * (n - 1))}"
    with sizes(chunk=chunk):
        listed = [match["positions"] for match in cereus.compile(text).run(events)]
    left_out = sorted(sorted(set(range(n)).difference(found)) for found in listed)
    if select == "SELECT *":
        assert left_out == [[i] for i in range(n)]
    else:
        assert len(left_out) == 2 and [n - 1] in left_out
