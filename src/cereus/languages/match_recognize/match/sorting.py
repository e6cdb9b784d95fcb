"""Sorts the rows of a table by partition, each in the order of ORDER BY.

Ties keep the order in which the rows came. Nothing is moved if the rows are already in order, which
is checked first: a sort of ten million rows takes longer than all the rest. The rest goes piece by
piece, so that the arrays of one piece stay in the cache, and their memory is used again for the
next: page faults cost more than what is computed in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cereus.engine.interrupts import interruptible
from cereus.engine.parallel.spread import ALONE, Spread
from cereus.errors import DataError
from cereus.languages.match_recognize import tree
from cereus.languages.match_recognize.match.partitions import Indices, Ints, by_code, codes_of

PIECE = 1 << 18
"""The rows of a piece, unless a partition alone has more."""
BLOCK = 1 << 16
"""The number of rows that are looked at together where one answer is needed for all."""
WORTH = 8
"""A column is sorted as a whole if at least one in this many of its values is read."""


class SortedRows:
    """Rows by their sorted position: partition p has the positions bounds[p] to bounds[p + 1]."""

    def __init__(
        self,
        table: pa.Table | pa.RecordBatch,
        partition: Sequence[str],
        order: Sequence[tree.Order],
        spread: Spread = ALONE,
    ) -> None:
        self.table = without_views(table)
        self._columns: dict[str, pa.Array] = {}
        self.truths: dict[str, npt.NDArray[np.bool_]] | None = None
        """The truths of conditions on each row, where other clauses have the same conditions."""
        self.rows: Indices | None = None
        """The row of the table at each position; None where both are the same."""
        self.bounds = np.array([0, table.num_rows], np.int64)
        if partition:
            columns = [one_array(self.table.column(name)) for name in partition]
            self._group(codes_of(columns, spread), spread)
            self._sort(order, spread)
        else:
            self.rows = in_order(self.table, order)

    @classmethod
    def placed(
        cls, table: pa.Table | pa.RecordBatch, rows: Indices | None, bounds: Ints
    ) -> SortedRows:
        """Rows whose places are known."""
        rows_ = cls(table, (), ())
        rows_.rows, rows_.bounds = rows, bounds
        return rows_

    def __len__(self) -> int:
        return int(self.bounds[-1])

    def pieces(self, size: int | None = None) -> Iterator[SortedRows]:
        """Whole partitions of about `size` rows together, one after the other."""
        size = PIECE if size is None else size
        begin = 0
        while begin < len(self.bounds) - 1:
            most = int(self.bounds[begin]) + size
            end = int(np.searchsorted(self.bounds, most, side="right")) - 1
            end = max(end, begin + 1)
            yield self.part(begin, end)
            begin = end

    def part(self, begin: int, end: int) -> SortedRows:
        """The partitions from `begin` to `end`."""
        if (begin, end) == (0, len(self.bounds) - 1):
            return self
        low = int(self.bounds[begin])
        return self.cut(low, int(self.bounds[end]), self.bounds[begin : end + 1] - low)

    def block(self, low: int, high: int) -> SortedRows:
        """The positions from `low` to `high`, which may lie inside partitions."""
        inside = self.bounds[(self.bounds > low) & (self.bounds < high)]
        return self.cut(low, high, np.concatenate([[low], inside, [high]]) - low)

    def cut(self, low: int, high: int, bounds: Ints) -> SortedRows:
        columns = {name: data.slice(low, high - low) for name, data in self._columns.items()}
        if self.rows is None:
            piece = SortedRows.placed(self.table.slice(low, high - low), None, bounds)
        else:
            piece = SortedRows.placed(self.table, self.rows[low:high], bounds)
        piece._columns = columns
        return piece

    def _sort(self, order: Sequence[tree.Order], spread: Spread) -> None:
        """Put the rows of each partition in order, some partitions at a time."""
        if self._is_in_order(order):
            return
        if self.rows is None:
            self.rows = np.arange(len(self))
        spread.map(lambda piece: piece._sort_here(order), self.pieces())
        self._columns = {}

    def _is_in_order(self, order: Sequence[tree.Order]) -> bool:
        """Whether the rows are in order as a whole, or, where that is quick to see, in each
        partition: a table sorted by its keys is."""
        keys = _order_keys(self.table, order)
        if not keys or len(self) < 2 or _is_sorted(keys):
            return True
        quick = all(_numbers(column) is not None for column, _ in keys)
        return quick and self._lies_in_order(order)

    def _sort_here(self, order: Sequence[tree.Order]) -> None:
        """Put the rows of each partition in order, in place."""
        assert self.rows is not None
        names = dict.fromkeys(each.path[0] for each in order)
        moved = in_order(pa.table({name: self.column(name) for name in names}), order)
        if moved is None:
            return
        if len(self.bounds) > 2:
            part = np.repeat(np.arange(len(self.bounds) - 1, dtype=np.int32), np.diff(self.bounds))
            moved = moved[by_code(part[moved])[0]]
        self.rows[:] = self.rows[moved]

    def _lies_in_order(self, order: Sequence[tree.Order]) -> bool:
        """Whether it is quick to see that every partition is in order."""
        keys = [(self.column(each.path[0]), each) for each in order]
        return _is_sorted(keys, self.bounds)

    def in_order(self, order: Sequence[tree.Order]) -> bool:
        """Whether the rows of every partition are in the order of ORDER BY."""
        if not order or len(self) < 2 or self._lies_in_order(order):
            return True
        part = np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))
        keys = {"part": pa.array(part)}
        keys |= {each.path[0]: self.column(each.path[0]) for each in order}
        first = tree.Order(("part",))
        return in_order(pa.table(keys), (first, *order)) is None

    def _group(self, codes: npt.NDArray[np.int32], spread: Spread) -> None:
        if not len(codes):
            self.bounds = np.zeros(1, np.int64)
        elif _all_rise(codes, codes):
            changes = np.flatnonzero(codes[1:] != codes[:-1]) + 1
            self.bounds = np.concatenate([[0], changes, [len(codes)]]).astype(np.int64)
        else:
            self.rows, self.bounds = by_code(codes, spread)

    @cached_property
    def largest(self) -> int:
        return int(np.diff(self.bounds).max(initial=0))

    def column(self, name: str) -> pa.Array:
        """A column in the order of positions."""
        if name not in self._columns:
            data = one_array(self.table.column(name))
            self._columns[name] = data if self.rows is None else data.take(pa.array(self.rows))
        return self._columns[name]

    def take(self, name: str, positions: pa.Array) -> pa.Array:
        """The values of a column at some positions; null positions give null."""
        many = len(positions) > len(self) // WORTH
        if name in self._columns or self.rows is None or many:
            return self.column(name).take(positions)
        rows = pa.array(self.rows).take(positions)
        return one_array(self.table.column(name)).take(rows)


class KnownPieces:
    """Sorted rows in pieces, for one clause after the other. Each clause reads the columns that it
    needs; columns that were sorted, and conditions that were evaluated, for one of them are there
    for the others."""

    def __init__(self, pieces: Iterable[SortedRows]) -> None:
        self._pieces = list(pieces)
        for piece in self._pieces:
            piece.truths = {}

    def over(self, table: pa.Table) -> Iterator[SortedRows]:
        """The pieces with the columns of a table that has the same rows."""
        low = 0
        for known in self._pieces:
            part = table if known.rows is not None else table.slice(low, len(known))
            low += len(known)
            piece = SortedRows.placed(part, known.rows, known.bounds)
            piece._columns, piece.truths = known._columns, known.truths
            yield piece


def without_views(table: pa.Table | pa.RecordBatch) -> pa.Table | pa.RecordBatch:
    """The table with plain texts and bytes instead of views: Arrow cannot sort or take views
    yet."""
    for place, field in enumerate(table.schema):
        plain = plain_type(field.type)
        if plain is not field.type:
            table = table.set_column(place, field.name, table.column(place).cast(plain))
    return table


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type of a column without views."""
    if pa.types.is_string_view(kind):
        return pa.large_string()
    return pa.large_binary() if pa.types.is_binary_view(kind) else kind


