"""Compile a query once, run it anywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.executor import Executor, PatternExecutor
from cereus.engine.runner import Limits
from cereus.errors import CereusError, did_you_mean
from cereus.lang import cel, ceql
from cereus.matches import Matches
from cereus.plan.explain import explain, warnings
from cereus.plan.plan import Plan, build
from cereus.plan.stream import Stream
from cereus.recognizer import Recognizer
from cereus.sources import Source, source

Progress = Callable[[int, int], None]
"""Told after every batch: events read so far, and matches found so far."""

DIALECTS: dict[str, Callable[[str], cel.Query]] = {"ceql": ceql.parse}


def compile(
    text: str,
    *,
    dialect: str = "ceql",
    stream: Stream | None = None,
    schema: pa.Schema | None = None,
    limits: Limits | None = None,
) -> Query:
    """Compile a query. With a schema, every name and type in it is checked now; without one,
    when the first events are there."""
    if dialect not in DIALECTS:
        raise CereusError(
            f"unknown dialect {dialect!r}", hint=did_you_mean(dialect, DIALECTS)
        )
    return Query(DIALECTS[dialect](text), stream or Stream(), schema=schema, limits=limits)


class Query:
    """A compiled query. Make one with `cereus.compile`."""

    def __init__(
        self,
        query: cel.Query,
        stream: Stream,
        *,
        schema: pa.Schema | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.query, self.stream, self.limits = query, stream, limits or Limits()
        self._plans: dict[bytes | None, Plan] = {}
        self.plan(schema)

    @property
    def text(self) -> str:
        return self.query.text or ceql.to_text(self.query)

    @property
    def variables(self) -> tuple[str, ...]:
        """The selected variables; () for `SELECT *`."""
        return tuple(output.variable for output in self.query.select or ())

    def plan(self, schema: pa.Schema | None = None) -> Plan:
        """The plan for events of a schema (checked against it), or for events yet unknown."""
        key = None if schema is None else schema.remove_metadata().serialize().to_pybytes()
        if key not in self._plans:
            if schema is not None:
                self.stream.check(schema)
            self._plans[key] = build(self.query, self.stream, schema)
        return self._plans[key]

    def executor(
        self,
        schema: pa.Schema,
        *,
        keep: tuple[str, ...] = (),
        row_numbers: npt.NDArray[np.int64] | None = None,
    ) -> Executor:
        """What runs the query over batches of this schema."""
        return PatternExecutor(
            self.plan(schema), schema, limits=self.limits, keep=keep, row_numbers=row_numbers
        )

    # ------------------------------------------------------------ running

    def run(
        self, data: Any, *, sort: bool = False, progress: Progress | None = None
    ) -> Matches:
        """All matches in a table: pyarrow, pandas, polars, a DuckDB relation, a Parquet, CSV or
        JSON path, or, with `Stream(stream=…)`, a dict of such by stream name."""
        events = source(data, self.stream, sort=sort)
        executor, found = self._start(events, progress)
        return Matches(executor.schema, list(found), events, self.variables)

    def batches(
        self, data: Any, *, sort: bool = False, progress: Progress | None = None
    ) -> Iterator[pa.RecordBatch]:
        """The same rows as `run(data).table`, in record batches of bounded size."""
        _, found = self._start(source(data, self.stream, sort=sort), progress)
        return found

    def count(self, data: Any, *, sort: bool = False) -> int:
        """How many matches there are, without keeping them."""
        return sum(batch.num_rows for batch in self.batches(data, sort=sort))

    def _start(
        self, events: Source, progress: Progress | None
    ) -> tuple[Executor, Iterator[pa.RecordBatch]]:
        executor = self.executor(events.schema, row_numbers=events.row_numbers)
        return executor, self._found(executor, events, progress)

    def _found(
        self, executor: Executor, events: Source, progress: Progress | None
    ) -> Iterator[pa.RecordBatch]:
        read = matches = 0
        for batch in events.batches(self._columns(events.schema)):
            for part in executor.push(batch):
                matches += part.num_rows
                yield part
            read += batch.num_rows
            if progress is not None:
                progress(read, matches)
        yield from executor.finish()

    def _columns(self, schema: pa.Schema) -> list[str] | None:
        """The columns that the query reads, in the order of the schema."""
        needed = {path[0] for path in self.plan(schema).columns}
        needed.update(p[0] for o in self.query.select or () for p in o.attributes)
        chosen = [name for name in schema.names if name in needed]
        return chosen or schema.names[:1]

    def recognizer(
        self, *, keep_events: bool = False, schema: pa.Schema | None = None
    ) -> Recognizer:
        """Push events as they come. `keep_events` remembers whole events, for `events()`."""
        return Recognizer(self, keep_events=keep_events, schema=schema)

    def restore(self, snapshot: bytes) -> Recognizer:
        """Go on from a snapshot that a recognizer of this query took."""
        return Recognizer.restored(self, snapshot)

    # ------------------------------------------------------------ explaining

    def explain(self, schema: pa.Schema | None = None) -> str:
        """Stages, tests, automaton, engine, memory, warnings: how the query will be run."""
        return explain(self.plan(schema))

    @property
    def warnings(self) -> list[str]:
        """What to know before running the query: it can never match, its state grows …"""
        return warnings(self.plan())

    def __repr__(self) -> str:
        return f"cereus.compile({self.text!r})"
