"""Counts events and matches in each micro-batch, for Spark's progress and listeners."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException
from pyspark.sql import functions as F  # noqa: N812

from cereus.errors import CereusError
from cereus.spark.live.processor import COUNTS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TWICE = "DUPLICATED_METRICS_NAME"
"""Spark's error class for two counts of one name."""


def observed(outputs: DataFrame, name: str) -> DataFrame:
    """The same rows, counted under a name that no other match of the streaming query has."""
    counts = [F.coalesce(F.sum(each), F.lit(0)).alias(each) for each in COUNTS]
    try:
        counted = outputs.observe(name, *counts)
        _ = counted.schema  # only now does Spark Connect look at the name
        return counted
    except AnalysisException as error:
        if error.getCondition() != TWICE:
            raise
        raise CereusError(
            f"two matches of one streaming query have the name {name!r}",
            hint='give each a name of its own: match(…, name="pairs")',
        ) from None
