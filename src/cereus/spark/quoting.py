"""Names of columns in Spark, whatever characters are in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

Run = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def backticked(*path: str) -> str:
    """The text that names a column by its path: `a`.`b`."""
    return ".".join(f"`{name.replace('`', '``')}`" for name in path)


def quoted(path: tuple[str, ...]) -> Column:
    """A column by its path."""
    return F.col(backticked(*path))


def map_in_arrow(df: DataFrame, run: Run, schema: StructType | str) -> DataFrame:
    """`df.mapInArrow`, which itself fails if the name of a column has a dot or a backtick. Such
    columns get other names until they are in the worker."""
    names = df.columns
    if not any("." in name or "`" in name for name in names):
        return df.mapInArrow(run, schema)
    plain = df.toDF(*(f"c{number}" for number in range(len(names))))
    return plain.mapInArrow(Renamed(run, tuple(names)), schema)


@dataclass(frozen=True)
class Renamed:
    """A function over batches whose columns get their own names again."""

    run: Run
    names: tuple[str, ...]

    @property
    def __name__(self) -> str:
        return getattr(self.run, "__name__", "cereus")

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return self.run(batch.rename_columns(list(self.names)) for batch in batches)
