"""CEL as Fig. 3 and §7 of the paper define it (Grez, Riveros, Ugarte, Vansummeren 2021).

A valuation μ is a frozenset of pairs (variable, position). `valuations(φ, S, i, j)` is ⟦φ⟧(S, i, j)
word for word, so it is exponential where the definition is. `matches(query, events)` is the whole
query: partitions, window, strategy, selection, consumption, limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, product
from typing import Any

from cereus.clauses.tree import (
    AttributeWindow,
    Consume,
    EventWindow,
    Skip,
    Strategy,
    TimeWindow,
    Window,
    is_kept,
)
from cereus.expr.tree import Aggregate, Attribute, Expression, Literal, rebuild
from cereus.languages.ceql import tree as cel
from cereus.reference.conditions import evaluate as value_of
from cereus.reference.conditions import holds

Event = Mapping[str, Any]
Valuation = frozenset[tuple[str, int]]
UNMARKED = "¬"
"""The event that NOT stands for: it takes its place in the stream, but is in no complex event."""
ANY_TYPE = "*"
NO_TYPE = "EVENT"


@dataclass(frozen=True)
class Match:
    """One row of a query's answer. Positions are row numbers of the input."""

    key: tuple[Any, ...]
    reported_at: int
    start: int
    end: int
    positions: tuple[int, ...]
    bindings: tuple[tuple[str, tuple[int, ...]], ...] = ()
    values: tuple[Any, ...] = ()
    """The values of RETURN."""
    read: tuple[tuple[int, ...], ...] = ()
    """The events of the variables that RETURN reads: matches that differ there are two rows."""
    valuation: Valuation = field(default=frozenset(), compare=False)
    deadline: Any = None
    """When it was clear that nothing forbidden follows."""


@dataclass(eq=False)
class Stream:
    """S: a sequence of events, and which of their columns have the type and the stream (or the only
    stream)."""

    events: Sequence[Event]
    type: str | None = "type"
    stream: str | None = None
    only_stream: str | None = None
    time: Callable[[Event], Any] | None = None
    _memo: dict[tuple[cel.Formula, int, int], frozenset[Valuation]] = field(default_factory=dict)

    def at(self, position: int) -> Any:
        """The time of an event in microseconds."""
        assert self.time is not None, "a length of time needs a time"
        return self.time(self.events[position])

    def labels(self, node: cel.Type, j: int) -> frozenset[str] | None:
        """The variables that mark event j when it matches `R` or `S>R`, else None."""
        event = self.events[j]
        name = NO_TYPE if self.type is None else event[self.type]
        source = self.only_stream if self.stream is None else event[self.stream]
        if node.name not in (ANY_TYPE, name) or node.stream not in (None, source):
            return None
        return frozenset({node.name} if source is None else {node.name, f"{source}>{node.name}"})


def support(valuation: Valuation) -> frozenset[int]:
    """sup(μ): the complex event."""
    return frozenset(position for variable, position in valuation if variable != UNMARKED)


def occupied(valuation: Valuation) -> frozenset[int]:
    """sup(μ) with the places that NOT stands for: the positions that contiguity looks at."""
    return frozenset(position for _, position in valuation)


def valuations(formula: cel.Formula, stream: Stream, i: int, j: int) -> frozenset[Valuation]:
    """⟦φ⟧(S, i, j), Fig. 3."""
    memo_key = (formula, i, j)
    if memo_key not in stream._memo:
        stream._memo[memo_key] = frozenset(_denote(formula, stream, i, j))
    return stream._memo[memo_key]


