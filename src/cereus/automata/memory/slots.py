"""Registers: comparisons between events that a fixed number of slots can decide.

`φ FILTER f(A) op g(B)` is true of every pair of events. What decides it is, of the side that came
first, one value: for `<` the largest f(A), for `=` the only one. So a move may *check* slots
against values of the event it reads, and *update* slots with them. Which slots are set is part of
the (finite) state; their contents are not. A scope begins with no slot set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from cereus.automata.model import Automaton, Check, Letter, Move, Slot, Slots, State, Update

FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}
UNSET, SET, MANY = 0, 1, 2
"""Status of a side: nothing marked, one value decides, or (for `=`) several different values."""


class Side(NamedTuple):
    """One side of a comparison: its variable, the column of its values, and whether a slot is
    needed at all (the other side may come later), for one event or several."""

    variable: str
    column: int
    needed: bool
    repeats: bool


@dataclass(frozen=True)
class Compared(Automaton):
    """`body FILTER left op right`, the sides being of different variables."""

    body: Automaton
    number: int
    op: str
    left: Side
    right: Side

    def initial(self) -> Iterable[State]:
        return [(q, (UNSET, UNSET)) for q in self.body.initial()]

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        inner, status = state
        for move in self.body.moves(inner, letter):
            marked = (self.left.variable in move.label, self.right.variable in move.label)
            if marked == (False, False):
                yield move._replace(target=(move.target, status))
            else:
                yield from self._marked(move, status, marked)

    def accepts(self, state: Any) -> bool:
        return self.body.accepts(state[0])

    def goes_on(self, state: Any) -> bool:
        return self.body.goes_on(state[0])

    def slots(self, state: Any) -> Slots:
        inner, status = state
        if not self.body.goes_on(inner):
            return self.body.slots(inner)  # nothing will be read any more
        own = frozenset(self._slot(place) for place in (0, 1) if status[place] == SET)
        return own | self.body.slots(inner)

    def _slot(self, place: int) -> Slot:
        return Slot(self.op != "=", self.number, place)

    def _marked(
        self, move: Move, status: tuple[int, int], marked: tuple[bool, bool]
    ) -> Iterator[Move]:
        """The event is marked by one side or both: check it against the other, then keep it."""
        checks: list[Check] = []
        sides = (self.left, self.right)
        if all(marked):
            checks.append(Check(self.op, None, self.left.column, self.right.column))
        for place in (0, 1):
            other = 1 - place
            if not marked[place]:
                continue
            if status[other] == MANY:
                return
            if status[other] == SET:
                # the slot stands on the side of `other`: other op' this
                op = self.op if other == 0 else FLIPPED[self.op]
                checks.append(Check(op, self._slot(other), sides[place].column))
        checked = move._replace(checks=(*move.checks, *checks))
        yield from self._kept(checked, status, [p for p in (0, 1) if marked[p]])

    def _kept(self, move: Move, status: tuple[int, int], places: list[int]) -> Iterator[Move]:
        """The moves that remember the event on the given sides."""
        if not places:
            yield move._replace(target=(move.target, status))
            return
        place, *rest = places
        side, slot = (self.left, self.right)[place], self._slot(place)
        if not side.needed or status[place] == MANY:
            yield from self._kept(move, status, rest)
        elif status[place] == UNSET:
            kept = _with(move, Update(slot, "set", side.column))
            yield from self._kept(kept, _but(status, place, SET), rest)
        elif self.op == "=":
            same = Check("=", slot, side.column)
            yield from self._kept(move._replace(checks=(*move.checks, same)), status, rest)
            differs = Check("differs", slot, side.column)
            many = _but(status, place, MANY)
            yield from self._kept(move._replace(checks=(*move.checks, differs)), many, rest)
        else:
            largest = (self.op in ("<", "<=")) == (place == 0)
            how = "max" if largest else "min"
            yield from self._kept(_with(move, Update(slot, how, side.column)), status, rest)


def _with(move: Move, update: Update) -> Move:
    return move._replace(updates=(*move.updates, update))


def _but(status: tuple[int, int], place: int, value: int) -> tuple[int, int]:
    return (value, status[1]) if place == 0 else (status[0], value)
