"""What conditions read from a run that is tried: values at its rows, and aggregates over them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from cereus.expr import tree as ex
from cereus.expr.arrow.evaluate import value_of
from cereus.expr.arrow.vector import Vector, event_value, to_arrow
from cereus.expr.python.aggregates import percentile
from cereus.expr.python.arithmetic import fits
from cereus.languages.match_recognize import values
from cereus.languages.match_recognize.binding import LABEL, NUMBER, Leaf
from cereus.languages.match_recognize.lists import COLLECTED, collected, taken
from cereus.languages.match_recognize.match.letters import RowColumns
from cereus.languages.match_recognize.match.needs import Part, names_in
from cereus.languages.match_recognize.match.sorting import SortedRows, one_array
from cereus.languages.match_recognize.tree import Clause

DECIDING = frozenset(("count", "count_if", "min", "max", "bool_and", "bool_or", "arbitrary"))
"""Aggregates whose later values follow from their value so far and the later rows."""


class TriedRun(NamedTuple):
    """A run: the variables of its rows from `start` on, and the number of its match."""

    labels: list[str]
    start: int
    number: int


class RunValues:
    """The values that runs over these rows read."""

    def __init__(self, clause: Clause, rows: SortedRows) -> None:
        self.clause, self.rows = clause, rows
        self.columns = RowColumns(rows)
        self._cells: dict[ex.Expression, list[Any]] = {}

    def remembered(self, leaf: Leaf, run: TriedRun) -> Any:
        """What a leaf reads from a run, now and later: two runs that agree in it always agree if
        the same rows follow."""
        if isinstance(leaf, values.Number):
            return None
        if isinstance(leaf, values.Over):
            if leaf.function in DECIDING or leaf.argument is None:
                return self.leaf(leaf, run)
            rows = self.rows_of(leaf.variable, run)
            cells = [[self.cell(each, row, run) for row in rows] for each in leaf.arguments]
            if leaf.function in ("sum", "avg"):
                known = [each for each in cells[0] if each is not None]
                return sum(known), len(known)
            return cells
        place = leaf.place
        if LABEL in names_in(leaf.argument):
            if place.variable is not None or place.first:
                return tuple(run.labels)
            return tuple(run.labels[-1 - place.offset - abs(place.shift) :])
        rows = self.rows_of(place.variable, run)
        return rows[: place.offset + 1] if place.first else rows[-1 - place.offset :]

    def rows_of(self, variable: str | None, run: TriedRun) -> list[int]:
        members = self.clause.members(variable)
        return [run.start + at for at, label in enumerate(run.labels) if label in members]

    def value(self, part: Part, run: TriedRun) -> Vector:
        columns: dict[ex.Attribute, Any] = {
            ex.Attribute((name,)): event_value(_compared(self.leaf(leaf, run)))
            for name, leaf in part.leaves.items()
        }
        return value_of(part.expression, columns)

    def leaf(self, leaf: Leaf, run: TriedRun) -> Any:
        if isinstance(leaf, values.Number):
            return run.number
        variable = leaf.variable if isinstance(leaf, values.Over) else leaf.place.variable
        rows = self.rows_of(variable, run)

        def at(row: int) -> Any:
            assert not isinstance(leaf, values.Number) and leaf.argument is not None
            return self.cell(leaf.argument, row, run)

        if isinstance(leaf, values.Over):
            more = [[self.cell(each, row, run) for row in rows] for each in leaf.more]
            return _aggregate(leaf, [at(row) for row in rows] if leaf.argument else rows, more)
        place = leaf.place
        if place.offset >= len(rows):
            return None
        row = rows[place.offset if place.first else -1 - place.offset] + place.shift
        part = int(np.searchsorted(self.rows.bounds, run.start, side="right")) - 1
        return at(row) if self.rows.bounds[part] <= row < self.rows.bounds[part + 1] else None

    def cell(self, argument: ex.Expression, row: int, run: TriedRun) -> Any:
        """The value of an expression of one row at a row."""
        if not {LABEL, NUMBER} & names_in(argument):
            return self.column_cells(argument)[row]
        place = row - run.start
        inside = 0 <= place < len(run.labels)
        special = {LABEL: run.labels[place] if inside else None, NUMBER: run.number}
        columns: dict[ex.Attribute, Any] = {}
        for node in argument.walk():
            if isinstance(node, ex.Attribute):
                name = node.path[0]
                value = special[name] if name in special else self.column_cells(node)[row]
                columns[node] = event_value(value)
        result = to_arrow(value_of(argument, columns), 1)
        return result.as_py() if hasattr(result, "as_py") else result[0].as_py()

    def column_cells(self, argument: ex.Expression) -> list[Any]:
        if argument not in self._cells:
            data = self.columns.argument(argument)
            if isinstance(data, Vector):
                column = to_arrow(data, len(self.rows))
                constants = hasattr(column, "as_py")
                cells = [column.as_py()] * len(self.rows) if constants else column.to_pylist()
            else:
                cells = one_array(data).to_pylist()
            self._cells[argument] = cells
        return self._cells[argument]


def _compared(value: Any) -> Any:
    """A value for comparison. Conditions only test whether lists and maps are null."""
    return True if isinstance(value, list | dict) else value


def _sum(numbers: list[Any]) -> Any:
    """The sum; NULL for integers if it does not fit 64 bits, as everywhere."""
    total = sum(numbers)
    return total if not isinstance(total, int) or fits(total) else None


def _aggregate(over: values.Over, cells: list[Any], more: list[list[Any]]) -> Any:
    """An aggregate of the rows' values; `more` are the values of its further arguments."""
    if over.argument is None:
        return len(cells)
    if over.function in COLLECTED:
        return _taken(over, [cells, *more])
    if over.function in ("max_by", "min_by"):
        return _by(over.function, cells, more[0])
    known = [cell for cell in cells if cell is not None]
    if over.function == "count":
        return len(known)
    if over.function == "count_if":
        return sum(known)
    if not known:
        return None
    numbers = [each for each in known if each == each] or known
    functions: dict[str, Callable[[], Any]] = {
        "sum": lambda: _sum(known),
        "avg": lambda: sum(known) / len(known),
        "min": lambda: min(numbers),
        "max": lambda: max(numbers),
        "bool_and": lambda: all(known),
        "bool_or": lambda: any(known),
        "arbitrary": lambda: known[0],
        "string_agg": lambda: (more[0][0] if more else "").join(known),
        "percentile": lambda: percentile(known, more[0][0]),
        "var_pop": lambda: float(np.var(known)),
        "stddev_pop": lambda: float(np.std(known)),
        "var_samp": lambda: float(np.var(known, ddof=1)) if len(known) > 1 else None,
        "stddev_samp": lambda: float(np.std(known, ddof=1)) if len(known) > 1 else None,
    }
    return functions[over.function]()


def _taken(over: values.Over, columns: list[list[Any]]) -> Any:
    """A list or a map, or what is taken out of it."""
    value = collected(over.function, columns)
    for each in over.then:
        value = taken(each.function, value, each.given)
    return value


def _by(function: str, cells: list[Any], compared: list[Any]) -> Any:
    """The value of the row where another value is greatest or least; of several rows, the first."""
    rows = [row for row, other in enumerate(compared) if other is not None and other == other]
    if not rows:
        return None
    best = max if function == "max_by" else min
    return cells[best(rows, key=compared.__getitem__)]
