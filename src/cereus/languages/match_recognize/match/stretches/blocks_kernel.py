"""Computes what is known about the rows of blocks: bounds of columns, whether there are values,
sums.

The smallest blocks are read from the rows. Larger blocks are made from pairs of smaller ones
(`blocks.py`), and rests, which go on to the ends of partitions, from the smallest.
"""

from typing import Any

import cython

if cython.compiled:
    from cython.cimports.cereus.languages.match_recognize.match import codes
    from cython.cimports.cereus.languages.match_recognize.match.rows.rows_kernel import interrupted
else:
    from cereus.languages.match_recognize.match import codes
    from cereus.languages.match_recognize.match.rows.rows_kernel import interrupted


NO_NUMBER = cython.declare(cython.double, float("nan"))
LOOK_EVERY = cython.declare(cython.Py_ssize_t, 1 << 12)
"""After so many blocks of a column it is seen whether Ctrl-C was pressed."""


@cython.ccall
def read_blocks(blocks: Any, rows: Any) -> None:
    """Fill in all blocks: the smallest from the rows, larger ones from pairs, and the rests."""
    cython.declare(level=cython.int)
    _read_smallest(blocks, rows)
    _read_states(blocks, rows)
    for level in range(1, codes.BLOCK_SIZES):
        _join_pairs(blocks, blocks.starts[level - 1], blocks.starts[level])
        _join_states(blocks, blocks.starts[level - 1], blocks.starts[level])
    _join_rests(blocks, rows)


@cython.cfunc
def _read_smallest(blocks: Any, rows: Any) -> cython.void:
    """Fill in the smallest blocks of each column. NaN makes bounds that are NaN. Columns are
    `summed` as whole numbers (1), as floats (2) or not at all (0); nulls add nothing."""
    summed: cython.const[cython.uchar][::1] = blocks.summed
    low_ints: cython.longlong[:, ::1] = blocks.low_ints
    high_ints: cython.longlong[:, ::1] = blocks.high_ints
    low_floats: cython.double[:, ::1] = blocks.low_floats
    high_floats: cython.double[:, ::1] = blocks.high_floats
    any_valid: cython.uchar[:, ::1] = blocks.any_valid
    all_valid: cython.uchar[:, ::1] = blocks.all_valid
    valid_counts: cython.longlong[:, ::1] = blocks.valid_counts
    ints: cython.const[cython.longlong][:, ::1] = rows.ints
    floats: cython.const[cython.double][:, ::1] = rows.floats
    valid: cython.const[cython.uchar][:, ::1] = rows.valid
    count: cython.Py_ssize_t = rows.sets.shape[0]
    small: cython.Py_ssize_t = blocks.starts[1]
    cython.declare(c=cython.Py_ssize_t, b=cython.Py_ssize_t, r=cython.Py_ssize_t)
    cython.declare(first=cython.Py_ssize_t, end=cython.Py_ssize_t)
    cython.declare(least=cython.longlong, most=cython.longlong)
    cython.declare(low=cython.double, high=cython.double, f=cython.double, none=cython.bint)
    cython.declare(any_=cython.uchar, all_=cython.uchar, values=cython.longlong)
    for c in range(low_ints.shape[0]):
        with cython.nogil:
            for b in range(small):
                if b % LOOK_EVERY == 0:
                    interrupted()
                first = b << codes.BLOCK_BITS
                end = min(first + (1 << codes.BLOCK_BITS), count)
                least = most = ints[c, first]
                low = high = floats[c, first]
                none = low != low
                any_ = all_ = valid[c, first]
                values = any_
                for r in range(first + 1, end):
                    least = min(least, ints[c, r])
                    most = max(most, ints[c, r])
                    f = floats[c, r]
                    none = none or f != f
                    low = f if f < low else low
                    high = f if f > high else high
                    any_ = any_ | valid[c, r]
                    all_ = all_ & valid[c, r]
                    values += valid[c, r]
                if none:
                    low = high = NO_NUMBER
                low_ints[c, b] = least
                high_ints[c, b] = most
                low_floats[c, b] = low
                high_floats[c, b] = high
                any_valid[c, b] = any_
                all_valid[c, b] = all_
                valid_counts[c, b] = values
        if summed[c]:
            _add_up(blocks, rows, c, summed[c] == 1)


