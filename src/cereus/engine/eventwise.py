"""The common part of executors that do a fixed amount of work for each event that matters."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.costs import Costs
from cereus.engine.executor import Executor
from cereus.engine.ingest.batch_reader import BatchReader
from cereus.engine.match import forgetting


class EventwiseExecutor(Executor):
    """Reads events through one `BatchReader`, and keeps a state for each numbered key.

    A language implements `_read`, which makes the results, and `_forget_keys`, which decides which
    keys stay.
    """

    version: ClassVar[int]
    """The version of the snapshots."""

    def __init__(self, reader: BatchReader, fingerprint: str, keep: tuple[str, ...]) -> None:
        self.reader, self.fingerprint = reader, fingerprint
        self._keep = keep
        self._events: pa.Table | None = None
        self._event_rows = np.zeros(0, np.int64)
        self._forgets, self._forget_at = False, forgetting.FORGET_AT

    @property
    def header(self) -> dict[str, Any]:
        return {"version": self.version, "query fingerprint": self.fingerprint}

    def push(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        if self._forgets and len(self.reader.substreams) >= self._forget_at:
            kept = self._forget_keys()
            self._forget_at = max(forgetting.FORGET_AT, 2 * kept)
        return self._read(batch)

    @abstractmethod
    def _read(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Read a batch and yield the results that it completes."""

    @abstractmethod
    def _forget_keys(self) -> int:
        """Forget the keys whose state is that of a new key, renumber the others, and return how
        many stay."""

    def forget_idle(self) -> None:
        self._forgets = True

    @property
    def readers(self) -> tuple[BatchReader, ...]:
        return (self.reader,)

    @property
    def costs(self) -> Costs:
        """The counts, with one step for each event that matters."""
        return self.reader.costs + Costs(steps=self.reader.costs.kept)

    @property
    def events(self) -> pa.Table | None:
        return self._events

    @property
    def event_rows(self) -> npt.NDArray[np.int64]:
        return self._event_rows
