"""`φ WITHOUT B` where conditions on B read events of φ that may come after it. When φ is complete,
the kernel looks for such a B among the events of the past."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

from cereus.automata.absence import BEFORE
from cereus.automata.memory.absence import AbsenceFilter
from cereus.automata.memory.terms import Absent, Term, absent, present
from cereus.automata.model import Check, Label, Letter, Move, Slot, Slots, State, Update, marks


@dataclass(frozen=True)
class PastAbsenceFilter(AbsenceFilter):
    """The filter. Each variable that conditions read holds one event or none, whose values are in
    slots; one more slot has the first event of the match. A B between the first and the last event
    does harm if all its conditions hold; a condition on a variable without events holds.

    `kinds` are in the order of `past_kinds`, the numbers of the events of the past. A state is
    (phase, a state of φ, the variables that have an event, whether φ may accept here).
    """

    past_kinds: tuple[int, ...]

    @property
    def first(self) -> Slot:
        return self.slot(len(self.values))

    def initial(self) -> Iterable[State]:
        return [(BEFORE, q, frozenset(), True) for q in self.body.initial()]

    def accepts(self, state: Any) -> bool:
        return bool(state[3]) and self.body.accepts(state[1])

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        phase, inner, bound, _ = state
        if not self.is_open(phase):
            return
        occurs = bool(letter & self.mask)
        for move in self.body.moves(inner, letter):
            after = self.after(phase, move, occurs)
            if after is None:
                continue
            marked = move.label & self.names
            updates = [*move.updates, *self._updates(marked)]
            if phase == BEFORE and marks(move.label):
                updates.append(Update(self.first, "ordinal", -1))
            made = move._replace(updates=tuple(updates))
            yield from self._ended(made, (after, move.target, bound | marked), phase, bound, marked)

    def slots(self, state: Any) -> Slots:
        phase, inner, bound, _ = state
        below = self.body.slots(inner)
        if phase == BEFORE or not self.goes_on(state):
            return below
        needed = [p for p, value in enumerate(self.values) if value.variable in bound]
        return below | frozenset(map(self.slot, needed)) | {self.first}

    def _ended(
        self, move: Move, target: tuple[Any, ...], phase: int, bound: Label, marked: Label
    ) -> Iterator[Move]:
        """The moves where φ accepts: the events in between decide whether this automaton
        accepts."""
        if phase == BEFORE or not self.body.accepts(move.target):
            yield move._replace(target=(*target, True))
            return
        harms = [self._harm(place, bound, marked) for place in range(len(self.kinds))]
        checks = (*move.checks, *map(absent, harms))
        yield move._replace(target=(*target, True), checks=checks)
        if self.body.goes_on(move.target):
            for place, harm in enumerate(harms):
                none_before: tuple[Check, ...] = tuple(map(absent, harms[:place]))
                checks = (*move.checks, *none_before, present(harm))
                yield move._replace(target=(*target, False), checks=checks)

    def _harm(self, place: int, bound: Label, marked: Label) -> Absent:
        """The B's of a kind that do harm, after an event has been marked."""
        read = [c.term for c in self.kinds[place].conditions if c.reads <= bound | marked]
        term: Term | None = None
        if read:
            values = [self._value(at, bound, marked) for at in range(len(self.values))]
            term = reduce(lambda a, b: Term("and", (a, b)), read).filled(values)
        return Absent(self.past_kinds[place], self.first, None, term)