def one_array(data: pa.Array | pa.ChunkedArray) -> pa.Array:
    if not isinstance(data, pa.ChunkedArray):
        return data
    return data.chunk(0) if data.num_chunks == 1 else data.combine_chunks()


# ---------------------------------------------------------------- ORDER BY


def in_order(table: pa.Table | pa.RecordBatch, order: Sequence[tree.Order]) -> Ints | None:
    """The rows in the order of ORDER BY; None if they are in that order."""
    keys = _order_keys(without_views(table), order)
    if not keys or table.num_rows < 2 or _is_sorted(keys):
        return None
    columns: dict[str, pa.Array] = {}
    sort_keys: list[tuple[str, str]] = []
    for place, (column, each) in enumerate(keys):
        if column.null_count:
            columns[f"null {place}"] = column.is_null()
            sort_keys.append((f"null {place}", "descending" if each.nulls_first else "ascending"))
        columns[str(place)] = _decoded(column)
        sort_keys.append((str(place), "descending" if each.descending else "ascending"))
    sorting = partial(pc.sort_indices, pa.table(columns), sort_keys=sort_keys)
    rows = np.asarray(interruptible(table.num_rows, sorting)).astype(np.int64)
    return None if bool((rows == np.arange(len(rows))).all()) else rows


def _order_keys(
    table: pa.Table | pa.RecordBatch, order: Sequence[tree.Order]
) -> list[tuple[pa.Array, tree.Order]]:
    keys = [(one_array(table.column(each.path[0])), each) for each in order]
    for column, each in keys:
        if pa.types.is_nested(column.type) or pa.types.is_interval(column.type):
            raise DataError(
                f"the column {each.path[0]!r} of type {column.type} has no order",
                hint="order by numbers, texts, booleans or times",
            )
    return keys


