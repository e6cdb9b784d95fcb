"""Rivals: runs that only take part in the choice of a strategy.

The kernel chooses among the runs of a part (`chosen`), and keeps the best of those that agree on
what they remember. The pattern around the part may refuse runs before one is chosen: `AND`, `:`,
`STRICT`, a condition. But a refused run is as good as it was, and a worse one must not be chosen in
its place. So wherever runs enter such a part, rivals enter it as well, which nothing refuses. They
have the same scope, so they compete with the others where they leave the part, and end there. Runs
that are equal to the best are chosen, so a run does not lose to its own rival.

Only rivals have to outlive the window: the others may leave it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cereus.automata.construct import Wrapped
from cereus.automata.memory.chosen import ChosenInSlots, Entered
from cereus.automata.model import Letter, Move, Slots, State, marks
from cereus.state.classes import state_class


@state_class("rival")
@dataclass(frozen=True)
class Rival:
    """A run that only competes: the number of its part, and a state of the part. It is not a tuple,
    since a state of the pattern may be an equal one."""

    part: int
    state: Any


@dataclass(frozen=True)
class RivalRuns(Wrapped):
    """A whole pattern, with the rivals of some of its parts."""

    parts: tuple[ChosenInSlots, ...]

    @cached_property
    def _parts(self) -> dict[int, ChosenInSlots]:
        return {part.number: part for part in self.parts}

    def initial(self) -> Iterable[State]:
        begin = list(self.body.initial())
        return [*begin, *{Rival(each.part, each) for state in begin for each in entered(state)}]

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        before = {each.part for each in entered(_state(state))}
        for move in self._moves(state, letter):
            yield move
            if letter:  # the others go past the part
                for each in entered(_state(move.target)):
                    if marks(move.label) or each.part not in before:
                        yield move._replace(target=Rival(each.part, each))

    def _moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        if not isinstance(state, Rival):
            yield from self.body.moves(state, letter)
            return
        for move in self._parts[state.part].moves(state.state, letter):
            yield move._replace(target=Rival(state.part, move.target))

    def accepts(self, state: Any) -> bool:
        return not isinstance(state, Rival) and self.body.accepts(state)

    def goes_on(self, state: Any) -> bool:
        if isinstance(state, Rival):
            return self._parts[state.part].goes_on(state.state)
        return self.body.goes_on(state)

    def waits(self, state: Any) -> bool:
        if isinstance(state, Rival):
            return self._parts[state.part].waits(state.state)
        return self.body.waits(state)

    def slots(self, state: Any) -> Slots:
        if isinstance(state, Rival):
            return self._parts[state.part].slots(state.state)
        return self.body.slots(state)

    def only_competes(self, state: Any) -> bool:
        return isinstance(state, Rival)


def _state(run: State) -> State:
    return run.state if isinstance(run, Rival) else run


def entered(state: Any) -> Iterator[Entered]:
    """The parts that a run is about to begin, wherever they are in its state."""
    if isinstance(state, Entered):
        yield state
    if isinstance(state, tuple | frozenset):
        for each in state:
            yield from entered(each)
