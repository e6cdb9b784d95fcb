"""The part of an automaton that can be reached: for showing it, and for seeing that it is empty.

Automata are made on demand; this asks for all of one, over the letters that can occur, and gives
up after a number of steps, or when steps turn out to be slow (the engine never does this).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from cereus.automata.model import (
    NO_SLOTS,
    Automaton,
    Check,
    Label,
    Letter,
    Move,
    Slots,
    State,
    States,
    Update,
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
    checks: tuple[Check, ...] = ()
    updates: tuple[Update, ...] = ()


@dataclass(frozen=True)
class Explored:
    """Numbered states (0, 1 … in the order they were reached), the slots that are set in each,
    and the moves between them. Runs in a `closing` state are complete when their window has passed.

    Not `complete` when exploring stopped at the limit: then there are more states than these.
    """

    states: int
    initial: tuple[int, ...]
    accepting: frozenset[int]
    edges: tuple[Edge, ...]
    complete: bool
    slots: tuple[Slots, ...] = ()
    closing: frozenset[int] = frozenset()

    @property
    def completing(self) -> frozenset[int]:
        """The states in which a match may be complete, at once or in time."""
        return self.accepting | self.closing

    @property
    def useful(self) -> frozenset[int]:
        """The states from which a completing one can be reached."""
        before: dict[int, set[int]] = {}
        for edge in self.edges:
            before.setdefault(edge.target, set()).add(edge.source)
        found, todo = set(self.completing), list(self.completing)
        while todo:
            fresh = before.get(todo.pop(), set()) - found
            found |= fresh
            todo += fresh
        return frozenset(found)


Expand = Callable[[State, Letter], Iterable[Move]]
Seen = Callable[[Label], Label]


def explore(automaton: Automaton, letters: Iterable[Letter], most: int = MOST_STEPS) -> Explored:
    """The automaton as it is built: nondeterministic."""
    found, states = _explore(tuple(automaton.initial()), automaton.moves, tuple(letters), most)
    accepting = frozenset(n for n, state in enumerate(states) if automaton.accepts(state))
    closing = frozenset(n for n, state in enumerate(states) if automaton.closes(state))
    slots = tuple(map(automaton.slots, states))
    return replace(found, accepting=accepting, slots=slots, closing=closing)


def explore_deterministic(
    automaton: Automaton,
    letters: Iterable[Letter],
    most: int = MOST_STEPS,
    *,
    seen: Seen = frozenset,
) -> Explored:
    """The automaton as it runs: I/O-deterministic, its states sets of states (Prop. 5.5). Moves
    that look the same (`seen` says what is seen of a label) and do the same are one."""

    registers = False  # no slot is set before the first update

    def moves(states: State, letter: Letter) -> Iterable[Move]:
        nonlocal registers
        assert isinstance(states, frozenset)
        alike: dict[tuple[Label, Any, Any, Slots], set[State]] = {}
        for state in states:
            for label, target, checks, updates in automaton.moves(state, letter):
                registers = registers or bool(updates)
                slots = automaton.slots(target) if registers else NO_SLOTS
                alike.setdefault((seen(label), checks, updates, slots), set()).add(target)
        return [
            Move(label, frozenset(to), checks, updates)
            for (label, checks, updates, _), to in alike.items()
        ]

    begin: States = frozenset(automaton.initial())
    found, subsets = _explore((begin,), moves, tuple(letters), most)
    sets = [subset for subset in subsets if isinstance(subset, frozenset)]
    accepting = frozenset(n for n, each in enumerate(sets) if any(map(automaton.accepts, each)))
    slots = tuple(automaton.slots(next(iter(each))) if each else NO_SLOTS for each in sets)
    closing = frozenset(n for n, each in enumerate(sets) if any(map(automaton.closes, each)))
    return replace(found, accepting=accepting, slots=slots, closing=closing)


def _explore(
    initial: tuple[State, ...], moves: Expand, letters: tuple[Letter, ...], most: int
) -> tuple[Explored, list[State]]:
    """Breadth first; also the states, in the order of their numbers."""
    numbers: dict[State, int] = {}
    for state in initial:
        numbers.setdefault(state, len(numbers))
    todo, steps = list(numbers), 0
    edges: list[Edge] = []
    complete = True
    deadline = time.monotonic() + MOST_SECONDS
    for state in todo:  # grows while it is read
        steps += len(letters)
        if steps > most or (edges and time.monotonic() > deadline):
            complete = False
            break
        for letter in letters:
            for label, target, checks, updates in moves(state, letter):
                if target not in numbers:
                    numbers[target] = len(numbers)
                    todo.append(target)
                to = numbers[target]
                edges.append(Edge(numbers[state], letter, label, to, checks, updates))
    begin = tuple(dict.fromkeys(numbers[state] for state in initial))
    return Explored(len(numbers), begin, frozenset(), tuple(edges), complete), todo
