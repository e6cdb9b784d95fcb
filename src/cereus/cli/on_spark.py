"""`cereus run` on Spark: read, match and write there; bring back a count and the first matches."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cereus.clauses.tree import TIMEOUTS
from cereus.cli.engines import announce_spark
from cereus.cli.local import Outcome, chosen_rows, computed_values, timed_out
from cereus.cli.several import QUERY
from cereus.cli.spark_progress import spark_progress
from cereus.cli.view import ShownEvent, ShownMatch
from cereus.engine.results.time_order import time_columns
from cereus.engine.results.timeout_rows import has_timeouts
from cereus.many import QuerySet
from cereus.notices import MOST_TYPES
from cereus.query import Query
from cereus.sources import Files, scan
from cereus.sources.places import is_remote
from cereus.spark.files import observed
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
    """A job for each query. Where they are `named`, what is written says whose match it is.
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
            matches = {
                name: cs.match(events, query, events=out is None or not query.variables, tie=tie)
                for name, query in queries.queries.items()
            }
            if order is not None:
                matches = {
                    n: each.orderBy(time_columns(each.columns)) for n, each in matches.items()
                }
            if out is None:
                outcomes = {n: collected(each, queries[n], shown) for n, each in matches.items()}
            else:
                outcomes = _written(matches, queries, out, named=named)
        seconds = time.perf_counter() - begin
        rows = described.count() if described is not None and described.knows_count else None
        for name, outcome in outcomes.items():
            outcome.events, outcome.seconds = rows, seconds
            if not outcome.rows:
                outcome.types = types_on_spark(events, queries[name])
    return outcomes, queries


# ---------------------------------------------------------------- results


def collected(matches: DataFrame, query: Query, shown: int) -> Outcome:
    """Count all, bring some (of different keys). Kept on disk, so that the query runs once."""
    from pyspark import StorageLevel
    from pyspark.sql import Observation

    kept = matches.persist(StorageLevel.DISK_ONLY)
    try:
        observation = Observation()
        kept.observe(observation, *sizes(kept, query)).count()
        keys = [".".join(path) for path in query.keys]
        first = kept.limit(shown).toArrow().to_pylist() if shown else []
        by_key = kept.dropDuplicates(keys).limit(shown).toArrow().to_pylist() if keys else []
    finally:
        kept.unpersist()
    outcome = counted(observation)
    outcome.first = [_shown(row, query) for row in chosen_rows(by_key, first, shown)]
    return outcome


def _written(
    matches: Mapping[str, DataFrame], queries: QuerySet, out: Target, *, named: bool
) -> dict[str, Outcome]:
    from pyspark.sql import functions as f

    if not named:
        ((name, alone),) = matches.items()
        return {name: counted(write(alone, out, sizes(alone, queries[name])))}
    tables = [each.select(f.lit(name).alias(QUERY), f.col("*")) for name, each in matches.items()]
    together = reduce(lambda one, two: one.unionByName(two, allowMissingColumns=True), tables)
    belongs = {name: f.col(QUERY) == name for name in matches}
    counts = [s for n, of in belongs.items() for s in sizes(matches[n], queries[n], n, of)]
    observation = write(together, out, counts)
    return {name: counted(observation, name) for name in matches}


def sizes(
    table: DataFrame, query: Query, name: str = "", belongs: Column | bool = True
) -> list[Column]:
    """What `counted` reads: the number of rows, of matches and of time-outs, among the rows of one
    query; `table` is its result."""
    from pyspark.sql import functions as f

    rows = f.count_if(f.lit(belongs))
    late = f.lit(belongs) & f.col(TIMEOUTS[0]) if has_timeouts(table.columns) else f.lit(False)
    timeouts = f.count_if(late)
    counts = query.compiled.counts
    matches = f.sum(f.when(f.lit(belongs), f.col("count"))) if counts else rows - timeouts
    numbers = {"rows": rows, "matches": matches, "timeouts": timeouts}
    return [number.alias(f"{name} {of}") for of, number in numbers.items()]


def counted(observation: Observation, name: str = "") -> Outcome:
    matches, rows, timeouts = (
        observed(observation, f"{name} {of}") for of in ("matches", "rows", "timeouts")
    )
    return Outcome(matches, rows, timeouts)


def write(matches: DataFrame, out: Target, counts: Sequence[Column]) -> Observation:
    """Write all matches; the counts are taken on the way."""
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
    """The types of the events, for a warning of types that none has."""
    column = query.stream.type
    if column is None:
        return set()
    name = f"`{column.replace('`', '``')}`"
    rows = events.select(name).distinct().limit(MOST_TYPES + 1).toArrow().column(0)
    return set(rows.drop_null().to_pylist())
