"""The columns in which `slots_kernel` looks up values: computed ahead for every row, and once for
"no such row"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cereus.engine.memory import empty, filled
from cereus.expr import tree as ex
from cereus.expr.arrow import operators
from cereus.expr.arrow.evaluate import value_of
from cereus.expr.arrow.vector import Vector, from_arrow
from cereus.expr.types import Kind
from cereus.languages.match_recognize import values
from cereus.languages.match_recognize.binding import LABEL, Leaf
from cereus.languages.match_recognize.match.alternatives import Alternatives
from cereus.languages.match_recognize.match.letters import RowColumns
from cereus.languages.match_recognize.match.needs import Part, names_in
from cereus.languages.match_recognize.match.slots.code import AS_INTS
from cereus.languages.match_recognize.match.slots.tables import HERE, Base, NotForSlots
from cereus.languages.match_recognize.match.sorting import SortedRows


class SlotColumns:
    """The columns so far; a match has at most `most_rows` rows. A column of labels has an entry for
    each variable, not for each row; one that is `ranked` holds the places of values among those of
    all rows. Columns have room for `least` entries."""

    def __init__(
        self,
        rows: SortedRows,
        variables: Sequence[str],
        room: int | None = None,
        most_rows: int = 0,
        least: int = 0,
    ) -> None:
        self.rows, self.variables = rows, variables
        self.columns = RowColumns(rows)
        self.width = max(len(rows) if room is None else room, len(variables), least) + 1
        self.most_rows = max(self.width, most_rows)
        self.of_labels: set[int] = set()
        self.ranked = False
        self.numbers: list[npt.NDArray[Any]] = []
        self.valid: list[Any] = []
        self.known_columns: dict[Any, tuple[int, Kind, str]] = {}

    def arrays(self) -> tuple[Any, Any, Any]:
        """The whole numbers, the floats, and which entries are known. A column is in one of the
        first two, and zero in the other: rows are compared by both."""
        shape = (max(len(self.numbers), 1), self.width)
        ints, floats = empty(shape, np.int64), empty(shape, np.float64)
        valid = empty(shape, np.uint8)
        valid[len(self.numbers) :] = 0
        for place, (numbers, known) in enumerate(zip(self.numbers, self.valid, strict=True)):
            real = numbers.dtype == np.float64
            (floats if real else ints)[place] = numbers
            (ints if real else floats)[place] = 0
            valid[place] = known
        return ints, floats, valid

    def column_of(self, node: ex.Expression, part: Part, base: Base) -> tuple[int, Kind, str]:
        key = repr((node, sorted(part.leaves.items()), base.label))
        if key not in self.known_columns:
            vector = self.vector(node, part, base)
            self.known_columns[key] = (*self.add(vector), vector.unit)
            if base.label:
                self.of_labels.add(self.known_columns[key][0])
        return self.known_columns[key]

    def vector(self, node: ex.Expression, part: Part, base: Base) -> Vector:
        """The value of an expression on every row, followed by that for no row."""
        columns: dict[ex.Attribute, pa.Array | Vector] = {}
        nothing: dict[ex.Attribute, pa.Array | Vector] = {}
        for name in names_in(node):
            data = self.data(part.leaves[name], base)
            columns[ex.Attribute((name,))] = data
            nothing[ex.Attribute((name,))] = _nothing(data)
        return self.filled(value_of(node, columns), value_of(node, nothing), base)

    def data(self, leaf: Leaf, base: Base) -> pa.Array | Vector:
        if isinstance(leaf, values.Over):
            assert leaf.argument is not None
            return self.columns.argument(leaf.argument)
        assert isinstance(leaf, values.At)
        if not base.label:
            return self.columns.leaf(leaf)
        labels = pa.array(self.variables, pa.string())
        return value_of(leaf.argument, {ex.Attribute((LABEL,)): labels})

    def add(self, vector: Vector) -> tuple[int, Kind]:
        if vector.kind not in (*AS_INTS, Kind.FLOAT):
            raise NotForSlots
        numbers = np.asarray(vector.values)
        if numbers.dtype == np.uint64:
            raise NotForSlots
        self.numbers.append(numbers)
        self.valid.append(True if vector.valid is None else vector.valid)
        return len(self.valid) - 1, vector.kind

    def masked(self, number: int | None, members: frozenset[str], ways: Alternatives | None) -> int:
        """A column that is NULL on rows of other variables; without a number, of ones."""
        assert ways is not None
        key = ("masked", number, members)
        if key not in self.known_columns:
            valid = np.zeros(self.width, np.bool_)
            valid[: len(self.rows)] = ways.rows_of(members)
            ones = np.ones(self.width, np.int64)
            self.numbers.append(ones if number is None else self.numbers[number])
            self.valid.append(valid if number is None else valid & self.valid[number])
            self.known_columns[key] = len(self.valid) - 1, Kind.INTEGER, ""
        return self.known_columns[key][0]

    def of_places(self, key: Any, numbers: npt.NDArray[np.int64], first: bool = True) -> int:
        """A column of numbers that are looked up by their places, as those of labels are; the
        first may be NULL."""
        if key not in self.known_columns:
            padded = filled(self.width, 0, np.int64)
            padded[: len(numbers)] = numbers
            valid = filled(self.width, True, np.bool_)
            valid[0] = first
            self.numbers.append(padded)
            self.valid.append(valid)
            self.known_columns[key] = len(self.valid) - 1, Kind.INTEGER, ""
            self.of_labels.add(len(self.valid) - 1)
        return self.known_columns[key][0]

    def refuse_large_sums(self, number: int) -> None:
        """Refuse a column whose sums may not fit the 64 bits of a slot; they are computed
        elsewhere."""
        numbers, known = self.numbers[number], self.valid[number]
        largest = max(
            int(numbers.max(where=known, initial=0)), -int(numbers.min(where=known, initial=0))
        )
        if largest * self.most_rows >= 1 << 63:
            raise NotForSlots

    def argument(self, argument: ex.Expression) -> Vector:
        data = self.columns.argument(argument)
        vector = data if isinstance(data, Vector) else from_arrow(data)
        if vector.kind is Kind.DECIMAL:
            vector = operators.as_float(vector)
        return vector

    def ordered_column(self, argument: ex.Expression) -> int:
        """A column in the order of an argument; for strings, their ranks."""
        vector = self.argument(argument)
        if vector.kind is not Kind.STRING:
            return self.argument_column(argument, vector)[0]
        key = ("ranks", repr(argument))
        if key not in self.known_columns:
            self.ranked = True
            padded = self.filled(vector, _nothing(vector), HERE)
            self.known_columns[key] = (*self.add(ranks_of([padded], self.width)[0]), "")
        return self.known_columns[key][0]

    def earlier(self, argument: ex.Expression) -> int:
        """A column that has for each row the last earlier one with the same value; -1 if there is
        none. Rows without a value count as having the same one."""
        key = ("earlier", repr(argument))
        if key not in self.known_columns:
            numbers = _numbered(self.columns.argument(argument), len(self.rows))
            order = np.argsort(numbers, kind="stable")
            rows = filled(self.width, -1, np.float64)
            same = numbers[order[1:]] == numbers[order[:-1]]
            rows[order[1:][same]] = order[:-1][same]
            known = filled(self.width, False, np.bool_)
            known[: len(order)] = True
            self.known_columns[key] = (*self.add(Vector(Kind.FLOAT, rows, known)), "")
        return self.known_columns[key][0]

    def argument_column(self, argument: ex.Expression, vector: Vector) -> tuple[int, Kind]:
        key = ("argument", vector.kind, repr(argument))
        if key not in self.known_columns:
            if vector.kind is Kind.STRING:
                raise NotForSlots
            empty = replace(vector, values=np.zeros((), vector.values.dtype), valid=np.False_)
            padded = self.filled(vector, empty, HERE)
            self.known_columns[key] = (*self.add(padded), vector.unit)
        number, kind, _ = self.known_columns[key]
        return number, kind

    def filled(self, vector: Vector, last: Vector, base: Base) -> Vector:
        """A column of `width` entries: those of the rows (or labels), filled up, and the last."""
        length = len(self.variables) if base.label else len(self.rows)
        if vector.kind is Kind.NULL and last.kind is not Kind.NULL:
            vector = replace(last, valid=np.False_)
        if isinstance(vector.values, pa.Array | pa.Scalar):
            return replace(vector, values=_arrow_with_last(vector, last, length, self.width))
        numbers = filled(self.width, 0, np.asarray(vector.values).dtype)
        numbers[:length] = vector.values
        valid = filled(self.width, False, np.bool_)
        valid[:length] = True if vector.valid is None else vector.valid
        if last.kind is not Kind.NULL:
            numbers[-1] = last.values
            valid[-1] = last.valid is None or bool(last.valid)
        return replace(vector, values=numbers, valid=valid)


def _numbered(data: pa.Array | Vector, rows: int) -> npt.NDArray[np.int64]:
    """A number for each row, the same for equal values; nulls count as one value."""
    vector = data if isinstance(data, Vector) else from_arrow(data)
    if vector.kind not in (*AS_INTS, Kind.FLOAT, Kind.STRING) or vector.constant:
        raise NotForSlots
    valid = np.broadcast_to(True if (known := vector.validity()) is None else known, rows)
    if vector.kind is Kind.STRING:
        numbers = np.asarray(vector.values.dictionary_encode().indices.fill_null(-1))
    else:
        if vector.kind is Kind.FLOAT and np.isnan(vector.values[valid]).any():
            raise NotForSlots  # NaN, of which none equals another
        _, numbers = np.unique(vector.values, return_inverse=True)
    return np.where(valid, numbers.reshape(-1), -1).astype(np.int64)


def _nothing(data: pa.Array | Vector) -> Vector:
    """One null of the kind of a column."""
    vector = data if isinstance(data, Vector) else from_arrow(data)
    if isinstance(vector.values, pa.Array | pa.Scalar):
        return Vector(vector.kind, pa.scalar(None, vector.values.type))
    if vector.kind is Kind.NULL:
        return vector
    zero = np.zeros((), np.asarray(vector.values).dtype)[()]
    return replace(vector, values=zero, valid=np.False_)


def _arrow_with_last(vector: Vector, last: Vector, length: int, width: int) -> pa.Array:
    data = vector.values
    if isinstance(data, pa.Scalar):
        data = pa.repeat(data, length)
    end = last.values if isinstance(last.values, pa.Scalar) else pa.scalar(None, data.type)
    return pa.concat_arrays(
        [data, pa.nulls(width - 1 - length, data.type), pa.repeat(end.cast(data.type), 1)]
    )


def ranks_of(vectors: Sequence[Vector], width: int) -> list[Vector]:
    """Values of a kind that has an order, as their ranks among all of them."""
    unified = operators.unify(list(vectors))
    arrays = [
        pa.repeat(v.values, width) if isinstance(v.values, pa.Scalar) else v.values for v in unified
    ]
    every = pa.concat_arrays(arrays)
    distinct = pc.unique(every.drop_null())
    ordered = distinct.take(pc.sort_indices(distinct))
    ranks = pc.index_in(every, value_set=ordered)
    valid = np.asarray(pc.is_valid(every)).astype(np.bool_)
    numbers = np.asarray(pc.fill_null(ranks, 0)).astype(np.int64)
    return [
        Vector(Kind.INTEGER, numbers[at : at + width], valid[at : at + width])
        for at in range(0, len(every), width)
    ]
