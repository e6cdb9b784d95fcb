"""A strategy inside a pattern, around a part whose events are compared: the kernel chooses.

`NEXT(a ; b FILTER a.x = b.x)` keeps the best of all complex events of the part that begin their
evaluation at one event and end it at another. What the runs of the part remember is in slots, so no
state can follow all of them. But runs that agree on state and slots have the same future, so only
the best of them can be chosen. So one more slot says where the part was begun, and the kernel does
the rest (`engine.kernel.scopes`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from cereus.automata.model import (
    Automaton,
    Letter,
    Move,
    Slot,
    Slots,
    State,
    Update,
    marks,
    stamped,
)
from cereus.state.classes import state_class

EARLIEST, LATEST, LARGEST, LARGEST_OF_ALL = "earliest", "latest", "largest", "largest of all"
LATEST_FROM_THERE = "latest from there"
"""How the better of two complex events is found: the one with the earliest event that they do not
share, or the one with the latest, or the one that contains the other. `largest of all`: a match of
any scope may contain another where they end; the scope of each is its first event. `latest from
there`: only one that begins no sooner can be better."""
MOST_NESTED = 4
"""How many of these parts may stand inside each other. The kernel has room for this many, and for
one around a whole pattern."""
ENTERED, BEGUN, COMPLETE = 0, 1, 2


class Begins(StrEnum):
    """Which event begins a scope: the first that the part reads, or the first that it marks. It is
    the latter if no match is better than one that begins at another event.

    Evaluation of a part may also begin `anywhere`, at every event: then all that it reads is one
    scope, and a match competes with those that begin no sooner than it does.
    """

    READING = "reading"
    MARKING = "marking"
    ANYWHERE = "anywhere"


@state_class("entered")
class Entered(NamedTuple):
    """A run that is about to begin a part whose runs have rivals (`memory.rivals`)."""

    stage: int
    inner: Any
    part: int


@dataclass(frozen=True)
class ChosenInSlots(Automaton):
    """Keeps the best match of the body. A state is (a stage, a state of the body); with `rivals`, a
    state that has not begun says so.

    The first event that is read begins the scope, or the first that is marked; one that satisfies
    no atom can be left out. The last one is marked, and leads to a stage that nothing leaves.
    `inside` is how many such parts stand inside each other in the body, or beside it. With a
    `stamp`, events that others mark meanwhile do not compete.
    """

    body: Automaton
    number: int
    chooses: str
    inside: int = 0
    begins: Begins = Begins.READING
    rivals: bool = False
    stamp: int = 0

    @property
    def scope(self) -> Slot:
        return Slot(
            True,
            self.number,
            0,
            self.chooses,
            rivals=self.rivals,
            stamp=self.stamp,
            inside=self.inside,
        )

    def initial(self) -> Iterable[State]:
        return [self._state(ENTERED, q) for q in self.body.initial()]

    def _state(self, stage: int, inner: State) -> State:
        return Entered(stage, inner, self.number) if self.rivals and not stage else (stage, inner)

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        stage, inner = state[:2]
        if stage == COMPLETE:
            return
        for move in self.body.moves(inner, letter):
            move = move._replace(label=stamped(move.label, self.stamp))
            if self.body.accepts(move.target):
                yield move._replace(target=(COMPLETE, None), updates=())
            if self.body.goes_on(move.target):
                if stage == ENTERED and self._is_begun(move, letter):
                    updates = (*move.updates, Update(self.scope, self._begin(letter), -1))
                    yield move._replace(target=(BEGUN, move.target), updates=updates)
                else:
                    yield move._replace(target=self._state(stage, move.target))

    def _is_begun(self, move: Move, letter: Letter) -> bool:
        return marks(move.label) if self.begins is Begins.MARKING else letter > 0

    def _begin(self, letter: Letter) -> str:
        """How the scope is noted. If all matches that can begin at this event mark it, they leave
        the window together, and none of them has to outlive it."""
        if self.begins is not Begins.READING:
            return "ordinal"
        initial = list(self.body.initial())
        marked = all(marks(move.label) for q in initial for move in self.body.moves(q, letter))
        waits = any(True for q in initial for _ in self.body.moves(q, 0))
        return "ordinal" if marked and not waits else "scope"

    def accepts(self, state: Any) -> bool:
        return bool(state[0] == COMPLETE)

    def goes_on(self, state: Any) -> bool:
        return bool(state[0] != COMPLETE)

    def waits(self, state: Any) -> bool:
        stage, inner = state[:2]
        begun = stage == BEGUN or (stage == ENTERED and self.begins is not Begins.READING)
        return begun and self.body.waits(inner)

    def slots(self, state: Any) -> Slots:
        stage, inner = state[:2]
        if stage == COMPLETE:
            return frozenset()
        below = self.body.slots(inner)
        return below | {self.scope} if stage == BEGUN else below
