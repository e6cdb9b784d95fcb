"""A live run: every sink is a streaming query of Spark.

The queries that a sink depends on are stateful operators of that one streaming query, one reading
the other, so that one watermark drives them all: a match that completes another in the next query
is emitted in the same micro-batch. A query that two sinks depend on is matched for each of them.
"""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cereus.errors import CereusError, DataError
from cereus.spark.live.stream import DELAY
from cereus.spark.pipeline.compiling import AVAILABLE_NOW, emitted_late
from cereus.spark.pipeline.run.building import Building, at, union
from cereus.spark.pipeline.run.listening import Listener
from cereus.spark.pipeline.run.metrics import Metrics, Report
from cereus.spark.pipeline.run.rule_journal import RuleJournal
from cereus.spark.pipeline.sinks.spec import MemorySink
from cereus.spark.pipeline.sinks.writing import SinkHome, start
from cereus.spark.raised import as_cereus_error

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from cereus.spark.pipeline.pipeline import Pipeline

log = logging.getLogger("cereus.spark")

POLL_SECONDS = 0.1
LOOK_EVERY = 10
"""The folders of rules are looked at after this many polls."""
AGAIN = "the next start goes on from the checkpoint"


@dataclass
class Chain:
    """The queries that a sink depends on, in the order in which Spark reports their state: each
    before those that it reads. A query that occurs twice has two names. `checkpoint` is the place
    of their state; None if there is none."""

    checkpoint: str | None = None
    queries: list[str] = field(default_factory=list)

    def add(self, query: str) -> str:
        """The name under which one more occurrence is counted."""
        before = sum(1 for each in self.queries if each.split("#")[0] == query)
        self.queries.append(f"{query}#{before + 1}" if before else query)
        return self.queries[-1]


