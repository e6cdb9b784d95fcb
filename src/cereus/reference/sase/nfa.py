"""SASE+ as A.2, §3.2 and Table 1 of the paper define it: the NFA^b of a query and all its runs.

A run is (the event it is about to look at, a state, a match buffer); begin, take, ignore and
proceed moves are tried on every run at every event, and where several apply the run branches. Two
runs with the same state and buffer are one: they have the same future. A match is the buffer of an
accepting run, and is reported once, however many runs reach it.

At the end of the input no event can be taken or ignored, so a Kleene plus stops there (auto-stop).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from cereus.clauses.tree import AttributeWindow, EventWindow, TimeWindow
from cereus.languages.sase import tree as sase
from cereus.languages.sase.places import ClausePlace, placed
from cereus.reference.conditions import Event, normal, read
from cereus.reference.sase.terms import Aggregates, holds

Positions = tuple[int, ...]
Buffer = tuple[Positions, ...]
"""The positions selected for each component so far, in SEQ order; none yet: an empty tuple."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NO_TYPE = "EVENT"


@dataclass(frozen=True)
class State:
    """A select-first state, `s` or `p[1]`, or with `more` the select-more state `p[i]` (§3.1)."""

    component: int
    more: bool = False


@dataclass(frozen=True)
class Run:
    state: int
    buffer: Buffer


@dataclass(frozen=True)
class Input:
    """A stream, and its columns of type and time. `rows` has for every event the row of the last
    event of the program's input behind it; None: this is that input."""

    events: Sequence[Event]
    type: str | None = "type"
    time: str | None = "time"
    rows: Sequence[int] | None = None

    def row(self, position: int) -> int:
        return position if self.rows is None else self.rows[position]

    def type_of(self, position: int) -> Any:
        return NO_TYPE if self.type is None else self.events[position][self.type]

    def time_of(self, position: int) -> int:
        """Microseconds; a number in the time column is read as such."""
        assert self.time is not None, "a window in time needs a time"
        time = normal(self.events[position][self.time])
        return (time - EPOCH) // timedelta(microseconds=1) if isinstance(time, datetime) else time