def _denote(formula: cel.Formula, stream: Stream, i: int, j: int) -> Iterator[Valuation]:
    def of(part: cel.Formula, a: int = i, b: int = j) -> frozenset[Valuation]:
        return valuations(part, stream, a, b)

    def split(left: cel.Formula, right: cel.Formula) -> Iterator[tuple[Valuation, Valuation, int]]:
        for k in range(i, j):
            for first, second in product(of(left, i, k), of(right, k + 1, j)):
                yield first, second, k

    def touching(left: cel.Formula, right: cel.Formula) -> Iterator[Valuation]:
        for first, second, k in split(left, right):
            if _largest(first) == k and _smallest(second) == k + 1:
                yield first | second

    def alone(left: cel.Formula, right: cel.Formula) -> Iterator[Valuation]:
        """The valuations of one of two parts, if the other may be left out."""
        yield from of(right) if is_optional(left) else ()
        yield from of(left) if is_optional(right) else ()

    match formula:
        case cel.Type():
            labels = stream.labels(formula, j)
            if labels is not None:
                yield frozenset((label, j) for label in labels)
        case cel.Not(body):
            if not _is_such_an(body, stream, j):
                yield frozenset({(UNMARKED, j)})
        case cel.As(body, variable):
            for valuation in of(body):
                kept = frozenset(pair for pair in valuation if pair[0] != variable)
                yield kept | {(variable, position) for position in support(valuation)}
        case cel.Filter(body, predicate):
            yield from (v for v in of(body) if satisfies(predicate, v, stream.events))
        case cel.Sequence(left, right):
            yield from (first | second for first, second, _ in split(left, right))
            yield from alone(left, right)
        case cel.ContiguousSequence(left, right):
            yield from touching(left, right)
            yield from alone(left, right)
        case cel.Iteration(body):
            yield from of(body)
            yield from (first | second for first, second, _ in split(body, formula))
        case cel.ContiguousIteration(body):
            yield from of(body)
            yield from touching(body, formula)
        case cel.Gapped(left, right, gap, contiguous):
            for first, second, k in split(left, right):
                seam = not contiguous or (_largest(first) == k and _smallest(second) == k + 1)
                if seam and _is_spaced(first, second, gap, stream):
                    yield first | second
            yield from alone(left, right)
        case cel.Within(body, window):
            yield from (v for v in of(body) if _is_inside(v, window, stream))
        case cel.Optional(body):
            yield from of(body)
        case cel.Repeated(body, least, most, contiguous):
            fewest = 1 if is_optional(body) else max(least, 1)
            for count in range(fewest, min(most or j - i + 1, j - i + 1) + 1):
                yield from of(_in_a_row(body, count, contiguous, formula.gap))
        case cel.Project(names, body):
            yield from (frozenset(p for p in v if is_kept(p[0], names)) for v in of(body))
        case cel.Start(body):
            yield from (v for v in of(body) if _smallest(v) == i)
        case cel.Or(operands):
            yield from frozenset().union(*map(of, operands))
        case cel.And(left, right):
            yield from of(left) & of(right)
        case cel.All(left, right):
            for (i1, j1), (i2, j2) in product(_intervals(i, j), repeat=2):
                if min(i1, i2) == i and max(j1, j2) == j:
                    yield from (a | b for a, b in product(of(left, i1, j1), of(right, i2, j2)))
            yield from alone(left, right)
        case cel.Unless(left, right):
            if not any(of(right, a, b) for a, b in _intervals(i, j)):
                yield from of(left)
        case cel.Without(body, events, through):
            for valuation in of(body):
                between = _between(valuation, through)
                if not any(_occurs(e, valuation, stream, p) for e in events for p in between):
                    yield valuation
        case cel.Select(strategy, body):
            yield from select(strategy, of(body))
        case _:
            raise TypeError(f"not a CEL formula: {formula!r}")


def _between(valuation: Valuation, through: bool) -> range:
    """The positions between the first and the last event of a match; including both, if
    `through`."""
    marked = support(valuation)
    if not marked:
        return range(0)
    return range(min(marked), max(marked) + 1) if through else range(min(marked) + 1, max(marked))


def _occurs(event: cel.Excluded, valuation: Valuation, stream: Stream, position: int) -> bool:
    """Whether the event at a position is one that must not occur in a match. Its names hold it,
    whatever they hold in the match."""
    labels = stream.labels(event.event, position)
    if labels is None:
        return False
    names = labels | frozenset(event.names)
    others = frozenset(p for p in valuation if p[0].rpartition(">")[2] not in names)
    with_it = others | {(name, position) for name in names}
    return event.predicate is None or satisfies(event.predicate, with_it, stream.events)


