"""Checks the saved state of a detector before detection reads it.

`detection` is compiled without bounds checks. It relies on this: the rows of every instance are
closed by a negative number within its room, no queue is longer than its room, and the rows that
wait are in the order of their keys and times, with primitives of the program only.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from cereus.languages.algebra.detect.instructions import LONGEST, NEVER_CELL, NO_QUEUE
from cereus.languages.algebra.detect.layout import Addresses
from cereus.languages.algebra.detect.program import DetectorProgram
from cereus.languages.algebra.detect.ticks import TickRows
from cereus.languages.algebra.sizes import sized
from cereus.languages.algebra.tree import Conjunction, EventExpression, Sequence
from cereus.state.checked import refuse_unless, within

Int64s = npt.NDArray[np.int64]


def check_states(states: Int64s, program: DetectorProgram) -> None:
    layout = program.layout
    for node, place in layout.places.items():
        if place.queue != NO_QUEUE:
            lengths = states[:, place.queue - layout.state_at]
            within(lengths, 0, place.room + 1, "the length of a queue")
        if program.values:
            for at, most in _instances(node, place):
                begin = at - layout.state_at + 1
                rows = states[:, begin : begin + most + 1]
                refuse_unless((rows < 0).any(axis=1).all(), "the rows of an instance do not end")


def _instances(node: EventExpression, place: Addresses) -> Iterator[tuple[int, int]]:
    """The address of every instance that a subexpression remembers, and the most rows it has."""
    if not isinstance(node, Conjunction | Sequence):
        return
    left, right = (operand.constituents for operand in sized(node).operands)
    yield place.left, left
    if place.right != NEVER_CELL:
        yield place.right, right
    for number in range(place.room):
        yield place.queue + 2 + number * place.stride, left


def check_waiting(rows: TickRows, keys: int, program: DetectorProgram) -> None:
    within(rows.keys, 0, keys, "the key of a row that waits")
    within(rows.rows, 0, 2**62, "the number of a row that waits")
    within(rows.times, 1 - LONGEST, LONGEST, "the time of a row that waits")
    later = rows.keys[1:] > rows.keys[:-1]
    same = (rows.keys[1:] == rows.keys[:-1]) & (rows.times[1:] >= rows.times[:-1])
    refuse_unless((later | same).all(), "rows that wait are out of order")
    for word in range(program.words):
        known = min(64, max(0, len(program.primitives) - 64 * word))
        within(rows.masks[:, word], 0, 1 << known, "a primitive of a row that waits")
