"""By how much events miss a rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.clauses.tree import AttributeWindow, EventWindow, TimeWindow
from cereus.engine.ingest.clock import in_units_of
from cereus.errors import CereusError
from cereus.expr import tree as ex
from cereus.expr.arrow.evaluate import evaluate, mask
from cereus.expr.paths import column_at
from cereus.expr.print import condition_text
from cereus.language.anatomy import QueryRule
from cereus.plan.tests import EventTest
from cereus.stream import Stream
from cereus.syntax.literals import duration_text
from cereus.why.events import EventTable, FoundMatch, Mask, Rows

Floats = npt.NDArray[np.float64]
MOST_COMBINATIONS = 20_000
"""Combinations of events that a condition is evaluated on."""


@dataclass(frozen=True)
class Measured:
    """`text` says by how much; `amount` is that relative to what is demanded, if it is a
    number."""

    text: str
    amount: float | None = None


def measured(
    rule: QueryRule, misses: Sequence[FoundMatch], events: EventTable, stream: Stream
) -> list[Measured | None]:
    """How each of some misses fails a rule; None where that has no measure."""
    nothing: list[Measured | None] = [None] * len(misses)
    try:
        if rule.window is not None:
            return _too_long(rule, misses, events, stream) if misses else nothing
        if rule.condition is not None:
            return _Condition(rule, misses, events, stream).measured()
    except (CereusError, pa.ArrowException, TypeError, OverflowError):
        return nothing  # a condition that cannot be computed apart from its query
    return nothing


# ---------------------------------------------------------------- windows


def _too_long(
    rule: QueryRule, misses: Sequence[FoundMatch], events: EventTable, stream: Stream
) -> list[Measured | None]:
    first, last = (events.places(np.array([m.rows[end] for m in misses])) for end in (0, -1))
    match rule.window:
        case TimeWindow(length) if stream.time is not None:
            kind = events.table.schema.field(stream.time).type
            allowed = in_units_of(kind, length, stream)
            microseconds = length / float(allowed) if allowed else 1.0
            overs = (_spans(events, (stream.time,), first, last) - allowed) * microseconds
            return [
                Measured(f"{duration_text(round(over))} too long", over / max(length, 1))
                for over in overs.tolist()
            ]
        case EventWindow(size) if not stream.keys:
            counts = (last - first + 1 - size).tolist()
            return [
                Measured(f"{over} event{'' if over == 1 else 's'} too long", over / size)
                for over in counts
            ]
        case AttributeWindow(size, path):
            overs = _spans(events, path, first, last) - size
            return [Measured(f"{over:g} too long", over / max(size, 1)) for over in overs.tolist()]
    return [None] * len(misses)


def _spans(events: EventTable, path: tuple[str, ...], first: Rows, last: Rows) -> Floats:
    """How far pairs of events lie apart, in the unit of a column."""
    return _numbers(events, path, last) - _numbers(events, path, first)


def _numbers(events: EventTable, path: tuple[str, ...], places: Rows) -> Floats:
    column = column_at(events.table.take(pa.array(places)), path)
    values = pa.chunked_array(column) if isinstance(column, list) else column
    if pa.types.is_temporal(values.type):
        values = values.cast(pa.int32() if values.type.bit_width == 32 else pa.int64())
    numbers: Floats = np.array(values.to_pylist(), np.float64)
    return numbers


# ---------------------------------------------------------------- conditions


class _Condition:
    """A condition, and all combinations of events of the misses that it is about."""

    def __init__(
        self, rule: QueryRule, misses: Sequence[FoundMatch], events: EventTable, stream: Stream
    ) -> None:
        assert rule.condition is not None
        self.rule, self.condition, self.count = rule, rule.condition, len(misses)
        self.names = sorted(ex.variables(self.condition))
        if not self.names:
            misses = _of_type(misses, rule, events, stream)
        combinations = list(self._combinations(misses))
        self.misses = [miss for miss, _ in combinations]
        width = max(len(self.names), 1)
        rows = np.array([c for _, c in combinations], np.int64).reshape(-1, width)
        places = [events.places(column) for column in rows.T]
        tables = [events.table.take(pa.array(column)) for column in places]
        self.table = tables[0]
        self.bindings = dict(zip(self.names, tables, strict=False)) or None

    def _combinations(self, misses: Sequence[FoundMatch]) -> Iterator[tuple[int, tuple[int, ...]]]:
        count = 0
        for number, miss in enumerate(misses):
            held = [miss.variables.get(name, []) for name in self.names or ("",)]
            for rows in product(*held):
                count += 1
                if count > MOST_COMBINATIONS:
                    return
                yield number, rows

    def measured(self) -> list[Measured | None]:
        """Of each miss the combination that fails most; of no combination, nothing."""
        found: list[Measured | None] = [None] * self.count
        if not self.misses:
            return found
        failed = np.flatnonzero(~mask(self.condition, self.table, self.bindings))
        values = [self._values(side) for side in self._sides()]
        for place in failed:
            by = self._text([side[place] for side in values])
            before = found[self.misses[place]]
            if before is None or (by.amount or 0) > (before.amount or 0):
                found[self.misses[place]] = by
        return found

    def _sides(self) -> list[ex.Expression]:
        """What is compared; of other conditions, the attributes they read."""
        if isinstance(self.condition, ex.Comparison):
            return [self.condition.left, self.condition.right]
        read = [node for node in self.condition.walk() if isinstance(node, ex.Attribute)]
        return list(dict.fromkeys(read))

    def _values(self, side: ex.Expression) -> list[Any]:
        value = evaluate(side, self.table, self.bindings)
        if isinstance(value, pa.Scalar):
            return [value.as_py()] * self.table.num_rows
        listed: list[Any] = value.to_pylist()
        return listed

    def _text(self, values: list[Any]) -> Measured:
        sides = self._sides()
        shown = [
            f"{condition_text(side)} is {value_text(value)}"
            for side, value in zip(sides, values, strict=True)
            if not isinstance(side, ex.Literal)
        ]
        text = " and ".join(shown)
        if not isinstance(self.condition, ex.Comparison):
            return Measured(text)
        apart = _apart(values[0], values[1])
        if apart is None:
            return Measured(text)
        off, amount = apart
        return Measured(f"{text}, off by {off}" if amount else text, amount)


def _of_type(
    misses: Sequence[FoundMatch], rule: QueryRule, events: EventTable, stream: Stream
) -> list[FoundMatch]:
    """The rows that a condition on one event may be about, as those of the variable ''."""
    if rule.type is None or stream.type is None or rule.type == "*":
        return [FoundMatch(miss.rows, {"": list(miss.rows)}) for miss in misses]
    typed = events.passing(EventTest(rule.type), stream)
    return [
        FoundMatch(miss.rows, {"": [row for row, fits in _fitting(miss, typed, events) if fits]})
        for miss in misses
    ]


def _fitting(miss: FoundMatch, typed: Mask, events: EventTable) -> Iterable[tuple[int, bool]]:
    places = events.places(np.array(miss.rows))
    return zip(miss.rows, typed[places].tolist(), strict=True)


def _apart(left: Any, right: Any) -> tuple[str, float] | None:
    """How far two values lie apart, as text and relative to them."""
    try:
        difference = abs(left - right)
    except TypeError:
        return None
    if isinstance(difference, timedelta):
        return value_text(difference), difference.total_seconds()
    size = max(abs(float(left)), abs(float(right)), 1e-300)
    return value_text(difference), float(difference) / size


def value_text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, str):
        return repr(value)
    return "NULL" if value is None else str(value)
