"""`Stream(where=…)`: events for which a condition is not true are not in the stream at all."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.expr.arrow.evaluate import mask
from cereus.expr.check import coerce
from cereus.expr.tree import Expression
from cereus.stream import Stream

Ints = npt.NDArray[np.int64]


class EventFilter:
    """The condition of a stream, for batches of one schema. Without a condition every event
    passes."""

    def __init__(self, stream: Stream, schema: pa.Schema) -> None:
        condition = stream.condition
        self.condition: Expression | None = None if condition is None else coerce(condition, schema)

    def places(self, batch: pa.RecordBatch) -> Ints | None:
        """The places of the events that pass; None for all."""
        if self.condition is None:
            return None
        return np.flatnonzero(mask(self.condition, batch))

    def passing(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        places = self.places(batch)
        return batch if places is None else batch.take(pa.array(places))
