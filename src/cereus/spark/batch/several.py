"""Matches several queries over one DataFrame; each match has the name of its query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as st

from cereus.errors import CereusError, DataError
from cereus.many import QuerySet
from cereus.query import Query
from cereus.spark.batch.eventwise import Eventwise
from cereus.spark.batch.pattern import Batch
from cereus.spark.batch.shared_scan import SharedScan
from cereus.spark.batch.together import QUERY, Together
from cereus.spark.quoting import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Queries = QuerySet | Mapping[str, Query] | Iterable[Query]


def named(queries: Queries) -> dict[str, Query]:
    """Queries by name; those of a list by number, "0", "1", …"""
    if isinstance(queries, QuerySet):
        by_name = queries.queries
    elif isinstance(queries, Mapping):
        by_name = dict(queries)
    else:
        by_name = {str(number): query for number, query in enumerate(queries)}
    if not by_name:
        raise CereusError("no query was given", hint="give a query, or a list or dict of queries")
    return by_name


def match_parts(parts: Mapping[str, Batch | Eventwise]) -> DataFrame:
    """The matches of all queries, each with the name of its query. Columns that not all of them
    have are null elsewhere."""
    _check({name: part.schema for name, part in parts.items()})
    matches = [each.run() for each in jobs(parts)]
    union = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), matches)
    columns = dict.fromkeys(name for part in parts.values() for name in part.schema.names)
    return union.select(QUERY, *(quoted((name,)) for name in columns))


def jobs(parts: Mapping[str, Batch | Eventwise]) -> list[Job]:
    """The queries grouped by how they read the rows. Those that arrange them alike are matched in
    one pass, and passes that differ only in their keys, or in how keys are cut by time, share the
    scan."""
    passes: dict[object, dict[str, Batch | Eventwise]] = {}
    for name, part in parts.items():
        passes.setdefault((part.groups, part.order, part.cut_by), {})[name] = part
    by_order: dict[object, list[Together]] = {}
    for each in map(Together.of, passes.values()):
        by_order.setdefault(each.first.order, []).append(each)
    return [_job(each) for each in by_order.values()]


def _job(passes: list[Together]) -> Job:
    if len(passes) > 1:
        return SharedScan(tuple(passes))
    ((name, first), *others) = passes[0].parts.items()
    return passes[0] if others else Alone(name, first)


@dataclass(frozen=True)
class Alone:
    """A query that reads the rows alone."""

    name: str
    part: Batch | Eventwise

    def run(self) -> DataFrame:
        return self.part.run().select(F.lit(self.name).alias(QUERY), "*")


Job = Alone | Together | SharedScan


def _check(schemas: Mapping[str, st.StructType]) -> None:
    """Check that a column has one type in all of them, and that none has the name of the query
    column."""
    seen: dict[str, tuple[str, st.DataType]] = {}
    for name, schema in schemas.items():
        for field in schema:
            if field.name == QUERY:
                raise DataError(
                    f"the matches of {name} have a column {QUERY!r} of their own",
                    hint="rename it, or match the queries one by one",
                )
            first, kind = seen.setdefault(field.name, (name, field.dataType))
            if kind != field.dataType:
                raise DataError(
                    f"{field.name!r} is {kind.simpleString()} in the matches of {first}, and "
                    f"{field.dataType.simpleString()} in those of {name}",
                    hint="rename the variable, or match the queries one by one",
                )
