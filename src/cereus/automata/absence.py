"""`φ WITHOUT B` and `φ UNTIL B`: no B between the first and the last event of a match."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from cereus.automata.construct import Staged
from cereus.automata.model import Letter, Move, State, marks

BEFORE, CLEAN, BROKEN = 0, 1, 2
"""The phases of a run: nothing is marked yet; no B has come since the first mark; a B has come, so
nothing more may be marked."""


@dataclass(frozen=True)
class WithoutAutomaton(Staged):
    """A run of φ dies when it marks an event after a B that came after its first event. B's are
    the events with a bit of `mask`. `through` is UNTIL: no marked event is a B either.

    A state is a tuple of one of the above, a state of φ, and what a subclass adds. If φ
    `ends_marked`, a broken run is of no use, unless it is complete with this very event.
    """

    mask: int
    through: bool
    ends_marked: bool

    def initial(self) -> Iterable[State]:
        return [(BEFORE, q) for q in self.body.initial()]

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        phase, inner = state
        if not self.is_open(phase):
            return
        occurs = bool(letter & self.mask)
        for move in self.body.moves(inner, letter):
            after = self.after(phase, move, occurs)
            if after is not None:
                yield move._replace(target=(after, move.target))

    def goes_on(self, state: Any) -> bool:
        return self.is_open(state[0]) and self.body.goes_on(state[1])

    def is_open(self, phase: int) -> bool:
        return phase != BROKEN or not self.ends_marked

    def after(self, phase: int, move: Move, occurs: bool) -> int | None:
        """The phase after a move of φ on an event that is a B, or not; None: the run dies."""
        marked = marks(move.label)
        if marked and (phase == BROKEN or (self.through and occurs)):
            return None
        if phase == BEFORE:
            return CLEAN if marked else BEFORE
        if phase == CLEAN and not occurs:
            return CLEAN
        useless = self.ends_marked and not self.body.accepts(move.target)
        return None if useless else BROKEN
