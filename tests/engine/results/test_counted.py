"""How many matches there are, whatever batches their counts come in."""

from __future__ import annotations

import pyarrow as pa

from cereus.engine.results.counts import counted


def test_sums_of_batches_are_not_rounded_one_by_one() -> None:
    batches = [pa.record_batch({"count": pa.array([count])}) for count in (2.0**53, 1.0, 1.0)]
    assert counted(batches) == 2.0**53 + 2


def test_a_count_that_fits_is_a_whole_number() -> None:
    (batch,) = pa.table({"count": pa.array([1.0, 2.0])}).to_batches()
    assert counted([batch, batch]) == 6 and isinstance(counted([batch]), int)
