"""`cereus run` on Spark: read, match and write there; return a count and the first matches."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cereus.cli.engines import announce_spark
from cereus.cli.local import Outcome, chosen_rows, computed_values, timed_out
from cereus.cli.several import QUERY
from cereus.cli.spark_progress import spark_progress
from cereus.cli.view import ShownEvent, ShownMatch
from cereus.engine.results.time_order import time_columns
from cereus.many import QuerySet
from cereus.notices import MOST_TYPES
from cereus.query import Query
from cereus.sources import Files, scan
from cereus.sources.places import is_remote
from cereus.spark.counting import count_columns, counts_of
from cereus.spark.quoting import backticked
from cereus.spark.raised import spark_errors
from cereus.spark.reading.frames import frame
from cereus.spark.schemas import arrow_schema
from cereus.spark.writing import write_frame
from cereus.writing.target import Target, make_room

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Observation

Compiler = Callable[[pa.Schema], QuerySet]


def run_on_spark(
    compiler: Compiler,
    files: Files,
    out: Target | None,
    shown: int,
    *,
    master: str,
    tie: Sequence[str] = (),
    named: bool = False,
    check: Callable[[pa.Schema], object] | None = None,
    order: str | None = None,
) -> tuple[dict[str, Outcome], QuerySet]:
    """Run the queries as one job. With `named`, each written match has the name of its query.
    `check` compiles the queries for columns that are about the same on Spark."""
    from cereus import spark as cs

    with spark_errors():
        described = None if any(map(is_remote, files.paths)) else scan(files)
        if (
            described is not None and check is not None
        ):  # errors come before Spark starts, which takes a while
            check(described.schema)
        announce_spark()
        session = cs.session(master)
        events = cs.read(files, session=session) if described is None else frame(session, described)
        queries = compiler(arrow_schema(events.schema))
        begin = time.perf_counter()
        with spark_progress(session, "matching on Spark"):
            together = matched(events, queries, listed=out is None, tie=tie, named=named)
            if order is not None:
                together = together.in_order()
            if out is None:
                outcomes = together.collected(queries, shown)
            else:
                outcomes = together.written(queries, out)
        seconds = time.perf_counter() - begin
        rows = described.count() if described is not None and described.knows_count else None
        for name, outcome in outcomes.items():
            outcome.events, outcome.seconds = rows, seconds
            if not outcome.counts.rows:
                outcome.types = types_on_spark(events, queries[name])
    return outcomes, queries


# ---------------------------------------------------------------- results


@dataclass(frozen=True)
class QueriesOnSpark:
    """The matches of all queries in one DataFrame, so that one job finds them; `columns` are those
    of each query, by name. If queries are named, the column QUERY has the name."""

    rows: DataFrame
    columns: Mapping[str, list[str]]
    named: bool

    def of(self, name: str) -> DataFrame:
        """The matches of one query."""
        belongs = self._belongs(name)
        if isinstance(belongs, bool):
            return self.rows
        return self.rows.filter(belongs).select(*map(backticked, self.columns[name]))

    def in_order(self) -> QueriesOnSpark:
        """The matches query by query, each in the order of time."""
        from pyspark.sql import functions as f

        by = dict.fromkeys(t for each in self.columns.values() for t in time_columns(each))
        names = f.array(*(f.lit(name) for name in self.columns))
        first = [f.array_position(names, f.col(QUERY))] if self.named else []
        return replace(self, rows=self.rows.orderBy(*first, *by))

    def collected(self, queries: QuerySet, shown: int) -> dict[str, Outcome]:
        """Count all matches, and return some. They are kept on disk meanwhile, so that they are
        found only once."""
        from pyspark import StorageLevel
        from pyspark.sql import Observation

        self.rows.persist(StorageLevel.DISK_ONLY)
        try:
            observation = Observation()
            self.rows.observe(observation, *self._sizes(queries)).count()
            outcomes = self._counted(observation, queries)
            for name, outcome in outcomes.items():
                outcome.first = first_matches(self.of(name), queries[name], shown)
        finally:
            self.rows.unpersist()
        return outcomes

    def written(self, queries: QuerySet, out: Target) -> dict[str, Outcome]:
        return self._counted(write(self.rows, out, self._sizes(queries)), queries)

    def _belongs(self, name: str) -> Column | bool:
        from pyspark.sql import functions as f

        return f.col(QUERY) == name if self.named else True

    def _sizes(self, queries: QuerySet) -> list[Column]:
        return [
            size
            for name, columns in self.columns.items()
            for size in count_columns(columns, queries[name].compiled, name, self._belongs(name))
        ]

    def _counted(self, observation: Observation, queries: QuerySet) -> dict[str, Outcome]:
        compiled = {name: queries[name].compiled for name in self.columns}
        return {n: Outcome(counts_of(observation, each, n)) for n, each in compiled.items()}


def matched(
    events: DataFrame, queries: QuerySet, *, listed: bool, tie: Sequence[str], named: bool
) -> QueriesOnSpark:
    """The matches of the queries; `listed`: with the events of each match, else only of those that
    show nothing else."""
    from cereus import spark as cs
    from cereus.spark.batch.several import match_parts
    from cereus.spark.matching import prepared

    if not named:
        ((name, query),) = queries.queries.items()
        alone = cs.match(events, query, events=listed or not query.variables, tie=tie)
        return QueriesOnSpark(alone, {name: alone.columns}, named=False)
    given = {"columns": None, "tie": tie, "order": None, "parallelism": None, "push_down": True}
    several = queries.queries.items()
    parts = {
        name: prepared(
            events,
            query,
            events=listed or not query.variables,
            among=len(several),
            split=None,
            **given,
        )
        for name, query in several
    }
    return QueriesOnSpark(
        match_parts(parts), {n: each.schema.names for n, each in parts.items()}, named
    )


def first_matches(matches: DataFrame, query: Query, shown: int) -> list[ShownMatch]:
    """Some matches, of different keys."""
    keys = [".".join(path) for path in query.keys]
    first = matches.limit(shown).toArrow().to_pylist() if shown else []
    by_key = matches.dropDuplicates(keys).limit(shown).toArrow().to_pylist() if keys else []
    return [_shown(row, query) for row in chosen_rows(by_key, first, shown)]


def write(matches: DataFrame, out: Target, counts: Sequence[Column]) -> Observation:
    """Write all matches, and count them on the way."""
    from pyspark.sql import Observation

    observation = Observation()
    make_room(out)
    write_frame(matches.observe(observation, *counts), out)
    return observation


def _shown(row: dict[str, Any], query: Query) -> ShownMatch:
    if query.compiled.returned or "events" not in row:
        return ShownMatch([ShownEvent("", computed_values(row, query))])
    return ShownMatch(
        [
            *(
                ShownEvent(", ".join(n for n in query.variables if event in row[n]), event)
                for event in row["events"]
            ),
            *timed_out(row),
        ]
    )


def types_on_spark(events: DataFrame, query: Query) -> set[str]:
    """The types of the events, for a warning about types that no event has."""
    column = query.stream.type
    if column is None:
        return set()
    rows = events.select(backticked(column)).distinct().limit(MOST_TYPES + 1).toArrow().column(0)
    return set(rows.drop_null().to_pylist())
