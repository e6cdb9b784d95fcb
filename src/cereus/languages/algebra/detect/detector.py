"""Detection as the events arrive: batches of rows in, instances out, bounded state between them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt

from cereus.errors import DataError
from cereus.languages.algebra.detect.instructions import NEVER
from cereus.languages.algebra.detect.layout import Starts
from cereus.languages.algebra.detect.program import DetectorProgram
from cereus.languages.algebra.detect.restored import check_states, check_waiting
from cereus.languages.algebra.detect.run import Instances, detect
from cereus.languages.algebra.detect.ticks import (
    Repeated,
    TickRows,
    Ticks,
    as_masks,
    condensed,
    no_rows,
)
from cereus.state import checked
from cereus.state.damage import damaged

Int64s = npt.NDArray[np.int64]

VERSION = 2
"""The version of the snapshots: raise it when the layout of the state changes."""


class Detector:
    """The state of one expression for every key so far; keys are the numbers 0, 1, 2, …

    A tick is run when it is over: when its key has an event of a later time, when `advance` says
    that time has passed it, or at `finish`. Until then its rows wait.
    """

    def __init__(self, program: DetectorProgram, *, repeated: Repeated = "refuse") -> None:
        self.program = program
        self.repeated = repeated
        self.states = program.new_states(0)
        self.waiting = no_rows(program.words)
        self.earliest: int | None = None
        """The earliest time that may still come."""

    @property
    def keys(self) -> int:
        return len(self.states)

    def push(
        self,
        times: npt.ArrayLike,
        masks: npt.ArrayLike,
        *,
        rows: npt.ArrayLike,
        keys: npt.ArrayLike | None = None,
    ) -> Instances:
        """Take the rows of one batch, in order of time within each key; `rows` numbers them."""
        time = np.ascontiguousarray(times, np.int64)
        key = np.zeros(len(time), np.int64) if keys is None else np.ascontiguousarray(keys)
        new = TickRows(time, as_masks(masks), np.ascontiguousarray(rows, np.int64), key)
        self._refuse_late(time)
        self._make_room(int(key.max()) + 1 if len(key) else 0)
        return self._run(self.waiting.followed_by(new))

    def advance(self, time: int) -> Instances:
        """Promise that every later event has this time or a later one."""
        self.earliest = time if self.earliest is None else max(time, self.earliest)
        return self._run(self.waiting, until=self.earliest)

    def finish(self) -> Instances:
        """End the input: no event is still to come."""
        instances = detect(self.program, self._ticks(self.waiting), self.states)
        self.waiting = no_rows(self.program.words)
        return instances

    def _ticks(self, rows: TickRows) -> Ticks:
        return rows.ticks(self.keys, repeated=self.repeated)

    def _run(self, rows: TickRows, *, until: int | None = None) -> Instances:
        ticks, places = self._ticks(rows).without_pending(until=until)
        pending = rows.at(places)
        pending = condensed(pending, self.keys, repeated=self.repeated) if len(pending) else pending
        instances = detect(self.program, ticks, self.states)
        self.waiting = pending
        return instances

    def _refuse_late(self, times: Int64s) -> None:
        if self.earliest is not None and len(times) and times.min() < self.earliest:
            raise DataError(
                f"an event of time {times.min()} comes after time was advanced to {self.earliest}",
                hint="advance only to times that all events still to come have reached",
            )

    def _make_room(self, keys: int) -> None:
        if keys > self.keys:
            new = self.program.new_states(keys - self.keys)
            self.states = np.concatenate([self.states, new])

    # ------------------------------------------------------------ keys

    def busy_keys(self, keys: int) -> Int64s:
        """The keys, of `keys` in all, that differ from new ones: they remember something that is
        not too old to matter at the earliest time that may still come."""
        busy = np.zeros(keys, np.bool_)
        for starts in self.program.layout.lasting:
            busy[: self.keys] |= self._matters(starts)
        busy[self.waiting.keys] = True
        return np.flatnonzero(busy)

    def _matters(self, starts: Starts) -> npt.NDArray[np.bool_]:
        """The keys in which something of this has begun and is not too old."""
        end = starts.first + starts.stride * starts.room
        begun = self.states[:, starts.first : end : starts.stride]
        matters = begun != NEVER
        if starts.length is not None:
            matters &= np.arange(starts.room) < self.states[:, starts.length, np.newaxis]
        if starts.age is not None and self.earliest is not None:
            matters &= begun >= self.earliest - starts.age
        in_keys: npt.NDArray[np.bool_] = np.any(matters, axis=1)
        return in_keys

    def keep(self, kept: Int64s) -> None:
        """Forget all keys except these, which are renumbered in their order."""
        numbers = np.full(max(self.keys, int(kept[-1]) + 1 if len(kept) else 0), -1, np.int64)
        numbers[kept] = np.arange(len(kept))
        old = self.waiting
        self.waiting = TickRows(old.times, old.masks, old.rows, numbers[old.keys])
        self.states = self.states[kept[kept < self.keys]]

    # ------------------------------------------------------------ snapshots

    def snapshot(self) -> bytes:
        """Everything that is remembered: at most `state_bytes + waiting_bytes` of `Bounds` per
        key, after a line that says what it is."""
        waiting = self.waiting
        arrays = (self.states, waiting.times, waiting.masks, waiting.rows, waiting.keys)
        header = {**self._identity(), "keys": self.keys, "waiting": len(waiting)}
        header["earliest"] = self.earliest
        line = json.dumps(header).encode() + b"\n"
        return line + b"".join(array.tobytes() for array in arrays)

    def restore(self, snapshot: bytes) -> None:
        """Go on from a snapshot of the same expression."""
        line, _, body = snapshot.partition(b"\n")
        header = self._checked(line)
        keys, waiting = (checked.count(header.get(name), name) for name in ("keys", "waiting"))
        words = self.program.words
        width = self.program.layout.state_width
        lengths = [keys * width, waiting, waiting * words, waiting, waiting]
        if len(body) != 8 * sum(lengths):
            raise damaged("it is cut short, or too long")
        cells = np.frombuffer(body, np.int64).copy()
        states, times, masks, rows, numbers = np.split(cells, np.cumsum(lengths)[:-1])
        rest = TickRows(times, masks.view(np.uint64).reshape(-1, words), rows, numbers)
        check_states(states.reshape(keys, width), self.program)
        check_waiting(rest, keys, self.program)
        earliest = header.get("earliest")
        if earliest is not None:
            checked.integer(earliest, "the earliest time")
        self.earliest = earliest
        self.states, self.waiting = states.reshape(keys, width), rest

    def _identity(self) -> dict[str, Any]:
        expression = str(self.program.expression)
        return {"algebra": VERSION, "expression": expression, "values": self.program.values}

    def _checked(self, line: bytes) -> dict[str, Any]:
        try:
            header: dict[str, Any] = json.loads(line)
        except ValueError:
            raise damaged("it is no snapshot of an event expression") from None
        for name, value in self._identity().items():
            if not isinstance(header, dict) or header.get(name) != value:
                raise damaged(f"it is of another query, or version: {name} differs")
        return header
