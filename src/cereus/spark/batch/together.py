"""Several queries in one pass: rows are read, shuffled, sorted and handed to Python once.

The queries must have the same keys and the same column of time. They may differ in how they order
events of one time (by the columns that each of them reads): Spark sorts as the first query needs
it, and for the others a worker sorts those few events again.
"""

from __future__ import annotations

import operator
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import types as st

from cereus.spark.batch.arranging import Arrangement, kept
from cereus.spark.batch.eventwise import Eventwise
from cereus.spark.batch.naming import named
from cereus.spark.batch.ordering import places_in_order
from cereus.spark.batch.pattern import Batch
from cereus.spark.batch.runs import SharedRun, SingleRun, TogetherPart, run_of
from cereus.spark.quoting import map_in_arrow, quoted
from cereus.spark.schemas import Path, arrow_schema
from cereus.spark.slices import IN_HOME, SLICE, Slices
from cereus.spark.worker import differ, joined, stretches, values_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

QUERY = "query"
"""The column with the name of a match's query."""
MOMENT = "__cereus_moment"
MOST_FILTERS = 64
"""The most queries whose conditions are pushed into the scan together."""


@dataclass(frozen=True)
class TogetherTask:
    """The queries with all that a worker needs to run them.

    moment  the columns that the rows are sorted by first: keys, and time
    order   what they are sorted by then
    names   the columns that the matches have
    """

    parts: tuple[TogetherPart, ...]
    sorted_by: tuple[Path, ...]
    moment: tuple[Path, ...]
    order: tuple[Path, ...]
    names: tuple[str, ...]

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The matches of one partition."""
        runs: list[SharedRun | SingleRun] = []
        schema = pa.schema([])
        for batch, keys_are_over in stretches(
            complete_moments(joined(batches), self.moment), self.sorted_by
        ):
            if not runs:
                runs = [run_of(parts, batch.schema) for parts in self._bundles()]
                schema = self._schema(runs)
            moments = Moments(batch, self.moment)
            for run in runs:
                events = self._events_of(run.first, batch, moments).select(run.first.columns)
                for name, matches in run.push(events, keys_are_over):
                    yield _named(name, matches, schema)
        for run in runs:
            yield from (_named(name, matches, schema) for name, matches in run.finish())

    def _bundles(self) -> list[list[TogetherPart]]:
        """The queries that are run as one."""
        bundles: dict[object, list[TogetherPart]] = {}
        for part in self.parts:
            bundles.setdefault(part.alike, []).append(part)
        return list(bundles.values())

    def _events_of(
        self, part: TogetherPart, batch: pa.RecordBatch, moments: Moments
    ) -> pa.RecordBatch:
        as_sorted = self.order[: len(part.order)] == part.order
        return batch if as_sorted else moments.ordered(part.order)

    def _schema(self, runs: Iterable[SharedRun | SingleRun]) -> pa.Schema:
        """The columns of all matches, with the types that they have here."""
        fields = {QUERY: pa.field(QUERY, pa.string())}
        fields.update((each.name, each) for run in runs for each in run.fields)
        return pa.schema([fields[name] for name in self.names])


def _named(name: str, matches: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Matches with the name of their query; columns that they lack are null."""
    columns = []
    for field in schema:
        if field.name == QUERY:
            columns.append(pa.repeat(name, matches.num_rows))
        elif field.name in matches.schema.names:
            columns.append(matches.column(field.name).cast(field.type))
        else:
            columns.append(pa.nulls(matches.num_rows, field.type))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


# ---------------------------------------------------------------- events of one time


def complete_moments(
    batches: Iterator[pa.RecordBatch], moment: tuple[Path, ...]
) -> Iterator[pa.RecordBatch]:
    """The same rows; those of one key and time are in one batch."""
    buffered: list[pa.RecordBatch] = []
    for batch in batches:
        joint = pa.concat_batches([*buffered, batch])
        begin = last_moment(joint, moment)
        if begin:
            yield joint.slice(0, begin)
        buffered = [joint.slice(begin)]
    yield from buffered


def last_moment(batch: pa.RecordBatch, moment: tuple[Path, ...]) -> int:
    """The first row that has the key and time of the last one."""
    columns, last = values_of(batch, moment), batch.num_rows - 1
    return bisect_left(range(last), True, key=lambda row: not differ(columns, row, last))