@cython.cfunc
def _add_up(blocks: Any, rows: Any, column: cython.Py_ssize_t, as_ints: cython.bint) -> cython.void:
    """The sums of a column in the smallest blocks."""
    low_sums: cython.double[::1] = blocks.low_sums[column]
    high_sums: cython.double[::1] = blocks.high_sums[column]
    spreads: cython.double[::1] = blocks.spreads[column]
    sums: cython.double[::1] = blocks.sums[column]
    totals: cython.longlong[::1] = blocks.totals[column]
    ints: cython.const[cython.longlong][::1] = rows.ints[column]
    floats: cython.const[cython.double][::1] = rows.floats[column]
    valid: cython.const[cython.uchar][::1] = rows.valid[column]
    count: cython.Py_ssize_t = rows.sets.shape[0]
    small: cython.Py_ssize_t = blocks.starts[1]
    cython.declare(b=cython.Py_ssize_t, r=cython.Py_ssize_t, first=cython.Py_ssize_t)
    cython.declare(total=cython.longlong, f=cython.double, sum_=cython.double)
    cython.declare(low=cython.double, high=cython.double, spread=cython.double)
    with cython.nogil:
        for b in range(small):
            first = b << codes.BLOCK_BITS
            total = 0
            sum_ = spread = low = high = 0.0
            for r in range(first, min(first + (1 << codes.BLOCK_BITS), count)):
                if valid[r]:
                    total += ints[r] if as_ints else 0
                    f = cython.cast(cython.double, ints[r]) if as_ints else floats[r]
                    sum_ += f
                    spread += f if f > 0 else -f
                if r == first:
                    low = high = sum_
                low = min(low, sum_)
                high = max(high, sum_)
            low_sums[b] = low
            high_sums[b] = high
            spreads[b] = spread
            sums[b] = sum_
            totals[b] = total


