"""Arranges rows for matching: drops rows that cannot matter before the shuffle, then brings the
rows of a key together in one task, in the order of time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.window import Window

from cereus.spark.batch.inspecting import is_bucketed, lies_together, shuffles
from cereus.spark.quoting import quoted
from cereus.spark.schemas import Path

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

NUMBER = "__cereus_row"


class Lies(Enum):
    """How the rows of a key get into one task."""

    ANYHOW = "shuffled"
    IN_PARTITIONS = "as they lie, in partitions by key"
    IN_BUCKETS = "as they lie, in the buckets of the table"


def kept(df: DataFrame, filters: Iterable[Column], columns: Iterable[str]) -> DataFrame:
    """The rows that pass the filters, with the columns that travel."""
    for condition in filters:
        df = df.filter(condition)
    return df.select(*(quoted((name,)) for name in columns))


@dataclass(frozen=True)
class Arrangement:
    """How rows come to tasks: those of a group in one, in order; without groups, all in one.

    by_time  the rows of a task may be in the order of time alone, whatever their groups
    order    what orders them within a group
    tasks    how many; None leaves it to Spark
    spread   a group is a part of a key: where the rows of a key lie together is no help
    """

    events: DataFrame
    groups: tuple[Path, ...]
    order: tuple[Path, ...]
    by_time: bool = False
    tasks: int | None = None
    spread: bool = False

    @cached_property
    def lies(self) -> Lies:
        """How the rows lie now: whether they are already where they have to be."""
        if not self.groups or self.tasks is not None or self.spread:
            return Lies.ANYHOW
        if lies_together(self.events, self.groups):
            return Lies.IN_PARTITIONS
        if is_bucketed(self.events) and not shuffles(self._numbered):
            return Lies.IN_BUCKETS
        return Lies.ANYHOW

    @property
    def sorted_by(self) -> tuple[Path, ...]:
        """The columns that rows are sorted by before the order; () if by time alone."""
        return () if self.by_time and self.lies is not Lies.IN_BUCKETS else self.groups

    def rows(self) -> DataFrame:
        if self.lies is Lies.IN_BUCKETS:
            return self._numbered
        return self._together().sortWithinPartitions(*_columns((*self.sorted_by, *self.order)))

    def _together(self) -> DataFrame:
        if not self.groups:
            return self.events.repartition(1)
        if self.lies is Lies.IN_PARTITIONS:
            return self.events
        by = _columns(self.groups)
        return self.events.repartition(*by if self.tasks is None else (self.tasks, *by))

    @property
    def _numbered(self) -> DataFrame:
        """The rows with their numbers in their groups. To number rows, Spark brings groups together
        and in order, and only if they are not so yet; `repartition` always shuffles."""
        window = Window.partitionBy(*_columns(self.groups)).orderBy(*_columns(self.order))
        return self.events.withColumn(NUMBER, F.row_number().over(window))


def _columns(paths: Sequence[Path]) -> list[Column]:
    return [quoted(path) for path in dict.fromkeys(paths)]
