"""Matches a query on a streaming DataFrame."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as st

from cereus.clauses.tree import TimeWindow
from cereus.engine.executor import Executor
from cereus.errors import CereusError, DataError, did_you_mean
from cereus.expr import tree as ex
from cereus.expr.types import NUMBERS, Kind
from cereus.language.pattern import PatternQuery
from cereus.language.registry import language
from cereus.plan.plan import Plan
from cereus.spark.batch.naming import named
from cereus.spark.expr.typed import TypedColumn, attribute, instant, micros
from cereus.spark.live.buckets import ONLY, identity_of
from cereus.spark.live.hashing import can_hash
from cereus.spark.live.messages import need_protobuf
from cereus.spark.live.observed import observed
from cereus.spark.live.packing import PACKED_TYPE, Packing, unpacked
from cereus.spark.live.processor import OUTPUT_TYPE, Matcher
from cereus.spark.live.pulse import beats
from cereus.spark.live.recipe import AT, BUCKET, LATE, Recipe
from cereus.spark.quoting import backticked, map_in_arrow, quoted
from cereus.spark.schemas import Path, arrow_schema, check_once
from cereus.spark.slices import length_of_time
from cereus.spark.worker import Matching
from cereus.state.digest import digest_of
from cereus.stream import Stream

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

log = logging.getLogger("cereus.spark")

VERSION = 1
"""The version of the state in checkpoints."""
ON_CHANGE = ("refuse", "restart", "keep")
MARK = "__cereus_time"
"""The column with the time for Spark's watermark, if the time column is not a timestamp."""
DELAY = "spark.watermarkDelayMs"
"""The metadata key by which Spark notes that a column has a watermark."""
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


class Arranged(Protocol):
    """What is known about a query over a DataFrame, whatever its language."""

    @property
    def df(self) -> DataFrame: ...
    @property
    def shown(self) -> tuple[str, ...]: ...
    @property
    def groups(self) -> tuple[Path, ...]: ...
    @property
    def travelling(self) -> list[str]: ...
    @property
    def schema(self) -> st.StructType: ...
    def filters(self) -> list[Column]: ...
    def order_by(self) -> list[Path]: ...
    def task(self) -> Matching: ...


class LiveSource(Protocol):
    """What is matched on a stream: a query, or rules that change."""

    @property
    def stream(self) -> Stream: ...
    @property
    def text(self) -> str: ...
    @property
    def dialect(self) -> str: ...
    def executor(self, schema: pa.Schema) -> Executor: ...


