"""A batch run: every stream is a DataFrame, every sink an action.

All DataFrames are made, and so every name and type is checked, before the first sink is written.
A stream that is read more than once is kept on disk, so that it is matched once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from pyspark import StorageLevel
from pyspark.sql import Observation
from pyspark.sql import functions as F  # noqa: N812

from cereus.spark.counting import counts_of
from cereus.spark.files import COUNTED, observed
from cereus.spark.pipeline.run.building import Building, at, union
from cereus.spark.pipeline.run.metrics import Metrics
from cereus.spark.pipeline.sinks.writing import write
from cereus.spark.pipeline.spec import FileSource

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from cereus.spark.pipeline.pipeline import Pipeline

ROWS = "rows"
"""What a count of rows is called."""


def run_batch(
    pipeline: Pipeline, session: SparkSession, report: Callable[[Metrics], None]
) -> list[Metrics]:
    run = BatchRun(Building(pipeline, session))
    begin = time.perf_counter()
    try:
        run.write()
    finally:
        run.forget()
    metrics = run.metrics(time.perf_counter() - begin)
    for each in metrics:
        report(each)
    return metrics


class BatchRun:
    def __init__(self, building: Building) -> None:
        self.building, self.graph = building, building.graph
        self.spec, self.document = building.spec, building.pipeline.document
        self._streams: dict[str, DataFrame] = {}
        self._kept: list[DataFrame] = []
        self._observed: dict[str, Observation] = {}
        self._written: dict[str, Observation] = {}
        self._rules: dict[str, tuple[DataFrame, DataFrame]] = {}

    def write(self) -> None:
        frames = {name: self.stream(sink.from_) for name, sink in self.spec.sinks.items()}
        for name, sink in self.spec.sinks.items():
            with at(self.document, ("sinks", name)):
                write(frames[name], sink, self.document.path)

    def stream(self, name: str) -> DataFrame:
        """A stream by name, with all that it depends on."""
        if name not in self._streams:
            self._streams[name] = self._made(name)
        return self._streams[name]

    def _made(self, name: str) -> DataFrame:
        if name in self.spec.streams:
            return self.building.source_stream(name)
        if name in self.graph.changes:
            return self._ruled(self.graph.changes[name])[1]
        parts = [self._matches(query) for query in self.graph.written[name]]
        with at(self.document, ("queries", self.graph.written[name][-1], "into")):
            frame = union(parts)
        if len(self.graph.readers(name)) > 1:
            frame = frame.persist(StorageLevel.DISK_ONLY)
            self._kept.append(frame)
        return frame

    def _matches(self, query: str) -> DataFrame:
        if query in self.spec.rules:
            matches = self._ruled(query)[0]
        else:
            self._observed[query] = Observation()
            matches = self.building.matched(
                query, self._events_read(query), counted=self._observed[query]
            )
        self._written[query] = Observation()
        return matches.observe(self._written[query], F.count(F.lit(1)).alias(ROWS))

    def _ruled(self, name: str) -> tuple[DataFrame, DataFrame]:
        """The matches of rules, and the changes of these."""
        if name not in self._rules:
            rules = list(self.building.pipeline.rules[name].rules)
            self._rules[name] = self.building.ruled(name, self._events_read(name), rules, name)
        return self._rules[name]

    def _events_read(self, query: str) -> DataFrame:
        read = [(self.graph.flow(name), self.stream(name)) for name in self._reads(query)]
        return self.building.joined(query, read)

    def _reads(self, query: str) -> tuple[str, ...]:
        return self.spec.matched[query].from_

    def forget(self) -> None:
        for frame in self._kept:
            frame.unpersist()

    # ------------------------------------------------------------ what came of it

    def metrics(self, seconds: float) -> list[Metrics]:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        run = [name for name in self.graph.order if name in self._written]
        return [
            Metrics.of_run(name, now, self._events(name), self._matches_of(name), seconds)
            for name in run
        ]

    def _matches_of(self, query: str) -> int | float | None:
        """Of rules, all rows are matches."""
        if query not in self._observed:
            return self.rows[query]
        compiled = self.building.pipeline.queries[query].compiled
        return counts_of(self._observed[query], compiled).matches

    @cached_property
    def rows(self) -> dict[str, int]:
        """How many rows each query has written."""
        return {name: observed(each, ROWS) for name, each in self._written.items()}

    def _events(self, query: str) -> int | None:
        counts = [self._rows(name) for name in self._reads(query)]
        return None if None in counts else sum(each or 0 for each in counts)

    def _rows(self, stream: str) -> int | None:
        """How many events a stream has, if that is known without reading them all."""
        if stream not in self.spec.streams:
            return sum(self.rows[query] for query in self.graph.written[stream])
        of = self.spec.streams[stream]
        source = self.spec.sources[of.source]
        if isinstance(source, FileSource) and source.format in COUNTED and of.where is None:
            return self.stream(stream).count()
        return None
