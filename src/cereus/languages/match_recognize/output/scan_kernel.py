"""Aggregates over the rows of matches.

The `running_` ones go over segments of an array, and each row has the value over its segment so
far: `first[i]` marks the first row of a segment. The `reduced_` ones have one value for each match,
over its rows whose state is one of those that `chosen` marks: matched row f of match m is the entry
f + moves[m] of the column, and the rows of m are offsets[m] to offsets[m + 1]. Rows that are not
`valid` leave the value as it is; where `valid` has no entry at all, every row is.
"""

import cython

from cereus.languages.match_recognize.output import functions

SUM = cython.declare(cython.int, functions.SUM)
MINIMUM = cython.declare(cython.int, functions.MINIMUM)
MAXIMUM = cython.declare(cython.int, functions.MAXIMUM)
SQUARES = cython.declare(cython.int, functions.SQUARES)


def running_floats(
    values: cython.const[cython.double][::1],
    valid: cython.const[cython.uchar][::1],
    first: cython.const[cython.uchar][::1],
    function: cython.int,
    out: cython.double[::1],
) -> None:
    """Sums, extremes in which a number comes before NaN, or the sum of the squared distances from
    the mean so far (Welford's: nothing large is subtracted from something large)."""
    i: cython.Py_ssize_t
    value: cython.double = 0.0
    mean: cython.double = 0.0
    count: cython.double = 0.0
    step: cython.double
    none: cython.bint = True
    every: cython.bint = valid.shape[0] == 0
    with cython.nogil:
        for i in range(values.shape[0]):
            if first[i]:
                value = 0.0
                mean = 0.0
                count = 0.0
                none = True
            if every or valid[i]:
                if function == SUM:
                    value += values[i]
                elif function == SQUARES:
                    count += 1.0
                    step = values[i] - mean
                    mean += step / count
                    value += step * (values[i] - mean)
                elif none or value != value:
                    value = values[i]
                elif function == MINIMUM:
                    value = values[i] if values[i] < value else value
                else:
                    value = values[i] if values[i] > value else value
                none = False
            out[i] = value


def running_ints(
    values: cython.const[cython.longlong][::1],
    valid: cython.const[cython.uchar][::1],
    first: cython.const[cython.uchar][::1],
    function: cython.int,
    out: cython.longlong[::1],
) -> None:
    """Sums (modulo 2**64) or extremes."""
    i: cython.Py_ssize_t
    value: cython.longlong = 0
    none: cython.bint = True
    every: cython.bint = valid.shape[0] == 0
    with cython.nogil:
        for i in range(values.shape[0]):
            if first[i]:
                value = 0
                none = True
            if every or valid[i]:
                if function == SUM:
                    value += values[i]
                elif (
                    none
                    or (function == MINIMUM and values[i] < value)
                    or (function == MAXIMUM and values[i] > value)
                ):
                    value = values[i]
                none = False
            out[i] = value


def placed(
    rows: cython.const[cython.longlong][::1],
    offsets: cython.const[cython.longlong][::1],
    moves: cython.const[cython.longlong][::1],
    match: cython.longlong[::1],
    position: cython.longlong[::1],
    first: cython.uchar[::1],
) -> None:
    """Find the match and the position of matched rows, whose numbers rise, and whether each is the
    first of its match among them."""
    i: cython.Py_ssize_t
    at: cython.Py_ssize_t = 0
    before: cython.Py_ssize_t = -1
    with cython.nogil:
        for i in range(rows.shape[0]):
            while offsets[at + 1] <= rows[i]:
                at += 1
            match[i] = at
            position[i] = rows[i] + moves[at]
            first[i] = at != before
            before = at


