"""Carries on a search that waits for rows, as they come.

Where a match goes on for long and rows come a few at a time, searching again from its start would
read all its rows with every push. So the runs of one key are kept as they are, and read only the
new rows. The tables of rows have room for as many again; when it is used up, everything is made
again, so that a row is read a few times at most, however the rows come.

Such a search only tells whether the match is still undecided. Once it is decided, the rows are
searched in the ordinary way.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from cereus.languages.match_recognize import tree
from cereus.languages.match_recognize.match import codes
from cereus.languages.match_recognize.match.finding import Finder, Path
from cereus.languages.match_recognize.match.letters import FEW_BITS
from cereus.languages.match_recognize.match.matching import MatchOutput
from cereus.languages.match_recognize.match.runs import slots_kernel
from cereus.languages.match_recognize.match.runs.find import Room, read_on
from cereus.languages.match_recognize.match.searched import RunStreams
from cereus.languages.match_recognize.match.slots.lowering import Lowering
from cereus.languages.match_recognize.match.slots.tables import RowTables, SlotTables
from cereus.languages.match_recognize.match.sorting import SortedRows

LONG = 512
"""From this many rows on it is worth it."""


def can_wait(finder: Finder) -> bool:
    """Whether searches of this clause can be carried on: their letters have the same numbers
    whatever the rows are, and only rows decide, not the end of the partition."""
    few = len(finder.row_conditions.truths) <= FEW_BITS
    ends = any(isinstance(node, tree.PartitionEnd) for node in finder.bound.clause.pattern.walk())
    return few and not ends and finder.path is not Path.SEARCH


class WaitingSearch:
    """The search of one key that waits at row `resume` of its rows. `before` and `behind` say how
    far from a row conditions and measures look."""

    def __init__(
        self, finder: Finder, rows: pa.Table, streams: RunStreams, before: int, behind: int
    ) -> None:
        self.finder, self.streams = finder, streams
        self.before, self.behind = before, behind
        self.tables = [rows]
        self.size = rows.num_rows
        self.capacity = 2 * rows.num_rows
        self._tail = rows.slice(max(rows.num_rows - before - behind, 0))
        lowering, tables, self._rows = self._read(SortedRows(rows, (), ()), self.capacity)
        self._labels = lowering.columns.of_labels
        self._search = slots_kernel.Search(tables, self._rows)
        self._search.carry_on()
        slots, real = tables.live.shape[1], tables.live_floats.shape[1]
        self._room = Room(slots, real, finder.limits, max(1 << 14, 4 * self.capacity))
        self._search.room(self._room)
        self.possible = not lowering.columns.ranked and self._goes_on(streams.horizon)

    def _read(self, rows: SortedRows, room: int) -> tuple[Lowering, SlotTables, RowTables]:
        finder = self.finder
        lowering = Lowering(finder.bound, finder.automaton, rows, room, self.capacity)
        tables, columns = lowering.tables()
        searched = finder.searched(rows)
        numbers = np.zeros(room, np.uint16)
        numbers[: len(rows)] = searched.letters.numbers
        when = np.zeros(room if searched.times is not None else 1, np.int64)
        if searched.times is not None:
            when[: len(rows)] = searched.times
        sets, alive = numbers.astype(np.int32), searched.readable
        return lowering, tables, RowTables(numbers, sets, alive, *columns, when, searched.length)

    def rows(self) -> pa.Table:
        """All rows of the key."""
        return pa.concat_tables(self.tables).combine_chunks()

    def waits(self, rows: pa.Table, horizon: int) -> bool:
        """Take more rows, and return whether the match is still undecided. If it is not, or this
        search cannot tell, the search is no longer of use."""
        self.tables.append(rows)
        known, self.size = self.size, self.size + rows.num_rows
        if self.size > self.capacity:
            return False
        self._add(known, rows)
        return self._goes_on(horizon)

    def over(self, horizon: int) -> bool:
        """Whether the time that has passed may decide the match."""
        length = self._rows.length
        start = int(self._rows.times[int(self.streams.resume[0])]) if length >= 0 else 0
        return length >= 0 and horizon - start >= length

    def _add(self, known: int, rows: pa.Table) -> None:
        """Add the tables of the new rows, and of those that waited for later rows."""
        self._tail = pa.concat_tables([self._tail, rows]).combine_chunks()
        begin = max(self.size - self._tail.num_rows, 0)
        first = max(known - self.behind, begin)
        _, _, new = self._read(SortedRows(self._tail, (), ()), self._tail.num_rows)
        here, there = slice(first, self.size), slice(first - begin, self._tail.num_rows)
        self._rows.letters[here] = new.letters[there]
        self._rows.sets[here] = new.sets[there]
        if new.length >= 0:
            self._rows.times[here] = new.times[there]
        for column in set(range(len(new.valid))) - self._labels:
            for name in ("ints", "floats", "valid"):
                getattr(self._rows, name)[column, here] = getattr(new, name)[column, there]
        kept = self.before + self.behind
        self._tail = self._tail.slice(max(self._tail.num_rows - kept, 0))

    def _goes_on(self, horizon: int) -> bool:
        """Read the new rows, and return whether the start still waits."""
        output = MatchOutput(1, 0, self.finder.bound.clause.timeouts, stretches=True)
        streams = replace(
            self.streams,
            highs=np.array([self.size - self.behind], np.int64),
            tails=np.array([self.size], np.int64),
            ends_open=True,
            horizon=horizon,
        )
        steps, nodes = self._search.work_done(), self._search.nodes_made()
        result = read_on(self._search, streams, self.finder.skip, output)
        self.finder.costs.steps += self._search.work_done() - steps
        self.finder.costs.nodes += self._search.nodes_made() - nodes
        return result == codes.FINISHED
