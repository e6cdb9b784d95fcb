"""Detection: Fig. 5 of the paper, with the ordered structures of Fig. 6, over flat arrays.

Python with Cython types: compiled it is the hot path, uncompiled it runs as it stands.
`instructions` defines the instructions; `program` decides which instructions a tick needs.

Invariants, for every tick:
- Q's instances come from l, whose start and end only grow, so Q is ordered by both (§4.2);
- l and the instances in Q of a sequence ended before the current tick when they are read;
- Q ∪ {l} holds at least what Fig. 6 keeps: for each t in S, the latest instance that ended before
  t. It may hold more, until Q is full; then Fig. 6 decides (`make_room`), and because S is no
  larger than Q has room, there is room. So S is needed seldom, and is not kept from tick to tick
  but read from the variables that it is made of (`sources`).
"""

import cython

if cython.compiled:
    from cython.cimports.cereus.languages.algebra.detect import instructions
else:
    from cereus.languages.algebra.detect import instructions

COMPILED = cython.compiled


@cython.cfunc
@cython.nogil
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
@cython.nogil
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
@cython.nogil
@cython.exceptval(check=False)
def conjoin(
    m: cython.longlong[::1],
    to: cython.Py_ssize_t,
    left: cython.Py_ssize_t,
    right: cython.Py_ssize_t,
    l: cython.Py_ssize_t,  # noqa: E741
    r: cython.Py_ssize_t,
) -> cython.void:
    """A conjunction with its rows: left ⊕ r or l ⊕ right, whichever starts later."""
    a: cython.longlong = m[left]
    b: cython.longlong = m[right]
    if m[l] < a:
        m[l] = a
        copy_rows(m, l, left)
    if m[r] < b:
        m[r] = b
        copy_rows(m, r, right)
    if b <= a:
        m[to] = min(a, m[r])
        if m[to] > m[instructions.NEVER_CELL]:
            join_rows(m, to, left, r)
    else:
        m[to] = min(m[l], b)
        if m[to] > m[instructions.NEVER_CELL]:
            join_rows(m, to, l, right)


@cython.cfunc
@cython.nogil
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
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def mark(
    m: cython.longlong[::1],
    q: cython.Py_ssize_t,
    stride: cython.Py_ssize_t,
    marks: cython.Py_ssize_t,
    time: cython.longlong,
) -> cython.void:
    """Mark the latest instance in Q that ended before `time`, if there is one."""
    k: cython.Py_ssize_t = m[q] - 1
    while k >= 0 and m[q + 1 + k * stride] >= time:
        k -= 1
    if k >= 0:
        m[marks + k] = 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def make_room(
    m: cython.longlong[::1],
    q: cython.Py_ssize_t,
    stride: cython.Py_ssize_t,
    sources: cython.const[cython.longlong][:, ::1],
    source: cython.Py_ssize_t,
    last_end: cython.longlong,
) -> cython.bint:
    """Fig. 6: Q := for each t in S, the latest instance in Q ∪ {l} that ended before t; l, which
    ended at `last_end`, is left for the caller to append if it is one of them."""
    marks: cython.Py_ssize_t = sources[source, instructions.MARKS_AT]
    l_waits: cython.bint = False
    cython.declare(i=cython.Py_ssize_t, k=cython.Py_ssize_t, n=cython.Py_ssize_t)
    cython.declare(at=cython.Py_ssize_t, to=cython.Py_ssize_t, kept=cython.Py_ssize_t)
    for k in range(m[q]):
        m[marks + k] = 0
    for i in range(source + 1, source + 1 + sources[source, instructions.SOURCE_COUNT]):
        at = sources[i, instructions.STARTS_AT]
        n = 1
        if sources[i, instructions.STARTS_COUNTED_AT] > 0:
            n = m[sources[i, instructions.STARTS_COUNTED_AT]]
        while n > 0:
            if m[at] > last_end:
                l_waits = True
            elif m[at] > m[instructions.NEVER_CELL]:
                mark(m, q, stride, marks, m[at])
            at += sources[i, instructions.STARTS_APART]
            n -= 1
    kept = 0
    to = q + 1
    for k in range(m[q]):
        if m[marks + k]:
            if k != kept:
                for i in range(stride):
                    m[to + i] = m[q + 1 + k * stride + i]
            to += stride
            kept += 1
    m[q] = kept
    return l_waits


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def store(
    m: cython.longlong[::1],
    l: cython.Py_ssize_t,  # noqa: E741
    q: cython.Py_ssize_t,
    stride: cython.Py_ssize_t,
    sources: cython.const[cython.longlong][:, ::1],
    source: cython.Py_ssize_t,
) -> cython.void:
    """Append l to Q, before another instance takes its place."""
    i: cython.Py_ssize_t
    if m[q] == sources[source, instructions.QUEUE_ROOM] and not make_room(
        m, q, stride, sources, source, m[l - 1]
    ):
        return
    at: cython.Py_ssize_t = q + 1 + m[q] * stride
    for i in range(stride):
        m[at + i] = m[l - 1 + i]
    m[q] += 1


