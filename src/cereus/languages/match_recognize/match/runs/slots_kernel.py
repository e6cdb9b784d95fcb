"""Matching where conditions know the match so far: runs with slots, in order of preference.

From each start all runs go forward together, a row at a time. A run waits in a state with its
slots: rows and sums that later conditions may read. Of two runs in one state with equal live slots
the less preferred can never be chosen, and is dropped. Slots that no later condition reads are
cleared, so that they do not keep runs apart. When a run completes, the runs less preferred than it
are dropped, and the more preferred ones go on: the match is the last one that was completed.

Invariants: the runs of a row are in order of preference; `live[q]` says which slots a run that
waits in q may still need; a node of `parents` and `nodes` is one row of a run, linked to the row
before it, so runs share what they have in common; `repeats` says how many rows of its state it
stands for.

`waiting_kernel` has how runs wait, `dead_kernel` which of them came to nothing before, and
`leaping_kernel`, `still_kernel` and `steady_kernel` how they leap over rows that change nothing.
"""

from typing import Any

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.cereus.languages.match_recognize.match import codes
    from cython.cimports.cereus.languages.match_recognize.match.rows.rows_kernel import (
        goes_on,
        interrupted,
    )
    from cython.cimports.cereus.languages.match_recognize.match.runs.steady_kernel import (
        SteadyRuns,
    )
else:
    from cereus.languages.match_recognize.match import codes
    from cereus.languages.match_recognize.match.rows.rows_kernel import goes_on, interrupted
    from cereus.languages.match_recognize.match.runs.steady_kernel import SteadyRuns

LOOK_EVERY = cython.declare(cython.longlong, 1 << 18)
"""Check for Ctrl-C after runs have read this many rows; after fewer rows if conditions are long or
there are many slots."""
LONG_CONDITION = 16
"""A condition with more instructions, or with more slots, takes as long as several short ones."""


