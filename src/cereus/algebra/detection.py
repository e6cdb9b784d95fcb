"""Detection: Fig. 5 of the paper, with the ordered structures of Fig. 6, over flat arrays.

Python with Cython types: compiled it is the hot path, uncompiled it runs as it stands. What an
instruction means is in `instructions`; which instructions a tick needs is in `program`.

Invariants, for every tick:
- the sets S and Q are ascending, without duplicates, and within the sizes of `sizes`;
- Q's instances come from l, whose start and end only grow, so Q is ordered by both (§4.2);
- l and the instances in Q of a sequence ended before the current tick when they are read;
- the cell before a set is the time of the last tick that changed it. What depends on a set is
  worked out again only then (`changed`: the operator whose S comes next has changed its l, r or
  Q). A false alarm costs time, not correctness.
"""

import cython

COMPILED = cython.compiled


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def copy_rows(
    m: cython.longlong[::1], to: cython.Py_ssize_t, source: cython.Py_ssize_t
) -> cython.void:
    """Copy the rows of the instance at `source` to the one at `to`."""
    while True:
        to += 1
        source += 1
        m[to] = m[source]
        if m[source] < 0:
            break


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def join_rows(
    m: cython.longlong[::1], to: cython.Py_ssize_t, e: cython.Py_ssize_t, f: cython.Py_ssize_t
) -> cython.void:
    """The rows of e ⊕ f: the union of two ascending lists."""
    to += 1
    e += 1
    f += 1
    while m[e] >= 0 or m[f] >= 0:
        if m[f] < 0 or (m[e] >= 0 and m[e] <= m[f]):
            if m[e] == m[f]:
                f += 1
            m[to] = m[e]
            e += 1
        else:
            m[to] = m[f]
            f += 1
        to += 1
    m[to] = -1


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def insert(m: cython.longlong[::1], to: cython.Py_ssize_t, value: cython.longlong) -> cython.void:
    """Put `value` into the set at `to`; mostly it is the largest."""
    last: cython.Py_ssize_t = to + m[to]
    at: cython.Py_ssize_t = last
    while at > to and m[at] > value:
        at -= 1
    if at > to and m[at] == value:
        return
    while last > at:
        m[last + 1] = m[last]
        last -= 1
    m[at + 1] = value
    m[to] += 1


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def union(
    m: cython.longlong[::1],
    to: cython.Py_ssize_t,
    left: cython.Py_ssize_t,
    right: cython.Py_ssize_t,
    offset: cython.Py_ssize_t,
    stride: cython.Py_ssize_t,
) -> cython.void:
    """The set at `to` := left ∪ right, merging. An element of right may be the start of an
    instance in Q, hence `offset` and `stride`."""
    last_left: cython.Py_ssize_t = left + m[left]
    at: cython.Py_ssize_t = right + offset
    after: cython.Py_ssize_t = at + m[right] * stride
    out: cython.Py_ssize_t = to
    left += 1
    while left <= last_left and at < after:
        out += 1
        if m[left] <= m[at]:
            m[out] = m[left]
            if m[left] == m[at]:
                at += stride
            left += 1
        else:
            m[out] = m[at]
            at += stride
    while left <= last_left:
        out += 1
        m[out] = m[left]
        left += 1
    while at < after:
        out += 1
        m[out] = m[at]
        at += stride
    m[to] = out - to


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def best_before(
    m: cython.longlong[::1],
    l: cython.Py_ssize_t,  # noqa: E741
    q: cython.Py_ssize_t,
    stride: cython.Py_ssize_t,
    time: cython.longlong,
) -> cython.Py_ssize_t:
    """The latest instance in Q ∪ {l} that ended before `time`; cell 0, which is ⟨⟩, if none."""
    if m[l - 1] < time:
        return l
    at: cython.Py_ssize_t = q + 2 + (m[q] - 1) * stride
    while at > q:
        if m[at - 1] < time:
            return at
        at -= stride
    return 0


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def refresh_queue(
    m: cython.longlong[::1],
    l: cython.Py_ssize_t,  # noqa: E741
    q: cython.Py_ssize_t,
    stride: cython.Py_ssize_t,
    s: cython.Py_ssize_t,
) -> cython.bint:
    """Fig. 6: Q := for each t in S, the latest instance in Q ∪ {l} that ended before t.

    One pass over both, in place: what is kept moves forward, behind what is still to be read.
    Says whether Q changed.
    """
    next_: cython.Py_ssize_t = q + 1  # the end of the next candidate
    after: cython.Py_ssize_t = q + 1 + m[q] * stride
    to: cython.Py_ssize_t = q + 1  # where the next one that is kept goes
    best: cython.Py_ssize_t = 0  # the latest candidate that ended before t, if not kept yet
    kept: cython.Py_ssize_t = 0
    l_waits: cython.bint = m[l] > m[0]
    changed: cython.bint = False
    cython.declare(time=cython.longlong, i=cython.Py_ssize_t, k=cython.Py_ssize_t)
    for i in range(s + 1, s + 1 + m[s]):
        time = m[i]
        while next_ < after and m[next_] < time:
            best = next_
            next_ += stride
        if next_ == after and l_waits and m[l - 1] < time:
            best = l - 1
            l_waits = False
        if best > 0:
            if to != best:
                changed = True
                for k in range(stride):
                    m[to + k] = m[best + k]
            to += stride
            kept += 1
            best = 0
    if m[q] != kept:
        m[q] = kept
        changed = True
    return changed


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def row_of(
    row_masks: cython.const[cython.ulonglong][:, ::1],
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    primitive: cython.longlong,
) -> cython.Py_ssize_t:
    """The first row of a tick in which a primitive occurs, or -1."""
    row: cython.Py_ssize_t
    for row in range(first, last):
        if (row_masks[row, primitive >> 6] >> (primitive & 63)) & 1:
            return row
    return -1


