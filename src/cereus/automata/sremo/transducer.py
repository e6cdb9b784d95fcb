"""The streaming automaton of an expression (Def. 32): ⊤* . e, reported where a mark ends it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from cereus.automata.automaton import NO_SLOTS, NOTHING, Automaton, Letter, Move, Slot, Slots, State
from cereus.automata.sremo.memory import Held
from cereus.automata.sremo.parts import Part

MARK = frozenset({"•"})


@dataclass(frozen=True)
class Streaming(Automaton):
    """A state is a configuration of `part`, which is ⊤* . e, and whether it accepts: the last
    event was marked and e may end (Def. 24). `of_register` are the slots of each register."""

    part: Part
    begin: Held
    of_register: tuple[tuple[str, tuple[Slot, ...]], ...] = ()

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

    def goes_on(self, state: Any) -> bool:
        return self.part.goes_on(state[0])

    def slots(self, state: Any) -> Slots:
        if not self.of_register:
            return NO_SLOTS
        names = frozenset().union(*self.part.held(state[0]))
        return frozenset(s for name, slots in self.of_register if name in names for s in slots)


@dataclass(frozen=True)
class Detecting(Automaton):
    """DETECT: one run that carries the set of configurations, and marks an event alone where a
    match ends at it. It answers in time that does not depend on the number of matches."""

    body: Streaming

    def initial(self) -> Iterable[State]:
        return [frozenset(self.body.initial())]

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        if state is None:
            return
        reached: set[Any] = {m.target for q in state for m in self.body.moves(q, letter)}
        if any(map(self.body.accepts, reached)):
            yield Move(MARK, None)
        going = (state for state in reached if self.body.goes_on(state))
        yield Move(NOTHING, frozenset((at, False) for at, _ in going))

    def accepts(self, state: Any) -> bool:
        return state is None

    def goes_on(self, state: Any) -> bool:
        return state is not None
