"""Warns when there are no matches because no event has a type that the query needs."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from cereus.errors import did_you_mean
from cereus.query import Query
from cereus.sources import Source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST_TYPES = 1000
"""With more, a column is no list of types to choose from."""


def warnings_of_types(query: Query, types: Collection[str]) -> Iterator[str]:
    """A warning for each type that the query needs and no event has; `types` are the events'."""
    if query.stream.type is None or len(types) > MOST_TYPES:
        return
    for name in sorted(_types_of(query) - set(types)):
        hint = did_you_mean(name, types)
        yield f"no event has the type {name!r}" + ("" if hint is None else f"; {hint}")


def _types_of(query: Query) -> set[str]:
    return {test.type for test in query.compiled.tests() if test.type is not None}


def types_in(events: Source, query: Query) -> set[str]:
    """The types of the events, or of the first of them where there are very many types."""
    column = query.stream.type
    types: set[str] = set()
    for batch in events.batches([column]) if column is not None else ():
        types |= set(pc.unique(batch.column(0)).drop_null().to_pylist())
        if len(types) > MOST_TYPES:
            break
    return types


def types_on_spark(events: DataFrame, query: Query) -> set[str]:
    column = query.stream.type
    if column is None:
        return set()
    name = f"`{column.replace('`', '``')}`"
    rows = events.select(name).distinct().limit(MOST_TYPES + 1).toArrow().column(0)
    return set(rows.drop_null().to_pylist())
