"""Matches: the answer of a query, as a table, as events, as a sequence, or as a picture."""

from __future__ import annotations

import html
import operator
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, SupportsIndex, overload

import numpy as np
import pyarrow as pa

from cereus.engine.costs import Costs
from cereus.errors import CereusError
from cereus.language.anatomy import variable_of
from cereus.language.compiled import CompiledQuery
from cereus.language.result_counts import ResultCounts
from cereus.sources import Source
from cereus.syntax.literals import time_text
from cereus.writing.expressible import pandas_frame, python_rows, shown_rows

SHOWN = 10


class Matches:
    """All matches of a run. `table` is an Arrow table with one row per match (with `ALL ROWS PER
    MATCH` one per row of a match); iterating gives one dict per row; `events()` gives the matched
    events themselves."""

    def __init__(
        self,
        schema: pa.Schema,
        batches: list[pa.RecordBatch],
        query: CompiledQuery,
        source: Source | None = None,
        shed: Sequence[str] = (),
        warnings: Sequence[str] = (),
        costs: Costs | None = None,
    ) -> None:
        self.costs = costs or Costs()
        """Counts of the work that found them: tests, steps, nodes …; of a recognizer, since its
        first event."""
        self.shed = tuple(shed)
        """What was left out because a limit was reached (`Limits(shed=True)`); () if nothing
        was."""
        self.warnings = tuple(warnings)
        """What to know about this run: the query can never match, no event has one of its types
        …"""
        self._schema, self._batches = schema, batches
        self._query, self._source = query, source

    @property
    def query(self) -> CompiledQuery:
        """The query that found these matches."""
        return self._query

    @cached_property
    def table(self) -> pa.Table:
        return pa.Table.from_batches(self._batches, self._schema)

    def head(self, most: int = 5) -> Matches:
        """The first matches."""
        return self._of(self.table.slice(0, most))

    def _of(self, rows: pa.Table) -> Matches:
        """These rows as `Matches` of the same run."""
        return Matches(
            self._schema,
            rows.to_batches(),
            self._query,
            self._source,
            self.shed,
            self.warnings,
            self.costs,
        )

    def events(self) -> pa.Table:
        """One row per matched event: which match, which position, which selected variables,
        and the event's own columns."""
        if self._source is None:
            raise CereusError(
                "these matches were not run over a table that can be read again",
                hint="push events to recognizer(keep_events=True), or use q.run(table)",
            )
        match, rows = self._matched_rows()
        columns = {"match": match, "position": rows}
        if self._query.variables:
            columns["variables"] = self._variables_of(match, rows)
        events = self._source.take(rows)
        for name in events.column_names:
            columns[name if name not in columns else f"event_{name}"] = events.column(name)
        return pa.table(columns)

    def _matched_rows(self) -> tuple[pa.Array, pa.Array]:
        """The number of a match and a row, for each matched event: from lists of rows, or, where
        each match is one event, from its row."""
        empty = pa.RecordBatch.from_pylist([], self._schema)
        batches = [self._query.event_rows(batch) for batch in self.table.to_batches() or [empty]]
        rows = pa.concat_arrays(batches)
        return rows.value_parent_indices().cast(pa.int64()), rows.flatten()

    def _variables_of(self, match: pa.Array, rows: pa.Array) -> pa.Array:
        """The selected variables that hold each event."""
        pairs = zip(match.to_pylist(), rows.to_pylist(), strict=True)
        place = {pair: i for i, pair in enumerate(pairs)}
        variables: list[list[str]] = [[] for _ in place]
        for name in self._query.variables:
            column = self.table.column(name).combine_chunks()
            if not pa.types.is_integer(column.type.value_type):
                continue
            of, cells = column.value_parent_indices().to_pylist(), column.flatten().to_pylist()
            for pair in zip(of, cells, strict=True):
                variables[place[pair]].append(variable_of(name))
        return pa.array(variables, pa.list_(pa.string()))

    def __len__(self) -> int:
        return sum(batch.num_rows for batch in self._batches)

    @cached_property
    def counts(self) -> ResultCounts:
        """How many rows there are, and how many of them are matches, time-outs, completions."""
        return ResultCounts.of(self._batches, self._query)

    @property
    def total(self) -> int | float | None:
        """The number of matches: the rows that are neither time-outs nor bare completions, or the
        sum of their counts (`COUNT(*)`). If a match has several rows (`ALL ROWS PER MATCH`), this
        is the number of matches of a whole run, and None for a part of its rows."""
        return self.counts.matches

    @property
    def timeouts(self) -> int:
        """The number of rows that are partial matches whose window ended (`WITH TIMEOUTS`)."""
        return self.counts.timeouts

    @property
    def completions(self) -> int:
        """The number of rows that report only that a program completes, without output."""
        return self.counts.completions

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for batch in self._batches:
            yield from python_rows(batch)

    @overload
    def __getitem__(self, place: SupportsIndex) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, place: slice) -> Matches: ...

    def __getitem__(self, place: SupportsIndex | slice) -> dict[str, Any] | Matches:
        """One match, or, for a slice, the matches in it."""
        if isinstance(place, slice):
            chosen = pa.array(range(*place.indices(len(self))), pa.int64())
            return self._of(self.table.take(chosen))
        if isinstance(place, str):
            raise TypeError(
                f"matches are numbered, and {place!r} is no number; for a column write "
                f"matches.table[{place!r}]"
            )
        place = operator.index(place)
        if not -len(self) <= place < len(self):
            raise IndexError(f"there is no match {place}: {len(self)} were found")
        return python_rows(self.table.slice(place % len(self), 1))[0]

    def to_pandas(self) -> Any:
        """The rows as a DataFrame of pandas."""
        return pandas_frame(self.table)

    def to_polars(self) -> Any:
        """The rows as a DataFrame of polars, which must be installed."""
        import polars

        return polars.from_arrow(self.table)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        lines = [str(self.counts)]
        for row in self._shown():
            lines.append("  " + ", ".join(f"{name}={_short(value)}" for name, value in row.items()))
        if len(self) > SHOWN:
            lines.append("  …")
        lines += [f"INCOMPLETE: {note}" for note in self.shed]
        lines += [f"warning: {note}" for note in self.warnings]
        return "\n".join(lines)

    def _shown(self) -> list[dict[str, Any]]:
        """The first matches, with values that Python can show."""
        return shown_rows(self.table.slice(0, min(SHOWN, len(self))))

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self._schema.names)
        rows = []
        for row in self._shown():
            cells = "".join(f"<td>{html.escape(_short(value))}</td>" for value in row.values())
            rows.append(f"<tr>{cells}</tr>")
        more = "" if len(self) <= SHOWN else f"<p>… {len(self) - SHOWN:,} more</p>"
        more += "".join(f"<p><b>Incomplete:</b> {html.escape(note)}</p>" for note in self.shed)
        more += "".join(f"<p><b>Warning:</b> {html.escape(note)}</p>" for note in self.warnings)
        return (
            f"<p><b>{self.counts}</b></p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>{more}"
        )


def _short(value: object, most: int = 8) -> str:
    if isinstance(value, list):
        shown = ", ".join(_short(item) for item in value[:most])
        return f"[{shown}, … {len(value)} in all]" if len(value) > most else f"[{shown}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {_short(v)}" for k, v in value.items()) + "}"
    if isinstance(value, float | np.floating):
        return f"{value:.12g}"
    if isinstance(value, timedelta) and not getattr(value, "nanoseconds", 0):
        return str(timedelta(value.days, value.seconds, value.microseconds))  # pandas' as Python's
    return time_text(value) if isinstance(value, datetime) else str(value)
