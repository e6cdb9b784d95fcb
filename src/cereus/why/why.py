"""`why`: how far partial matches came, what ended them, and what missed by least."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import numpy as np
import pyarrow as pa

from cereus.language.anatomy import Anatomy, Loosened
from cereus.language.compiled import CompiledQuery
from cereus.notices import needed_types, types_in, unseen_types
from cereus.sources import Source
from cereus.why.events import EventTable
from cereus.why.expected import ExpectedMatch, expected
from cereus.why.misses import MOST_LOOKED_AT, Effect, effects, nearest
from cereus.why.result import Miss, StepCounts, Why
from cereus.why.runs import Run, matched
from cereus.why.steps import StepCounter, most_read, rarest
from cereus.why.tally import Tallies, Tally

FEW = 5_000
"""With more matches than this, nearest misses are not looked for."""
MOST_SHOWN = 5


def why(query: CompiledQuery, source: Source, *, most: int = MOST_SHOWN) -> Why:
    """Count the steps, and look for the `most` nearest misses."""
    read = sorted({path[0] for path in query.columns(source.schema)})
    keys = {path[0] for path in (*query.keys, *query.split(source.schema).keys)}
    events = EventTable.of(source, query.stream, read, keys)
    anatomy = query.anatomy(events.table.schema)
    tests = anatomy.query.tests(events.table.schema)
    events.test([*tests, *(test for step in anatomy.steps for test in step.tests)])
    tallies = Tallies(events)
    counter = StepCounter(anatomy, events, tallies)
    centres = rarest(anatomy, events)
    run = Run.of(anatomy.query, events, centres=centres)
    known = [each.rows for each in islice(matched(run), FEW + 1)]
    if len(known) <= FEW:
        counter.known = _ending(known, events)
    steps = tuple(counter.counts())
    total = _reported(anatomy, tallies, len(known))
    if len(known) > FEW:
        note = f"more than {FEW:,} matches: nearest misses are looked for where there are few"
        return Why(total, steps, (), (), _events_of((), events), (note,))
    helpful = _may_help(anatomy, steps, counter)
    found = list(effects(helpful, frozenset(known), events, centres))
    misses = nearest(found, most)
    rules = tuple(effect.rule for effect in found)
    notes = tuple(_notes(found, steps, events))
    unseen = _unseen_types(query, source, steps)
    return Why(total, steps, rules, misses, _events_of(misses, events), notes, unseen)


def _reported(anatomy: Anatomy, tallies: Tallies, found: int) -> int:
    """How many matches a run reports, of which some were found."""
    if not found:
        return 0
    if anatomy.reported is None and found <= FEW:
        return found
    return int(tallies.of(anatomy.reported or anatomy.query).total)


def _unseen_types(
    query: CompiledQuery, source: Source, steps: Sequence[StepCounts]
) -> tuple[str, ...]:
    """The types that no event has, with what may have been meant."""
    if all(step.events != 0 for step in steps):
        return ()
    needed = needed_types(query)
    return unseen_types(needed, types_in(source, query.stream.type, needed))


def _ending(matches: Sequence[tuple[int, ...]], events: EventTable) -> Tally:
    """Which events matches end at."""
    ends = np.zeros(len(events), bool)
    for rows in matches:
        ends[events.places(np.array(rows)).max()] = True
    return Tally(len(matches), ends)


def _may_help(
    anatomy: Anatomy, steps: Sequence[StepCounts], counter: StepCounter
) -> tuple[Loosened, ...]:
    """The rules that may bring a match if they are loosened alone. Where nothing reaches a step,
    these are the rules of the pattern up to it: without any other, still nothing does."""
    dead = next((number for number, step in enumerate(steps) if not step.reached), None)
    if dead is None or not anatomy.chain:
        return anatomy.loosened
    rules = {each.rule for each in counter.loosened(dead)}
    return tuple(each for each in anatomy.loosened if each.rule in rules)


def _notes(found: Sequence[Effect], steps: Sequence[StepCounts], events: EventTable) -> list[str]:
    notes = []
    if any(effect.cut for effect in found) or any(step.unseen for step in steps):
        notes.append(
            f"what is said of rules, and the nearest misses, are of the first {most_read(events):,}"
            f" of {len(events):,} events"
        )
    if any(effect.more for effect in found):
        notes.append(
            f"of a rule without which there are more, the nearest of the first {MOST_LOOKED_AT:,} "
            "are shown"
        )
    return notes


def why_not(query: CompiledQuery, source: Source, rows: Sequence[int]) -> ExpectedMatch:
    """Why some events are no match."""
    return expected(query, rows, EventTable.of(source, query.stream))


def _events_of(misses: Sequence[Miss], events: EventTable) -> pa.Table:
    """The events of the misses, beside the number of the miss and their rows."""
    numbers = [n for n, miss in enumerate(misses, 1) for _ in miss.rows]
    rows = np.array([row for miss in misses for row in miss.rows], np.int64)
    shown = events.of_rows(rows)
    columns = {"miss": pa.array(numbers, pa.int32()), "row": pa.array(rows)}
    for name in shown.column_names:
        columns[name if name not in columns else f"event_{name}"] = shown.column(name)
    return pa.table(columns)
