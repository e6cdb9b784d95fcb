"""Which way a clause is matched, and its matches."""

from __future__ import annotations

from enum import StrEnum

import pyarrow as pa

from cereus.languages.match_recognize import values
from cereus.languages.match_recognize.binding import Bound
from cereus.languages.match_recognize.match.letters import letters
from cereus.languages.match_recognize.match.matching import Found, find, skipping, state_masks
from cereus.languages.match_recognize.match.needs import parts
from cereus.languages.match_recognize.match.program import RowAutomaton
from cereus.languages.match_recognize.match.runs import RunStreams, find_runs
from cereus.languages.match_recognize.match.search import Searcher
from cereus.languages.match_recognize.match.slots.lowering import Lowering
from cereus.languages.match_recognize.match.slots.tables import NotForSlots
from cereus.languages.match_recognize.match.sorting import SortedRows
from cereus.languages.match_recognize.match.times import window
from cereus.limits import Limits


class Path(StrEnum):
    """By what DEFINE asks for."""

    ROWS = "rows"
    SLOTS = "slots"
    AGGREGATES = "aggregates"
    SEARCH = "search"


def path_of(bound: Bound, automaton: RowAutomaton) -> Path:
    asked = [part for variable in bound.clause.variables() for part in parts(bound, variable)]
    within = bound.clause.within
    if all(part.of_row for part in asked):
        return Path.SLOTS if within is not None and within.timeouts else Path.ROWS
    empty = pa.Table.from_batches([], bound.schema)
    try:
        Lowering(bound, automaton, SortedRows(empty, (), ())).tables()
    except NotForSlots:
        return Path.SEARCH
    leaves = [leaf for part in asked for leaf in part.leaves.values()]
    sums = any(isinstance(leaf, values.Over) for leaf in leaves)
    return Path.AGGREGATES if sums else Path.SLOTS


def found_in(
    bound: Bound,
    automaton: RowAutomaton,
    path: Path,
    rows: SortedRows,
    limits: Limits,
    unit: str | None = None,
    streams: RunStreams | None = None,
) -> Found:
    """The matches in all partitions; with `streams`, those that are decided so far."""
    clause = bound.clause
    read = letters(bound, rows)
    masks = state_masks(automaton, clause.variables(), read)
    times, length = window(bound, rows, unit)
    skip = skipping(clause, automaton)
    if path is Path.ROWS and streams is None:
        return find(automaton, masks, read.numbers, rows.bounds, skip, times, length)
    where = streams or RunStreams.whole(rows.bounds)
    if path is Path.SEARCH:
        searcher = Searcher(bound, automaton, rows, read, masks, times, length, limits)
        return searcher.find(where, skip)
    return find_runs(bound, automaton, rows, read, masks, skip, where, times, length, limits)
