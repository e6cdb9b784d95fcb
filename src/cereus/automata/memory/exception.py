"""`φ UNLESS ψ` where ψ compares events: ψ is watched separately, and runs of φ ask about it.

A run of φ dies when ψ has matched on an interval since the run began. Of all matches of ψ so far,
the one that began last decides. So the runs of ψ, begun at every event, are followed once for all
runs of φ (`Watched`), and every event gets a column that says when the latest of the matches so far
began. A run of φ keeps in a slot which event it began with (`UnlessInSlots`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from cereus.automata.model import (
    NO_SLOTS,
    NOTHING,
    Automaton,
    Check,
    Letter,
    Move,
    Slot,
    Slots,
    State,
    Update,
)

BEGIN = frozenset({"begin"})
"""The label of the first event that a run of ψ reads."""
WAITING, FOLLOWED, MATCHED = 0, 1, 2


@dataclass(frozen=True)
class Watched(Automaton):
    """Runs of the body that begin at any event, and mark only that event. A run that has matched is
    over: any further match would begin at the same event. A state is (a stage, a state of the
    body)."""

    body: Automaton

    def initial(self) -> Iterable[State]:
        return [(WAITING, None)]

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        stage, inner = state
        if stage == FOLLOWED:
            yield from self._followed(inner, letter, NOTHING)
        elif stage == WAITING:
            yield Move(NOTHING, state)
            if letter:
                for begin in self.body.initial():
                    yield from self._followed(begin, letter, BEGIN)

    def _followed(self, inner: State, letter: Letter, label: frozenset[str]) -> Iterator[Move]:
        for move in self.body.moves(inner, letter):
            if self.body.accepts(move.target):
                yield Move(label, (MATCHED, None), move.checks)
            else:
                yield move._replace(label=label, target=(FOLLOWED, move.target))

    def accepts(self, state: Any) -> bool:
        return bool(state[0] == MATCHED)

    def goes_on(self, state: Any) -> bool:
        return bool(state[0] != MATCHED)

    def slots(self, state: Any) -> Slots:
        stage, inner = state
        return self.body.slots(inner) if stage == FOLLOWED else NO_SLOTS


class WatchedPart(NamedTuple):
    """A part that is watched, and the column that says when its latest match began."""

    automaton: Watched
    column: int


class Watching(NamedTuple):
    """All watched parts of a pattern, those that others need first; and the column of an event's
    own ordinal."""

    parts: tuple[WatchedPart, ...]
    ordinal: int


ENTERED, BEGUN = 0, 1


@dataclass(frozen=True)
class UnlessInSlots(Automaton):
    """`left UNLESS right`. A state is (a stage, a state of the left side).

    A match of the right side stays a match, so it is enough to check when something is marked or
    accepted. Then runs that only wait are checked too, so that they do not pile up.
    """

    left: Automaton
    right: Automaton
    number: int
    column: int
    ordinal: int

    @property
    def begun(self) -> Slot:
        return Slot(True, self.number, 0)

    def initial(self) -> Iterable[State]:
        return [(ENTERED, q) for q in self.left.initial()]

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        stage, inner = state
        moves = list(self.left.moves(inner, letter))
        asks = any(move.label or self.left.accepts(move.target) for move in moves)
        begins = stage == ENTERED and letter > 0
        updates = (Update(self.begun, "ordinal", -1),) if begins else ()
        check = (self._not_since(begins),) if asks and letter else ()
        for move in moves:
            yield move._replace(
                target=(BEGUN if begins else stage, move.target),
                checks=(*move.checks, *check),
                updates=(*move.updates, *updates),
            )

    def _not_since(self, begins: bool) -> Check:
        """The check that this run began after the latest match of the right side did."""
        if begins:
            return Check(">", None, self.ordinal, self.column)
        return Check(">", self.begun, self.column)

    def accepts(self, state: Any) -> bool:
        return self.left.accepts(state[1])

    def goes_on(self, state: Any) -> bool:
        return self.left.goes_on(state[1])

    def slots(self, state: Any) -> Slots:
        stage, inner = state
        below = self.left.slots(inner)
        needed = stage == BEGUN and self.left.goes_on(inner)
        return below | {self.begun} if needed else below
