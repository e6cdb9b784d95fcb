"""What a pipeline makes of Spark's progress reports."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("pyspark")

from cereus.spark.pipeline.run.listening import Listener
from cereus.spark.pipeline.run.metrics import Metrics


def progress(watermark: str, newest: str | None = None, rows: int = 0) -> Any:
    times = {"watermark": f"2025-01-01T00:{watermark}Z"}
    if newest is not None:
        times["max"] = f"2025-01-01T00:{newest}Z"
    about = SimpleNamespace(
        name="run",
        numInputRows=rows,
        stateOperators=[],
        observedMetrics={},
        eventTime=times,
        batchDuration=10,
        batchId=0,
        timestamp="2025-01-01T00:00:00Z",
    )
    return SimpleNamespace(progress=about)


def test_the_lag_follows_the_watermark_when_no_data_comes() -> None:
    """A micro-batch without data moves the watermark, and has no newest event of its own."""
    reported: list[Metrics] = []
    listener = Listener(reported.append)
    listener.expect("run", "out", [], [])
    listener.onQueryProgress(progress("01:00", newest="05:00", rows=3))
    listener.onQueryProgress(progress("04:50"))
    listener.onQueryProgress(progress("04:50", newest="04:55", rows=1))
    assert [each.lag_seconds for each in reported] == [240.0, 10.0, 10.0]
