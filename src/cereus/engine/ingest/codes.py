"""Turns columns into small integers, one pass each: codes to masks, masks to classes, rows to
groups. `words` has strings.

Pure Python to read, compiled by Cython to run.
"""

from __future__ import annotations

import cython
import numpy as np
import numpy.typing as npt

from cereus.engine.memory import empty, filled

if cython.compiled:
    from cython.cimports.cereus.engine.kernel import layout
else:
    from cereus.engine.kernel import layout

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Masks = npt.NDArray[np.uint64]
Flags = npt.NDArray[np.bool_]

NUMBER = cython.fused_type(cython.int, cython.longlong)
PRIME = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)
LOW_64 = (1 << 64) - 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
@cython.inline
def _slot(number: cython.ulonglong) -> cython.ulonglong:
    """A hash. Numbers that differ only in their high bits need both multiplications: masks that
    differ in their last tests."""
    mixed: cython.ulonglong = number
    if not cython.compiled:  # C wraps by itself
        mixed = (int(mixed) * PRIME) & LOW_64
        return (((mixed ^ (mixed >> 32)) * PRIME) & LOW_64) >> 32
    mixed = mixed * PRIME
    return ((mixed ^ (mixed >> 32)) * PRIME) >> 32


def repeated(
    values: cython.const[cython.int][::1], ends: cython.const[cython.longlong][::1]
) -> Codes:
    """Repeat every value up to its end. `numpy.repeat` would hold the interpreter's lock."""
    size: cython.longlong = ends[ends.shape[0] - 1] if ends.shape[0] else 0
    result = empty(size, np.int32)
    out: cython.int[::1] = result
    at: cython.longlong = 0
    k: cython.longlong
    with cython.nogil:
        for k in range(ends.shape[0]):
            while at < ends[k]:
                out[at] = values[k]
                at += 1
    return result


def values_at(values: cython.const[cython.int][::1], places: cython.const[NUMBER][::1]) -> Codes:
    """`values[places]`; all places are inside."""
    result = empty(places.shape[0], np.int32)
    out: cython.int[::1] = result
    i: cython.longlong
    with cython.nogil:
        for i in range(places.shape[0]):
            out[i] = values[places[i]]
    return result


def places_without_value(values: cython.int[::1], places: cython.const[NUMBER][::1]) -> Ints:
    """The places where the value is below zero, each once, in the order in which they come."""
    result = empty(values.shape[0], np.int64)
    out: cython.longlong[::1] = result
    i: cython.longlong
    used: cython.longlong = 0
    with cython.nogil:
        for i in range(places.shape[0]):
            if values[places[i]] < 0:
                values[places[i]] = 0  # so that it is listed once
                out[used] = places[i]
                used += 1
        for i in range(used):
            values[out[i]] = -1
    return result[:used].copy()


def number_integers(
    values: cython.const[cython.longlong][::1], low: cython.longlong, size: cython.longlong
) -> tuple[Codes, Ints]:
    """Number integers between `low` and `low + size` in the order in which they first come. Returns
    the number of each, and the distinct integers in that order."""
    n: cython.longlong = values.shape[0]
    numbers = empty(n, np.int32)
    distinct = empty(min(n, size), np.int64)
    known: cython.int[::1] = filled(size, -1, np.int32)
    out: cython.int[::1] = numbers
    out_distinct: cython.longlong[::1] = distinct
    i: cython.longlong
    used: cython.int = 0
    with cython.nogil:
        for i in range(n):
            at: cython.longlong = values[i] - low
            if known[at] < 0:
                known[at] = used
                out_distinct[used] = values[i]
                used += 1
            out[i] = known[at]
    return numbers, distinct[:used]