def _decoded(column: pa.Array) -> pa.Array:
    if pa.types.is_float16(column.type):  # Arrow has no order of them
        return column.cast(pa.float32())
    return column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column


def _is_sorted(keys: Sequence[tuple[pa.Array, tree.Order]], bounds: Ints | None = None) -> bool:
    """Whether the rows are in order, as far as that is quick to see; with `bounds`, those of each
    partition."""
    tied: Any = None
    if bounds is not None and len(bounds) > 2:
        tied = np.ones(int(bounds[-1]) - 1, np.bool_)
        tied[bounds[1:-1] - 1] = False
    for place, (column, each) in enumerate(keys):
        numbers = _numbers(column)
        if numbers is None:
            return False
        low, high = numbers[:-1], numbers[1:]
        if each.descending:
            low, high = high, low
        if tied is None and not _all_rise(low, high, 0):
            return False
        if tied is not None and not ((low <= high) | ~tied).all():
            return False
        if place == len(keys) - 1:
            return True
        equal = low == high
        tied = equal if tied is None else tied & equal
        if not tied.any():
            return True
    return True


def _all_rise(low: npt.NDArray[Any], high: npt.NDArray[Any], step: int = 1) -> bool:
    """Whether no number of `low` is above the one `step` further on in `high`."""
    size = len(low) - step
    for begin in range(0, size, BLOCK):
        end = min(begin + BLOCK, size)
        if not (low[begin:end] <= high[begin + step : end + step]).all():
            return False
    return True


def _numbers(column: pa.Array) -> npt.NDArray[Any] | None:
    kind = column.type
    if column.null_count or not (pa.types.is_primitive(kind) and not pa.types.is_boolean(kind)):
        return None
    if pa.types.is_temporal(kind):
        column = column.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return None
    numbers: npt.NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return numbers
