"""`cereus run -q A -q B INPUT…`: the names of several queries, and one table of all matches."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from cereus.cli.inputs import Written, written
from cereus.errors import CereusError

QUERY = "query"
"""The column that says which query a match is of."""


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


def joined_schema(schemas: Sequence[pa.Schema]) -> pa.Schema:
    """The columns of all results, after the name of the query."""
    try:
        return pa.unify_schemas([pa.schema([(QUERY, pa.string())]), *schemas])
    except pa.ArrowException as error:
        raise CereusError(
            f"the results do not fit into one table: {error}",
            hint="rename a variable, or run the queries on their own",
        ) from None


def fitted(name: str, batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """A batch with the columns of all; null where its query has none."""
    rows, own = batch.num_rows, set(batch.schema.names)
    columns = [pa.array([name] * rows, pa.string())]
    columns += [
        batch.column(each.name) if each.name in own else pa.nulls(rows, each.type)
        for each in list(schema)[1:]
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
