"""The state in a checkpoint can be looked at: which keys have something begun, and since when."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pyspark")

import cereus
from cereus import spark as cs
from cereus.errors import CereusError
from cereus.spark.live.state.reading import keys_of_state
from cereus.spark.raised import BROKEN

from ..files import write
from .rules.test_rules import events, run
from .test_live import _few_tasks  # noqa: F401

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STREAM = cereus.Stream(time="t", keys=["k"])
TEXT = "SELECT * WHERE A ; A ; B FILTER A[x > 0] WITHIN 20 seconds"


def test_keys_with_partial_matches_are_told() -> None:
    table = events(0, "Ap1", "Aq0", "Ar1", "Ar1", "Br1", "Ap1")
    query = cereus.compile(TEXT, stream=STREAM, schema=table.schema)
    executor = query.executor(table.schema)
    for batch in table.to_batches():
        list(executor.push(batch))
    told = {key: (oldest, partial) for key, oldest, partial in keys_of_state(executor.save())}
    assert told == {'["p"]': (0, 2), '["r"]': (2_000_000, 2)}


def test_an_engine_with_nothing_begun_has_no_keys() -> None:
    table = events(0, "Bp1")
    executor = cereus.compile(TEXT, stream=STREAM, schema=table.schema).executor(table.schema)
    list(executor.push(table.to_batches()[0]))
    assert keys_of_state(executor.save()) == [(None, None, None)]


@pytest.mark.long
@pytest.mark.spark
def test_the_state_of_a_checkpoint_is_a_table(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "events"
    folder.mkdir()
    write(folder, [events(0, "Ap1", "Aq1", "Ap1"), events(9, "Ap1"), events(10, "Cp1")])
    stream = spark.readStream.schema("type string, t timestamp_ntz, k string, x long")
    rows = stream.option("maxFilesPerTrigger", 1).parquet(str(folder))
    rows = rows.withColumn("t", rows["t"].cast("timestamp"))
    query = cereus.compile(TEXT, stream=STREAM)
    run(cs.match(rows, query, watermark="0 seconds", buckets=2), tmp_path)
    told = cs.state(str(tmp_path / "checkpoint"), session=spark).collect()
    assert {row["query"] for row in told} == {TEXT}
    keys = {row["key"]: row["oldest"] for row in told if row["key"] is not None}
    assert keys['["p"]'] == 0 and keys['["q"]'] == 1_000_000
    assert all(row["bytes"] > 0 for row in told)
    broken = str(tmp_path / "checkpoint")
    for file in Path(broken, "state", "0", "_metadata").rglob("*"):
        if file.is_file():
            file.unlink() if file.suffix == ".crc" else file.write_text("v2\n{")
    with pytest.raises(CereusError, match=r"the checkpoint .* cannot be read: "):
        cs.state(broken, session=spark)
    with pytest.raises(CereusError, match=r"the checkpoint .* cannot be read: ") as raised:
        cs.match(rows, query, watermark="0 seconds", checkpoint=broken)
    assert raised.value.hint == BROKEN


@pytest.mark.spark
def test_a_folder_without_state_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(CereusError, match="there is no state"):
        cs.state(str(tmp_path), session=spark)
