"""Finds out whether MAX needs no comparison of matches: of all runs that begin at one event, one
has all the events.

In `A ; B+ ; C` a run that can mark a B and go on need not pass it over: a run that has marked it
can do whatever a run can that has passed it over, with one event more. So the second is never
maximal, and if only one run is left of those that began at an event, there is nothing to compare.

`grows_alone` checks this for every set of states that runs can be in and every letter. State q
*follows* p if a run of q can do what a run of p does, with as many events: q accepts where p does,
and each move of p has one of q that asks for no more, takes the same values along, marks the event
if p does, and leads to a state that follows p's. This is the simulation of automata, found as
usual: it is assumed until something refutes it.

`takes_in_later` checks whether such a run also has the events of all that begin after it, as in `A+
; B`. Then of the matches that end at an event, the one that begins first contains the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

from cereus.automata.model import Automaton, Letter, Move, State, States, marks
from cereus.automata.subset import JointMove, exclusive, joint_moves

MOST_SETS = 64
"""The check gives up with more sets of states than this."""
MOST_PAIRS = 500
"""The check gives up with more pairs of states, of which one may follow the other, than this."""

Joint = JointMove[frozenset[str]]


class _TooLarge(Exception):
    """Raised when the check gives up."""


def grows_alone(automaton: Automaton, letters: Sequence[Letter]) -> bool:
    """Whether one rule leaves only one of the runs that begin at one event, at every event: a run
    that can mark an event and go on does not pass it over."""
    growing = _Growing(automaton, tuple(dict.fromkeys([0, *letters])))
    try:
        waiting, begun = growing.reached()
        return waiting.isdisjoint(begun) and growing.are_alone(waiting, begun)
    except _TooLarge:
        return False


def takes_in_later(automaton: Automaton, letters: Sequence[Letter]) -> bool:
    """Whether one run has the events of all others that begin with it or later: it marks every
    event at which another begins, and can do whatever that one can from there on. The automaton has
    no slots."""
    growing = _Growing(automaton, tuple(dict.fromkeys([0, *letters])))
    try:
        waiting, begun = growing.reached()
        pairs = product(begun, waiting)
        return growing.are_alone(waiting, begun) and all(growing.takes_in(*pair) for pair in pairs)
    except _TooLarge:
        return False


@dataclass
class _Growing:
    """An automaton, all letters that may come, and the pairs of states of which the second is known
    not to follow the first."""

    automaton: Automaton
    letters: tuple[Letter, ...]
    refuted: set[tuple[State, State]] = field(default_factory=set)

    def reached(self) -> tuple[set[States], set[States]]:
        """The sets of states of runs that have marked nothing, and those of runs that have."""
        waiting, begun = {frozenset(self.automaton.initial())}, set[States]()
        todo = [(subset, False) for subset in waiting]
        while todo:
            subset, has_begun = todo.pop()
            for move in self._moves(subset):
                begins = has_begun or marks(move.label)
                known = begun if begins else waiting
                if move.states not in known:
                    known.add(move.states)
                    todo.append((move.states, begins))
            if len(waiting) + len(begun) > MOST_SETS:
                raise _TooLarge
        return waiting, begun

    def _moves(self, subset: States) -> Iterator[Joint]:
        for letter in self.letters:
            yield from self._moves_on(subset, letter)

    def _moves_on(self, subset: States, letter: Letter) -> list[Joint]:
        return joint_moves(self.automaton, subset, letter, frozenset)

    # ------------------------------------------------------------ one run is left

    def are_alone(self, waiting: set[States], begun: set[States]) -> bool:
        """Whether one run is left of those that begin at one event."""
        return all(map(self.one_begins, waiting)) and all(map(self.is_alone, begun))

    def one_begins(self, subset: States) -> bool:
        """Whether at most one run begins at an event, for a set of states that waits."""
        every = (self._marking(self._moves_on(subset, letter)) for letter in self.letters)
        return all(map(_exclude_each_other, every))

    def _marking(self, moves: list[Joint]) -> list[Joint]:
        """The moves that mark the event and go on."""
        marking = (move for move in moves if marks(move.label))
        return [move for move in marking if any(map(self.automaton.goes_on, move.states))]

    def is_alone(self, subset: States) -> bool:
        """Whether a set of states with one run has one run after every event."""
        plain = not any(map(self.automaton.closes, subset))
        return plain and all(self._one_goes_on(self._moves_on(subset, x)) for x in self.letters)

    def _one_goes_on(self, moves: list[Joint]) -> bool:
        """Whether at most one run goes on after an event, without those that pass it over where
        another marks it. A run that ends with the event has the same events as one that goes on."""
        marking = self._marking(moves)
        passing = [m for m in moves if not marks(m.label)]
        return (
            all(_exclude_each_other(each) for each in (marking, passing))
            and not any(self.automaton.accepts(state) for m in passing for state in m.states)
            and all(self._covers(m, other) for m, other in product(marking, passing))
        )

    def takes_in(self, subset: States, waiting: States) -> bool:
        """Whether a run of `subset` marks every event that begins a run of `waiting`, and can do as
        much as that run from there on. A run that cannot read the event ends before it."""
        if not any(map(self.automaton.goes_on, subset)):
            return True
        for letter in self.letters:
            moves = self._moves_on(subset, letter)
            begin = [m for m in self._moves_on(waiting, letter) if marks(m.label)]
            marking = [m for m in moves if marks(m.label)]
            if moves and not all(any(self._covers(m, b) for m in marking) for b in begin):
                return False
        return True

    def _covers(self, marking: Joint, passing: Joint) -> bool:
        """Whether a run that makes the first move can do whatever a run that makes the second can,
        with the same values."""
        return exclusive(marking.checks, passing.checks) or (
            marking.updates == passing.updates
            and all(any(self._follows(p, q) for q in marking.states) for p in passing.states)
        )

    # ------------------------------------------------------------ which state follows which

    def _follows(self, state: State, other: State) -> bool:
        """Whether a run in the other state can do all that one in the first can. What is assumed on
        the way is tried again until nothing new is refuted."""
        while (state, other) not in self.refuted:
            before = len(self.refuted)
            self._may_follow(state, other, set())
            if len(self.refuted) == before:
                return True
        return False

    def _may_follow(self, state: State, other: State, assumed: set[tuple[State, State]]) -> bool:
        if (state, other) in self.refuted:
            return False
        if state == other or (state, other) in assumed:
            return True
        if len(assumed) + len(self.refuted) > MOST_PAIRS:
            raise _TooLarge
        assumed.add((state, other))
        may = self._alike(state, other) and all(
            any(self._does(move, also, assumed) for also in self.automaton.moves(other, letter))
            for letter in self.letters
            for move in self.automaton.moves(state, letter)
        )
        if not may:
            self.refuted.add((state, other))
        return may

    def _alike(self, state: State, other: State) -> bool:
        accepts, slots = self.automaton.accepts, self.automaton.slots
        return slots(state) == slots(other) and (accepts(other) or not accepts(state))

    def _does(self, move: Move, also: Move, assumed: set[tuple[State, State]]) -> bool:
        return (
            set(also.checks) <= set(move.checks)
            and also.updates == move.updates
            and (marks(also.label) or not marks(move.label))
            and self._may_follow(move.target, also.target, assumed)
        )


def _exclude_each_other(moves: list[Joint]) -> bool:
    return all(exclusive(one.checks, other.checks) for one, other in combinations(moves, 2))
