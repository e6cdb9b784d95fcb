"""Makes DataFrames of sources and streams, batch or live."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as st
from pyspark.sql.pandas.types import from_arrow_schema

from cereus.column_types import named_schema
from cereus.errors import DataError
from cereus.sources.places import places
from cereus.sources.reading.delimited import CsvReader
from cereus.spark.pipeline.spec import FileSource, KafkaSource, RateSource, Source, TableSource
from cereus.spark.quoting import quoted
from cereus.spark.reading.by_spark import read_by_spark, text_options, typed
from cereus.spark.reading.frames import read

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RATE_BEGINS = "2025-01-01"
"""When the made-up rows of a batch run begin."""


def source_frame(session: SparkSession, of: Source, *, live: bool) -> DataFrame:
    if isinstance(of, FileSource):
        return _files(session, of, live=live)
    if isinstance(of, KafkaSource):
        return _kafka(session, of, live=live)
    if isinstance(of, TableSource):
        table: DataFrame = _reader(session, live).options(**of.options).table(of.table)
        return table
    return _rate(session, of, live=live)


def shaped(frame: DataFrame, select: tuple[str, ...], where: str | None) -> DataFrame:
    """The rows and columns that Spark SQL chooses; `where` sees the columns before `select`."""
    frame = frame if where is None else frame.filter(where)
    return frame.selectExpr(*select) if select else frame


def spark_schema(columns: Mapping[str, Any]) -> st.StructType:
    return from_arrow_schema(named_schema(columns), prefer_timestamp_ntz=False)


def _reader(session: SparkSession, live: bool) -> Any:
    return session.readStream if live else session.read


def _files(session: SparkSession, of: FileSource, *, live: bool) -> DataFrame:
    if not of.described:
        paced = live and of.max_files is not None
        options = {**({"maxFilesPerTrigger": of.max_files} if paced else {}), **of.options}
        reader = _reader(session, live).format(of.format).options(**options)
        frame: DataFrame = reader.load(str(of.path))
        return frame
    if live:
        return _live_files(session, of)
    rows = (
        read_by_spark(session, of.files(), of.options)
        if of.options
        else read(of.files(), session=session)
    )
    return rows if of.schema is None else _with_zones(rows)


def _live_files(session: SparkSession, of: FileSource) -> DataFrame:
    """Live files. CSV is read as texts, with the names in the header of the existing files."""
    files = of.files()
    options = text_options(files, of.format)
    if of.max_files is not None:
        options["maxFilesPerTrigger"] = of.max_files
    reader = session.readStream.format(of.format).options(**{**options, **of.options})
    if of.format == "csv" and of.schema is not None:
        names = csv_names(of)
        texts = st.StructType([st.StructField(name, st.StringType()) for name in names])
        rows = typed(reader.schema(texts).load(str(of.path)), files, "csv")
        return _with_zones(rows.select(*(quoted((name,)) for name in of.schema)))
    if of.schema is not None:
        schema = spark_schema(of.schema)
    else:
        schema = session.read.format(of.format).options(**of.options).load(str(of.path)).schema
    frame: DataFrame = reader.schema(schema).load(str(of.path))
    return frame


def csv_names(of: FileSource) -> list[str]:
    """The columns of CSV files in order: those of the existing files, which all have the columns of
    the schema; or those of the schema, if there are no files yet."""
    assert of.schema is not None
    files = of.files()
    if of.header:
        return list(of.header)
    try:
        listed, _ = places(files)
    except DataError:
        return list(of.schema)
    orders = {tuple(CsvReader(files).names(place)) for place in listed}
    if len(orders) > 1:
        one, other, *_ = sorted(orders)
        raise DataError(
            f"live CSV files have their columns in one order, not in {', '.join(one)} and in "
            f"{', '.join(other)}",
            hint="write the files alike, or read them in batch mode",
        )
    return list(next(iter(orders)))


def _with_zones(rows: DataFrame) -> DataFrame:
    """The rows with declared times in the zone of the session, whatever reads them."""
    for each in rows.schema:
        rows = zoned(rows, each.name)
    return rows


def zoned(frame: DataFrame, time: str | None) -> DataFrame:
    """The rows with times without a zone in that of the session (UTC, if not set): watermarks need
    a zone, and a pipeline gives the same columns live and in batch."""
    if time not in frame.columns or frame.schema[time].dataType.typeName() != "timestamp_ntz":
        return frame
    return frame.withColumn(time, quoted((time,)).cast("timestamp"))


def _kafka(session: SparkSession, of: KafkaSource, *, live: bool) -> DataFrame:
    options = {
        "kafka.bootstrap.servers": of.servers,
        "subscribe": ",".join(of.topic),
        "startingOffsets": of.starting,
        **of.options,
    }
    messages: DataFrame = _reader(session, live).format("kafka").options(**options).load()
    if of.schema is None:
        return messages
    value = F.from_json(F.col("value").cast("string"), spark_schema(of.schema))
    return messages.select(value.alias("value")).select("value.*")


def _rate(session: SparkSession, of: RateSource, *, live: bool) -> DataFrame:
    if live:
        reader = session.readStream.format("rate").option("rowsPerSecond", of.rows_per_second)
        return reader.options(**of.options).load()
    step = F.col("id") * F.lit(1_000_000) / F.lit(of.rows_per_second)
    begin = F.unix_micros(F.lit(RATE_BEGINS).cast("timestamp"))
    time = F.timestamp_micros((begin + step).cast("long"))
    return session.range(of.rows).select(time.alias("timestamp"), F.col("id").alias("value"))
