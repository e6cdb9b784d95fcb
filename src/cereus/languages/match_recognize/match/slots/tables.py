"""The tables that `slots_kernel` reads about a clause and its rows, and their parts."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cereus.expr import tree as ex
from cereus.expr.types import Kind
from cereus.languages.match_recognize.match import codes
from cereus.languages.match_recognize.match.slots.percentiles import Percentiles


class NotForSlots(Exception):
    """A condition that the kernel has no slots or no code for."""


class NotJoint(Exception):
    """A slot needs to know to which of several variables a row belongs, but one state stands for
    them."""


@dataclass(frozen=True)
class Base:
    """Where a value is read: the n-th row from the front or back of a variable's rows (None: of
    all rows), or, if `label`, the variable that this row is mapped to; with `best`, the row that
    is best in a value, by the update that keeps it."""

    members: frozenset[str] | None = None
    first: bool = False
    offset: int = 0
    label: bool = False
    best: tuple[int, ex.Expression] | None = None


HERE = Base()


@dataclass
class SlotTables:
    """The tables of a clause, whatever its rows are.

    A counted state has `least` and `most` rounds (most: 0 for any number), and its move number
    `again` is another round; the last slot of a run is the round it waits for. Other states have an
    `again` of -1.
    """

    labels: npt.NDArray[np.int32]
    move_starts: npt.NDArray[np.int32]
    moves: npt.NDArray[np.int32]
    begin_starts: npt.NDArray[np.int32]
    begins: npt.NDArray[np.int32]
    last: npt.NDArray[np.uint8]
    constant_ints: npt.NDArray[np.int64]
    constant_floats: npt.NDArray[np.float64]
    update_starts: npt.NDArray[np.int32]
    updates: npt.NDArray[np.int32]
    code_starts: npt.NDArray[np.int32]
    code: npt.NDArray[np.int32]
    live: npt.NDArray[np.uint8]
    live_floats: npt.NDArray[np.uint8]
    initial: npt.NDArray[np.int64]
    least: npt.NDArray[np.int64]
    most: npt.NDArray[np.int64]
    again: npt.NDArray[np.int32]


@dataclass
class RowTables:
    """The tables of the rows. The last entry of a column is for "no such row"."""

    letters: npt.NDArray[np.uint16]
    sets: npt.NDArray[np.int32]
    alive: npt.NDArray[np.uint8]
    ints: npt.NDArray[np.int64]
    floats: npt.NDArray[np.float64]
    valid: npt.NDArray[np.uint8]
    times: npt.NDArray[np.int64]
    length: int
    percentiles: Percentiles = field(default_factory=Percentiles.none)
    registers: npt.NDArray[np.int64] = field(
        default_factory=lambda: np.zeros(codes.MOST_REGISTERS, np.int64)
    )
    float_registers: npt.NDArray[np.float64] = field(
        default_factory=lambda: np.zeros(codes.MOST_REGISTERS, np.float64)
    )
    known: npt.NDArray[np.int32] = field(
        default_factory=lambda: np.zeros(codes.MOST_REGISTERS, np.int32)
    )


@dataclass(frozen=True)
class SlotGroup:
    """Slots that belong together: `size` whole ones from `at`, `floats` real ones from
    `float_at`; `variables` are those that update it."""

    at: int
    size: int
    float_at: int = 0
    floats: int = 0


@dataclass(frozen=True)
class Loaded:
    """A value in a register while code is made."""

    register: int
    kind: Kind
    unit: str = ""

    @property
    def real(self) -> bool:
        return self.kind is Kind.FLOAT
