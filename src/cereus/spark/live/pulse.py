"""A source of beats: rows that only say that time goes on.

Spark runs no micro-batch while a source is silent, so no bucket would be called. A stream with
`idle=` is joined by this one, a row every second by the clock of the driver.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812

from cereus.spark.live.recipe import BUCKET, DATA

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BEAT = b""
"""The content of a packed row that is a beat: no event."""


def beats(spark: SparkSession, buckets: tuple[int, ...]) -> DataFrame:
    """A packed row for every bucket at every beat."""
    pulse = spark.readStream.format("rate").option("rowsPerSecond", 1).option("numPartitions", 1)
    every = F.explode(F.array(*(F.lit(each) for each in buckets)))
    return pulse.load().select(every.alias(BUCKET), F.lit(BEAT).alias(DATA))
