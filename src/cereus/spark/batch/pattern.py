"""Matching a DataFrame: project and filter in Catalyst, arrange by key and time, match in Arrow.

The rows of a key come together, in the order of time, in one of many tasks; there the engine reads
all keys of an Arrow batch in one pass. DataFrames have no order of rows, so events of one time are
ordered by their values (see `match`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyspark.sql import types as st

from cereus.clauses.tree import AttributeWindow, Consume, TimeWindow
from cereus.engine.results.event_rows import EventShape
from cereus.errors import CereusError
from cereus.language.pattern import PatternQuery
from cereus.plan.plan import Plan
from cereus.plan.returned import shown_paths
from cereus.spark.batch.arranging import Arrangement, kept
from cereus.spark.batch.naming import named, warn_of_one_task
from cereus.spark.batch.skew import LongKeys, long_keys
from cereus.spark.quoting import map_in_arrow
from cereus.spark.relevance import relevant, streams_of, types_of, where
from cereus.spark.schemas import (
    Path,
    arrow_schema,
    check_arrow,
    check_once,
    chosen_columns,
    orderable,
    pattern_schema,
)
from cereus.spark.slices import IN_HOME, SLICE, Slices, Split, slices_for
from cereus.spark.worker import Task

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


MOST_CUT = 16
"""If a call has at most this many queries, each is checked for keys to cut; more queries share a
pass."""


@dataclass(frozen=True)
class Batch:
    """A query over a DataFrame, and how it is going to be run.

    shown   the columns of an event, wherever one is shown
    order   the column that orders the events
    ties    columns that order events of one time, before all others
    slices  the cut by time, or why there is none
    """

    df: DataFrame
    query: PatternQuery[Any]
    plan: Plan
    shown: tuple[str, ...]
    listed: bool
    order: Path
    ties: tuple[str, ...]
    slices: Slices | str
    parallelism: int | None
    push_down: bool

    # ------------------------------------------------------------ what travels

    @cached_property
    def needed(self) -> list[str]:
        """The columns that the pattern and the order read."""
        paths = {*self.plan.columns, self.order, *shown_paths(self.plan.query)}
        names = {path[0] for path in paths} | set(self.ties)
        return [name for name in self.df.columns if name in names]

    @cached_property
    def travelling(self) -> list[str]:
        payload = set(self.shape.payload(self.plan.query)) | set(self.needed)
        return [name for name in self.df.columns if name in payload]

    @property
    def shape(self) -> EventShape:
        return EventShape(self.shown, self.listed, IN_HOME if self.sliced else None)

    @property
    def cut(self) -> Slices | None:
        return self.slices if isinstance(self.slices, Slices) else None

    @property
    def sliced(self) -> bool:
        return self.cut is not None

    @property
    def cut_by(self) -> object:
        """What two queries have in common that can be cut alike: the column, and the keys."""
        if self.cut is None:
            return None
        window, long = self.plan.query.window, self.cut.long
        by = window.attribute if isinstance(window, AttributeWindow) else self.plan.stream.time
        return by, None if long is None else (long.keys, long.values)

    def filters(self) -> list[Column]:
        return filters_of(self.plan, self.df.schema, self.push_down)

    def types(self) -> set[str] | None:
        """The types of events that can matter; None if it may be all."""
        anything = not self.push_down or self.plan.traits.position_sensitive
        return None if anything else types_of(self.plan.tests, self.plan.stream)

    # ------------------------------------------------------------ how it is arranged

    @property
    def groups(self) -> tuple[Path, ...]:
        """The columns that decide which task gets an event; () for one task."""
        if self.plan.query.consume is Consume.ANY:
            return ()  # a match of one key ends the partial matches of all
        return (*self.plan.keys, *([(SLICE,)] if self.sliced else []))

    @property
    def by_time(self) -> bool:
        """Whether the rows of a task need not be sorted by key. The engine tells keys apart by
        itself, and forgets them when a window has passed; sorting by key costs more than by time
        alone. For slices it was measured to be the same."""
        timed = isinstance(self.plan.query.window, TimeWindow) and not self.sliced
        return timed and not self.df.isStreaming

    def order_by(self) -> list[Path]:
        """Key, time, and then values, so that the order of equal times is always the same.

        Columns that the pattern reads come before those that are only shown, so the matches do not
        depend on which columns are shown.
        """
        return list(dict.fromkeys((*self.groups, *self.order_in_key())))

    def order_in_key(self) -> list[Path]:
        paths = [self.order]
        window = self.plan.query.window
        if isinstance(window, AttributeWindow):
            paths.append(window.attribute)
        paths.extend((name,) for name in (*self.ties, *self.needed, *self.travelling))
        kinds = {field.name: field.dataType for field in self.df.schema}
        return [p for p in dict.fromkeys(paths) if p[0] not in kinds or orderable(kinds[p[0]])]

    @cached_property
    def arrangement(self) -> Arrangement:
        events = kept(self.df, self.filters(), self.travelling)
        if self.cut is not None:
            events = self.cut.spread(events)
        order = tuple(self.order_in_key())
        return Arrangement(
            events, self.groups, order, self.by_time, self.parallelism, spread=self.sliced
        )

    # ------------------------------------------------------------ what comes out

    @cached_property
    def schema(self) -> st.StructType:
        return pattern_schema(self.plan, self.df.schema, self.shown, listed=self.listed)

    def task(self, sorted_by: tuple[Path, ...] | None = None) -> Task:
        """The task of a worker, over rows that are sorted by these columns first (the keys)."""
        stream = self.plan.stream
        if self.sliced:
            stream = replace(stream, keys=(*stream.keys, SLICE))
        return Task(
            self.query.over(stream),
            self.shape,
            self.groups if sorted_by is None else sorted_by,
            tuple(self.schema.names),
        )

    @property
    def one_task(self) -> str | None:
        """Why all events go to one task; None if they do not."""
        if self.groups:
            return None
        return "CONSUME BY ANY" if self.plan.keys else str(self.slices)

    def warn(self) -> None:
        warn_of_one_task(self.one_task, self.plan.text)

    def run(self) -> DataFrame:
        self.warn()
        task = self.task(self.arrangement.sorted_by)
        named_run = named(task.run, self.plan.text, self.one_task)
        return map_in_arrow(self.arrangement.rows(), named_run, self.schema)


def filters_of(plan: Plan, schema: st.StructType, push_down: bool) -> list[Column]:
    """Filters that drop events that cannot matter, before anything moves."""
    pushed = relevant(plan, schema) if push_down else None
    there = (where(plan.stream, schema), streams_of(plan), pushed)
    return [each for each in there if each is not None]


def batch(
    df: DataFrame,
    query: PatternQuery[Any],
    *,
    events: bool = True,
    columns: Iterable[str] | None = None,
    tie: str | Iterable[str] = (),
    order: str | None = None,
    parallelism: int | None = None,
    split: Split = None,
    push_down: bool = True,
    among: int = 1,
) -> Batch:
    """The run of a pattern over a DataFrame, prepared as one of `among` queries of a call. Queries
    that cut different keys are different passes, so of many queries those with keys are not cut,
    unless the user wants it."""
    plan = query.plan(arrow_schema(df.schema))
    ties, shown = chosen_columns(df, tie, columns, order)

    def long(measure: Column) -> LongKeys | str:
        if among > MOST_CUT:
            return f"more than {MOST_CUT} queries share a pass"
        filters = filters_of(plan, df.schema, push_down)
        return long_keys(df, plan.keys, measure, filters, parallelism)

    slices = slices_for(plan, df.schema, split, long)
    made = Batch(
        df,
        query,
        plan,
        shown,
        events and not plan.query.count,
        _order(plan, order),
        ties,
        slices,
        parallelism,
        push_down,
    )
    _check_names(made)
    return made


# ---------------------------------------------------------------- checks


def _check_names(made: Batch) -> None:
    hint = "rename the variable or the column; events=False leaves the column 'events' out"
    check_once(made.schema.names, "the matches would have two columns {}", hint)
    if not made.shown:
        raise CereusError("columns=[] shows nothing of an event", hint="use events=False")
    check_arrow(made.travelling, made.df.schema)


def _order(plan: Plan, order: str | None) -> Path:
    """The column that orders the events: their time, or else one that never decreases."""
    if plan.stream.time is not None:
        return (plan.stream.time,)
    if order is not None:
        return (order,)
    if isinstance(plan.query.window, AttributeWindow):
        return plan.query.window.attribute
    raise CereusError(
        "the rows of a DataFrame have no order: which column says it?",
        hint='say Stream(time="…"), or match(…, order="…")',
    )
