"""`φ FILTER P(A, B, …)`, decided by slots: two automata that filter the matches of another.

A move may *check* slots against values of the event that it reads, and *update* slots with them.
Which slots are set is part of the (finite) state; their contents are not. A scope begins with no
slot set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

from cereus.automata.memory.easier import GREATER, SMALLER, easier, is_float, may_not_fit
from cereus.automata.memory.terms import (
    MEMBER,
    Term,
    every,
    fails,
    holds,
    slot,
)
from cereus.automata.memory.totals import (
    BASE,
    EVERY,
    EXTREMES,
    TOTALS,
    update,
    with_event,
    without_events,
)
from cereus.automata.model import (
    Automaton,
    Check,
    Label,
    Letter,
    Move,
    Slot,
    Slots,
    State,
    Update,
)

FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}
UNSET, SET, MANY = 0, 1, 2
"""The status of a side: nothing is marked; one value decides; or (for `=`) there are several
different values."""


class Side(NamedTuple):
    """One side of a comparison: its variable, the column of its values, and whether a slot is
    needed at all (the other side may come later), for one event or several."""

    variable: str
    column: int
    needed: bool
    repeats: bool


@dataclass(frozen=True)
class ComparisonFilter(Automaton):
    """`body FILTER f(A) op g(B)`, true for every pair of events.

    Of the side that came first, one value decides: for `<` the largest f(A), for `=` the only one;
    for `!=` the set of all its values.
    """

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

    def waits(self, state: Any) -> bool:
        return self.body.waits(state[0])

    def slots(self, state: Any) -> Slots:
        inner, status = state
        if not self.body.goes_on(inner):
            return self.body.slots(inner)  # nothing more will be read
        set_here = frozenset(self.slot(place) for place in (0, 1) if status[place] == SET)
        return set_here | self.body.slots(inner)

    @property
    def sides(self) -> tuple[Side, Side]:
        return self.left, self.right

    def slot(self, place: int) -> Slot:
        wanted = ""
        if self.op not in ("=", "!="):
            wanted = SMALLER if self.keeps_largest(place) else GREATER
        return Slot(self.op != "=", self.number, place, is_set=self.keeps_all(place), easier=wanted)

    def keeps_all(self, place: int) -> bool:
        """Whether every value of a side may decide."""
        return self.op == "!=" and self.sides[place].repeats

    def keeps_largest(self, place: int) -> bool:
        """Whether the largest value of a side decides, and not the smallest."""
        return (self.op in ("<", "<=")) == (place == 0)

    def _marked(
        self, move: Move, status: tuple[int, int], marked: tuple[bool, bool]
    ) -> Iterator[Move]:
        """The moves for an event that one side or both mark: check it against the other side, then
        keep it."""
        checks: list[Check] = []
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
                op = "not in" if self.keeps_all(other) else op
                checks.append(Check(op, self.slot(other), self.sides[place].column))
        checked = move._replace(checks=(*move.checks, *checks))
        yield from self._kept(checked, status, [p for p in (0, 1) if marked[p]])

    def _kept(self, move: Move, status: tuple[int, int], places: list[int]) -> Iterator[Move]:
        """The moves that remember the event on the given sides."""
        if not places:
            yield move._replace(target=(move.target, status))
            return
        place, *rest = places
        side, slot = self.sides[place], self.slot(place)
        if not side.needed or status[place] == MANY:
            yield from self._kept(move, status, rest)
        elif self.keeps_all(place):
            kept = _updated(move, Update(slot, "insert", side.column))
            yield from self._kept(kept, _but(status, place, SET), rest)
        elif status[place] == UNSET:
            kept = _updated(move, Update(slot, "set", side.column))
            yield from self._kept(kept, _but(status, place, SET), rest)
        elif self.op == "=":
            same = Check("=", slot, side.column)
            yield from self._kept(_checked(move, same), status, rest)
            differs = Check("differs", slot, side.column)
            yield from self._kept(_checked(move, differs), _but(status, place, MANY), rest)
        else:
            how = "max" if self.keeps_largest(place) else "min"
            yield from self._kept(_updated(move, Update(slot, how, side.column)), status, rest)


class Value(NamedTuple):
    """The value that fills one hole of a term: the values in `column` of `variable`. `how` is `set`
    for the value of its only event, `first`, `last`, an extreme, a total, or `every` for the set of
    all its values. `needed`: a slot has to keep it."""

    variable: str
    column: int
    how: str = "set"
    needed: bool = True


Bound = frozenset[str]
"""The variables that have an event, if a slot keeps some value of them."""


@dataclass(frozen=True)
class TermFilter(Automaton):
    """`body FILTER condition`: arithmetic, several variables, totals of a set.

    The condition is a term with a hole for each of `values`. Values of earlier events are in slots,
    those of the event at hand in columns. If later events are compared with a variable that has
    several events in its scope, its extremes are kept, or every value; a variable that is only
    totalled may have any number. For `b.x > avg(b.x)`, the extremes and the totals of one variable
    are kept.

    Without totals, the condition is checked when the last of its variables is marked, so that
    hopeless runs die early. With totals it is decided where the body accepts: a run may go on when
    it does not hold.
    """

    body: Automaton
    number: int
    condition: Term
    values: tuple[Value, ...]
    text: str

    @property
    def names(self) -> frozenset[str]:
        return frozenset(value.variable for value in self.values)

    @property
    def sides(self) -> tuple[Value, ...]:
        return self.values

    @property
    def at_the_end(self) -> bool:
        return any(value.how not in ("set", EVERY, *EXTREMES) for value in self.values)

    def initial(self) -> Iterable[State]:
        return [(q, frozenset(), True) for q in self.body.initial()]

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        inner, bound, _ = state
        for move in self.body.moves(inner, letter):
            marked = move.label & self.names
            after = bound | {v.variable for v in self.values if v.needed} & marked
            moved = _updated(move, *self._updates(bound, marked))
            if self.at_the_end:
                yield from self._ended(moved, bound, marked, after)
            else:
                if marked and self.names <= bound | marked:
                    moved = _checked(moved, *self._checks(bound, marked))
                yield moved._replace(target=(move.target, after, True))

    def accepts(self, state: Any) -> bool:
        inner, _, true = state
        return bool(true) and self.body.accepts(inner)

    def goes_on(self, state: Any) -> bool:
        return self.body.goes_on(state[0])

    def waits(self, state: Any) -> bool:
        return not self.at_the_end and self.body.waits(state[0])

    def slots(self, state: Any) -> Slots:
        inner, bound, _ = state
        below = self.body.slots(inner)
        if not self.body.goes_on(inner):
            return below
        set_here = [i for i, v in enumerate(self.values) if v.needed and v.variable in bound]
        return below | frozenset(map(self.slot, set_here))

    def slot(self, place: int) -> Slot:
        how = self.values[place].how
        hows = [value.how for value in self.values]
        return Slot(
            True,
            self.number,
            place,
            is_set=how == EVERY,
            easier=easier(self.condition, hows, place),
            is_total=how in TOTALS,
            is_float=is_float(self.condition, place),
            may_not_fit=may_not_fit(self.condition, place),
        )

    # ------------------------------------------------------------ what is checked and kept

    def _ended(self, move: Move, bound: Bound, marked: Label, after: Bound) -> Iterator[Move]:
        """The moves where the body accepts: the condition decides whether this automaton
        accepts."""
        target = move.target
        single = {value.variable for value in self.values if value.how in ("set", *EXTREMES)}
        if not self.body.accepts(target):
            yield move._replace(target=(target, after, False))
        elif not single <= after:
            yield move._replace(target=(target, after, True))  # true for no events
        else:
            term = self._term(bound, marked)
            yield _checked(move, holds(term))._replace(target=(target, after, True))
            if self.body.goes_on(target):
                yield _checked(move, fails(term))._replace(target=(target, after, False))

    def _checks(self, bound: Bound, marked: Label) -> Iterator[Check]:
        """The condition, for all combinations of events that include the marked one. Of two sets
        one is left out: planning allows no more where there is a third variable."""
        sets = [n for n, value in enumerate(self.values) if value.how == EVERY]
        ways = [self._ways(self.values[place].variable, bound, marked) for place in sets]
        others = self.names - {self.values[place].variable for place in sets}
        for chosen in product(*ways):
            before = [place for place, now in zip(sets, chosen, strict=True) if not now]
            if len(before) < len(sets) or others & marked:
                term = self._term(bound, marked, dict.fromkeys(before, MEMBER))
                yield every(self.slot(before[0]), term) if before else holds(term)

    def _ways(self, variable: str, bound: Bound, marked: Label) -> tuple[bool, ...]:
        """Whether a set counts as the event at hand, as the earlier events, or both."""
        return tuple(now for now in (True, False) if variable in (marked if now else bound))

    def _term(self, bound: Bound, marked: Label, known: dict[int, Term] | None = None) -> Term:
        """The condition after the event has been marked."""
        values = [self._value(place, bound, marked) for place in range(len(self.values))]
        for place, value in (known or {}).items():
            values[place] = value
        return self.condition.filled(values)

    def _value(self, place: int, bound: Bound, marked: Label) -> Term:
        variable, number, how, _ = self.values[place]
        before = slot(self.slot(place)) if variable in bound else None
        if variable in marked:
            return with_event(how, number, before, self._base(place))
        return before or without_events(how)

    def _base(self, place: int) -> Slot | None:
        """The slot of the value from which distances are added up at a place."""
        variable, column, *_ = self.values[place]
        bases = (n for n, v in enumerate(self.values) if v[:3] == (variable, column, BASE))
        base = next(bases, None)
        return None if base is None else self.slot(base)

    def _updates(self, bound: Bound, marked: Label) -> Iterator[Update]:
        for place, (variable, number, how, needed) in enumerate(self.values):
            if needed and variable in marked:
                first, base = variable not in bound, self._base(place)
                made = update(self.slot(place), how, number, first=first, base=base)
                if made is not None:
                    yield made


SlotFilter = ComparisonFilter | TermFilter


def _checked(move: Move, *checks: Check) -> Move:
    return move._replace(checks=(*move.checks, *checks))


def _updated(move: Move, *updates: Update) -> Move:
    return move._replace(updates=(*move.updates, *updates))


def _but(status: tuple[int, int], place: int, value: int) -> tuple[int, int]:
    return (value, status[1]) if place == 0 else (status[0], value)
