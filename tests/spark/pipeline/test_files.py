"""The files of a pipeline: by name, as they are described, batch and live."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from cereus.errors import CereusError
from cereus.spark.pipeline import Pipeline, PipelineError

from .conftest import Write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
PIPELINE = """\
mode = "batch"
checkpoint = "checkpoint"
watermark = "0 seconds"
trigger = "available now"

[sources.ticks]
format = "csv"
path = "ticks"
schema = { ts = "timestamp", type = "string", price = "double", volume = "int" }

[streams.ticks]
source = "ticks"
time = "ts"

[queries.cheap]
from = "ticks"
text = "SELECT a WHERE T AS a FILTER a[price < 100]"
select = ["end_time", "a[0].volume AS volume"]

[sinks.out]
from = "cheap"
format = "parquet"
path = "out"
"""
HEADER = "ts,type,volume,price"
FIRST = "2025-03-03T09:30:00,T,1000,10\n2025-03-03T09:30:01,T,10,1000\n"
END = "2025-03-04T00:00:00,T,1,100000\n"
LIVE = ('mode = "batch"', 'mode = "live"')


def ticks(root: Path, **files: str) -> None:
    (root / "ticks").mkdir(exist_ok=True)
    for name, text in files.items():
        (root / "ticks" / f"{name}.csv").write_text(text)


def volumes(root: Path) -> list[int]:
    return sorted(pq.read_table(root / "out").column("volume").to_pylist())


@pytest.mark.long
@pytest.mark.parametrize("mode", ["batch", "live"])
def test_a_schema_of_csv_goes_by_name(
    mode: str, write: Write, spark: SparkSession, tmp_path: Path
) -> None:
    """The header has volume before price, the schema has it behind."""
    ticks(tmp_path, one=f"{HEADER}\n{FIRST}", two=f"{HEADER}\n{END}")
    Pipeline.load(write(PIPELINE.replace('"batch"', f'"{mode}"'))).run(spark)
    assert volumes(tmp_path) == [1000]


def test_files_of_a_batch_may_differ_in_order(
    write: Write, spark: SparkSession, tmp_path: Path
) -> None:
    ticks(
        tmp_path,
        one=f"{HEADER}\n{FIRST}",
        two="price,volume,type,ts\n20,7,T,2025-03-03T09:30:02\n",
    )
    Pipeline.load(write(PIPELINE)).run(spark)
    assert volumes(tmp_path) == [7, 1000]
    with pytest.raises(CereusError, match="live CSV files have their columns in one order"):
        Pipeline.load(write(PIPELINE.replace(*LIVE))).run(spark)


@pytest.mark.long
def test_a_live_file_with_another_header_is_an_error(
    write: Write, spark: SparkSession, tmp_path: Path
) -> None:
    """It comes when the run has begun, so that only Spark sees it."""
    ticks(tmp_path, one=f"{HEADER}\n{FIRST}")
    text = PIPELINE.replace(*LIVE)
    Pipeline.load(write(text)).run(spark)
    pipeline = Pipeline.load(write(text))
    ticks(tmp_path, two="ts,type,price,volume\n2025-03-03T09:30:02,T,20,7\n")
    with pytest.raises(CereusError):
        pipeline.run(spark)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("ts,type,volume", "lacks the column 'price'"),
        ("ts,type,volume,price,more", "has one more column, 'more'"),
        ("ts,type,volume,prize", "lacks the column 'price'"),
    ],
)
@pytest.mark.parametrize("mode", ["batch", "live"])
def test_a_missing_or_extra_column_is_an_error(
    header: str, message: str, mode: str, write: Write, tmp_path: Path
) -> None:
    """Found before Spark starts."""
    ticks(tmp_path, one=f"{header}\n")
    with pytest.raises(PipelineError, match=message):
        Pipeline.load(write(PIPELINE.replace('"batch"', f'"{mode}"')))


@pytest.mark.long
def test_a_value_that_does_not_fit_is_an_error(
    write: Write, spark: SparkSession, tmp_path: Path
) -> None:
    ticks(tmp_path, one=f"{HEADER}\n2025-03-03T09:30:00,T,many,1\n")
    for mode in ("batch", "live"):
        with pytest.raises(CereusError, match="'volume' cannot be read as int64"):
            Pipeline.load(write(PIPELINE.replace('"batch"', f'"{mode}"'))).run(spark)


def test_a_pipeline_describes_its_files(write: Write, spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "ticks").mkdir()
    (tmp_path / "ticks" / "1.csv").write_text("03.03.2025 09:30:00;T;-;10\n")
    described = """\
header = ["ts", "type", "volume", "price"]
delimiter = ";"
nulls = ["-"]
time_format = "%d.%m.%Y %H:%M:%S"
types = { volume = "int" }
"""
    start = PIPELINE.index("schema =")
    text = PIPELINE[:start] + described + PIPELINE[PIPELINE.index("\n", start) :]
    for engine in ("spark", "local"):
        written = text.replace('path = "out"', f'path = "{engine}"')
        Pipeline.load(write(written), engine=engine).run(spark if engine == "spark" else None)
        assert pq.read_table(tmp_path / engine).column("volume").to_pylist() == [None]


def test_an_unwritable_sink_is_refused_before_spark_starts(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks(tmp_path, one=f"{HEADER}\n{FIRST}")
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(PipelineError, match="cannot write to the directory"):
        Pipeline.load(write(PIPELINE))
