"""Reads described files as a DataFrame, with the rows, columns and types that `cereus.sources`
reads.

Arrow reads text and Arrow files in Spark's workers; Spark itself reads Parquet and ORC, and files
in places that only Spark reaches (URLs; `by_spark`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812

from cereus.errors import DataError
from cereus.sources import Files, Scan, scan
from cereus.sources.places import EventFile, is_remote
from cereus.sources.scan import FilePiece, KnownFile
from cereus.spark.files import located
from cereus.spark.quoting import backticked, quoted
from cereus.spark.reading.by_spark import read_by_spark
from cereus.spark.reading.types import spark_schema, spark_type
from cereus.spark.schemas import check_cases
from cereus.spark.starting.session import session as any_session

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

NATIVE = ("parquet", "orc")
NANOSECONDS = "spark.sql.legacy.parquet.nanosAsLong"
"""The setting for times in nanoseconds: Spark's reader refuses them, unless they come as whole
numbers."""


def read(paths: Any, *, session: SparkSession | None = None, **description: Any) -> DataFrame:
    """Files as a DataFrame, read as `cereus.Files` describes them (its arguments can be given here
    too): with the columns, types and rows that `query.run` reads from the same files."""
    files = paths if isinstance(paths, Files) else Files(paths, **description)
    session = session or any_session()
    if any(map(is_remote, files.paths)):
        return read_by_spark(session, files)
    return frame(session, scan(files))


def frame(session: SparkSession, described: Scan) -> DataFrame:
    """Files whose columns are known."""
    check_cases(session, described.schema.names)
    if described.kind in NATIVE:
        return _native(session, described)
    schema = spark_schema(described.schema)
    pieces = described.pieces()
    numbers = session.range(0, len(pieces), 1, len(pieces))
    return numbers.mapInArrow(PieceReader(described, pieces), schema)


class PieceReader:
    """Reads pieces of files in a worker, given their numbers."""

    def __init__(self, described: Scan, pieces: Sequence[FilePiece]) -> None:
        self.described, self.pieces = described, pieces

    def __call__(self, numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in numbers:
            for number in batch.column(0).to_pylist():
                yield from self.described.read(self.pieces[number])


# ---------------------------------------------------------------- Parquet and ORC


def _native(session: SparkSession, described: Scan) -> DataFrame:
    """Read files with the same columns together; different ones are joined by name."""
    alike: dict[bytes, list[KnownFile]] = {}
    for part in described.parts:
        alike.setdefault(part.raw.serialize().to_pybytes(), []).append(part)
    if _has_nanoseconds(described):
        session.conf.set(NANOSECONDS, "true")
    frames = [_fitted(session, described, parts) for parts in alike.values()]
    return reduce(lambda one, other: one.unionByName(other), frames)


def _has_nanoseconds(described: Scan) -> bool:
    return any(_in_nanoseconds(field.type) for part in described.parts for field in part.raw)


def _in_nanoseconds(kind: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(kind) and kind.unit == "ns")


def _fitted(session: SparkSession, described: Scan, parts: Sequence[KnownFile]) -> DataFrame:
    paths = [located(part.place.path) for part in parts]
    rows: DataFrame = session.read.format(described.kind).load(paths)
    raw = parts[0].raw
    known = {field.name: field.type for field in raw}
    differ = len({part.raw.serialize().to_pybytes() for part in described.parts}) > 1
    columns = []
    for field in described.schema:
        if field.name not in known:
            column = _of_directories(field, [part.place for part in parts])
        elif pa.types.is_null(field.type):
            column = F.lit(None)  # Spark would read it as numbers
        else:
            column = quoted((field.name,))
            if described.kind == "parquet" and _in_nanoseconds(known[field.name]):
                column = _microseconds(column, field.name, field.type)
            if differ or described.files.given_type(field.name) is not None:
                column = column.cast(spark_type(field.type, field.name))
        columns.append(column.alias(field.name))
    return rows.select(*columns)


def _microseconds(column: Column, name: str, kind: pa.DataType) -> Column:
    """Whole numbers of nanoseconds as times, exactly."""
    finer = DataError(
        f"the column {name!r} has times finer than a microsecond, which Spark does not have",
        hint="use the local engine",
    )
    exact = F.timestamp_micros(F.expr(f"{backticked(name)} div 1000"))
    refused = F.raise_error(F.lit(f"cereus.errors.DataError: {finer}")).cast("timestamp")
    times = F.when(column.isNull(), F.lit(None)).when(column % 1000 == 0, exact).otherwise(refused)
    return times if getattr(kind, "tz", None) is not None else times.cast("timestamp_ntz")


def _of_directories(field: pa.Field, places: Sequence[EventFile]) -> Column:
    """A value from the name of the directory, or NULL."""
    kind = spark_type(field.type, field.name)
    values = {place.path: dict(place.values).get(field.name) for place in places}
    if len(set(values.values())) == 1:
        return F.lit(next(iter(values.values()))).cast(kind)
    pairs = [each for path, value in values.items() for each in (path, value)]
    table = F.create_map(*[F.lit(each) for each in pairs])
    path = F.regexp_replace(F.col("_metadata.file_path"), "^file:/*", "/")
    return F.element_at(table, F.url_decode(path)).cast(kind)
