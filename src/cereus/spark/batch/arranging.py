"""Rows arranged for matching: what cannot matter is dropped before the shuffle, then the rows of a
key come together in one task, in the order of time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from cereus.spark.relevance import quoted
from cereus.spark.schemas import Path

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def kept(df: DataFrame, filters: Iterable[Column], columns: Iterable[str]) -> DataFrame:
    """The rows that pass, and the columns that travel."""
    for condition in filters:
        df = df.filter(condition)
    return df.select(*(quoted((name,)) for name in columns))


def arranged(
    events: DataFrame, groups: Sequence[Path], order: Iterable[Path], parallelism: int | None
) -> DataFrame:
    """The rows of a group in one task, in order; without groups, all rows in one."""
    by = [quoted(path) for path in groups]
    if not by:
        together = events.repartition(1)
    elif parallelism is None:
        together = events.repartition(*by)
    else:
        together = events.repartition(parallelism, *by)
    return together.sortWithinPartitions(*(quoted(path) for path in order))
