"""Compile a query once, run it anywhere."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.executor import Executor
from cereus.engine.match.counting_runner import AmbiguousCount
from cereus.engine.parallel.run import ParallelRun
from cereus.engine.parallel.workers import thread_count
from cereus.engine.results.collecting import collect_batches
from cereus.engine.results.counts import counted
from cereus.engine.results.time_order import in_order
from cereus.errors import CereusError, switch
from cereus.explain.shown import Explanation
from cereus.language.anatomy import variable_of
from cereus.language.compiled import CompiledQuery
from cereus.language.protocol import Params
from cereus.language.registry import compile_source
from cereus.language.result_counts import ResultCounts
from cereus.limits import Limits
from cereus.matches import Matches
from cereus.notices import Notices, needed_types, types_in, unseen_types
from cereus.recognizer import Recognizer
from cereus.sources import Source, source, to_schema
from cereus.sources.pruning import possible
from cereus.sources.supported import refuse_unions
from cereus.stream import Stream
from cereus.syntax.parsing import errors_in

if TYPE_CHECKING:
    from cereus.why.expected import ExpectedMatch
    from cereus.why.result import Why

__all__ = ["Progress", "Query", "compile"]

NEAREST_MISSES = 5
"""How many nearest misses `why` shows by default."""
Progress = Callable[[int, int], None]
"""Called after every batch with the numbers of events read and of matches so far."""


def compile(
    source: Any,
    *,
    dialect: str | None = None,
    stream: Stream | None = None,
    schema: pa.Schema | None = None,
    limits: Limits | None = None,
    params: Params | None = None,
    **options: Any,
) -> Query:
    """Compile a query: a text (in CEQL unless `dialect` names another language), or an object of
    any language. With a schema, every name and type in it is checked now; without one, when the
    first events are there. `params` are the values of the parameters that a text names (`:limit`);
    `options` are those of the dialect."""
    stream = _checked_option(stream, Stream, 'Stream(type="…", time="…")')
    limits = _checked_option(limits, Limits, "Limits(nodes=…)")
    columns = None if schema is None else to_schema(schema)
    with errors_in(source if isinstance(source, str) else None):
        compiled = compile_source(source, dialect, stream, limits, options, params)
        compiled.check(columns)
    return Query(compiled, columns)


Option = TypeVar("Option")


def _checked_option(value: Option | None, kind: type[Option], example: str) -> Option:
    """The value of an option after a check of its type, or its default."""
    if value is not None and not isinstance(value, kind):
        raise CereusError(
            f"a {kind.__name__} is needed, not a {type(value).__name__}", hint=f"write {example}"
        )
    return kind() if value is None else value


@dataclass(frozen=True)
class _Work:
    """A query over one input."""

    compiled: CompiledQuery
    events: Source
    columns: list[str] | None

    def executor(self, share: int) -> Executor:
        compiled = self.compiled if share == 1 else self.compiled.with_share(share)
        with errors_in(None):
            return compiled.executor(self.events.schema, row_numbers=self.events.row_numbers)

    def batches(self) -> Iterator[tuple[int, pa.RecordBatch]]:
        schema = self.events.schema
        columns = schema.names if self.columns is None else self.columns
        prunes = self.compiled.reads_only_tested(schema)
        coded = self.compiled.coded_columns(schema)
        return self.events.possible_batches(columns, self._possible if prunes else None, coded)

    def first(self, rows: int) -> _Work:
        return replace(self, events=self.events.first(rows))

    def _possible(self, schema: pa.Schema) -> Any:
        """A condition that holds for every event that can matter, as far as these columns can
        tell."""
        tests = self.compiled.tests(self.events.schema)
        return possible(tests, self.compiled.stream, schema)


class Query:
    """A compiled query. Make one with `cereus.compile`.

    `compiled` is the form that its language gives it. It has what only some languages have: a plan,
    a machine, bounds.
    """

    def __init__(self, compiled: CompiledQuery, schema: pa.Schema | None = None) -> None:
        if not isinstance(compiled, CompiledQuery):
            raise CereusError(
                f"a Query is made of a compiled query, not of a {type(compiled).__name__}",
                hint="write cereus.compile(…)",
            )
        self.compiled = compiled
        self.schema = schema
        self.notices = Notices()

    @property
    def text(self) -> str:
        return self.compiled.text

    @property
    def dialect(self) -> str:
        return self.compiled.dialect

    @property
    def stream(self) -> Stream:
        return self.compiled.stream

    @property
    def variables(self) -> tuple[str, ...]:
        """The selected variables; () for `SELECT *`."""
        return tuple(map(variable_of, self.compiled.variables))

    @property
    def keys(self) -> tuple[tuple[str, ...], ...]:
        """The columns that split the stream."""
        return self.compiled.keys

    @property
    def limits(self) -> Limits:
        """What a run may use."""
        return self.compiled.limits

    @property
    def tree(self) -> Any:
        """The syntax tree, in the classes of its language."""
        return self.compiled.tree

    def executor(
        self,
        schema: pa.Schema,
        *,
        keep: tuple[str, ...] = (),
        row_numbers: npt.NDArray[np.int64] | None = None,
    ) -> Executor:
        """The executor that runs the query over batches of this schema."""
        refuse_unions(schema, keep or self.columns(schema))
        with errors_in(None):
            return self.compiled.executor(schema, keep=keep, row_numbers=row_numbers)

    # ------------------------------------------------------------ running

    def flat(self, schema: pa.Schema) -> Query:
        """The same query over events with these columns, with flat columns for variables that hold
        one event: `a_price` in place of a list of events."""
        columns = to_schema(schema)
        flat = self.compiled.flat(columns)
        flat.check(columns)
        return Query(flat, columns)

    def run(
        self,
        data: Any,
        *,
        sort: bool = False,
        progress: Progress | None = None,
        flat: bool = False,
        order: Literal["time"] | None = None,
        threads: int | None = None,
    ) -> Matches:
        """All matches in a table: pyarrow, pandas, polars, a DuckDB relation, a Parquet, CSV or
        JSON path, or, with `Stream(stream=…)`, a dict of such by stream name.

        flat   columns like `a_price` for variables that hold one event
        order  "time" puts the matches in the order in which they end, then start; without it
               those of one key come together
        threads  how many threads work on it, where the query can be split; without it as many
               as the environment variable CEREUS_THREADS says, or as there are cores"""
        events = source(data, self.stream, sort=sort)
        query = self.flat(events.schema) if switch("flat", flat) else self
        run = query._start(events, progress, threads)
        with errors_in(None):  # the first event completes the plan of a condition
            rows, schema = collect_batches(run.batches()), run.result_schema
        if order is not None:
            rows = in_order(rows, schema, order)
        notes = self.notes(events, rows, above=2)
        return Matches(schema, rows, query.compiled, events, run.shed, notes, run.costs)

    def notes(self, events: Source, rows: list[pa.RecordBatch], *, above: int) -> list[str]:
        """Notes on a run: what to know about it. They become Python warnings as well."""
        unseen = () if any(batch.num_rows for batch in rows) else self._unseen(events)
        notes = [*self.warnings, *unseen]
        self.notices.issue(notes, above=above + 1)
        return notes

    def _unseen(self, events: Source) -> tuple[str, ...]:
        needed = needed_types(self.compiled)
        return unseen_types(needed, types_in(events, self.compiled.stream.type, needed))

    def batches(
        self,
        data: Any,
        *,
        sort: bool = False,
        progress: Progress | None = None,
        threads: int | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """The same rows as `run(data).table`, in record batches of bounded size."""
        return self._start(source(data, self.stream, sort=sort), progress, threads).batches()

    def count(self, data: Any, *, sort: bool = False, threads: int | None = None) -> int | float:
        """How many matches there are in all. They are counted without being listed wherever the
        pattern allows it; past 2**53 the answer is the nearest float."""
        events = source(data, self.stream, sort=sort)  # made once, since it may be read twice
        counting = self.compiled.counting(events.schema)
        if counting is not None:
            # a pattern may turn out to be ambiguous while it runs: then its matches must be listed
            with suppress(AmbiguousCount), errors_in(None):
                return counted(Query(counting).batches(events, threads=threads))
        with errors_in(None):
            batches = self.batches(events, threads=threads)
            every = (ResultCounts.of([batch], self.compiled) for batch in batches)
            matches = sum(every, ResultCounts()).matches
        assert matches is not None, "whole batches know their number of matches"
        return matches

    def _start(self, events: Source, progress: Progress | None, threads: int | None) -> ParallelRun:
        if progress is not None and not callable(progress):
            raise CereusError(
                f"progress= is a function, not a {type(progress).__name__}",
                hint="write one of two numbers: the rows that are read, and the matches so far",
            )
        number = 1 if self.limits.shed else thread_count(threads)
        columns = self.columns(events.schema)
        refuse_unions(events.schema, columns)
        return ParallelRun(
            _Work(self.compiled, events, columns),
            self.stream,
            events.schema,
            self.compiled.split(events.schema),
            number,
            rows=events.quick_count(),
            at_hand=events.table is not None,
            progress=progress,
            effort=self.compiled.effort(events.schema),
        )

    def columns(self, schema: pa.Schema) -> list[str]:
        """The columns that the query reads, in the order of the schema."""
        needed = {path[0] for path in self.compiled.columns(schema)}
        chosen = [name for name in schema.names if name in needed]
        return chosen or schema.names[:1]

    def recognizer(
        self,
        *,
        keep_events: bool = False,
        schema: pa.Schema | None = None,
        forget_idle: bool = True,
    ) -> Recognizer:
        """Push events as they come. `keep_events` keeps all columns of events, for `events()`.

        `forget_idle`: while events come in the order of time over all keys, keys that have left
        the window are forgotten when there are many; an event that is late by more than the
        window is refused from then on."""
        self.notices.issue([*self.warnings, *self.compiled.live_warnings], above=2)
        return Recognizer(self, keep_events=keep_events, schema=schema, forget_idle=forget_idle)

    def restore(self, snapshot: bytes) -> Recognizer:
        """Go on from a snapshot that a recognizer of this query took."""
        return Recognizer.restored(self, snapshot)

    # ------------------------------------------------------------ explaining

    def explain(self, schema: pa.Schema | None = None) -> str:
        """Explain how the query will be run: stages, tests, automaton or machine, memory, warnings.
        Whatever depends on the types of columns shows only with a schema, given here or when
        compiling."""
        columns = self.schema if schema is None else to_schema(schema)
        with errors_in(None):
            text = self.compiled.explain(columns)
        with errors_in(None):
            text += f"\n\nthreads\n  {self.compiled.split(columns).words()}"
        where = self.stream.where
        text += "" if where is None else f"\n\nstream\n  only events where {where}"
        return Explanation(text)

    def explained(self, schema: pa.Schema | None = None) -> dict[str, Any]:
        """`explain` as plain values for programs, as `cereus.explain.document.json_schema()`
        describes them."""
        from cereus.explain.document import document

        compiled = self.compiled
        words = diagram = None
        with suppress(CereusError), errors_in(None):
            words = compiled.words()
        with suppress(CereusError), errors_in(None):
            diagram = compiled.diagram()
        return document(
            self.explain(schema),
            dialect=self.dialect,
            query=self.text,
            words=words,
            diagram=diagram,
            keys=[".".join(path) for path in self.keys],
            warnings=list(self.warnings),
        )

    def words(self) -> str:
        """The query in plain English."""
        with errors_in(None):
            return self.compiled.words()

    def why(self, data: Any, *, sort: bool = False, most: int = NEAREST_MISSES) -> Why:
        """Explain how far partial matches came in a table: how many events pass each condition of
        each step, how many partial matches reach the step, what ends the others, and the `most`
        nearest misses. The columns that are read are kept in memory."""
        from cereus.why.size import check_size
        from cereus.why.why import why

        events = source(data, self.stream, sort=sort)
        self.stream.check(events.schema)
        with errors_in(None):
            check_size(self.compiled, events.schema)
            return why(self.compiled, events, most=most)

    def why_not(self, data: Any, rows: Sequence[int], *, sort: bool = False) -> ExpectedMatch:
        """Why the events of some rows are no match: the rules that exclude them."""
        from cereus.why.size import check_size
        from cereus.why.why import why_not

        events = source(data, self.stream, sort=sort)
        self.stream.check(events.schema)
        with errors_in(None):
            check_size(self.compiled, events.schema)
            return why_not(self.compiled, events, rows)

    @cached_property
    def warnings(self) -> list[str]:
        """What to know before running the query: it can never match, its state grows …"""
        with errors_in(None):
            return self.compiled.warnings

    def _repr_html_(self) -> str:
        """The query in a notebook: its text, its meaning, and what runs it."""
        from cereus.pictures.diagram import Diagram

        shown = f"<pre>{html.escape(self.text)}</pre>"
        with suppress(CereusError):
            shown += f"<p>{html.escape(self.words())}</p>"
        with suppress(CereusError), errors_in(None):  # a library for pictures is missing
            shown += Diagram(self.compiled.diagram()).svg()
        return shown

    def __repr__(self) -> str:
        return f"cereus.compile({self.text!r})"
