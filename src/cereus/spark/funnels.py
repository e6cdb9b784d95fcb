"""`cs.funnel`: the funnel of a DataFrame, key by key in the workers, counted by Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from cereus.funnels.funnel import Funnel
from cereus.funnels.run import ENTERED, LEVEL, TOOK, FunnelRun, keys_schema
from cereus.funnels.spec import FunnelSpec, Steps, funnel_spec
from cereus.funnels.summary import PERIOD, Taken, group_names, steps_table
from cereus.spark.batch.arranging import Arrangement, kept
from cereus.spark.quoting import map_in_arrow, quoted
from cereus.spark.schemas import arrow_schema, orderable
from cereus.stream import UNITS
from cereus.syntax.literals import Length

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

STEP, SECONDS, COUNT, MEAN, MEDIAN = "__step", "__seconds", "__count", "__mean", "__median"


def funnel(
    df: DataFrame,
    steps: Steps,
    *,
    key: str | Iterable[str],
    time: str,
    within: Length | None = None,
    gaps: Length | Sequence[Length | None] | None = None,
    type: str | None = "type",
    unit: str | None = None,
    where: str | None = None,
    by: str | Iterable[str] = (),
    period: str | None = None,
    tie: str | Iterable[str] = (),
    parallelism: int | None = None,
    params: Mapping[str, Any] | None = None,
) -> Funnel:
    """As `cereus.funnel`, of a DataFrame. `keys` of the result is a DataFrame too.

    tie          columns that order events of one time; after them their values do
    parallelism  how many tasks match (Spark's own choice for shuffles)
    """
    spec = funnel_spec(
        steps,
        key=key,
        time=time,
        within=within,
        gaps=gaps,
        type=type,
        unit=unit,
        where=where,
        by=by,
        period=period,
        params=params,
    )
    keys = _keys(df, spec, (tie,) if isinstance(tie, str) else tuple(tie), parallelism)
    return Funnel(spec, steps_table(spec, _taken(keys, spec)), keys)


def _keys(
    df: DataFrame, spec: FunnelSpec, tie: Sequence[str], parallelism: int | None
) -> DataFrame:
    from pyspark.sql.pandas.types import from_arrow_schema

    known = arrow_schema(df.schema)
    spec.check(known)
    read = spec.columns(known)
    travelling = list(dict.fromkeys([*read, *tie]))
    order = list(dict.fromkeys([str(spec.stream.time), *tie, *read]))
    groups = tuple((name,) for name in spec.stream.keys)
    sorted_by = tuple((name,) for name in order if orderable(df.schema[name].dataType))
    events = Arrangement(
        kept(df, (), travelling), groups, sorted_by, by_time=True, tasks=parallelism
    ).rows()
    schema = pa.schema([known.field(name) for name in read])
    result = from_arrow_schema(keys_schema(spec, schema))
    return map_in_arrow(events, _Worker(spec, schema).run, result)


class _Worker:
    """The work of a task on the events of its keys."""

    def __init__(self, spec: FunnelSpec, schema: pa.Schema) -> None:
        self.spec, self.schema = spec, schema

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        run = FunnelRun(self.spec, self.schema)
        for batch in batches:
            if batch.num_rows:
                run.push(batch.select(self.schema.names).cast(self.schema))
        yield from run.finish().to_batches()


def _taken(keys: DataFrame, spec: FunnelSpec) -> Iterator[Taken]:
    """Every step in every group, counted by Spark."""
    from pyspark.sql import functions as f

    begun = keys.filter(f.col(LEVEL) > 0)
    if spec.period is not None:
        begun = begun.withColumn(PERIOD, f.date_trunc(spec.period, _instant(spec, keys)))
    names = group_names(spec)
    columns = [quoted((name,)) for name in names]
    since = f.concat(f.array(f.lit(None).cast("double")), f.col(TOOK))
    each = begun.select(*columns, f.posexplode(since).alias(STEP, SECONDS))
    rows = each.groupBy(*columns, STEP).agg(
        f.count_if(f.lit(True)).alias(COUNT),
        f.avg(SECONDS).alias(MEAN),
        f.median(SECONDS).alias(MEDIAN),
    )
    for row in rows.toArrow().to_pylist():
        group = tuple(_naive(row[name]) for name in names)
        yield Taken(group, row[STEP] + 1, row[COUNT], row[MEAN], row[MEDIAN])


def _instant(spec: FunnelSpec, keys: DataFrame) -> Column:
    """When a key began, as a time that can be truncated."""
    from pyspark.sql import functions as f

    entered = f.col(ENTERED)
    if keys.schema[ENTERED].dataType.typeName() in ("timestamp", "timestamp_ntz", "date"):
        return entered.cast("timestamp_ntz")
    micros = f.round(entered.cast("double") * UNITS[spec.stream.unit or "us"]).cast("long")
    return f.timestamp_micros(micros).cast("timestamp_ntz")


def _naive(value: Any) -> Any:
    """A period without a zone, as it is without Spark."""
    return value.replace(tzinfo=None) if getattr(value, "tzinfo", None) is not None else value