class Moments:
    """The rows of a batch by their moments: consecutive rows of one key and time."""

    def __init__(self, batch: pa.RecordBatch, moment: tuple[Path, ...]) -> None:
        self.batch, self.moment = batch, moment

    @cached_property
    def numbers(self) -> npt.NDArray[np.int64]:
        """The number of each row's moment."""
        changes = np.zeros(self.batch.num_rows, bool)
        for column in values_of(self.batch, self.moment):
            codes = column.dictionary_encode(null_encoding="encode").indices.to_numpy()
            changes[1:] |= codes[1:] != codes[:-1]
        return np.cumsum(changes)

    @cached_property
    def shared(self) -> npt.NDArray[np.int64]:
        """The rows that are not alone in their moments."""
        return np.flatnonzero(np.bincount(self.numbers)[self.numbers] > 1)

    def ordered(self, order: tuple[Path, ...]) -> pa.RecordBatch:
        """The batch with the rows of each moment in this order."""
        if not len(self.shared):
            return self.batch
        some = pa.Table.from_batches([self.batch.take(pa.array(self.shared))])
        numbered = some.append_column(MOMENT, pa.array(self.numbers[self.shared]))
        places = places_in_order(numbered, ((MOMENT,), *order))
        rows = np.arange(self.batch.num_rows)
        rows[self.shared] = self.shared[places]
        return self.batch.take(pa.array(rows))


# ---------------------------------------------------------------- on the driver


@dataclass(frozen=True)
class Together:
    """Queries over one DataFrame that arrange its rows alike, by name. Those that are cut by time
    are cut alike."""

    parts: Mapping[str, Batch | Eventwise]

    @classmethod
    def of(cls, parts: Mapping[str, Batch | Eventwise]) -> Together:
        """Queries that can be arranged alike: they have the same keys, time, and `cut_by`."""
        cuts = [part.cut for part in parts.values() if part.cut is not None]
        if len(cuts) < 2:
            return cls(parts)
        joint = reduce(Slices.joined, cuts)
        return cls({n: replace(p, slices=joint) for n, p in parts.items() if isinstance(p, Batch)})

    @property
    def first(self) -> Batch | Eventwise:
        return next(iter(self.parts.values()))

    @property
    def moment(self) -> tuple[Path, ...]:
        return tuple(dict.fromkeys((*self.arrangement.sorted_by, self.first.order)))

    @cached_property
    def travelling(self) -> list[str]:
        names = {name for part in self.parts.values() for name in part.travelling}
        return [name for name in self.first.df.columns if name in names]

    def filters(self) -> list[Column]:
        """The filter for events that can matter to one of the queries; every other query drops them
        itself. For very many queries, it is a filter on their types: their shared tests take less
        time than as many conditions in Spark, and so deep a condition overflows its stack."""
        if len(self.parts) > MOST_FILTERS:
            return self._of_types()
        filters = [part.filters() for part in self.parts.values()]
        if not all(filters):
            return []
        return [reduce(operator.or_, (reduce(operator.and_, each) for each in filters))]

    def _of_types(self) -> list[Column]:
        """The filter for events of the types that the queries name, if all queries name types, in
        one column of texts."""
        names = {part.query.stream.type for part in self.parts.values()}
        texts = {each.name for each in self.first.df.schema if each.dataType == st.StringType()}
        types = [part.types() for part in self.parts.values()]
        wanted = {each for some in types if some is not None for each in some}
        if None in types or len(names) > 1 or not names & texts:
            return []
        return [quoted((str(name),)).isin(*sorted(wanted)) for name in names]

    @property
    def schema(self) -> st.StructType:
        fields = {QUERY: st.StructField(QUERY, st.StringType())}
        for part in self.parts.values():
            for field in part.schema:
                fields.setdefault(field.name, field)
        return st.StructType(list(fields.values()))

    @cached_property
    def arrangement(self) -> Arrangement:
        """The arrangement of the first query; by time alone if that is enough for all."""
        events = kept(self.first.df, self.filters(), self.travelling)
        first, cut = self.first, self.first.cut
        if cut is not None:
            events = cut.spread(events)
        order = tuple(first.order_in_key())
        return Arrangement(
            events, first.groups, order, self.by_time, first.parallelism, spread=cut is not None
        )

    @property
    def by_time(self) -> bool:
        return all(part.by_time for part in self.parts.values())

    def task(self) -> TogetherTask:
        within = tuple(path for path in self.first.order_in_key() if path not in self.moment)
        return self.task_over(self.arrangement.sorted_by, self.moment, within)

    def task_over(
        self, sorted_by: tuple[Path, ...], moment: tuple[Path, ...], within: tuple[Path, ...]
    ) -> TogetherTask:
        """The task of the queries over rows that are sorted by these columns, then by time (that is
        their moment), and within a moment by others."""
        parts = tuple(
            TogetherPart(
                name,
                part.task(sorted_by),
                (*part.travelling, *(() if part.cut is None else (SLICE, IN_HOME))),
                tuple(path for path in part.order_in_key() if path not in moment),
                arrow_schema(part.schema),
            )
            for name, part in self.parts.items()
        )
        return TogetherTask(parts, sorted_by, moment, within, tuple(self.schema.names))

    def run(self) -> DataFrame:
        for part in self.parts.values():
            part.warn()
        task = named(self.task().run, ", ".join(self.parts), self.first.one_task)
        return map_in_arrow(self.arrangement.rows(), task, self.schema)
