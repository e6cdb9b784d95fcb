"""Metrics of the queries of a pipeline."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from cereus.writing.json_text import finite


@dataclass(frozen=True)
class Metrics:
    """One query of a pipeline, after a micro-batch or, in a batch run, when all is written.

    name                which query; "" for a sink that only copies events
    sink                live: for which sink it is matched
    time                when this was so, UTC
    batch               the number of the micro-batch; None in a batch run
    events, matches     read and found in this micro-batch, before `where` drops some; no match is a
                        time-out or a completion. None where it is not known
    total_events        … and since the run began
    total_matches
    seconds             how long it took, all queries of the sink together
    events_per_second
    state_rows          what Spark's state store holds, in rows
    state_bytes         … and in bytes
    late                events that came behind the watermark, in this micro-batch
    total_late          … and since the run began
    watermark           up to when events are matched, UTC
    lag_seconds         how far the watermark is behind the newest event
    kernel_seconds      CPU seconds of the engine itself, in this micro-batch; live only
    """

    name: str
    time: str
    sink: str | None = None
    batch: int | None = None
    events: int | None = None
    matches: int | float | None = None
    total_events: int | None = None
    total_matches: int | float | None = None
    seconds: float | None = None
    events_per_second: float | None = None
    state_rows: int | None = None
    state_bytes: int | None = None
    late: int | None = None
    total_late: int | None = None
    watermark: str | None = None
    lag_seconds: float | None = None
    kernel_seconds: float | None = None

    @classmethod
    def of_run(
        cls,
        name: str,
        time: str,
        events: int | None,
        matches: int | float | None,
        seconds: float,
    ) -> Metrics:
        """The metrics of a query after a batch run."""
        return cls(
            name,
            time,
            events=events,
            matches=matches,
            total_events=events,
            total_matches=matches,
            seconds=round(seconds, 3),
            events_per_second=None if events is None else round(events / max(seconds, 1e-9), 1),
        )

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def as_json(self) -> str:
        """One line."""
        return json.dumps(finite(self.as_dict()))


Report = Callable[[Metrics], None]


@contextmanager
def recorded(path: str | None) -> Iterator[Report | None]:
    """A function that writes metrics as lines of a JSON file; None without a file."""
    if path is None:
        yield None
        return
    with open(path, "a", encoding="utf-8") as file:

        def report(metrics: Metrics) -> None:
            file.write(metrics.as_json() + "\n")
            file.flush()

        yield report


def all_of(*reports: Report | None) -> Report:
    """One function that passes metrics to several."""
    given = [each for each in reports if each is not None]

    def report(metrics: Metrics) -> None:
        for each in given:
            each(metrics)

    return report
