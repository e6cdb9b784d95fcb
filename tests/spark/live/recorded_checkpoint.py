"""Writes checkpoints of streams as this version leaves them, for later versions to continue:
`python -m tests.spark.live.recorded_checkpoint NAME` makes an archive in `tests/data/checkpoints`.

Run it with the lowest PySpark that is allowed: Spark continues checkpoints of earlier releases.
"""

from __future__ import annotations

import json
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import cereus
from cereus import spark as cs
from tests.spark.files import write

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RECORDED = Path(__file__).parents[2] / "data" / "checkpoints"
STREAM = cereus.Stream(time="ts", keys=["k"])
TEXT = "SELECT * WHERE A ; B+ ; C WITHIN 15 seconds"
RULES = {"runs": TEXT, "late": "SELECT * WHERE A FILTER A[id > 100] NOT FOLLOWED BY C WITHIN 9 s"}
KINDS = ("query", "rules")
SCHEMA = "id long, type string, k string, ts timestamp"
FILES, RECORDED_FILES, SIZE = 8, 5, 30
PLACE = "/recorded"
"""The folder in the archive's files: Spark writes the path of a checkpoint into it."""
SETTINGS = {"spark.sql.shuffle.partitions": "2"}


def part(number: int) -> pa.Table:
    """Events of three types and four keys, one a second."""
    ids = range(number * SIZE, (number + 1) * SIZE)
    return pa.table(
        {
            "id": list(ids),
            "type": ["ABCBDBAC"[(n * 5 + n // 7) % 8] for n in ids],
            "k": ["pqrs"[(n * 7 + n // 5) % 4] for n in ids],
            "ts": pa.array([(100 + n) * 1_000_000 for n in ids], pa.timestamp("us", "UTC")),
        }
    )


def parts(numbers: Iterable[int]) -> list[pa.Table]:
    return [part(number) for number in numbers]


def continued(spark: SparkSession, kind: str, folder: Path, checkpoint: Path) -> list[Any]:
    """What a stream of this kind finds in the files of a folder that it has not read."""
    events = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(folder))
    found: list[Any] = []

    def note(batch: DataFrame, number: int) -> None:
        found.extend(told(row.asDict(recursive=True)) for row in batch.collect())

    writer = stream_of(events, kind).writeStream.foreachBatch(note)
    writer = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)
    writer.start().awaitTermination()
    return in_order(found)


def stream_of(events: DataFrame, kind: str) -> DataFrame:
    if kind == "rules":
        rules = [cereus.Rule(name, text) for name, text in RULES.items()]
        return cs.match_rules(events, rules, stream=STREAM, watermark="0 seconds", buckets=2)
    query = cereus.compile(TEXT, stream=STREAM)
    return cs.match(events, query, watermark="0 seconds", buckets=2)


def told(row: dict[str, Any]) -> list[Any]:
    """A match, or a change of a rule, as JSON has it."""
    ids = [event["id"] for event in row["events"] or []]
    return [row.get("rule"), row.get("change"), ids]


def in_order(rows: list[Any]) -> list[Any]:
    return sorted(rows, key=str)


def record(spark: SparkSession, kind: str, name: str) -> None:
    where = Path(tempfile.mkdtemp(prefix="cereus-recorded-"))
    (where / "events").mkdir()
    write(where / "events", parts(range(RECORDED_FILES)))
    found = continued(spark, kind, where / "events", where / "checkpoint")
    (where / "checkpoint" / "found.json").write_text(json.dumps(found))
    moved(where / "checkpoint", str(where), PLACE)
    RECORDED.mkdir(exist_ok=True)
    with tarfile.open(RECORDED / f"{name}_{kind}.tar.gz", "w:gz") as archive:
        archive.add(where / "checkpoint", "checkpoint", filter=without_checksum)
    shutil.rmtree(where)


def moved(checkpoint: Path, before: str, now: str) -> None:
    """Change the folder in the files of a checkpoint that name it."""
    for path in [*checkpoint.glob("state/*/_metadata/v2/*"), *checkpoint.glob("sources/*/*")]:
        if not path.name.startswith("."):
            path.write_text(path.read_text().replace(before, now))


def without_checksum(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if member.name.endswith(".crc") else member


if __name__ == "__main__":
    session = cs.session("local[2]", **SETTINGS)
    for each in KINDS:
        record(session, each, sys.argv[1])
    session.stop()
