"""Matching where a row's letter decides every condition: two passes over each partition.

A *set* is a set of states: those that can read the row at hand and from which the pattern can still
be completed. Sets are numbered as they are met (`look_ahead.py`); number 0 is the set after the
last row. Pass 1 goes backwards and notes the set of every row, one lookup each. Pass 2 goes
forwards and walks one path from each start: at every choice it takes the most preferred state of
the next row's set, one lookup each. It never turns back, so the cost is linear in the rows read and
in the rows of the matches, whatever the pattern.

Invariants: `steps[set, letter]` is the set of a row with this letter before a row of `set`, or -1
where it has not been worked out; `choices[set, q]` is the state that follows q where the next row
has `set` (DONE = -2; -1 if there is none, which no path meets); `begins[set, first]` the same for
the first state of a match.
"""

import cython

from cereus.engine.interrupts import look_up

if cython.compiled:
    from cython.cimports.cereus.languages.match_recognize.match import codes
    from cython.cimports.cpython.exc import PyErr_CheckSignals
else:
    from cereus.languages.match_recognize.match import codes

MOVES = cython.declare(cython.Py_ssize_t, 1 << 24)
"""If all states are looked at on each row, check for Ctrl-C after this many moves of states."""


@cython.cfunc
@cython.nogil
@cython.exceptval(-1)
def interrupted() -> cython.int:
    """Raise what Ctrl-C raises. Without compilation, Python itself does."""
    with cython.gil:
        look_up()
        if cython.compiled:
            PyErr_CheckSignals()
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def goes_on(
    skip: cython.int,
    start: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    target: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Where the search goes on after a match whose row to skip to is `target`. If there is no such
    row, or the search would not go on, the error as a negative number."""
    if end == start or skip == codes.NEXT_ROW:
        return start + 1
    if skip == codes.PAST_LAST_ROW:
        return end
    if target < 0:
        return -codes.NOT_MAPPED
    return -codes.FIRST_ROW if target == start else target


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def marked(
    skip: cython.int, target: cython.Py_ssize_t, row: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """The row to skip to after reading `row`, which is one that SKIP TO means: the first or the
    last of them."""
    return row if target < 0 or skip == codes.TO_LAST else target


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def note(
    progress: cython.longlong[::1],
    part: cython.Py_ssize_t,
    row: cython.Py_ssize_t,
    matches: cython.Py_ssize_t,
    written: cython.Py_ssize_t,
    read: cython.Py_ssize_t,
) -> cython.void:
    """Write down how far a search has come, for the call that goes on with it."""
    progress[codes.PART] = part
    progress[codes.ROW] = row
    progress[codes.MATCHES] = matches
    progress[codes.WRITTEN] = written
    progress[codes.READ] = read


@cython.ccall
def find(
    letters: cython.const[cython.ushort][::1],
    bounds: cython.const[cython.longlong][::1],
    steps: cython.const[cython.int][:, ::1],
    choices: cython.const[cython.int][:, ::1],
    begins: cython.const[cython.int][:, ::1],
    targets: cython.const[cython.uchar][::1],
    skip: cython.int,
    sets: cython.int[::1],
    progress: cython.longlong[::1],
    starts: cython.longlong[::1],
    ends: cython.longlong[::1],
    states: cython.short[::1],
) -> cython.int:
    """Find the matches of the partitions that are left.

    A match is (starts, ends) and one state for each of its rows, all appended behind what was
    written before. `targets[q]` says whether a state is one that SKIP TO means. `progress` says how
    far earlier calls came (`codes`); its row is -1 before pass 1 of a partition, and -2 - i where
    that goes on at i.
    """
    part: cython.Py_ssize_t = progress[codes.PART]
    parts: cython.Py_ssize_t = bounds.shape[0] - 1
    matches: cython.Py_ssize_t = progress[codes.MATCHES]
    written: cython.Py_ssize_t = progress[codes.WRITTEN]
    read: cython.Py_ssize_t = progress[codes.READ]
    look_at: cython.Py_ssize_t = read - read % codes.LOOK_EVERY + (codes.LOOK_EVERY if read else 0)
    most_matches: cython.Py_ssize_t = starts.shape[0]
    most_states: cython.Py_ssize_t = states.shape[0]
    cython.declare(low=cython.Py_ssize_t, high=cython.Py_ssize_t, i=cython.Py_ssize_t)
    cython.declare(begin=cython.Py_ssize_t)
    cython.declare(row=cython.Py_ssize_t, at=cython.Py_ssize_t, start=cython.Py_ssize_t)
    cython.declare(target=cython.Py_ssize_t, set_=cython.int, next_=cython.int, q=cython.int)
    with cython.nogil:
        while part < parts:
            low = bounds[part]
            high = bounds[part + 1]
            row = progress[codes.ROW]
            if row < 0:
                begin = high - low - 1
                if row < -1:
                    begin = -2 - row
                else:
                    sets[high - low] = 0
                set_ = sets[begin + 1]
                for i in range(begin, -1, -1):
                    next_ = steps[set_, letters[low + i]]
                    if next_ < 0:
                        note(progress, part, -2 - i, matches, written, read)
                        progress[codes.CULPRIT] = letters[low + i]
                        progress[codes.SET] = set_
                        return codes.UNKNOWN_SET
                    set_ = next_
                    sets[i] = set_
                    read += 1
                    if read >= look_at:
                        look_at = read + codes.LOOK_EVERY
                        interrupted()
                row = low
            while row < high:
                read += 1
                if read >= look_at:
                    look_at = read + codes.LOOK_EVERY
                    interrupted()
                q = begins[sets[row - low], 1 if row == low else 0]
                if q == -1:
                    row += 1
                    continue
                if matches == most_matches or most_states - written < high - row:
                    note(progress, part, row, matches, written, read)
                    return codes.OUTPUT_FULL
                start = row
                at = row - low
                target = -1
                while q >= 0:
                    states[written] = q
                    written += 1
                    if skip >= codes.TO_FIRST and targets[q]:
                        target = marked(skip, target, at + low)
                    at += 1
                    q = choices[sets[at], q]
                read += at + low - start
                starts[matches] = start
                ends[matches] = at + low
                matches += 1
                row = goes_on(skip, start, at + low, target)
                if row < 0:
                    progress[codes.CULPRIT] = start
                    return -row
            part += 1
            progress[codes.ROW] = -1
        note(progress, part, -1, matches, written, read)
        return codes.FINISHED


@cython.ccall
def find_by_states(
    letters: cython.const[cython.ushort][::1],
    bounds: cython.const[cython.longlong][::1],
    reads: cython.const[cython.uchar][:, ::1],
    move_starts: cython.const[cython.int][::1],
    moves: cython.const[cython.int][::1],
    begin_starts: cython.const[cython.int][::1],
    begins: cython.const[cython.int][::1],
    last: cython.const[cython.uchar][::1],
    times: cython.const[cython.longlong][::1],
    length: cython.longlong,
    targets: cython.const[cython.uchar][::1],
    skip: cython.int,
    reach: cython.int[:, ::1],
    progress: cython.longlong[::1],
    starts: cython.longlong[::1],
    ends: cython.longlong[::1],
    states: cython.short[::1],
) -> cython.int:
    """Like `find`, with a number for every row and state in place of a set: how many rows a match
    needs at least from here on, this row included (0: it cannot be completed). For matches WITHIN a
    `length` (-1: any), and for patterns that have too many sets.

    `reads[letter, q]` says whether a row can be read by q; the moves of q are `moves[move_starts[q]
    : move_starts[q + 1]]`, `last[q]` whether it may be the last row of the partition.
    """
    part: cython.Py_ssize_t = progress[codes.PART]
    parts: cython.Py_ssize_t = bounds.shape[0] - 1
    matches: cython.Py_ssize_t = progress[codes.MATCHES]
    written: cython.Py_ssize_t = progress[codes.WRITTEN]
    read: cython.Py_ssize_t = progress[codes.READ]
    rows: cython.Py_ssize_t = max(1, MOVES // (last.shape[0] + moves.shape[0] + 1))
    look_at: cython.Py_ssize_t = read - read % rows + (rows if read else 0)
    most_matches: cython.Py_ssize_t = starts.shape[0]
    most_states: cython.Py_ssize_t = states.shape[0]
    size: cython.Py_ssize_t = last.shape[0]
    cython.declare(low=cython.Py_ssize_t, high=cython.Py_ssize_t, i=cython.Py_ssize_t)
    cython.declare(row=cython.Py_ssize_t, at=cython.Py_ssize_t, start=cython.Py_ssize_t)
    cython.declare(target=cython.Py_ssize_t, k=cython.Py_ssize_t, limit=cython.Py_ssize_t)
    cython.declare(best=cython.int, q=cython.int, first=cython.int, letter=cython.int)
    with cython.nogil:
        while part < parts:
            low = bounds[part]
            high = bounds[part + 1]
            row = progress[codes.ROW]
            if row < 0:
                for i in range(high - low - 1, -1, -1):
                    letter = letters[low + i]
                    for q in range(size):
                        best = 0
                        if reads[letter, q]:
                            if i == high - low - 1:
                                best = last[q]
                            else:
                                for k in range(move_starts[q], move_starts[q + 1]):
                                    if moves[k] < 0:
                                        best = 1
                                    elif reach[i + 1, moves[k]] > 0 and (
                                        best == 0 or reach[i + 1, moves[k]] + 1 < best
                                    ):
                                        best = reach[i + 1, moves[k]] + 1
                        reach[i, q] = best
                    read += 1
                    if read >= look_at:
                        look_at = read + rows
                        interrupted()
                row = low
            limit = row
            while row < high:
                read += 1
                if read >= look_at:
                    look_at = read + rows
                    interrupted()
                if matches == most_matches or most_states - written < high - row:
                    note(progress, part, row, matches, written, read)
                    return codes.OUTPUT_FULL
                if length < 0:
                    limit = high
                else:
                    if limit < row:
                        limit = row
                    while limit < high and times[limit] - times[row] < length:
                        limit += 1
                first = 1 if row == low else 0
                q = -1
                for k in range(begin_starts[first], begin_starts[first + 1]):
                    if begins[k] < 0:
                        q = -2
                        break
                    best = reach[row - low, begins[k]]
                    if best > 0 and row + best <= limit:
                        q = begins[k]
                        break
                if q == -1:
                    row += 1
                    continue
                start = row
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
                        if q < 0:
                            break
                        best = reach[at - low, q]
                        if best > 0 and at + best <= limit:
                            break
                read += at - start
                starts[matches] = start
                ends[matches] = at
                matches += 1
                row = goes_on(skip, start, at, target)
                if row < 0:
                    progress[codes.CULPRIT] = start
                    return -row
            part += 1
            progress[codes.ROW] = -1
        note(progress, part, -1, matches, written, read)
        return codes.FINISHED


def count_codes(codes: cython.const[cython.int][::1], counts: cython.longlong[::1]) -> None:
    """Count how often each code comes."""
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(codes.shape[0]):
            counts[codes[i]] += 1


def place_rows(
    codes: cython.const[cython.int][::1],
    first: cython.Py_ssize_t,
    places: cython.longlong[::1],
    rows: cython.int[::1],
) -> None:
    """Write the rows of these codes, from row `first` on, to their places. `places[c]` is the next
    place for code c; it is updated."""
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(codes.shape[0]):
            rows[places[codes[i]]] = first + i
            places[codes[i]] += 1


@cython.ccall
def look_ahead(
    letters: cython.const[cython.ushort][::1],
    bounds: cython.const[cython.longlong][::1],
    steps: cython.const[cython.int][:, ::1],
    sets: cython.int[::1],
    progress: cython.longlong[::1],
) -> cython.int:
    """Pass 1 alone: note the set of every row, for the partitions that are left. The row of
    `progress` is the one after the row where the first of them goes on (0: its last row)."""
    part: cython.Py_ssize_t = progress[codes.PART]
    cython.declare(i=cython.Py_ssize_t, set_=cython.int, next_=cython.int)
    cython.declare(begin=cython.Py_ssize_t)
    with cython.nogil:
        while part < bounds.shape[0] - 1:
            begin = bounds[part + 1] - 1
            set_ = 0
            if progress[codes.ROW] > 0:
                begin = progress[codes.ROW] - 1
                if begin + 1 < bounds[part + 1]:
                    set_ = sets[begin + 1]
                progress[codes.ROW] = 0
            for i in range(begin, bounds[part] - 1, -1):
                next_ = steps[set_, letters[i]]
                if next_ < 0:
                    progress[codes.PART] = part
                    progress[codes.ROW] = i + 1
                    progress[codes.CULPRIT] = letters[i]
                    progress[codes.SET] = set_
                    return codes.UNKNOWN_SET
                set_ = next_
                sets[i] = set_
                if i % codes.LOOK_EVERY == 0:
                    interrupted()
            part += 1
        return codes.FINISHED


@cython.ccall
def take_rows(
    bounds: cython.const[cython.longlong][::1],
    sets: cython.const[cython.int][::1],
    choices: cython.const[cython.int][:, ::1],
    begins: cython.const[cython.int][:, ::1],
    chosen: cython.const[cython.uchar][::1],
    last: cython.bint,
    bits: cython.const[cython.ulonglong][::1],
    met: cython.ulonglong[::1],
    taken: cython.uchar[::1],
    progress: cython.longlong[::1],
) -> cython.Py_ssize_t:
    """Mark the rows that the matches of all starts take in a chosen state, or the `last` row of
    each; returns how many matches have rows. `sets` are those of `look_ahead`.

    `met[row]` are the `bits` of states in which a match has read the row. From there on all matches
    are the same, so each row is read once in each state, however many matches it has.
    """
    cython.declare(part=cython.Py_ssize_t, row=cython.Py_ssize_t, at=cython.Py_ssize_t)
    cython.declare(low=cython.Py_ssize_t, high=cython.Py_ssize_t, q=cython.int)
    count: cython.Py_ssize_t = 0
    read: cython.Py_ssize_t = 0
    look_at: cython.Py_ssize_t = codes.LOOK_EVERY
    with cython.nogil:
        for part in range(bounds.shape[0] - 1):
            low = bounds[part]
            high = bounds[part + 1]
            for row in range(low, high):
                q = begins[sets[row], 1 if row == low else 0]
                count += q >= 0
                at = row
                while q >= 0:
                    if met[at] & bits[q]:
                        break
                    met[at] |= bits[q]
                    taken[at] |= chosen[q]
                    at += 1
                    q = choices[sets[at] if at < high else 0, q]
                    if q < 0:
                        taken[at - 1] |= last
                read += 1 + at - row
                if read >= look_at:
                    look_at = read + codes.LOOK_EVERY
                    interrupted()
        progress[codes.READ] = read
        return count


def latest_rows(
    letters: cython.const[cython.ushort][::1],
    bounds: cython.const[cython.longlong][::1],
    reads: cython.const[cython.uchar][:, ::1],
    move_starts: cython.const[cython.int][::1],
    moves: cython.const[cython.int][::1],
    last: cython.const[cython.uchar][::1],
    bounded: cython.const[cython.uchar][::1],
    latest: cython.int[:, ::1],
) -> None:
    """For every row and state, the earliest row that can be the last `bounded` row of a match that
    reads this row in this state; -1 if there need be none, -2 if no match is completed."""
    part: cython.Py_ssize_t
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    rows: cython.Py_ssize_t = max(1, MOVES // (last.shape[0] + moves.shape[0] + 1))
    cython.declare(q=cython.int, best=cython.int, behind=cython.int)
    with cython.nogil:
        for part in range(bounds.shape[0] - 1):
            for i in range(bounds[part + 1] - 1, bounds[part] - 1, -1):
                if i % rows == 0:
                    interrupted()
                for q in range(last.shape[0]):
                    best = -2
                    if reads[letters[i], q]:
                        if i == bounds[part + 1] - 1:
                            best = -1 if last[q] else -2
                        else:
                            for k in range(move_starts[q], move_starts[q + 1]):
                                behind = -1 if moves[k] < 0 else latest[i + 1, moves[k]]
                                if behind != -2 and (best == -2 or behind < best):
                                    best = behind
                        if best == -1 and bounded[q]:
                            best = i
                    latest[i, q] = best
