"""The state of a bucket of a live stream, as one value: its description, and its pieces. It is the
state that `tests/spark/live` has recorded, without Spark."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from cereus.spark.live.bucket import Bucket
from cereus.spark.live.state.reading import keys_of_state
from cereus.spark.live.state.warm import WARM
from cereus.state.arrow import table_bytes, table_from
from tests.spark.live.buckets import recorded_state
from tests.spark.live.streams import Memory

NAMES = sorted(path.stem for path in recorded_state.RECORDED.glob("*.json"))
ENGINE = "engine/0"


def taken(name: str) -> dict[str, Any]:
    """What is stored. Events that wait are tables, so that they can be changed as such."""
    (store, *_) = recorded_state.read(name)[0].stores
    assert store.value is not None
    pieces = {
        place: data if place.startswith("engine") else table_from(data)
        for place, data in store.chunks.items()
    }
    return {
        "description": json.loads(store.value[0]),
        "small": store.value[1],
        "pieces": pieces,
    }


def go_on(name: str, store: Store) -> object:
    """A worker that remembers nothing takes the state up, and reads on."""
    stream = recorded_state.read(name)[0]
    store.timers = set(stream.stores[0].timers)
    stream.stores = [store]
    WARM.__init__()  # type: ignore[misc]
    for number in (recorded_state.RECORDED_BATCHES, recorded_state.RECORDED_BATCHES + 1):
        stream.batch(recorded_state.batch(number))
    keys_of_state(store.chunks.get(ENGINE, b""))
    return Bucket(0, stream.recipe, store)


class Store(Memory):
    """As Spark's: what is not there can be removed."""

    def set_chunk(self, name: str, data: bytes | None) -> None:
        if data is not None or name in self.chunks:
            super().set_chunk(name, data)

    def wake(self, at: int, instead_of: int | None) -> None:
        self.timers = {at}


def stored(value: Any) -> Store:
    store = Store()
    store.value = (json.dumps(value["description"], default=str), value["small"])
    store.chunks = {
        place: bytes(table_bytes(data)) if isinstance(data, pa.Table) else data
        for place, data in value["pieces"].items()
    }
    return store
