"""A whole table at once: sort, letters, matches, measures."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cereus.languages.match_recognize import tree
from cereus.languages.match_recognize.binding import Bound
from cereus.languages.match_recognize.match.finding import Path, found_in
from cereus.languages.match_recognize.match.matching import Found
from cereus.languages.match_recognize.match.program import RowAutomaton
from cereus.languages.match_recognize.match.sorting import SortedRows
from cereus.languages.match_recognize.output.cells import Cells, Matched, cells, uncovered
from cereus.languages.match_recognize.output.measures import Measures
from cereus.languages.match_recognize.output.timeouts import timeout_columns
from cereus.limits import Limits


def run(
    bound: Bound,
    automaton: RowAutomaton,
    path: Path,
    table: pa.Table | pa.RecordBatch,
    limits: Limits,
    unit: str | None = None,
) -> pa.RecordBatch:
    """What the clause puts out over a table."""
    rows = SortedRows(table, bound.partition, bound.order)
    found = found_in(bound, automaton, path, rows, limits, unit)
    return put_out(bound, automaton, rows, found, unit)


def put_out(
    bound: Bound,
    automaton: RowAutomaton,
    rows: SortedRows,
    found: Found,
    unit: str | None = None,
) -> pa.RecordBatch:
    """The rows of the output, in the order of partitions and of the starts in them."""
    clause = bound.clause
    matched = Matched(clause, automaton, found, rows.bounds)
    unmatched = uncovered(found, len(rows)) if clause.rows is tree.Rows.UNMATCHED else None
    return columns(bound, rows, matched, cells(matched, clause.rows, unmatched), unit)


def columns(
    bound: Bound, rows: SortedRows, matched: Matched, of: Cells, unit: str | None = None
) -> pa.RecordBatch:
    positions = pa.array(of.position)
    whole = len(of) == len(rows) and bool((of.position == np.arange(len(rows))).all())

    def put(name: str) -> pa.Array:
        return rows.column(name) if whole else rows.take(name, positions)

    found: dict[str, pa.Array] = {name: put(name) for name in bound.partition}
    every = bound.clause.rows is not tree.Rows.ONE
    if every:
        found |= {order.path[0]: put(order.path[0]) for order in bound.order}
    measures = Measures(bound, rows, matched, of)
    for name, formula in bound.measures:
        found[name] = measures.column(formula)
    if matched.found.timed_out is not None:
        found |= timeout_columns(bound, rows, matched, of, unit)
    if every:
        found |= {name: put(name) for name in bound.other_columns}
    return pa.RecordBatch.from_arrays(list(found.values()), names=list(found))
