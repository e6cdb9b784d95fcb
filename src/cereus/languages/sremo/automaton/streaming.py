"""The streaming automaton of an expression (Def. 32): ⊤* . e, reported where a mark ends it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from cereus.automata.model import NO_SLOTS, NOTHING, Automaton, Letter, Move, Slots, State
from cereus.automata.selection import BEGINS_UNSEEN
from cereus.languages.sremo.automaton.memory import Contents
from cereus.languages.sremo.automaton.parts import SremoPart
from cereus.languages.sremo.automaton.watching import SlotsOf, slots_in
from cereus.state.classes import state_class

MARK = frozenset({"•"})
ENDED = "a match ends here"


@dataclass(frozen=True)
class Streaming(Automaton):
    """A state is a configuration of `part`, which is ⊤* . e, and whether it accepts: the last
    event was marked and e may end (Def. 24). `of_register` are the slots of each register."""

    part: SremoPart
    begin: Contents
    of_register: SlotsOf = ()

    def initial(self) -> Iterable[State]:
        return [(at, False) for at in self.part.enter(self.begin)]

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        for step in self.part.steps(state[0], letter):
            accepting = step.marked and any(True for _ in self.part.leave(step.to))
            if accepting or self.part.goes_on(step.to):
                label = MARK if step.marked else NOTHING
                yield Move(label, (step.to, accepting), step.checks, step.updates)

    def accepts(self, state: Any) -> bool:
        return bool(state[1])

    @staticmethod
    def silent(state: Any) -> State:
        """The same configuration, as one that has not just accepted."""
        return (state[0], False)

    def goes_on(self, state: Any) -> bool:
        return self.part.goes_on(state[0])

    def slots(self, state: Any) -> Slots:
        if not self.of_register:
            return NO_SLOTS
        return slots_in(self.part.contents(state[0]), self.of_register)


@state_class("sremo.following")
class Following(NamedTuple):
    """A configuration, and whether anything is marked on the way to it."""

    at: State
    begun: bool


@dataclass(frozen=True)
class Detecting(Automaton):
    """DETECT: marks only the event where a match ends, and makes no match.

    Of a run only its configuration and the place of its first mark are kept, which is all that a
    window needs. Runs that agree on their configuration become one, the one that begins last. So
    time and memory depend on the number of different configurations, not on the number of matches.
    If registers are in states, the engine's subset construction makes sets of configurations of
    them, and the determinised form (Theorem 41) if there are none.
    """

    body: Streaming

    def initial(self) -> Iterable[State]:
        return [Following(state, False) for state in self.body.initial()]

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        if state == ENDED:
            return
        for move in self.body.moves(state.at, letter):
            if self.body.accepts(move.target):
                yield Move(MARK, ENDED, move.checks)
            if self.body.goes_on(move.target):
                begins = move.label == MARK and not state.begun
                target = Following(self.body.silent(move.target), state.begun or begins)
                label = BEGINS_UNSEEN if begins else NOTHING
                yield Move(label, target, move.checks, move.updates)

    def accepts(self, state: Any) -> bool:
        return bool(state == ENDED)

    def goes_on(self, state: Any) -> bool:
        return bool(state != ENDED)

    def slots(self, state: Any) -> Slots:
        return NO_SLOTS if state == ENDED else self.body.slots(state.at)
