"""Measures by how much events miss a rule."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import product
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.clauses.tree import AttributeWindow, EventWindow, TimeWindow, Window
from cereus.engine.ingest.clock import in_units_of
from cereus.errors import CereusError, distance
from cereus.expr import tree as ex
from cereus.expr.arrow.evaluate import evaluate, mask
from cereus.expr.paths import column_at
from cereus.expr.print import condition_text
from cereus.language.anatomy import QueryRule
from cereus.plan.tests import EventTest
from cereus.syntax.literals import duration_text, time_text
from cereus.why.running.events import EventTable, Rows
from cereus.why.running.runs import FoundMatch
from cereus.why.running.taken import TAKEN_HERE
from cereus.why.running.tested import Mask

Floats = npt.NDArray[np.float64]
MOST_DIGITS = 3
ROUGHLY = (
    (86_400_000_000, "days"),
    (3_600_000_000, "hours"),
    (60_000_000, "minutes"),
    (1_000_000, "seconds"),
    (1_000, "milliseconds"),
    (1, "microseconds"),
)
"""Units for lengths of time, by their microseconds."""
MOST_TEXTS = 200
"""The most pairs of texts whose letters are compared."""
MOST_COMBINATIONS = 20_000
"""The most combinations of events that a condition is evaluated on."""


@dataclass(frozen=True)
class Measured:
    """`text` says by how much a rule is missed; `amount` is that relative to what the rule demands,
    if it is a number."""

    text: str
    amount: float | None = None


class Measure(ABC):
    """By how much each of some misses fails a rule."""

    @abstractmethod
    def distances(self) -> Floats:
        """How far each miss is from what the rule demands, relative to that; infinite if it has no
        measure."""

    def only(self, numbers: Rows) -> Measure:
        """The measure of some of the misses."""
        return _Some(self, numbers)

    @abstractmethod
    def at(self, number: int) -> Measured | None:
        """By how much one miss fails; None if that has no measure."""


@dataclass(frozen=True)
class _Some(Measure):
    """Some of the misses that were measured."""

    every: Measure
    numbers: Rows

    def distances(self) -> Floats:
        return self.every.distances()[self.numbers]

    def at(self, number: int) -> Measured | None:
        return self.every.at(int(self.numbers[number]))


def measure(rule: QueryRule, misses: Sequence[FoundMatch], events: EventTable) -> Measure | None:
    """How some misses fail a rule; None where that has no measure."""
    try:
        if rule.window is not None and misses:
            return _window_measure(rule.window, misses, events)
        if rule.condition is not None and misses:
            return _Condition(rule, misses, events)
    except (CereusError, pa.ArrowException, TypeError, OverflowError):
        return None  # a condition that cannot be computed apart from its query
    return None


def failing(rule: QueryRule, misses: Sequence[FoundMatch], events: EventTable) -> frozenset[int]:
    """The numbers of the misses that fail a condition, as far as it can be computed."""
    measured = measure(rule, misses, events)
    return frozenset(measured.worst if isinstance(measured, _Condition) else ())


# ---------------------------------------------------------------- windows


@dataclass(frozen=True)
class _TooLong(Measure):
    """Misses that are too long for a window, by how much, and how long it is. One that is short
    enough has no measure: without the window, other events are consumed or skipped."""

    overs: Floats
    size: float
    unit: Callable[[float], str]

    def distances(self) -> Floats:
        return np.where(self.overs > 0, self.overs / self.size, np.inf)

    def at(self, number: int) -> Measured | None:
        over = float(self.overs[number])
        return Measured(f"{self.unit(over)} too long", over / self.size) if over > 0 else None


def _window_measure(
    window: Window, misses: Sequence[FoundMatch], events: EventTable
) -> Measure | None:
    stream = events.stream
    first, last = events.spans([miss.rows for miss in misses])
    match window:
        case TimeWindow(length) if stream.time is not None:
            kind = events.given.schema.field(stream.time).type
            allowed = in_units_of(kind, length, stream)
            microseconds = length / float(allowed) if allowed else 1.0
            overs = (_spans(events, (stream.time,), first, last) - allowed) * microseconds
            return _TooLong(overs, max(length, 1), _duration_text)
        case EventWindow(size) if not stream.keys:
            counts = (last - first + 1 - size).astype(np.float64)
            return _TooLong(counts, size, _events_text)
        case AttributeWindow(size, path):
            overs = _spans(events, path, first, last) - size
            return _TooLong(overs, max(size, 1), lambda over: f"{over:g}")
    return None


def _duration_text(microseconds: float) -> str:
    """A length of time in words, roughly; a long one in a large unit."""
    if not isfinite(microseconds):
        return "an infinite time"
    length = round(microseconds)
    exact = duration_text(length)
    if len(exact.split()[0]) <= MOST_DIGITS:
        return exact
    size, name = next((size, name) for size, name in ROUGHLY if abs(length) >= size)
    return f"{length / size:.1f} {name}"


def _events_text(count: float) -> str:
    return f"{count:.0f} event{'' if count == 1 else 's'}"


def _spans(events: EventTable, path: tuple[str, ...], first: Rows, last: Rows) -> Floats:
    """How far pairs of events lie apart, in the unit of a column."""
    pairs = zip(_numbers(events, path, first), _numbers(events, path, last), strict=True)
    # Python's numbers: floats near int64's ends are far apart
    return np.array([np.nan if None in pair else pair[1] - pair[0] for pair in pairs], np.float64)


def _numbers(events: EventTable, path: tuple[str, ...], places: Rows) -> list[Any]:
    column = column_at(events.at(places, [path[0]]), path)
    values = pa.chunked_array(column) if isinstance(column, list) else column
    if pa.types.is_temporal(values.type):
        values = values.cast(pa.int32() if values.type.bit_width == 32 else pa.int64())
    numbers: list[Any] = values.to_pylist()
    return numbers


# ---------------------------------------------------------------- conditions


class _Condition(Measure):
    """A condition, and all combinations of events of the misses that it reads. For each miss, the
    combination that fails most counts."""

    def __init__(self, rule: QueryRule, misses: Sequence[FoundMatch], events: EventTable) -> None:
        assert rule.condition is not None
        self.rule, self.condition, self.count = rule, rule.condition, len(misses)
        self.names = sorted(ex.variables(self.condition))
        if not self.names:
            misses = _of_type(misses, rule, events)
        combinations = list(self._combinations(misses))
        of = np.array([miss for miss, _ in combinations], np.int64)
        width = max(len(self.names), 1)
        rows = np.array([c for _, c in combinations], np.int64).reshape(-1, width)
        places = [events.places(column) for column in rows.T]
        read = {n.path[0] for n in self.condition.walk() if isinstance(n, ex.Attribute)}
        tables = [events.at(column, sorted(read)) for column in places]
        self.table = tables[0]
        self.bindings = dict(zip(self.names, tables, strict=False)) or None
        self._worst(of)

    def _worst(self, of: Rows) -> None:
        """Find the combination of each miss that fails most, and its distance."""
        failed = np.flatnonzero(~mask(self.condition, self.table, self.bindings))
        self.values = [self._values(side) for side in self._sides()]
        apart = (
            _all_apart(self.condition.op, self.values)
            if isinstance(self.condition, ex.Comparison)
            else None
        )
        far = np.zeros(len(of)) if apart is None else apart
        order = failed[np.lexsort((-far[failed], of[failed]))]
        numbers, at = np.unique(of[order], return_index=True)
        self.worst = dict(zip(numbers.tolist(), order[at].tolist(), strict=True))
        self.far = np.full(self.count, np.inf)
        if apart is not None:
            self.far[numbers] = np.nan_to_num(apart[order[at]], nan=np.inf, posinf=np.inf)

    def _combinations(self, misses: Sequence[FoundMatch]) -> Iterator[tuple[int, tuple[int, ...]]]:
        count = 0
        for number, miss in enumerate(misses):
            members = [miss.variables.get(name, []) for name in self.names or (TAKEN_HERE,)]
            for rows in product(*members):
                count += 1
                if count > MOST_COMBINATIONS:
                    return
                yield number, rows

    def distances(self) -> Floats:
        return self.far

    def at(self, number: int) -> Measured | None:
        place = self.worst.get(number)
        return None if place is None else self._text([side[place] for side in self.values])

    def _sides(self) -> list[ex.Expression]:
        """The sides of a comparison; for other conditions, the attributes they read."""
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
        return Measured(f"{text}, off by {value_text(off)}" if amount else text, amount)


def _of_type(misses: Sequence[FoundMatch], rule: QueryRule, events: EventTable) -> list[FoundMatch]:
    """The rows that a condition on one event may be about, as those of TAKEN_HERE: the known ones,
    else all of its type."""
    if all(TAKEN_HERE in miss.variables for miss in misses):
        return list(misses)
    any_type = rule.type is None or events.stream.type is None or rule.type == "*"
    typed = None if any_type else events.passing(EventTest(rule.type))
    return [
        miss
        if TAKEN_HERE in miss.variables
        else FoundMatch(miss.rows, {TAKEN_HERE: _fitting(miss, typed, events)})
        for miss in misses
    ]


def _fitting(miss: FoundMatch, typed: Mask | None, events: EventTable) -> list[int]:
    """The rows of a miss whose events have a type."""
    if typed is None:
        return list(miss.rows)
    fits = typed[events.places(np.array(miss.rows))].tolist()
    return [row for row, such in zip(miss.rows, fits, strict=True) if such]


def _all_apart(op: str, sides: Sequence[list[Any]]) -> Floats:
    """How far apart each pair of values is, relative to them."""
    pairs = list(zip(*sides, strict=True))
    texts = {pair for pair in pairs if op == "=" and all(isinstance(each, str) for each in pair)}
    if texts:
        known = {pair: _texts_apart(*pair) for pair in texts} if len(texts) <= MOST_TEXTS else {}
        return np.array([np.inf if None in pair else known.get(pair, np.inf) for pair in pairs])
    every = (_apart(left, right) for left, right in pairs)
    return np.array([np.inf if each is None else each[1] for each in every], np.float64)


def _apart(left: Any, right: Any) -> tuple[Any, float] | None:
    """How far apart two values are, and how far relative to them; None if they have no
    distance."""
    try:
        difference = abs(left - right)
    except TypeError:
        return None
    if isinstance(difference, timedelta):
        return difference, difference.total_seconds()
    size = max(abs(float(left)), abs(float(right)), 1e-300)
    return difference, float(difference) / size


def _texts_apart(left: str, right: str) -> float:
    """The share of letters in which two texts differ; upper and lower case count little."""
    size = max(len(left), len(right), 1)
    return (distance(left.lower(), right.lower()) + (left != right) / 2) / size


def value_text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, str):
        return repr(value)
    if isinstance(value, datetime):
        return time_text(value)
    if isinstance(value, timedelta):
        return _duration_text(value // timedelta(microseconds=1))
    return "NULL" if value is None else str(value)
