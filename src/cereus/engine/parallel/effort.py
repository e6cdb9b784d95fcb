"""Estimates the work of a query for one event, from counts of its earlier runs.

The number of events tells little: queries differ by a factor of ten in the time that they take for
one. The counts (`Costs`) tell it within a factor of two, and are the same on every machine, so that
whether threads are used does not depend on a clock.
"""

from __future__ import annotations

from dataclasses import dataclass

from cereus.engine.costs import Costs

PART = 20_000_000
"""The nanoseconds of work that are worth a thread, by an estimate that may be twice too high. Two
threads take two milliseconds to start and to end, and share memory and the interpreter's lock: with
less than 20 milliseconds together some queries are slower than on one thread."""

EVENT, TEST, KEPT, STEP, NODE, MATCH = 20, 10, 15, 30, 110, 40
"""Nanoseconds: fitted to the queries of `bench.threads`, of which the estimates are 0.5 to 2.1
times what one thread takes. A step is a partial match that reads an event."""
SAMPLE = 1 << 12
"""The least rows of a sample: counts for fewer say little about others."""


@dataclass
class Effort:
    """The work that a query had with each event when it ran last, in nanoseconds of one thread;
    None if it has not run yet."""

    per_event: float | None = None

    def note(self, costs: Costs, events: int, matches: int) -> None:
        """Note the counts of a run that has ended."""
        if events < SAMPLE:
            return
        more = max(0, costs.steps - costs.kept)  # the first step of each event is part of KEPT
        read = TEST * costs.tests + KEPT * costs.kept + STEP * more
        made = NODE * costs.nodes + MATCH * matches
        self.per_event = EVENT + (read + made) / events

    @property
    def rows_of_part(self) -> int | None:
        """The number of rows that are worth a thread, if it is known."""
        return None if self.per_event is None else max(1, int(PART / self.per_event))
