"""`match_rules`: rules that change while a stream runs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as st

from cereus.engine.executor import Executor
from cereus.errors import CereusError
from cereus.limits import Limits
from cereus.rules.recognizer import RuleRecognizer, checked_schema
from cereus.rules.rule import rules_in
from cereus.spark.batch.naming import named
from cereus.spark.batch.rules import matches_of_rules, with_changes
from cereus.spark.live.buckets import buckets_for, identity_of
from cereus.spark.live.packing import PACKED_TYPE
from cereus.spark.live.rules.changes import (
    AT,
    CHANGE,
    ERROR,
    REMOVED,
    RulePacking,
    RulesTask,
    is_removal,
)
from cereus.spark.live.rules.folder import followed
from cereus.spark.live.state.changed import RULES
from cereus.spark.live.state.checkpoint import going_on, stored_queries
from cereus.spark.live.stream import VERSION, Live, with_watermark
from cereus.spark.relevance import where
from cereus.spark.schemas import (
    Path,
    arrow_schema,
    check_arrow,
    check_cases,
    check_once,
    chosen_columns,
    orderable,
)
from cereus.state.digest import digest_of
from cereus.stream import Stream

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

COLUMNS = ("name", "text", "language", "parameters", "options", "enabled", REMOVED, AT)
"""The columns that rules may have; the first two are needed."""


def match_rules(
    df: DataFrame,
    rules: Any,
    *,
    stream: Stream,
    watermark: str | None = None,
    tie: str | Iterable[str] = (),
    limits: Limits | None = None,
    checkpoint: str | None = None,
    buckets: int | None = None,
    name: str = "cereus",
) -> DataFrame:
    """The matches of rules in a streaming DataFrame, as rules come and go, or in one of history.

    rules    a streaming DataFrame of changes, with the columns `name` and `text`, and as needed
             `language`, `parameters` and `options` (JSON), `enabled`, `removed`, and `at`, which
             orders the changes of one micro-batch. Or a folder of query files, which is looked at
             before every micro-batch. Or all rules: a list, a table or a DataFrame, read when the
             stream starts; one that starts anew with others adds, replaces and removes what is
             different. History takes a folder or all rules
    stream   which columns are what; its keys are those of all rules
    tie      columns that order events of one time, before all others
    checkpoint, buckets, name
             as for `match`

    The rows are those of `RuleRecognizer.push`, with the columns `change` and `error`: where
    `change` is not null, the row says what became of a rule (`split_changes` parts them)."""
    check_cases(df.sparkSession, df.columns)
    arranged = ArrangedRules(df, stream, limits, chosen_columns(df, tie, None, None)[0])
    check_arrow(df.columns, df.schema)
    checked_schema(stream, arrow_schema(df.schema), limits)
    if df.isStreaming and isinstance(rules, str | PathLike):
        rules = followed(df.sparkSession, str(rules))
    changes, all_rules = _parted(rules)
    if not df.isStreaming:
        return _of_history(arranged, changes, all_rules)
    source = RulesOf(stream, limits)
    marked = with_watermark(df, source, watermark)
    pieces = buckets_for(df.sparkSession, buckets)
    live = LiveRules(arranged, marked, source, False, "refuse", pieces, name, changes, all_rules)
    stored = stored_queries(df.sparkSession, checkpoint)
    return going_on(live, stored, fixed=buckets is not None).run()


def _of_history(
    arranged: ArrangedRules, changes: DataFrame | None, all_rules: tuple[str, ...] | None
) -> DataFrame:
    if changes is not None or all_rules is None:
        raise CereusError(
            "rules that change are for a streaming DataFrame, and the events are history",
            hint="give all rules: a list, a table, a folder of query files or a DataFrame",
        )
    if arranged.stream.time is None:
        raise CereusError("rules need to know the time of an event", hint='Stream(time="…")')
    known = RuleRecognizer(
        stream=arranged.stream,
        schema=arrow_schema(arranged.df.schema),
        rules=[json.loads(each) for each in all_rules],
        limits=arranged.limits,
    )
    matches = matches_of_rules(arranged, known.running)
    return with_changes(matches, known.changes, arranged.schema)


def split_changes(result: DataFrame) -> tuple[DataFrame, DataFrame]:
    """The matches, and the changes of rules, in the result of `match_rules`."""
    if CHANGE not in result.columns:
        raise CereusError("there are no changes of rules here", hint="match_rules(…)")
    matches = result.filter(F.col(CHANGE).isNull()).drop(CHANGE, ERROR)
    changes = result.filter(F.col(CHANGE).isNotNull())
    return matches, changes.select("rule", "version", CHANGE, ERROR)


def _parted(rules: Any) -> tuple[DataFrame | None, tuple[str, ...] | None]:
    """A stream of changes, or all rules as JSON."""
    if not hasattr(rules, "isStreaming"):
        return None, tuple(rule.written() for rule in rules_in(rules))
    unknown = [each for each in rules.columns if each not in COLUMNS]
    missing = [each for each in COLUMNS[:2] if each not in rules.columns]
    if unknown or missing:
        message = (
            f"rules have no column {unknown[0]!r}" if unknown else f"rules need {missing[0]!r}"
        )
        raise CereusError(message, hint=f"their columns are {', '.join(COLUMNS)}")
    if rules.isStreaming:
        return rules, None
    rows = [row for row in rules.toArrow().to_pylist() if not is_removal(row)]
    known = [{n: value for n, value in row.items() if n not in (REMOVED, AT)} for row in rows]
    return None, tuple(rule.written() for rule in rules_in(known))


@dataclass(frozen=True)
class RulesOf:
    """What is known about rules before there are any."""

    stream: Stream
    limits: Limits | None
    text: str = RULES
    dialect: str = ""

    def executor(self, schema: pa.Schema) -> Executor:
        return RulesTask(self.stream, self.limits).executor(schema)


@dataclass(frozen=True)
class ArrangedRules:
    """Rules over a DataFrame: every event may matter to a later rule."""

    df: DataFrame
    stream: Stream
    limits: Limits | None
    ties: tuple[str, ...] = ()

    @property
    def shown(self) -> tuple[str, ...]:
        return tuple(self.df.columns)

    @property
    def groups(self) -> tuple[Path, ...]:
        return tuple((name,) for name in self.stream.keys)

    @property
    def travelling(self) -> list[str]:
        return list(self.df.columns)

    @property
    def schema(self) -> st.StructType:
        """The columns of matches, and of changes of rules."""
        made = st.StructType(list(self.matches))
        return made.add(CHANGE, st.StringType()).add(ERROR, st.StringType())

    @property
    def matches(self) -> st.StructType:
        columns = self.df.schema
        made = st.StructType().add("rule", st.StringType()).add("version", st.LongType())
        for key in self.stream.keys:
            made = made.add(key, columns[key].dataType)
        for time in ("start_time", "end_time"):
            made = made.add(time, columns[str(self.stream.time)].dataType)
        event = st.StructType([st.StructField(f.name, f.dataType) for f in columns])
        return made.add("values", st.StringType()).add("events", st.ArrayType(event))

    def filters(self) -> list[Column]:
        there = where(self.stream, self.df.schema)
        return [] if there is None else [there]

    def order_by(self) -> list[Path]:
        first = (*self.stream.keys, str(self.stream.time), *self.ties)
        names = dict.fromkeys((*first, *self.df.columns))
        return [(name,) for name in names if orderable(self.df.schema[name].dataType)]

    def task(self) -> RulesTask:
        return RulesTask(self.stream, self.limits)


@dataclass(frozen=True)
class LiveRules(Live):
    """Rules over a stream: those that come in `changes`, or all of them."""

    changes: DataFrame | None = None
    all_rules: tuple[str, ...] | None = None

    @cached_property
    def schema(self) -> st.StructType:
        made = self.arranged.schema
        check_once(made.names, "the result would have two columns {}", "rename the key")
        return made

    def _packed(self) -> DataFrame:
        events = super()._packed()
        if self.changes is None:
            return events
        packing = named(RulePacking(self.used).run, self.query.text)
        return events.union(self.changes.mapInArrow(packing, PACKED_TYPE))

    @property
    def _rules(self) -> tuple[str, ...] | None:
        return self.all_rules

    def _fingerprint(self, events: pa.Schema, order: Iterable[Path]) -> str:
        known = identity_of(self.buckets)
        identity = (VERSION, "rules", self.query.stream, str(events), list(order), known)
        return digest_of(repr(identity))
