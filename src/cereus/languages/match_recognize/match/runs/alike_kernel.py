"""Finds rows that are alike: conditions read the same values at them."""

from typing import Any

import cython

if cython.compiled:
    from cython.cimports.cereus.languages.match_recognize.match import codes
    from cython.cimports.cereus.languages.match_recognize.match.rows.rows_kernel import interrupted
else:
    from cereus.languages.match_recognize.match import codes
    from cereus.languages.match_recognize.match.rows.rows_kernel import interrupted

PRIME = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)


@cython.ccall
def number_alike(
    rows: Any,
    columns: cython.const[cython.int][::1],
    table: cython.int[::1],
    first: cython.int[::1],
) -> None:
    """For every row the first one that has the same values in these columns. `table` is filled
    with -1, and has more entries than there are rows, a power of two.

    The last entry is that of no row, and is like no other: a slot for the first row of a variable
    is filled while it holds none, and not while it holds a row of NULLs."""
    ints: cython.const[cython.longlong][:, ::1] = rows.ints
    bits: cython.const[cython.longlong][:, ::1] = rows.floats.view("int64")
    valid: cython.const[cython.uchar][:, ::1] = rows.valid
    mask: cython.ulonglong = table.shape[0] - 1
    cython.declare(r=cython.Py_ssize_t, k=cython.Py_ssize_t, c=cython.int, other=cython.int)
    cython.declare(hash_=cython.ulonglong, at=cython.Py_ssize_t, same=cython.bint)
    last: cython.Py_ssize_t = first.shape[0] - 1
    first[last] = last
    with cython.nogil:
        for r in range(last):
            if r % codes.LOOK_EVERY == 0:
                interrupted()
            hash_ = 1
            for k in range(columns.shape[0]):
                c = columns[k]
                if valid[c, r]:
                    hash_ = hash_ ^ cython.cast(cython.ulonglong, ints[c, r] ^ bits[c, r])
                hash_ = hash_ * PRIME
                hash_ = hash_ ^ (hash_ >> 29)
            at = cython.cast(cython.Py_ssize_t, (hash_ >> 7) & mask)
            while True:
                other = table[at]
                if other < 0:
                    table[at] = r
                    first[r] = r
                    break
                same = True
                for k in range(columns.shape[0]):
                    c = columns[k]
                    if valid[c, r] != valid[c, other] or (
                        valid[c, r]
                        and (ints[c, r] != ints[c, other] or bits[c, r] != bits[c, other])
                    ):
                        same = False
                        break
                if same:
                    first[r] = other
                    break
                at = cython.cast(cython.Py_ssize_t, cython.cast(cython.ulonglong, at + 1) & mask)
