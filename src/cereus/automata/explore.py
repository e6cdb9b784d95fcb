"""Explores the reachable part of an automaton: to show it, and to see whether it is empty.

Automata are made on demand. This asks for all states of one, over the letters that can occur. It
gives up after a number of steps, of moves, or of parts of states that are read (the engine never
does this). All are counted, so that the answer is the same on a slow machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from cereus.automata.model import Automaton, Check, Label, Letter, Move, Slots, State, Update
from cereus.automata.subset import Determinised
from cereus.errors import LimitError

MOST_STEPS = 2_000
"""The most steps. A step is one state on one letter."""
MOST_PARTS = 150_000
"""The most parts of states that are read. Nested strategies make states that are themselves large
sets, so a few steps may take long. A step takes 2 to 5 µs for each part of its state: this is about
half a second."""
MOST_MOVES = 20_000
"""The most moves. A state of many parts that run at once has very many of them on one letter."""
LEVELS = 4
"""Parts count once more for each of this many levels of depth."""


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
        """The states in which a match may be complete, at once or when its window passes."""
        return self.accepting | self.closing

    @cached_property
    def useful(self) -> frozenset[int]:
        """The states from which a completing one can be reached."""
        before: dict[int, set[int]] = {}
        for edge in self.edges:
            before.setdefault(edge.target, set()).add(edge.source)
        useful, todo = set(self.completing), list(self.completing)
        while todo:
            fresh = before.get(todo.pop(), set()) - useful
            useful |= fresh
            todo += fresh
        return frozenset(useful)


def explore(automaton: Automaton, letters: Iterable[Letter], most: int = MOST_STEPS) -> Explored:
    """Explore the automaton as it is built: nondeterministic."""
    explored, states = _explore(automaton, tuple(letters), most)
    accepting = frozenset(n for n, state in enumerate(states) if automaton.accepts(state))
    closing = frozenset(n for n, state in enumerate(states) if automaton.closes(state))
    slots = tuple(map(automaton.slots, states))
    return replace(explored, accepting=accepting, slots=slots, closing=closing)


def explore_deterministic(
    automaton: Automaton,
    letters: Iterable[Letter],
    most: int = MOST_STEPS,
    *,
    seen: Callable[[Label], Label] = frozenset,
) -> Explored:
    """Explore the automaton as it runs, on sets of states. `seen` gives the visible part of a
    label."""
    return explore(Determinised(automaton, seen), letters, most)


class GivenUp(Exception):
    """There is more of an automaton than is looked at."""


def _explore(
    automaton: Automaton, letters: tuple[Letter, ...], most: int
) -> tuple[Explored, list[State]]:
    """Explore breadth first. Also returns the states, in the order of their numbers."""
    initial = tuple(automaton.initial())
    numbers: dict[State, int] = {}
    for state in initial:
        numbers.setdefault(state, len(numbers))
    todo = list(numbers)
    edges: list[Edge] = []
    complete = True
    try:
        for state, letter, move in _moves(automaton, todo, letters, most):
            if move.target not in numbers:
                numbers[move.target] = len(numbers)
                todo.append(move.target)
            label, target, checks, updates = move
            edges.append(Edge(numbers[state], letter, label, numbers[target], checks, updates))
    except (LimitError, GivenUp):
        complete = False
    begin = tuple(dict.fromkeys(numbers[state] for state in initial))
    return Explored(len(numbers), begin, frozenset(), tuple(edges), complete), todo


def _moves(
    automaton: Automaton, states: list[State], letters: tuple[Letter, ...], most: int
) -> Iterator[tuple[State, Letter, Move]]:
    """The moves of all states, while more states are added; GivenUp if there are too many."""
    steps = parts = moves = 0
    for state in states:
        steps += len(letters)
        size = _parts(state)
        if steps > most or size > MOST_PARTS:
            raise GivenUp
        for letter in letters:
            parts += size
            if moves and parts > MOST_PARTS:
                raise GivenUp
            for move in automaton.moves(state, letter):
                moves += 1
                if moves > MOST_MOVES:
                    raise GivenUp
                yield state, letter, move


def _parts(state: State) -> int:
    """The number of parts of a state that is made of sets and tuples of states. Parts deep in
    tuples are counted several times, since every level of an automaton looks at what is below it.
    Stops counting at MOST_PARTS + 1."""
    count, todo = 0, [(state, 0)]
    while todo and count <= MOST_PARTS:
        each, depth = todo.pop()
        if isinstance(each, frozenset | tuple) and each:
            todo += [(part, depth + isinstance(each, tuple)) for part in each]
        else:
            count += 1 + depth // LEVELS
    return count
