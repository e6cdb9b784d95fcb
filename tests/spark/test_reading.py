"""Spark reads files as the local engine does: the same columns, types and rows, or the same
refusal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa
import pytest

from cereus import Files
from cereus import spark as cs
from cereus.errors import CereusError, DataError
from cereus.sources import to_table
from cereus.spark.raised import spark_errors
from cereus.spark.reading.by_spark import java_pattern, read_by_spark
from cereus.spark.reading.types import spark_schema
from tests.sources.nasty import (
    NASTY,
    REFUSED,
    Nasty,
    Refused,
    plain,
    sorted_rows,
    text,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
BY_SPARK = {"described", "as_text", "tabs", "kinds_of_text", "text_times", "decimal_late"}
"""Those that Spark's own readers are asked for as well: one layout, no compression."""


@pytest.mark.parametrize("made", NASTY, ids=lambda made: made.__name__)
def test_nasty_files_are_read_as_in_one_process(
    made: Nasty, spark: SparkSession, tmp_path: Path
) -> None:
    files, rows = made(tmp_path / "in")
    frame = cs.read(files, session=spark)
    assert frame.schema == spark_schema(to_table(files).schema)
    assert sorted_rows(plain(frame.toArrow())) == sorted_rows(rows)


@pytest.mark.parametrize("made", REFUSED, ids=lambda made: made.__name__)
def test_what_one_process_refuses_spark_refuses(
    made: Refused, spark: SparkSession, tmp_path: Path
) -> None:
    files, message = made(tmp_path / "in")
    with pytest.raises(DataError, match=message), spark_errors():
        cs.read(files, session=spark).count()


@pytest.mark.parametrize(
    "made", [each for each in NASTY if each.__name__ in BY_SPARK], ids=lambda made: made.__name__
)
def test_what_only_spark_reaches_is_read_alike(
    made: Nasty, spark: SparkSession, tmp_path: Path
) -> None:
    """Spark's readers are for URLs; here they are asked for local files."""
    files, rows = made(tmp_path / "in")
    kind = "json" if made.__name__ == "text_times" else "csv"
    frame = read_by_spark(spark, Files(files.paths, format=kind, **_options(files)))
    assert sorted_rows(plain(frame.toArrow())) == sorted_rows(rows)


def _options(files: Files) -> dict[str, object]:
    names = ("types", "header", "delimiter", "nulls", "infer", "time_format", "decimal")
    return {name: getattr(files, name) for name in names}


@pytest.mark.parametrize("row", ["1\n", "1,A,2\n", "x,A\n"])
def test_a_bad_row_is_refused_by_sparks_readers_too(
    row: str, spark: SparkSession, tmp_path: Path
) -> None:
    text(tmp_path / "in" / "1.csv", f"ts,type\n1,A\n{row}")
    files = Files(tmp_path / "in", format="csv", types={"ts": "int", "type": "string"})
    with pytest.raises(CereusError), spark_errors():
        read_by_spark(spark, files).collect()


def test_times_that_spark_cannot_hold_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    times = pd.to_datetime(["2025-03-03 09:30:00.000000001"])
    pd.DataFrame({"ts": times}).to_parquet(tmp_path / "1.parquet")
    with pytest.raises(DataError, match="'ts' has times finer than a microsecond"), spark_errors():
        cs.read(tmp_path / "1.parquet", session=spark).collect()


def test_columns_that_differ_in_case_are_two_columns(spark: SparkSession, tmp_path: Path) -> None:
    made = text(tmp_path / "1.csv", "ts,TS\n1,2\n")
    assert to_table(Files(made)).column_names == ["ts", "TS"]
    with pytest.raises(DataError, match="Spark takes the columns 'ts' and 'TS' for one"):
        cs.read(made, session=spark)


def test_a_type_that_spark_lacks_is_named(spark: SparkSession, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"t": pa.array([1], pa.time64("us"))}), tmp_path / "1.parquet")
    with pytest.raises(DataError, match="t"), spark_errors():
        cs.read(Files(tmp_path, types={"t": pa.month_day_nano_interval()}), session=spark)


def test_times_are_written_as_java_writes_them() -> None:
    assert java_pattern("%d.%m.%Y at %H:%M") == "dd.MM.yyyy 'a''t' HH:mm"
    with pytest.raises(CereusError, match="%G"):
        java_pattern("%G")
