"""The values of SASE+ terms on many matches at once: one value per match, as an Arrow array.

What a term reads of its variable (`a[1].price`, `sum(a[].volume)`) becomes a column with a row per
match; what is made of such values is computed as every other condition is, over columns.
The values are those of the reference evaluator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cereus.automata.memory.totals import fitting
from cereus.engine.ingest.clock import python_values
from cereus.errors import DataError
from cereus.expr import tree as ex
from cereus.expr.arrow.evaluate import evaluate, mask
from cereus.expr.paths import column_at
from cereus.languages.sase import tree as sase
from cereus.state import checked

Ints = npt.NDArray[np.int64]
Aggregates = Mapping[str, sase.UserAggregate]
ROW = "row"
"""A column of the table of values that is always there: it says how many matches there are."""
CERTAIN = 1 << 62
"""Sums of integers whose estimate is below this fit 64 bits."""


@dataclass(frozen=True)
class VariableEvents:
    """The events that a variable holds: those of match m are places[offsets[m]:offsets[m + 1]]
    of the remembered events. No variable is empty."""

    places: Ints
    offsets: Ints

    def __post_init__(self) -> None:
        checked.refuse_unless((np.diff(self.offsets) > 0).all(), "a match lacks a variable")

    @property
    def first(self) -> Ints:
        return self.places[self.offsets[:-1]]

    @property
    def last(self) -> Ints:
        return self.places[self.offsets[1:] - 1]


class Values:
    """Computes terms on the matches of one chunk; `variables` are the events that they hold."""

    def __init__(
        self,
        events: pa.Table,
        variables: Mapping[str, VariableEvents],
        matches: int,
        aggregates: Aggregates,
    ) -> None:
        self.events, self.variables, self.matches = events, variables, matches
        self.aggregates = aggregates

    def mask(self, condition: ex.Expression) -> npt.NDArray[np.bool_]:
        """The matches of which a condition is true."""
        return mask(*self._columns(condition))

    def value(self, expression: ex.Expression, kind: pa.DataType) -> pa.Array:
        """Something in RETURN, as an array of this type."""
        result = self._value(expression, kind)
        return result if result.type == kind else result.cast(kind)

    def _value(self, expression: ex.Expression, kind: pa.DataType) -> pa.Array:
        match expression:
            case sase.Series(variable, path):
                events = self.variables[variable]
                return lists(events.offsets, self.read(path, events.places))
            case sase.Record(variable, paths, at):
                return self._structs(paths, self._one(variable, at or sase.Index.FIRST))
            case sase.Records(variable, paths):
                events = self.variables[variable]
                return lists(events.offsets, self._structs(paths, events.places))
            case ex.Attribute() | sase.Aggregate():
                return self._leaf(expression, kind)
        result = evaluate(*self._columns(expression))
        if isinstance(result, pa.Scalar):
            return pa.array([result.as_py()] * self.matches, kind)
        return result

    # ------------------------------------------------------------ events

    def read(self, path: sase.Path, places: Ints) -> pa.Array:
        """An attribute of the events at these places."""
        taken = column_at(self.events, path).take(pa.array(places))
        return taken.combine_chunks() if isinstance(taken, pa.ChunkedArray) else taken

    def _structs(self, paths: tuple[sase.Path, ...], places: Ints) -> pa.Array:
        columns = [self.read(path, places) for path in paths]
        return pa.StructArray.from_arrays(columns, [path[-1] for path in paths])

    def _one(self, variable: str, at: sase.Index) -> Ints:
        events = self.variables[variable]
        return events.first if at is sase.Index.FIRST else events.last

    # ------------------------------------------------------------ what is made of them

    def _columns(self, expression: ex.Expression) -> tuple[ex.Expression, pa.RecordBatch]:
        """The expression over a table of what it reads, a row per match."""
        columns: dict[str, pa.Array] = {ROW: pa.array(np.arange(self.matches))}
        known: dict[ex.Expression, ex.Attribute] = {}

        def column(values: pa.Array) -> ex.Attribute:
            name = f"{ROW}{len(columns)}"
            columns[name] = values
            return ex.Attribute((name,))

        def visit(node: ex.Expression) -> ex.Expression:
            if isinstance(node, ex.Comparison) and any(map(_ranked, (node.left, node.right))):
                return self._any_of(node, column, visit)
            if not isinstance(node, ex.Attribute | sase.Aggregate):
                return ex.rebuild(node, visit)
            if node not in known:
                known[node] = column(self._leaf(node, None))
            return known[node]

        made = visit(expression)
        return made, pa.RecordBatch.from_pydict(columns)

    def _any_of(
        self,
        node: ex.Comparison,
        column: Callable[[pa.Array], ex.Attribute],
        visit: Callable[[ex.Expression], ex.Expression],
    ) -> ex.Expression:
        """A comparison with the k highest is true when it is true of one of them (§5); of those
        that are not there, it is false."""

        def side(operand: ex.Expression) -> list[tuple[ex.Expression, tuple[ex.Expression, ...]]]:
            choices: list[tuple[ex.Expression, tuple[ex.Expression, ...]]] = []
            if not isinstance(operand, sase.Aggregate) or operand.k is None:
                return [(visit(operand), ())]
            best = list(self._ranked(operand))
            for place in range(operand.k):
                there = column(pa.array([len(values) > place for values in best], pa.bool_()))
                each = [values[place] if len(values) > place else None for values in best]
                choices.append((column(pa.array(each)), (there,)))
            return choices

        return ex.Or(
            tuple(
                ex.And((*first, *second, ex.Comparison(node.op, left, right)))
                for left, first in side(node.left)
                for right, second in side(node.right)
            )
        )

    def _leaf(self, node: ex.Attribute | sase.Aggregate, kind: pa.DataType | None) -> pa.Array:
        if isinstance(node, ex.Attribute):
            at = node.at if isinstance(node, sase.Item) else sase.Index.FIRST
            return self.read(node.path, self._one(str(node.variable), at))
        if node.function in self.aggregates:
            return self._user_defined(node, kind)
        if node.k is not None:
            return pa.array(list(self._ranked(node)), kind)
        return self._built_in(node)

    # ------------------------------------------------------------ aggregates

    def _built_in(self, node: sase.Aggregate) -> pa.Array:
        events = self.variables[node.variable]
        if node.attribute is None:
            return pa.array(np.diff(events.offsets).astype(np.int64))
        if node.function in ("first", "last"):
            return self.read(node.attribute, getattr(events, node.function))
        read = self.read(node.attribute, events.places)
        if node.function in ("min", "max") and pa.types.is_floating(read.type):
            read = pc.if_else(pc.is_nan(read), None, read)  # NaN has no place in the order
        values, offsets = _without_nulls(read, events.offsets)
        if node.function == "count":
            return pa.array(np.diff(offsets))
        numbers = _numbers(values)
        if numbers is None or not _exact(node.function, numbers):
            return _folded(node.function, values, offsets, node.attribute)
        return _reduced(node.function, numbers, offsets, values.type)

    def _lists(self, node: sase.Aggregate) -> Iterator[list[Any]]:
        """The values that an aggregate combines, as Python values, match by match."""
        events, path = self.variables[node.variable], node.attribute or ()
        values, offsets = _without_nulls(self.read(path, events.places), events.offsets)
        return _cut(python_values(values, path), offsets)

    def _ranked(self, node: sase.Aggregate) -> Iterator[list[Any]]:
        assert node.k is not None
        return (sase.ranked(values, node.function, node.k) for values in self._lists(node))

    def _user_defined(self, node: sase.Aggregate, kind: pa.DataType | None) -> pa.Array:
        aggregate = self.aggregates[node.function]
        combined = [
            reduce(aggregate.combine, values, aggregate.identity) for values in self._lists(node)
        ]
        try:
            return pa.array(combined, kind)
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise DataError(
                f"{node.function} gives values that are not of the type {kind}: {error}",
                hint="an aggregate of your own has the type of the attribute that it combines",
            ) from None


def lists(offsets: Ints, values: pa.Array) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), values)


def _ranked(node: ex.Expression) -> bool:
    return isinstance(node, sase.Aggregate) and node.k is not None


def _cut(values: list[Any], offsets: Ints) -> Iterator[list[Any]]:
    return (values[begin:end] for begin, end in pairwise(offsets.tolist()))


def _without_nulls(values: pa.Array, offsets: Ints) -> tuple[pa.Array, Ints]:
    if not values.null_count:
        return values, offsets.astype(np.int64)
    valid = values.is_valid().to_numpy(zero_copy_only=False)
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(valid)])
    return values.drop_null(), before[offsets]


def _numbers(values: pa.Array) -> Any:
    """The values as a numpy array, where that has the same order and arithmetic."""
    kind = values.type
    if pa.types.is_floating(kind) or pa.types.is_signed_integer(kind):
        return values.to_numpy(zero_copy_only=False)
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return values.cast(pa.int64()).to_numpy(zero_copy_only=False)
    return None


def _exact(function: str, numbers: Any) -> bool:
    """Whether numpy computes what Python would: no sum leaves 64 bits."""
    if numbers.dtype.kind == "f" or function in ("min", "max"):
        return True
    return float(np.abs(numbers.astype(np.float64)).sum()) < CERTAIN


def _reduced(function: str, numbers: Any, offsets: Ints, kind: pa.DataType) -> pa.Array:
    """One value per stretch; NULL where there is none to combine."""
    sizes = np.diff(offsets)
    some = sizes > 0
    starts = offsets[:-1][some]
    totals = function in ("sum", "avg")
    dtype = np.float64 if numbers.dtype.kind == "f" else np.int64
    results = np.zeros(len(sizes), dtype if totals else numbers.dtype)
    if totals and dtype is np.float64:
        results[some] = _summed(numbers.astype(dtype), starts, sizes[some])
    elif some.any():
        how: Any = {"min": np.minimum, "max": np.maximum}.get(function, np.add)
        results[some] = how.reduceat(numbers.astype(results.dtype), starts)
    if function == "avg":
        results = results / np.maximum(sizes, 1)
    made = pa.array(results, mask=~some)
    return made if totals else made.cast(kind)


def _summed(numbers: Any, starts: Ints, sizes: Ints) -> Any:
    """Sums of floats, each from its first value on to its last: the order makes a difference, and
    numpy's own sums go by halves."""
    longest = int(sizes.max(initial=0))
    if len(starts) < longest:
        stretches = zip(starts, starts + sizes, strict=True)
        return np.array([np.cumsum(numbers[begin:end])[-1] for begin, end in stretches])
    sums = np.zeros(len(starts))
    for place in range(longest):
        there = sizes > place
        sums[there] += numbers[starts[there] + place]
    return sums


FOLDS: dict[str, Callable[[list[Any]], Any]] = {
    "sum": sum,
    "avg": lambda values: sum(values) / len(values),
    "min": min,
    "max": max,
}


def _folded(function: str, values: pa.Array, offsets: Ints, path: sase.Path) -> pa.Array:
    """The same in Python, for values that numpy has no arithmetic for."""
    fold = FOLDS[function]
    cut = _cut(python_values(values, path), offsets)
    folded = [fold(each) if each else None for each in cut]
    if function in ("min", "max"):
        return pa.array(folded, values.type)
    if function == "sum" and pa.types.is_integer(values.type):
        return pa.array(map(fitting, folded), pa.int64())
    return pa.array([None if each is None else float(each) for each in folded], pa.float64())