def numbered_rows(
    index: cython.const[cython.ushort][::1],
    masks: cython.const[cython.ulonglong][::1],
    known: dict[int, int],
) -> tuple[Ints, Codes]:
    """The rows whose mask, `masks[index[row]]`, is not empty, and the class of each."""
    n: cython.longlong = index.shape[0]
    classes: cython.int[::1] = np.full(masks.shape[0], -1, np.int32)
    k: cython.longlong
    for k in range(masks.shape[0]):
        if masks[k]:
            classes[k] = known.get(int(masks[k]), -2)
    rows = empty(n, np.int64)
    numbers = empty(n, np.int32)
    out_rows: cython.longlong[::1] = rows
    out_classes: cython.int[::1] = numbers
    i: cython.longlong
    used: cython.longlong = 0
    with cython.nogil:
        for i in range(n):
            k = index[i]
            if classes[k] == -2:
                # another combination of codes may have the same mask
                with cython.gil:
                    classes[k] = known.setdefault(int(masks[k]), len(known))
            # always written, and kept if it counts: this needs no branch
            out_rows[used] = i
            out_classes[used] = classes[k]
            used += classes[k] >= 0
    return rows[:used], numbers[:used]


def masks_of(
    index: cython.const[cython.ushort][::1], masks: cython.const[cython.ulonglong][::1]
) -> Masks:
    """`masks[index[row]]` of every row."""
    result = empty(index.shape[0], np.uint64)
    out: cython.ulonglong[::1] = result
    i: cython.longlong
    with cython.nogil:
        for i in range(index.shape[0]):
            out[i] = masks[index[i]]
    return result


def possible_rows(
    index: cython.const[cython.ushort][::1],
    masks: cython.const[cython.ulonglong][::1],
    open_masks: cython.const[cython.ulonglong][::1],
) -> tuple[Ints, Masks]:
    """The rows whose `open_masks[index[row]]` is not empty, and `masks[index[row]]` of each."""
    n: cython.longlong = index.shape[0]
    rows = empty(n, np.int64)
    their_masks = empty(n, np.uint64)
    out_rows: cython.longlong[::1] = rows
    out_masks: cython.ulonglong[::1] = their_masks
    i: cython.longlong
    used: cython.longlong = 0
    with cython.nogil:
        for i in range(n):
            out_rows[used] = i
            out_masks[used] = masks[index[i]]
            used += open_masks[index[i]] != 0
    return rows[:used], their_masks[:used]


def rows_with(
    rows: cython.const[cython.longlong][::1],
    masks: cython.const[cython.ulonglong][::1],
    bits: cython.ulonglong,
) -> tuple[Ints, Ints]:
    """The places whose mask has one of the bits, and the rows at these places."""
    n: cython.longlong = masks.shape[0]
    places = empty(n, np.int64)
    their_rows = empty(n, np.int64)
    out_places: cython.longlong[::1] = places
    out_rows: cython.longlong[::1] = their_rows
    i: cython.longlong
    used: cython.longlong = 0
    with cython.nogil:
        for i in range(n):
            out_places[used] = i
            out_rows[used] = rows[i]
            used += (masks[i] & bits) != 0
    return places[:used], their_rows[:used]


def clear_failed(
    masks: cython.ulonglong[::1],
    places: cython.const[cython.longlong][::1],
    passed: cython.const[cython.uchar][::1],
    bits: cython.ulonglong,
) -> None:
    """Clear the bits in the masks at those places that did not pass."""
    i: cython.longlong
    with cython.nogil:
        for i in range(places.shape[0]):
            if not passed[i]:
                masks[places[i]] ^= masks[places[i]] & bits


def clear_failed_rows(
    masks: cython.ulonglong[::1], passed: cython.const[cython.uchar][::1], bits: cython.ulonglong
) -> None:
    """Like `clear_failed`, where every row was tested."""
    i: cython.longlong
    with cython.nogil:
        for i in range(masks.shape[0]):
            masks[i] = masks[i] if passed[i] else masks[i] ^ (masks[i] & bits)


def dense_classes(masks: cython.const[cython.ulonglong][::1], known: dict[int, int]) -> Codes:
    """The class of every mask; a mask not seen before gets the next class in `known`."""
    n: cython.longlong = masks.shape[0]
    result = empty(n, np.int32)
    out: cython.int[::1] = result
    size: cython.ulonglong = 64
    while size < 4 * cython.cast(cython.ulonglong, len(known)):
        size *= 2
    keys: cython.ulonglong[::1] = np.zeros(size, np.uint64)
    values: cython.int[::1] = np.full(size, -1, np.int32)
    filled: cython.ulonglong = 0
    i: cython.longlong
    at: cython.ulonglong
    with cython.nogil:
        for i in range(n):
            mask: cython.ulonglong = masks[i]
            at = _slot(mask) & (size - 1)
            while values[at] >= 0 and keys[at] != mask:
                at = (at + 1) & (size - 1)
            if values[at] < 0:
                keys[at] = mask
                filled += 1
                with cython.gil:
                    values[at] = known.setdefault(int(mask), len(known))
                    out[i] = values[at]
                    if 2 * filled > size:
                        size *= 4
                        keys = np.zeros(size, np.uint64)
                        values = np.full(size, -1, np.int32)
                        filled = 0
            else:
                out[i] = values[at]
    return result


