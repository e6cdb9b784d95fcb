"""`why` on a DataFrame: every task counts its events, and the counts are added up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812

from cereus.language.compiled import CompiledQuery
from cereus.query import NEAREST_MISSES, Query
from cereus.sources import Source
from cereus.spark.matching import prepared
from cereus.spark.quoting import map_in_arrow
from cereus.why.result import TABLE, Why
from cereus.why.why import why as why_of
from cereus.writing.json_text import json_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MISS = "miss"
COLUMNS = pa.schema(
    [
        *TABLE,
        pa.field("by", pa.string()),
        pa.field("amount", pa.float64()),
        pa.field("events", pa.string()),
    ]
)
SPARK_SCHEMA = (
    "step int, name string, what string, kind string, text string, count double, "
    "by string, amount double, events string"
)
COUNTED = ("step", "name", "what", "kind", "text")


def why(
    df: DataFrame,
    query: Query,
    *,
    tie: str | Iterable[str] = (),
    order: str | None = None,
    most: int = NEAREST_MISSES,
) -> DataFrame:
    """The counts of `Query.why` as a table: step, name, what, kind, text, count. Rows with `miss`
    for `what` are the nearest misses: by how much (`by`), and their events as JSON (`events`).

    The events of each task are in memory while it counts."""
    options: dict[str, Any] = {"events": True, "columns": None, "tie": tie, "order": order}
    options |= {"parallelism": None, "split": False, "push_down": False}
    made = prepared(df, query, **options)
    rows = map_in_arrow(made.arrangement.rows(), WhyTask(made.query, most).run, SPARK_SCHEMA)
    counts = (
        rows.filter(F.col("what") != MISS)
        .groupBy(*COUNTED)
        .agg(F.sum("count").alias("count"))
        .select(*COUNTED, "count", *(F.lit(None).alias(name) for name in ("by", "events")))
    )
    misses = (
        rows.filter(F.col("what") == MISS)
        .orderBy(F.col("amount").asc_nulls_last(), "text", "events")
        .limit(most)
        .select(*COUNTED, "count", "by", "events")
    )
    return counts.unionByName(misses).orderBy(F.col("step").asc_nulls_last(), "what", "text")


@dataclass(frozen=True)
class WhyTask:
    """The counting of one worker."""

    query: CompiledQuery
    most: int

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        every = list(batches)
        if every:
            table = pa.Table.from_batches(every)
            yield from self._rows(why_of(self.query, Source(table.schema, table), most=self.most))

    def _rows(self, answer: Why) -> Iterator[pa.RecordBatch]:
        rows = answer.table.to_pylist()
        described = answer.to_dict()["misses"]
        for miss, of in zip(answer.misses, described, strict=True):
            events = [{n: v for n, v in event.items() if n != "row"} for event in of["events"]]
            rows.append(
                {
                    "what": MISS,
                    "kind": str(miss.kind),
                    "text": miss.text,
                    "by": miss.by,
                    "amount": miss.amount,
                    "events": json_text(events, ensure_ascii=False),
                }
            )
        yield from pa.Table.from_pylist(rows, COLUMNS).to_batches()