@cython.cfunc
@cython.nogil
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
@cython.nogil
@cython.exceptval(check=False)
def run_ticks(
    m: cython.longlong[::1],
    code: cython.const[cython.longlong][:, ::1],
    entries: cython.const[cython.longlong][::1],
    results: cython.const[cython.longlong][::1],
    sources: cython.const[cython.longlong][:, ::1],
    values: cython.bint,
    times: cython.const[cython.longlong][::1],
    schedules: cython.const[cython.int][::1],
    tick_rows: cython.const[cython.longlong][::1],
    row_masks: cython.const[cython.ulonglong][:, ::1],
    rows: cython.const[cython.longlong][::1],
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    out: cython.longlong[:, ::1],
    out_rows: cython.longlong[::1],
    detected: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Run ticks of one key, the loop of Fig. 5, after `detected` outputs. Returns the number of
    outputs then.

    An instruction of a tick takes a few nanoseconds, and a call for each tick would take as long.
    """
    written: cython.Py_ssize_t = out[detected - 1, instructions.DETECTED_ROWS] if detected else 0
    never: cython.longlong = m[instructions.NEVER_CELL]
    cython.declare(now=cython.longlong, op=cython.longlong, a=cython.longlong, b=cython.longlong)
    cython.declare(tick=cython.Py_ssize_t, schedule=cython.Py_ssize_t, result=cython.Py_ssize_t)
    cython.declare(pc=cython.Py_ssize_t, best=cython.Py_ssize_t, to=cython.Py_ssize_t)
    cython.declare(left=cython.Py_ssize_t, right=cython.Py_ssize_t)
    cython.declare(x=cython.Py_ssize_t, y=cython.Py_ssize_t)
    for tick in range(first, last):
        schedule = schedules[tick]
        now = times[tick]
        m[instructions.NOW_CELL] = now
        for pc in range(entries[schedule], entries[schedule + 1]):
            op = code[pc, instructions.OP]
            to = code[pc, instructions.TO]
            left = code[pc, instructions.LEFT]
            right = code[pc, instructions.RIGHT]
            x = code[pc, instructions.X]
            y = code[pc, instructions.Y]
            a = m[left]
            b = m[right]
            if op == instructions.CONJUNCTION:
                if values:
                    conjoin(m, to, left, right, x, y)
                else:  # the same without a branch to mispredict
                    m[x] = max(m[x], a)
                    m[y] = max(m[y], b)
                    m[to] = max(min(a, m[y]), min(m[x], b))
            elif op == instructions.LATCH:
                m[to] = m[x] if b > never else never
                if values and m[to] > never:
                    join_rows(m, to, x, right)
                if m[x] < a:
                    m[x] = a
                    if values:
                        copy_rows(m, x, left)
            elif op == instructions.NEGATION:
                if m[x] < b:
                    m[x] = b
                m[to] = a if m[x] < a else never
                if values and m[to] > never:
                    copy_rows(m, to, left)
            elif op == instructions.DISJUNCTION:
                if a > b:
                    right = left
                m[to] = m[right]
                if values and m[to] > never:
                    copy_rows(m, to, right)
            elif op == instructions.RESTRICTION:
                m[to] = a if a >= now - code[pc, instructions.X] else never
                if values and m[to] > never:
                    copy_rows(m, to, left)
            elif op == instructions.PRIMITIVE:
                best = row_of(row_masks, tick_rows[tick], tick_rows[tick + 1], x)
                m[to] = now if best >= 0 else never
                if values and best >= 0:
                    m[to + 1] = rows[best]
                    m[to + 2] = -1
            else:  # SEQUENCE and STORE
                if op == instructions.SEQUENCE:
                    best = (
                        best_before(m, x, y, code[pc, instructions.STRIDE], b) if b > never else 0
                    )
                    m[to] = m[best]
                    if values and m[to] > never:
                        join_rows(m, to, best, right)
                    m[y - 1] = now
                if m[x] < a:
                    # nothing that could still follow l has begun since it ended: l need not stay
                    if m[x] > never and m[y - 1] > m[x - 1]:
                        store(
                            m,
                            x,
                            y,
                            code[pc, instructions.STRIDE],
                            sources,
                            code[pc, instructions.Z],
                        )
                    m[x] = a
                    m[x - 1] = now
                    if values:
                        copy_rows(m, x, left)
        result = results[schedule]
        if m[result] > never:
            out[detected, instructions.DETECTED_TICK] = tick
            out[detected, instructions.DETECTED_START] = m[result]
            while values and m[result + 1] >= 0:
                result += 1
                out_rows[written] = m[result]
                written += 1
            out[detected, instructions.DETECTED_ROWS] = written
            detected += 1
    return detected


def detect(
    code: cython.const[cython.longlong][:, ::1],
    entries: cython.const[cython.longlong][::1],
    results: cython.const[cython.longlong][::1],
    sources: cython.const[cython.longlong][:, ::1],
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
    stops: cython.const[cython.longlong][::1],
    key: cython.Py_ssize_t,
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    out: cython.longlong[:, ::1],
    out_rows: cython.longlong[::1],
) -> int:
    """Run the ticks `first` … `last`, beginning in key number `key`. Returns the number of outputs.

    An output is (tick, start, end of its rows in `out_rows`). Each key has its row in `states`, and
    its ticks from `stops` on are left out.
    """
    m: cython.longlong[::1] = memory
    width: cython.Py_ssize_t = states.shape[1]
    tick: cython.Py_ssize_t = first
    detected: cython.Py_ssize_t = 0
    cython.declare(stop=cython.Py_ssize_t, i=cython.Py_ssize_t)
    with cython.nogil:
        while tick < last:
            for i in range(width):
                m[state_at + i] = states[key, i]
            stop = min(last, stops[key])
            detected = run_ticks(
                m,
                code,
                entries,
                results,
                sources,
                values,
                times,
                schedules,
                tick_rows,
                row_masks,
                rows,
                tick,
                stop,
                out,
                out_rows,
                detected,
            )
            for i in range(width):
                states[key, i] = m[state_at + i]
            tick = min(last, key_ticks[key + 1])
            key += 1
    return detected
