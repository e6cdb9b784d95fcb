"""Program + ticks → instances, in chunks of bounded size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from cereus.engine.interrupts import look_up
from cereus.languages.algebra.detect import detection, instructions
from cereus.languages.algebra.detect.program import DetectorProgram
from cereus.languages.algebra.detect.ticks import Ticks

Int64s = npt.NDArray[np.int64]

CHUNK = 1 << 20
"""The most instances and rows per call of the kernel: the output buffers are no longer than
these."""
TICKS = 1 << 17
"""The most ticks per call, so that Ctrl-C is noticed in between."""
CELLS = 1 << 25
"""The most instructions and cells of state per call: fewer ticks if a tick takes long."""


@dataclass(frozen=True, eq=False)
class Instances:
    """Detected instances, in order of key and time: at most one per tick."""

    keys: Int64s
    """The number of the key of each instance."""
    starts: Int64s
    ends: Int64s
    offsets: Int64s
    """Instance i is made of rows[offsets[i] : offsets[i + 1]]; nothing in the simple framework."""
    rows: Int64s

    def __len__(self) -> int:
        return len(self.starts)

    def pairs(self) -> list[tuple[int, int]]:
        return list(zip(self.starts.tolist(), self.ends.tolist(), strict=True))

    def constituents(self) -> list[list[int]]:
        bounds = self.offsets.tolist()
        rows = self.rows.tolist()
        return [rows[a:b] for a, b in pairwise(bounds)]


def detect(program: DetectorProgram, ticks: Ticks, states: Int64s | None = None) -> Instances:
    """All instances of the ticks. `states`, one row per key, is updated."""
    return concatenate(list(detect_chunks(program, ticks, states)))


def detect_chunks(
    program: DetectorProgram, ticks: Ticks, states: Int64s | None = None
) -> Iterator[Instances]:
    """The instances in parts of at most CHUNK instances and about as many rows."""
    keys = len(ticks.key_ticks) - 1
    states = program.new_states(keys) if states is None else states
    if states.shape != (keys, program.layout.state_width):  # compiled code relies on it
        raise ValueError(f"states of shape {states.shape} for {keys} keys of another program")
    memory = np.array(program.layout.initial, np.int64)
    schedules = program.schedules(ticks.masks)
    chunk = ticks_per_call(program)
    length = min(chunk, len(ticks))
    out = np.empty((length, instructions.DETECTED), np.int64)
    out_rows = np.empty(length * program.constituents, np.int64)
    for first in range(0, len(ticks), chunk):
        look_up()
        count = detection.detect(
            _view(program.code),
            _view(program.entries),
            _view(program.results),
            _view(program.sources),
            program.values,
            _view(memory),
            program.layout.state_at,
            _view(states),
            _view(ticks.times),
            _view(schedules),
            _view(ticks.tick_rows),
            _view(ticks.row_masks),
            _view(ticks.rows),
            _view(ticks.key_ticks),
            _view(ticks.stops),
            int(np.searchsorted(ticks.key_ticks, first, side="right")) - 1,
            first,
            min(first + chunk, len(ticks)),
            _view(out),
            _view(out_rows),
        )
        yield _instances(ticks, out[:count], out_rows)


def ticks_per_call(program: DetectorProgram) -> int:
    """How many ticks are run before it is seen whether somebody still waits."""
    longest = int(np.diff(program.entries).max(initial=0)) + program.layout.state_width
    return max(1, min(TICKS, CHUNK // max(1, program.constituents), CELLS // max(1, longest)))


def _view(array: npt.NDArray[Any]) -> Any:
    """The array in the form for the compiled kernel; uncompiled, a form that is quicker to
    index."""
    return memoryview(cast(Any, array))


def _instances(ticks: Ticks, out: Int64s, out_rows: Int64s) -> Instances:
    at = out[:, instructions.DETECTED_TICK]
    starts = out[:, instructions.DETECTED_START].copy()
    row_ends = out[:, instructions.DETECTED_ROWS]
    offsets = np.concatenate([[0], row_ends])
    keys = np.zeros(len(at), np.int64)
    if len(ticks.key_ticks) > 2:  # more than one key
        keys = np.searchsorted(ticks.key_ticks, at, side="right") - 1
    return Instances(keys, starts, ticks.times[at], offsets, out_rows[: offsets[-1]].copy())


def concatenate(parts: list[Instances]) -> Instances:
    if len(parts) == 1:
        return parts[0]
    if not parts:
        nothing = np.zeros(0, np.int64)
        return Instances(nothing, nothing, nothing, np.zeros(1, np.int64), nothing)
    shifts = np.cumsum([0] + [len(part.rows) for part in parts])
    offsets = [part.offsets[1:] + shift for part, shift in zip(parts, shifts, strict=False)]
    return Instances(
        np.concatenate([part.keys for part in parts]),
        np.concatenate([part.starts for part in parts]),
        np.concatenate([part.ends for part in parts]),
        np.concatenate([np.zeros(1, np.int64), *offsets]),
        np.concatenate([part.rows for part in parts]),
    )
