"""A machine, its events in arrays, and the compiled pass between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cereus.languages.par.machine import run
from cereus.languages.par.machine.machine import Machine

CHUNK = 65_536

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


class Reactions(NamedTuple):
    """The events with output or completion: their rows, output sets (by number) and
    completions. The arrays belong to the caller."""

    rows: Longs
    outputs: Ints
    completions: npt.NDArray[np.int8]

    def first(self, count: int) -> Reactions:
        rows, outputs, completions = self
        return Reactions(rows[:count].copy(), outputs[:count].copy(), completions[:count].copy())


class MachineRunner:
    """Runs one machine over events; the caller keeps the states of keys.

    A program that has completed stays silent: it starts again only where it says `repeat`.
    """

    def __init__(self, machine: Machine, *, chunk: int = CHUNK) -> None:
        self.machine = machine
        self.next_state = np.ascontiguousarray(machine.next_state, np.int32)
        self.output = np.ascontiguousarray(machine.output, np.int32)
        self.completion = np.ascontiguousarray(machine.completion, np.int8)
        self.silent = machine.silent.astype(np.uint8)
        self.room = Reactions(
            np.empty(chunk, np.int64), np.empty(chunk, np.int32), np.empty(chunk, np.int8)
        )

    def start(self, keys: int = 1) -> Ints:
        """The states of keys that have seen no event."""
        return np.zeros(keys, np.int32)

    def feed(self, classes: Ints, key_starts: Longs, states: Ints) -> Iterator[Reactions]:
        """The events with output or completion, in chunks; `states` changes to what is reached,
        and is there when all chunks have been taken.

        `classes` are those of the events' letters (`machine.class_of`), `key_starts` the rows
        at which the keys begin, `states` one state per key.
        """
        check(classes, key_starts, states, self.machine)
        cursor = np.zeros(2, np.int64)
        while cursor[run.NEXT_KEY] < len(key_starts):
            count = run.run(
                classes,
                key_starts,
                states,
                self.next_state,
                self.output,
                self.completion,
                self.silent,
                *self.room,
                cursor,
            )
            if count:
                yield self.room.first(count)

    def feed_interleaved(self, classes: Ints, keys: Ints, states: Ints) -> Iterator[Reactions]:
        """Like `feed`, for events in the order of time, each with the number of its key; `states`
        are those of all keys."""
        check_range("class", classes, self.machine.classes)
        check_range("state", states, self.machine.states)
        check_range("key", keys, len(states))
        row = 0
        while row < len(classes):
            row, count = run.run_interleaved(
                classes,
                keys,
                states,
                self.next_state,
                self.output,
                self.completion,
                *self.room,
                row,
            )
            if count:
                yield self.room.first(count)


def check(classes: Ints, key_starts: Longs, states: Ints, machine: Machine) -> None:
    """Check the invariants of `machine.run`."""
    in_order = len(key_starts) == 0 or (key_starts[0] == 0 and (np.diff(key_starts) >= 0).all())
    if not in_order or (len(key_starts) and key_starts[-1] > len(classes)):
        raise ValueError("key_starts ascend from row 0 and stay within the events")
    if len(classes) and not len(key_starts):
        raise ValueError("there are events, but no key that they belong to")
    if len(states) != len(key_starts):
        raise ValueError(f"{len(key_starts)} keys, but {len(states)} states")
    check_range("class", classes, machine.classes)
    check_range("state", states, machine.states)


def check_range(name: str, values: Ints, bound: int) -> None:
    if len(values) and not (values.min() >= 0 and values.max() < bound):
        raise ValueError(f"there is a {name} outside 0 … {bound - 1}")
