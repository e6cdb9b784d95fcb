"""Damaged snapshots with digests that fit, taken up and gone on with.

    python -m tests.engine.snapshots.fuzz FIRST LAST    damage number FIRST, …, LAST - 1

Every damage must end in a CereusError or in a run that goes on. Anything else ends the process:
another exception, a crash, a hang, or memory far beyond that of the snapshot. The number of the
damage at hand is the last line of the output.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import resource
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa

from cereus.engine import snapshot
from cereus.errors import CereusError, SnapshotError
from cereus.state import codec
from tests.engine.snapshots.cases import CASES

HANGS = 600
"""Seconds after which a run counts as one that does not end; most take some milliseconds."""
MEMORY = 4 << 30
INTERESTING = (0, 1, -1, 2, 255, 2**31 - 1, -(2**31), 2**31, 2**62, 2**63 - 1, -(2**63))


@cache
def taken(place: int) -> bytes:
    return CASES[place].taken()


def parts(whole: bytes) -> tuple[bytes, bytes]:
    """What a recognizer writes before the engine's state, and the values of that."""
    data = bytes(snapshot.unsealed(whole))
    begin = data.index(snapshot.MAGIC)
    return data[:begin], bytes(snapshot.unsealed(data[begin + len(snapshot.MAGIC) :]))


def joined(before: bytes, state: bytes) -> bytes:
    return snapshot.sealed(before + snapshot.MAGIC + snapshot.sealed(state))


def flipped(draw: Random, data: bytes) -> bytes:
    """One to three bytes changed, a piece left out, or a piece doubled."""
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        place = draw.randrange(len(changed))
        way = draw.random()
        if way < 0.5:
            changed[place] ^= 1 << draw.randrange(8)
        elif way < 0.9:
            changed[place] = draw.randrange(256)
        elif way < 0.95:
            del changed[place : place + draw.randrange(1, 9)]
        else:
            changed[place:place] = changed[place : place + draw.randrange(1, 9)]
        changed = changed or bytearray(1)
    return bytes(changed)


def values_in(value: Any) -> list[tuple[Any, Any]]:
    """The containers in a state, each with a place that can be changed."""
    found: list[tuple[Any, Any]] = []
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for place, item in items:
        found.append((value, place))
        if isinstance(item, dict | list):
            found += values_in(item)
    return found


@cache
def _decoded(state: bytes) -> bytes:
    """What a state holds, pickled: a copy of that is made in less time than it is decoded."""
    return pickle.dumps(codec.decode(state))


def changed(draw: Random, state: bytes) -> bytes:
    """A number in an array or a value changed, where the format stays as it is."""
    header, content = pickle.loads(_decoded(state))
    for _ in range(draw.choice((1, 1, 2))):
        container, place = draw.choice(values_in(content))
        container[place] = other(draw, container[place])
    return codec.encode((header, content))


def other(draw: Random, value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.size and draw.random() < 0.9:
        flat = value.reshape(-1).view(np.uint8 if value.dtype == bool else value.dtype)
        near = int(np.nan_to_num(flat[draw.randrange(len(flat))])) + draw.choice((-1, 1, 2, -2))
        number = draw.choice((near, draw.choice(INTERESTING), draw.randrange(40)))
        flat[draw.randrange(len(flat))] = np.array(number % 2**64, np.uint64).astype(flat.dtype)
        return value
    if isinstance(value, np.ndarray):
        return draw.choice((value[:-1], np.concatenate([value, value[-1:]]), value.astype("f4")))
    if isinstance(value, pa.Array | pa.Table) and draw.random() < 0.8:
        return value.slice(draw.randrange(2), draw.randrange(len(value) + 1))
    if isinstance(value, int) and not isinstance(value, bool):
        return draw.choice((value + 1, value - 1, draw.choice(INTERESTING)))
    if isinstance(value, list | tuple) and value:
        place = draw.randrange(len(value))
        return draw.choice((value[:place], value + value[:1], value[::-1]))
    return draw.choice((None, 0, "", [], {}, True, 2.5, np.zeros(2, np.int64), frozenset()))


def damaged(number: int) -> bytes:
    draw = Random(number)
    before, state = parts(taken(number % len(CASES)))
    way = draw.random()
    if way < 0.05:
        return joined(flipped(draw, before), state)
    return joined(before, (flipped if way < 0.5 else changed)(draw, state))


def outcome(number: int) -> str:
    return outcome_of(lambda: CASES[number % len(CASES)].continued(damaged(number)))


def outcome_of(go_on: Callable[[], object]) -> str:
    try:
        go_on()
    except SnapshotError:
        return "refused"
    except CereusError:
        return "stopped later"
    return "went on"


def main(first: int, last: int, outcome: Callable[[int], str] = outcome) -> None:
    if "asan" not in os.environ.get("LD_PRELOAD", ""):  # sanitizers reserve terabytes of addresses
        size = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, size))
    faulthandler.enable()
    seen: Counter[str] = Counter()
    for number in range(first, last):
        faulthandler.dump_traceback_later(HANGS, exit=True)
        print(number, flush=True)
        seen[outcome(number)] += 1
    faulthandler.cancel_dump_traceback_later()
    print(dict(seen))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
