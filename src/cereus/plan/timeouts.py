"""The plans that WITH TIMEOUTS needs in addition to that of a query: plans for parts of its
pattern.

Whether an event began a match that was still partial when its window ended is decided afterwards,
on the events of that window alone. Each such window is a key of its own (`FIRST`), and ends with a
row that stands for any event that could still have come (`WAITS`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from cereus.clauses.tree import EventWindow, TimeWindow

if TYPE_CHECKING:
    from cereus.plan.plan import Plan

FIRST, WAITS = "__first", "__waits"
"""The number of the event that a window begins with; 1 in the row after its last event."""
EVERY = "__every"
"""The variable that holds all events of a partial match, where variables are selected."""


@dataclass(frozen=True)
class StepPlan:
    """A step that a partial match may reach: the step, what could come next, and the plan that
    finds it."""

    reached: str
    waiting_for: str
    plan: Plan


@dataclass(frozen=True)
class TimeoutPlans:
    """Plans for the events of single windows.

    window    the window that ends partial matches
    begins    the tests, as bits, of events that may begin a match
    complete  finds whether the pattern is complete
    steps     find how far it came, the furthest step first
    """

    window: TimeWindow | EventWindow
    begins: int
    complete: Plan
    steps: tuple[StepPlan, ...]


def window_schema(schema: pa.Schema) -> pa.Schema:
    """The columns of events in separate windows."""
    return schema.append(pa.field(FIRST, pa.int64())).append(pa.field(WAITS, pa.int8()))
