"""`φ WITHOUT B` where conditions on B read events of φ, decided by slots or by values in states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import product
from typing import Any, NamedTuple

from cereus.automata.absence import BEFORE, WithoutAutomaton
from cereus.automata.memory.filters import Value
from cereus.automata.memory.terms import Term, column, fails, holds, slot
from cereus.automata.memory.values import Row, RowReader, flattened
from cereus.automata.model import Label, Letter, Move, Slot, Slots, State, Update, marks
from cereus.expr.python.evaluate import holds as is_true
from cereus.expr.tree import Expression, variables

THIS = "this event"
"""The name, in conditions, of the event that must not occur. No variable has this name."""


# ---------------------------------------------------------------- by slots


class AbsentTerm(NamedTuple):
    """A condition on an event that must not occur, and the variables of φ that it reads."""

    term: Term
    reads: frozenset[str]


class AbsentInSlots(NamedTuple):
    """Events with this bit must not occur where all conditions hold."""

    bit: int
    conditions: tuple[AbsentTerm, ...]


@dataclass(frozen=True)
class AbsenceFilter(WithoutAutomaton):
    """The automaton with slots. The variables that conditions read hold the first event of a match,
    or nothing; its values are in slots. Only a B whose conditions hold counts."""

    number: int
    values: tuple[Value, ...]
    kinds: tuple[AbsentInSlots, ...]
    text: str

    @property
    def sides(self) -> tuple[Value, ...]:
        return self.values

    @property
    def names(self) -> frozenset[str]:
        return frozenset(value.variable for value in self.values)

    def slot(self, place: int) -> Slot:
        return Slot(True, self.number, place)

    def initial(self) -> Iterable[State]:
        return [(BEFORE, q, frozenset()) for q in self.body.initial()]

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        phase, inner, bound = state
        if not self.is_open(phase):
            return
        for move in self.body.moves(inner, letter):
            if phase == BEFORE and marks(move.label):
                after = move.label & self.names
                begun = move._replace(updates=(*move.updates, *self._updates(after)))
                yield from self._decided(begun, phase, letter, frozenset(), after)
            else:
                yield from self._decided(move, phase, letter, bound, frozenset())

    def slots(self, state: Any) -> Slots:
        below = self.body.slots(state[1])
        if not self.goes_on(state):
            return below
        needed = [p for p, value in enumerate(self.values) if value.variable in state[2]]
        return below | frozenset(map(self.slot, needed))

    def _updates(self, marked: Label) -> Iterator[Update]:
        for place, value in enumerate(self.values):
            if value.variable in marked:
                yield Update(self.slot(place), "set", value.column)

    def _decided(
        self, move: Move, phase: int, letter: Letter, bound: Label, marked: Label
    ) -> Iterator[Move]:
        """The move if the event is a B, and the move if it is not; both, if only its values can
        tell."""
        occurs = self._occurs(letter, bound, marked)
        ways = {holding: self.after(phase, move, holding) for holding in (True, False)}
        all_bound = bound | marked
        if isinstance(occurs, bool) or ways[True] == ways[False]:
            after = ways[occurs is True]
            if after is not None:
                yield move._replace(target=(after, move.target, all_bound))
            return
        for holding, after in ways.items():
            if after is not None:
                check = holds(occurs) if holding else fails(occurs)
                checks = (*move.checks, check)
                yield move._replace(target=(after, move.target, all_bound), checks=checks)

    def _occurs(self, letter: Letter, bound: Label, marked: Label) -> Term | bool:
        """Whether the event is a B: known from its letter, or a term that decides it."""
        if letter & self.mask:
            return True
        terms: list[Term] = []
        for kind in self.kinds:
            if letter >> kind.bit & 1:
                terms_here = [c.term for c in kind.conditions if c.reads <= bound | marked]
                if not terms_here:
                    return True  # true for no events
                terms.append(reduce(lambda a, b: Term("and", (a, b)), terms_here))
        if not terms:
            return False
        values = [self._value(place, bound, marked) for place in range(len(self.values))]
        return reduce(lambda a, b: Term("or", (a, b)), terms).filled(values)

    def _value(self, place: int, bound: Label, marked: Label) -> Term:
        value = self.values[place]
        return column(value.column) if value.variable in marked else slot(self.slot(place))


# ---------------------------------------------------------------- by values


class AbsentByValues(NamedTuple):
    """Events with this bit must not occur where all conditions hold."""

    bit: int
    conditions: tuple[Expression, ...]


@dataclass(frozen=True)
class ValueAbsence(WithoutAutomaton):
    """The automaton for any conditions: states remember the values of events of φ and of the B's
    that came in between. A B does no harm if a condition fails for one event of φ. That event may
    come later, so this is decided where φ accepts.

    A state is (phase, a state of φ, the rows of every variable, the B's that lie between, those
    since the last event that was marked).
    """

    kinds: tuple[AbsentByValues, ...]

    @cached_property
    def reader(self) -> RowReader:
        return RowReader.of(c for kind in self.kinds for c in kind.conditions)

    @cached_property
    def _this(self) -> int:
        return self.reader.names.index(THIS) if THIS in self.reader.names else -1

    @cached_property
    def _flat(self) -> tuple[tuple[Expression, ...], ...]:
        return tuple(tuple(map(flattened, kind.conditions)) for kind in self.kinds)

    def initial(self) -> Iterable[State]:
        none: frozenset[Row] = frozenset()
        empty = tuple(none for _ in self.reader.names)
        return [(BEFORE, q, empty, none, none) for q in self.body.initial()]

    def moves(self, state: Any, letter: Letter) -> Iterator[Move]:
        phase, inner, rows, between, recent = state
        if not self.is_open(phase):
            return
        occurs = bool(letter & self.mask)
        suspects = self._suspects(letter)
        for move in self.body.moves(inner, letter):
            after = self.after(phase, move, occurs)
            if after is None:
                continue
            marked = marks(move.label)
            sure = between | recent if marked else between
            later = frozenset() if marked else recent
            if marked and self.through:
                sure |= suspects
            elif phase != BEFORE:
                later |= suspects
            rows_after = self._rows_with(rows, move.label, letter) if marked else rows
            yield move._replace(target=(after, move.target, rows_after, sure, later))

    def accepts(self, state: Any) -> bool:
        _, inner, rows, between, _ = state
        if not self.body.accepts(inner):
            return False
        return not any(self._harms(kind, row, rows) for kind, row in between)

    def _suspects(self, letter: Letter) -> frozenset[tuple[int, Row]]:
        row = self.reader.row(self._this, letter) if self._this >= 0 else ()
        return frozenset((n, row) for n, kind in enumerate(self.kinds) if letter >> kind.bit & 1)

    def _rows_with(
        self, rows: tuple[frozenset[Row], ...], label: Label, letter: Letter
    ) -> tuple[frozenset[Row], ...]:
        return tuple(
            known | {self.reader.row(place, letter)} if name in label else known
            for place, (name, known) in enumerate(zip(self.reader.names, rows, strict=True))
        )

    def _harms(self, kind: int, row: Row, rows: tuple[frozenset[Row], ...]) -> bool:
        """Whether all conditions on a B hold for every event that they read."""
        return all(self._holds(condition, row, rows) for condition in self._flat[kind])

    def _holds(self, condition: Expression, row: Row, rows: tuple[frozenset[Row], ...]) -> bool:
        read = variables(condition)
        parts: list[Iterable[Row | None]] = []
        for place, (name, known) in enumerate(zip(self.reader.names, rows, strict=True)):
            one = (row,) if place == self._this else known
            parts.append(one if name in read else (None,))
        return all(is_true(condition, {}, self.reader.bindings(each)) for each in product(*parts))
