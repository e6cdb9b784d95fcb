"""The state of a clause that runs while rows come: for each key, the rows that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine.interrupts import interruptible
from cereus.engine.ranges import ranges
from cereus.expr.arrow.vector import from_arrow
from cereus.languages.match_recognize.binding import Bound
from cereus.languages.match_recognize.match.partitions import codes_of
from cereus.languages.match_recognize.match.searched import NEVER, RunStreams
from cereus.languages.match_recognize.match.sorting import SortedRows, one_array
from cereus.state import checked

Ints = npt.NDArray[np.int64]


class Keys:
    """Key k has had `numbers[k]` matches and has `begun` once rows of it were dropped. Of its
    kept rows, `back[k]` lie before the one where the search goes on, matches cover those before
    `covered[k]`, and partial matches that timed out those before `reported[k]`. `active` are the
    keys of the rows at hand, in the order of their partitions."""

    def __init__(self, bound: Bound) -> None:
        self.bound = bound
        self.partition = list(bound.partition)
        empty = pa.Table.from_batches([], bound.schema)
        self.values = empty.select(self.partition)
        self.rows = empty
        self.of_row = np.zeros(0, np.int32)
        self.numbers = np.zeros(0, np.int64)
        self.begun = np.zeros(0, np.uint8)
        self.back = np.zeros(0, np.int64)
        self.covered = np.zeros(0, np.int64)
        self.reported = np.zeros(0, np.int64)
        self.active = np.zeros(0, np.int64)
        self.dropped = np.zeros(0, np.int64)
        """How many rows of each active key the last step dropped."""
        self._resting: npt.NDArray[np.bool_] = np.zeros(0, np.bool_)

    def push(self, table: pa.Table, codes: npt.NDArray[np.int32]) -> SortedRows:
        """The kept and the new rows of the keys that have new rows; `codes` are those of the new
        rows' keys."""
        touched = np.zeros(len(self.numbers), np.bool_)
        touched[codes] = True
        self._resting = ~touched[self.of_row]
        kept = self.rows.filter(pa.array(~self._resting))
        return self._grouped(
            pa.concat_tables([kept, table]),
            np.concatenate([self.of_row[~self._resting], codes]),
        )

    def all(self) -> SortedRows:
        """The kept rows of all keys."""
        self._resting = np.zeros(len(self.of_row), np.bool_)
        return self._grouped(self.rows, self.of_row)

    def codes(self, table: pa.Table) -> npt.NDArray[np.int32]:
        """The number of each row's key; new keys get the next ones."""
        if not self.partition:
            self._add(1 - len(self.numbers))
            return np.zeros(table.num_rows, np.int32)
        new = table.select(self.partition)
        every = pa.concat_tables([self.values, new])
        codes = codes_of([one_array(every.column(name)) for name in self.partition])
        known = len(self.numbers)
        codes = _renumbered(codes)
        mine = codes[known:]
        count = int(mine.max(initial=known - 1)) + 1 - known
        if count > 0:
            fresh = _first_places(mine)[known:]
            self.values = pa.concat_tables([self.values, new.take(pa.array(fresh))])
            self._add(count)
        return mine

    def _add(self, count: int) -> None:
        more = np.zeros(max(count, 0), np.int64)
        self.numbers = np.concatenate([self.numbers, more])
        self.back = np.concatenate([self.back, more])
        self.covered = np.concatenate([self.covered, more])
        self.reported = np.concatenate([self.reported, more])
        self.begun = np.concatenate([self.begun, more.astype(np.uint8)])

    def _grouped(self, table: pa.Table, codes: npt.NDArray[np.int32]) -> SortedRows:
        order = interruptible(len(codes), lambda: np.argsort(codes, kind="stable")).astype(np.int64)
        placed = codes[order]
        changes = np.flatnonzero(placed[1:] != placed[:-1]) + 1
        bounds = np.concatenate([[0], changes, [len(placed)]]).astype(np.int64)
        if not len(placed):
            bounds = np.zeros(1, np.int64)
        self.active = placed[bounds[:-1]].astype(np.int64)
        return SortedRows.placed(table.combine_chunks(), order, bounds)

    def streams(
        self, of: Ints, bounds: Ints, behind: int, horizon: int, *, ends_open: bool
    ) -> RunStreams:
        """Where the searches of some keys go on, in rows with these bounds. While `ends_open`, the
        last `behind` rows of each key wait for more."""
        lows, tails = bounds[:-1], bounds[1:]
        return RunStreams(
            lows,
            np.maximum(tails - behind, lows) if ends_open else tails.copy(),
            tails,
            self.begun[of],
            lows + self.back[of],
            self.numbers[of],
            lows + self.reported[of],
            ends_open,
            horizon,
        )

    def carry_on(self, rows: SortedRows, streams: RunStreams, covered: Ints, before: int) -> None:
        """Drop the rows before the searches, except `before` of them and the last one, which is
        needed to check the order."""
        lows, highs = rows.bounds[:-1], rows.bounds[1:]
        keep = np.maximum(lows, np.minimum(streams.resume - before, highs - 1))
        active = self.active
        self.dropped = keep - lows
        self.numbers[active] = streams.numbers
        self.begun[active] |= keep > lows
        self.back[active] = streams.resume - keep
        self.covered[active] = np.maximum(covered - keep, 0)
        self.reported[active] = np.maximum(streams.reported - keep, 0)
        lengths = highs - keep
        of_row = np.repeat(active, lengths).astype(np.int32)
        positions = ranges(keep, lengths)
        table = rows.table if rows.rows is None else rows.table.take(pa.array(rows.rows[positions]))
        resting = self.rows.filter(pa.array(self._resting))
        self.rows = pa.concat_tables([resting, table]).combine_chunks()
        self.of_row = np.concatenate([self.of_row[self._resting], of_row])

    def taken_out(self, key: int) -> pa.Table:
        """The rows of a key, which are removed here."""
        of_key = self.of_row == key
        rows = self.rows.filter(pa.array(of_key))
        self.rows = self.rows.filter(pa.array(~of_key))
        self.of_row = self.of_row[~of_key]
        return rows

    def put_back(self, key: int, rows: pa.Table) -> None:
        """Keep the rows of a key here again."""
        self.rows = pa.concat_tables([self.rows, rows]).combine_chunks()
        self.of_row = np.append(self.of_row, np.full(rows.num_rows, key, np.int32))

    def forget_idle(self, column: str, horizon: int, busy: Sequence[int]) -> Ints | None:
        """Drop the keys whose rows are all decided and before the time `horizon`: their kept rows
        only serve to check the order, and later rows come after that. Those that are `busy` stay.
        Returns the new numbers of the keys, if any changed."""
        if not self.partition or not len(self.numbers):
            return None
        times = np.asarray(from_arrow(one_array(self.rows.column(column))).values).astype(np.int64)
        latest = np.full(len(self.numbers), NEVER, np.int64)
        np.maximum.at(latest, self.of_row, times)
        kept = np.bincount(self.of_row, minlength=len(self.numbers))
        stays = (self.back < kept) | (latest >= horizon)
        stays[list(busy)] = True
        if stays.all():
            return None
        self.rows = self.rows.filter(pa.array(stays[self.of_row]))
        places = np.cumsum(stays) - 1
        self.of_row = places[self.of_row[stays[self.of_row]]].astype(np.int32)
        self.values = self.values.filter(pa.array(stays))
        for name in ("numbers", "begun", "back", "covered", "reported"):
            setattr(self, name, getattr(self, name)[stays])
        return places

    # ------------------------------------------------------------ state

    def save(self) -> dict[str, Any]:
        names = ("values", "rows", "of_row", "numbers", "begun", "back", "covered", "reported")
        return {name: getattr(self, name) for name in names}

    def restore(self, state: dict[str, Any]) -> None:
        """Take up a state, after checking what the kernels rely on."""
        self.values = checked.table(state["values"], "the keys", self.values.schema)
        size = self.values.num_rows if self.partition else None
        self.numbers = checked.integers(state["numbers"], "the matches of keys", size)
        size = len(self.numbers)
        self.begun = checked.array(state["begun"], "the keys that began", np.uint8, size)
        self.back = checked.integers(state["back"], "the searches", size)
        self.covered = checked.integers(state["covered"], "the covered rows", size)
        self.reported = checked.integers(state["reported"], "the rows emitted", size)
        self.rows = checked.table(state["rows"], "the rows", self.bound.schema)
        self.of_row = checked.codes(state["of_row"], "the keys of rows", self.rows.num_rows)
        checked.within(self.of_row, 0, size, "a row's key")
        checked.within(self.numbers, 0, checked.LARGEST_COUNT, "a number of matches")
        kept = np.bincount(self.of_row, minlength=size)
        for rows in (self.back, self.covered, self.reported):
            inside = (rows >= 0) & (rows <= kept)
            checked.refuse_unless(inside.all(), "a search goes on outside its rows")


def _renumbered(codes: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """The codes, numbered anew in the order in which they first occur."""
    first = _first_places(codes)
    order = np.argsort(first, kind="stable")  # of those that do not occur, the last
    numbers = np.empty(len(first), np.int32)
    numbers[order] = np.arange(len(first), dtype=np.int32)
    return numbers[codes]


def _first_places(codes: npt.NDArray[np.int32]) -> Ints:
    """Where each code first occurs, in one pass and without a sort; beyond the end if nowhere."""
    first = np.full(int(codes.max(initial=-1)) + 1, len(codes), np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)  # the last write wins
    return first