@dataclass(frozen=True)
class Live:
    """A query over a stream, and how it will be run; `marked` is the stream with a watermark."""

    arranged: Arranged
    marked: DataFrame
    query: LiveSource
    late: bool
    on_change: str
    buckets: tuple[int, ...]
    name: str
    idle: str | None = field(default=None, kw_only=True)
    eager: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if self.on_change not in ON_CHANGE:
            hint = did_you_mean(str(self.on_change), list(ON_CHANGE))
            raise CereusError(f"unknown on_change={self.on_change!r}", hint=hint)

    # ------------------------------------------------------------ what comes out

    @cached_property
    def schema(self) -> st.StructType:
        """The columns of the result, as in batch. If results come in the order of time, their time
        has a watermark too, so that a query or Spark's own operators can read them."""
        fields = list(self.arranged.schema)
        delay = self.marked.schema[self.time].metadata.get(DELAY)
        when = language(self.query.dialect).result_time
        for place, each in enumerate(fields):
            is_time = each.name == when and isinstance(each.dataType, st.TimestampType)
            if is_time and delay is not None and self._punctual:
                fields[place] = st.StructField(each.name, each.dataType, True, {DELAY: delay})
        if self.late:
            event = [self.arranged.df.schema[name] for name in self.arranged.travelling]
            fields.append(st.StructField(LATE, st.StructType(event)))
        names = [each.name for each in fields]
        check_once(names, "the result would have two columns {}", "rename that of the events")
        return st.StructType(fields)

    def run(self) -> DataFrame:
        need_protobuf()
        spark = self.arranged.df.sparkSession
        if spark.conf.get(PROVIDER) != ROCKS:
            spark.conf.set(PROVIDER, ROCKS)  # the only one that transformWithState works with
        if not self.arranged.groups:
            log.warning("the whole stream is matched in one task (no keys): %s", self.query.text)
        packed = self._packed()
        if self.recipe.idle is not None:
            packed = packed.unionByName(beats(spark, self.used))
        outputs = packed.groupBy(BUCKET).transformWithState(
            Matcher(self.recipe), OUTPUT_TYPE, "Append", "EventTime"
        )
        matches = named(unpacked, self.query.text, what="matches of")
        return observed(outputs, self.name).mapInArrow(matches, self.schema)

    def _packed(self) -> DataFrame:
        """The events that matter, in packed rows."""
        events = self.marked
        for condition in self.arranged.filters():
            # a filter that reads the column of the watermark stays above it: all events drive it
            events = events.filter(condition | quoted((self._marked_time,)).isNull())
        travelling = [quoted((name,)) for name in self.arranged.travelling]
        is_instant = isinstance(self.arranged.df.schema[self.time].dataType, st.TimestampType)
        if not is_instant or self.time not in self.arranged.travelling:
            travelling.append(self._at.alias(AT))  # every column costs the JVM, in every row
        keys = self._hashed_by_workers
        if not keys:
            travelling.append(self._bucket)
        events = events.select(*travelling)
        packing = Packing(self.used, self.recipe.packed, self.time, keys)
        return map_in_arrow(
            events, named(packing.run, self.query.text, what="events for"), PACKED_TYPE
        )

    @property
    def used(self) -> tuple[int, ...]:
        """The buckets in use: one, if the stream has no keys."""
        return self.buckets if self.arranged.groups else ONLY

    # ------------------------------------------------------------ columns

    @property
    def time(self) -> str:
        assert self.query.stream.time is not None
        return self.query.stream.time

    @property
    def _marked_time(self) -> str:
        """The column that has the watermark."""
        return MARK if MARK in self.marked.columns else self.time

    @cached_property
    def _typed_time(self) -> TypedColumn:
        return attribute(ex.Attribute((self.time,)), self.arranged.df.schema, None)

    @property
    def _at(self) -> Column:
        return _micros(self._typed_time, self.query.stream)

    @property
    def _exact(self) -> bool:
        """Whether no two different times are the same in microseconds."""
        exact_integer = self._typed_time.kind is Kind.INTEGER and self.query.stream.unit != "ns"
        return exact_integer or self._typed_time.kind is Kind.TIMESTAMP

    @property
    def _hashed_by_workers(self) -> tuple[str, ...]:
        """The columns of the key, if the workers can compute the bucket from them."""
        paths, schema = self.arranged.groups, self.arranged.df.schema
        simple = all(
            len(path) == 1
            and path[0] in self.arranged.travelling
            and can_hash(schema[path[0]].dataType)
            for path in paths
        )
        return tuple(path[0] for path in paths) if simple else ()

    @property
    def _bucket(self) -> Column:
        if not self.arranged.groups:
            return F.lit(0).alias(BUCKET)
        values = [_one_zero(path, self.arranged.df.schema) for path in self.arranged.groups]
        return F.pmod(F.xxhash64(*values), F.lit(len(self.buckets))).cast("int").alias(BUCKET)

    # ------------------------------------------------------------ what the workers do

    @cached_property
    def recipe(self) -> Recipe:
        known = arrow_schema(self.arranged.df.schema)
        events = pa.schema([known.field(name) for name in self.arranged.travelling])
        order = [p for p in self.arranged.order_by() if p not in self.arranged.groups]
        return Recipe(
            self.arranged.task(),
            events,
            arrow_schema(self.schema),
            tuple(order),
            self._exact,
            self.query.stream.unit,
            _window(self._plan),
            self._timed,
            self.late,
            self.on_change,
            self.query.text,
            self._fingerprint(events, order),
            self._idle,
            self._rules,
            self._carries(events, order),
            self._delay if self.eager else None,
        )

    @property
    def _delay(self) -> int:
        """Microseconds that an event may be late by."""
        return int(self.marked.schema[self._marked_time].metadata[DELAY]) * 1000

    @property
    def _idle(self) -> int | None:
        """Milliseconds of silence after which time passes by the clock."""
        if self.idle is None:
            return None
        if not self._timed:
            raise CereusError(
                "idle= is for queries that wait for time to pass, and no result of this one does",
                hint="leave idle= out; NOT FOLLOWED BY, WITH TIMEOUTS and a negation at the end of "
                "a SASE+ pattern wait",
            )
        return max(1, length_of_time(self.idle, "idle") // 1000)

    @property
    def _rules(self) -> tuple[str, ...] | None:
        """All rules, if these may change."""
        return None

    @cached_property
    def _executor(self) -> Executor:
        return self.query.executor(arrow_schema(self.arranged.df.schema))

    @property
    def _timed(self) -> bool:
        """Whether the passing of time may complete results without an event."""
        return self._executor.waits_for_time

    @property
    def _punctual(self) -> bool:
        """Whether a result is emitted when its time has come, never later."""
        return not self._executor.emits_late

    @property
    def _plan(self) -> Plan | None:
        return getattr(self.arranged, "plan", None)

    def _fingerprint(self, events: pa.Schema, order: list[Path]) -> str:
        return self._digest(self._executor.header, events, order)

    def _carries(self, events: pa.Schema, order: list[Path]) -> str | None:
        """The identity that queries share which differ only in constants of tests and in the
        output."""
        compiled = getattr(self.query, "compiled", None)
        shaped = compiled.shaped(events) if isinstance(compiled, PatternQuery) else None
        if shaped is None:
            return None
        return self._digest(shaped.shape.state_identity, events, order)

    def _digest(self, identity: object, events: pa.Schema, order: list[Path]) -> str:
        """The identity of state, as a digest."""
        known = identity_of(self.buckets)
        parts = (VERSION, identity, str(events), order, self.arranged.groups, known)
        return digest_of(repr((parts, self.arranged.shown)))


def with_watermark(df: DataFrame, query: LiveSource, watermark: str | None) -> DataFrame:
    """The stream with a watermark on its time, or on the column MARK made of it."""
    time = _time_column(df, query)
    marked = DELAY in df.schema[time].metadata
    if marked and watermark is not None:
        raise CereusError(
            f"the column {time!r} has a watermark already", hint="leave watermark= out"
        )
    if marked:
        return df
    if watermark is None:
        raise CereusError(
            "a live stream needs a watermark: how late may an event be?",
            hint='match(…, watermark="10 seconds")',
        )
    delay = f"{length_of_time(watermark, 'watermark')} microseconds"
    if not isinstance(df.schema[time].dataType, st.TimestampType):
        typed = attribute(ex.Attribute((time,)), df.schema, None)
        marks = df.withColumn(MARK, instant(_micros(typed, query.stream)).column)
        return marks.withWatermark(MARK, delay)
    return df.withWatermark(backticked(time), delay)


def _time_column(df: DataFrame, query: LiveSource) -> str:
    name = query.stream.time
    if name is None:
        raise CereusError(
            "a live stream is put in order by its time: which column is it?",
            hint='say Stream(time="…")',
        )
    query.stream.need_time(df.columns)
    return name


def _micros(time: TypedColumn, stream: Stream) -> Column:
    """A time in microseconds since 1970."""
    if time.kind is Kind.TIMESTAMP:
        return micros(time)
    if time.kind not in NUMBERS:
        raise DataError(
            f"the time column {stream.time!r} is not a time",
            hint="a timestamp, a date or a number is needed; cast the column first",
        )
    unit = stream.need_unit()
    if time.kind is Kind.INTEGER:
        number = time.column.cast("bigint")
        return number * F.lit(int(unit)) if unit >= 1 else F.floor(number * F.lit(unit))
    return F.floor(time.column.cast("double") * F.lit(float(unit))).cast("bigint")


def _one_zero(path: Path, schema: st.StructType) -> Column:
    """A key column to be hashed: 0.0 and -0.0 are one key."""
    typed = attribute(ex.Attribute(path), schema, None)
    return typed.column + F.lit(0.0) if typed.kind is Kind.FLOAT else typed.column


def _window(plan: Plan | None) -> int | None:
    """How long after its last event a silent bucket may have something to forget."""
    window = None if plan is None else plan.query.window
    return window.microseconds if isinstance(window, TimeWindow) else None
