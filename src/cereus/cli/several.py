"""`cereus run -q A -q B INPUT…`: several queries in one pass, in this process or on Spark."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cereus.cli.inputs import Written, written
from cereus.cli.local import Outcome, Sample, event_progress, shown_matches
from cereus.cli.output import writer
from cereus.errors import CereusError
from cereus.many import QuerySet
from cereus.sources import Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

QUERY = "query"
"""The column that says which query a match is of."""

Compiler = Callable[[pa.Schema], QuerySet]


def query_texts(arguments: Sequence[str]) -> dict[str, Written]:
    """Texts by name: that of the file, or `q1`, `q2`, … by their place."""
    found: dict[str, Written] = {}
    for place, argument in enumerate(arguments, 1):
        query = written(argument)
        name = f"q{place}" if query.file is None else query.file.stem
        if name in found:
            raise CereusError(
                f"two queries are called {name!r}", hint="rename one of the files: results say it"
            )
        found[name] = query
    return found


# ---------------------------------------------------------------- in this process


def run_several(
    queries: QuerySet, events: Source, out: Path | None, shown: int
) -> dict[str, Outcome]:
    """Read once, match and write batch by batch; only the first matches of each are kept."""
    outcomes = {name: Outcome() for name in queries.queries}
    samples = {
        name: Sample(shown, [".".join(path) for path in query.keys])
        for name, query in queries.queries.items()
    }

    def told(read: int, matches: int) -> None:
        for outcome in outcomes.values():
            outcome.events = read
        advance(read, matches)

    begin = time.perf_counter()
    with event_progress(events) as advance:
        found = queries.batches(events, progress=told)
        for name, batch in _written(found, queries, events, out):
            samples[name].add(batch)
            outcomes[name].add(batch, queries[name])
    seconds = time.perf_counter() - begin
    for name, outcome in outcomes.items():
        outcome.seconds = seconds
        outcome.first = shown_matches(samples[name].rows, events, queries[name])
        outcome.columns = list(outcome.first[0].events[0].values) if outcome.first else []
    return outcomes


Found = Iterator[tuple[str, pa.RecordBatch]]


def _written(found: Found, queries: QuerySet, events: Source, out: Path | None) -> Found:
    if out is None:
        yield from found
        return
    schemas = [query.executor(events.schema).schema for query in queries.queries.values()]
    schema = joined_schema(schemas)
    with writer(out, schema) as file:
        for name, batch in found:
            file.write(_fitted(name, batch, schema))
            yield name, batch


def joined_schema(schemas: Sequence[pa.Schema]) -> pa.Schema:
    """The columns of all results, after the name of the query."""
    try:
        return pa.unify_schemas([pa.schema([(QUERY, pa.string())]), *schemas])
    except pa.ArrowException as error:
        raise CereusError(
            f"the results do not fit into one table: {error}",
            hint="rename a variable, or run the queries on their own",
        ) from None


def _fitted(name: str, batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """A batch with the columns of all; null where its query has none."""
    rows, own = batch.num_rows, set(batch.schema.names)
    columns = [pa.array([name] * rows, pa.string())]
    columns += [
        batch.column(each.name) if each.name in own else pa.nulls(rows, each.type)
        for each in list(schema)[1:]
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


# ---------------------------------------------------------------- on Spark


def run_several_on_spark(
    compiler: Compiler,
    paths: Sequence[str],
    out: Path | None,
    shown: int,
    *,
    master: str,
    tie: Sequence[str] = (),
) -> tuple[dict[str, Outcome], QuerySet]:
    from cereus import spark as cs
    from cereus.cli.on_spark import arrow_schema, collected, read
    from cereus.cli.spark_progress import spark_progress
    from cereus.spark.files import COUNTED
    from cereus.spark.raised import spark_errors

    with spark_errors():
        session = cs.session(master)
        events, kind = read(session, paths)
        queries = compiler(arrow_schema(events))
        begin = time.perf_counter()
        with spark_progress(session, "matching on Spark"):
            found = {
                name: cs.match(events, query, events=out is None or not query.variables, tie=tie)
                for name, query in queries.queries.items()
            }
            if out is None:
                outcomes = {n: collected(each, queries[n], shown) for n, each in found.items()}
            else:
                outcomes = _written_on_spark(found, queries, out)
        seconds = time.perf_counter() - begin
        rows = events.count() if kind in COUNTED else None
    for outcome in outcomes.values():
        outcome.events, outcome.seconds = rows, seconds
        outcome.columns = list(outcome.first[0].events[0].values) if outcome.first else []
    return outcomes, queries


def _written_on_spark(found: dict[str, Any], queries: QuerySet, out: Path) -> dict[str, Outcome]:
    from pyspark.sql import functions as f

    from cereus.cli.on_spark import counted, sizes, write

    named = [each.select(f.lit(name).alias(QUERY), f.col("*")) for name, each in found.items()]
    whole: DataFrame = named[0]
    for each in named[1:]:
        whole = whole.unionByName(each, allowMissingColumns=True)
    own = {name: f.col(QUERY) == name for name in found}
    seen = write(whole, out, [s for n, of in own.items() for s in sizes(queries[n], n, of)])
    return {name: counted(seen, name) for name in found}
