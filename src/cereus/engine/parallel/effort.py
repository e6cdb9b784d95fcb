"""How much work a query has with an event, estimated from what was counted when it ran before.

The number of events tells little: queries differ by a factor of ten in the time that they take for
one. What was counted (`Costs`) tells it within a factor of two, and is the same on every machine,
so that whether threads are used does not depend on a clock.
"""

from __future__ import annotations

from dataclasses import dataclass

from cereus.engine.costs import Costs

PART = 20_000_000
"""Nanoseconds of work that are worth a thread, by an estimate that may be twice too high. Two
threads take two milliseconds until they are at work and done, and share memory and the
interpreter's lock: with less than 20 milliseconds together some are slower than one."""

EVENT, TEST, KEPT, STEP, NODE, MATCH = 20, 10, 15, 30, 110, 40
"""Nanoseconds: fitted to the queries of `bench.threads`, of which the estimates are 0.5 to 2.1
times what one thread takes. A step is a partial match that reads an event."""
SAMPLE = 1 << 12
"""Rows: what was counted for fewer says little about others."""


@dataclass
class Effort:
    """The work that a query had with each event when it ran last, in nanoseconds of one thread;
    None if it has not run yet."""

    per_event: float | None = None

    def note(self, costs: Costs, events: int, matches: int) -> None:
        """A run over so many events has come to its end."""
        if events < SAMPLE:
            return
        more = max(0, costs.steps - costs.kept)  # the first of each event is part of KEPT
        read = TEST * costs.tests + KEPT * costs.kept + STEP * more
        made = NODE * costs.nodes + MATCH * matches
        self.per_event = EVENT + (read + made) / events

    @property
    def rows_of_part(self) -> int | None:
        """So many rows are worth a thread, if that is known."""
        return None if self.per_event is None else max(1, int(PART / self.per_event))