class LiveRun:
    """A running pipeline: `wait` for its end, or `stop` it."""

    def __init__(self, pipeline: Pipeline, session: SparkSession, report: Report) -> None:
        self.building = Building(pipeline, session)
        self.spec, self.document = pipeline.spec, pipeline.document
        self.listener = Listener(report)
        self.running: dict[str, StreamingQuery] = {}
        self.journals: dict[str, RuleJournal] = {}

    def start(self) -> None:
        """Make every DataFrame, and so check it, before the first of them starts."""
        made = {}
        for name in self.spec.sinks:
            with starting(name):
                made[name] = self._frame(name)
        self.building.session.streams.addListener(self.listener)
        try:
            for name, (frame, chain) in made.items():
                with starting(name):
                    self._start(name, frame, chain)
        except BaseException:
            self.stop()
            raise

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until all streaming queries have ended; one that failed raises. False if they still
        run after `seconds`."""
        end = None if seconds is None else time.monotonic() + seconds
        for turn in itertools.count():
            if not any(query.isActive for query in self.running.values()):
                break
            self._check()
            if turn % LOOK_EVERY == 0:
                for journal in self.journals.values():
                    journal.look()
            if end is not None and time.monotonic() > end:
                return False
            time.sleep(POLL_SECONDS)
        self._check()
        return True

    def stop(self) -> None:
        """End every streaming query. An unfinished micro-batch is done again at the next start."""
        for query in self.running.values():
            query.stop()
        self.listener.wait([query.runId for query in self.running.values()])
        self.building.session.streams.removeListener(self.listener)

    @property
    def metrics(self) -> list[Metrics]:
        """The last metrics of every query."""
        return self.listener.last

    def _check(self) -> None:
        for name, query in self.running.items():
            failed = query.exception()
            if failed is not None:
                error = as_cereus_error(failed)
                message = f"the sink {name!r} has stopped: {error.message}"
                raise CereusError(message, hint=error.hint or AGAIN) from failed

    # ------------------------------------------------------------ what is started

    def _frame(self, sink: str) -> tuple[DataFrame, Chain]:
        chain = Chain(self._checkpoint(sink))
        return self._stream(self.spec.sinks[sink].from_, chain), chain

    def _checkpoint(self, sink: str) -> str | None:
        """The checkpoint of a sink. A sink in memory has none, since it cannot go on from one."""
        in_memory = isinstance(self.spec.sinks[sink], MemorySink)
        return None if in_memory else f"{self.spec.checkpoint}/{sink}"

    def _stream(self, name: str, chain: Chain) -> DataFrame:
        if name in self.spec.streams:
            return self.building.source_stream(name)
        graph = self.building.graph
        if name in graph.changes:
            return self._journal(graph.changes[name]).report
        writers = graph.written[name]
        with at(self.document, ("queries", writers[-1], "into")):
            return union([self._matches(query, chain) for query in writers])

    def _matches(self, query: str, chain: Chain) -> DataFrame:
        """The matches of a query. If the first stream has no watermark yet, `match` sets it, on
        times of any kind. Streams that are joined each need their own, because the slowest
        counts."""
        called = chain.add(query)
        events, watermark = self._read_by(query, chain)
        if query in self.spec.rules:
            changes = self._journal(query, events).stream
            place = chain.checkpoint
            return self.building.ruled(query, events, changes, called, watermark, place)[0]
        return self.building.matched(query, events, called, watermark, chain.checkpoint)

    def _read_by(self, query: str, chain: Chain) -> tuple[DataFrame, str | None]:
        """The events of a query or of rules, and the watermark that they still need."""
        graph, names = self.building.graph, self.spec.matched[query].from_
        if len(names) == 1 and names[0] in self.spec.streams:
            return self.building.source_stream(names[0]), self._watermark(names[0])
        read = [(graph.flow(name), self._marked(query, name, chain)) for name in names]
        return self.building.joined(query, read), None

    def _journal(self, rules: str, events: DataFrame | None = None) -> RuleJournal:
        """The changes of rules, written once for all sinks."""
        if rules not in self.journals:
            events = self._read_by(rules, Chain())[0] if events is None else events
            path = f"{self.spec.checkpoint}/rules-of/{rules}"
            with at(self.document, ("rules", rules)):
                checked = self.building.pipeline.rules[rules]
                self.journals[rules] = RuleJournal(events, checked, path)
        return self.journals[rules]

    def _watermark(self, stream: str) -> str | None:
        return self.spec.streams[stream].watermark or self.spec.watermark

    def _marked(self, query: str, name: str, chain: Chain) -> DataFrame:
        """A stream whose time has a watermark; that of matches is the one of their events."""
        frame, time = self._stream(name, chain), self.building.graph.flow(name).stream.time
        assert time is not None
        if name in self.spec.streams:
            with at(self.document, ("streams", name)):
                return frame.withWatermark(time, str(self._watermark(name)))
        table = "rules" if query in self.spec.rules else "queries"
        with at(self.document, (table, query, "from")):
            check_marked(name, frame, time)
        return frame

    def _start(self, name: str, frame: DataFrame, chain: Chain) -> None:
        sink = self.spec.sinks[name]
        called = sink.table if isinstance(sink, MemorySink) else f"{self.spec.spark.app}:{name}"
        reading = [q for q in chain.queries if self._reads_source(q)]
        self.listener.expect(called, name, chain.queries, reading)

        def writer(frame: DataFrame) -> DataStreamWriter:
            made = frame.writeStream.queryName(called).outputMode("append")
            if chain.checkpoint is not None:
                made = made.option("checkpointLocation", chain.checkpoint)
            return made.trigger(**self._trigger())

        with at(self.document, ("sinks", name)):
            log.info("the sink %r starts: %s", name, ", ".join(chain.queries) or "a copy")
            place = SinkHome(self.document.path, self._sent(name))
            self.running[name] = start(frame, sink, place, writer)

    def _sent(self, sink: str) -> Path:
        """The file where a sink remembers what it has sent."""
        return Path(f"{self.spec.checkpoint}/{sink}.sent")

    def _reads_source(self, called: str) -> bool:
        name = called.split("#")[0]
        if name in self.spec.rules:
            return False  # changes of rules are rows as well: events are counted in the workers
        streams = self.spec.queries[name].from_
        return any(name in self.spec.streams for name in streams)

    def _trigger(self) -> dict[str, Any]:
        if self.spec.trigger == AVAILABLE_NOW:
            return {"availableNow": True}
        return {"processingTime": self.spec.trigger or "0 seconds"}


@contextmanager
def starting(sink: str) -> Iterator[None]:
    """Turn errors of Spark at the start into errors that name the sink."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        failure = as_cereus_error(error)
        message = f"the sink {sink!r} does not start: {failure.message}"
        raise CereusError(message, hint=failure.hint) from error


def run_live(pipeline: Pipeline, session: SparkSession, report: Report) -> list[Metrics]:
    """Run until it ends by itself, or an interrupt ends it."""
    run = LiveRun(pipeline, session, report)
    run.start()
    try:
        run.wait()
    except KeyboardInterrupt:
        pass
    finally:
        run.stop()
    return run.metrics


def check_marked(name: str, frame: DataFrame, time: str) -> None:
    """Refuse matches that Spark would take for late: they are emitted after their time."""
    if time not in frame.columns:
        hint = f"keep {time!r} in select = […]"
        raise DataError(f"the matches in {name!r} have no column {time!r} any more", hint=hint)
    if DELAY in frame.schema[time].metadata:
        return
    if frame.schema[time].dataType.typeName() != "timestamp":
        raise DataError(
            f"live queries read the matches of others by timestamps, and {time!r} of {name!r} is "
            f"a {frame.schema[time].dataType.simpleString()}",
            hint="make a timestamp of the time in the select = […] of the stream",
        )
    raise emitted_late(name)
