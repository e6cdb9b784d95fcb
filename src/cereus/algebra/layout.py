"""Where each variable of Fig. 4 lives in the flat memory, and how much room it has.

Equal subexpressions share one place: they hold the same values at every tick. So `B ; B` has one
register for B, and `(A;B) + ((A;B);C)` detects `A;B` once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cereus.algebra.instructions import EMPTY_SET, FIRST_REGISTER, NEVER, NEVER_CELL
from cereus.algebra.sizes import Sized, sized, with_sets
from cereus.lang.algebra import (
    Conjunction,
    Disjunction,
    EventExpression,
    Negation,
    Sequence,
    TemporalRestriction,
)


@dataclass(frozen=True)
class Place:
    """The addresses of one subexpression; NEVER_CELL or EMPTY_SET where it has no such variable."""

    register: int
    left: int = NEVER_CELL
    """lᵢ, or tᵢ of a negation."""
    right: int = NEVER_CELL
    """rᵢ"""
    queue: int = EMPTY_SET
    """Qᵢ; EMPTY_SET when the right side of the sequence is instantaneous."""
    stride: int = 1
    """The distance between two instances in Qᵢ."""
    set: int = EMPTY_SET
    """Sᵢ; shared with an operand when it is always equal to it."""
    owns_set: bool = False


@dataclass(frozen=True)
class Layout:
    places: dict[EventExpression, Place]
    initial: tuple[int, ...]
    """The whole memory before the first tick."""
    state_at: int
    """Where the state begins: it runs to the end of the memory."""

    @property
    def state_width(self) -> int:
        return len(self.initial) - self.state_at


def lay_out(expression: EventExpression, *, values: bool) -> Layout:
    nodes = {part.node: part for part, _ in sized(expression).postorder()}
    builder = _Builder(with_sets(expression), values)
    registers = {node: builder.take(builder.instance(part)) for node, part in nodes.items()}
    state_at = len(builder.memory)
    for node, part in nodes.items():
        builder.places[node] = builder.place(part, registers[node])
    return Layout(builder.places, tuple(builder.memory), state_at)


@dataclass
class _Builder:
    needed: frozenset[EventExpression]
    values: bool
    places: dict[EventExpression, Place] = field(default_factory=dict)
    memory: list[int] = field(default_factory=lambda: [NEVER, NEVER, NEVER, 0])

    def __post_init__(self) -> None:
        assert len(self.memory) == FIRST_REGISTER

    def take(self, initial: list[int]) -> int:
        """Append cells to the memory; give the address of the first."""
        self.memory.extend(initial)
        return len(self.memory) - len(initial)

    def instance(self, part: Sized) -> list[int]:
        """⟨⟩, with room for the rows of an instance and the -1 that closes them."""
        return [NEVER] + [-1] * (part.constituents + 1 if self.values else 0)

    def own_set(self, part: Sized) -> tuple[int, bool]:
        if part.node not in self.needed:
            return EMPTY_SET, False
        return self.take([NEVER, 0] + [NEVER] * part.set_size) + 1, True

    def place(self, part: Sized, register: int) -> Place:
        match part.node:
            case Conjunction():
                l_at, r_at = (self.take(self.instance(operand)) for operand in part.operands)
                s_at, owned = self.own_set(part)
                return Place(register, left=l_at, right=r_at, set=s_at, owns_set=owned)
            case Negation(left):
                return Place(register, left=self.take([NEVER]), set=self.places[left].set)
            case Sequence():
                return self.sequence(part, register)
            case Disjunction(left, right):
                return self.disjunction(part, register, self.places[left], self.places[right])
            case TemporalRestriction(body):
                return Place(register, set=self.places[body].set)
        return Place(register)

    def sequence(self, part: Sized, register: int) -> Place:
        stored = self.instance(part.operands[0])
        if part.queue_size == 0:
            l_at = self.take(stored)
            s_at, owned = self.own_set(part)
            return Place(register, left=l_at, set=s_at, owns_set=owned)
        stored = [NEVER, *stored]  # its end, which the general sequence compares
        l_at = self.take(stored) + 1
        q_at = self.take([0] + stored * part.queue_size)
        s_at, owned = self.own_set(part)
        return Place(register, l_at, NEVER_CELL, q_at, len(stored), s_at, owned)

    def disjunction(self, part: Sized, register: int, left: Place, right: Place) -> Place:
        if right.set in (EMPTY_SET, left.set):
            return Place(register, set=left.set)
        if left.set == EMPTY_SET:
            return Place(register, set=right.set)
        s_at, owned = self.own_set(part)
        return Place(register, set=s_at, owns_set=owned)
