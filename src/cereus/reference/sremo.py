"""SREMO by Definitions 13, 17, 18, 32, 33, 39, 44 and 45 of the paper.

A valuation v is a frozenset of pairs (register, position); positions count from 0. `denotation(e,
S, i, j, v)` is the set of all (M, v′) with (e, S[i..j), M, v) ⊢ v′, word for word, so it is as
exponential as the definition. `matches(query, events)` is the whole query on a stream (§4.3).

Where the definitions leave something open: the last event of a match is marked (Def. 24); `!e`
marks and writes nothing; where nothing is marked, no window is exceeded; each side of `&` starts
from v, and v′ takes from each what it has written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from cereus.clauses.tree import AttributeWindow, EventWindow, TimeWindow, Window
from cereus.languages.sremo import tree as sremo
from cereus.reference.conditions import holds, read

Event = Mapping[str, Any]
Match = frozenset[int]
Valuation = frozenset[tuple[str, int]]
Outcome = tuple[Match, Valuation]
Distance = Callable[[Event, Event], Any]

EMPTY: Valuation = frozenset()
NO_TYPE = "EVENT"


@dataclass(eq=False)
class String:
    """S, and the columns of types and times. `span` gives the microseconds between two events."""

    events: Sequence[Event]
    type: str | None = "type"
    span: Distance | None = None
    _memo: dict[Any, frozenset[Outcome]] = field(default_factory=dict)


def denotation(e: sremo.Sremo, string: String, i: int, j: int, v: Valuation) -> frozenset[Outcome]:
    key = (e, i, j, v)
    if key not in string._memo:
        string._memo[key] = frozenset(_denote(e, string, i, j, v))
    return string._memo[key]


def _denote(e: sremo.Sremo, string: String, i: int, j: int, v: Valuation) -> Iterator[Outcome]:
    def of(part: sremo.Sremo, a: int, b: int, start: Valuation) -> frozenset[Outcome]:
        return denotation(part, string, a, b, start)

    def split(left: sremo.Sremo, right: sremo.Sremo, least: int) -> Iterator[Outcome]:
        for k in range(i + least, j + 1):
            for first, between in of(left, i, k, v):
                for second, after in of(right, k, j, between):
                    yield first | second, after

    match e:
        case sremo.Epsilon():
            if i == j:
                yield frozenset(), v
        case sremo.Nothing():
            pass
        case sremo.Terminal(register=register):
            if j == i + 1 and satisfied(e, string, i, v):
                kept = frozenset(p for p in v if p[0] != register)
                after = v if register is None else kept | {(register, i)}
                yield frozenset({i} if e.marks else ()), after
        case sremo.Concatenation(left, right):
            yield from split(left, right, 0)
        case sremo.Disjunction(left, right):
            yield from of(left, i, j, v) | of(right, i, j, v)
        case sremo.Star(body):
            if i == j:
                yield frozenset(), v
            yield from split(body, e, 1)  # an iteration that reads nothing changes nothing
        case sremo.Plus(body):
            yield from of(sremo.Concatenation(body, sremo.Star(body)), i, j, v)
        case sremo.Optional(body):
            yield from of(sremo.Disjunction(body, sremo.Epsilon()), i, j, v)
        case sremo.Intersection(left, right):
            writes = sremo.written(left)
            for (m, v1), (other, v2) in product(of(left, i, j, v), of(right, i, j, v)):
                if m == other:
                    from_left = frozenset(pair for pair in v1 if pair[0] in writes)
                    yield m, from_left | frozenset(pair for pair in v2 if pair[0] not in writes)
        case sremo.Complement(body):
            if not of(body, i, j, v):
                yield frozenset(), v
        case sremo.Windowed(body, window):
            for m, after in of(body, i, j, v):
                if not m or inside(window, string, min(m), max(m)):
                    yield m, after
        case sremo.Any() | sremo.Next():
            yield from of(sremo.rewritten(e), i, j, v)
        case _:
            raise TypeError(f"not a SREMO: {e!r}")


def satisfied(e: sremo.Terminal, string: String, i: int, v: Valuation) -> bool:
    """(u, v) ⊨ φ, Def. 13: an atomic condition on an empty register is false."""
    event = string.events[i]
    event_type = NO_TYPE if string.type is None else event[string.type]
    if e.type is not None and e.type != event_type:
        return False
    registers = dict(v)
    condition = sremo.with_empty(e.condition, e.reads - set(registers))
    return holds(condition, event, {r: string.events[p] for r, p in registers.items()})


def inside(window: Window, string: String, first: int, last: int) -> bool:
    """Whether a window holds (Def. 39), also for times."""
    begin, end = string.events[first], string.events[last]
    match window:
        case EventWindow(size):
            return last - first + 1 <= size
        case TimeWindow(microseconds):
            assert string.span is not None, "a window in time needs times"
            return bool(string.span(begin, end) <= microseconds)
        case AttributeWindow(size, path):
            start, stop = read(begin, path), read(end, path)
            return start is not None and stop is not None and bool(stop - start <= size)


def streaming_matches(e: sremo.Sremo, string: String, k: int) -> frozenset[Match]:
    """Match_stream(e, S) at position k: matches on any S[m..k], the last event marked."""
    return frozenset(
        m for begin in range(k + 1) for m, _ in denotation(e, string, begin, k + 1, EMPTY) if k in m
    )


def matches(
    query: sremo.SremoTree,
    events: Sequence[Event],
    *,
    type: str | None = "type",
    span: Distance | None = None,
    keys: tuple[tuple[str, ...], ...] = (),
) -> list[tuple[int, ...]]:
    """The row numbers of every match of a query; with DETECT, of the events that end one."""
    pattern = query.formula
    assert isinstance(pattern, sremo.Pattern)
    e = pattern.expression
    if query.window is not None:
        e = sremo.Windowed(e, query.window)
    parts: dict[Any, list[int]] = {}
    for row, event in enumerate(events):
        key = tuple(repr(read(event, path)) for path in (*keys, *query.partition_by))
        parts.setdefault(key, []).append(row)
    rows_of_matches: list[tuple[int, ...]] = []
    for rows in parts.values():
        string = String([events[row] for row in rows], type, span)
        for k in range(len(rows)):
            here = streaming_matches(e, string, k)
            if pattern.detect:
                here = frozenset({frozenset({k})} if here else ())
            rows_of_matches.extend(tuple(rows[p] for p in sorted(m)) for m in here)
    return sorted(rows_of_matches)
