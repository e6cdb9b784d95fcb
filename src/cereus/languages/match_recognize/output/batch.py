"""Runs a clause over a whole table at once: sort, letters, matches, measures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

import numpy as np
import pyarrow as pa

from cereus.language.result_counts import of_matches
from cereus.languages.match_recognize import tree
from cereus.languages.match_recognize.binding import Bound
from cereus.languages.match_recognize.match.finding import Finder
from cereus.languages.match_recognize.match.matching import RowMatches
from cereus.languages.match_recognize.match.sorting import SortedRows
from cereus.languages.match_recognize.output.cells import (
    Cells,
    Ints,
    Matched,
    cells,
    uncovered,
)
from cereus.languages.match_recognize.output.measures import Measures
from cereus.languages.match_recognize.output.timeouts import timeout_columns

MOST_ROWS = 1 << 20
"""The most rows that are emitted at once, unless they are of one match."""


def run(finder: Finder, table: pa.Table | pa.RecordBatch) -> pa.RecordBatch:
    """The rows that the clause emits over a table, all at once."""
    rows = SortedRows(table, finder.bound.partition, finder.bound.order)
    return _put_out(finder, rows, finder.matches(rows))


def results(finder: Finder, piece: SortedRows) -> Iterator[pa.RecordBatch]:
    """The rows that the clause emits, in batches: many matches of some whole partitions at a
    time."""
    before = np.zeros(len(piece.bounds) - 1, np.int64)
    for matches in _some_at_a_time(finder, piece):
        batch = _put_out(finder, piece, matches, before)
        if batch.num_rows:
            yield batch


def _some_at_a_time(finder: Finder, piece: SortedRows) -> Iterator[RowMatches]:
    """The matches, some at a time. All at once if unmatched rows are emitted, which are known only
    when all matches are. If every row of a match is emitted, long matches that overlap have very
    many rows."""
    rows = finder.bound.clause.rows
    if rows is tree.Rows.UNMATCHED:
        yield finder.matches(piece)
    elif rows is tree.Rows.ONE:
        yield from finder.chunks(piece)
    else:
        for matches in finder.chunks(piece):
            yield from matches.in_parts(MOST_ROWS)


def _put_out(
    finder: Finder, rows: SortedRows, matches: RowMatches, before: Ints | None = None
) -> pa.RecordBatch:
    """The rows of the output, in the order of partitions and of the starts in them. `before` counts
    the numbered matches of each partition so far; it is updated."""
    clause = finder.bound.clause
    matched = Matched(clause, finder.automaton, matches, rows.bounds, before)
    unmatched = uncovered(matches, len(rows)) if clause.rows is tree.Rows.UNMATCHED else None
    of = cells(matched, clause.rows, unmatched)
    result = columns(finder.bound, rows, matched, of, finder.unit)
    if before is not None:
        before += matched.numbered
    return result


def columns(
    bound: Bound, rows: SortedRows, matched: Matched, of: Cells, unit: str | None = None
) -> pa.RecordBatch:
    positions = pa.array(of.position)
    in_place = len(of) == len(rows) and bool((of.position == np.arange(len(rows))).all())

    def put(name: str) -> pa.Array:
        return rows.column(name) if in_place else rows.take(name, positions)

    named = list(_keys(bound, rows, matched, of, put))
    every = bound.clause.rows is not tree.Rows.ONE
    if every:
        named += [(order.path[0], put(order.path[0])) for order in bound.order]
    measures = Measures(bound, rows, matched, of)
    named += [(name, measures.column(formula)) for name, formula in bound.measures]
    if matched.matches.timed_out is not None:
        named += timeout_columns(bound, rows, matched, of, unit).items()
    if every:
        named += [(name, put(name)) for name in bound.other_columns]
    result = pa.RecordBatch.from_arrays([data for _, data in named], _names(named))
    return of_matches(result, matched.count_shown(of)) if every else result


def _names(columns: list[tuple[str, pa.Array]]) -> list[str]:
    """The names of the columns. One that PARTITION BY and ORDER BY name twice is emitted twice, the
    second time as `ts_1`."""
    names: list[str] = []
    taken = {name for name, _ in columns}
    for name, _ in columns:
        free = (each for n in count(1) if (each := f"{name}_{n}") not in taken)
        names.append(next(free) if name in names else name)
        taken.add(names[-1])
    return names


def _keys(
    bound: Bound,
    rows: SortedRows,
    matched: Matched,
    of: Cells,
    put: Callable[[str], pa.Array],
) -> Iterator[tuple[str, pa.Array]]:
    """The columns of PARTITION BY, read from one row of each partition."""
    if bound.clause.rows is not tree.Rows.ONE or not len(of):
        yield from ((name, put(name)) for name in bound.partition)
        return
    firsts = pa.array(rows.bounds[:-1])
    places = pa.array(matched.partition)
    for name in bound.partition:
        yield name, rows.take(name, firsts).take(places)
