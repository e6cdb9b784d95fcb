"""Killed at any moment, a live query goes on from its checkpoint: nothing is lost or doubled."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pyspark")

import cereus

from ..files import write
from ..market import random_events
from .driver import PATTERN
from .killing import kill_some_worker, killed_drivers, needs_processes, release
from .streams import parts, shuffled, with_end

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.long]

DRIVERS, WORKERS = 2, 3
"""How many of each are killed in one run."""
FILES_PER_DRIVER = 2
FILES = DRIVERS * FILES_PER_DRIVER + WORKERS


@needs_processes
def test_killed_drivers_and_workers_lose_and_double_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    """How far Spark has come when something is killed is chance; that it has work then is not:
    files are released for every kill."""
    dice = random.Random(11)
    events = random_events(2).select(["id", "type", "k", "ts"])
    batches = parts(shuffled(events, 5, dice), FILES, dice)
    batches[-1] = with_end(batches[-1])
    hidden, seen = tmp_path / "hidden", tmp_path / "events"
    hidden.mkdir()
    seen.mkdir()
    files = iter(sorted(write(hidden, batches).iterdir()))
    last = killed_drivers(
        tmp_path, "query", DRIVERS, dice, lambda: release(files, FILES_PER_DRIVER, seen)
    )
    try:
        last.start()
        for _ in range(WORKERS):
            release(files, 1, seen)
            kill_some_worker(last, dice)
        last.end()
    finally:
        last.kill()
    found = spark.read.parquet(str(tmp_path / "found")).select("k", "events.id").collect()
    query = cereus.compile(PATTERN, stream=cereus.Stream(time="ts"))
    expected = [(row["k"], tuple(row["positions"])) for row in query.run(events)]
    assert Counter((row["k"], tuple(row["id"])) for row in found) == Counter(expected)
    assert len(expected) > 20
