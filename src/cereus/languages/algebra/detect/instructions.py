"""The instructions that detection interprets; `program` compiles expressions to them.

All data lives in one flat memory of 64-bit integers whose size is known from the expression:

    cell 0          NEVER: the start of the non-occurrence ⟨⟩
    cell 1          the time of the current tick
    registers       aᵢ: start, then (value framework) the constituents' rows
    marks           one for each instance of the longest Qᵢ, while it is looked through
    state           lᵢ, rᵢ, tᵢ, Qᵢ: all that is remembered from one tick to the next

A register needs no end: an instance of the current tick ends now. An instance whose end matters
later (in a sequence) is stored as end, start, rows; its address is that of its start. Rows are
ascending and closed by -1. Qᵢ is its length, then its instances in ascending order; the cell before
it, which its address leaves out, is the last time at which something may have begun in the
sequence's right side.

Sᵢ, the starts of what has begun in the right side of a sequence, is not kept: they are the starts
in lⱼ, rⱼ and Qⱼ of its parts, and `sources` lists where these are. For each Qᵢ it has a row (room
in Qᵢ, number of sources, address of the marks), and after it a row for each source: (address of the
first start, address of the number of starts or NEVER_CELL for one, distance between them).

An instruction is eight numbers, its fields; all except op and τ are addresses or offsets. The
numbers below are constants of C in `detection`.
"""

from __future__ import annotations

NEVER = -(2**63)
NEVER_CELL, NOW_CELL, FIRST_REGISTER = 0, 1, 2
NO_QUEUE = 0
LONGEST = 2**62
"""Times and restrictions stay below this, so that their differences never overflow."""

# The fields of an instruction.
OP = 0
TO = 1
LEFT = 2
RIGHT = 3
X = 4
Y = 5
Z = 6
STRIDE = 7
FIELDS = 8  # the number of fields

# The operations.
PRIMITIVE = 0  # to := the instance of primitive number x in this tick
DISJUNCTION = 1  # to := the one of left and right that starts later
CONJUNCTION = 2  # x, y: l and r. to := left ⊕ r or l ⊕ right, whichever starts later
NEGATION = 3  # x: t. to := left, if it starts after every right so far
RESTRICTION = 4  # to := left, if it is not longer than τ = x
LATCH = 5  # x: l. A sequence whose right side is instantaneous: nothing ended before it but l
SEQUENCE = 6  # x, y, z: l, Q (entries `stride` apart) and its sources. The general sequence
STORE = 7  # the same in a tick that cannot concern the right side

# The columns of the first row of `sources` for a queue, and of the rows after it.
QUEUE_ROOM = 0
SOURCE_COUNT = 1
MARKS_AT = 2
STARTS_AT = 0
STARTS_COUNTED_AT = 1
STARTS_APART = 2

# The columns of an output: the tick, the start, and where its rows end.
DETECTED_TICK = 0
DETECTED_START = 1
DETECTED_ROWS = 2
DETECTED = 3  # the number of columns

Instruction = tuple[int, int, int, int, int, int, int, int]


def instruction(
    op: int,
    *,
    to: int = NEVER_CELL,
    left: int = NEVER_CELL,
    right: int = NEVER_CELL,
    x: int = NEVER_CELL,
    y: int = NEVER_CELL,
    z: int = NEVER_CELL,
    stride: int = 1,
) -> Instruction:
    return (op, to, left, right, x, y, z, stride)
