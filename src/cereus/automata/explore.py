"""The part of an automaton that can be reached: for showing it, and for seeing that it is empty.

Automata are made on demand; this asks for all of one, over the letters that can occur, and gives
up after a number of steps, or when steps turn out to be slow (the engine never does this).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from cereus.automata.automaton import (
    Automaton,
    Label,
    Letter,
    State,
    States,
    targets_by_label,
)

MOST_STEPS = 2_000
"""A step is one state on one letter."""
MOST_SECONDS = 0.5
"""Nested strategies make states that are themselves large sets: few steps may take long."""


class Edge(NamedTuple):
    source: int
    letter: Letter
    label: Label
    target: int


@dataclass(frozen=True)
class Explored:
    """Numbered states (0, 1 … in the order they were reached) and the moves between them.

    Not `complete` when exploring stopped at the limit: then there are more states than these.
    """

    states: int
    initial: tuple[int, ...]
    accepting: frozenset[int]
    edges: tuple[Edge, ...]
    complete: bool

    @property
    def useful(self) -> frozenset[int]:
        """The states from which an accepting one can be reached."""
        before: dict[int, set[int]] = {}
        for edge in self.edges:
            before.setdefault(edge.target, set()).add(edge.source)
        found, todo = set(self.accepting), list(self.accepting)
        while todo:
            fresh = before.get(todo.pop(), set()) - found
            found |= fresh
            todo += fresh
        return frozenset(found)


Expand = Callable[[State, Letter], Iterable[tuple[Label, State]]]


def explore(automaton: Automaton, letters: Iterable[Letter], most: int = MOST_STEPS) -> Explored:
    """The automaton as it is built: nondeterministic."""

    def moves(state: State, letter: Letter) -> Iterable[tuple[Label, State]]:
        return ((move.label, move.target) for move in automaton.moves(state, letter))

    return _explore(tuple(automaton.initial()), moves, automaton.accepts, tuple(letters), most)


def explore_deterministic(
    automaton: Automaton, letters: Iterable[Letter], most: int = MOST_STEPS
) -> Explored:
    """The automaton as it runs: I/O-deterministic, its states sets of states (Prop. 5.5)."""

    def moves(states: State, letter: Letter) -> Iterable[tuple[Label, State]]:
        assert isinstance(states, frozenset)
        found = targets_by_label(automaton, states, letter)
        return [(label, frozenset(reached)) for label, reached in found.items()]

    def accepts(states: State) -> bool:
        assert isinstance(states, frozenset)
        return any(map(automaton.accepts, states))

    begin: States = frozenset(automaton.initial())
    return _explore((begin,), moves, accepts, tuple(letters), most)


def _explore(
    initial: tuple[State, ...],
    moves: Expand,
    accepts: Callable[[State], bool],
    letters: tuple[Letter, ...],
    most: int,
) -> Explored:
    """Breadth first."""
    numbers: dict[State, int] = {}
    for state in initial:
        numbers.setdefault(state, len(numbers))
    todo, edges, steps = list(numbers), [], 0
    complete = True
    deadline = time.monotonic() + MOST_SECONDS
    for state in todo:  # grows while it is read
        steps += len(letters)
        if steps > most or time.monotonic() > deadline:
            complete = False
            break
        for letter in letters:
            for label, target in moves(state, letter):
                if target not in numbers:
                    numbers[target] = len(numbers)
                    todo.append(target)
                edges.append(Edge(numbers[state], letter, label, numbers[target]))
    return Explored(
        len(numbers),
        tuple(dict.fromkeys(numbers[state] for state in initial)),
        frozenset(number for state, number in numbers.items() if accepts(state)),
        tuple(edges),
        complete,
    )
