"""What Spark calls for every bucket in every micro-batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from cereus.spark.live.bucket import Bucket
from cereus.spark.live.recipe import DATA, Recipe

OUTPUT_TYPE = f"{DATA} binary, events long, late long, matches long, shed long"


class Matcher(StatefulProcessor):
    """A step of the bucket for every call. Names of methods and arguments are Spark's."""

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
        arrived = [row[DATA] for row in rows if row[DATA] is not None]
        return self._step(key, arrived, timerValues, woken=False)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: N803
    ) -> Iterator[Row]:
        return self._step(key, [], timerValues, woken=True)

    def _step(self, key: Any, arrived: list[bytes], timers: Any, *, woken: bool) -> Iterator[Row]:
        bucket = Bucket(key[0], self.recipe, self.store)
        watermark = timers.getCurrentWatermarkInMs()
        for output in bucket.step(arrived, watermark, woken=woken):
            yield Row(**output._asdict())

    def close(self) -> None:
        """Nothing is open: the state is Spark's."""


class SparkStore:
    """The state of the bucket that Spark has in hand."""

    def __init__(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._head = handle.getValueState("head", "head string")
        self._engine = handle.getMapState("engine", "chunk int", "data binary")
        self._waiting = handle.getMapState("waiting", "segment long", "data binary")

    def head(self) -> str | None:
        held = self._head.get()
        return None if held is None else held[0]

    def set_head(self, text: str) -> None:
        self._head.update((text,))

    def chunk(self, number: int) -> bytes:
        return _bytes(self._engine, number)

    def set_chunk(self, number: int, data: bytes | None) -> None:
        _set(self._engine, number, data)

    def segment(self, number: int) -> bytes:
        return _bytes(self._waiting, number)

    def set_segment(self, number: int, data: bytes | None) -> None:
        _set(self._waiting, number, data)

    def wake(self, at: int, instead_of: int | None) -> None:
        if instead_of is not None:
            self._handle.deleteTimer(instead_of)
        self._handle.registerTimer(at)


def _bytes(state: Any, number: int) -> bytes:
    held = state.getValue((number,))
    return bytes(held[0])


def _set(state: Any, number: int, data: bytes | None) -> None:
    if data is None:
        state.removeKey((number,))
    else:
        state.updateValue((number,), (data,))
