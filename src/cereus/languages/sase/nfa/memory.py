"""How the runs of an NFA^b remember values: in their states, or in slots of the kernel."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from cereus.automata.memory.terms import Term
from cereus.automata.memory.values import Seen, Totals
from cereus.automata.model import NO_SLOTS, Letter, Slot, Slots, Update
from cereus.errors import CereusError
from cereus.expr import tree as ex
from cereus.languages.sase import tree as sase
from cereus.languages.sase.nfa.stages import Asked, Stage
from cereus.reference.sase.terms import worth

Held = tuple[Any, ...]
Updates = tuple[Update, ...]


class Memory(ABC):
    empty: Held = ()

    @abstractmethod
    def ask(self, asked: Asked, held: Held, letter: Letter) -> bool | Term:
        """The answer, or the term that decides it."""

    @abstractmethod
    def taken(self, stage: Stage, held: Held, letter: Letter) -> tuple[Held, Updates]:
        """What is remembered when the event has been selected."""

    def alive(self, held: Held, stage: int) -> Held:
        """What can still be read from a state on."""
        return held

    def slots(self, stage: int) -> Slots:
        return NO_SLOTS


@dataclass(frozen=True)
class Slotted(Memory):
    """Values are in slots. `set_in`: those that are set, and can still be read, in each state;
    `updates`: what each state writes when it selects an event; `named`: what each slot holds."""

    set_in: tuple[Slots, ...]
    updates: tuple[Updates, ...]
    numbers: Mapping[tuple[str, bool], int]
    named: Mapping[Slot, str] = field(default_factory=dict)

    def ask(self, asked: Asked, held: Held, letter: Letter) -> bool | Term:
        if asked.bit is not None and not letter >> asked.bit & 1:
            return False
        return asked.others if isinstance(asked.others, Term) else True

    def taken(self, stage: Stage, held: Held, letter: Letter) -> tuple[Held, Updates]:
        return held, self.updates[self.numbers[stage.variable, stage.more]]

    def slots(self, stage: int) -> Slots:
        return self.set_in[stage]


class Cell(NamedTuple):
    """Something that is remembered of a variable: the value of its `first` or `last` event, the
    `totals` of all, the k `highest` or `lowest`, or an aggregate of the user's own."""

    variable: str
    kind: str
    path: tuple[str, ...] | None
    k: int | None = None

    @classmethod
    def of(cls, node: ex.Expression) -> Cell | None:
        """Where the value of an identifier is; None if only the event at hand has it."""
        match node:
            case sase.Aggregate():
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
class Values(Memory):
    """States remember values, one for each of `cells`; `read_from[s]` are those that are read
    in state s or later."""

    cells: tuple[Cell, ...]
    read_from: tuple[frozenset[Cell], ...]
    aggregates: Mapping[str, sase.UserAggregate] = field(default_factory=dict)

    @cached_property
    def empty(self) -> Held:  # type: ignore[override]
        return tuple(map(self._nothing, self.cells))

    @cached_property
    def _places(self) -> dict[Cell, int]:
        return {cell: place for place, cell in enumerate(self.cells)}

    def ask(self, asked: Asked, held: Held, letter: Letter) -> bool | Term:
        if asked.bit is not None and not letter >> asked.bit & 1:
            return False
        if asked.after:
            assert asked.at is not None
            held = self.with_event(asked.at, held, letter, first=asked.first)
        return all(
            worth(clause, lambda node: self._read(node, asked, held, letter)) is True
            for clause in asked.others
        )

    def _read(self, node: Any, asked: Asked, held: Held, letter: Letter) -> Any:
        cell = Cell.of(node)
        own = node.variable == asked.at and not asked.after
        at_hand = cell is None or (own and asked.first and cell.kind == "first")
        if at_hand:
            assert isinstance(letter, Seen), "an event that is compared has its values with it"
            return _plain(letter.values[node.path])
        assert cell is not None
        return self._value(node, held[self._places[cell]])

    def _value(self, node: ex.Expression, kept: Any) -> Any:
        if not isinstance(node, sase.Aggregate) or not isinstance(kept, Totals):
            return kept
        return kept.events if node.attribute is None else kept.of(node.function)

    def taken(self, stage: Stage, held: Held, letter: Letter) -> tuple[Held, Updates]:
        return self.with_event(stage.variable, held, letter, first=not stage.more), ()

    def with_event(self, variable: str, held: Held, letter: Letter, *, first: bool) -> Held:
        """What is held, with an event added to a variable."""
        return tuple(
            self._added(cell, kept, letter, first) if cell.variable == variable else kept
            for cell, kept in zip(self.cells, held, strict=True)
        )

    def alive(self, held: Held, stage: int) -> Held:
        read = self.read_from[stage]
        return tuple(
            kept if cell in read else self._nothing(cell)
            for cell, kept in zip(self.cells, held, strict=True)
        )

    # ------------------------------------------------------------ one cell

    def _nothing(self, cell: Cell) -> Any:
        if cell.kind in ("first", "last"):
            return None
        if cell.kind == "totals":
            return Totals()
        if cell.k is not None:
            return ()
        return _hashable(self.aggregates[cell.kind].identity, cell.kind)

    def _added(self, cell: Cell, kept: Any, letter: Letter, first: bool) -> Any:
        value = None
        if cell.path is not None:
            assert isinstance(letter, Seen), "an event that is selected has its values with it"
            value = _plain(letter.values[cell.path])
        if cell.kind == "first":
            return value if first else kept
        if cell.kind == "last":
            return value
        if cell.kind == "totals":
            return (Totals() if first else kept).plus(value)
        kept = self._nothing(cell) if first else kept
        if value is None:
            return kept
        if cell.k is not None:
            return tuple(sase.ranked((*kept, value), cell.kind, cell.k))
        return _hashable(self.aggregates[cell.kind].combine(kept, value), cell.kind)


def _hashable(value: Any, aggregate: str) -> Any:
    """Runs that remember the same are one, so values must be comparable."""
    try:
        hash(value)
    except TypeError:
        raise CereusError(
            f"the aggregate {aggregate!r} makes a {type(value).__name__}, which can change",
            hint="let combine make values that cannot: numbers, strings, tuples, frozensets",
        ) from None
    return value


def _plain(value: Any) -> Any:
    """NaN compares as nothing does and would be a new value each time: one object for all."""
    return math.nan if isinstance(value, float) and value != value else value
