"""Matching where conditions know the match so far: runs with slots, in order of preference.

From each start all runs go forward together, a row at a time. A run waits in a state with its
slots: rows and sums that conditions still to come may read. Of two runs in one state with equal
live slots the less preferred can never be chosen, and is dropped; slots that nothing ahead reads
are cleared, so that they do not keep runs apart. When a run completes, runs less preferred than it
are dropped, and those before it go on: the match is the last one that was completed.

Invariants: the runs of a row are in order of preference; `live[q]` says which slots a run that
waits in q may still need; a node of `parents` and `nodes` is one row of a run, linked to the row
before it, so runs share what they have in common.
"""

from typing import Any

import cython

from cereus.engine.interrupts import look_up
from cereus.languages.match_recognize.match import codes

if cython.compiled:
    from cython.cimports.cpython.exc import PyErr_CheckSignals

FINISHED = cython.declare(cython.int, codes.FINISHED)
OUTPUT_FULL = cython.declare(cython.int, codes.OUTPUT_FULL)
NOT_MAPPED = cython.declare(cython.int, codes.NOT_MAPPED)
FIRST_ROW = cython.declare(cython.int, codes.FIRST_ROW)
TOO_MANY_RUNS = cython.declare(cython.int, codes.TOO_MANY_RUNS)
TOO_MANY_NODES = cython.declare(cython.int, codes.TOO_MANY_NODES)
TOO_MUCH_WORK = cython.declare(cython.int, codes.TOO_MUCH_WORK)
PAST_LAST_ROW = cython.declare(cython.int, codes.PAST_LAST_ROW)
NEXT_ROW = cython.declare(cython.int, codes.NEXT_ROW)
TO_FIRST = cython.declare(cython.int, codes.TO_FIRST)
SHIFT_ROW = cython.declare(cython.int, codes.SHIFT_ROW)
FIRST_ROWS = cython.declare(cython.int, codes.FIRST_ROWS)
SHIFT_LABEL = cython.declare(cython.int, codes.SHIFT_LABEL)
COUNT_ROWS = cython.declare(cython.int, codes.COUNT_ROWS)
COUNT_VALID = cython.declare(cython.int, codes.COUNT_VALID)
SUM_INT = cython.declare(cython.int, codes.SUM_INT)
SUM_FLOAT = cython.declare(cython.int, codes.SUM_FLOAT)
MIN_INT = cython.declare(cython.int, codes.MIN_INT)
MAX_INT = cython.declare(cython.int, codes.MAX_INT)
MIN_FLOAT = cython.declare(cython.int, codes.MIN_FLOAT)
MAX_FLOAT = cython.declare(cython.int, codes.MAX_FLOAT)
AT_ROW = cython.declare(cython.int, codes.AT_ROW)
AT_SLOT = cython.declare(cython.int, codes.AT_SLOT)
AT_FIRST = cython.declare(cython.int, codes.AT_FIRST)
AT_LAST = cython.declare(cython.int, codes.AT_LAST)
SLOT_INT = cython.declare(cython.int, codes.SLOT_INT)
SLOT_FLOAT = cython.declare(cython.int, codes.SLOT_FLOAT)
CONSTANT_INT = cython.declare(cython.int, codes.CONSTANT_INT)
CONSTANT_FLOAT = cython.declare(cython.int, codes.CONSTANT_FLOAT)
MATCH_NUMBER = cython.declare(cython.int, codes.MATCH_NUMBER)
TO_FLOAT = cython.declare(cython.int, codes.TO_FLOAT)
EQUAL = cython.declare(cython.int, codes.EQUAL)
LESS = cython.declare(cython.int, codes.LESS)
LESS_EQUAL = cython.declare(cython.int, codes.LESS_EQUAL)
EQUAL_FLOAT = cython.declare(cython.int, codes.EQUAL_FLOAT)
LESS_FLOAT = cython.declare(cython.int, codes.LESS_FLOAT)
LESS_EQUAL_FLOAT = cython.declare(cython.int, codes.LESS_EQUAL_FLOAT)
NOT = cython.declare(cython.int, codes.NOT)
AND = cython.declare(cython.int, codes.AND)
OR = cython.declare(cython.int, codes.OR)
IS_NULL = cython.declare(cython.int, codes.IS_NULL)
ADD = cython.declare(cython.int, codes.ADD)
SUBTRACT = cython.declare(cython.int, codes.SUBTRACT)
MULTIPLY = cython.declare(cython.int, codes.MULTIPLY)
REMAINDER = cython.declare(cython.int, codes.REMAINDER)
ADD_FLOAT = cython.declare(cython.int, codes.ADD_FLOAT)
SUBTRACT_FLOAT = cython.declare(cython.int, codes.SUBTRACT_FLOAT)
MULTIPLY_FLOAT = cython.declare(cython.int, codes.MULTIPLY_FLOAT)
DIVIDE_FLOAT = cython.declare(cython.int, codes.DIVIDE_FLOAT)
VALID_IF = cython.declare(cython.int, codes.VALID_IF)
MATCH_LENGTH = cython.declare(cython.int, codes.MATCH_LENGTH)
LOOK_EVERY = cython.declare(cython.longlong, 1 << 18)
"""After so many rows that runs read, it is seen whether Ctrl-C was pressed."""
PRIME = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)
SMALL_PRIME = cython.declare(cython.ulonglong, 0x100000001B3)


