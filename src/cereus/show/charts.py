"""The charts of a run, as pages show them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from cereus.errors import CereusError
from cereus.matches import Matches
from cereus.query import Query
from cereus.show.located import located
from cereus.show.timeline import key_columns, matches_per_key, matches_per_time, timeline
from cereus.sources import Source

MOST_DRAWN = 30
"""The most matches that are drawn along time; more could not be distinguished."""
LEAST_COUNTED = 2
"""With fewer matches there is nothing to count by time or by key."""


@dataclass(frozen=True)
class RunChart:
    """A chart of altair, with its title and a note about it."""

    title: str
    chart: Any
    note: str = ""


def charts_of(query: Query, events: Source, matches: Matches) -> Iterator[RunChart]:
    """Charts of a run: the first matches, each from its first event on, and along time; how many
    there are when, and for which key. A chart without data is left out."""
    if not len(matches):
        return
    with suppress(CereusError):
        yield from _timelines(query, located(query, events, matches, MOST_DRAWN), matches)
    if len(matches) < LEAST_COUNTED:
        return
    with suppress(CereusError):
        yield RunChart("Matches per time", matches_per_time(matches))
    for key in key_columns(matches)[:1]:
        with suppress(CereusError):
            yield RunChart(f"Matches per {key}", matches_per_key(matches, key))


def _timelines(query: Query, shown: Matches, every: Matches) -> Iterator[RunChart]:
    time = query.compiled.stream.time
    note = f"The first {MOST_DRAWN} of {len(every):,} {called(every)}."
    note = note if len(every) > MOST_DRAWN else ""
    if len(shown.events()) > len(shown):  # else every match is one event
        aligned = timeline(shown, time=time, most=MOST_DRAWN, aligned=True)
        yield RunChart("From the first event of each match", aligned, note)
    yield RunChart("Along time", timeline(shown, time=time, most=MOST_DRAWN), note)


def called(matches: Matches) -> str:
    """The name of the rows of a run: some may be something else than matches, such as time-outs."""
    return matches.counts.called
