"""Bounds the sizes of the set variables and the instances of an expression (§4.3).

Everything here is a property of the expression alone. So the memory of detection is known before
the first event.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from cereus.languages.algebra.tree import (
    Conjunction,
    Disjunction,
    Empty,
    EventExpression,
    Negation,
    Primitive,
    Sequence,
    TemporalRestriction,
)


@dataclass(frozen=True, slots=True)
class Sized:
    """A subexpression with its operands, and how large its variables can get."""

    node: EventExpression
    operands: tuple[Sized, ...]
    set_size: int
    """The largest |Sᵢ|: how many start times of partial detections can matter at once. It follows
    from the assignments of Fig. 5; Proposition 38 gives the coarser m - 1. Zero means that every
    instance is instantaneous."""
    constituents: int
    """The most primitive instances that one instance is made of."""

    @property
    def queue_size(self) -> int:
        """The largest |Qᵢ| (Proposition 37)."""
        return self.operands[1].set_size if isinstance(self.node, Sequence) else 0

    def postorder(self, inside: bool = False) -> Iterator[tuple[Sized, bool]]:
        """E¹ … Eᵐ, each with whether it occurs within the right-hand side of a sequence: only there
        the paper's model keeps Sᵢ (§4.4)."""
        for position, operand in enumerate(self.operands):
            right_of_sequence = isinstance(self.node, Sequence) and position == 1
            yield from operand.postorder(inside or right_of_sequence)
        yield self, inside


@lru_cache(maxsize=1 << 14)  # rewriting keeps most of an expression
def sized(expression: EventExpression) -> Sized:
    operands = tuple(sized(child) for child in expression.children())
    sets = [operand.set_size for operand in operands]
    parts = [operand.constituents for operand in operands]
    match expression:
        case Primitive():
            return Sized(expression, operands, 0, 1)
        case Empty():
            return Sized(expression, operands, 0, 0)
        case TemporalRestriction() | Negation():
            return Sized(expression, operands, sets[0], parts[0])
        case Disjunction():
            return Sized(expression, operands, sum(sets), max(parts))
        case Conjunction():
            return Sized(expression, operands, sum(sets) + 2, sum(parts))
        case Sequence():
            return Sized(expression, operands, sum(sets) + 1, sum(parts))
    raise TypeError(f"not an event expression: {expression!r}")
