"""The letters of events whose kinds are known: a run of `why` does not test an event again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from cereus.engine.costs import Costs
from cereus.engine.executor import Executor
from cereus.engine.ingest import codes
from cereus.engine.ingest.shared_letters import Classified, Classifier
from cereus.plan.tests import EventTest
from cereus.why.running.tested import Mask, Places, TestedEvents


class KnownLetters:
    """Replaces the letters of a reader. Batches that were not announced are classified as usual."""

    def __init__(self, tested: TestedEvents, tests: Sequence[EventTest], usual: Classifier) -> None:
        self._passing: list[Mask] = tested.each_passing(tests)
        self._kinds, self._usual = tested.kinds, usual
        self._batch: pa.RecordBatch | None = None
        self._places: Places | slice = slice(0)

    def expect(self, batch: pa.RecordBatch, places: Places | slice) -> None:
        """Announce that the next batch has the events at some places."""
        self._batch, self._places = batch, places

    def classify(
        self,
        batch: pa.RecordBatch,
        known: dict[int, int],
        costs: Costs | None = None,
        *,
        keep_all: bool = False,
    ) -> Classified:
        """As `Letters.classify`: the rows that can matter, and their classes."""
        if batch is not self._batch:
            return self._usual.classify(batch, known, costs, keep_all=keep_all)
        kinds = self._kinds[self._places]
        size = len(self._passing[0])
        numbers = np.full(size, -1, np.int32)
        for kind in np.flatnonzero(codes.counts_of_keys(kinds, size)).tolist():
            letter = sum(1 << bit for bit, passed in enumerate(self._passing) if passed[kind])
            if letter or keep_all:
                numbers[kind] = known.setdefault(letter, len(known))
        classes = codes.values_at(numbers, kinds)
        if len(classes) and classes.min() < 0:
            rows = np.flatnonzero(classes >= 0)
            return rows, classes[rows]
        return np.arange(len(classes)), classes


def known_letters(executor: Executor, tested: TestedEvents) -> list[KnownLetters]:
    """Let the readers of an executor use the known letters of their events."""
    every = []
    for reader in executor.readers:
        if reader.reading.tests:
            known = KnownLetters(tested, reader.reading.tests, reader.letters)
            reader.share_letters(known)
            every.append(known)
    return every
