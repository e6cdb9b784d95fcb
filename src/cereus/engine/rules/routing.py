"""Finds out which events go to which rules: the loops over pairs of a row and a rule.

Pure Python to read, compiled by Cython to run. Rows ascend wherever they are listed.
"""

from __future__ import annotations

import cython
import numpy as np
import numpy.typing as npt

from cereus.engine.interrupts import look_up
from cereus.engine.memory import empty, filled, longer

if cython.compiled:
    from cython.cimports.cereus.engine.kernel import layout
    from cython.cimports.cpython.exc import PyErr_CheckSignals
else:
    from cereus.engine.kernel import layout

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Masks = npt.NDArray[np.uint64]

LOOK_EVERY = cython.declare(cython.longlong, 1 << 22)
"""Check for Ctrl-C after this many pairs and rows: some hundredths of a second."""
LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL, EQUAL = range(5)
"""How a number of the row is compared with the constant of the rule."""


@cython.cfunc
@cython.exceptval(-1)
def _looked(much: cython.longlong) -> cython.longlong:
    """How much of this work counts towards the next look for Ctrl-C: none, once it was looked.
    Without compilation, Python itself looks."""
    if much < LOOK_EVERY:
        return much
    look_up()
    if cython.compiled:
        PyErr_CheckSignals()
    return 0


@cython.cfunc
@cython.exceptval(check=False)
@cython.inline
def _holds(op: cython.int, number: cython.double, constant: cython.double) -> cython.bint:
    if op == 0:
        return number < constant
    if op == 1:
        return number <= constant
    if op == 2:
        return number > constant
    if op == 3:
        return number >= constant
    return number == constant


def passing_pairs(
    rows: cython.const[cython.longlong][::1],
    begin: cython.const[cython.longlong][::1],
    end: cython.const[cython.longlong][::1],
    order: cython.const[cython.int][::1],
    ops: cython.const[cython.int][::1],
    numbers: cython.const[cython.double][:, ::1],
    constants: cython.const[cython.double][:, ::1],
) -> tuple[Ints, Codes]:
    """The pairs of a row and a rule of order[begin:end] for which every check c holds: the row's
    numbers[c] compared with the rule's constants[c], as ops[c] says."""
    i: cython.longlong
    k: cython.longlong
    c: cython.int
    rule: cython.int
    size: cython.longlong = 0
    for i in range(rows.shape[0]):
        size += end[i] - begin[i]
    at_rows = empty(size, np.int64)
    at_rules = empty(size, np.int32)
    out: cython.longlong[::1] = at_rows
    out_rules: cython.int[::1] = at_rules
    used: cython.longlong = 0
    worked: cython.longlong = 0
    checks: cython.int = ops.shape[0]
    for i in range(rows.shape[0]):
        worked = _looked(worked + 1 + end[i] - begin[i])
        for k in range(begin[i], end[i]):
            rule = order[k]
            passed: cython.bint = True
            for c in range(checks):
                if not _holds(ops[c], numbers[c, i], constants[c, rule]):
                    passed = False
                    break
            if passed:
                out[used] = rows[i]
                out_rules[used] = rule
                used += 1
    return at_rows[:used], at_rules[:used]


def merged_pairs(
    places: cython.const[cython.longlong][::1],
    alike: cython.const[cython.ulonglong][::1],
    rows: cython.const[cython.longlong][::1],
    rules: cython.const[cython.int][::1],
    starts: cython.const[cython.longlong][::1],
    bits: cython.const[cython.ulonglong][::1],
    size: cython.int,
) -> tuple[Ints, Codes, Masks]:
    """The pairs of several tests, each once, with all tests that it passes. Those of test t begin
    at starts[t]; `places` are all rows, and `alike` has, by row, the shared tests that it
    passes."""
    n: cython.longlong = rows.shape[0]
    tests: cython.int = bits.shape[0]
    result_rows, result_rules = empty(n, np.int64), empty(n, np.int32)
    result_masks = empty(n, np.uint64)
    out: cython.longlong[::1] = result_rows
    out_rules: cython.int[::1] = result_rules
    out_masks: cython.ulonglong[::1] = result_masks
    next_of: cython.longlong[::1] = np.array(starts[:tests], np.int64)
    seen: cython.longlong[::1] = filled(size, -1, np.int64)
    written: cython.longlong[::1] = np.zeros(size, np.int64)
    used: cython.longlong = 0
    worked: cython.longlong = 0
    i: cython.longlong
    t: cython.int
    for i in range(places.shape[0]):
        row: cython.longlong = places[i]
        for t in range(tests):
            at: cython.longlong = next_of[t]
            worked = _looked(worked + 1)
            while at < starts[t + 1] and rows[at] == row:
                rule: cython.int = rules[at]
                if seen[rule] == row:
                    out_masks[written[rule]] |= bits[t]
                else:
                    seen[rule], written[rule] = row, used
                    out[used] = row
                    out_rules[used] = rule
                    out_masks[used] = bits[t] | alike[row]
                    used += 1
                at += 1
            worked += at - next_of[t]
            next_of[t] = at
    return result_rows[:used], result_rules[:used], result_masks[:used]