def nth_rows(
    states: cython.const[cython.short][::1],
    offsets: cython.const[cython.longlong][::1],
    chosen: cython.const[cython.uchar][::1],
    first: cython.bint,
    offset: cython.longlong,
    out: cython.longlong[::1],
) -> None:
    """For each match its chosen row `offset` from the front or from the back; -1 where it has
    fewer."""
    m: cython.Py_ssize_t
    i: cython.Py_ssize_t
    left: cython.longlong
    with cython.nogil:
        for m in range(out.shape[0]):
            left = offset
            out[m] = -1
            if first:
                for i in range(offsets[m], offsets[m + 1]):
                    if chosen[states[i]]:
                        if left == 0:
                            out[m] = i
                            break
                        left -= 1
            else:
                for i in range(offsets[m + 1] - 1, offsets[m] - 1, -1):
                    if chosen[states[i]]:
                        if left == 0:
                            out[m] = i
                            break
                        left -= 1


def counted(
    states: cython.const[cython.short][::1],
    offsets: cython.const[cython.longlong][::1],
    moves: cython.const[cython.longlong][::1],
    chosen: cython.const[cython.uchar][::1],
    valid: cython.const[cython.uchar][::1],
    out: cython.longlong[::1],
) -> None:
    """How many chosen rows each match has."""
    m: cython.Py_ssize_t
    i: cython.Py_ssize_t
    count: cython.longlong
    every: cython.bint = valid.shape[0] == 0
    with cython.nogil:
        for m in range(out.shape[0]):
            count = 0
            for i in range(offsets[m], offsets[m + 1]):
                if chosen[states[i]] and (every or valid[i + moves[m]]):
                    count += 1
            out[m] = count


def reduced_floats(
    values: cython.const[cython.double][::1],
    valid: cython.const[cython.uchar][::1],
    states: cython.const[cython.short][::1],
    offsets: cython.const[cython.longlong][::1],
    moves: cython.const[cython.longlong][::1],
    chosen: cython.const[cython.uchar][::1],
    function: cython.int,
    out: cython.double[::1],
) -> None:
    """Compute the value of `running_floats` at the last row of each match."""
    m: cython.Py_ssize_t
    i: cython.Py_ssize_t
    cython.declare(value=cython.double, mean=cython.double, count=cython.double)
    cython.declare(step=cython.double, each=cython.double, none=cython.bint)
    every: cython.bint = valid.shape[0] == 0
    with cython.nogil:
        for m in range(out.shape[0]):
            value = 0.0
            mean = 0.0
            count = 0.0
            none = True
            for i in range(offsets[m], offsets[m + 1]):
                if chosen[states[i]] and (every or valid[i + moves[m]]):
                    each = values[i + moves[m]]
                    if function == SUM:
                        value += each
                    elif function == SQUARES:
                        count += 1.0
                        step = each - mean
                        mean += step / count
                        value += step * (each - mean)
                    elif (
                        none
                        or value != value
                        or (function == MINIMUM and each < value)
                        or (function == MAXIMUM and each > value)
                    ):
                        value = each
                    none = False
            out[m] = value


def reduced_ints(
    values: cython.const[cython.longlong][::1],
    valid: cython.const[cython.uchar][::1],
    states: cython.const[cython.short][::1],
    offsets: cython.const[cython.longlong][::1],
    moves: cython.const[cython.longlong][::1],
    chosen: cython.const[cython.uchar][::1],
    function: cython.int,
    out: cython.longlong[::1],
) -> None:
    """Compute the value of `running_ints` at the last row of each match."""
    m: cython.Py_ssize_t
    i: cython.Py_ssize_t
    cython.declare(value=cython.longlong, each=cython.longlong, none=cython.bint)
    every: cython.bint = valid.shape[0] == 0
    with cython.nogil:
        for m in range(out.shape[0]):
            value = 0
            none = True
            for i in range(offsets[m], offsets[m + 1]):
                if chosen[states[i]] and (every or valid[i + moves[m]]):
                    each = values[i + moves[m]]
                    if function == SUM:
                        value += each
                    elif (
                        none
                        or (function == MINIMUM and each < value)
                        or (function == MAXIMUM and each > value)
                    ):
                        value = each
                    none = False
            out[m] = value
