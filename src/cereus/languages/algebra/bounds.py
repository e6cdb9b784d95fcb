"""The greatest cost of detecting an expression, known before the first event.

`memory` and `steps` are the paper's units (§4.4), counted on the algorithm of Fig. 5 with the
ordered sets of Fig. 6: a time takes one unit of memory; an instance two in the simple framework,
three per constituent in the value framework; a comparison, an arithmetic operation or assigning a
time is one step; assigning an instance or a set takes as many steps as it has units. `state_bytes`
is what this implementation keeps per key, exactly, whatever the stream.
"""

from __future__ import annotations

from dataclasses import dataclass

from cereus.languages.algebra.detect.layout import lay_out
from cereus.languages.algebra.sizes import Sized, sized
from cereus.languages.algebra.tree import (
    Conjunction,
    Disjunction,
    Empty,
    EventExpression,
    Negation,
    Primitive,
    Sequence,
    TemporalRestriction,
    check,
    primitives,
)

CELL_BYTES = 8
SNAPSHOT_BYTES, KEY_COLUMN_BYTES = 2048, 1024
"""The bytes around a snapshot, and around each column of keys in it, whatever the expression."""


@dataclass(frozen=True)
class Bounds:
    subexpressions: int
    memory: int
    """Memory units of the paper's model."""
    steps: int
    """Steps of the worst tick, in the paper's model."""
    state_bytes: int
    """Bytes that are remembered per key between ticks."""
    waiting_bytes: int
    """Bytes that are buffered per key while a tick may not be over: its rows, one for each
    primitive at most."""
    working_bytes: int
    """Bytes that are needed once, however many keys there are."""
    text_bytes: int
    """The expression as text, which a snapshot begins with."""
    constituents: int
    """The most primitive instances in one instance."""

    def snapshot_bytes(self, keys: int = 1, *, key_columns: int = 0) -> int:
        """The size of the largest snapshot, without the values of the keys and the schema of the
        events."""
        counters = 2 * CELL_BYTES  # how far its time has come, and its number of events
        each = self.state_bytes + self.waiting_bytes + counters
        return SNAPSHOT_BYTES + KEY_COLUMN_BYTES * key_columns + self.text_bytes + keys * each

    def __str__(self) -> str:
        return (
            f"{self.subexpressions} subexpressions: {self.memory} memory units, "
            f"at most {self.steps} steps a tick, {self.state_bytes} bytes of state per key"
        )


def bounds(expression: EventExpression, *, values: bool = False) -> Bounds:
    """The bounds of an expression, in the simple framework or in that with values."""
    check(expression)
    layout = lay_out(expression, values=values)
    primitive_count = len(primitives(expression))
    words = max(1, -(-primitive_count // 64))
    memory, steps = units(expression, values=values)
    root = sized(expression)
    return Bounds(
        subexpressions=sum(1 for _ in expression.postorder()),
        memory=memory,
        steps=steps,
        state_bytes=CELL_BYTES * layout.state_width,
        waiting_bytes=CELL_BYTES * primitive_count * (words + 3),
        working_bytes=CELL_BYTES * len(layout.initial),
        text_bytes=len(str(expression).encode()),
        constituents=root.constituents,
    )


def units(expression: EventExpression, *, values: bool = False) -> tuple[int, int]:
    """Memory units and worst-case steps of the paper's model. Sᵢ counts only where the model keeps
    it."""
    memory = steps = instance = queue = 0
    temporaries = 0
    for part, keeps_set in sized(expression).postorder():
        set_units = part.set_size if keeps_set else 0
        memory += instance_units(part, values) + stored_units(part, values) + set_units
        steps += part_steps(part, values) + set_units
        if isinstance(part.node, Sequence):
            # t, e, e' and Q' (Fig. 4) are used by one sequence after the other
            left = instance_units(part.operands[0], values)
            instance, queue = max(instance, left), max(queue, part.queue_size * left)
            temporaries = 1 + 2 * instance + queue
    return memory + temporaries, steps


def instance_units(part: Sized, values: bool) -> int:
    """The memory units that an instance of a subexpression takes (ω in the paper)."""
    return 3 * part.constituents if values else 2


def stored_units(part: Sized, values: bool) -> int:
    """The memory units that a subexpression keeps between ticks: its variables l, r, t and Q."""
    match part.node:
        case Conjunction():
            return sum(instance_units(operand, values) for operand in part.operands)
        case Negation():
            return 1
        case Sequence():
            return (1 + part.queue_size) * instance_units(part.operands[0], values)
    return 0


def part_steps(part: Sized, values: bool) -> int:
    """The steps of one round of the loop of Fig. 5, always taking the more costly branch, without
    the assignment of Sᵢ."""
    units = instance_units(part, values)
    stored = [instance_units(operand, values) for operand in part.operands]
    match part.node:
        case Empty():
            return units
        case Primitive() | Disjunction():
            return 1 + units
        case TemporalRestriction():
            return 1 + 1 + units
        case Conjunction():
            return 2 + sum(stored) + 4 + 1 + units
        case Negation():
            return 1 + 1 + 1 + units
        case Sequence():
            queue, instance = part.queue_size, stored[0]
            find_best = (queue + 1) * (2 + instance) + 1 + units
            refresh = (queue + 1 + queue) * 2 + queue * instance
            return find_best + refresh + 1 + instance
    raise TypeError(f"not an event expression: {part.node!r}")