@cython.cfunc
@cython.nogil
@cython.exceptval(-1)
def interrupted() -> cython.int:
    """Raise what Ctrl-C raises. Uncompiled, Python itself does."""
    with cython.gil:
        look_up()
        if cython.compiled:
            PyErr_CheckSignals()
    return 0


@cython.cclass
class Search:
    """The tables of one clause over one set of rows, and the runs of one start."""

    letters: cython.const[cython.ushort][::1]
    sets: cython.const[cython.int][::1]
    alive: cython.const[cython.uchar][:, ::1]
    labels: cython.const[cython.int][::1]
    move_starts: cython.const[cython.int][::1]
    moves: cython.const[cython.int][::1]
    begin_starts: cython.const[cython.int][::1]
    begins: cython.const[cython.int][::1]
    last: cython.const[cython.uchar][::1]
    ints: cython.const[cython.longlong][:, ::1]
    floats: cython.const[cython.double][:, ::1]
    valid: cython.const[cython.uchar][:, ::1]
    constant_ints: cython.const[cython.longlong][::1]
    constant_floats: cython.const[cython.double][::1]
    update_starts: cython.const[cython.int][::1]
    updates: cython.const[cython.int][:, ::1]
    code_starts: cython.const[cython.int][::1]
    code: cython.const[cython.int][:, ::1]
    live: cython.const[cython.uchar][:, ::1]
    live_floats: cython.const[cython.uchar][:, ::1]
    initial: cython.const[cython.longlong][::1]
    times: cython.const[cython.longlong][::1]
    length: cython.longlong
    none: cython.Py_ssize_t
    slots: cython.Py_ssize_t
    float_slots: cython.Py_ssize_t

    # The runs of this row and of the next: state, node, slots.
    states: cython.int[:, ::1]
    nodes_of: cython.longlong[:, ::1]
    cells: cython.longlong[:, :, ::1]
    float_cells: cython.double[:, :, ::1]
    buckets: cython.longlong[::1]
    chains: cython.longlong[::1]
    stamp: cython.longlong
    parents: cython.longlong[::1]
    node_states: cython.short[::1]
    number: cython.longlong
    registers: cython.longlong[::1]
    float_registers: cython.double[::1]
    known: cython.uchar[::1]

    # Which runs come too late (`deadlines.py`), once that is known, and how much was done so far.
    prunes: cython.bint
    deadline: cython.longlong
    deadline_times: cython.const[cython.longlong][::1]
    latest: cython.const[cython.int][:, ::1]
    work: cython.longlong
    most_work: cython.longlong
    look_at: cython.longlong

    # The runs of a start that wait for more rows, where they are carried on (`waiting.py`): the
    # side they are on, how many, the next row, the nodes, and the best match so far.
    carries_on: cython.bint
    paused: cython.bint
    paused_side: cython.int
    paused_count: cython.Py_ssize_t
    paused_at: cython.Py_ssize_t
    paused_nodes: cython.longlong
    paused_best: cython.longlong
    paused_end: cython.Py_ssize_t

    def __init__(self, tables: Any, rows: Any) -> None:
        """`tables` and `rows` have the arrays of the same names (`slots/tables.py`)."""
        self.prunes = False
        self.work = 0
        self.most_work = -1
        self.look_at = 0
        self.carries_on = False
        self.paused = False
        self.letters = rows.letters
        self.sets = rows.sets
        self.alive = rows.alive
        self.labels = tables.labels
        self.move_starts = tables.move_starts
        self.moves = tables.moves
        self.begin_starts = tables.begin_starts
        self.begins = tables.begins
        self.last = tables.last
        self.ints = rows.ints
        self.floats = rows.floats
        self.valid = rows.valid
        self.constant_ints = tables.constant_ints
        self.constant_floats = tables.constant_floats
        self.update_starts = tables.update_starts
        self.updates = tables.updates
        self.code_starts = tables.code_starts
        self.code = tables.code
        self.live = tables.live
        self.live_floats = tables.live_floats
        self.initial = tables.initial
        self.times = rows.times
        self.length = rows.length
        self.none = rows.valid.shape[1] - 1
        self.slots = tables.live.shape[1]
        self.float_slots = tables.live_floats.shape[1]
        self.stamp = 0
        self.registers = rows.registers
        self.float_registers = rows.float_registers
        self.known = rows.known

    def room(self, room: Any) -> None:
        """The arrays that runs are kept in. The stamp goes on: buckets may be those from before,
        and have to look older than whatever is put there now."""
        self.states = room.states
        self.nodes_of = room.nodes_of
        self.cells = room.cells
        self.float_cells = room.float_cells
        self.buckets = room.buckets
        self.chains = room.chains
        self.parents = room.parents
        self.node_states = room.node_states
        self.paused = False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(
        self,
        side: cython.int,
        run: cython.Py_ssize_t,
        state: cython.int,
        row: cython.Py_ssize_t,
    ) -> cython.void:
        """Map `row` to the variable of `state` in the slots of a run."""
        label: cython.int = self.labels[state]
        cython.declare(k=cython.Py_ssize_t, j=cython.Py_ssize_t, slot=cython.int, kind=cython.int)
        cython.declare(size=cython.int, of=cython.int)
        for k in range(self.update_starts[label], self.update_starts[label + 1]):
            kind = self.updates[k, 0]
            slot = self.updates[k, 1]
            size = self.updates[k, 2]
            of = self.updates[k, 3]
            if kind == SHIFT_ROW or kind == SHIFT_LABEL:
                for j in range(size - 1, 0, -1):
                    self.cells[side, run, slot + j] = self.cells[side, run, slot + j - 1]
                self.cells[side, run, slot] = row if kind == SHIFT_ROW else label
            elif kind == FIRST_ROWS:
                for j in range(size):
                    if self.cells[side, run, slot + j] == self.none:
                        self.cells[side, run, slot + j] = row
                        break
            elif kind == COUNT_ROWS:
                self.cells[side, run, slot] += 1
            elif self.valid[size, row]:
                if kind == COUNT_VALID:
                    self.cells[side, run, slot] += 1
                elif kind == SUM_INT:
                    self.cells[side, run, slot] += self.ints[size, row]
                elif kind == SUM_FLOAT:
                    self.float_cells[side, run, slot] += self.floats[size, row]
                elif kind == MIN_INT or kind == MAX_INT:
                    if (
                        self.cells[side, run, of] == 0
                        or (kind == MIN_INT and self.ints[size, row] < self.cells[side, run, slot])
                        or (kind == MAX_INT and self.ints[size, row] > self.cells[side, run, slot])
                    ):
                        self.cells[side, run, slot] = self.ints[size, row]
                elif (
                    self.cells[side, run, of] == 0
                    or self.float_cells[side, run, slot] != self.float_cells[side, run, slot]
                    or (
                        kind == MIN_FLOAT
                        and self.floats[size, row] < self.float_cells[side, run, slot]
                    )
                    or (
                        kind == MAX_FLOAT
                        and self.floats[size, row] > self.float_cells[side, run, slot]
                    )
                ):
                    self.float_cells[side, run, slot] = self.floats[size, row]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def holds(
        self,
        side: cython.int,
        run: cython.Py_ssize_t,
        state: cython.int,
        start: cython.Py_ssize_t,
        row: cython.Py_ssize_t,
    ) -> cython.bint:
        """Whether the condition of a state's variable is true, with the slots of a run."""
        label: cython.int = self.labels[state]
        cython.declare(
            k=cython.Py_ssize_t, op=cython.int, to=cython.int, a=cython.int, b=cython.int
        )
        cython.declare(
            at=cython.Py_ssize_t, x=cython.longlong, y=cython.longlong, z=cython.longlong
        )
        cython.declare(f=cython.double, g=cython.double)
        for k in range(self.code_starts[label], self.code_starts[label + 1]):
            op = self.code[k, 0]
            to = self.code[k, 1]
            a = self.code[k, 2]
            b = self.code[k, 3]
            if op <= AT_LAST:
                if op == AT_ROW:
                    at = row
                elif op == AT_SLOT:
                    at = self.cells[side, run, b]
                elif op == AT_FIRST:
                    at = start + b
                    if at > row:
                        at = self.none
                else:
                    at = row - b
                    if at < start:
                        at = self.none
                self.known[to] = self.valid[a, at]
                self.registers[to] = self.ints[a, at]
                self.float_registers[to] = self.floats[a, at]
            elif op == SLOT_INT:
                self.registers[to] = self.cells[side, run, b]
                self.known[to] = 1
            elif op == SLOT_FLOAT:
                self.float_registers[to] = self.float_cells[side, run, b]
                self.known[to] = 1
            elif op == CONSTANT_INT:
                self.registers[to] = self.constant_ints[a]
                self.known[to] = b
            elif op == CONSTANT_FLOAT:
                self.float_registers[to] = self.constant_floats[a]
                self.known[to] = b
            elif op == MATCH_NUMBER:
                self.registers[to] = self.number
                self.known[to] = 1
            elif op == MATCH_LENGTH:
                self.registers[to] = row - start + 1
                self.known[to] = 1
            elif op == TO_FLOAT:
                self.float_registers[to] = cython.cast(cython.double, self.registers[a])
                self.known[to] = self.known[a]
            elif op == VALID_IF:
                self.registers[to] = self.registers[a]
                self.float_registers[to] = self.float_registers[a]
                self.known[to] = self.known[a] and self.cells[side, run, b] > 0
            elif op == NOT:
                self.known[to] = self.known[a]
                self.registers[to] = 1 - self.registers[a]
            elif op == IS_NULL:
                self.registers[to] = 0 if self.known[a] else 1
                self.known[to] = 1
            elif op == AND or op == OR:
                z = 0 if op == AND else 1
                if (self.known[a] and self.registers[a] == z) or (
                    self.known[b] and self.registers[b] == z
                ):
                    self.known[to] = 1
                    self.registers[to] = z
                else:
                    self.known[to] = self.known[a] and self.known[b]
                    self.registers[to] = 1 - z
            else:
                self.known[to] = self.known[a] and self.known[b]
                x = self.registers[a]
                y = self.registers[b]
                f = self.float_registers[a]
                g = self.float_registers[b]
                if op == EQUAL:
                    self.registers[to] = 1 if x == y else 0
                elif op == LESS:
                    self.registers[to] = 1 if x < y else 0
                elif op == LESS_EQUAL:
                    self.registers[to] = 1 if x <= y else 0
                elif op == EQUAL_FLOAT:
                    self.registers[to] = 1 if f == g else 0
                elif op == LESS_FLOAT:
                    self.registers[to] = 1 if f < g else 0
                elif op == LESS_EQUAL_FLOAT:
                    self.registers[to] = 1 if f <= g else 0
                elif op == ADD:
                    f = cython.cast(cython.double, x) + cython.cast(cython.double, y)
                    if f >= 9.2e18 or f <= -9.2e18:
                        self.known[to] = 0
                    else:
                        self.registers[to] = x + y
                elif op == SUBTRACT:
                    f = cython.cast(cython.double, x) - cython.cast(cython.double, y)
                    if f >= 9.2e18 or f <= -9.2e18:
                        self.known[to] = 0
                    else:
                        self.registers[to] = x - y
                elif op == MULTIPLY:
                    f = cython.cast(cython.double, x) * cython.cast(cython.double, y)
                    if f >= 9.2e18 or f <= -9.2e18:
                        self.known[to] = 0
                    else:
                        self.registers[to] = x * y
                elif op == REMAINDER:
                    if y == 0:
                        self.known[to] = 0
                    elif y == -1:
                        self.registers[to] = 0
                    else:
                        z = (x if x >= 0 else -x) % (y if y >= 0 else -y)
                        self.registers[to] = z if x >= 0 else -z
                elif op == ADD_FLOAT:
                    self.float_registers[to] = f + g
                elif op == SUBTRACT_FLOAT:
                    self.float_registers[to] = f - g
                elif op == MULTIPLY_FLOAT:
                    self.float_registers[to] = f * g
                elif g == 0:
                    self.known[to] = 0
                elif op == DIVIDE_FLOAT:
                    self.float_registers[to] = f / g
                else:
                    self.float_registers[to] = fmod(f, g)
        if self.code_starts[label] == self.code_starts[label + 1]:
            return True
        return self.known[0] != 0 and self.registers[0] != 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def wait(
        self,
        side: cython.int,
        count: cython.Py_ssize_t,
        from_side: cython.int,
        run: cython.Py_ssize_t,
        state: cython.int,
        node: cython.longlong,
    ) -> cython.bint:
        """Let a run (its slots are those of `run` on `from_side`) wait in a state as number
        `count`, unless a more preferred one waits there with the same live slots."""
        cython.declare(j=cython.Py_ssize_t, other=cython.longlong, bucket=cython.Py_ssize_t)
        cython.declare(same=cython.bint, mask=cython.Py_ssize_t)
        hash_: cython.ulonglong = cython.cast(cython.ulonglong, state) * PRIME
        for j in range(self.slots):
            if self.live[state, j]:
                self.cells[side, count, j] = self.cells[from_side, run, j]
                hash_ = (
                    hash_ ^ cython.cast(cython.ulonglong, self.cells[side, count, j])
                ) * SMALL_PRIME
                hash_ = hash_ ^ (hash_ >> 29)
            else:
                self.cells[side, count, j] = self.initial[j]
        for j in range(self.float_slots):
            if self.live_floats[state, j]:
                self.float_cells[side, count, j] = self.float_cells[from_side, run, j]
                if cython.compiled:  # as Python, NaN is no number of any kind
                    hash_ = (
                        hash_
                        ^ cython.cast(cython.ulonglong, self.float_cells[side, count, j] * 1024)
                    ) * SMALL_PRIME
                    hash_ = hash_ ^ (hash_ >> 29)
            else:
                self.float_cells[side, count, j] = 0.0
        mask = self.buckets.shape[0] - 1
        bucket = cython.cast(cython.Py_ssize_t, hash_ & cython.cast(cython.ulonglong, mask))
        # a bucket holds the stamp of its row, and in it the last run that was put there
        other = self.buckets[bucket] - self.stamp
        if other < 0:
            other = -1
        while other >= 0:
            if self.states[side, other] == state:
                same = True
                for j in range(self.slots):
                    if self.cells[side, other, j] != self.cells[side, count, j]:
                        same = False
                        break
                if same:
                    for j in range(self.float_slots):
                        if self.float_cells[side, other, j] != self.float_cells[side, count, j]:
                            same = False
                            break
                if same:
                    return False
            other = self.chains[other]
        other = self.buckets[bucket] - self.stamp
        self.chains[count] = other if other >= 0 else -1
        self.buckets[bucket] = self.stamp + count
        self.states[side, count] = state
        self.nodes_of[side, count] = node
        return True

    def stop_after(self, work: cython.longlong) -> None:
        """Let `find` return when runs have read so many rows; -1 for never."""
        self.most_work = work

    def carry_on(self) -> None:
        """Let the next call of `find` go on where this one waits for rows. The tables of rows have
        to stay where they are, with more rows in them. Once a start is decided, `find` returns
        OUTPUT_FULL and puts nothing out."""
        self.carries_on = True

    def work_done(self) -> cython.longlong:
        """How many rows runs have read."""
        return self.work

    def prune(self, deadlines: Any) -> None:
        """Leave out runs that cannot be completed in time."""
        self.deadline = deadlines.length
        self.deadline_times = deadlines.times
        self.latest = deadlines.latest
        self.prunes = True

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def in_time(
        self, start: cython.Py_ssize_t, row: cython.Py_ssize_t, state: cython.int
    ) -> cython.bint:
        """Whether a match from `start` that reads `row` in a state can be completed in time."""
        latest: cython.int = self.latest[row, state]
        if latest < 0:
            return latest == -1
        return self.deadline_times[latest] - self.deadline_times[start] <= self.deadline

    @cython.ccall
    def find(
        self,
        lows: cython.const[cython.longlong][::1],
        highs: cython.const[cython.longlong][::1],
        tails: cython.const[cython.longlong][::1],
        begun: cython.const[cython.uchar][::1],
        resume: cython.longlong[::1],
        numbers: cython.longlong[::1],
        ends_open: cython.bint,
        horizon: cython.longlong,
        targets: cython.const[cython.uchar][::1],
        skip: cython.int,
        timeouts: cython.bint,
        reported: cython.longlong[::1],
        progress: cython.longlong[::1],
        starts: cython.longlong[::1],
        ends: cython.longlong[::1],
        timed_out: cython.uchar[::1],
        out: cython.short[::1],
    ) -> cython.int:
        """Find the matches of the partitions from `progress[0]` on, in the rows from `lows` to
        `highs`. Each goes on at its row in `resume` and has had `numbers` matches; one that has
        `begun` had rows before these. With `ends_open` more rows may come, none of them before the
        time `horizon`, and those up to `tails` are there and may not be read yet: a partition
        stops at the first start whose match they could change.

        With `timeouts`, a start without a match whose window ended while a run was waiting puts
        out the rows of the most preferred such run, marked in `timed_out`. Unless the search goes
        TO NEXT ROW, it begins behind those emitted before: `reported` is where they end.
        `progress` is [partition, -, matches, states, row of the error]."""
        part: cython.Py_ssize_t = progress[0]
        matches: cython.Py_ssize_t = progress[2]
        written: cython.Py_ssize_t = progress[3]
        most_runs: cython.Py_ssize_t = self.states.shape[1] - 1
        most_nodes: cython.Py_ssize_t = self.parents.shape[0]
        cython.declare(high=cython.Py_ssize_t, row=cython.Py_ssize_t, j=cython.Py_ssize_t)
        cython.declare(i=cython.Py_ssize_t, k=cython.Py_ssize_t, m=cython.Py_ssize_t)
        cython.declare(here=cython.int, there=cython.int, count=cython.Py_ssize_t)
        cython.declare(next_count=cython.Py_ssize_t, nodes=cython.longlong, node=cython.longlong)
        cython.declare(best=cython.longlong, best_end=cython.Py_ssize_t, state=cython.int)
        cython.declare(done=cython.bint, first=cython.int, target=cython.Py_ssize_t)
        cython.declare(open_=cython.bint, at=cython.Py_ssize_t, late=cython.bint)
        with cython.nogil:
            while part < highs.shape[0]:
                high = highs[part]
                while resume[part] < high:
                    row = resume[part]
                    progress[0] = part
                    progress[2] = matches
                    progress[3] = written
                    self.number = numbers[part] + 1
                    first = 1 if row == lows[part] and not begun[part] else 0
                    if self.paused:
                        here = self.paused_side
                        count = self.paused_count
                        nodes = self.paused_nodes
                        best = self.paused_best
                        best_end = self.paused_end
                        i = self.paused_at
                        self.paused = False
                    else:
                        here = 0
                        count = 0
                        nodes = 0
                        best = -2
                        best_end = row
                        self.stamp += most_runs + 1
                        for j in range(self.slots):
                            self.cells[1, most_runs, j] = self.initial[j]
                        for j in range(self.float_slots):
                            self.float_cells[1, most_runs, j] = 0.0
                        for k in range(self.begin_starts[first], self.begin_starts[first + 1]):
                            if self.begins[k] < 0:
                                best = -1
                                break
                            if not self.alive[self.sets[row], self.begins[k]]:
                                continue
                            if self.prunes and not self.in_time(row, row, self.begins[k]):
                                continue
                            if self.wait(0, count, 1, most_runs, self.begins[k], -1):
                                count += 1
                        i = row
                    open_ = False
                    while count > 0:
                        if i == high:
                            open_ = ends_open and (
                                self.length < 0
                                or horizon < self.times[row]
                                or horizon - self.times[row] < self.length
                                or (
                                    high < tails[part]
                                    and self.times[high] - self.times[row] < self.length
                                )
                            )
                            if open_ and self.carries_on:
                                self.paused = True
                                self.paused_side = here
                                self.paused_count = count
                                self.paused_at = i
                                self.paused_nodes = nodes
                                self.paused_best = best
                                self.paused_end = best_end
                            break
                        if self.length >= 0 and self.times[i] - self.times[row] >= self.length:
                            break
                        there = 1 - here
                        next_count = 0
                        done = False
                        self.stamp += most_runs + 1
                        for k in range(count):
                            state = self.states[here, k]
                            if not self.alive[self.sets[i], state]:
                                continue
                            self.update(here, k, state, i)
                            if not self.holds(here, k, state, row, i):
                                continue
                            if nodes == most_nodes:
                                return TOO_MANY_NODES
                            self.parents[nodes] = self.nodes_of[here, k]
                            self.node_states[nodes] = state
                            node = nodes
                            nodes += 1
                            if (
                                i == high - 1
                                and not ends_open
                                and (self.last[state] or not timeouts)
                            ):
                                done = self.last[state]
                            else:
                                for m in range(
                                    self.move_starts[state], self.move_starts[state + 1]
                                ):
                                    if self.moves[m] < 0:
                                        done = True
                                        break
                                    if (
                                        i + 1 < high
                                        and not timeouts
                                        and (
                                            not self.alive[self.sets[i + 1], self.moves[m]]
                                            or (
                                                self.prunes
                                                and not self.in_time(row, i + 1, self.moves[m])
                                            )
                                        )
                                    ):
                                        continue
                                    if next_count == most_runs:
                                        return TOO_MANY_RUNS
                                    if self.wait(there, next_count, here, k, self.moves[m], node):
                                        next_count += 1
                            if done:
                                best = node
                                best_end = i + 1
                                break
                            if i == high - 1 and self.last[state] and ends_open:
                                # it ends here if no row comes
                                open_ = True
                                break
                        here = there
                        count = next_count
                        i += 1
                        self.work += count
                        if self.work >= self.look_at:
                            self.look_at = self.work + LOOK_EVERY
                            interrupted()
                        if self.most_work >= 0 and self.work > self.most_work:
                            return TOO_MUCH_WORK
                        if open_:
                            break
                    if open_:
                        break
                    if self.carries_on:
                        return OUTPUT_FULL
                    late = False
                    if best == -2:
                        if (
                            timeouts
                            and count > 0
                            and i > row
                            and (row >= reported[part] or skip == NEXT_ROW)
                        ):
                            late = True
                            best = self.nodes_of[here, 0]
                            best_end = i
                        else:
                            resume[part] = row + 1
                            continue
                    if matches == starts.shape[0] or out.shape[0] - written < best_end - row:
                        return OUTPUT_FULL
                    target = -1
                    at = written + (best_end - row) - 1
                    node = best
                    for i in range(best_end - 1, row - 1, -1):
                        state = self.node_states[node]
                        out[at] = state
                        if skip >= TO_FIRST and targets[state] and (skip == TO_FIRST or target < 0):
                            target = i
                        node = self.parents[node]
                        at -= 1
                    written += best_end - row
                    starts[matches] = row
                    ends[matches] = best_end
                    if timeouts:
                        timed_out[matches] = late
                    matches += 1
                    if late:
                        reported[part] = best_end
                        resume[part] = row + 1
                        continue
                    numbers[part] += 1
                    if best_end == row or skip == NEXT_ROW:
                        resume[part] = row + 1
                    elif skip == PAST_LAST_ROW:
                        resume[part] = best_end
                    else:
                        if target < 0 or target == row:
                            progress[4] = row
                            return NOT_MAPPED if target < 0 else FIRST_ROW
                        resume[part] = target
                part += 1
            progress[0] = part
            progress[2] = matches
            progress[3] = written
            return FINISHED


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def fmod(f: cython.double, g: cython.double) -> cython.double:
    """The remainder with the sign of the dividend."""
    size: cython.double = -g if g < 0 else g
    rest: cython.double = (-f if f < 0 else f) % size
    return -rest if f < 0 else rest