@cython.cfunc
@cython.exceptval(check=False)
def step(
    m: cython.longlong[::1],
    code: cython.const[cython.longlong][:, ::1],
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    values: cython.bint,
    row_masks: cython.const[cython.ulonglong][:, ::1],
    rows: cython.const[cython.longlong][::1],
    first_row: cython.Py_ssize_t,
    last_row: cython.Py_ssize_t,
) -> cython.void:
    """One tick: the loop body of Fig. 5 for the instructions from `first` to `last`."""
    never: cython.longlong = m[0]
    now: cython.longlong = m[1]
    cython.declare(op=cython.longlong, a=cython.longlong, b=cython.longlong)
    cython.declare(pc=cython.Py_ssize_t, best=cython.Py_ssize_t, to=cython.Py_ssize_t)
    cython.declare(left=cython.Py_ssize_t, right=cython.Py_ssize_t)
    cython.declare(x=cython.Py_ssize_t, y=cython.Py_ssize_t, s=cython.Py_ssize_t)
    changed: cython.bint = False
    for pc in range(first, last):
        op = code[pc, 0]
        to = code[pc, 1]
        left = code[pc, 2]
        right = code[pc, 3]
        x = code[pc, 4]
        y = code[pc, 5]
        a = m[left]
        b = m[right]
        if op == 2:  # CONJUNCTION
            changed = m[x] < a or m[y] < b
            if m[x] < a:
                m[x] = a
                if values:
                    copy_rows(m, x, left)
            if m[y] < b:
                m[y] = b
                if values:
                    copy_rows(m, y, right)
            if b <= a:
                m[to] = min(a, m[y])
                if values and m[to] > never:
                    join_rows(m, to, left, y)
            else:
                m[to] = min(m[x], b)
                if values and m[to] > never:
                    join_rows(m, to, x, right)
        elif op == 5:  # LATCH
            m[to] = m[x] if b > never else never
            if values and m[to] > never:
                join_rows(m, to, x, right)
            changed = m[x] < a
            if changed:
                m[x] = a
                if values:
                    copy_rows(m, x, left)
        elif op == 3:  # NEGATION
            if m[x] < b:
                m[x] = b
            m[to] = a if m[x] < a else never
            if values and m[to] > never:
                copy_rows(m, to, left)
        elif op == 1:  # DISJUNCTION
            if a > b:
                right = left
            m[to] = m[right]
            if values and m[to] > never:
                copy_rows(m, to, right)
        elif op == 4:  # RESTRICTION
            m[to] = a if a >= now - code[pc, 4] else never
            if values and m[to] > never:
                copy_rows(m, to, left)
        elif op == 0:  # PRIMITIVE
            best = row_of(row_masks, first_row, last_row, x)
            m[to] = now if best >= 0 else never
            if values and best >= 0:
                m[to + 1] = rows[best]
                m[to + 2] = -1
        elif op == 8:  # UNION
            if changed or m[left - 1] == now or m[right - 1] == now:
                m[to - 1] = now
                union(m, to, left, right, y, code[pc, 7])
                if m[x] > never:
                    insert(m, to, m[x])
                if m[code[pc, 6]] > never:
                    insert(m, to, m[code[pc, 6]])
        else:  # SEQUENCE and STORE
            changed = False
            if op == 6:
                best = best_before(m, x, y, code[pc, 7], b) if b > never else 0
                m[to] = m[best]
                if values and m[to] > never:
                    join_rows(m, to, best, right)
                s = code[pc, 6]
                if m[s - 1] == now:
                    changed = refresh_queue(m, x, y, code[pc, 7], s)
            if m[x] < a:
                m[x] = a
                m[x - 1] = now
                changed = True
                if values:
                    copy_rows(m, x, left)