def ordered_floats(
    values: cython.const[cython.double][::1],
    bits: cython.const[cython.longlong][::1],
    out: cython.longlong[::1],
) -> None:
    """Floats as integers in the same order, NaN as the smallest one. `bits` are the same values
    read as integers."""
    i: cython.longlong
    with cython.nogil:
        for i in range(values.shape[0]):
            if values[i] != values[i]:
                out[i] = layout.NULL
            elif bits[i] < 0:
                out[i] = layout.NULL - bits[i]
                out[i] -= values[i] != 0  # -0.0 is 0.0
            else:
                out[i] = bits[i]


def count_positions(keys: cython.const[cython.int][::1], seen: cython.longlong[::1]) -> Ints:
    """The position of every row within its key; `seen` counts the rows of each key so far."""
    n: cython.longlong = keys.shape[0]
    result = empty(n, np.int64)
    out: cython.longlong[::1] = result
    i: cython.longlong
    with cython.nogil:
        for i in range(n):
            out[i] = seen[keys[i]]
            seen[keys[i]] += 1
    return result


def first_backward(
    keys: cython.const[cython.int][::1],
    times: cython.const[cython.longlong][::1],
    latest: cython.longlong[::1],
) -> int:
    """The first row whose time is before that of an earlier row of its key, or -1. Updates
    `latest`."""
    i: cython.longlong = 0
    n: cython.longlong = keys.shape[0]
    with cython.nogil:
        while i < n and times[i] >= latest[keys[i]]:
            latest[keys[i]] = times[i]
            i += 1
    return i if i < n else -1


def times_of_keys(
    keys: cython.const[cython.int][::1],
    times: cython.const[cython.longlong][::1],
    n_keys: cython.longlong,
) -> tuple[Ints, Ints, int]:
    """For each key the times of its first and its last row; and the first row whose time is before
    that of an earlier row of its key, or -1. Every key has a row."""
    first = empty(n_keys, np.int64)
    last = filled(n_keys, layout.NO_BOUND, np.int64)
    out_first: cython.longlong[::1] = first
    out_last: cython.longlong[::1] = last
    i: cython.longlong = 0
    n: cython.longlong = keys.shape[0]
    with cython.nogil:
        while i < n and times[i] >= out_last[keys[i]]:
            if out_last[keys[i]] == layout.NO_BOUND:
                out_first[keys[i]] = times[i]
            out_last[keys[i]] = times[i]
            i += 1
    return first, last, i if i < n else -1


def rows_of_keys(
    keys: cython.const[cython.int][::1], chosen: cython.const[cython.uchar][::1]
) -> Ints:
    """The rows whose keys are chosen."""
    n: cython.longlong = keys.shape[0]
    result = empty(n, np.int64)
    out: cython.longlong[::1] = result
    i: cython.longlong
    used: cython.longlong = 0
    with cython.nogil:
        for i in range(n):
            out[used] = i
            used += chosen[keys[i]]
    return result[:used]


def dealt_rows(
    places: cython.const[cython.longlong][::1],
    classes: cython.const[cython.int][::1],
    keys: cython.const[cython.int][::1],
    positions: cython.const[cython.longlong][::1],
    numbers: cython.const[cython.int][::1],
) -> tuple[Ints, Codes, Codes, Ints]:
    """The places, classes, new key numbers and positions (if there are any) of the rows whose keys
    have a number. Other keys have a number below zero."""
    n: cython.longlong = keys.shape[0]
    counted: cython.bint = positions.shape[0] > 0
    chosen = empty(n, np.int64), empty(n, np.int32), empty(n, np.int32)
    in_key = empty(n if counted else 0, np.int64)
    to_places: cython.longlong[::1] = chosen[0]
    to_classes: cython.int[::1] = chosen[1]
    to_keys: cython.int[::1] = chosen[2]
    to_positions: cython.longlong[::1] = in_key
    i: cython.longlong
    used: cython.longlong = 0
    with cython.nogil:
        for i in range(n):  # every row is written, and stays if the next one is written behind it
            to_places[used] = places[i]
            to_classes[used] = classes[i]
            to_keys[used] = numbers[keys[i]]
            if counted:
                to_positions[used] = positions[i]
            used += numbers[keys[i]] >= 0
    return chosen[0][:used], chosen[1][:used], chosen[2][:used], in_key[:used]