def is_optional(formula: cel.Formula) -> bool:
    """Whether φ may be left out of the formula around it: its denotation does not include that, as
    every match has an event."""
    match formula:
        case cel.Optional():
            return True
        case cel.Repeated(body, least):
            return least == 0 or is_optional(body)
        case cel.Type() | cel.Not():
            return False
        case cel.Or(operands):
            return any(map(is_optional, operands))
        case cel.Unless(left, _):
            return is_optional(left)
    return all(is_optional(part) for part in formula.children())


def _in_a_row(
    body: cel.Formula, count: int, contiguous: bool, gap: cel.GapLength | None
) -> cel.Formula:
    """φ ; φ ; … (or with `:`), `count` times."""
    if count == 1:
        return body
    more = _in_a_row(body, count - 1, contiguous, gap)
    if gap is not None:
        return cel.Gapped(body, more, gap, contiguous)
    return cel.ContiguousSequence(body, more) if contiguous else cel.Sequence(body, more)


def _is_spaced(first: Valuation, second: Valuation, gap: cel.GapLength, stream: Stream) -> bool:
    """Whether the second begins within the gap after the end of the first; true if one has no
    events."""
    if not support(first) or not support(second):
        return True
    length = stream.at(min(support(second))) - stream.at(max(support(first)))
    return (gap.least is None or length >= gap.least) and (gap.most is None or length <= gap.most)


def _is_inside(valuation: Valuation, window: Window, stream: Stream) -> bool:
    """Whether every event is within the window of the first one."""
    first, *others = sorted(support(valuation)) or [0]
    match window:
        case EventWindow(size):
            return all(p - first + 1 <= size for p in others)
        case TimeWindow(microseconds):
            return all(stream.at(p) - stream.at(first) <= microseconds for p in others)
        case AttributeWindow(size, path):
            values = [value_of(Attribute(path), stream.events[p]) for p in (first, *others)]
            return len(values) == 1 or (
                None not in values and all(v - values[0] <= size for v in values)
            )


def _intervals(i: int, j: int) -> list[tuple[int, int]]:
    return [(a, b) for a in range(i, j + 1) for b in range(a, j + 1)]


def _largest(valuation: Valuation) -> int | None:
    return max(occupied(valuation), default=None)


def _smallest(valuation: Valuation) -> int | None:
    return min(occupied(valuation), default=None)


def _is_such_an(body: cel.Formula, stream: Stream, j: int) -> bool:
    """Whether event j alone matches the body of a NOT."""
    return bool(valuations(body, stream, j, j))


# ---------------------------------------------------------------- filters


def satisfies(predicate: cel.Predicate, valuation: Valuation, events: Sequence[Event]) -> bool:
    """Whether μ satisfies a filter: it is true for every combination of events of its variables."""
    match predicate:
        case cel.AllOf(operands):
            return all(satisfies(each, valuation, events) for each in operands)
        case cel.AnyOf(operands):
            return any(satisfies(each, valuation, events) for each in operands)
        case cel.Holds(condition) if _reads_previous(condition):
            return _succeeds(condition, valuation, events)
        case cel.Holds(condition):
            aggregated = _with_aggregates(condition, valuation, events)
            names = sorted(
                {n.variable for n in aggregated.walk() if isinstance(n, Attribute)} - {None}
            )  # type: ignore[type-var]
            sets = [_events_of(str(name), valuation, events) for name in names]
            return all(
                holds(aggregated, {}, dict(zip(map(str, names), chosen, strict=True)))
                for chosen in product(*sets)
            )
    raise TypeError(f"not a predicate: {predicate!r}")


def _reads_previous(condition: Expression) -> bool:
    return any(isinstance(n, Aggregate) and n.function == "prev" for n in condition.walk())


def _succeeds(condition: Expression, valuation: Valuation, events: Sequence[Event]) -> bool:
    """`b.x > prev(b.x)`: true for every event of b except the first, with the one before it."""
    (name,) = mentioned(condition)
    every = _events_of(name, valuation, events)

    def with_before(node: Expression, before: Event) -> Expression:
        if isinstance(node, Aggregate):
            return Literal(value_of(Attribute(node.attribute or ()), before))
        return rebuild(node, lambda child: with_before(child, before))

    pairs = pairwise(every)
    return all(holds(with_before(condition, one), {}, {name: two}) for one, two in pairs)


