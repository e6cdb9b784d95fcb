"""Merges matches into a table: a match that is already there is not written again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.window import Window

from cereus.errors import CereusError, switch
from cereus.spark.quoting import backticked, quoted
from cereus.spark.sinks.identity import check_identity

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    WriteBatch = Callable[[DataFrame, int], None]

SOURCE = "cereus_matches"
NUMBER = "__cereus_number"


def merge_into(table: str, *, identity: Iterable[str], update: bool = False) -> WriteBatch:
    """A function for `foreachBatch` that merges rows into a table of Delta or Iceberg.

    identity  the columns that say which match a row is, as `rule`, the keys, `start_time` and
              `end_time`: rows that are alike in them are one, however often they come
    update    True: a row that is there already takes the new values; False: it stays as it is
    """
    return Merge(table, tuple(identity), update)


@dataclass(frozen=True)
class Merge:
    """Rows merged into a table by the columns of their identity."""

    table: str
    identity: tuple[str, ...]
    update: bool = False

    def __post_init__(self) -> None:
        switch("update", self.update)
        if not self.identity:
            hint = 'identity=["rule", "start_time", "end_time"] and the keys'
            raise CereusError("by which columns are rows the same?", hint=hint)

    def __call__(self, frame: DataFrame, batch: int) -> None:
        check_identity(self.identity, frame.columns)
        rows = one_of_each(frame, self.identity).persist()  # MERGE may read its source twice
        try:
            rows.createOrReplaceTempView(SOURCE)
            frame.sparkSession.sql(self.statement)
        finally:
            rows.unpersist()

    @property
    def statement(self) -> str:
        same = " AND ".join(f"target.{n} <=> source.{n}" for n in map(backticked, self.identity))
        matched = " WHEN MATCHED THEN UPDATE SET *" if self.update else ""
        return (
            f"MERGE INTO {self.table} AS target USING {SOURCE} AS source ON {same}{matched}"
            " WHEN NOT MATCHED THEN INSERT *"
        )


def one_of_each(frame: DataFrame, identity: Sequence[str]) -> DataFrame:
    """One row for each combination of values in these columns; always the same one."""
    alike = Window.partitionBy(*(quoted((name,)) for name in identity))
    numbered = frame.withColumn(
        NUMBER, F.row_number().over(alike.orderBy(F.to_json(F.struct("*"))))
    )
    return numbered.filter(F.col(NUMBER) == 1).drop(NUMBER)
