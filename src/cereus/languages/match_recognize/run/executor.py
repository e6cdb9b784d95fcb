"""Runs a clause over rows that come in batches.

The rows of each key are kept from the oldest start whose match is not decided. A match is emitted
when later rows cannot change it: no run of higher preference is alive, or the window or the stream
has ended. How the stream is cut into batches makes no difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from queue import SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cereus.engine import snapshot
from cereus.engine.costs import Costs
from cereus.engine.executor import Executor
from cereus.engine.ingest.where import EventFilter
from cereus.engine.parallel.spread import ALONE, Spread
from cereus.engine.ranges import ranges
from cereus.errors import DataError
from cereus.language.anatomy import ROW
from cereus.languages.match_recognize import tree, values
from cereus.languages.match_recognize.binding import Bound
from cereus.languages.match_recognize.match.finding import Finder, Path
from cereus.languages.match_recognize.match.matching import RowMatches
from cereus.languages.match_recognize.match.program import RowAutomaton
from cereus.languages.match_recognize.match.searched import NEVER
from cereus.languages.match_recognize.match.sorting import (
    KnownPieces,
    SortedRows,
    in_order,
    without_views,
)
from cereus.languages.match_recognize.output import batch as output
from cereus.languages.match_recognize.output.cells import Matched, cells, uncovered
from cereus.languages.match_recognize.run.joining import joined
from cereus.languages.match_recognize.run.keys import Keys
from cereus.languages.match_recognize.run.waiting import WaitingKeys
from cereus.limits import Limits
from cereus.state import checked

VERSION = 1
"""The version of the snapshots."""

Ints = npt.NDArray[np.int64]


class RecognizingExecutor(Executor):
    """Runs one clause; `reach` says how many rows before and after a match it reads."""

    keys: Keys

    def __init__(
        self,
        bound: Bound,
        automaton: RowAutomaton,
        path: Path,
        limits: Limits,
        *,
        fingerprint: str,
        unit: str | None = None,
        where: EventFilter | None = None,
    ) -> None:
        self.where = where
        self.bound, self.unit = bound, unit
        self._read = 0
        self.fingerprint = fingerprint
        self.waits_for_time = bound.clause.within is not None
        self.emits_late = True
        self.before, self.behind = _reach(bound)
        self.forgets = self.before == 0 and forgets_keys(bound)
        self.horizon = NEVER
        self._deferred: list[pa.RecordBatch] | None = None
        self._shelf: dict[Any, Any] | None = None
        self._new_finder = partial(Finder, bound, automaton, path, limits, unit)
        self.finder = self._new_finder()
        self._finders = [self.finder]
        self.forget()

    @cached_property
    def schema(self) -> pa.Schema:
        return output.run(self.finder, _empty(self.bound.schema)).schema.remove_metadata()

    @property
    def header(self) -> dict[str, Any]:
        return {"version": VERSION, "query fingerprint": self.fingerprint}

    def defer(self) -> None:
        self._deferred = []

    def share(self, shelf: dict[Any, Any]) -> None:
        self._shelf = shelf

    # ------------------------------------------------------------ rows

    @property
    def costs(self) -> Costs:
        done = sum((finder.costs for finder in self._finders), Costs())
        return done + Costs(events=self._read)

    def push(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        self._read += batch.num_rows
        batch = batch if self.where is None else self.where.passing(batch)
        batch = without_views(batch.select(self.bound.schema.names))
        if self._deferred is not None:
            self._deferred.append(batch)
        elif batch.num_rows:
            yield from self._arrived(self._ordered(pa.Table.from_batches([batch])))

    def _ordered(self, rows: pa.Table) -> pa.Table:
        order = in_order(rows, self.bound.order)
        return rows if order is None else rows.take(pa.array(order))

    def _arrived(self, rows: pa.Table) -> Iterator[pa.RecordBatch]:
        codes = self.keys.codes(rows)
        undecided = self.waiting.still(rows, codes, self.horizon)
        if undecided is not None:
            rows, codes = rows.filter(pa.array(~undecided)), codes[~undecided]
        if not rows.num_rows:
            return
        taken = self.keys.push(rows, codes)
        starts = self.keys.back[self.keys.active].copy()
        yield from self._decided(taken, ends_open=True)
        self.waiting.begin(taken, starts, self.horizon)

    def advance(self, time: int) -> Iterator[pa.RecordBatch]:
        self.horizon = max(self.horizon, int(time))
        if self._deferred is not None:
            return
        if self.waits_for_time:
            self.waiting.end(self.horizon)
            yield from self._decided(self.keys.all(), ends_open=True)
        if self.forgets:
            time_column = self.bound.order[0].path[0]
            numbers = self.keys.forget_idle(time_column, self.horizon, list(self.waiting.searches))
            if numbers is not None:
                self.waiting.renumber(numbers)

    def finish(self) -> Iterator[pa.RecordBatch]:
        if self._deferred is not None:
            for piece in self._sorted_pieces():
                yield from _results(self.finder, piece)
        else:
            self.waiting.end()
            yield from self._decided(self.keys.all(), ends_open=False)

    def taken(self, column: str | None) -> Iterator[tuple[int, Ints]]:
        for piece in self._sorted_pieces():
            rows = piece.column(ROW).to_numpy()
            known = self.finder.taken(piece, column)
            if known is not None:
                yield known[0], rows[known[1]]
                continue
            for matches in self.finder.chunks(piece):
                yield self._rows_taken(column, piece, matches, rows)

    def _rows_taken(
        self, column: str | None, piece: SortedRows, matches: RowMatches, rows: Ints
    ) -> tuple[int, Ints]:
        some = matches.ends > matches.starts
        positions = matches.ends[some] - 1
        if column is not None:
            matched = Matched(self.bound.clause, self.finder.automaton, matches, piece.bounds)
            of_column, _ = matched.mapped(frozenset((column,)))
            _, positions, _ = matched.placed(of_column)
        return int(np.count_nonzero(some)), rows[positions]

    def pieces(self, spread: Spread) -> Iterator[Callable[[], list[pa.RecordBatch]]]:
        free: SimpleQueue[Finder] = SimpleQueue()
        for _ in range(spread.threads):
            self._finders.append(self._new_finder())  # each remembers what it has met
            free.put(self._finders[-1])
        for piece in self._sorted(spread).pieces():
            yield partial(_taken_up, free, piece)

    def _sorted_pieces(self) -> Iterator[SortedRows]:
        """The sorted rows in pieces; other queries over these rows may have made them."""
        if self._shelf is None:
            return self._sorted(ALONE).pieces()
        key = ("pieces", self.bound.partition, self.bound.order)
        table = self._kept_back()
        if key not in self._shelf:
            made = SortedRows(table, self.bound.partition, self.bound.order)
            self._shelf[key] = KnownPieces(made.pieces())
        known: KnownPieces = self._shelf[key]
        return known.over(table)

    def _sorted(self, spread: Spread) -> SortedRows:
        """All rows so far, in order."""
        return SortedRows(self._kept_back(), self.bound.partition, self.bound.order, spread)

    def stop(self) -> Iterator[pa.RecordBatch]:
        rows = self._ordered(self._kept_back())
        if rows.num_rows:
            yield from self._decided(self._by_key(rows), ends_open=True, goes_on=False)

    def _by_key(self, rows: pa.Table) -> SortedRows:
        """The first rows that come, by their keys, which other queries may have numbered."""
        if self._shelf is None:
            return self.keys.push(rows, self.keys.codes(rows))
        key = ("keys", self.bound.partition, self.bound.order)
        if key not in self._shelf:
            taken = self.keys.push(rows, self.keys.codes(rows))
            self._shelf[key] = self.keys, KnownPieces([taken])
        known: KnownPieces
        self.keys, known = self._shelf[key]
        return next(known.over(rows))

    def _kept_back(self) -> pa.Table:
        """The rows so far in one piece: every column is read several times, and would be joined
        each time."""
        table = joined(self._deferred or [], self.bound.schema)
        self._deferred = []
        return table

    def _decided(
        self, rows: SortedRows, *, ends_open: bool, goes_on: bool = True
    ) -> Iterator[pa.RecordBatch]:
        """The output of the matches that are decided now. If more rows may come, these matches are
        forgotten afterwards."""
        keys = self.keys
        self._check_order(rows)
        streams = keys.streams(
            keys.active, rows.bounds, self.behind, self.horizon, ends_open=ends_open
        )
        old, numbers = streams.resume.copy(), streams.numbers.copy()
        matches = self.finder.matches(rows, streams)
        clause = self.bound.clause
        matched = Matched(clause, self.finder.automaton, matches, rows.bounds, numbers)
        covered = streams.lows + keys.covered[keys.active]
        unmatched = None
        if clause.rows is tree.Rows.UNMATCHED:
            unmatched = _unmatched(matched, old, streams.resume, covered)
        of = cells(matched, clause.rows, unmatched)
        result = output.columns(self.bound, rows, matched, of, self.unit) if len(of) else None
        if goes_on:
            np.maximum.at(covered, matched.partition, np.maximum(matches.ends, matches.starts + 1))
            keys.carry_on(rows, streams, covered, self.before)
        if result is not None:
            yield _counted(result, self.finder)

    def _check_order(self, rows: SortedRows) -> None:
        """Check that the rows of a key come in the order of ORDER BY."""
        if rows.in_order(self.bound.order):
            return
        names = ", ".join(order.path[0] for order in self.bound.order)
        raise DataError(
            f"a row came after one that it must precede (ORDER BY {names})",
            hint="sort the rows before pushing them, or run the query over the whole table",
        )

    # ------------------------------------------------------------ state

    def forget(self) -> None:
        self.keys = Keys(self.bound)
        self.waiting = WaitingKeys(self.finder, self.keys, self.before, self.behind)

    def save(self) -> bytes:
        self.waiting.end()
        state = {"keys": self.keys.save(), "horizon": self.horizon}
        return snapshot.dump(self.header, state)

    def restore(self, snapshot_bytes: bytes) -> None:
        state = snapshot.load(snapshot_bytes, self.header)
        self.forget()
        with snapshot.restoring():
            self.keys.restore(state["keys"])
            self.horizon = checked.integer(state["horizon"], "the time so far")

    @property
    def events(self) -> pa.Table | None:
        return None

    @property
    def event_rows(self) -> npt.NDArray[np.int64]:
        return np.zeros(0, np.int64)


def _taken_up(free: SimpleQueue[Finder], piece: SortedRows) -> list[pa.RecordBatch]:
    """The results of a piece, by a finder that is free."""
    finder = free.get()
    try:
        return list(_results(finder, piece))
    finally:
        free.put(finder)


def _results(finder: Finder, piece: SortedRows) -> Iterator[pa.RecordBatch]:
    for batch in output.results(finder, piece):
        yield _counted(batch, finder)


def _counted(batch: pa.RecordBatch, finder: Finder) -> pa.RecordBatch:
    """The same batch; counts the bytes that are written."""
    finder.costs.bytes += batch.nbytes
    return batch


def _empty(schema: pa.Schema) -> pa.Table:
    return pa.Table.from_batches([], schema)


def _reach(bound: Bound) -> tuple[int, int]:
    """How many rows before a start, and after a row, conditions and measures read."""
    formulas = [*bound.define.values(), *(formula for _, formula in bound.measures)]
    leaves = [leaf for formula in formulas for leaf in formula.leaves]
    shifts = [leaf.place.shift for leaf in leaves if isinstance(leaf, values.At)]
    return max([0, *(-shift for shift in shifts)]), max([0, *shifts])


def forgets_keys(bound: Bound) -> bool:
    """Whether a key whose rows are all decided may be forgotten: nothing reads the rows before, the
    number of matches or the first row, and the time of the key is known."""
    if not bound.order or bound.order[0].descending:
        return False
    kind = bound.schema.field(bound.order[0].path[0]).type
    timed = pa.types.is_integer(kind) or pa.types.is_timestamp(kind)
    return timed and not tree.remembers_keys(bound.clause)


def _unmatched(matched: Matched, old: Ints, new: Ints, covered: Ints) -> Ints:
    """The rows where the search found nothing, and that no match covers. `covered` is how far the
    matches of earlier batches reach."""
    lengths = np.maximum(new - old, 0)
    part = np.repeat(np.arange(len(old)), lengths)
    rows = ranges(old, lengths)
    free = uncovered(matched.matches, int(matched.bounds[-1]))
    unmatched: Ints = rows[(rows >= covered[part]) & np.isin(rows, free)]
    return unmatched
