"""!(⊤* e ⊤*) where e stores and reads its own registers: e is watched separately
(`automata.memory.exception`), and runs ask when the last e that has matched began."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from cereus.automata.model import (
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
from cereus.languages.sremo.automaton.memory import Contents
from cereus.languages.sremo.automaton.parts import Configuration, PartStep, SremoPart

SlotsOf = tuple[tuple[str, tuple[Slot, ...]], ...]


def slots_in(contents: Iterable[Contents], of_register: SlotsOf) -> Slots:
    """The slots of the registers that are set."""
    names = frozenset().union(*contents)
    return frozenset(s for name, slots in of_register if name in names for s in slots)


@dataclass(frozen=True)
class Unmarked(Automaton):
    """The strings of a part, without its marks. A state is a configuration of it."""

    part: SremoPart
    begin: Contents
    of_register: SlotsOf

    def initial(self) -> Iterable[State]:
        return self.part.enter(self.begin)

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        for step in self.part.steps(state, letter):
            if self.goes_on(step.to) or self.accepts(step.to):
                yield Move(NOTHING, step.to, step.checks, step.updates)

    def accepts(self, state: Any) -> bool:
        return any(True for _ in self.part.leave(state))

    def goes_on(self, state: Any) -> bool:
        return self.part.goes_on(state)

    def slots(self, state: Any) -> Slots:
        return slots_in(self.part.contents(state), self.of_register)


@dataclass(frozen=True)
class SkipWithout(SremoPart):
    """The run waits while no e has matched since it began to wait. A configuration is (contents,
    whether it has read an event).

    bits     the tests of events that may complete an e
    name     what the register of `begun` is called
    begun    the slot with the ordinal of the first event that the run has read here
    column   of every event: the ordinal of the last event at which an e began that has matched
    ordinal  of every event: its own
    """

    bits: int
    name: str
    begun: Slot
    column: int
    ordinal: int

    def enter(self, contents: Contents) -> Iterable[Configuration]:
        return ((contents, False),)

    def steps(self, at: Any, letter: Letter) -> Iterator[PartStep]:
        contents, begun = at
        if not letter:
            yield PartStep(False, at)
            return
        checks = (self._not_since(begun),) if letter & self.bits else ()
        updates = () if begun else (Update(self.begun, "ordinal", -1),)
        yield PartStep(False, (contents, True), checks, updates)

    def _not_since(self, begun: bool) -> Check:
        if begun:
            return Check(">", self.begun, self.column)
        return Check(">", None, self.ordinal, self.column)

    def leave(self, at: Any) -> Iterable[Contents]:
        yield at[0]

    def contents(self, at: Any) -> list[Contents]:
        contents, begun = at
        return [contents | {self.name} if begun else contents]
