"""The values of expressions on many matches at once: one value per match, as an Arrow array.

What an expression reads of a variable (`a.price`, `sum(b.volume)`) becomes a column with a row per
match. The rest of the expression is computed over these columns, like every other condition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cereus.engine.results.aggregates import Ints, aggregated
from cereus.expr import tree as ex
from cereus.expr.arrow.evaluate import evaluate, mask
from cereus.expr.paths import column_at

Path = tuple[str, ...]
NewColumn = Callable[[pa.Array], ex.Attribute]
ROW = "row"
"""A column that the table of values always has: it gives the number of matches."""


@dataclass(frozen=True)
class VariableEvents:
    """The events that a variable holds: those of match m are places[offsets[m]:offsets[m + 1]]
    of the remembered events."""

    places: Ints
    offsets: Ints

    @property
    def is_empty(self) -> npt.NDArray[np.bool_]:
        empty: npt.NDArray[np.bool_] = np.diff(self.offsets) == 0
        return empty

    @property
    def first(self) -> pa.Array:
        """The place of the first event of each match; null where there is none."""
        return self._at(self.offsets[:-1])

    @property
    def last(self) -> pa.Array:
        return self._at(self.offsets[1:] - 1)

    def _at(self, cells: Ints) -> pa.Array:
        empty = self.is_empty
        if not empty.any():
            return pa.array(self.places[cells])
        chosen = np.zeros(len(cells), np.int64)
        chosen[~empty] = self.places[cells[~empty]]
        return pa.array(chosen, mask=empty)


class MatchValues:
    """Computes expressions on the matches of one chunk; `variables` are the events they hold."""

    def __init__(
        self, events: pa.Table, variables: Mapping[str, VariableEvents], matches: int
    ) -> None:
        self.events, self.variables, self.matches = events, variables, matches

    def mask(self, condition: ex.Expression) -> npt.NDArray[np.bool_]:
        """The matches for which a condition is true."""
        return mask(*self._columns(condition))

    def value(self, expression: ex.Expression, kind: pa.DataType) -> pa.Array:
        """The value of an expression, as an array of this type."""
        result = self._value(expression, kind)
        return result if result.type == kind else result.cast(kind)

    def _value(self, expression: ex.Expression, kind: pa.DataType) -> pa.Array:
        if isinstance(expression, ex.Attribute | ex.Aggregate):
            return self._leaf(expression, kind)
        unit = getattr(kind, "unit", "")
        result = evaluate(*self._columns(expression), unit=unit)
        if isinstance(result, pa.Scalar):
            return _repeated(result, self.matches, kind)
        return result

    def read(self, path: Path, places: Ints | pa.Array) -> pa.Array:
        """An attribute of the events at these places."""
        at = places if isinstance(places, pa.Array) else pa.array(places)
        taken = pc.take(column_at(self.events, path), at, boundscheck=False)  # all are inside
        return taken.combine_chunks() if isinstance(taken, pa.ChunkedArray) else taken

    def _columns(self, expression: ex.Expression) -> tuple[ex.Expression, pa.RecordBatch]:
        """The expression over a table of the values that it reads, with a row per match."""
        columns: dict[str, pa.Array] = {ROW: pa.array(np.arange(self.matches))}
        known: dict[ex.Expression, ex.Attribute] = {}

        def column(values: pa.Array) -> ex.Attribute:
            name = f"{ROW}{len(columns)}"
            columns[name] = values
            return ex.Attribute((name,))

        def visit(node: ex.Expression) -> ex.Expression:
            special = self._special(node, column, visit)
            if special is not None:
                return special
            if not isinstance(node, ex.Attribute | ex.Aggregate):
                return ex.rebuild(node, visit)
            if node not in known:
                known[node] = column(self._leaf(node, None))
            return known[node]

        made = visit(expression)
        return made, pa.RecordBatch.from_pydict(columns)

    def _special(
        self, node: ex.Expression, column: NewColumn, visit: ex.Rewrite
    ) -> ex.Expression | None:
        """The values that a language computes in its own way; None for everything else."""
        return None

    def _leaf(self, node: ex.Attribute | ex.Aggregate, kind: pa.DataType | None) -> pa.Array:
        if isinstance(node, ex.Attribute):
            return self.read(node.path, self.variables[str(node.variable)].first)
        return self._aggregate(node)

    def _aggregate(self, node: ex.Aggregate) -> pa.Array:
        events = self.variables[node.variable]
        if node.attribute is None:
            return pa.array(np.diff(events.offsets).astype(np.int64))
        if node.function in ("first", "last"):
            return self.read(node.attribute, getattr(events, node.function))
        read = self.read(node.attribute, events.places)
        return aggregated(
            node.function, read, events.offsets, node.attribute, parameter=node.parameter
        )


def lists(offsets: Ints, values: pa.Array) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), values)


def _repeated(value: pa.Scalar, times: int, kind: pa.DataType) -> pa.Array:
    """A value, repeated. A value of the same type is not converted to Python in between: a time of
    the year 9999 may be in the year 10000 in another zone, which Python does not have."""
    if not value.is_valid:
        return pa.nulls(times, kind)
    if value.type == kind or pa.types.is_timestamp(value.type):
        return pa.repeat(value, times)
    return pa.array([value.as_py()] * times, kind)
