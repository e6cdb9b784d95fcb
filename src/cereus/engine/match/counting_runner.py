"""A runner that counts the matches of each event and keeps totals over them, without listing
them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.ingest.clock import read
from cereus.engine.ingest.events import Events
from cereus.engine.kernel.counting import CountingKernel
from cereus.engine.kernel.gathering import GatheringCountingKernel
from cereus.engine.kernel.kernel import Kernel
from cereus.engine.kernel.ordered_counting import OrderedCountingKernel
from cereus.engine.kernel.sliding import SlidingCountingKernel
from cereus.engine.match.runner import Runner
from cereus.engine.results.match_chunks import MatchChunk
from cereus.errors import RefusedError


class AmbiguousCount(RefusedError):
    """Raised where a match may arise in several ways, so that the number of ways is not that of
    matches."""


class CountingRunner(Runner):
    """A runner for `SELECT COUNT(*), SUM(b.volume)`."""

    def _new_kernel(self) -> Kernel:
        kind: type[CountingKernel] = SlidingCountingKernel
        if self.plan.gathering is not None:
            kind = GatheringCountingKernel
        elif self.plan.slots:
            kind = OrderedCountingKernel
        elif self.plan.traits.closes:
            kind = CountingKernel
        return kind(self.table, self.options)

    def _remember(self, events: Events, batch: pa.RecordBatch) -> Events:
        remembered = super()._remember(events, batch)
        places = pa.array(events.places)
        amounts = np.ones((len(events), len(self.plan.totals)))
        for column, total in enumerate(self.plan.totals):
            values = read(batch, total.attribute, "the attribute").take(places)
            floats = values.cast(pa.float64(), safe=False).fill_null(np.nan)
            numbers = floats.to_numpy(zero_copy_only=False)
            amounts[:, column] = np.where(np.isnan(numbers), np.nan, 1 if total.ones else numbers)
        return remembered.changed(amounts=amounts)

    def _number_letters(self, events: Events) -> Events:
        events = super()._number_letters(events)
        if self.plan.totals:
            assert isinstance(self.kernel, CountingKernel)
            self.kernel.use_totals(events.amounts, self._adds)
        return events

    @property
    def _adds(self) -> npt.NDArray[np.uint8]:
        """The labels that count for each total. There is room for all possible labels."""
        names = sorted({total.variable for total in self.plan.totals})
        labels = [
            frozenset({"", *(n for i, n in enumerate(names) if bits >> i & 1)})
            for bits in range(2 ** len(names))
        ]
        numbers = [self.labels.number_shown(label) for label in labels]
        adds = np.zeros((max(numbers) + 1, len(self.plan.totals)), np.uint8)
        for number, label in zip(numbers, labels, strict=True):
            adds[number] = [total.variable in label for total in self.plan.totals]
        return adds

    def push(self, batch: pa.RecordBatch) -> Iterator[MatchChunk]:
        for chunk in super().push(batch):
            if self.table.ambiguous:
                raise AmbiguousCount(
                    "this pattern may find a match in several ways, so counting would count it "
                    "more than once",
                    hint="list the matches with SELECT * and count them, or write len(q.run(…))",
                )
            yield chunk
