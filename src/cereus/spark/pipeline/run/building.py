"""Makes the DataFrames of a pipeline: streams of sources, joined streams, matches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException
from pyspark.sql import functions as F  # noqa: N812

from cereus.errors import CereusError, DataError
from cereus.rules.output import RULE
from cereus.spark.counting import count_columns
from cereus.spark.live.rules.stream import match_rules, split_changes
from cereus.spark.matching import match
from cereus.spark.pipeline.document import Document, Key, PipelineError
from cereus.spark.pipeline.graph import STREAM, TYPE, Flow
from cereus.spark.pipeline.pipeline import Pipeline
from cereus.spark.pipeline.sources import shaped, source_frame, zoned
from cereus.spark.raised import first_line
from cereus.stream import Stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation, SparkSession

NOT_FOUND = "DATA_SOURCE_NOT_FOUND"
PACKAGES = {
    "delta": "pip install delta-spark, and set spark.jars.packages, spark.sql.extensions and "
    "spark.sql.catalog.spark_catalog in [spark.conf] as its documentation says",
    "kafka": 'set "spark.jars.packages" = "org.apache.spark:spark-sql-kafka-0-10_2.13:<version of '
    'Spark>" in [spark.conf]',
}
"""The packages for formats that Spark does not include."""


class Building:
    """Makes the DataFrames of one run. Errors name their line in the file."""

    def __init__(self, pipeline: Pipeline, session: SparkSession) -> None:
        self.pipeline, self.session = pipeline, session
        self.spec, self.graph = pipeline.spec, pipeline.graph
        self._sources: dict[str, DataFrame] = {}

    def source_stream(self, name: str) -> DataFrame:
        of = self.spec.streams[name]
        if of.source not in self._sources:
            with at(self.pipeline.document, ("sources", of.source)):
                source = self.spec.sources[of.source]
                frame = source_frame(self.session, source, live=self.spec.live)
                self._sources[of.source] = frame
        with at(self.pipeline.document, ("streams", name)):
            return zoned(shaped(self._sources[of.source], of.select, of.where), of.time)

    def joined(self, query: str, frames: Sequence[tuple[Flow, DataFrame]]) -> DataFrame:
        """The events that a query reads. Several streams are joined under the column names of the
        first one, and every event says its stream."""
        if len(frames) == 1:
            return frames[0][1]
        first = frames[0][0].stream
        table = "rules" if query in self.spec.rules else "queries"
        with at(self.pipeline.document, (table, query, "from")):
            parts = [
                _renamed(frame, flow, first).withColumn(STREAM, F.lit(flow.name))
                for flow, frame in frames
            ]
            return union(parts)

    def matched(
        self,
        query: str,
        events: DataFrame,
        called: str = "cereus",
        watermark: str | None = None,
        checkpoint: str | None = None,
        counted: Observation | None = None,
    ) -> DataFrame:
        """The matches of a query as a stream. In a live run, `called` is the name of its counts,
        and `checkpoint` is the place of its state. `counted` counts the rows before `where` drops
        some of them, and before `select` drops columns that tell matches from other rows."""
        of = self.spec.queries[query]
        flow = self.graph.flow(of.from_[0])
        with at(self.pipeline.document, ("queries", query)):
            matches = match(
                events,
                self.pipeline.queries[query],
                events=of.events,
                columns=of.columns or None,
                tie=flow.tie,
                order=None if self.spec.live else flow.order,
                watermark=watermark,
                on_change=of.on_change,
                idle=of.idle,
                eager=of.eager,
                checkpoint=checkpoint,
                name=called,
            )
            if counted is not None:
                compiled = self.pipeline.queries[query].compiled
                matches = matches.observe(counted, *count_columns(matches.columns, compiled))
            return typed(shaped(matches, of.select, of.where), query, of.type)

    def ruled(
        self,
        name: str,
        events: DataFrame,
        rules: Any,
        called: str,
        watermark: str | None = None,
        checkpoint: str | None = None,
    ) -> tuple[DataFrame, DataFrame]:
        """The matches of rules as a stream, and the changes of the rules."""
        of, checked = self.spec.rules[name], self.pipeline.rules[name]
        with at(self.pipeline.document, ("rules", name)):
            results = match_rules(
                events,
                rules,
                stream=checked.stream,
                watermark=watermark,
                tie=self.graph.flow(of.from_[0]).tie,
                limits=checked.limits,
                checkpoint=checkpoint,
                name=called,
            )
            matches, changes = split_changes(results)
            matches = shaped(matches, of.select, of.where)
            if of.type is None and RULE in matches.columns and TYPE not in matches.columns:
                return matches.select(F.col(RULE).alias(TYPE), "*"), changes
            return typed(matches, name, of.type), changes


def typed(matches: DataFrame, query: str, kind: str | None) -> DataFrame:
    """Matches as events: their type is the name of their query."""
    if TYPE not in matches.columns:
        return matches.select(F.lit(kind or query).alias(TYPE), "*")
    if kind is not None:
        raise DataError(
            f"the matches have a column {TYPE!r} already", hint="choose others with select = […]"
        )
    return matches


def union(frames: Sequence[DataFrame]) -> DataFrame:
    rows = frames[0]
    for frame in frames[1:]:
        rows = rows.unionByName(frame, allowMissingColumns=True)
    return rows


def _renamed(frame: DataFrame, flow: Flow, like: Stream) -> DataFrame:
    """The events with the names of another stream for type and time."""
    for name, other in ((flow.stream.type, like.type), (flow.stream.time, like.time)):
        if name is None or other is None or name == other:
            continue
        if other in frame.columns:
            raise DataError(
                f"in the stream {flow.name!r} {name!r} is to be called {other!r}, as in the first "
                "stream, but there is such a column already",
                hint="rename one of them with select = […]",
            )
        frame = frame.withColumnRenamed(name, other)
    return frame


@contextmanager
def at(document: Document, key: Key) -> Iterator[None]:
    """Turn errors inside into problems with this key of the file."""
    try:
        yield
    except AnalysisException as error:
        document.wrong(key, *_explained(first_line(error)))
    except PipelineError:
        raise  # it has its place already
    except CereusError as error:
        place = (*key, "text") if key[0] == "queries" else key
        document.wrong_query(place if place in document.spans else key, error)
    except Exception as error:  # a format that is not installed is an error of Java
        at = str(error).find(f"[{NOT_FOUND}]")
        if at < 0:
            raise
        document.wrong(key, *_explained(str(error)[at:].splitlines()[0]))
    document.check()


def _explained(line: str) -> tuple[str, str | None]:
    """Spark's message, and a hint if the format is missing."""
    missing = [kind for kind in PACKAGES if f" {kind}" in line.lower()]
    return f"Spark says: {line}", PACKAGES[missing[0]] if missing else None
