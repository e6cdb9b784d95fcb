"""Lets queries with different keys read a DataFrame once.

Every event goes once into each pass that it can matter to: a pass has the queries of one set of
keys. If a pass is cut by time, the event goes into each of its slices there. The number of the
pass, and a hash of its keys and slice, decide which task gets the event; there the passes come one
after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import groupby, pairwise
from operator import and_, itemgetter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as st

from cereus.spark.batch.arranging import Arrangement
from cereus.spark.batch.eventwise import Eventwise
from cereus.spark.batch.naming import named
from cereus.spark.batch.pattern import Batch
from cereus.spark.batch.together import Together, TogetherTask
from cereus.spark.quoting import map_in_arrow, quoted
from cereus.spark.schemas import Path, arrow_schema
from cereus.spark.slices import IN_HOME, PLACE, SLICE

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

PASS, GROUP = "__cereus_pass", "__cereus_group"


@dataclass(frozen=True)
class SharedTask:
    """The passes with all that a worker needs to run them, by number; `schema` are the columns of
    all matches."""

    passes: tuple[TogetherTask, ...]
    schema: pa.Schema

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The matches of one partition, whose rows are sorted by pass."""
        for number, rows in groupby(_by_pass(batches), key=itemgetter(0)):
            for matches in self.passes[number].run(batch for _, batch in rows):
                yield self._fitted(matches)

    def _fitted(self, matches: pa.RecordBatch) -> pa.RecordBatch:
        present = set(matches.schema.names)
        columns = [
            matches.column(field.name)
            if field.name in present
            else pa.nulls(matches.num_rows, field.type)
            for field in self.schema
        ]
        return pa.RecordBatch.from_arrays(columns, names=self.schema.names)


def _by_pass(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The same rows, each batch of one pass."""
    for batch in batches:
        numbers = batch.column(PASS).to_numpy()
        cuts = [0, *(np.flatnonzero(np.diff(numbers)) + 1), batch.num_rows]
        for begin, end in pairwise(cuts):
            if end > begin:
                yield int(numbers[begin]), batch.slice(begin, end - begin)


# ---------------------------------------------------------------- on the driver


@dataclass(frozen=True)
class SharedScan:
    """Passes over one DataFrame that have one column of time."""

    passes: tuple[Together, ...]

    @property
    def first(self) -> Batch | Eventwise:
        return self.passes[0].first

    @cached_property
    def travelling(self) -> list[str]:
        names = {name for each in self.passes for name in each.travelling}
        return [name for name in self.first.df.columns if name in names]

    @cached_property
    def arrangement(self) -> Arrangement:
        """By pass first; then by time, if the engine keeps the keys of all queries apart; else by
        the hash of the keys, which is as good as the keys."""
        first = self.first
        begin: tuple[Path, ...] = ((PASS,),) if self.by_time else ((PASS,), (GROUP,))
        order = (*begin, *first.order_in_key())
        groups: tuple[Path, ...] = ((PASS,), (GROUP,))
        return Arrangement(self._events(), groups, order, True, first.parallelism, spread=True)

    @property
    def by_time(self) -> bool:
        return all(each.by_time for each in self.passes)

    def _events(self) -> DataFrame:
        """Every event once for each pass, and slice of a pass, that it belongs to."""
        places = [place for number in range(len(self.passes)) for place in self._places(number)]
        every = F.explode(F.array_compact(F.array(*places)))
        columns = [quoted((name,)) for name in self.travelling]
        spread = self.first.df.select(every.alias(PLACE), *columns)
        return spread.select(f"{PLACE}.*", *columns).withColumn(GROUP, self._group)

    def _places(self, number: int) -> Iterator[Column]:
        """Where an event belongs in a pass: structs, or NULL."""
        each, place = self.passes[number], F.lit(number).alias(PASS)
        places: tuple[Column, ...] = (F.struct(place, *self._uncut),)
        if each.first.cut is not None:
            places = each.first.cut.places(place)
        matters = _all(each.filters())
        return (F.when(matters, there) for there in places)

    @property
    def _uncut(self) -> list[Column]:
        """The columns of slices in passes that are not cut, if others are."""
        if all(each.first.cut is None for each in self.passes):
            return []
        no_slice = {SLICE: F.lit(None).cast("bigint"), IN_HOME: F.lit(True)}
        return [column.alias(name) for name, column in no_slice.items()]

    @property
    def _group(self) -> Column:
        hashes = [
            F.xxhash64(*(quoted(path) for path in each.first.groups)) if each.first.groups else 0
            for each in self.passes
        ]
        chosen = F.when(F.col(PASS) == 0, hashes[0])
        for number, each in enumerate(hashes[1:], 1):
            chosen = chosen.when(F.col(PASS) == number, each)
        return chosen

    @property
    def schema(self) -> st.StructType:
        fields = {field.name: field for each in self.passes for field in each.schema}
        return st.StructType(list(fields.values()))

    def task(self) -> SharedTask:
        keyed = (GROUP,) in self.arrangement.order
        sorted_by: tuple[Path, ...] = ((GROUP,),) if keyed else ()
        moment = (*sorted_by, self.first.order)
        sorted_as = tuple(p for p in self.first.order_in_key() if p not in moment)
        tasks = tuple(each.task_over(sorted_by, moment, sorted_as) for each in self.passes)
        return SharedTask(tasks, arrow_schema(self.schema))

    def run(self) -> DataFrame:
        parts = {name: part for each in self.passes for name, part in each.parts.items()}
        for part in parts.values():
            part.warn()
        task = named(self.task().run, ", ".join(parts))
        return map_in_arrow(self.arrangement.rows(), task, self.schema)


def _all(conditions: Sequence[Column]) -> Column:
    return reduce(and_, conditions, F.lit(True))
