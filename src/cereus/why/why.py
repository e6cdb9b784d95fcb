"""`why`: how far partial matches came, what ended them, and the nearest misses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from math import isfinite

import numpy as np
import pyarrow as pa

from cereus.engine.interrupts import bounded, too_many_steps
from cereus.language.anatomy import Anatomy, Loosened, RuleKind
from cereus.language.compiled import CompiledQuery
from cereus.notices import needed_types, types_in, unseen_types
from cereus.plan.tests import EventTest
from cereus.sources import Source
from cereus.why.choice import choice
from cereus.why.expected import ExpectedMatch, expected
from cereus.why.in_the_way import ABOUT_OTHERS, in_the_way, stands_in_the_way
from cereus.why.misses import (
    MOST_LOOKED_AT,
    Effect,
    Effects,
    EventConditions,
    ending,
    nearest,
)
from cereus.why.result import Miss, StepCounts, Why
from cereus.why.running.events import EventTable
from cereus.why.running.runs import Run, matched
from cereus.why.running.tally import Tallies
from cereus.why.steps import StepCounter, most_read, rarest

FEW = 5_000
"""With more matches than this, nearest misses are not looked for."""
MOST_WORK, LEAST_WORK, MORE_WORK = 2_048, 256, 5
"""Limits on calls of `look_up`, one in about a million steps: for the run that is explained, and
for all others together: LEAST_WORK, plus MORE_WORK times what that run has used."""


def why(query: CompiledQuery, source: Source, *, most: int) -> Why:
    """Count the steps, and look for the `most` nearest misses."""
    read = sorted(query.columns_beside_tests(source.schema))
    keys = {path[0] for path in (*query.keys, *query.split(source.schema).keys)}
    events = EventTable.of(source, query.stream, read, keys)
    anatomy = query.anatomy(events.schema)
    tests: Sequence[EventTest] = anatomy.query.tests(events.schema)
    tests = [*tests, *(test for step in anatomy.steps for test in step.tests)]
    events.test(tests)
    centres = rarest(anatomy, events)
    with bounded(MOST_WORK) as work:
        run = Run.of(anatomy.query, events, centres=centres)
        known = list(islice(matched(run), FEW + 1))
        total = _reported(anatomy, events, len(known))
    few = len(known) <= FEW
    with bounded(LEAST_WORK + MORE_WORK * work.done):
        counter = StepCounter(anatomy, events, ending(known, events) if few else None)
        chosen = choice(anatomy, _may_help(anatomy, counter) if few else (), events, counter.most)
        if chosen.others:
            counter.tried = frozenset(each.rule for each in chosen.tried)
        conditions = EventConditions(anatomy, tests, events)
        loose = Effects(events, frozenset(each.rows for each in known), centres, conditions)
        by_rule = {each: loose.of(each) for each in chosen.tried}
        steps = tuple(counter.counts({each: effect.tally for each, effect in by_rule.items()}))
    effects = list(by_rule.values())
    with bounded(LEAST_WORK):
        misses = _with_hindrances(nearest(effects, most), anatomy, events)
    return Why(
        total,
        steps,
        tuple(effect.rule for effect in effects),
        misses,
        _events_of(misses, events),
        tuple(filter(None, [chosen.note(), *_notes(effects, counter, steps, few=few)])),
        _unseen_types(query, source, anatomy, steps),
        chosen.others + sum(effect.rule.more is None for effect in effects),
    )


def _reported(anatomy: Anatomy, events: EventTable, count: int) -> int | float:
    """How many matches a run reports, given how many were found; infinity beyond all floats."""
    if anatomy.empty:
        rows: int = sum(batch.num_rows for batch in Run.of(anatomy.query, events).results())
        return rows
    if not count:
        return 0
    if anatomy.reported is None and count <= FEW:
        return count
    counted = Tallies(events).of(anatomy.reported or anatomy.query)
    if counted.stopped:
        raise too_many_steps()
    return int(counted.total) if isfinite(counted.total) else counted.total


def _unseen_types(
    query: CompiledQuery, source: Source, anatomy: Anatomy, counts: Sequence[StepCounts]
) -> tuple[str, ...]:
    """The types that every match needs and no event has, with what may have been meant; or that
    there are no events at all."""
    if not source.num_rows:
        return ("there are no events",)
    pairs = zip(anatomy.steps, counts, strict=True)
    lacking = [step for step, count in pairs if count.events == 0 and not step.optional]
    types = {test.type for step in lacking for test in step.tests}
    needed = {each for each in needed_types(query) if each in types}
    return unseen_types(needed, types_in(source, query.stream.type, needed)) if needed else ()


def _may_help(anatomy: Anatomy, counter: StepCounter) -> tuple[Loosened, ...]:
    """The rules that may bring a match if they alone are loosened. If nothing reaches a step, these
    are the rules of the pattern up to it: loosening any other one would not help."""
    if counter.dead is None or not anatomy.chain:
        return anatomy.loosened
    rules = {each.rule for each in counter.loosened(counter.dead)}
    return tuple(each for each in anatomy.loosened if each.rule in rules)


def _notes(
    effects: Sequence[Effect], counter: StepCounter, steps: Sequence[StepCounts], *, few: bool
) -> Iterator[str]:
    events = counter.events
    stopped = [n for n, tally in enumerate(counter.reached, 1) if tally.stopped]
    if stopped:
        listed = ", ".join(map(str, stopped))
        yield f"to count step {listed} completely would take too long: there are at least so many"
    if not few:
        yield f"nearest misses are looked for where there are at most {FEW:,} matches"
    elif any(effect.until is not None for effect in effects) or any(step.unseen for step in steps):
        yield (
            "rules were left out, and nearest misses looked for, in a part of the stream: for each "
            f"rule the first {most_read(events):,} of {len(events):,} events that may matter to it"
        )
    if any(effect.more for effect in effects):
        yield (
            f"where leaving out a rule brings more than {MOST_LOOKED_AT:,} matches, nearest misses "
            f"are chosen from the first {MOST_LOOKED_AT:,}"
        )


def _with_hindrances(
    misses: Sequence[Miss], anatomy: Anatomy, events: EventTable
) -> tuple[Miss, ...]:
    """The misses. Where a rule is about other events, the nearest of each rule names the event that
    stands in the way."""
    seen: set[tuple[RuleKind, str]] = set()
    named = []
    for miss in misses:
        first = (miss.kind, miss.text) not in seen
        seen.add((miss.kind, miss.text))
        known = miss.by is not None or miss.kind not in ABOUT_OTHERS or not first
        row = None if known else in_the_way(miss.rows, anatomy, events)
        if row is not None:
            miss = replace(miss, by=stands_in_the_way(row), led=(row,))
        named.append(miss)
    return tuple(named)


def why_not(query: CompiledQuery, source: Source, rows: Sequence[int]) -> ExpectedMatch:
    """Why some events are no match."""
    with bounded(MOST_WORK):
        return expected(query, rows, EventTable.of(source, query.stream))


def _events_of(misses: Sequence[Miss], events: EventTable) -> pa.Table:
    """The events of the misses, beside the number of the miss and their rows."""
    every = [sorted({*miss.led, *miss.rows}) for miss in misses]
    numbers = [n for n, rows_of_miss in enumerate(every, 1) for _ in rows_of_miss]
    rows = np.array([row for rows_of_miss in every for row in rows_of_miss], np.int64)
    shown = events.of_rows(rows)
    columns = {"miss": pa.array(numbers, pa.int32()), "row": pa.array(rows)}
    for name in shown.column_names:
        columns[name if name not in columns else f"event_{name}"] = shown.column(name)
    return pa.table(columns)
