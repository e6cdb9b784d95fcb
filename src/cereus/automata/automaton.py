"""The automaton model: complex event automata (CEL paper, Def. 5.1), made on demand.

A *letter* is what an event looks like to a pattern: the set of atoms that it satisfies, as a bit
mask. An automaton answers three questions: where do runs begin, where can they go on a letter,
and which states accept. States are made when they are asked for, so that constructions whose
full state space is exponential (determinisation, strategies) cost only what a stream visits.

Three invariants that every construction keeps, and that the engine relies on:

* No ε: every move reads one event, and no initial state accepts.
* Letter 0 (an event that satisfies no atom) moves only without a label.
* An accepting state has no move on letter 0, so an irrelevant event reports nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator
from typing import NamedTuple

Letter = int
State = Hashable
Label = frozenset[str]

NOTHING: Label = frozenset()
PLACE = "¬"
"""Label of an event that takes its place in a match without being marked (CEQL's NOT)."""
PLACE_ONLY: Label = frozenset({PLACE})


class Move(NamedTuple):
    """Read an event, mark it with the variables of `label` (maybe none), go to `target`."""

    label: Label
    target: State


def marks(label: Label) -> bool:
    """Whether the event gets into the complex event."""
    return bool(label) and label != PLACE_ONLY


class Automaton(ABC):
    """What an automaton is to those who use it."""

    @abstractmethod
    def initial(self) -> Iterable[State]: ...

    @abstractmethod
    def moves(self, state: State, letter: Letter) -> Iterator[Move]:
        """The transitions from `state` on an event that looks like `letter`."""

    @abstractmethod
    def accepts(self, state: State) -> bool: ...

    def goes_on(self, state: State) -> bool:
        """False when no move can leave the state; a cheap, local form of trimming."""
        return True


States = frozenset[State]


def targets(automaton: Automaton, states: Iterable[State], letter: Letter) -> States:
    """Δ(R, P): where any of the states can go."""
    return frozenset(m.target for q in states for m in automaton.moves(q, letter))


def targets_by_label(
    automaton: Automaton, states: Iterable[State], letter: Letter
) -> dict[Label, set[State]]:
    """Δ(R, P, L) for every label L that occurs."""
    found: dict[Label, set[State]] = {}
    for state in states:
        for move in automaton.moves(state, letter):
            found.setdefault(move.label, set()).add(move.target)
    return found
