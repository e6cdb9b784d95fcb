"""The place and the size of each variable of Fig. 4 in the flat memory.

Equal subexpressions share one place: they hold the same values at every tick. So `B ; B` has one
register for B, and `(A;B) + ((A;B);C)` detects `A;B` once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from cereus.languages.algebra.detect.instructions import FIRST_REGISTER, NEVER, NEVER_CELL, NO_QUEUE
from cereus.languages.algebra.sizes import Sized, sized
from cereus.languages.algebra.tree import (
    Conjunction,
    Disjunction,
    EventExpression,
    Negation,
    Sequence,
    TemporalRestriction,
    tau_length,
)

Source = tuple[int, int, int]
"""A row of `sources` (`instructions`)."""


@dataclass(frozen=True)
class Addresses:
    """The addresses of one subexpression; NEVER_CELL or NO_QUEUE where it has no such variable."""

    register: int
    left: int = NEVER_CELL
    """lᵢ, or tᵢ of a negation."""
    right: int = NEVER_CELL
    """rᵢ"""
    queue: int = NO_QUEUE
    """Qᵢ; NO_QUEUE when the right side of the sequence is instantaneous."""
    stride: int = 1
    """The distance between two instances in Qᵢ."""
    room: int = 0
    """The most instances in Qᵢ (Proposition 37)."""
    starts: tuple[Source, ...] = ()
    """Sᵢ: where the starts of what has begun in this subexpression are."""
    sources: int = 0
    """Where the layout's sources for Qᵢ begin."""


class Starts(NamedTuple):
    """Where a state has the starts of what has begun: in `room` cells from `first` on, at this
    distance, as many as cell `length` says, or in all. They matter for `age` after the start; None:
    for ever."""

    first: int
    age: int | None
    length: int | None = None
    stride: int = 1
    room: int = 1


@dataclass(frozen=True)
class Layout:
    places: dict[EventExpression, Addresses]
    initial: tuple[int, ...]
    """The whole memory before the first tick."""
    state_at: int
    """Where the state begins: it runs to the end of the memory."""
    sources: tuple[Source, ...] = ()
    ages: dict[EventExpression, int | None] = field(default_factory=dict)
    """How long after its start an instance in a subexpression matters: the shortest restriction
    around it, or None without any. An instance that it becomes a part of starts no later, and ends
    later than everything so far. Of the instances of one tick the one that starts last is taken, so
    one that is too old does not block others either."""

    @property
    def state_width(self) -> int:
        return len(self.initial) - self.state_at

    @cached_property
    def lasting(self) -> tuple[Starts, ...]:
        """The state that makes a difference to later instances. If it does so for ever, the
        contents of a queue were in the cell before it; a negation only compares starts with what it
        remembers."""
        lasting: list[Starts] = []
        for node, place in self.places.items():
            age = self.ages[node]
            if not isinstance(node, Negation):
                cells = [cell for cell in (place.left, place.right) if cell != NEVER_CELL]
                lasting += [Starts(cell - self.state_at, age) for cell in cells]
            if place.queue != NO_QUEUE and age is not None:
                length = place.queue - self.state_at
                lasting.append(Starts(length + 2, age, length, place.stride, place.room))
        return tuple(lasting)

    @cached_property
    def longest_age(self) -> int | None:
        """The time after which nothing matters, except what matters for ever; None if everything
        does."""
        return max((each.age for each in self.lasting if each.age is not None), default=None)


def lay_out(expression: EventExpression, *, values: bool) -> Layout:
    nodes = {part.node: part for part, _ in sized(expression).postorder()}
    builder = _Builder(values)
    registers = {node: builder.take(builder.instance(part)) for node, part in nodes.items()}
    builder.marks_at = builder.take([0] * max(part.queue_size for part in nodes.values()))
    state_at = len(builder.memory)
    for node, part in nodes.items():
        builder.places[node] = builder.place(part, registers[node])
    sources = tuple(builder.sources)
    return Layout(builder.places, tuple(builder.memory), state_at, sources, _ages(expression))


def _ages(expression: EventExpression) -> dict[EventExpression, int | None]:
    """For every subexpression, the shortest restriction around it; if it occurs in several places,
    the longest of those."""
    ages: dict[EventExpression, int | None] = {}
    pending: list[tuple[EventExpression, int | None]] = [(expression, None)]
    while pending:
        node, age = pending.pop()
        known = ages.get(node, -1)
        if known is None or (age is not None and age <= known):
            continue
        ages[node] = age
        if isinstance(node, TemporalRestriction):
            length = tau_length(node.tau)
            age = length if age is None else min(age, length)
        pending += [(child, age) for child in node.children()]
    return ages


@dataclass
class _Builder:
    values: bool
    places: dict[EventExpression, Addresses] = field(default_factory=dict)
    memory: list[int] = field(default_factory=lambda: [NEVER, NEVER])
    sources: list[Source] = field(default_factory=list)
    marks_at: int = 0

    def __post_init__(self) -> None:
        assert len(self.memory) == FIRST_REGISTER

    def take(self, initial: list[int]) -> int:
        """Append cells to the memory. Returns the address of the first."""
        self.memory.extend(initial)
        return len(self.memory) - len(initial)

    def instance(self, part: Sized) -> list[int]:
        """⟨⟩, with room for the rows of an instance and the -1 that closes them."""
        return [NEVER] + [-1] * (part.constituents + 1 if self.values else 0)

    def place(self, part: Sized, register: int) -> Addresses:
        match part.node:
            case Conjunction(left, right):
                l_at, r_at = (self.take(self.instance(operand)) for operand in part.operands)
                begun = self.starts(left, right, cells=(l_at, r_at))
                return Addresses(register, left=l_at, right=r_at, starts=begun)
            case Negation(left):
                return Addresses(register, left=self.take([NEVER]), starts=self.starts(left))
            case Sequence(left, right):
                return self.sequence(part, register, left, right)
            case Disjunction(left, right):
                return Addresses(register, starts=self.starts(left, right))
            case TemporalRestriction(body):
                return Addresses(register, starts=self.starts(body))
        return Addresses(register)

    def starts(self, *operands: EventExpression, cells: tuple[int, ...] = ()) -> tuple[Source, ...]:
        """Sᵢ, from those of operands and the instances in some cells (Fig. 5)."""
        below = [source for operand in operands for source in self.places[operand].starts]
        return tuple(dict.fromkeys([*below, *((cell, NEVER_CELL, 0) for cell in cells)]))

    def sequence(
        self, part: Sized, register: int, left: EventExpression, right: EventExpression
    ) -> Addresses:
        stored = self.instance(part.operands[0])
        room = part.queue_size
        if room == 0:
            l_at = self.take(stored)
            return Addresses(register, left=l_at, starts=self.starts(left, cells=(l_at,)))
        stored = [NEVER, *stored]  # its end, which the general sequence compares
        stride = len(stored)
        l_at = self.take(stored) + 1
        q_at = self.take([NEVER, 0] + stored * room) + 1
        begun = (*self.starts(left, cells=(l_at,)), (q_at + 2, q_at, stride))
        read = self.places[right].starts
        at = len(self.sources)
        self.sources += [(room, len(read), self.marks_at), *read]
        return Addresses(register, l_at, NEVER_CELL, q_at, stride, room, begun, at)
