"""How the runs of an NFA^b remember values: in their states, or in slots of the kernel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from cereus.automata.memory.terms import Term
from cereus.automata.memory.totals import Totals
from cereus.automata.memory.values import value_of
from cereus.automata.model import NO_SLOTS, Letter, Slot, Slots, Update
from cereus.errors import CereusError
from cereus.expr import tree as ex
from cereus.expr.python.aggregates import EVERY_VALUE
from cereus.languages.sase import tree as sase
from cereus.languages.sase.nfa.clauses import clause_value
from cereus.languages.sase.nfa.stages import NfaStage, Question

Remembered = tuple[Any, ...]
Updates = tuple[Update, ...]


class NfaMemory(ABC):
    """The memory of runs about the events that they have selected, and its answers to clauses."""

    empty: Remembered = ()

    @abstractmethod
    def decide(self, question: Question, remembered: Remembered, letter: Letter) -> bool | Term:
        """The answer, or the term that decides it."""

    @abstractmethod
    def taken(
        self, stage: NfaStage, remembered: Remembered, letter: Letter
    ) -> tuple[Remembered, Updates]:
        """The memory after the event has been selected."""

    def alive(self, remembered: Remembered, stage: int) -> Remembered:
        """The part of the memory that can still be read from a state on."""
        return remembered

    def slots(self, stage: int) -> Slots:
        return NO_SLOTS


@dataclass(frozen=True)
class SlotMemory(NfaMemory):
    """Values are in slots. `set_in`: the slots that are set, and can still be read, in each state;
    `updates`: what each state writes when it selects an event; `named`: what each slot holds."""

    set_in: tuple[Slots, ...]
    updates: tuple[Updates, ...]
    numbers: Mapping[tuple[str, bool], int]
    named: Mapping[Slot, str] = field(default_factory=dict)

    def decide(self, question: Question, remembered: Remembered, letter: Letter) -> bool | Term:
        if question.bit is not None and not letter >> question.bit & 1:
            return False
        return question.others if isinstance(question.others, Term) else True

    def taken(
        self, stage: NfaStage, remembered: Remembered, letter: Letter
    ) -> tuple[Remembered, Updates]:
        return remembered, self.updates[self.numbers[stage.variable, stage.more]]

    def slots(self, stage: int) -> Slots:
        return self.set_in[stage]


VALUES = "every value"


class Cell(NamedTuple):
    """Something that is remembered about a variable: the value of its `first` or `last` event, the
    `totals` of all, `every value`, the k `highest` or `lowest`, or a user's aggregate."""

    variable: str
    kind: str
    path: tuple[str, ...] | None
    k: int | None = None

    @classmethod
    def of(cls, node: ex.Expression) -> Cell | None:
        """Where the value of an identifier is; None if only the event at hand has it."""
        match node:
            case sase.Aggregate():
                if node.function in EVERY_VALUE:
                    return cls(node.variable, VALUES, node.attribute)
                known = node.function in sase.BUILT_IN and node.k is None
                kind = "totals" if known else node.function
                return cls(node.variable, kind, node.attribute, node.k)
            case sase.Item(path, str(variable), sase.Index.PREVIOUS | sase.Index.LAST):
                return cls(variable, "last", path)
            case sase.Item(at=sase.Index.EACH):
                return None
            case ex.Attribute(path, str(variable)):
                return cls(variable, "first", path)
        return None


@dataclass(frozen=True)
class ValueMemory(NfaMemory):
    """States remember values, one for each of `cells`; `read_from[s]` are those that are read
    in state s or later."""

    cells: tuple[Cell, ...]
    read_from: tuple[frozenset[Cell], ...]
    aggregates: Mapping[str, sase.UserAggregate] = field(default_factory=dict)

    @cached_property
    def empty(self) -> Remembered:  # type: ignore[override]
        return tuple(map(self._nothing, self.cells))

    @cached_property
    def _places(self) -> dict[Cell, int]:
        return {cell: place for place, cell in enumerate(self.cells)}

    def decide(self, question: Question, remembered: Remembered, letter: Letter) -> bool | Term:
        if question.bit is not None and not letter >> question.bit & 1:
            return False
        if question.after:
            assert question.at is not None
            remembered = self.with_event(question.at, remembered, letter, first=question.first)
        return all(
            clause_value(clause, lambda node: self._read(node, question, remembered, letter))
            is True
            for clause in question.others
        )

    def _read(self, node: Any, question: Question, remembered: Remembered, letter: Letter) -> Any:
        cell = Cell.of(node)
        here = node.variable == question.at and not question.after
        at_hand = cell is None or (here and question.first and cell.kind == "first")
        if at_hand:
            return value_of(letter, node.path)
        assert cell is not None
        return self._value(node, remembered[self._places[cell]])

    def _value(self, node: ex.Expression, kept: Any) -> Any:
        if not isinstance(node, sase.Aggregate) or not isinstance(kept, Totals):
            return kept
        return kept.value(node.function, node.attribute, node.parameter)

    def taken(
        self, stage: NfaStage, remembered: Remembered, letter: Letter
    ) -> tuple[Remembered, Updates]:
        return self.with_event(stage.variable, remembered, letter, first=not stage.more), ()

    def with_event(
        self, variable: str, remembered: Remembered, letter: Letter, *, first: bool
    ) -> Remembered:
        """What is remembered, with an event added to a variable."""
        return tuple(
            self._added(cell, kept, letter, first) if cell.variable == variable else kept
            for cell, kept in zip(self.cells, remembered, strict=True)
        )

    def alive(self, remembered: Remembered, stage: int) -> Remembered:
        read = self.read_from[stage]
        return tuple(
            kept if cell in read else self._nothing(cell)
            for cell, kept in zip(self.cells, remembered, strict=True)
        )

    # ------------------------------------------------------------ one cell

    def _nothing(self, cell: Cell) -> Any:
        if cell.kind in ("first", "last"):
            return None
        if cell.kind == "totals":
            return Totals()
        if cell.kind == VALUES:
            return Totals.keeping(EVERY_VALUE)
        if cell.k is not None:
            return ()
        return _hashable(self.aggregates[cell.kind].identity, cell.kind)

    def _added(self, cell: Cell, kept: Any, letter: Letter, first: bool) -> Any:
        value = None if cell.path is None else value_of(letter, cell.path)
        if cell.kind == "first":
            return value if first else kept
        if cell.kind == "last":
            return value
        if cell.kind in ("totals", VALUES):
            return (self._nothing(cell) if first else kept).plus(value)
        kept = self._nothing(cell) if first else kept
        if value is None:
            return kept
        if cell.k is not None:
            return tuple(sase.ranked((*kept, value), cell.kind, cell.k))
        return _hashable(self.aggregates[cell.kind].combine(kept, value), cell.kind)


def _hashable(value: Any, aggregate: str) -> Any:
    """A hashable form of a value: runs that remember the same are one, so values must be
    comparable."""
    try:
        hash(value)
    except TypeError:
        raise CereusError(
            f"the aggregate {aggregate!r} makes a {type(value).__name__}, which can change",
            hint="let combine make values that cannot: numbers, strings, tuples, frozensets",
        ) from None
    return value
