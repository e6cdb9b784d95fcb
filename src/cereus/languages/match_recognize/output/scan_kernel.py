"""Running aggregates over segments of an array: each row has the value over its segment so far.

`first[i]` marks the first row of a segment. Rows that are not `valid` leave the value as it is.
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
    for i in range(values.shape[0]):
        if first[i]:
            value = 0.0
            mean = 0.0
            count = 0.0
            none = True
        if valid[i]:
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
    for i in range(values.shape[0]):
        if first[i]:
            value = 0
            none = True
        if valid[i]:
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
    """The match and the position of matched rows, whose numbers rise, and whether each is the
    first of its match among them."""
    i: cython.Py_ssize_t
    at: cython.Py_ssize_t = 0
    before: cython.Py_ssize_t = -1
    for i in range(rows.shape[0]):
        while offsets[at + 1] <= rows[i]:
            at += 1
        match[i] = at
        position[i] = rows[i] + moves[at]
        first[i] = at != before
        before = at
