"""All that a bucket has to know: the query, the columns, and what to do with late events."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from cereus.spark.schemas import Path
from cereus.spark.worker import Matching
from cereus.stream import UNITS

AT, BUCKET, DATA, LATE = "__cereus_at", "__cereus_bucket", "data", "late"
"""An event's time in microseconds, its bucket; packed rows; the column of late events."""


@dataclass(frozen=True)
class Recipe:
    """All that a worker needs to match one stream.

    matching     makes the executor, and shapes its results
    events       the columns of the events, without AT
    columns      the columns that come out
    order        what orders events: their time first
    exact        whether AT orders events just as their time does: it is not rounded
    unit         what one unit of a numeric time column is
    window       microseconds after which a silent bucket has something to forget; None: never
    timed        whether the time that passes may complete something by itself
    idle         milliseconds of silence of the whole source after which time passes by the clock;
                 None: never
    delay        where events do not wait for Spark's watermark: how many microseconds one may be
                 behind the latest of its bucket; None where they wait
    late         whether late events come out, in the column LATE
    on_change    what to do with the state of another query: refuse it, restart without it, or keep
                 it, if it has the same `carries`
    carries      identifies the queries that can go on with each other's state; None: there are none
    rules        all rules, as JSON, where rules may change and do not come in the stream
    """

    matching: Matching
    events: pa.Schema
    columns: pa.Schema
    order: tuple[Path, ...]
    exact: bool
    unit: str | None
    window: int | None
    timed: bool
    late: bool
    on_change: str
    text: str
    fingerprint: str
    idle: int | None = None
    rules: tuple[str, ...] | None = None
    carries: str | None = None
    delay: int | None = None

    @property
    def packed(self) -> pa.Schema:
        """The columns that travel: AT, and the columns of the events."""
        return pa.schema([pa.field(AT, pa.int64()), *self.events])

    def keeps(self, carries: str | None) -> bool:
        """Whether to go on with the state of a query that is not this one."""
        return self.on_change == "keep" and carries is not None and carries == self.carries

    def next_time(self, watermark: int) -> int:
        """A time before which no event comes, in the units of the time column, once the watermark
        (in microseconds) has passed."""
        if self.unit is None or pa.types.is_temporal(self.events.field(self.order[0][0]).type):
            return watermark + 1
        return int(watermark // UNITS[self.unit]) + self.exact
