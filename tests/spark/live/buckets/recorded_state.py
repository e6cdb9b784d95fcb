"""Writes the state of a live query as this version leaves it, for later versions to read:
`python -m tests.spark.live.buckets.recorded_state NAME` makes `recorded/NAME.json` beside this."""

from __future__ import annotations

import json
import sys
from base64 import b64decode, b64encode
from pathlib import Path

import pyarrow as pa

import cereus
from tests.spark.live.streams import SECOND, Memory, Stream, recipe_of

RECORDED = Path(__file__).parent / "recorded"
QUERY = cereus.compile(
    "SELECT * WHERE A ; B+ ; C PARTITION BY k WITHIN 15 seconds", stream=cereus.Stream(time="ts")
)
SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("type", pa.string()),
        ("k", pa.string()),
        ("ts", pa.timestamp("us", "UTC")),
    ]
)
BATCHES, RECORDED_BATCHES, SIZE = 12, 7, 30


def batch(number: int) -> pa.Table:
    """Events of three types and four keys, one a second, some out of order by three."""
    ids = range(number * SIZE, (number + 1) * SIZE)
    rows = {
        "id": list(ids),
        "type": ["ABCBDBAC"[(n * 5 + n // 7) % 8] for n in ids],
        "k": ["pqrs"[(n * 7 + n // 5) % 4] for n in ids],
        "ts": [(100 + n - (3 if n % 4 == 0 else 0)) * SECOND for n in ids],
    }
    return pa.table({**rows, "ts": pa.array(rows["ts"]).cast(SCHEMA.field("ts").type)}, SCHEMA)


def fresh() -> Stream:
    return Stream(recipe_of(QUERY, SCHEMA), 4, buckets=2)


def found(stream: Stream) -> list[list[int]]:
    return sorted([event["id"] for event in row["events"]] for row in stream.rows)


def write(name: str) -> None:
    stream = fresh()
    for number in range(RECORDED_BATCHES):
        stream.batch(batch(number))
    stores = [
        {
            "description": store.value[0],
            "small": b64encode(store.value[1]).decode(),
            "chunks": {key: b64encode(data).decode() for key, data in store.chunks.items()},
            "timers": sorted(store.timers),
        }
        for store in stream.stores
        if store.value is not None
    ]
    kept = {"watermark": stream.watermark, "found": found(stream), "stores": stores}
    (RECORDED / f"{name}.json").write_text(json.dumps(kept) + "\n")


def read(name: str) -> tuple[Stream, list[list[int]]]:
    """The stream as it was recorded, and what it had found by then."""
    kept = json.loads((RECORDED / f"{name}.json").read_text())
    stream = fresh()
    stream.watermark = stream.latest = kept["watermark"]
    for store, was in zip(stream.stores, kept["stores"], strict=True):
        assert isinstance(store, Memory)
        store.value = (was["description"], b64decode(was["small"]))
        store.chunks = {key: b64decode(data) for key, data in was["chunks"].items()}
        store.timers = set(was["timers"])
    return stream, kept["found"]


if __name__ == "__main__":
    write(sys.argv[1])
