"""A source of beats: a row every so often, by the clock of the driver.

Spark runs no micro-batch while a source is silent, so that no bucket would be called. A stream with
`idle=` is joined by this one, whose rows say nothing but that time goes on.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

from cereus.spark.live.recipe import BUCKET, DATA

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAME = "cereus_pulse"
BEAT = b""
"""What a packed row holds that is a beat: no event."""
SHORTEST = 1.0
"""Seconds between two beats, at the least."""
BEATS = 4
"""So many beats in the time after which a stream is idle: how late it may be noticed."""


class Pulse(DataSource):
    """Names of methods and arguments are Spark's."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> str:
        return "beat long"

    def streamReader(self, schema: Any) -> DataSourceStreamReader:  # noqa: N802
        return PulseReader(float(self.options["seconds"]))


class PulseReader(DataSourceStreamReader):
    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        return self.latestOffset()

    def latestOffset(self, start: Any = None, limit: Any = None) -> dict[str, int]:  # noqa: N802
        """Before Spark 4.2 it is called without arguments."""
        return {"beat": int(time.time() // self.seconds)}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        return [] if start == end else [InputPartition(end["beat"])]

    def read(self, partition: InputPartition) -> Iterator[tuple[int]]:
        yield (partition.value,)


def beats(spark: SparkSession, idle: int, buckets: int) -> DataFrame:
    """A packed row for every bucket at every beat; `idle` in milliseconds."""
    spark.dataSource.register(Pulse)
    seconds = max(SHORTEST, idle / 1000 / BEATS)
    pulse = spark.readStream.format(NAME).option("seconds", str(seconds)).load()
    every = F.explode(F.sequence(F.lit(0), F.lit(buckets - 1)))
    return pulse.select(every.alias(BUCKET), F.lit(BEAT).alias(DATA))
