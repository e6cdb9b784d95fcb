"""Sources and streams as DataFrames, batch or live."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as st
from pyspark.sql.pandas.types import from_arrow_schema

from cereus.column_types import named_schema
from cereus.spark.files import CSV
from cereus.spark.pipeline.compiling import SELF_DESCRIBING
from cereus.spark.pipeline.spec import FileSource, KafkaSource, RateSource, Source, TableSource

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
    """Rows and columns as Spark SQL chooses them; `where` sees the columns before `select`."""
    frame = frame if where is None else frame.filter(where)
    return frame.selectExpr(*select) if select else frame


def spark_schema(columns: Mapping[str, Any]) -> st.StructType:
    return from_arrow_schema(named_schema(columns), prefer_timestamp_ntz=False)


def _reader(session: SparkSession, live: bool) -> Any:
    return session.readStream if live else session.read


def _files(session: SparkSession, of: FileSource, *, live: bool) -> DataFrame:
    options: dict[str, Any] = dict(CSV) if of.format == "csv" else {}
    if live and of.max_files is not None:
        options["maxFilesPerTrigger"] = of.max_files
    reader = _reader(session, live).format(of.format).options(**{**options, **of.options})
    if of.schema is not None:
        reader = reader.schema(spark_schema(of.schema))
    elif live and of.format in SELF_DESCRIBING:
        known = session.read.format(of.format).options(**of.options).load(str(of.path))
        reader = reader.schema(known.schema)
    elif of.format == "csv":
        reader = reader.option("inferSchema", True)
    frame: DataFrame = reader.load(str(of.path))
    return frame


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
