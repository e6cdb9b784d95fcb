"""`match`: takes a DataFrame and a query, and gives the DataFrame of its matches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from cereus.engine.ingest.substreams import key_field
from cereus.errors import CereusError, DataError, switch
from cereus.language.compiled import EventwiseQuery
from cereus.language.pattern import PatternQuery
from cereus.many import QuerySet
from cereus.query import Query
from cereus.spark.batch.eventwise import Eventwise, eventwise
from cereus.spark.batch.explaining import explained
from cereus.spark.batch.pattern import Batch, batch
from cereus.spark.batch.several import Queries, match_parts, named
from cereus.spark.live.buckets import buckets_for
from cereus.spark.live.recipe import LATE
from cereus.spark.live.state.checkpoint import going_on, stored_queries
from cereus.spark.live.stream import Live, with_watermark
from cereus.spark.schemas import arrow_schema, check_cases, check_once
from cereus.spark.slices import Split

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def match(
    df: DataFrame,
    query: Query | Queries,
    *,
    events: bool = True,
    flat: bool = False,
    columns: Iterable[str] | None = None,
    tie: str | Iterable[str] = (),
    order: str | None = None,
    parallelism: int | None = None,
    split: Split = None,
    push_down: bool = True,
    watermark: str | None = None,
    idle: str | None = None,
    eager: bool = False,
    late: bool = False,
    on_change: Literal["refuse", "restart", "keep"] = "refuse",
    checkpoint: str | None = None,
    buckets: int | None = None,
    name: str = "cereus",
) -> DataFrame:
    """The matches of a query in a DataFrame, as a DataFrame; nothing runs until that is used.

    One row per match: the key columns, `start_time` and `end_time`, every selected variable as an
    array of its events, and `events`, the array of all events of the match, in order. A query
    that counts (`SELECT COUNT(*)`) gives `end_time`, `count` and `exact` per last event. A PAR
    program gives its own columns, and the event as `event`; an event expression `start` and
    `end`, and with `values=True` its constituents as `events`; a SASE+ text what it returns, and
    `events`.

    Several queries, as a list, a dict or what `compile_many` gives, are matched in one DataFrame
    of history: its first column `query` has the name (or number) of the query, and columns that
    not all of them have are null.

    events       False leaves the column `events` out
    flat         True gives columns like `a_price` for variables that hold one event, in place of
                 arrays of their events
    columns      which columns of an event are shown (all)
    tie          columns that order events of one time. After them the columns that the pattern
                 reads decide, in the order of the schema, then the other ones: the same rows
                 always give the same matches
    push_down    False keeps events that cannot matter until the engine drops them

    Of history only:

    order        the column to order events by, when the stream has no time column
    parallelism  how many tasks match (Spark's own choice for shuffles)
    split        the length of the slices of time that are matched in parallel, "1 hour". Without
                 it, where the pattern allows it, streams without keys are cut into slices of eight
                 windows, and so are keys that a sample of a large input shows to have most of the
                 events (not of more than 16 queries at once, which share a pass); True cuts all
                 keys, False never cuts

    Of a streaming DataFrame only (all the others ignore these):

    watermark    how late an event may be, "10 seconds"; not if the time column of `df` has a
                 watermark already
    idle         when the whole source has been silent for so long, "10 minutes", time passes by the
                 clock of the driver, so that what waits for time is emitted; events that come
                 behind it afterwards are late
    eager        True does not wait for Spark's watermark, which is a micro-batch behind: an event
                 is read as soon as one has come that is later by the watermark's delay, among the
                 keys of its bucket. Events that are behind this are late
    late         True adds a column `late`: rows in which it is not null are late events, and
                 all their other columns are null (`split_late` parts them)
    on_change    what to do with the state of another query in the checkpoint: "refuse" it, drop
                 it and "restart", or "keep" it, with its partial matches, where the queries differ
                 in the constants of tests or in the output only
    checkpoint   the checkpointLocation that the streaming query will have: with it, a query that
                 was changed is refused here, without it when the first events come; and state that
                 was made with other `buckets` is gone on with
    buckets      into how many pieces of state the keys are hashed; one for each of
                 spark.sql.shuffle.partitions, at most 32. It never changes
    name         what the counts are called in the progress of the query (`observedMetrics`):
                 events, late, matches, shed and kernel_seconds of each micro-batch

    Names and types are checked here. What only the values show (a null time) is raised by the
    action that runs the query, as Spark's PythonException with the message of Cereus inside.
    """
    for option, value in (
        ("flat", flat),
        ("eager", eager),
        ("late", late),
        ("events", events),
        ("push_down", push_down),
    ):
        switch(option, value)
    options: dict[str, Any] = {"events": events, "columns": columns, "tie": tie, "order": order}
    options |= {"parallelism": parallelism, "split": split, "push_down": push_down}
    if isinstance(query, QuerySet | Mapping | list | tuple):
        _check_history(df)
        queries = named(query)
        for each in queries.values():
            _check(df, each)
        if flat:
            queries = {name: flat_query(df, each) for name, each in queries.items()}
        for each in queries.values():
            each.notices.issue(each.warnings, above=2)
        return match_parts(prepared_parts(df, queries, **options))
    _check(df, query)
    assert isinstance(query, Query)
    if flat:
        query = flat_query(df, query)
    query.notices.issue(query.warnings, above=2)
    if df.isStreaming:
        query.notices.issue(query.compiled.live_warnings, above=2)
        _check_live(order, parallelism, split)
        marked = with_watermark(df, query, watermark)
        made = prepared(df, query, **{**options, "split": False})
        pieces = buckets_for(df.sparkSession, buckets)
        live = Live(made, marked, query, late, on_change, pieces, name, idle=idle, eager=eager)
        stored = stored_queries(df.sparkSession, checkpoint)
        return going_on(live, stored, fixed=buckets is not None).run()
    return prepared(df, query, **options).run()


def explain(df: DataFrame, query: Query | Queries, **options: Any) -> str:
    """Explain how `match(df, query, …)` will run: what travels, into how many tasks and why, in
    which order, and what is cut by time. The options are those of `match` for history."""
    if getattr(df, "isStreaming", False):
        raise CereusError(
            "this explains how history is matched, and the events are a stream",
            hint="match(…).explain() shows the plan of Spark, query.explain() that of the engine",
        )
    given = {"events": True, "columns": None, "tie": (), "order": None} | options
    given = {"parallelism": None, "split": None, "push_down": True} | given
    queries = named(query if not isinstance(query, Query) else [query])
    for each in queries.values():
        _check(df, each)
    return explained(prepared_parts(df, queries, **given))


def flat_query(df: DataFrame, query: Query) -> Query:
    """The query with flat columns, for the columns that leave Spark."""
    return query.flat(arrow_schema(df.schema))


def split_late(result: DataFrame) -> tuple[DataFrame, DataFrame]:
    """The matches, and the late events, in the result of `match(…, late=True)`."""
    if LATE not in result.columns:
        raise CereusError("there are no late events here", hint="match(…, late=True)")
    matches = result.filter(result[LATE].isNull()).drop(LATE)
    return matches, result.filter(result[LATE].isNotNull()).select(f"{LATE}.*")


def prepared(df: DataFrame, query: Query, *, among: int = 1, **options: Any) -> Batch | Eventwise:
    """A query over a DataFrame, as one of `among` queries of a call, and how it will be run."""
    compiled = query.compiled
    made: Batch | Eventwise
    if isinstance(compiled, EventwiseQuery):
        made = eventwise(df, compiled, **options)
    elif isinstance(compiled, PatternQuery):
        made = batch(df, compiled, among=among, **options)
    else:
        raise CereusError(
            f"queries in {query.dialect} are not matched on Spark",
            hint="collect the events and use query.run(table)",
        )
    known = arrow_schema(df.schema)
    for path in compiled.keys:
        key_field(known, path)  # a worker would refuse it only when the query runs
    return made


def prepared_parts(
    df: DataFrame, queries: Mapping[str, Query], **options: Any
) -> dict[str, Batch | Eventwise]:
    """Several queries over a DataFrame, by name."""
    return {
        name: prepared(df, query, among=len(queries), **options) for name, query in queries.items()
    }


# ---------------------------------------------------------------- checks


def _check_history(df: DataFrame) -> None:
    if getattr(df, "isStreaming", False):
        raise CereusError(
            "several queries at once are for history",
            hint="start a streaming query for each of them, or use match_rules",
        )


def _check(df: DataFrame, query: object) -> None:
    if not isinstance(query, Query):
        raise CereusError(
            f"a compiled query is needed, not a {type(query).__name__}",
            hint='write q = cereus.compile("SELECT …", stream=cereus.Stream(…))',
        )
    if not hasattr(df, "mapInArrow"):
        raise DataError(
            f"a Spark DataFrame is needed, not a {type(df).__name__}",
            hint="for other tables there is query.run(table)",
        )
    check_once(df.columns, "the DataFrame has two columns {}", "rename or drop one of them")
    check_cases(df.sparkSession, df.columns)


def _check_live(order: str | None, parallelism: int | None, split: Split) -> None:
    advice = {
        "order": (order, 'events are ordered by their time: Stream(time="…")'),
        "parallelism": (parallelism, "set spark.sql.shuffle.partitions before the first start"),
        "split": (split, "leave it out: what is read at once is the micro-batch"),
    }
    for name, (given, hint) in advice.items():
        if given:
            raise CereusError(f"{name}= is for history, not for a streaming DataFrame", hint=hint)