def detect(
    code: cython.const[cython.longlong][:, ::1],
    entries: cython.const[cython.longlong][::1],
    results: cython.const[cython.longlong][::1],
    values: cython.bint,
    memory: cython.longlong[::1],
    state_at: cython.Py_ssize_t,
    states: cython.longlong[:, ::1],
    times: cython.const[cython.longlong][::1],
    schedules: cython.const[cython.int][::1],
    tick_rows: cython.const[cython.longlong][::1],
    row_masks: cython.const[cython.ulonglong][:, ::1],
    rows: cython.const[cython.longlong][::1],
    key_ticks: cython.const[cython.longlong][::1],
    key: cython.Py_ssize_t,
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    out: cython.longlong[:, ::1],
    out_rows: cython.longlong[::1],
) -> int:
    """Run the ticks `first` … `last`, beginning in key number `key`; give the number of outputs.

    An output is (tick, start, end of its rows in `out_rows`). Each key has its row in `states`.
    """
    m: cython.longlong[::1] = memory
    width: cython.Py_ssize_t = states.shape[1]
    tick: cython.Py_ssize_t = first
    found: cython.Py_ssize_t = 0
    written: cython.Py_ssize_t = 0
    cython.declare(schedule=cython.Py_ssize_t, result=cython.Py_ssize_t)
    cython.declare(stop=cython.Py_ssize_t, i=cython.Py_ssize_t)
    while tick < last:
        for i in range(width):
            m[state_at + i] = states[key, i]
        stop = min(last, key_ticks[key + 1])
        while tick < stop:
            schedule = schedules[tick]
            m[1] = times[tick]
            step(
                m,
                code,
                entries[schedule],
                entries[schedule + 1],
                values,
                row_masks,
                rows,
                tick_rows[tick],
                tick_rows[tick + 1],
            )
            result = results[schedule]
            if m[result] > m[0]:
                out[found, 0] = tick
                out[found, 1] = m[result]
                while values and m[result + 1] >= 0:
                    result += 1
                    out_rows[written] = m[result]
                    written += 1
                out[found, 2] = written
                found += 1
            tick += 1
        for i in range(width):
            states[key, i] = m[state_at + i]
        key += 1
    return found
