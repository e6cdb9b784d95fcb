"""The two passes of `rows_kernel` for patterns that have too many sets to number them.

A set of states is a row of bits here. Pass 1 goes from a set to the one before it by tables of
bytes. States with the same moves form a *group*, since the pattern can be completed from all of
them or from none. One table gives, for a byte of the bits of groups, the states that belong to
them; the other gives, for a byte of the bits of states, the groups that have a move to one of them.
So the cost of a row is a few lookups, whatever the rows are.

Invariants: `sets[i]` are the states that row i can be read by and from which the pattern can be
completed, `always` the groups whose moves reach the end, `lasts` the states that may read the last
row of a partition.
"""

import cython

if cython.compiled:
    from cython.cimports.cereus.languages.match_recognize.match import codes
    from cython.cimports.cereus.languages.match_recognize.match.rows.rows_kernel import (
        goes_on,
        interrupted,
        marked,
        note,
    )
else:
    from cereus.languages.match_recognize.match import codes
    from cereus.languages.match_recognize.match.rows.rows_kernel import (
        goes_on,
        interrupted,
        marked,
        note,
    )

LOOK_EVERY = cython.declare(cython.Py_ssize_t, 1 << 16)
"""Check for Ctrl-C after this many rows; after fewer rows if the sets are large."""


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def has(sets: cython.ulonglong[:, ::1], row: cython.Py_ssize_t, state: cython.int) -> cython.bint:
    """Whether a state is in the set of a row."""
    return (sets[row, state >> 6] >> cython.cast(cython.ulonglong, state & 63)) & 1 != 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def look_back(
    letters: cython.const[cython.ushort][::1],
    low: cython.Py_ssize_t,
    i: cython.Py_ssize_t,
    reads: cython.const[cython.ulonglong][:, ::1],
    behind: cython.const[cython.ulonglong][:, :, ::1],
    before: cython.const[cython.ulonglong][:, :, ::1],
    always: cython.const[cython.ulonglong][::1],
    groups: cython.ulonglong[::1],
    sets: cython.ulonglong[:, ::1],
) -> cython.void:
    """The set of row i of a partition, from that of the next row."""
    cython.declare(w=cython.Py_ssize_t, byte=cython.Py_ssize_t, v=cython.Py_ssize_t)
    cython.declare(word=cython.ulonglong)
    for w in range(groups.shape[0]):
        groups[w] = always[w]
    for w in range(sets.shape[1]):
        word = sets[i + 1, w]
        byte = 8 * w
        while word:
            if word & 255:
                for v in range(groups.shape[0]):
                    groups[v] |= before[byte, cython.cast(cython.Py_ssize_t, word & 255), v]
            word >>= 8
            byte += 1
    for w in range(sets.shape[1]):
        sets[i, w] = 0
    for w in range(groups.shape[0]):
        word = groups[w]
        byte = 8 * w
        while word:
            if word & 255:
                for v in range(sets.shape[1]):
                    sets[i, v] |= behind[byte, cython.cast(cython.Py_ssize_t, word & 255), v]
            word >>= 8
            byte += 1
    for w in range(sets.shape[1]):
        sets[i, w] &= reads[letters[low + i], w]


@cython.ccall
def find_by_bits(
    letters: cython.const[cython.ushort][::1],
    bounds: cython.const[cython.longlong][::1],
    reads: cython.const[cython.ulonglong][:, ::1],
    behind: cython.const[cython.ulonglong][:, :, ::1],
    before: cython.const[cython.ulonglong][:, :, ::1],
    always: cython.const[cython.ulonglong][::1],
    lasts: cython.const[cython.ulonglong][::1],
    move_starts: cython.const[cython.int][::1],
    moves: cython.const[cython.int][::1],
    begin_starts: cython.const[cython.int][::1],
    begins: cython.const[cython.int][::1],
    targets: cython.const[cython.uchar][::1],
    skip: cython.int,
    groups: cython.ulonglong[::1],
    sets: cython.ulonglong[:, ::1],
    progress: cython.longlong[::1],
    starts: cython.longlong[::1],
    ends: cython.longlong[::1],
    states: cython.short[::1],
) -> cython.int:
    """Find the matches of the partitions that are left; the other arguments are as in
    `rows_kernel.find`. `behind[byte, bits]` are states, `before[byte, bits]` groups."""
    part: cython.Py_ssize_t = progress[codes.PART]
    parts: cython.Py_ssize_t = bounds.shape[0] - 1
    matches: cython.Py_ssize_t = progress[codes.MATCHES]
    written: cython.Py_ssize_t = progress[codes.WRITTEN]
    read: cython.Py_ssize_t = progress[codes.READ]
    # all bytes of a set are looked up, and each gives a whole set
    rows: cython.Py_ssize_t = max(1, LOOK_EVERY // (groups.shape[0] * sets.shape[1]))
    look_at: cython.Py_ssize_t = read + rows
    cython.declare(low=cython.Py_ssize_t, high=cython.Py_ssize_t, i=cython.Py_ssize_t)
    cython.declare(row=cython.Py_ssize_t, at=cython.Py_ssize_t, target=cython.Py_ssize_t)
    cython.declare(k=cython.Py_ssize_t, q=cython.int, first=cython.int, w=cython.Py_ssize_t)
    with cython.nogil:
        while part < parts:
            low = bounds[part]
            high = bounds[part + 1]
            row = progress[codes.ROW]
            if row < 0:
                row = low
                for i in range(high - low - 1, -1, -1):
                    if i == high - low - 1:
                        for w in range(sets.shape[1]):
                            sets[i, w] = lasts[w] & reads[letters[low + i], w]
                    else:
                        look_back(letters, low, i, reads, behind, before, always, groups, sets)
                    read += 1
                    if read >= look_at:
                        look_at = read + rows
                        interrupted()
            while row < high:
                read += 1
                if read >= look_at:
                    look_at = read + rows
                    interrupted()
                q = -1
                first = 1 if row == low else 0
                for k in range(begin_starts[first], begin_starts[first + 1]):
                    if begins[k] < 0:
                        q = -2
                        break
                    if has(sets, row - low, begins[k]):
                        q = begins[k]
                        break
                if q == -1:
                    row += 1
                    continue
                if matches == starts.shape[0] or states.shape[0] - written < high - row:
                    note(progress, part, row, matches, written, read)
                    return codes.OUTPUT_FULL
                at = row
                target = -1
                while q >= 0:
                    states[written] = q
                    written += 1
                    if skip >= codes.TO_FIRST and targets[q]:
                        target = marked(skip, target, at)
                    at += 1
                    if at == high:
                        break
                    first = q
                    for k in range(move_starts[first], move_starts[first + 1]):
                        q = moves[k]
                        if q < 0 or has(sets, at - low, q):
                            break
                read += at - row
                starts[matches] = row
                ends[matches] = at
                matches += 1
                k = goes_on(skip, row, at, target)
                if k < 0:
                    progress[codes.CULPRIT] = row
                    return -k
                row = k
            part += 1
            progress[codes.ROW] = -1
        note(progress, part, -1, matches, written, read)
        return codes.FINISHED
