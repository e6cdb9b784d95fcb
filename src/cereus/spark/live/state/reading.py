"""Shows the content of a checkpoint: which keys have partial matches, since when, and how large the
state is.

Spark's state data source reads the buckets (`state`), and the snapshots in them are decoded here.
Events that were read since a snapshot (`journal`) could become partial matches only by running the
query. So the rows are as of the snapshots, with the number of events that these have not read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from cereus.engine.kernel import layout
from cereus.engine.snapshot import MAGIC, restoring, unsealed
from cereus.errors import CereusError
from cereus.spark.files import located
from cereus.spark.live.state.checkpoint import operators, read_from
from cereus.spark.live.state.journal import ENGINE
from cereus.spark.live.state.stored import Head, small_pieces
from cereus.spark.starting.session import session as session_of
from cereus.state import codec

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

STATE_TYPE = (
    "query string, bucket int, key string, oldest long, partial long, unread long, bytes long"
)


def state(checkpoint: str, *, session: SparkSession | None = None) -> DataFrame:
    """The state of live queries in a checkpoint, one row for each key that has something begun.

    query    the text of the query
    bucket   the bucket of the key
    key      the key, as JSON; null in a row of a bucket whose keys cannot be told (a query that
             does not run on the automaton kernel, or nothing is begun in it)
    oldest   the time of the oldest event of a partial match, in units of the time column
    partial  how many events of partial matches the key holds
    unread   how many events are stored beside the bucket's last snapshot, of which the columns
             before this one tell: those that wait for the watermark, and those that were read since
    bytes    what the state of the whole bucket takes"""
    spark = session or session_of()
    with read_from(checkpoint):
        return spark.createDataFrame(_listed(spark, checkpoint), STATE_TYPE)


def _listed(spark: SparkSession, checkpoint: str) -> list[tuple[Any, ...]]:
    numbers = operators(spark, checkpoint)
    if not numbers:
        raise CereusError(
            f"there is no state of live queries in {checkpoint!r}",
            hint="give the checkpointLocation of a streaming query that has run",
        )
    place = located(checkpoint)
    return [each for number in numbers for each in _of_operator(spark, place, number)]


def _of_operator(spark: SparkSession, place: str, number: int) -> Iterator[tuple[Any, ...]]:
    def variable(name: str) -> list[Row]:
        reader = spark.read.format("statestore").option("operatorId", number)
        return reader.option("stateVarName", name).load(place).collect()

    chunks = {
        (row["key"][0], row["user_map_key"][0]): bytes(row["user_map_value"][0])
        for row in variable("chunks")
    }
    for row in variable("bucket"):
        bucket, (description, small) = row["key"][0], row["value"]
        described = json.loads(description)
        pieces = small_pieces(described, bytes(small))
        count = described["large"].get(ENGINE, 0)
        engine = b"".join(chunks[bucket, f"{ENGINE}/{n}"] for n in range(count))
        engine = engine or pieces.get(ENGINE, b"")
        size = len(small) + sum(len(c) for (b, _), c in chunks.items() if b == bucket)
        head = Head.of(described["head"])
        unread = sum(segment.rows for segment in head.segments)
        for each in keys_of_state(engine) if engine else [NOTHING]:
            yield (head.text, bucket, *each, unread, size)


NOTHING = (None, None, None)


def keys_of_state(snapshot: bytes) -> list[tuple[str | None, int | None, int | None]]:
    """For each key with partial matches: the key as JSON, the time of the oldest event, and how
    many events partial matches hold."""
    with restoring():
        _, state = codec.decode(unsealed(memoryview(snapshot)[len(MAGIC) :]))
        columns = state.get("front", {}).get("substreams", {}).get("keys")
        if "kernel" not in state or columns is None or "pairs" in columns:
            return [NOTHING]
        history, nodes = state["history"], state["kernel"]["nodes"][1:]
        if "vector_starts" in state["kernel"] or not len(nodes):
            return [NOTHING]
        at = nodes[:, layout.NODE_EVENT] - history["first"]
        keys, times = history["keys"][at], history["times"][at]
        return [
            (
                json.dumps([each[key].as_py() for each in columns.values()], default=str)
                if columns
                else None,
                int(times[keys == key].min()),
                len(np.unique(at[keys == key])),
            )
            for key in np.unique(keys).tolist()
        ]