def flags_of_keys(
    keys: cython.const[cython.int][::1], chosen: cython.const[cython.uchar][::1]
) -> Flags:
    """Whether the key of each row is chosen."""
    result = empty(keys.shape[0], np.uint8)
    out: cython.uchar[::1] = result
    i: cython.longlong
    with cython.nogil:
        for i in range(keys.shape[0]):
            out[i] = chosen[keys[i]]
    return result.view(np.bool_)


def counts_of_keys(keys: cython.const[cython.int][::1], n_keys: cython.longlong) -> Ints:
    """The number of rows of each key. `numpy.bincount` would hold the interpreter's lock. There are
    four counters for each key: rows of one key often lie together and would wait for each other."""
    counts = filled((n_keys, 4), 0, np.int64)
    out: cython.longlong[:, ::1] = counts
    i: cython.longlong
    with cython.nogil:
        for i in range(keys.shape[0]):
            out[keys[i], i & 3] += 1
    result: Ints = counts.sum(axis=1)
    return result


def group_rows(
    keys: cython.const[cython.int][::1], n_keys: cython.longlong
) -> tuple[Codes, Codes, Ints]:
    """Where each row goes when rows are sorted by key (stable; see `moved`), the keys that occur,
    and where the rows of each one end."""
    n: cython.longlong = keys.shape[0]
    counts: cython.longlong[::1] = np.zeros(n_keys + 1, np.int64)
    i: cython.longlong
    with cython.nogil:
        for i in range(n):
            counts[keys[i] + 1] += 1
    totals = np.cumsum(np.asarray(counts))
    starts: cython.longlong[::1] = totals[:n_keys].copy()
    result = empty(n, np.int32)
    to: cython.int[::1] = result
    with cython.nogil:
        for i in range(n):
            to[i] = cython.cast(cython.int, starts[keys[i]])
            starts[keys[i]] += 1
    present = np.flatnonzero(np.asarray(counts)[1:]).astype(np.int32)
    return result, present, totals[1:][present]


def move(
    values: cython.const[NUMBER][::1],
    to: cython.const[cython.int][::1],
    out: NUMBER[::1],
) -> None:
    """Write every value to where `to` says. Values are read in the order of rows and written in
    that of keys: so one line of the cache serves many values, and in the other direction it would
    serve one."""
    i: cython.longlong
    if not cython.compiled:
        np.asarray(out)[to] = values
        return
    with cython.nogil:
        for i in range(to.shape[0]):
            out[to[i]] = values[i]