def _events_of(variable: str, valuation: Valuation, events: Sequence[Event]) -> list[Event]:
    return [events[p] for p in _positions_of(variable, valuation)]


def _with_aggregates(
    condition: Expression, valuation: Valuation, events: Sequence[Event]
) -> Expression:
    """The condition with every aggregate of a set variable replaced by its value."""
    if isinstance(condition, Aggregate):
        return Literal(aggregate(condition, _events_of(condition.variable, valuation, events)))
    return rebuild(condition, lambda child: _with_aggregates(child, valuation, events))


def aggregate(node: Aggregate, events: Sequence[Event]) -> Any:
    """An aggregate over a set of events, without nulls, as in SQL. NaN is not ordered: it is
    neither the smallest nor the greatest."""
    if node.attribute is None:
        return len(events)
    every = [value_of(Attribute(node.attribute), event) for event in events]
    values: list[Any] = [value for value in every if value is not None]
    numbers = [float(value) for value in values] if node.function in PRECISE else []
    functions: dict[str, Callable[[], Any]] = {
        "stddev": lambda: _deviation(numbers),
        "percentile": lambda: _percentile(numbers, node.parameter),
        "count": lambda: len(values),
        "sum": lambda: fitting(_sum(values)) if values else None,
        "avg": lambda: _mean(values) if values else None,
        "min": lambda: min((value for value in values if value == value), default=None),
        "max": lambda: max((value for value in values if value == value), default=None),
        "first": lambda: every[0] if every else None,
        "last": lambda: every[-1] if every else None,
    }
    return functions[node.function]()


def _sum(values: list[Any]) -> Any:
    """The sum: exact, except for floats, which are added from the first to the last."""
    with localcontext(prec=1000):
        return sum(values)


def _mean(values: list[Any]) -> Any:
    total = _sum(values)
    decimal = isinstance(total, Decimal)
    return float(Fraction(total) / len(values)) if decimal else total / len(values)


PRECISE = ("stddev", "percentile")


def _deviation(values: list[float]) -> float | None:
    """The deviation of a sample: the root of the squared distances from the mean, over one less
    than n."""
    if len(values) < 2:
        return None
    if not all(map(math.isfinite, values)):
        return math.nan
    exact = list(map(Fraction, values))
    mean = sum(exact, Fraction(0)) / len(exact)
    squares = [(each - mean) * (each - mean) for each in exact]
    variance = sum(squares, Fraction(0)) / (len(exact) - 1)
    with localcontext(prec=400):
        return float((Decimal(variance.numerator) / Decimal(variance.denominator)).sqrt())


