"""Chooses how a clause is matched, and finds its matches."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

import numpy as np
import pyarrow as pa

from cereus.engine.costs import Costs
from cereus.languages.match_recognize import tree, values
from cereus.languages.match_recognize.binding import Bound
from cereus.languages.match_recognize.match import codes
from cereus.languages.match_recognize.match.letters import letters, row_conditions
from cereus.languages.match_recognize.match.matching import (
    Ints,
    RowMatches,
    joined,
    skipping,
)
from cereus.languages.match_recognize.match.needs import parts
from cereus.languages.match_recognize.match.program import RowAutomaton, counting
from cereus.languages.match_recognize.match.rows.two_passes import TwoPasses
from cereus.languages.match_recognize.match.runs.find import find_runs
from cereus.languages.match_recognize.match.search import Searcher
from cereus.languages.match_recognize.match.searched import RunStreams, Searched
from cereus.languages.match_recognize.match.slots.lowering import Lowering
from cereus.languages.match_recognize.match.slots.tables import NotForSlots
from cereus.languages.match_recognize.match.sorting import SortedRows
from cereus.languages.match_recognize.match.times import window
from cereus.limits import Limits

MANY_STATES = 256
"""Sets of more states than this are slow to compute."""


class Path(StrEnum):
    """The ways to match a clause, by what DEFINE needs."""

    ROWS = "rows"
    SLOTS = "slots"
    AGGREGATES = "aggregates"
    SEARCH = "search"


def path_of(bound: Bound, automaton: RowAutomaton) -> Path:
    conditions = [part for variable in bound.clause.variables() for part in parts(bound, variable)]
    if all(part.of_row for part in conditions):
        by_runs = bound.clause.timeouts or _is_better_counted(bound, automaton)
        return Path.SLOTS if by_runs else Path.ROWS
    empty = pa.Table.from_batches([], bound.schema)
    try:
        Lowering(bound, automaton, SortedRows(empty, (), ())).tables()
    except NotForSlots:
        return Path.SEARCH
    leaves = [leaf for part in conditions for leaf in part.leaves.values()]
    sums = any(isinstance(leaf, values.Over) for leaf in leaves)
    return Path.AGGREGATES if sums else Path.SLOTS


def _is_better_counted(bound: Bound, automaton: RowAutomaton) -> bool:
    """Whether it is better to count rounds: sets of states would be large, and counted rounds are
    few states that do not begin again in an outer loop (there sets are few, and runs many)."""
    size, pattern = len(automaton), bound.clause.pattern
    nested = any(
        isinstance(inner, tree.Quantified) and inner is not outer
        for outer in pattern.walk()
        if isinstance(outer, tree.Quantified)
        for inner in outer.walk()
    )
    return size > MANY_STATES and not nested and len(counting(pattern)) * 8 < size


def _counts(bound: Bound, path: Path) -> bool:
    """Whether rounds are counted. They are not where rows alone decide, which needs states only,
    nor where a partial match reports what it waits for, which depends on the round."""
    return path is not Path.ROWS and not bound.clause.timeouts


class Finder:
    """Finds the matches of a clause in rows, piece by piece. Everything that does not depend on the
    rows is made once. The work is counted in `costs`."""

    def __init__(
        self,
        bound: Bound,
        automaton: RowAutomaton,
        path: Path,
        limits: Limits,
        unit: str | None = None,
    ) -> None:
        self.bound, self.path = bound, path
        self.automaton = counting(bound.clause.pattern) if _counts(bound, path) else automaton
        self.limits, self.unit = limits, unit
        self.row_conditions = row_conditions(bound)
        self.skip = skipping(bound.clause, self.automaton)
        self.costs = Costs()
        self.passes = TwoPasses(self.automaton, self.skip, self.costs)

    def matches(self, rows: SortedRows, streams: RunStreams | None = None) -> RowMatches:
        """The matches in all partitions; with `streams`, those that are decided so far."""
        return joined(self.chunks(rows, streams))

    def chunks(self, rows: SortedRows, streams: RunStreams | None = None) -> Iterator[RowMatches]:
        """The matches, some at a time: their arrays are used again for the next ones."""
        searched = self.searched(rows)
        if self.path is Path.ROWS and streams is None:
            yield from self.passes.chunks(searched)
            return
        where = streams or RunStreams.complete(rows.bounds)
        if self.path is not Path.SEARCH:
            try:
                runs = find_runs(searched, where, self.limits, self.costs)
            except NotForSlots:
                pass  # sums of these rows may be too large
            else:
                yield runs
                return
        searcher = Searcher(searched, self.limits)
        try:
            yield from searcher.find(where)
        finally:
            self.costs.steps += searcher.tried
            self.costs.nodes += searcher.kept

    def taken(self, rows: SortedRows, variable: str | None) -> tuple[int, Ints] | None:
        """How many matches have rows, and where the rows are that they map to a variable; for None,
        the last row of each. Is None where only the matches tell."""
        within = self.bound.clause.within
        if self.path is not Path.ROWS or self.skip.kind != codes.NEXT_ROW or within is not None:
            return None
        chosen = np.array([label == variable for label in (*self.automaton.labels, "")], np.uint8)
        return self.passes.taken(self.searched(rows), None if variable is None else chosen)

    def searched(self, rows: SortedRows) -> Searched:
        """The rows with their letters and times."""
        self.costs.kept += len(rows)
        self.costs.tests += len(self.row_conditions.truths) * len(rows)
        read = letters(self.bound, rows, self.row_conditions)
        times, length = window(self.bound, rows, self.unit)
        return Searched(self.bound, self.automaton, rows, read, self.skip, times, length)
