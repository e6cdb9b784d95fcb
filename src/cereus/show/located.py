"""Matches with the rows of their events, even if their query does not show these."""

from __future__ import annotations

from contextlib import suppress

from cereus.errors import CereusError
from cereus.matches import Matches
from cereus.query import Query
from cereus.sources import Source
from cereus.why.running.events import EventTable


def located(query: Query, events: Source, matches: Matches, most: int) -> Matches:
    """The first matches with their rows: as they are, if they have them; else found once more with
    a query that shows them."""
    with suppress(CereusError):
        first = matches.head(most)
        first.events()
        return first
    numbered = EventTable.of(events, query.stream).table
    anatomy = query.compiled.anatomy(numbered.schema)
    return Query(anatomy.bindings or anatomy.query).run(numbered).head(most)
