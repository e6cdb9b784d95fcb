"""Finds rows that look the same, in one pass with a hash table.

Pure Python to read, compiled by Cython to run.
"""

from __future__ import annotations

import cython
import numpy as np
import numpy.typing as npt

from cereus.engine.memory import empty, filled

PRIME = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)
LOW_63 = cython.declare(cython.longlong, (1 << 63) - 1)


def rows_once(
    at: cython.const[cython.longlong][::1],
    offsets: cython.const[cython.int][::1],
    cells: cython.const[cython.longlong][::1],
    labels: cython.const[cython.int][::1],
    first: cython.const[cython.longlong][::1],
    last: cython.const[cython.longlong][::1],
) -> npt.NDArray[np.int64]:
    """The places of rows without repetitions: no two have the same `at`, cells and labels (if there
    are any). Of equal rows, the one with the greatest (first, last) stays, where the first of them
    was."""
    n: cython.longlong = at.shape[0]
    size: cython.longlong = 4
    while size < 2 * n:
        size *= 2
    places = empty(n, np.int64)
    kept: cython.longlong[::1] = places
    table: cython.int[::1] = filled(size, -1, np.int32)
    distinct: cython.longlong
    with cython.nogil:
        distinct = _collect(at, offsets, cells, labels, first, last, kept, table)
    return places[:distinct]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _collect(
    at: cython.const[cython.longlong][::1],
    offsets: cython.const[cython.int][::1],
    cells: cython.const[cython.longlong][::1],
    labels: cython.const[cython.int][::1],
    first: cython.const[cython.longlong][::1],
    last: cython.const[cython.longlong][::1],
    kept: cython.longlong[::1],
    table: cython.int[::1],
) -> cython.longlong:
    """Collect the rows that are kept, and return how many there are. `table` has their numbers, by
    the hash of what is compared."""
    n: cython.longlong
    count: cython.longlong = 0
    i: cython.longlong
    other: cython.longlong
    for n in range(at.shape[0]):
        i = _hash(at[n], offsets[n], offsets[n + 1], cells, labels) & (table.shape[0] - 1)
        while table[i] >= 0 and not _alike(kept[table[i]], n, at, offsets, cells, labels):
            i = (i + 1) & (table.shape[0] - 1)
        if table[i] < 0:
            table[i] = cython.cast(cython.int, count)
            kept[count] = n
            count += 1
            continue
        other = kept[table[i]]
        if first[n] > first[other] or (first[n] == first[other] and last[n] >= last[other]):
            kept[table[i]] = n
    return count


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def _hash(
    at: cython.longlong,
    begin: cython.int,
    end: cython.int,
    cells: cython.const[cython.longlong][::1],
    labels: cython.const[cython.int][::1],
) -> cython.longlong:
    # a cell may equal `at`, so the two are not simply combined
    mixed: cython.ulonglong = cython.cast(cython.ulonglong, at & LOW_63) * PRIME
    k: cython.int
    for k in range(begin, end):
        mixed = _mixed(mixed, cells[k])
        if labels.shape[0]:  # thousands of matches may differ only here
            mixed = _mixed(mixed, cython.cast(cython.longlong, labels[k]))
    if not cython.compiled:
        mixed = mixed & ((1 << 64) - 1)
    return cython.cast(cython.longlong, mixed >> 20)


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def _mixed(mixed: cython.ulonglong, value: cython.longlong) -> cython.ulonglong:
    if not cython.compiled:
        mixed = mixed & ((1 << 64) - 1)
    return (mixed ^ (mixed >> 29) ^ cython.cast(cython.ulonglong, value & LOW_63)) * PRIME


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def _alike(
    one: cython.longlong,
    other: cython.longlong,
    at: cython.const[cython.longlong][::1],
    offsets: cython.const[cython.int][::1],
    cells: cython.const[cython.longlong][::1],
    labels: cython.const[cython.int][::1],
) -> cython.bint:
    a: cython.int = offsets[one]
    b: cython.int = offsets[other]
    size: cython.int = offsets[one + 1] - a
    k: cython.int
    if at[one] != at[other] or offsets[other + 1] - b != size:
        return False
    for k in range(size):
        if cells[a + k] != cells[b + k]:
            return False
    if labels.shape[0]:
        for k in range(size):
            if labels[a + k] != labels[b + k]:
                return False
    return True
