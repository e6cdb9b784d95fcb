"""Compares events with one earlier event: for windows of a part of a pattern, gaps between events,
and events of a repetition with the one before.

All remember values of one event, and compare later events with it. `…InSlots` keep them in slots of
the kernel, `…ByValues` in their states.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cereus.automata.construct import Staged, Wrapped
from cereus.automata.memory.filters import Value
from cereus.automata.memory.terms import Term, holds, slot
from cereus.automata.memory.values import flattened, row_of
from cereus.automata.model import Automaton, Letter, Move, Slot, Slots, State, Update, marks
from cereus.expr.python.evaluate import holds as is_true
from cereus.expr.tree import Expression

BEFORE, NOW = "before", "now"
"""The names, in conditions, of the remembered event and the event at hand."""
LEFT, NEXT = "‹", "›"
"""Hidden variables: the events whose distance to the next one counts, and the next ones."""
NOTHING_YET, REMEMBERED, OVER = 0, 1, 2


@dataclass(frozen=True)
class FirstMarked(Staged):
    """Gives the first marked event one more variable. A state is (whether it has come, a state)."""

    variable: str

    def initial(self) -> Iterable[State]:
        return [(False, q) for q in self.body.initial()]

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        begun, inner = state
        for move in self.body.moves(inner, letter):
            marked = marks(move.label)
            if marked and not begun:
                move = move._replace(label=move.label | {self.variable})
            yield move._replace(target=(begun or marked, move.target))


# ---------------------------------------------------------------- what is remembered


@dataclass(frozen=True)
class DistanceFilter(Automaton):
    """The common part. A state is (a state of the body, a stage, the remembered value if states
    keep it)."""

    body: Automaton

    def initial(self) -> Iterable[State]:
        return [(q, NOTHING_YET, None) for q in self.body.initial()]

    def accepts(self, state: Any) -> bool:
        return self.body.accepts(state[0])

    def goes_on(self, state: Any) -> bool:
        return self.body.goes_on(state[0])

    @abstractmethod
    def remember(self, move: Move, letter: Letter) -> tuple[Move, Any]:
        """The move, with an update that remembers the event."""

    @abstractmethod
    def compare(self, move: Move, memory: Any, letter: Letter) -> Move | None:
        """The move with the check that the event is near enough; None if it is known not to be."""


@dataclass(frozen=True)
class InSlots(DistanceFilter):
    """The values of the remembered event are in slots, and the kernel compares them."""

    number: int
    condition: Term
    values: tuple[Value, ...]
    text: str

    @property
    def sides(self) -> tuple[Value, ...]:
        return self.values

    def slot(self, place: int) -> Slot:
        return Slot(True, self.number, place)

    def slots(self, state: Any) -> Slots:
        below = self.body.slots(state[0])
        needed = state[1] == REMEMBERED and self.body.goes_on(state[0])
        return below | self.remembered if needed else below

    @cached_property
    def remembered(self) -> Slots:
        return frozenset(map(self.slot, range(len(self.values))))

    def remember(self, move: Move, letter: Letter) -> tuple[Move, Any]:
        updates = (
            Update(self.slot(place), "set", value.column) for place, value in enumerate(self.values)
        )
        return move._replace(updates=(*move.updates, *updates)), None

    def compare(self, move: Move, memory: Any, letter: Letter) -> Move | None:
        kept = [slot(self.slot(place)) for place in range(len(self.values))]
        check = holds(self.condition.filled(kept))
        return move._replace(checks=(*move.checks, check))


@dataclass(frozen=True)
class ByValues(DistanceFilter):
    """The values of the remembered event are in the state, and compared when a move is made."""

    condition: Expression
    paths: tuple[tuple[str, ...], ...]

    def remember(self, move: Move, letter: Letter) -> tuple[Move, Any]:
        return move, row_of(letter, self.paths)

    def compare(self, move: Move, memory: Any, letter: Letter) -> Move | None:
        names = [".".join(path) for path in self.paths]
        before = dict(zip(names, memory, strict=True))
        now = dict(zip(names, row_of(letter, self.paths), strict=True))
        bindings = {BEFORE: before, NOW: now}
        return move if is_true(flattened(self.condition), {}, bindings) else None


# ---------------------------------------------------------------- what is compared


class InnerWindow(DistanceFilter):
    """`(φ) WITHIN 5 minutes`: compares every event with the first one."""

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        inner, stage, memory = state
        for move in self.body.moves(inner, letter):
            target, after = move.target, (stage, memory)
            made: Move | None = move
            if marks(move.label) and stage == NOTHING_YET:
                made, kept = self.remember(move, letter)
                after = (REMEMBERED, kept)
            elif marks(move.label):
                made = self.compare(move, memory, letter)
            if made is not None:
                yield made._replace(target=(target, *after))


class Gap(DistanceFilter):
    """`φ ;[5 minutes] ψ`, `φ+[5 minutes]`: compares an event marked NEXT with the last one marked
    LEFT."""

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        inner, stage, memory = state
        for move in self.body.moves(inner, letter):
            made: Move | None = move._replace(label=move.label - {LEFT, NEXT})
            after, kept = stage, memory
            if NEXT in move.label and stage == REMEMBERED:
                made = self.compare(move._replace(label=move.label - {LEFT, NEXT}), memory, letter)
            if made is None:
                continue
            if LEFT in move.label:
                made, kept = self.remember(made, letter)
                after = REMEMBERED
            elif NEXT in move.label:
                after, kept = OVER, None
            yield made._replace(target=(move.target, after, kept))


@dataclass(frozen=True)
class Successive(DistanceFilter):
    """`φ FILTER b.x > prev(b.x)`: compares each event of a variable with the one before it. The
    first event has none before it and always passes."""

    variable: str

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        inner, stage, memory = state
        for move in self.body.moves(inner, letter):
            if self.variable not in move.label:
                yield move._replace(target=(move.target, stage, memory))
                continue
            made: Move | None = move
            if stage == REMEMBERED:
                made = self.compare(move, memory, letter)
            if made is not None:
                made, kept = self.remember(made, letter)
                yield made._replace(target=(move.target, REMEMBERED, kept))


class InnerWindowInSlots(InnerWindow, InSlots):
    pass


class InnerWindowByValues(InnerWindow, ByValues):
    pass


class GapInSlots(Gap, InSlots):
    def slots(self, state: Any) -> Slots:
        """The slots. The slot is kept where a round has ended, complete or not: both are one state
        then, and a match is found in one way."""
        below = self.body.slots(state[0])
        return below | self.remembered if state[1] == REMEMBERED else below


class GapByValues(Gap, ByValues):
    pass


@dataclass(frozen=True)
class SuccessiveInSlots(InSlots, Successive):
    def slots(self, state: Any) -> Slots:
        """The slots. As for gaps, runs that have ended and runs that go on are in one state."""
        below = self.body.slots(state[0])
        return below | self.remembered if state[1] == REMEMBERED else below


@dataclass(frozen=True)
class SuccessiveByValues(ByValues, Successive):
    pass


@dataclass(frozen=True)
class Unspaced(Wrapped):
    """A part whose distances are not checked: only its hidden variables are removed."""

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        for move in self.body.moves(state, letter):
            yield move._replace(label=move.label - {LEFT, NEXT})


# ---------------------------------------------------------------- in positions


@dataclass(frozen=True)
class InnerEventWindow(Staged):
    """`(φ) WITHIN 5 EVENTS`: a state is (how many positions since the first marked event, a state).
    Positions beyond the window are not counted further."""

    size: int

    def initial(self) -> Iterable[State]:
        return [(0, q) for q in self.body.initial()]

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        count, inner = state
        for move in self.body.moves(inner, letter):
            marked = marks(move.label)
            after = min(count + 1, self.size + 1) if count or marked else 0
            if not marked or after <= self.size:
                yield move._replace(target=(after, move.target))

    def waits(self, state: Any) -> bool:
        """Whether a run can wait: once an event is marked, every event is counted."""
        count, inner = state
        return not count and self.body.waits(inner)
