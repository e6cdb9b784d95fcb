"""SREMO on Spark gives what it gives here: in slots of the kernel, and by states with values."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import cereus

pytestmark = pytest.mark.spark

TICKS = {
    "type": ["BUY", "BUY", "OTHER", "SELL", "SELL", "BUY", "SELL"],
    "id": [1, 2, 1, 1, 2, 1, 1],
    "t": list(range(7)),
}


@pytest.mark.parametrize(
    "text",
    [
        "any({BUY:} -> r, {SELL: id = r.id}) WITHIN 10 EVENTS",
        "{BUY:} -> r . !{BUY:} . {SELL: NOT id != r.id} WITHIN 10 [t]",
        "next({BUY:}, {SELL:}) PARTITION BY id WITHIN 10 [t]",
        "DETECT any({BUY:} -> r, {SELL: id = r.id}) WITHIN 4 [t]",
    ],
)
def test_the_same_matches_on_spark(spark: Any, text: str) -> None:
    from cereus import spark as cs

    query = cereus.compile(text, dialect="sremo", stream=cereus.Stream(time="t"))
    here = query.run(pa.table(TICKS)).table
    frame = spark.createDataFrame(list(zip(*TICKS.values(), strict=True)), list(TICKS))
    there = cs.match(frame, query).toArrow()
    spans = [
        sorted(zip(*(t[c].to_pylist() for c in ("start_time", "end_time")), strict=True))
        for t in (here, there)
    ]
    assert spans[0] == spans[1] != []
