"""A task of Spark that is cancelled ends, also inside a long call of the kernel."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("pyspark")

import cereus

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.long]

PATIENCE = 180
"""Seconds for what takes a few: Spark ends the process of a cancelled task after two."""
GROUP = "cereus-cancelled"


def never_ending(marker: str) -> Iterator[pa.RecordBatch]:
    """Tells its process, and then compares every B with every A before it: hours."""
    n = 400_000
    table = pa.table({"type": np.repeat(["A", "B"], n // 2), "x": np.arange(n)[::-1]})
    query = cereus.compile(
        "SELECT * WHERE A AS a ; B AS b FILTER a.x + b.x < 0", schema=table.schema
    )
    Path(marker).write_text(str(os.getpid()))
    for batch in query.batches(table, threads=1):
        yield pa.RecordBatch.from_pydict({"matches": [batch.num_rows]})


def test_the_process_of_a_cancelled_task_ends(spark: SparkSession, tmp_path: Path) -> None:
    marker, failed = str(tmp_path / "process"), threading.Event()
    df = spark.range(1, numPartitions=1)

    def job() -> None:
        spark.sparkContext.setJobGroup(GROUP, "to be cancelled", True)
        try:
            df.mapInArrow(lambda _: never_ending(marker), "matches long").collect()
        except Exception:  # Spark's own, of a cancelled job
            failed.set()

    thread = threading.Thread(target=job, daemon=True)
    thread.start()
    waited = threading.Event()
    while not Path(marker).exists() or not Path(marker).read_text():
        assert thread.is_alive()
        waited.wait(0.1)
    process = int(Path(marker).read_text())
    spark.sparkContext.cancelJobGroup(GROUP)
    assert failed.wait(PATIENCE)
    for _ in range(10 * PATIENCE):
        if not Path(f"/proc/{process}").exists():
            return
        waited.wait(0.1)
    pytest.fail("the process of the task is still there")