@cython.cclass
class Search(SteadyRuns):
    """The tables of one clause over one set of rows, and the runs of one start."""

    begin_starts: cython.const[cython.int][::1]
    begins: cython.const[cython.int][::1]

    # Counts of the work so far.
    made: cython.longlong
    most_work: cython.longlong
    look_every: cython.longlong

    # The runs of a start that wait for more rows, where they are carried on (`carrying.py`): the
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
        SteadyRuns.__init__(self, tables, rows)
        self.made = 0
        self.most_work = -1
        longest = int(np.diff(tables.code_starts).max(initial=0)) + self.slots + self.float_slots
        self.look_every = max(1, LOOK_EVERY // max(1, longest // LONG_CONDITION))
        self.carries_on = False
        self.paused = False
        self.begin_starts = tables.begin_starts
        self.begins = tables.begins

    def room(self, room: Any) -> None:
        """Set the arrays that runs are kept in."""
        self.use(room)
        self.paused = False

    def stop_after(self, work: cython.longlong) -> None:
        """Let `find` return when runs have read this many rows; -1 for never."""
        self.most_work = work

    def carry_on(self) -> None:
        """Let the next call of `find` go on where this one waits for rows. The tables of rows have
        to stay where they are, with more rows in them. Once a start is decided, `find` returns
        OUTPUT_FULL and puts nothing out."""
        self.carries_on = True

    def work_done(self) -> cython.longlong:
        """How many rows runs have read."""
        return self.work

    def nodes_made(self) -> cython.longlong:
        """How many rows of runs were noted; a row that several runs share counts once."""
        return self.made

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
        lengths: cython.longlong[::1],
    ) -> cython.int:
        """Find the matches of the partitions that are left, in the rows from `lows` to `highs`.

        Each goes on at its row in `resume` and has had `numbers` matches; one that has `begun` had
        rows before these. With `ends_open` more rows may come, none of them before the time
        `horizon`, and those up to `tails` are there and may not be read yet: a partition stops at
        the first start whose match they could change.

        With `timeouts`, a start without a match whose window ended while a run was waiting puts
        out the rows of the most preferred such run, marked in `timed_out`. Unless the search goes
        TO NEXT ROW, it begins behind those emitted before: `reported` is where they end.
        States are written to `out`, each with the number of rows one behind the other that have
        it. `progress` says how far earlier calls came (`codes`)."""
        part: cython.Py_ssize_t = progress[codes.PART]
        matches: cython.Py_ssize_t = progress[codes.MATCHES]
        written: cython.Py_ssize_t = progress[codes.WRITTEN]
        most_runs: cython.Py_ssize_t = self.states.shape[1] - 1
        most_nodes: cython.Py_ssize_t = self.parents.shape[0]
        cython.declare(high=cython.Py_ssize_t, row=cython.Py_ssize_t, j=cython.Py_ssize_t)
        cython.declare(i=cython.Py_ssize_t, k=cython.Py_ssize_t, m=cython.Py_ssize_t)
        cython.declare(here=cython.int, there=cython.int, count=cython.Py_ssize_t)
        cython.declare(next_count=cython.Py_ssize_t, nodes=cython.longlong, node=cython.longlong)
        cython.declare(best=cython.longlong, best_end=cython.Py_ssize_t, state=cython.int)
        cython.declare(done=cython.bint, first=cython.int, target=cython.Py_ssize_t)
        cython.declare(open_=cython.bint, at=cython.Py_ssize_t, late=cython.bint)
        cython.declare(first_node=cython.longlong, quiet=cython.Py_ssize_t)
        cython.declare(rounds=cython.longlong)
        self.timeouts = timeouts
        with cython.nogil:
            while part < highs.shape[0]:
                high = highs[part]
                while resume[part] < high:
                    row = resume[part]
                    self.look_at -= 1
                    if self.work >= self.look_at:
                        self.look_at = self.work + self.look_every
                        interrupted()
                    progress[codes.PART] = part
                    progress[codes.MATCHES] = matches
                    progress[codes.WRITTEN] = written
                    self.number = numbers[part] + 1
                    if self.leaps:
                        self.stretches.number = self.number
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
                            if count == most_runs:
                                return codes.TOO_MANY_RUNS
                            if self.wait(0, count, 1, most_runs, self.begins[k], 1, -1):
                                count += 1
                        i = row
                    open_ = done = False
                    node = -1
                    first_node = nodes  # those of the rows that were read last
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
                        if self.remembers and self.looks_up(row, i):
                            count = self.still_open(here, count, row, i)
                            if count == 0:
                                break
                        if self.leaps and first_node < nodes:
                            quiet = self.quiet_rows(here, count, first_node, nodes, row, i, high)
                            if quiet > 0:
                                if nodes + self.loop_count > most_nodes:
                                    return codes.TOO_MANY_NODES
                                i += quiet
                                at = self.first_done(here)
                                if at >= 0:
                                    best = nodes + at
                                    best_end = i
                                for k in range(self.loop_count):
                                    self.parents[nodes + k] = self.nodes_of[here, self.leaping[k]]
                                    self.node_states[nodes + k] = self.states[here, self.leaping[k]]
                                    self.repeats[nodes + k] = quiet
                                if i < high:
                                    count = self.behind_leap(here, i, nodes, at)
                                    if count < 0:
                                        return codes.TOO_MANY_RUNS
                                nodes += self.loop_count
                                first_node = nodes
                                if self.work >= self.look_at:
                                    self.look_at = self.work + self.look_every
                                    interrupted()
                                continue
                        there = 1 - here
                        next_count = 0
                        first_node = nodes
                        done = False
                        self.stamp += most_runs + 1
                        self.look_at -= count
                        for k in range(count):
                            state = self.states[here, k]
                            if not self.alive[self.sets[i], state]:
                                continue
                            self.update(here, k, state, i)
                            if not self.holds(here, k, state, row, i):
                                continue
                            if nodes == most_nodes:
                                return codes.TOO_MANY_NODES
                            self.parents[nodes] = self.nodes_of[here, k]
                            self.node_states[nodes] = state
                            self.repeats[nodes] = 1
                            node = nodes
                            nodes += 1
                            self.made += 1
                            if (
                                i == high - 1
                                and not ends_open
                                and (self.last[state] or not timeouts)
                            ):
                                done = self.may_end(here, k, state)
                            else:
                                for m in range(
                                    self.move_starts[state], self.move_starts[state + 1]
                                ):
                                    rounds = self.next_round(here, k, state, m)
                                    if rounds == 0:
                                        continue
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
                                        return codes.TOO_MANY_RUNS
                                    if self.wait(
                                        there, next_count, here, k, self.moves[m], rounds, node
                                    ):
                                        next_count += 1
                            if done:
                                best = node
                                best_end = i + 1
                                break
                            if i == high - 1 and ends_open and self.may_end(here, k, state):
                                # it ends here if no row comes
                                open_ = True
                                break
                        here = there
                        count = next_count
                        i += 1
                        self.work += count
                        if self.work >= self.look_at:
                            self.look_at = self.work + self.look_every
                            interrupted()
                        if self.most_work >= 0 and self.work > self.most_work:
                            return codes.TOO_MUCH_WORK
                        if open_:
                            break
                    if open_:
                        break
                    if self.carries_on:
                        return codes.OUTPUT_FULL
                    late = False
                    if best == -2:
                        if (
                            timeouts
                            and count > 0
                            and i > row
                            and (row >= reported[part] or skip == codes.NEXT_ROW)
                        ):
                            late = True
                            best = self.nodes_of[here, 0]
                            best_end = i
                        else:
                            resume[part] = row + 1
                            continue
                    if matches == starts.shape[0] or out.shape[0] - written < best_end - row:
                        return codes.OUTPUT_FULL
                    target = -1
                    at = written
                    node = best
                    i = best_end
                    while i > row:  # from its last row to its first
                        state = self.node_states[node]
                        quiet = self.repeats[node]
                        if at > written and out[at - 1] == state:
                            lengths[at - 1] += quiet
                        else:
                            out[at] = state
                            lengths[at] = quiet
                            at += 1
                        i -= quiet
                        if skip >= codes.TO_FIRST and targets[state]:
                            if skip == codes.TO_FIRST:
                                target = i
                            elif target < 0:
                                target = i + quiet - 1
                        node = self.parents[node]
                    for k in range((at - written) // 2):
                        m = at - 1 - k
                        state = out[written + k]
                        out[written + k] = out[m]
                        out[m] = state
                        quiet = lengths[written + k]
                        lengths[written + k] = lengths[m]
                        lengths[m] = quiet
                    written = at
                    starts[matches] = row
                    ends[matches] = best_end
                    if timeouts:
                        timed_out[matches] = late
                    matches += 1
                    if self.remembers and (skip != codes.PAST_LAST_ROW or self.numbered):
                        self.forget_before(row + 1)
                    if late:
                        reported[part] = best_end
                        resume[part] = row + 1
                        continue
                    numbers[part] += 1
                    at = goes_on(skip, row, best_end, target)
                    if at < 0:
                        progress[codes.CULPRIT] = row
                        return -at
                    resume[part] = at
                part += 1
            progress[codes.PART] = part
            progress[codes.MATCHES] = matches
            progress[codes.WRITTEN] = written
            return codes.FINISHED
