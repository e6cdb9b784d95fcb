"""Finds the events that a loosened part of a query takes, where results do not name all events that
led to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cereus.language.anatomy import TAKEN, Loosened
from cereus.why.running.events import EventTable
from cereus.why.running.runs import FoundMatch, Run

TAKEN_HERE = ""
"""The variable of the event that a condition without variables is about."""


def with_taken(
    loosened: Loosened, matches: Sequence[FoundMatch], events: EventTable, most: int | None = None
) -> list[FoundMatch]:
    """Some matches of a query that lacks a rule, in the order of their rows, each with the last
    event that the loosened part has taken before it; `most` events are read, as they were to find
    the matches."""
    if loosened.marked is None or not matches:
        return list(matches)
    run = Run.of(loosened.marked, events, most=most, few=True)
    numbers, end = run.rows, max(match.rows[-1] for match in matches)
    taken: dict[int, int] = {}
    for row, last in loosened.marked.last_marked(run.results(), TAKEN):
        taken[int(numbers[row])] = int(numbers[last])
        if numbers[row] >= end:
            break
    return [_with(match, taken.get(match.rows[-1])) for match in matches]


def at_others(match: FoundMatch) -> str:
    """The rows beside its own at which a match is measured, as words after the measure."""
    return "".join(f" (row {row})" for row in led_to(match))


def led_to(match: FoundMatch) -> tuple[int, ...]:
    """The rows beside its own at which a match is measured."""
    return tuple(row for row in match.variables.get(TAKEN_HERE, ()) if row not in match.rows)


def _with(match: FoundMatch, taken: int | None) -> FoundMatch:
    return match if taken is None else replace(match, variables={TAKEN_HERE: [taken]})