@cython.cfunc
def _join_pairs(blocks: Any, below: cython.Py_ssize_t, at: cython.Py_ssize_t) -> cython.void:
    """Make the blocks from `at` on from pairs of those from `below` on; the last may be alone."""
    summed: cython.const[cython.uchar][::1] = blocks.summed
    low_ints: cython.longlong[:, ::1] = blocks.low_ints
    high_ints: cython.longlong[:, ::1] = blocks.high_ints
    low_floats: cython.double[:, ::1] = blocks.low_floats
    high_floats: cython.double[:, ::1] = blocks.high_floats
    any_valid: cython.uchar[:, ::1] = blocks.any_valid
    all_valid: cython.uchar[:, ::1] = blocks.all_valid
    valid_counts: cython.longlong[:, ::1] = blocks.valid_counts
    low_sums: cython.double[:, ::1] = blocks.low_sums
    high_sums: cython.double[:, ::1] = blocks.high_sums
    spreads: cython.double[:, ::1] = blocks.spreads
    sums: cython.double[:, ::1] = blocks.sums
    totals: cython.longlong[:, ::1] = blocks.totals
    cython.declare(c=cython.Py_ssize_t, b=cython.Py_ssize_t)
    cython.declare(i=cython.Py_ssize_t, j=cython.Py_ssize_t)
    with cython.nogil:
        for c in range(low_ints.shape[0]):
            for b in range(at, at + (at - below + 1) // 2):
                if b % LOOK_EVERY == 0:
                    interrupted()
                i = below + 2 * (b - at)
                j = i + 1 if i + 1 < at else i
                low_ints[c, b] = min(low_ints[c, i], low_ints[c, j])
                high_ints[c, b] = max(high_ints[c, i], high_ints[c, j])
                low_floats[c, b] = _least(low_floats[c, i], low_floats[c, j])
                high_floats[c, b] = _most(high_floats[c, i], high_floats[c, j])
                any_valid[c, b] = any_valid[c, i] | any_valid[c, j]
                all_valid[c, b] = all_valid[c, i] & all_valid[c, j]
                valid_counts[c, b] = valid_counts[c, i] + (valid_counts[c, j] if i != j else 0)
                if not summed[c]:
                    continue
                low_sums[c, b] = low_sums[c, i]
                high_sums[c, b] = high_sums[c, i]
                spreads[c, b] = spreads[c, i]
                sums[c, b] = sums[c, i]
                totals[c, b] = totals[c, i]
                if i == j:
                    continue
                low_sums[c, b] = _least(low_sums[c, i], sums[c, i] + low_sums[c, j])
                high_sums[c, b] = _most(high_sums[c, i], sums[c, i] + high_sums[c, j])
                spreads[c, b] += spreads[c, j]
                sums[c, b] += sums[c, j]
                totals[c, b] += totals[c, j]


@cython.cfunc
def _read_states(blocks: Any, rows: Any) -> cython.void:
    """Which states are possible at some rows of the smallest blocks, and which at all."""
    any_alive: cython.uchar[:, ::1] = blocks.any_alive
    all_alive: cython.uchar[:, ::1] = blocks.all_alive
    sets: cython.const[cython.int][::1] = rows.sets
    alive: cython.const[cython.uchar][:, ::1] = rows.alive
    small: cython.Py_ssize_t = blocks.starts[1]
    cython.declare(b=cython.Py_ssize_t, r=cython.Py_ssize_t, q=cython.Py_ssize_t)
    cython.declare(first=cython.Py_ssize_t, last=cython.int)
    with cython.nogil:
        for b in range(small):
            if b % LOOK_EVERY == 0:
                interrupted()
            first = b << codes.BLOCK_BITS
            last = sets[first]
            for q in range(alive.shape[1]):
                any_alive[b, q] = all_alive[b, q] = alive[last, q]
            for r in range(first + 1, min(first + (1 << codes.BLOCK_BITS), sets.shape[0])):
                if sets[r] == last:
                    continue
                last = sets[r]
                for q in range(alive.shape[1]):
                    any_alive[b, q] |= alive[last, q]
                    all_alive[b, q] &= alive[last, q]


@cython.cfunc
def _join_states(blocks: Any, below: cython.Py_ssize_t, at: cython.Py_ssize_t) -> cython.void:
    """Like `_read_states`, for the blocks from `at` on, from pairs of those from `below` on."""
    any_alive: cython.uchar[:, ::1] = blocks.any_alive
    all_alive: cython.uchar[:, ::1] = blocks.all_alive
    cython.declare(b=cython.Py_ssize_t, i=cython.Py_ssize_t, j=cython.Py_ssize_t)
    cython.declare(q=cython.Py_ssize_t)
    with cython.nogil:
        for b in range(at, at + (at - below + 1) // 2):
            i = below + 2 * (b - at)
            j = i + 1 if i + 1 < at else i
            for q in range(any_alive.shape[1]):
                any_alive[b, q] = any_alive[i, q] | any_alive[j, q]
                all_alive[b, q] = all_alive[i, q] & all_alive[j, q]


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def _least(f: cython.double, g: cython.double) -> cython.double:
    """The smaller number; NaN if one of them is NaN."""
    return f if f <= g or f != f else g


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def _most(f: cython.double, g: cython.double) -> cython.double:
    """The greater number; NaN if one of them is NaN."""
    return f if f >= g or f != f else g


@cython.cfunc
def _join_rests(blocks: Any, rows: Any) -> cython.void:
    """Make the rests: from the last small block on, each with the rest after it, or with the rows
    that are left in its partition."""
    first: cython.Py_ssize_t = blocks.starts[codes.BLOCK_SIZES]
    cuts: cython.const[cython.longlong][::1] = blocks.cuts
    summed: cython.const[cython.uchar][::1] = blocks.summed
    low_ints: cython.longlong[:, ::1] = blocks.low_ints
    high_ints: cython.longlong[:, ::1] = blocks.high_ints
    low_floats: cython.double[:, ::1] = blocks.low_floats
    high_floats: cython.double[:, ::1] = blocks.high_floats
    any_valid: cython.uchar[:, ::1] = blocks.any_valid
    all_valid: cython.uchar[:, ::1] = blocks.all_valid
    low_sums: cython.double[:, ::1] = blocks.low_sums
    high_sums: cython.double[:, ::1] = blocks.high_sums
    spreads: cython.double[:, ::1] = blocks.spreads
    sums: cython.const[cython.double][:, ::1] = blocks.sums
    ints: cython.const[cython.longlong][:, ::1] = rows.ints
    floats: cython.const[cython.double][:, ::1] = rows.floats
    valid: cython.const[cython.uchar][:, ::1] = rows.valid
    cython.declare(c=cython.Py_ssize_t, b=cython.Py_ssize_t, at=cython.Py_ssize_t)
    cython.declare(r=cython.Py_ssize_t, total=cython.double, value=cython.double)
    with cython.nogil:
        for c in range(low_ints.shape[0]):
            for b in range(cuts.shape[0] - 1, -1, -1):
                if b % LOOK_EVERY == 0:
                    interrupted()
                at = first + b
                low_ints[c, at] = low_ints[c, b]
                high_ints[c, at] = high_ints[c, b]
                low_floats[c, at] = low_floats[c, b]
                high_floats[c, at] = high_floats[c, b]
                any_valid[c, at] = any_valid[c, b]
                all_valid[c, at] = all_valid[c, b]
                low_sums[c, at] = low_sums[c, b]
                high_sums[c, at] = high_sums[c, b]
                spreads[c, at] = spreads[c, b]
                if b == cuts.shape[0] - 1:
                    continue
                if cuts[b] == 0:
                    low_ints[c, at] = min(low_ints[c, at], low_ints[c, at + 1])
                    high_ints[c, at] = max(high_ints[c, at], high_ints[c, at + 1])
                    low_floats[c, at] = _least(low_floats[c, at], low_floats[c, at + 1])
                    high_floats[c, at] = _most(high_floats[c, at], high_floats[c, at + 1])
                    any_valid[c, at] = any_valid[c, at] or any_valid[c, at + 1]
                    all_valid[c, at] = all_valid[c, at] and all_valid[c, at + 1]
                    low_sums[c, at] = _least(low_sums[c, at], sums[c, b] + low_sums[c, at + 1])
                    high_sums[c, at] = _most(high_sums[c, at], sums[c, b] + high_sums[c, at + 1])
                    spreads[c, at] += spreads[c, at + 1]
                    continue
                total = sums[c, b]
                for r in range((b + 1) << codes.BLOCK_BITS, cuts[b]):
                    low_ints[c, at] = min(low_ints[c, at], ints[c, r])
                    high_ints[c, at] = max(high_ints[c, at], ints[c, r])
                    low_floats[c, at] = _least(low_floats[c, at], floats[c, r])
                    high_floats[c, at] = _most(high_floats[c, at], floats[c, r])
                    any_valid[c, at] = any_valid[c, at] or valid[c, r]
                    all_valid[c, at] = all_valid[c, at] and valid[c, r]
                    if summed[c] and valid[c, r]:
                        value = (
                            floats[c, r]
                            if summed[c] == 2
                            else (cython.cast(cython.double, ints[c, r]))
                        )
                        total += value
                        spreads[c, at] += value if value > 0 else -value
                        low_sums[c, at] = _least(low_sums[c, at], total)
                        high_sums[c, at] = _most(high_sums[c, at], total)
