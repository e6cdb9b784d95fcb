"""A worker puts a key into the bucket that Spark itself would: its state lies there."""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("pyspark")
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as st

import cereus
from cereus import spark as cs
from cereus.spark.live import stream as live
from cereus.spark.live.buckets import one_for_each
from cereus.spark.live.hashing import buckets_of, can_hash
from cereus.spark.live.packing import Packing, from_bytes
from cereus.spark.live.recipe import AT, BUCKET, DATA
from cereus.spark.schemas import arrow_schema
from tests.spark.files import write
from tests.spark.live.rules.test_rules import events, run
from tests.spark.live.test_live import _few_tasks  # noqa: F401

from .test_buckets import STREAM, stream_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BITS = {"byte": 8, "short": 16, "int": 32, "long": 64}
KINDS = (*BITS, "date", "timestamp", "timestamp_ntz")
MANY = 1_000_003
"""So many buckets that hardly any two hashes have the same one by chance."""


def value(kind: str, dice: random.Random) -> Any:
    if dice.random() < 0.1:
        return None
    if kind in BITS:
        half = 1 << BITS[kind] - 1
        return dice.choice([-half, -1, 0, 1, half - 1, dice.randrange(-half, half)])
    moment = dt.datetime(1900, 1, 1) + dt.timedelta(microseconds=dice.randrange(1 << 53))
    if kind == "date":
        return moment.date()
    return moment.replace(tzinfo=dt.UTC) if kind == "timestamp" else moment


@pytest.mark.spark
@pytest.mark.parametrize("columns", [*([each] for each in KINDS), ["long", "int"], [*KINDS]])
def test_the_bucket_is_that_of_spark(spark: SparkSession, columns: list[str]) -> None:
    dice = random.Random(",".join(columns))
    schema = st.StructType([st.StructField(f"c{n}", kind_of(k)) for n, k in enumerate(columns)])
    assert all(can_hash(field.dataType) for field in schema)
    rows = [tuple(value(kind, dice) for kind in columns) for _ in range(200)]
    table = spark.createDataFrame(rows, schema)
    hashed = F.pmod(F.xxhash64(*schema.names), F.lit(MANY)).alias("bucket")
    found = table.select("*", hashed).toArrow()
    batch = found.select(schema.names).cast(arrow_schema(schema)).combine_chunks().to_batches()[0]
    assert buckets_of(batch.columns, MANY).tolist() == found.column("bucket").to_pylist()


def kind_of(name: str) -> st.DataType:
    simple = {"date": st.DateType(), "timestamp": st.TimestampType(), "long": st.LongType()}
    simple |= {"byte": st.ByteType(), "short": st.ShortType(), "int": st.IntegerType()}
    return {**simple, "timestamp_ntz": st.TimestampNTZType()}[name]


def test_other_keys_are_left_to_spark() -> None:
    others = (st.StringType(), st.DoubleType(), st.FloatType(), st.BooleanType(), st.BinaryType())
    assert not any(can_hash(each) for each in (*others, st.DecimalType(10, 2), st.StructType()))


def test_rows_are_packed_into_the_buckets_of_their_keys() -> None:
    events = pa.schema([(AT, pa.int64()), ("k", pa.int64())])
    numbers = one_for_each(4)
    keys = np.arange(500) % 37
    batch = pa.record_batch([pa.array(np.arange(500)), pa.array(keys)], schema=events)
    packed = Packing(numbers, events, "t", ("k",)).packed(batch)
    places = buckets_of([pa.array(keys)], len(numbers))
    assert sorted(packed.column(BUCKET).to_pylist()) == sorted(
        {numbers[place] for place in places.tolist()}
    )
    for number, data in zip(packed.column(BUCKET), packed.column(DATA), strict=True):
        expected = np.flatnonzero(np.array(numbers)[places] == number.as_py())
        assert from_bytes(data.as_py()).column(AT).to_pylist() == expected.tolist()


@pytest.mark.spark
@pytest.mark.long
def test_state_that_spark_has_dealt_out_is_gone_on_with(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "events").mkdir()
    text = "SELECT * WHERE A ; B PARTITION BY x WITHIN 20 seconds"
    query = cereus.compile(text, stream=STREAM)

    def go_on(*tables: pa.Table) -> None:
        write(tmp_path / "events", list(tables))
        found = cs.match(stream_of(spark, tmp_path), query, watermark="0 seconds", buckets=5)
        run(found, tmp_path)

    with monkeypatch.context() as before:
        before.setattr(live, "can_hash", lambda kind: False)
        go_on(events(0, *(f"Ap{key}" for key in range(9))))
    go_on(events(10, *(f"Bp{key}" for key in range(9))), events(60, "Cp1"))
    assert spark.read.parquet(str(tmp_path / "found")).count() == 9
