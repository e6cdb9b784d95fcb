"""Matches of clauses whose conditions know the match so far, by `slots_kernel`.

The same kernel finds matches while rows still come: `RunStreams` (`match.searched`) says where each
partition goes on, and which of its rows are there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cereus.engine.costs import Costs
from cereus.engine.memory import empty
from cereus.errors import LimitError
from cereus.languages.match_recognize.match import codes
from cereus.languages.match_recognize.match.matching import (
    MatchOutput,
    RowMatches,
    Skipping,
    joined,
    readable,
    refuse_skip,
)
from cereus.languages.match_recognize.match.rows import rows_kernel
from cereus.languages.match_recognize.match.rows.look_ahead import RowsAhead, TooManySets
from cereus.languages.match_recognize.match.runs import slots_kernel
from cereus.languages.match_recognize.match.runs.dead import alike, asks_for_numbers, places
from cereus.languages.match_recognize.match.runs.deadlines import deadlines
from cereus.languages.match_recognize.match.searched import RunStreams, Searched
from cereus.languages.match_recognize.match.slots.lowering import Lowering
from cereus.languages.match_recognize.match.slots.percentiles import percentiles
from cereus.languages.match_recognize.match.slots.tables import NotJoint, RowTables, SlotTables
from cereus.languages.match_recognize.match.stretches import stretches_kernel
from cereus.languages.match_recognize.match.stretches.blocks import RowBlocks, blocks
from cereus.languages.match_recognize.match.stretches.comparisons import comparisons
from cereus.languages.match_recognize.match.stretches.keys import row_keys, steady_loops
from cereus.languages.match_recognize.match.stretches.lines import row_lines
from cereus.languages.match_recognize.match.stretches.slot_kinds import touched
from cereus.limits import Limits

WORK_PER_ROW, FREE_WORK = 1, 1 << 16
"""How many rows runs read, for each row of the table and in any case, before it is worth looking
for starts that cannot be completed in time, or for rows that can be left out."""
MORE_WORK_PER_ROW = 4
"""Like WORK_PER_ROW, after starts that come too late are left out and before rows are."""
MANY_ROWS = 16
"""Lines are worth it once the runs of a start read this many rows on the way."""


class Room:
    """The arrays for runs; they grow as far as the limits allow."""

    def __init__(self, slots: int, float_slots: int, limits: Limits, nodes: int = 1 << 14) -> None:
        self.slots, self.float_slots, self.limits = slots, float_slots, limits
        self.runs, self.nodes = 1 << 8, nodes
        self._make_runs()
        self._make_nodes()

    def _make_runs(self) -> None:
        size = self.runs + 1
        self.states = np.zeros((2, size), np.int32)
        self.nodes_of = np.zeros((2, size), np.int64)
        self.cells = np.zeros((2, size, self.slots), np.int64)
        self.float_cells = np.zeros((2, size, self.float_slots), np.float64)
        self.buckets = np.zeros(1 << (4 * self.runs - 1).bit_length(), np.int64)
        self.chains = np.zeros(size, np.int64)

    def _make_nodes(self) -> None:
        self.parents = np.empty(self.nodes, np.int64)
        self.node_states = np.empty(self.nodes, np.int16)
        self.repeats = np.empty(self.nodes, np.int64)

    def grow(self, result: int) -> None:
        if result == codes.TOO_MANY_RUNS:
            limit, most = self.limits.runs
            if self.runs >= most:
                raise _too_many("runs of one start", limit, most)
            self.runs = min(4 * self.runs, most)
            self._make_runs()
        elif result == codes.TOO_MANY_NODES:
            if self.nodes >= self.limits.nodes:
                raise _too_many("rows of runs of one start", "nodes", self.limits.nodes)
            self.nodes = min(4 * self.nodes, self.limits.nodes)
            self._make_nodes()


def _too_many(what: str, limit: str, most: int) -> LimitError:
    return LimitError(
        f"more than {most:,} {what} have to be kept (limit {limit})",
        hint="tie the conditions to fewer earlier rows, use WITHIN, or raise the limit: "
        f"Limits({limit}=…)",
    )


def find_runs(searched: Searched, streams: RunStreams, limits: Limits, costs: Costs) -> RowMatches:
    """Find all matches. Updates `streams`, and adds the work to `costs`."""
    joint = searched.joint()
    if joint is not None and joint.ways is not None:
        try:
            return joint.ways.restored(_find(joint, streams, limits, costs))
        except NotJoint:
            pass
    return _find(searched, streams, limits, costs)


def _find(searched: Searched, streams: RunStreams, limits: Limits, costs: Costs) -> RowMatches:
    rows = searched.rows
    lowering = Lowering(searched.bound, searched.automaton, rows, ways=searched.ways)
    tables, (ints, floats, valid) = lowering.tables()
    sets, alive = _sets(searched, streams)
    given = RowTables(
        searched.letters.numbers,
        sets,
        alive,
        ints,
        floats,
        valid,
        np.zeros(1, np.int64) if searched.times is None else searched.times,
        searched.length,
        percentiles(lowering.ranks.percentiles, floats, valid),
    )
    search = slots_kernel.Search(tables, given)
    room = Room(tables.live.shape[1], tables.live_floats.shape[1], limits)
    search.room(room)
    aids = _Aids(searched, lowering, tables, given)
    more = _limited(aids.made_for(search, room, streams), limits, len(rows))
    search.stop_after(next(more))
    output = MatchOutput(len(rows), rows.largest, searched.timeouts, stretches=True)
    chunks: list[RowMatches] = []
    while (result := read_on(search, streams, searched.skip, output)) != codes.FINISHED:
        if result == codes.OUTPUT_FULL:
            chunks.append(output.matches().copied())
            output.empty()
        elif result in (codes.TOO_MANY_RUNS, codes.TOO_MANY_NODES):
            room.grow(result)
            search.room(room)
        elif result == codes.TOO_MUCH_WORK:
            search.stop_after(next(more))
        refuse_skip(result, searched.skip.variable)
    costs.steps += search.work_done()
    costs.nodes += search.nodes_made()
    return joined([*chunks, output.matches()])


def read_on(
    search: slots_kernel.Search, streams: RunStreams, skip: Skipping, output: MatchOutput
) -> int:
    """Let the kernel read rows until it is done or needs something, as the result says. Updates
    `streams`, and writes matches to `output`."""
    result: int = search.find(
        streams.lows,
        streams.highs,
        streams.tails,
        streams.begun,
        streams.resume,
        streams.numbers,
        streams.ends_open,
        streams.horizon,
        skip.targets,
        skip.kind,
        output.timeouts,
        streams.reported,
        output.progress,
        output.starts,
        output.ends,
        output.timed_out,
        output.states,
        output.lengths,
    )
    return result


def _limited(aids: Iterator[int], limits: Limits, rows: int) -> Iterator[int]:
    """How many rows runs may read before the next aid is made, or the limit is reached."""
    most = limits.steps_per_event
    last = -1 if most is None else most * rows + FREE_WORK
    reached = False
    while not reached:
        work = next(aids)
        reached = last >= 0 and not 0 <= work < last
        yield last if reached else work
    raise LimitError(
        f"runs have read more than {most:,} rows for each row (limit steps_per_event)",
        hint="use WITHIN, or raise the limit: Limits(steps_per_event=…)",
    )


def _until_slow(search: slots_kernel.Search, streams: RunStreams, work: int) -> Iterator[int]:
    """Let runs read this many rows, again and again, until the rows are many for each start that
    was tried. One start that reads them all gets more: it may have a long match."""
    tried = int(streams.resume.sum())
    while True:
        yield int(search.work_done()) + work
        before, tried = tried, int(streams.resume.sum())
        if not work or 0 < (tried - before) * MANY_ROWS <= work:
            return
        if tried == before:
            work *= 4


@dataclass(frozen=True)
class _Aids:
    """Aids that shorten long waits. Each takes time to make, so it is made only after runs have
    read many rows without it."""

    searched: Searched
    lowering: Lowering
    tables: SlotTables
    given: RowTables

    def made_for(
        self, search: slots_kernel.Search, room: Room, streams: RunStreams
    ) -> Iterator[int]:
        """Make one aid after the other. Before each, yield how many rows runs are to read first
        (-1: any number)."""
        size, timeouts = len(self.searched.rows), self.searched.timeouts
        if streams.ends_open:
            yield -1
            return
        yield WORK_PER_ROW * size + FREE_WORK
        pruned = not timeouts and self.late_runs_left(search)
        if pruned:
            yield int(search.work_done()) + MORE_WORK_PER_ROW * size
        stretches = self.blocks_leapt(search, room)
        search.compare_values(alike(self.tables, self.given))
        kept = None if timeouts or pruned else places(self.tables, self.given)
        if kept is not None:
            search.remember(kept, asks_for_numbers(self.tables))
        if stretches is not None:
            yield from _until_slow(search, streams, WORK_PER_ROW * size // 2)
            self.lines_drawn(*stretches, room)
            self.keys_looked_up(search, stretches[1], room)
        yield -1

    def late_runs_left(self, search: slots_kernel.Search) -> bool:
        ahead = deadlines(self.searched, self.lowering.groups.joint)
        if ahead is not None:
            search.prune(ahead)
        return ahead is not None

    def blocks_leapt(
        self, search: slots_kernel.Search, room: Room
    ) -> tuple[stretches_kernel.QuietStretches, RowBlocks] | None:
        row_blocks = blocks(self.tables, self.given, self.searched.rows.bounds)
        if row_blocks is None:
            return None
        stretches = stretches_kernel.QuietStretches(self.tables, self.given, row_blocks)
        search.leap(stretches, touched(self.tables), room)
        search.look_up(steady_loops(self.tables, row_blocks), comparisons(self.tables))
        return stretches, row_blocks

    def keys_looked_up(
        self, search: slots_kernel.Search, row_blocks: RowBlocks, room: Room
    ) -> None:
        steady = steady_loops(self.tables, row_blocks)
        keys = row_keys(self.tables, self.given, self.searched.rows.bounds, steady)
        if keys is not None:
            by_key = stretches_kernel.QuietStretches(self.tables, self.given, keys.blocks)
            search.look_up_keys(keys, by_key, room)

    def lines_drawn(
        self, stretches: stretches_kernel.QuietStretches, row_blocks: RowBlocks, room: Room
    ) -> None:
        lines = row_lines(
            self.lowering, self.tables, self.given, self.searched.rows.bounds, row_blocks
        )
        if lines is not None:
            stretches.use_lines(lines, room.cells, room.float_cells)


def _sets(
    searched: Searched, streams: RunStreams
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
    """For every row a number, and for every number the states that a run may be in there: those
    from which the pattern can be completed, as far as the conditions of the row tell; all, if these
    are too many sets, or partial matches count as well."""
    withheld = streams.ends_open and bool((streams.highs < streams.tails).any())
    if not (searched.timeouts or withheld):
        try:
            return _completable(searched, ends_open=streams.ends_open)
        except TooManySets:
            pass
    return searched.letters.numbers.astype(np.int32), searched.readable


def _completable(
    searched: Searched, *, ends_open: bool
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint8]]:
    ahead = RowsAhead(searched.automaton, searched.masks, ends_open=ends_open)
    sets = empty(len(searched.rows), np.int32)
    progress = np.zeros(codes.PROGRESS, np.int64)
    args = (searched.letters.numbers, searched.rows.bounds)
    while rows_kernel.look_ahead(*args, ahead.steps, sets, progress) != codes.FINISHED:
        ahead.work_out(int(progress[codes.SET]), int(progress[codes.CULPRIT]))
    return sets, readable(ahead.sets, len(searched.automaton))