def awake_rows(
    keys: cython.const[cython.int][::1],
    classes: cython.const[cython.int][::1],
    wakes: cython.const[cython.uchar][::1],
    measures: cython.const[cython.longlong][::1],
    floors: cython.const[cython.longlong][::1],
    woken: cython.longlong[::1],
) -> Ints:
    """The rows that wake their key or come while it is awake (`idle_keys`)."""
    n: cython.longlong = keys.shape[0]
    result = empty(n, np.int64)
    out: cython.longlong[::1] = result
    i: cython.longlong
    used: cython.longlong = 0
    with cython.nogil:
        for i in range(n):
            how: cython.int = wakes[classes[i]]
            until: cython.longlong = woken[keys[i]]
            if how:
                until = (
                    layout.LATEST
                    if how == layout.WAKES_FOR_GOOD or until == layout.LATEST
                    else measures[i]
                )
                woken[keys[i]] = until
            out[used] = i
            used += until >= floors[i]
    return result[:used]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _run_forward(
    classes: cython.const[cython.int][::1],
    measures: cython.const[cython.longlong][::1],
    floors: cython.const[cython.longlong][::1],
    head: cython.const[cython.int][:, ::1],
    edges: cython.const[cython.int][::1],
    moving: cython.const[cython.int][:, ::1],
    n_moving: cython.const[cython.int][::1],
    initial: cython.int,
    latest: cython.longlong[::1],
    starts: cython.longlong[::1],
) -> cython.void:
    """Write to `starts`, row by row, the latest start in each state that moves."""
    i: cython.longlong
    j: cython.int
    k: cython.int
    s: cython.int
    to: cython.int
    start: cython.longlong
    target: cython.int = layout.EDGES_MOVES + layout.MOVE_TO  # the state of the first move
    used: cython.longlong = 0
    for i in range(classes.shape[0]):
        c: cython.int = classes[i]
        for j in range(n_moving[c]):
            s = moving[c, j]
            start = measures[i] if s == initial else latest[s]
            starts[used] = start
            used += 1
            if start >= floors[i]:
                at: cython.int = head[c, s]
                for k in range(edges[at + layout.EDGES_COUNT]):
                    to = edges[at + target + layout.MOVE_WORDS * k]
                    latest[to] = max(latest[to], start)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _look_back(
    classes: cython.const[cython.int][::1],
    floors: cython.const[cython.longlong][::1],
    head: cython.const[cython.int][:, ::1],
    edges: cython.const[cython.int][::1],
    moving: cython.const[cython.int][:, ::1],
    n_moving: cython.const[cython.int][::1],
    accepting: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][::1],
    used: cython.longlong,
    complete: cython.longlong[::1],
    out: cython.longlong[::1],
) -> cython.longlong:
    """Write the rows that some match may have to the end of `out`, and return where they begin.
    `complete` has, for each state, the floor of the earliest event at which a run in it may be
    complete."""
    i: cython.longlong
    j: cython.int
    k: cython.int
    s: cython.int
    to: cython.int
    start: cython.longlong
    target: cython.int = layout.EDGES_MOVES + layout.MOVE_TO
    free: cython.longlong = classes.shape[0]
    for i in range(classes.shape[0] - 1, -1, -1):
        c: cython.int = classes[i]
        used -= n_moving[c]
        hopeful: cython.bint = False
        for j in range(n_moving[c]):
            s = moving[c, j]
            start = starts[used + j]
            if start < floors[i]:
                continue
            at: cython.int = head[c, s]
            soonest: cython.longlong = layout.LATEST
            for k in range(edges[at + layout.EDGES_COUNT]):
                to = edges[at + target + layout.MOVE_WORDS * k]
                soonest = min(soonest, floors[i] if accepting[to] else complete[to])
            complete[s] = min(complete[s], soonest)
            if start >= soonest:
                hopeful = True
        if hopeful:
            free -= 1
            out[free] = i
    return free


def hopeful_rows(
    classes: cython.const[cython.int][::1],
    measures: cython.const[cython.longlong][::1],
    floors: cython.const[cython.longlong][::1],
    head: cython.const[cython.int][:, ::1],
    edges: cython.const[cython.int][::1],
    moving: cython.const[cython.int][:, ::1],
    n_moving: cython.const[cython.int][::1],
    accepting: cython.const[cython.uchar][::1],
    initial: cython.int,
    latest: cython.longlong[::1],
) -> Ints:
    """The rows that some match may have (`lookahead`). `latest[s]` is the latest start of a run in
    state s before the first row; it is updated to that after the last."""
    n: cython.longlong = classes.shape[0]
    i: cython.longlong
    size: cython.longlong = 0
    with cython.nogil:
        for i in range(n):
            size += n_moving[classes[i]]
    starts: cython.longlong[::1] = empty(int(size), np.int64)
    complete: cython.longlong[::1] = filled(latest.shape[0], floors[n - 1], np.int64)
    result = empty(n, np.int64)
    out: cython.longlong[::1] = result
    first: cython.longlong
    with cython.nogil:
        _run_forward(
            classes, measures, floors, head, edges, moving, n_moving, initial, latest, starts
        )
        first = _look_back(
            classes, floors, head, edges, moving, n_moving, accepting, starts, size, complete, out
        )
    return result[first:]
