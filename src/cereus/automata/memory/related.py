"""Registers for any condition between events: arithmetic, several variables, totals of a set.

`φ FILTER P(A, B, …)`, P a term with a hole for everything that it reads of a variable's events.
What came earlier is in slots, what comes now is in columns. A variable whose values a later event
is compared with holds one event in its scope; one that is only totalled may hold any number.

Without totals, the condition is checked when the last of its variables is marked, so that hopeless
runs die early. With totals it is decided where φ accepts: a run may go on when it does not hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from cereus.automata.memory.terms import Term, column, constant, fails, holds, slot
from cereus.automata.model import Automaton, Label, Letter, Move, Slot, Slots, State, Update

Held = frozenset[str]


class Value(NamedTuple):
    """What fills one hole: of `variable`, the values in `column`; `how` is `set` for the value of
    its only event, `first`, `last`, or a total (`Update`). `needed`: a slot has to keep it."""

    variable: str
    column: int
    how: str = "set"
    needed: bool = True


COUNTS = {"count", "tally"}


@dataclass(frozen=True)
class Related(Automaton):
    """`body FILTER condition`, the condition being a term over `values`."""

    body: Automaton
    number: int
    condition: Term
    values: tuple[Value, ...]
    text: str

    @property
    def names(self) -> frozenset[str]:
        return frozenset(value.variable for value in self.values)

    @property
    def at_the_end(self) -> bool:
        return any(value.how != "set" for value in self.values)

    def initial(self) -> Iterable[State]:
        return [(q, frozenset(), True) for q in self.body.initial()]

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        inner, held, _ = state
        for move in self.body.moves(inner, letter):
            marked = move.label & self.names
            after = held | {v.variable for v in self.values if v.needed} & marked
            moved = move._replace(updates=(*move.updates, *self._updates(held, marked)))
            if self.at_the_end:
                yield from self._ended(moved, held, marked, after)
            else:
                if marked and self.names <= held | marked:
                    moved = _checked(moved, self._term(held, marked), True)
                yield moved._replace(target=(move.target, after, True))

    def accepts(self, state: Any) -> bool:
        inner, _, true = state
        return bool(true) and self.body.accepts(inner)

    def goes_on(self, state: Any) -> bool:
        return self.body.goes_on(state[0])

    def slots(self, state: Any) -> Slots:
        inner, held, _ = state
        below = self.body.slots(inner)
        if not self.body.goes_on(inner):
            return below
        own = [i for i, v in enumerate(self.values) if v.needed and v.variable in held]
        return below | frozenset(map(self.slot, own))

    def slot(self, place: int) -> Slot:
        return Slot(True, self.number, place)

    # ------------------------------------------------------------ what is checked and kept

    def _ended(self, move: Move, held: Held, marked: Label, after: Held) -> Iterator[Move]:
        """Where the body accepts, the condition says whether this does."""
        target = move.target
        single = {value.variable for value in self.values if value.how == "set"}
        if not self.body.accepts(target):
            yield move._replace(target=(target, after, False))
        elif not single <= after:
            yield move._replace(target=(target, after, True))  # true of no events
        else:
            term = self._term(held, marked)
            yield _checked(move, term, True)._replace(target=(target, after, True))
            if self.body.goes_on(target):
                yield _checked(move, term, False)._replace(target=(target, after, False))

    def _term(self, held: Held, marked: Label) -> Term:
        """The condition after the event has been marked."""
        leaves = [self._value(place, held, marked) for place in range(len(self.values))]
        return self.condition.filled(leaves)

    def _value(self, place: int, held: Held, marked: Label) -> Term:
        variable, number, how, _ = self.values[place]
        before = slot(self.slot(place)) if variable in held else None
        if variable not in marked:
            return before or constant(0 if how in COUNTS else None)
        if how in ("set", "last") or (how == "first" and before is None):
            return column(number)
        if how == "first" and before is not None:
            return before
        new = constant(1) if how == "tally" else column(number)
        if how == "count":
            new = Term("known", (new,))
        if before is None:
            return new
        return Term("add int" if how in COUNTS else how, (before, new))

    def _updates(self, held: Held, marked: Label) -> Iterator[Update]:
        for place, (variable, number, how, needed) in enumerate(self.values):
            if not needed or variable not in marked:
                continue
            if how in ("set", "last"):
                yield Update(self.slot(place), "set", number)
            elif how != "first":
                yield Update(self.slot(place), how, number)
            elif variable not in held:
                yield Update(self.slot(place), "set", number)


def _checked(move: Move, term: Term, true: bool) -> Move:
    return move._replace(checks=(*move.checks, holds(term) if true else fails(term)))
