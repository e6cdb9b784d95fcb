"""SELECT with named variables: every binding of them once, with the latest start.

The variables that are not selected still belong to the match (its window counts from its first
event, visible or not), but two matches that differ only in invisible events are one row. A state is
either

* `Unstarted(states)`: nothing marked so far, or
* `Started(states, later)`: `states` of runs with the same binding and the same first event, and
  `later`, states of runs with the same binding that begin later. A later one expires later, so
  where both reach a state the earlier one is dropped, and where a later one accepts, this one
  is silent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from cereus.automata.model import (
    NOTHING,
    Automaton,
    Label,
    Letter,
    Move,
    State,
    States,
    marks,
    targets_by_label,
)
from cereus.state.classes import state_class

BEGINS_UNSEEN: Label = frozenset({"▹"})
"""The first event of a match whose variables are not selected."""


@state_class("unstarted")
class Unstarted(NamedTuple):
    states: States


@state_class("started")
class Started(NamedTuple):
    states: States
    later: States


class Reached(NamedTuple):
    """Where a set of states goes on a letter, by the visible part of the event."""

    unmarked: set[State]
    unseen: set[State]
    seen: dict[Label, set[State]]


@dataclass(frozen=True)
class NamedAutomaton(Automaton):
    """The body, whose runs that mark the same events with the selected variables are one run. Only
    the one that began last is reported."""

    body: Automaton
    variables: frozenset[str]

    def initial(self) -> Iterable[State]:
        return [Unstarted(frozenset(self.body.initial()))]

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        reached = self._reached(state.states, letter)
        if isinstance(state, Unstarted):
            return self._first(reached)
        return self._next(reached, self._reached(state.later, letter))

    @staticmethod
    def _first(reached: Reached) -> Iterator[Move]:
        waiting = frozenset(reached.unmarked)
        if waiting:
            yield Move(NOTHING, Unstarted(waiting))
        begun = frozenset(reached.unseen) - waiting
        if begun:
            yield Move(BEGINS_UNSEEN, Started(begun, waiting))
        for label, states in reached.seen.items():
            yield Move(label, Started(frozenset(states), frozenset()))

    @staticmethod
    def _next(reached: Reached, later: Reached) -> Iterator[Move]:
        ahead = frozenset(later.unmarked | later.unseen)
        states = frozenset(reached.unmarked | reached.unseen) - ahead
        if states:
            yield Move(NOTHING, Started(states, ahead))
        for label, seen in reached.seen.items():
            ahead = frozenset(later.seen.get(label, ()))
            if frozenset(seen) - ahead:
                yield Move(label, Started(frozenset(seen) - ahead, ahead))

    def _reached(self, states: States, letter: Letter) -> Reached:
        targets = Reached(set(), set(), {})
        for label, reached in targets_by_label(self.body, states, letter).items():
            shown = label & self.variables
            if not marks(label):
                targets.unmarked.update(reached)
            elif not shown:
                targets.unseen.update(reached)
            else:
                targets.seen.setdefault(shown, set()).update(reached)
        return targets

    def accepts(self, state: Any) -> bool:
        if isinstance(state, Unstarted):
            return False
        return any(map(self.body.accepts, state.states)) and not any(
            map(self.body.accepts, state.later)
        )


@dataclass(frozen=True)
class Begun(Automaton):
    """The same automaton, starting in other states (those of runs that have marked nothing yet)."""

    body: Automaton
    states: States

    def initial(self) -> Iterable[State]:
        return self.states

    def moves(self, state: State, letter: Letter) -> Iterator[Move]:
        return self.body.moves(state, letter)

    def accepts(self, state: State) -> bool:
        return self.body.accepts(state)

    def goes_on(self, state: State) -> bool:
        return self.body.goes_on(state)
