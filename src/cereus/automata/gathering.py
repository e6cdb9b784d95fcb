"""`ALL` of single events, without a state for every set of parts that has come.

Where no event can belong to two parts, a match of `A ALL B ALL …` is any choice of one event for
each part. So the events of each part are gathered on their own, and combined when an event comes
while all parts have some (`engine.kernel.gathering`): n + 1 states in place of 2ⁿ. The pattern may
need one more event after them, `(A ALL B ALL …) ; C`: then an event of this last part combines
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from cereus.automata.construct import AtomAutomaton, Bind, Restrict, UnionAutomaton
from cereus.automata.model import NOTHING, Automaton, Letter, Move, State

NOTHING_YET = -1


@dataclass(frozen=True)
class Gathering(Automaton):
    """Gathers the events of each part separately: a run marks one event of one part, and stays
    there.

    A state is the number of a part, or NOTHING_YET. It accepts the events of one part, which are
    not matches: only a kernel that combines them may run it. Where the last part `ends` the match,
    only its events are accepted, and none of them is kept for later.
    """

    parts: tuple[Automaton, ...]
    ends: bool = False

    @property
    def end(self) -> int:
        """The state of the part that ends the match, or that of no part if any part may end it."""
        return len(self.parts) - 1 if self.ends else len(self.parts)

    def initial(self) -> Iterable[State]:
        return (NOTHING_YET,)

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        if state == self.end:
            return
        yield Move(NOTHING, state)
        if state != NOTHING_YET:
            return
        for number, part in enumerate(self.parts):
            for begin in part.initial():
                for move in part.moves(begin, letter):
                    if move.label:
                        yield move._replace(target=number)

    def accepts(self, state: Any) -> bool:
        return bool(state == self.end if self.ends else state != NOTHING_YET)


def atoms_of(part: Automaton) -> list[AtomAutomaton] | None:
    """The atoms of a part that takes one event; None if it takes anything else."""
    match part:
        case AtomAutomaton():
            return [part]
        case Bind(body) | Restrict(body):
            return atoms_of(body)
        case UnionAutomaton(left, right):
            of_left, of_right = atoms_of(left), atoms_of(right)
            return None if of_left is None or of_right is None else of_left + of_right
    return None
