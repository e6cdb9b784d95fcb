"""Rules over a DataFrame of history: all of them read the rows of a key in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as st

from cereus.language.compiled import CompiledQuery
from cereus.rules.output import output, output_schema
from cereus.rules.recognizer import RuleChange
from cereus.rules.rule import Rule
from cereus.rules.running import CompiledRule, RunningRules
from cereus.spark.batch.arranging import Arrangement, kept
from cereus.spark.batch.naming import named, warn_of_one_task
from cereus.spark.quoting import map_in_arrow
from cereus.spark.schemas import Path
from cereus.spark.worker import joined, stretches
from cereus.stream import Stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from cereus.spark.live.rules.stream import ArrangedRules


@dataclass(frozen=True)
class RuleToRun:
    """A rule that compiles, in the form that travels to the workers."""

    rule: Rule
    version: int
    query: CompiledQuery


@dataclass(frozen=True)
class RulesOfHistory:
    """Rules with all that a worker needs to run them over rows that are sorted by key."""

    stream: Stream
    rules: tuple[RuleToRun, ...]
    sorted_by: tuple[Path, ...]

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The matches in the rows of one partition."""
        running: RunningRules | None = None
        for batch, keys_are_over in stretches(joined(batches), self.sorted_by):
            running = running or self._begun(batch.schema)
            if keys_are_over:
                yield from self._rows(running.finish(), batch.schema)
                running.forget()
            yield from self._rows(running.push(batch), batch.schema)
        if running is not None:
            yield from self._rows(running.finish(), running.schema)

    def _begun(self, events: pa.Schema) -> RunningRules:
        running = RunningRules(events, forgets=False)
        for each in self.rules:
            running.add(CompiledRule.of(each.rule, each.version, each.query, events))
        return running

    def _rows(
        self, parts: Iterable[tuple[CompiledRule, pa.RecordBatch]], events: pa.Schema
    ) -> Iterator[pa.RecordBatch]:
        schema = output_schema(self.stream, events)
        for rule, matches in parts:
            yield output(rule.name, rule.version, matches, schema)


# ---------------------------------------------------------------- on the driver


def matches_of_rules(of: ArrangedRules, rules: Iterable[CompiledRule]) -> DataFrame:
    """The matches of all rules, in the columns that all rules have."""
    if not of.groups:
        warn_of_one_task("no keys", "rules")
    events = kept(of.df, of.filters(), of.travelling)
    rows = Arrangement(events, of.groups, tuple(of.order_by())).rows()
    travelling = tuple(RuleToRun(each.rule, each.version, each.query) for each in rules)
    task = RulesOfHistory(of.stream, travelling, of.groups)
    alone = None if of.groups else "the stream has no keys"
    return map_in_arrow(rows, named(task.run, f"{len(travelling)} rules", alone), of.matches)


def with_changes(
    matches: DataFrame, changes: Sequence[RuleChange], schema: st.StructType
) -> DataFrame:
    """The matches, and rows that report changes of the rules; `schema` is that of both."""
    known = ("rule", "version", "change", "error")
    rows = [tuple(getattr(each, name) for name in known) for each in changes]
    kinds = st.StructType([schema[name] for name in known])
    report = matches.sparkSession.createDataFrame(rows, kinds)
    missing = {name: F.lit(None).cast(schema[name].dataType) for name in ("change", "error")}
    return matches.withColumns(missing).unionByName(report, allowMissingColumns=True)