def _percentile(values: list[float], part: float | None) -> float | None:
    """percentile_cont: row number 1 + p (n - 1), between two rows in proportion."""
    ranked = sorted(value for value in values if not math.isnan(value))
    if not ranked:
        return None
    row = Fraction(str(part)) * (len(ranked) - 1)
    below, above = ranked[int(row)], ranked[-int(-row // 1)]
    if below == above:
        return below
    share = row - int(row)
    if math.isinf(below) or math.isinf(above):
        return float(1 - share) * below + float(share) * above
    return float((1 - share) * Fraction(below) + share * Fraction(above))


def fitting(total: Any) -> Any:
    """The sum, or NULL for integers if it does not fit 64 bits."""
    return None if isinstance(total, int) and abs(total) >= 2**63 else total


def returned_value(value: Expression, valuation: Valuation, events: Sequence[Event]) -> Any:
    """A value of RETURN: aggregates of sets of events, attributes of a variable that holds one
    event; NULL if it holds none."""

    def literal(node: Expression) -> Expression:
        if isinstance(node, Attribute):
            (event,) = _events_of(str(node.variable), valuation, events) or ({},)
            return Literal(value_of(Attribute(node.path), event) if event else None)
        return rebuild(node, literal)

    return value_of(literal(_with_aggregates(value, valuation, events)), {})


def mentioned(value: Expression) -> set[str]:
    return {str(node.variable) for node in value.walk() if isinstance(node, Attribute | Aggregate)}


def _positions_of(variable: str, valuation: Valuation) -> list[int]:
    return sorted(position for name, position in valuation if name == variable)


# ---------------------------------------------------------------- strategies, §7.1


def next_less(first: frozenset[int], second: frozenset[int]) -> bool:
    """first <next second: at the smallest position where they differ, second has it."""
    return first != second and min(first ^ second) in second


def last_less(first: frozenset[int], second: frozenset[int]) -> bool:
    """first <last second: at the largest position where they differ, second has it."""
    return first != second and max(first ^ second) in second


def contained(first: frozenset[int], second: frozenset[int]) -> bool:
    return first < second


LESS = {Strategy.NEXT: next_less, Strategy.MAX: contained}


def is_interval(positions: frozenset[int]) -> bool:
    return not positions or max(positions) - min(positions) + 1 == len(positions)


def select(strategy: Strategy, candidates: frozenset[Valuation]) -> frozenset[Valuation]:
    """SEL(⟦φ⟧(S, i, j)). ANY keeps what LAST keeps, so that it is deterministic."""
    if strategy is Strategy.ALL:
        return candidates
    if strategy is Strategy.STRICT:
        return frozenset(v for v in candidates if is_interval(support(v)))
    less = LESS.get(strategy, last_less)
    supports = {support(v) for v in candidates}
    best = {s for s in supports if not any(less(s, other) for other in supports)}
    return frozenset(v for v in candidates if support(v) in best)


# ---------------------------------------------------------------- queries


@dataclass
class Partition:
    """One substream: its rows, and where evaluation begins (moved on by consumption)."""

    query: cel.CeqlTree
    stream: Stream
    rows: list[int]
    measure: Callable[[int], Any]
    begin: int = 0
    passed: int = -1
    """AFTER MATCH SKIP: matches begin after this position."""

    @cached_property
    def reach(self) -> Callable[[int, int], bool]:
        """Whether a complex event from position a to position b is inside the window."""
        window = self.query.window
        match window:
            case None:
                return lambda a, b: True
            case EventWindow(size):
                return lambda a, b: b - a + 1 <= size
            case TimeWindow(microseconds):
                return lambda a, b: self.measure(b) - self.measure(a) <= microseconds
            case AttributeWindow(size, _):
                return lambda a, b: self.measure(b) - self.measure(a) <= size

    def add(self, event: Event, row: int) -> None:
        self.stream.events.append(event)  # type: ignore[attr-defined]
        self.rows.append(row)

    def reported(self, j: int, key: tuple[Any, ...]) -> list[Match]:
        """The matches that end their evaluation at local position j."""
        if j < self.begin:
            return []
        candidates = valuations(self.query.formula, self.stream, self.begin, j)
        kept = frozenset(v for v in candidates if (s := support(v)) and self.reach(min(s), max(s)))
        chosen = select(self.query.strategy, kept)
        if self.query.skip is not None:
            chosen = self._skipping(chosen)
        rows = [self.row(v, j, key) for v in chosen]
        latest: dict[Any, Match] = {}
        for row in sorted((r for r in rows if r.positions), key=lambda r: (r.start, r.end)):
            latest[row.positions, row.bindings, row.read] = row
        if latest and self.query.skip is Skip.PAST_LAST:
            self.begin = j + 1
        return list(latest.values())

    def _skipping(self, candidates: frozenset[Valuation]) -> frozenset[Valuation]:
        """AFTER MATCH SKIP: of the complete complex events, the one with the earliest start, and
        where two first differ the one that has the event. TO NEXT EVENT also takes the next one
        that starts later; PAST LAST EVENT begins again once a match is reported."""
        taken: frozenset[Valuation] = frozenset()
        while rest := frozenset(v for v in candidates if min(support(v)) > self.passed):
            taken |= (best := select(Strategy.NEXT, rest))
            if self.query.skip is Skip.PAST_LAST:
                break
            self.passed = min(support(next(iter(best))))
        return taken

    def row(self, valuation: Valuation, j: int, key: tuple[Any, ...]) -> Match:
        marked = sorted(support(valuation))
        bindings: tuple[tuple[str, tuple[int, ...]], ...] = ()
        positions = marked
        names_read = {name for each in self.query.returned for name in mentioned(each.value)}
        if self.query.unfollowed is not None:
            names_read |= set(self.query.unfollowed.read)
        read = {name: _positions_of(name, valuation) for name in names_read}
        if self.query.select is not None:
            names = [output.variable for output in self.query.select]
            events = {name: _positions_of(name, valuation) for name in names}
            bindings = tuple((n, tuple(self.rows[p] for p in events[n])) for n in names)
            positions = sorted({p for each in (events | read).values() for p in each})
        return Match(
            key,
            self.rows[j],
            self.rows[marked[0]],
            self.rows[marked[-1]],
            tuple(self.rows[p] for p in positions),
            bindings,
            tuple(
                returned_value(each.value, valuation, self.stream.events)
                for each in self.query.returned
            ),
            tuple(tuple(read[name]) for name in sorted(read)),
            valuation=valuation,
        )


def matches(
    query: cel.CeqlTree,
    events: Sequence[Event],
    *,
    type: str | None = "type",
    time: Callable[[Event], Any] | None = None,
    stream: str | None = None,
    keys: Sequence[str] = (),
) -> list[Match]:
    """Every match of a query, in the order of the events that they are reported at.

    `time` gives the microseconds of an event, for windows in time. LIMIT keeps the first ones
    found; which ones those are is not part of the meaning.
    """
    paths = query.partition_by or tuple((key,) for key in keys)
    partitions: dict[tuple[Any, ...], Partition] = {}
    answer: list[Match] = []
    for row, event in enumerate(events):
        if stream is not None and query.streams and event[stream] not in query.streams:
            continue
        key = tuple(value_of(Attribute(path), event) for path in paths)
        if key not in partitions:
            partitions[key] = _partition(query, type, stream, time)
        partition = partitions[key]
        partition.add(event, row)
        reported = partition.reported(len(partition.rows) - 1, key)
        reported = reported if query.limit is None else reported[: query.limit]
        answer.extend(reported)
        if reported and query.consume is not Consume.NONE:
            every = query.consume is Consume.ANY
            for each in partitions.values() if every else [partition]:
                each.begin = len(each.rows)
    if query.unfollowed is None:
        return answer
    assert time is not None
    waited = (_unfollowed(match, partitions[match.key], time) for match in answer)
    return [match for match in waited if match is not None]


def partitions_of(
    query: cel.CeqlTree,
    events: Sequence[Event],
    *,
    type: str | None = "type",
    time: Callable[[Event], Any] | None = None,
    stream: str | None = None,
    keys: Sequence[str] = (),
) -> dict[tuple[Any, ...], Partition]:
    """The events of each key."""
    paths = query.partition_by or tuple((key,) for key in keys)
    partitions: dict[tuple[Any, ...], Partition] = {}
    for row, event in enumerate(events):
        if stream is not None and query.streams and event[stream] not in query.streams:
            continue
        key = tuple(value_of(Attribute(path), event) for path in paths)
        if key not in partitions:
            partitions[key] = _partition(query, type, stream, time)
        partitions[key].add(event, row)
    return partitions


def _unfollowed(match: Match, partition: Partition, time: Callable[[Event], Any]) -> Match | None:
    """NOT FOLLOWED BY: the match with its deadline, if no forbidden event of its key comes after
    its last one, up to the deadline."""
    unfollowed, stream = partition.query.unfollowed, partition.stream
    assert unfollowed is not None
    last = partition.rows.index(match.end)
    deadline = time(stream.events[last]) + unfollowed.window.microseconds
    for place in range(last + 1, len(partition.rows)):
        if time(stream.events[place]) > deadline:
            break
        for event in unfollowed.events:
            if isinstance(event, cel.Excluded) and _occurs(event, match.valuation, stream, place):
                return None
    return replace(match, deadline=deadline)


def _partition(
    query: cel.CeqlTree,
    type: str | None,
    stream: str | None,
    time: Callable[[Event], Any] | None,
) -> Partition:
    events: list[Event] = []

    def measure(position: int) -> Any:
        if isinstance(query.window, AttributeWindow):
            return value_of(Attribute(query.window.attribute), events[position])
        assert time is not None, "a window in time needs a time"
        return time(events[position])

    only = query.streams[0] if len(query.streams) == 1 else None
    return Partition(query, Stream(events, type, stream, only, time), [], measure)
