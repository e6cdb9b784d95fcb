"""Several queries over one DataFrame: their matches in one DataFrame, which says whose they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as st

from cereus.errors import CereusError, DataError
from cereus.many import QuerySet
from cereus.query import Query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

QUERY = "query"
"""The column with the name of the query that a match is of."""

Queries = QuerySet | Mapping[str, Query] | Iterable[Query]


def named(queries: Queries) -> dict[str, Query]:
    """Queries by name; those of a list by number, "0", "1", …"""
    if isinstance(queries, QuerySet):
        found = queries.queries
    elif isinstance(queries, Mapping):
        found = dict(queries)
    else:
        found = {str(number): query for number, query in enumerate(queries)}
    if not found:
        raise CereusError("no query was given", hint="give a query, or a list or dict of queries")
    return found


def match_several(
    match_one: Callable[[Query], DataFrame], queries: Mapping[str, Query]
) -> DataFrame:
    """The matches of all queries, each with the name of its query. Columns that not all of them
    have are null elsewhere."""
    parts = {name: match_one(query) for name, query in queries.items()}
    _check({name: part.schema for name, part in parts.items()})
    marked = [part.select(F.lit(name).alias(QUERY), "*") for name, part in parts.items()]
    return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), marked)


def _check(schemas: Mapping[str, st.StructType]) -> None:
    """A column has one type in all of them, and none is called as the query's is."""
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
