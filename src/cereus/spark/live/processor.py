"""The functions that Spark calls for every bucket in every micro-batch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark import SparkFiles
from pyspark.sql import Row
from pyspark.sql import types as st
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from cereus.spark.batch.naming import short_traces
from cereus.spark.live.bucket import Bucket
from cereus.spark.live.pulse import BEAT
from cereus.spark.live.recipe import DATA, Recipe
from cereus.spark.live.settling import settle
from cereus.spark.live.state.copies import Copies

# types, not texts: each text would be one more request to the JVM
VALUE = st.StructType().add("description", st.StringType()).add("small", st.BinaryType())
CHUNK_NAME = st.StructType().add("name", st.StringType())
CHUNK_DATA = st.StructType().add("data", st.BinaryType())
COUNTS = {"events": "long", "late": "long", "matches": "long", "shed": "long"}
COUNTS |= {"kernel_seconds": "double"}
OUTPUT_TYPE = ", ".join([f"{DATA} binary", *(f"{name} {kind}" for name, kind in COUNTS.items())])


class Matcher(StatefulProcessor):
    """Runs a step of the bucket for every call. Names of methods and arguments are Spark's."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.store = SparkStore(handle)

    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: Iterator[Any],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[Row]:
        # a row for every bucket comes with the events, and one with every beat
        every = [row[DATA] for row in rows]
        heard = any(data is None or data != BEAT for data in every)
        arrived = [data for data in every if data]
        return short_traces(self._step(key, arrived, timerValues, woken=False, heard=heard))

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[Row]:
        return short_traces(self._step(key, [], timerValues, woken=True, heard=False))

    def _step(
        self, key: Any, arrived: list[bytes], timers: Any, *, woken: bool, heard: bool
    ) -> Iterator[Row]:
        folder = Path(SparkFiles.getRootDirectory(), "cereus", self.recipe.fingerprint, str(key[0]))
        bucket = Bucket(key[0], self.recipe, self.store, Copies(folder))
        watermark, now = timers.getCurrentWatermarkInMs(), timers.getCurrentProcessingTimeInMs()
        for output in bucket.step(arrived, watermark, woken=woken, heard=heard, now=now):
            yield Row(**output._asdict())

    def close(self) -> None:
        """Nothing to close: the state is Spark's."""
        settle()


class SparkStore:
    """The state of the bucket that Spark is processing."""

    def __init__(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._value = handle.getValueState("bucket", VALUE)
        self._chunks = handle.getMapState("chunks", CHUNK_NAME, CHUNK_DATA)

    def read(self) -> tuple[str, bytes] | None:
        stored = self._value.get()
        return None if stored is None else (stored[0], bytes(stored[1]))

    def write(self, description: str) -> None:
        self._value.update((description, b""))

    def chunk(self, name: str) -> bytes:
        stored = self._chunks.getValue((name,))
        assert stored is not None
        return bytes(stored[0])

    def set_chunk(self, name: str, data: bytes | None) -> None:
        if data is None:
            self._chunks.removeKey((name,))
        else:
            self._chunks.updateValue((name,), (data,))

    def wake(self, at: int, instead_of: int | None) -> None:
        if instead_of is not None:
            self._handle.deleteTimer(instead_of)
        self._handle.registerTimer(at)
