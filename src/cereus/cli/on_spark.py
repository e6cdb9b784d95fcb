"""`cereus run` on Spark: read, match and write there; bring back a count and the first matches."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cereus.cli.engines import announce_spark
from cereus.cli.local import Outcome, chosen_rows, computed_values
from cereus.cli.output import format_of
from cereus.cli.several import QUERY
from cereus.cli.spark_progress import spark_progress
from cereus.cli.view import ShownEvent, ShownMatch
from cereus.engine.results.time_order import time_columns
from cereus.errors import CereusError, DataError
from cereus.many import QuerySet
from cereus.notices import MOST_TYPES
from cereus.query import Query
from cereus.sources import SUFFIXES, files_of
from cereus.spark.files import COUNTED, CSV, flat, located, observed
from cereus.spark.raised import spark_errors

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Observation, SparkSession

Compiler = Callable[[pa.Schema], QuerySet]


def run_on_spark(
    compiler: Compiler,
    paths: Sequence[str],
    out: Path | None,
    shown: int,
    *,
    master: str,
    tie: Sequence[str] = (),
    named: bool = False,
    order: str | None = None,
) -> tuple[dict[str, Outcome], QuerySet]:
    """A job for each query. Where they are `named`, what is written says whose match it is."""
    from cereus import spark as cs

    with spark_errors():
        kind = format_of_all(paths)  # before Spark starts, which takes a while
        announce_spark()
        session = cs.session(master)
        events = read(session, paths, kind)
        queries = compiler(arrow_schema(events))
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
        rows = events.count() if kind in COUNTED else None
        for name, outcome in outcomes.items():
            outcome.events, outcome.seconds = rows, seconds
            if not outcome.matches:
                outcome.types = types_on_spark(events, queries[name])
    return outcomes, queries


def read(session: SparkSession, paths: Sequence[str], kind: str) -> DataFrame:
    """A DataFrame of files of one format."""
    options = {**CSV, "inferSchema": True} if kind == "csv" else {}
    return session.read.format(kind).options(**options).load([located(path) for path in paths])


def format_of_all(paths: Sequence[str]) -> str:
    """The format of files here; elsewhere the one of their suffix."""
    elsewhere = {SUFFIXES.get(Path(path).suffix.lower()) for path in paths if "://" in path}
    local = [Path(path) for path in paths if "://" not in path]
    kinds = elsewhere | ({files_of(local)[1]} if local else set())
    if len(kinds) > 1 or kinds & {None, "ipc"}:
        raise DataError(
            f"cannot read {', '.join(map(repr, paths))} on Spark",
            hint="known: .parquet, .csv, .json, .orc, all of one format; for Arrow files use "
            "--engine local",
        )
    return str(kinds.pop())


def arrow_schema(df: DataFrame) -> pa.Schema:
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(df.schema, timezone="UTC")


# ---------------------------------------------------------------- results


def collected(matches: DataFrame, query: Query, shown: int) -> Outcome:
    """Count all, bring some (of different keys). Kept on disk, so that the query runs once."""
    from pyspark import StorageLevel
    from pyspark.sql import Observation

    kept = matches.persist(StorageLevel.DISK_ONLY)
    try:
        observation = Observation()
        kept.observe(observation, *sizes(query)).count()
        keys = [".".join(path) for path in query.keys]
        first = kept.limit(shown).toArrow().to_pylist() if shown else []
        by_key = kept.dropDuplicates(keys).limit(shown).toArrow().to_pylist() if keys else []
    finally:
        kept.unpersist()
    outcome = counted(observation)
    outcome.first = [_shown(row, query) for row in chosen_rows(by_key, first, shown)]
    return outcome


def _written(
    matches: Mapping[str, DataFrame], queries: QuerySet, out: Path, *, named: bool
) -> dict[str, Outcome]:
    from pyspark.sql import functions as f

    if not named:
        ((name, alone),) = matches.items()
        return {name: counted(write(alone, out, sizes(queries[name])))}
    tables = [each.select(f.lit(name).alias(QUERY), f.col("*")) for name, each in matches.items()]
    together = reduce(lambda one, two: one.unionByName(two, allowMissingColumns=True), tables)
    belongs = {name: f.col(QUERY) == name for name in matches}
    observation = write(
        together, out, [s for n, of in belongs.items() for s in sizes(queries[n], n, of)]
    )
    return {name: counted(observation, name) for name in matches}


def sizes(query: Query, name: str = "", belongs: Column | bool = True) -> list[Column]:
    """What `counted` reads: the number of rows and of matches, among the rows of one query."""
    from pyspark.sql import functions as f

    rows = f.count_if(f.lit(belongs))
    matches = f.sum(f.when(f.lit(belongs), f.col("count"))) if query.compiled.counts else rows
    return [rows.alias(f"{name} rows"), matches.alias(f"{name} matches")]


def counted(observation: Observation, name: str = "") -> Outcome:
    return Outcome(observed(observation, f"{name} matches"), observed(observation, f"{name} rows"))


def write(matches: DataFrame, out: Path, counts: Sequence[Column]) -> Observation:
    """A directory of files, as Spark writes it; the counts are taken on the way."""
    from pyspark.sql import Observation

    kind = format_of(out)
    if kind == "arrow":
        raise CereusError(
            "Spark does not write Arrow files", hint="write .parquet, or use --engine local"
        )
    if kind == "csv":
        matches = flat(matches)
    observation = Observation()
    matches = matches.observe(observation, *counts)
    matches.write.format(kind).options(**(CSV if kind == "csv" else {})).save(located(str(out)))
    return observation


def _shown(row: dict[str, Any], query: Query) -> ShownMatch:
    if query.compiled.returned or "events" not in row:
        return ShownMatch([ShownEvent("", computed_values(row, query))])
    return ShownMatch(
        [
            ShownEvent(", ".join(n for n in query.variables if event in row[n]), event)
            for event in row["events"]
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
