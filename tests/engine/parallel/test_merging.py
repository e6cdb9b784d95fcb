"""Results of parts are put in order by turn and rank; those of equal rank stay as they are."""

from __future__ import annotations

from random import Random

import numpy as np
import pyarrow as pa
import pytest

from cereus.engine.parallel.merging import LONG_RUN, RankedRows, merged
from tests.volume import volume


def part(segment: int, ranks: list[int], first: int) -> RankedRows:
    rows = pa.RecordBatch.from_pydict({"n": range(first, first + len(ranks))})
    return RankedRows(rows, segment, np.array(ranks, np.int32))


def in_order(parts: list[RankedRows]) -> list[int]:
    """The same row by row."""
    rows = [
        (each.segment, int(rank), row)
        for each in parts
        for rank, row in zip(each.ranks, each.rows.column(0).to_pylist(), strict=True)
    ]
    return [row for _, _, row in sorted(rows, key=lambda each: each[:2])]


@pytest.mark.parametrize("longest", [1, 3, 3 * LONG_RUN])
def test_any_parts_come_in_order(longest: int) -> None:
    for seed in range(volume(20, 500)):
        draw, parts, first = Random(seed), [], 0
        for _ in range(draw.randint(0, 5)):
            runs = [
                [draw.randrange(6)] * draw.randint(1, longest) for _ in range(draw.randint(0, 6))
            ]
            ranks = [rank for run in runs for rank in run]
            parts.append(part(draw.randrange(2), ranks, first))
            first += len(ranks)
        found = [row for batch in merged(parts) for row in batch.column(0).to_pylist()]
        assert found == in_order(parts)


def test_long_runs_are_not_copied() -> None:
    parts = [part(0, [0] * LONG_RUN + [2] * LONG_RUN, 0), part(0, [1] * LONG_RUN, 2 * LONG_RUN)]
    batches = list(merged(parts))
    assert [batch.num_rows for batch in batches] == [LONG_RUN] * 3
    given = {each.rows.column(0).buffers()[1].address for each in parts}
    assert {batch.column(0).buffers()[1].address for batch in batches} == given
