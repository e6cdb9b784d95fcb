"""Finds the event that stands in the way of a match: the one that a negation forbids, that breaks a
run without gaps, or that another match begins with.

The match is looked for among its own events and some others. It is there without any of them and
not there with all, so somewhere one event more ends it. Halving the others finds that event in a
few short runs, in every language, and whatever the rule.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import islice

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cereus.errors import CereusError
from cereus.expr.paths import column_at
from cereus.language.anatomy import Anatomy, RuleKind
from cereus.why.running.events import EventTable, Rows
from cereus.why.running.runs import Run, matched, relevant_at

ABOUT_OTHERS = frozenset({RuleKind.NEGATION, RuleKind.STRATEGY, RuleKind.CONSUMPTION})
"""The rules that other events than those of a match decide about."""
MOST_OTHERS = 2_000
"""The most other events that are read at once."""
MOST_MATCHES = 10_000
"""The most matches that are looked through in one run."""


def in_the_way(rows: tuple[int, ...], anatomy: Anatomy, events: EventTable) -> int | None:
    """The row that keeps some rows from being a match; None if it is not found, or if results do
    not name all events that make them a match."""
    if not anatomy.complete:
        return None
    with suppress(CereusError, pa.ArrowException):  # of a part of the events, or of their keys
        places = np.sort(events.places(np.array(rows)))
        around = _around(places, anatomy, events)
        return _Search(rows, anatomy, events.part(around)).hindering_row()
    return None


def stands_in_the_way(row: int) -> str:
    return f"row {row} stands in the way"


def _around(places: Rows, anatomy: Anatomy, events: EventTable) -> Rows:
    """The places of all events that may decide about a match at some places; if these are too many,
    of those that its query tests, in its key; else of those between its places."""
    begin, end = 0, len(events) if anatomy.query.emits_late else int(places[-1]) + 1
    stretches = events.around(places, anatomy.query.span(events.schema))
    if stretches is not None:
        begin, end = int(stretches[0][0]), int(stretches[1][-1])
    around = np.arange(begin, end)
    if len(around) > MOST_OTHERS:
        tested = relevant_at(anatomy.query, events, around)
        around = _of_its_key(places, around if tested is None else tested, anatomy, events)
        around = np.union1d(around, places)
    return around if len(around) <= MOST_OTHERS else np.arange(places[0], places[-1] + 1)


def _of_its_key(places: Rows, others: Rows, anatomy: Anatomy, events: EventTable) -> Rows:
    """Those of some other events that have the key of a match."""
    for path in anatomy.query.keys:
        (key,) = column_at(events.at(places[:1], [path[0]]), path)
        of_others = column_at(events.at(others, [path[0]]), path)
        same = pc.equal(of_others, key) if key.is_valid else of_others.is_null()
        others = others[pc.fill_null(same, False).to_numpy(zero_copy_only=False)]
    return others


class _Search:
    """Looks for a match among its own events and some others."""

    def __init__(self, rows: tuple[int, ...], anatomy: Anatomy, events: EventTable) -> None:
        self.rows, self.anatomy, self.events = rows, anatomy, events
        self.match_places = np.sort(events.places(np.array(rows)))

    def hindering_row(self) -> int | None:
        if len(self.events) > MOST_OTHERS or not self._is_match_among(self.match_places[:0]):
            return None
        others = self._other_places()
        if self._is_match_among(others):
            return None
        return int(self.events.rows[self._ending_place(others)])

    def _other_places(self) -> Rows:
        """The places of the other events: those between and behind, then those before."""
        every = np.roll(np.arange(len(self.events)), -int(self.match_places[0]))
        return every[~np.isin(every, self.match_places)]

    def _ending_place(self, others: Rows) -> int:
        """The place of an event that ends the match when it is added to those before it."""
        there, gone = 0, len(others)
        while gone - there > 1:
            half = (there + gone) // 2
            there, gone = (half, gone) if self._is_match_among(others[:half]) else (there, half)
        return int(others[gone - 1])

    def _is_match_among(self, others: Rows) -> bool:
        part = self.events.part(np.sort(np.concatenate([self.match_places, others])))
        run = islice(matched(Run.of(self.anatomy.query, part)), MOST_MATCHES)
        return any(match.rows == self.rows for match in run)
