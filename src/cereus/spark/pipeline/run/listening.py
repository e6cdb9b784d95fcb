"""Turns the progress of Spark's streaming queries into metrics of the queries of a pipeline."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pyspark.sql.streaming.listener import StreamingQueryListener

from cereus.spark.live.processor import COUNTS
from cereus.spark.pipeline.run.metrics import Metrics, Report

MOST_SECONDS = 60.0
"""The longest wait for Spark to report a run's end: mostly within a second, but later on a busy
machine."""
POLL_SECONDS = 0.05
BEFORE_ANY = "1970-01-01T00:00:00.000Z"
"""The watermark before there is one."""


@dataclass(frozen=True)
class Expected:
    """A streaming query: the sink it writes, the queries in it in the order of Spark's stateful
    operators, and those of them that read sources."""

    sink: str
    queries: list[str]
    reading: list[str]


class Listener(StreamingQueryListener):
    """Receives the progress of all streaming queries of the session. Names of methods are
    Spark's."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self._expected: dict[str, Expected] = {}
        self._events: Counter[tuple[str, str]] = Counter()
        self._matches: Counter[tuple[str, str]] = Counter()
        self._late: Counter[tuple[str, str]] = Counter()
        self._last: dict[tuple[str, str], Metrics] = {}
        self._newest: dict[tuple[str, str], datetime] = {}
        self._ended: set[str] = set()

    def expect(self, called: str, sink: str, queries: list[str], reading: list[str]) -> None:
        """Report on a streaming query, given its name in Spark."""
        self._expected[called] = Expected(sink, queries, reading)

    @property
    def last(self) -> list[Metrics]:
        return list(self._last.values())

    def onQueryStarted(self, event: Any) -> None:  # noqa: N802
        """Nothing is known yet."""

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802
        """Nothing has changed."""

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802
        """Spark calls it last of all."""
        self._ended.add(str(event.runId))

    def wait(self, runs: Iterable[Any], seconds: float = MOST_SECONDS) -> None:
        """Wait until Spark has reported all of these runs, which it does with some delay."""
        end = time.monotonic() + seconds
        while not {str(run) for run in runs} <= self._ended and time.monotonic() < end:
            time.sleep(POLL_SECONDS)

    def onQueryProgress(self, event: Any) -> None:  # noqa: N802
        expected = self._expected.get(event.progress.name)
        if expected is None:
            return
        for metrics in self._read(event.progress, expected):
            self._last[expected.sink, metrics.name] = metrics
            self.report(metrics)

    def _read(self, progress: Any, expected: Expected) -> list[Metrics]:
        if not expected.queries:
            return [self._metrics(expected, "", progress, progress.numInputRows, None, None)]
        states = progress.stateOperators
        known = len(states) == len(expected.queries)
        return [
            self._of_query(expected, name, progress, states[place] if known else None)
            for place, name in reversed(list(enumerate(expected.queries)))
        ]

    def _of_query(self, expected: Expected, name: str, progress: Any, state: Any) -> Metrics:
        counted = progress.observedMetrics.get(name)
        events = counted["events"] if counted is not None else None
        if expected.reading == [name]:
            events = progress.numInputRows  # also those that could not matter
        return self._metrics(expected, name, progress, events, counted, state)

    def _metrics(
        self, expected: Expected, name: str, progress: Any, events: Any, counted: Any, state: Any
    ) -> Metrics:
        key = (expected.sink, name)
        matches = None if counted is None else counted["matches"]
        self._events[key] += events or 0
        self._matches[key] += matches or 0
        self._late[key] += 0 if counted is None else counted["late"]
        seconds = progress.batchDuration / 1000
        return Metrics(
            name,
            progress.timestamp,
            sink=expected.sink,
            batch=progress.batchId,
            events=events,
            matches=matches,
            total_events=self._events[key],
            total_matches=None if counted is None else self._matches[key],
            seconds=seconds,
            events_per_second=round((events or 0) / seconds, 1) if seconds else None,
            state_rows=None if state is None else state.numRowsTotal,
            state_bytes=None if state is None else _bytes(state),
            late=None if counted is None else counted["late"],
            total_late=None if counted is None else self._late[key],
            watermark=progress.eventTime.get("watermark"),
            lag_seconds=self._lag(key, progress.eventTime),
            kernel_seconds=None if counted is None else round(counted["kernel_seconds"], 6),
        )

    def _lag(self, key: tuple[str, str], times: dict[str, str]) -> float | None:
        """The time from the watermark to the newest event so far. A micro-batch without data has no
        newest event, and moves the watermark."""
        if "max" in times:
            newest = _instant(times["max"])
            self._newest[key] = max(newest, self._newest.get(key, newest))
        if key not in self._newest or times.get("watermark", BEFORE_ANY) == BEFORE_ANY:
            return None
        return max(0.0, (self._newest[key] - _instant(times["watermark"])).total_seconds())


class AnyQueryListener(Listener):
    """Reports on every match of a streaming query that is no pipeline's. The state is that of all
    matches of the streaming query."""

    def onQueryProgress(self, event: Any) -> None:  # noqa: N802
        progress = event.progress
        states = progress.stateOperators
        for name, counted in progress.observedMetrics.items():
            if set(COUNTS) <= set(counted.asDict()):
                of = Expected(progress.name or "", [name], [])
                metrics = self._metrics(of, name, progress, counted["events"], counted, None)
                rows, size = sum(s.numRowsTotal for s in states), sum(map(_bytes, states))
                self.report(replace(metrics, state_rows=rows, state_bytes=size))


def _bytes(state: Any) -> int:
    """The bytes of the state: on disk with RocksDB, which reports it, else in memory."""
    on_disk = int(state.customMetrics.get("rocksdbSstFileSize", 0))
    return max(on_disk, int(state.memoryUsedBytes))


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)
