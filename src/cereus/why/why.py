"""`why`: how far partial matches came, what ended them, and what missed by least."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import numpy as np
import pyarrow as pa

from cereus.language.anatomy import Anatomy, Loosened
from cereus.language.compiled import CompiledQuery
from cereus.sources import Source
from cereus.why.events import EventTable, matched
from cereus.why.expected import ExpectedMatch, expected
from cereus.why.misses import effects, nearest
from cereus.why.result import Miss, StepCounts, Why
from cereus.why.steps import step_counts, tally_of

FEW = 5_000
"""With more matches than this, nearest misses are not looked for."""
MOST_SHOWN = 5


def why(query: CompiledQuery, source: Source, *, most: int = MOST_SHOWN) -> Why:
    """Count the steps, and look for the `most` nearest misses."""
    events = EventTable.of(source, query.stream)
    anatomy = query.anatomy(events.table.schema)
    known = [each.rows for each in islice(matched(anatomy.query, events), FEW + 1)]
    steps = tuple(step_counts(anatomy.steps, query.stream, events))
    if len(known) > FEW:
        total = int(tally_of(anatomy.query, events).total)
        note = f"more than {FEW:,} matches: nearest misses are looked for where there are few"
        return Why(total, steps, (), (), _events_of((), events), (note,))
    helpful = _may_help(anatomy, steps, events)
    found = list(effects(helpful, frozenset(known), events, query.stream))
    misses = nearest(found, most)
    rules = tuple(effect.rule for effect in found)
    return Why(len(known), steps, rules, misses, _events_of(misses, events))


def _may_help(
    anatomy: Anatomy, steps: Sequence[StepCounts], events: EventTable
) -> tuple[Loosened, ...]:
    """The rules that may bring a match if they are loosened alone. Where nothing reaches a step,
    these are the rules of the pattern up to it: without any other, still nothing does."""
    dead = next((step for step, n in zip(anatomy.steps, steps, strict=True) if not n.reached), None)
    if dead is None or not anatomy.chain:
        return anatomy.loosened
    rules = {each.rule for each in dead.query.anatomy(events.table.schema).loosened}
    return tuple(each for each in anatomy.loosened if each.rule in rules)


def why_not(query: CompiledQuery, source: Source, rows: Sequence[int]) -> ExpectedMatch:
    """Why some events are no match."""
    return expected(query, rows, EventTable.of(source, query.stream), query.stream)


def _events_of(misses: Sequence[Miss], events: EventTable) -> pa.Table:
    """The events of the misses, beside the number of the miss and their rows."""
    numbers = [n for n, miss in enumerate(misses, 1) for _ in miss.rows]
    rows = np.array([row for miss in misses for row in miss.rows], np.int64)
    shown = events.of_rows(rows)
    columns = {"miss": pa.array(numbers, pa.int32()), "row": pa.array(rows)}
    for name in shown.column_names:
        columns[name if name not in columns else f"event_{name}"] = shown.column(name)
    return pa.table(columns)