class Automaton:
    """The NFA^b of a query, on one stream."""

    def __init__(self, query: sase.Query, stream: Input, aggregates: Aggregates) -> None:
        self.query, self.stream, self.aggregates = query, stream, aggregates
        self.components = query.components
        self.clauses = placed(query)
        self.states: list[State] = []
        for index, component in enumerate(self.components):
            self.states.append(State(index))
            if isinstance(component, sase.Kleene):
                self.states.append(State(index, more=True))

    # ------------------------------------------------------------ runs, A.2

    def accepted(self) -> dict[Buffer, int | None]:
        """The buffers of all accepting runs, with the event on which the first of them accepts."""
        buffers: dict[Buffer, int | None] = {}
        runs: set[Run] = set()
        for j in range(len(self.stream.events) + 1):
            ended = j == len(self.stream.events)
            if not ended:
                runs.add(Run(0, ((),) * len(self.components)))
            pending, runs = list(runs), set()
            while pending:
                run = pending.pop()
                for target, consumes, peeks in self.moves(run, j):
                    if target.state == len(self.states):
                        at = None if ended and peeks else j if consumes or peeks else j - 1
                        buffers.setdefault(target.buffer, at)
                    elif consumes:
                        runs.add(target)
                    else:
                        pending.append(target)
        return buffers

    def moves(self, run: Run, j: int) -> Iterator[tuple[Run, bool, bool]]:
        """The runs that `run` becomes at event j; whether the event is consumed; and whether it was
        read."""
        state = self.states[run.state]
        selected = Run(run.state if state.more else run.state + 1, self.with_event(run, j))
        following = Run(run.state + 1, run.buffer)
        if not state.more:
            if self.begin(run, j):
                yield selected, True, True
            if run.state > 0 and self.ignore(run, j):
                yield run, True, True
            return
        take, ignore = self.take(run, j), self.ignore(run, j)
        if take:
            yield selected, True, True
        if ignore:
            yield run, True, True
        if self.has_last(state):
            if self.last(run):
                yield following, False, False
        elif self.begins_next(run, j) or not (take or ignore):
            yield following, False, True

    # ------------------------------------------------------------ edges, §3.2

    def begin(self, run: Run, j: int) -> bool:
        return self.is_event(j) and self.in_window(run.buffer, j) and self.select(run, j)

    def take(self, run: Run, j: int) -> bool:
        return self.is_event(j) and not self.forced_stop(run, j) and self.select(run, j)

    def ignore(self, run: Run, j: int) -> bool:
        if not self.is_event(j):
            return False
        if self.states[run.state].more:
            return not self.forced_stop(run, j) and self.skip(run, j)
        return self.in_window(run.buffer, j) and self.skip(run, j)

    def forced_stop(self, run: Run, j: int) -> bool:
        """Whether the window has passed, or `!` applies with its criterion."""
        if not self.in_window(run.buffer, j):
            return True
        state = self.states[run.state]
        if not self.query.stops(self.variable(state)):
            return False
        return self.last(run) if self.has_last(state) else self.begins_next(run, j)

    def select(self, run: Run, j: int) -> bool:
        """θ_select: the type, the equivalence tests, and the clauses of this state."""
        state, buffer = self.states[run.state], self.with_event(run, j)
        component = self.components[state.component]
        return (
            self.stream.type_of(j) in component.types
            and self.agrees(run.buffer, j)
            and self.all_hold(component.variable, places_of(state.more), self.events_of(buffer))
        )

    def skip(self, run: Run, j: int) -> bool:
        """θ_skip, Table 1. After a negated component contiguity applies to that component, so the
        next component is the next match."""
        state = self.states[run.state]
        match self.strategy(state):
            case sase.Strategy.STRICT:
                return False
            case sase.Strategy.PARTITION:
                return not self.same_partition(run, j)
            case sase.Strategy.NEXT:
                return not self.select(run, j)
            case sase.Strategy.ANY:
                return True

    def strategy(self, state: State) -> sase.Strategy:
        variable = self.variable(state)
        strategy, parts = self.query.strategy(variable), self.query.parts
        place = [part.variable for part in parts].index(variable)
        behind = not state.more and place > 0 and isinstance(parts[place - 1], sase.Negated)
        return sase.Strategy.NEXT if behind and strategy is not sase.Strategy.ANY else strategy

    def same_partition(self, run: Run, j: int) -> bool:
        state, buffer = self.states[run.state], self.events_of(self.with_event(run, j))
        places = places_of(state.more)
        return self.agrees(run.buffer, j) and self.all_hold(
            self.variable(state), places, buffer, partition=True
        )

    def begins_next(self, run: Run, j: int) -> bool:
        """Whether event j can match the next component."""
        following = Run(run.state + 1, run.buffer)
        return following.state < len(self.states) and self.begin(following, j)

    def has_last(self, state: State) -> bool:
        variable = self.variable(state)
        return any(c.variable == variable and c.place is ClausePlace.LAST for c in self.clauses)

    def last(self, run: Run) -> bool:
        """Whether the condition on the last event selected, and on the array as a whole, holds."""
        variable = self.variable(self.states[run.state])
        return self.all_hold(variable, (ClausePlace.LAST,), self.events_of(run.buffer))

    # ------------------------------------------------------------ what edges ask

    def variable(self, state: State) -> str:
        return self.components[state.component].variable

    def is_event(self, j: int) -> bool:
        return j < len(self.stream.events)

    def with_event(self, run: Run, j: int) -> Buffer:
        component = self.states[run.state].component
        return tuple((*p, j) if i == component else p for i, p in enumerate(run.buffer))

    def events_of(self, buffer: Buffer) -> dict[str, list[Event]]:
        named = zip(self.components, buffer, strict=True)
        return {c.variable: [self.stream.events[p] for p in positions] for c, positions in named}

    def all_hold(
        self,
        variable: str,
        places: tuple[ClausePlace, ...],
        buffer: Mapping[str, Sequence[Event]],
        *,
        partition: bool = False,
    ) -> bool:
        """Whether the clauses of a variable at these places hold; `partition`: those that define
        partitions."""
        return all(
            holds(each.clause.condition, buffer, self.aggregates)
            for each in self.clauses
            if each.variable == variable and each.place in places
            if each.clause.partition or not partition
        )

    def agrees(self, buffer: Buffer, j: int) -> bool:
        """Whether the equivalence tests hold; all events selected agree, so the first one stands
        for them."""
        first = start_of(buffer)
        events = self.stream.events
        return first is None or all(
            same(read(events[j], path), read(events[first], path))
            for path in self.query.equivalences
        )

    def in_window(self, buffer: Buffer, j: int) -> bool:
        first = start_of(buffer)
        return first is None or self.within(first, j)

    def within(self, a: int, b: int) -> bool:
        match self.query.window:
            case None:
                return True
            case EventWindow(size):
                return b - a + 1 <= size
            case TimeWindow(size):
                return self.stream.time_of(b) - self.stream.time_of(a) <= size
            case AttributeWindow(size, path):
                first, last = (read(self.stream.events[p], path) for p in (a, b))
                return bool(last - first <= size)


def places_of(more: bool) -> tuple[ClausePlace, ...]:
    return (ClausePlace.EACH, ClausePlace.LATER) if more else (ClausePlace.FIRST, ClausePlace.EACH)


def same(left: Any, right: Any) -> bool:
    """Whether two values agree: NULL agrees with NULL, and NaN with NaN, as in GROUP BY."""
    return bool(left == right or (left != left and right != right))


def start_of(buffer: Buffer) -> int | None:
    return next((positions[0] for positions in buffer if positions), None)
