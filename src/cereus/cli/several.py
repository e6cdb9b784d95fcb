"""`cereus run -q A -q B INPUT…`: the names of several queries, and one table of all matches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import pyarrow as pa

from cereus.cli.inputs import Written, written
from cereus.cli.view import show_warning
from cereus.errors import CereusError, about
from cereus.many import QuerySet
from cereus.query import Query

QUERY = "query"
"""The column with the name of a match's query."""


@dataclass(frozen=True)
class CommandQueries:
    """The queries of a command by name. With `several`, messages name the query."""

    texts: Mapping[str, Written]
    several: bool

    def compiled(self, make: Callable[[Written], Query]) -> QuerySet:
        queries = {}
        for name, each in self.texts.items():
            with about(self._called(name)) if self.several else nullcontext():
                queries[name] = make(each)
        return QuerySet(queries)

    def warn(self, name: str, warnings: Iterable[str]) -> None:
        for warning in warnings:
            show_warning(f"{self._called(name)}: {warning}" if self.several else warning)

    def _called(self, name: str) -> str:
        return str(self.texts[name].file or name)


def query_texts(arguments: Sequence[str]) -> dict[str, Written]:
    """Texts by name: that of the file, or `q1`, `q2`, … by their place."""
    texts: dict[str, Written] = {}
    for place, argument in enumerate(arguments, 1):
        query = written(argument)
        name = f"q{place}" if query.file is None else query.file.stem
        if name in texts:
            raise CereusError(
                f"two queries are called {name!r}", hint="rename one of the files: results say it"
            )
        texts[name] = query
    return texts


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
    rows, present = batch.num_rows, set(batch.schema.names)
    columns = [pa.array([name] * rows, pa.string())]
    columns += [
        batch.column(each.name) if each.name in present else pa.nulls(rows, each.type)
        for each in list(schema)[1:]
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
