"""Explores the reachable part of an automaton: to show it, and to see whether it is empty.

Automata are made on demand. This asks for all states of one, over the letters that can occur. It
gives up after a number of steps, of moves, or of parts of states that are read (the engine never
does this). All are counted, so that the answer is the same on a slow machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from cereus.automata.model import (
    Automaton,
    Check,
    Label,
    Letter,
    Slots,
    State,
    Update,
    parts_move_at_most,
)
from cereus.automata.subset import Determinised
from cereus.errors import LimitError

MOST_STEPS = 2_000
"""The most steps. A step is one state on one letter."""
MOST_PARTS = 150_000
"""The most parts of states that are read. Nested strategies make states that are themselves large
sets, so a few steps may take long. A step takes 2 to 5 µs for each part of its state: this is about
half a second."""
MOST_EDGES = 20_000
"""The most moves. A state of many parts that run at once has very many of them on one letter."""
MOST_MOVES_OF_PARTS = 50_000
"""The most moves that strategies read of what is inside them: about half a second."""
LEVELS = 4
"""Parts count once more for each of this many levels of depth."""
MADE = 16
"""Of so many parts of a state that a move leads to, one is counted. A move into a state that is
nested deeply takes longer than reading the one that it comes from."""


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


def _explore(
    automaton: Automaton, letters: tuple[Letter, ...], most: int
) -> tuple[Explored, list[State]]:
    """Explore breadth first. Also returns the states, in the order of their numbers."""
    reached = ReachedStates()
    initial = [reached.number(state) for state in automaton.initial()]
    complete = True
    try:
        with parts_move_at_most(MOST_MOVES_OF_PARTS):
            for number, state in enumerate(reached.states):  # grows while it is read
                reached.read(number, len(letters), most)
                for letter in letters:
                    reached.read_on(number)
                    for label, target, checks, updates in automaton.moves(state, letter):
                        to = reached.number(target)
                        reached.moved(to)
                        reached.edges.append(Edge(number, letter, label, to, checks, updates))
    except (LimitError, GivenUp):
        complete = False
    begin = tuple(dict.fromkeys(initial))
    edges = tuple(reached.edges)
    return Explored(len(reached.states), begin, frozenset(), edges, complete), reached.states


class GivenUp(Exception):
    """There is more of an automaton than is looked at."""


class ReachedStates:
    """The states and moves reached so far, and what they have cost: GivenUp if that is too much."""

    def __init__(self) -> None:
        self.states: list[State] = []
        self.edges: list[Edge] = []
        self._numbers: dict[State, int] = {}
        self._sizes: list[int] = []
        self._steps = self._parts = 0

    def number(self, state: State) -> int:
        """The number of a state; a new one for a new state."""
        number = self._numbers.setdefault(state, len(self.states))
        if number == len(self.states):
            self.states.append(state)
            self._sizes.append(_parts(state))
        return number

    def read(self, number: int, letters: int, most: int) -> None:
        """A state is about to be read on so many letters."""
        self._steps += letters
        self._give_up_if(self._steps > most or self._sizes[number] > MOST_PARTS)

    def read_on(self, number: int) -> None:
        """A state is about to be read on a letter. The first one always is."""
        self._parts += self._sizes[number]
        self._give_up_if(bool(self.edges) and self._parts > MOST_PARTS)

    def moved(self, to: int) -> None:
        """A move leads to a state."""
        self._parts += self._sizes[to] // MADE
        self._give_up_if(len(self.edges) == MOST_EDGES or self._parts > MOST_PARTS)

    def _give_up_if(self, too_much: bool) -> None:
        if too_much:
            raise GivenUp


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