def awake_pairs(
    rows: cython.const[cython.longlong][::1],
    pairs: cython.const[cython.int][::1],
    classes: cython.const[cython.int][::1],
    wakes: cython.const[cython.uchar][::1],
    places: cython.const[cython.longlong][::1],
    going_on: cython.const[cython.int][::1],
    keys: cython.const[cython.int][::1],
    measures: cython.const[cython.longlong][::1],
    floors: cython.const[cython.longlong][::1],
    key_of: cython.const[cython.int][::1],
    n_keys: cython.int,
    woken: cython.longlong[::1],
) -> tuple[Ints, Codes, Codes]:
    """The pairs that are awake when their row comes, or are woken by it (`idle_keys`): of those
    that are listed (rows, pairs, classes), and of all others whose key has a row that goes on with
    what is begun: going_on[row] is its class then, else -1.

    keys, measures, floors  by row
    key_of                  the key of every pair
    woken                   when each pair was last woken; it moves on

    The pairs of a key that are awake are a list: first[key], then following[pair]. Pairs whose
    window has passed leave it when the list is next walked.
    """
    n_pairs: cython.longlong = key_of.shape[0]
    first: cython.int[::1] = filled(max(1, n_keys), -1, np.int32)
    following: cython.int[::1] = filled(max(1, n_pairs), -1, np.int32)
    listed: cython.uchar[::1] = np.zeros(max(1, n_pairs), np.uint8)
    written: cython.longlong[::1] = filled(max(1, n_pairs), -1, np.int64)
    i: cython.longlong
    pair: cython.int
    key: cython.int
    awake: cython.longlong = 0
    oldest: cython.longlong = floors[places[0]] if places.shape[0] else 0
    for i in range(places.shape[0]):
        oldest = min(oldest, floors[places[i]])
    for i in range(n_pairs):
        if woken[i] >= oldest and woken[i] != layout.NO_BOUND:
            following[i] = first[key_of[i]]
            first[key_of[i]] = cython.cast(cython.int, i)
            listed[i] = 1
            awake += 1
    capacity: cython.longlong = 2 * rows.shape[0] + awake + 1024
    result_rows, result_pairs = empty(capacity, np.int64), empty(capacity, np.int32)
    result_classes = empty(capacity, np.int32)
    out: cython.longlong[::1] = result_rows
    out_pairs: cython.int[::1] = result_pairs
    out_classes: cython.int[::1] = result_classes
    used: cython.longlong = 0
    at: cython.longlong = 0
    worked: cython.longlong = 0
    for i in range(places.shape[0]):
        row: cython.longlong = places[i]
        key = keys[row]
        worked = _looked(worked + 1)
        # a row adds its listed pairs, and at most all that are awake
        if used + 2 * (rows.shape[0] - at) + awake > capacity:
            capacity = 2 * (used + 2 * (rows.shape[0] - at) + awake)
            result_rows = longer(result_rows, capacity, 0)
            result_pairs = longer(result_pairs, capacity, 0)
            result_classes = longer(result_classes, capacity, 0)
            out, out_pairs, out_classes = result_rows, result_pairs, result_classes
        while at < rows.shape[0] and rows[at] == row:
            pair = pairs[at]
            how: cython.int = wakes[classes[at]]
            until: cython.longlong = woken[pair]
            if how:
                if how == layout.WAKES_FOR_GOOD or until == layout.LATEST:
                    until = layout.LATEST
                else:
                    until = measures[row]
                woken[pair] = until
                if not listed[pair]:
                    listed[pair] = 1
                    awake += 1
                    following[pair] = first[key]
                    first[key] = pair
            written[pair] = row
            if until >= floors[row]:
                out[used], out_pairs[used], out_classes[used] = row, pair, classes[at]
                used += 1
            at += 1
            worked += 1
        if going_on[row] < 0:
            continue
        before: cython.int = -1
        pair = first[key]
        while pair >= 0:
            if woken[pair] < floors[row]:  # the pair leaves the list
                listed[pair] = 0
                awake -= 1
                if before < 0:
                    first[key] = following[pair]
                else:
                    following[before] = following[pair]
            else:
                before = pair
                if written[pair] != row:
                    out[used], out_pairs[used], out_classes[used] = row, pair, going_on[row]
                    used += 1
            pair = following[pair]
            worked += 1
    return result_rows[:used], result_pairs[:used], result_classes[:used]
