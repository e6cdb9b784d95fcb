"""How far partial matches came: each step counted with the query for the pattern up to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cereus.engine.match.counting_runner import AmbiguousCount
from cereus.errors import CereusError
from cereus.expr import tree as ex
from cereus.expr.print import condition_text
from cereus.language.anatomy import Loosened, QueryRule, RuleKind, Step
from cereus.language.compiled import CompiledQuery
from cereus.plan.tests import EventTest
from cereus.stream import Stream
from cereus.why.events import EventTable, Mask, Rows, Run
from cereus.why.result import Ended, StepCounts

MOST_LISTED = 500_000
"""Partial matches that are listed where they cannot be counted."""
MOST_UNBOUNDED = 100_000
"""Events that a query without any bound in time is tried on."""
ALWAYS = (RuleKind.NEGATION, RuleKind.WINDOW, RuleKind.STRATEGY)
"""Rules that work anew at every step."""


@dataclass(frozen=True)
class Tally:
    """The matches of a query: how many, and which events they end at."""

    total: int | float
    ends: Mask
    exact: bool = True


def step_counts(
    steps: tuple[Step, ...], stream: Stream, events: EventTable
) -> Iterator[StepCounts]:
    known: frozenset[QueryRule] = frozenset()
    reached = True
    for step in steps:
        tested = TestedStep(step, stream, events)
        tally = tally_of(step.query, events, step.column)
        loosened = step.query.anatomy(events.table.schema).loosened
        relevant = sorted(
            (each for each in loosened if _may_end(each.rule, known)),
            key=lambda each: each.rule.kind is RuleKind.WINDOW,  # last: it explains too much
        )
        left = tested.passed & ~tally.ends
        ended = tuple(_ended(left, relevant, step, events)) if reached else ()
        yield tested.counted(tally, ended, int(left.sum()))
        known = frozenset(each.rule for each in loosened)
        reached = bool(tally.ends.any())


def is_small(events: EventTable) -> bool:
    return len(events.rows) <= MOST_UNBOUNDED


def _may_end(rule: QueryRule, known: frozenset[QueryRule]) -> bool:
    """A rule may keep an event that passes all tests from being taken at this step: it is new
    here, and not about the event alone."""
    if rule.kind in ALWAYS:
        return True
    alone = rule.condition is not None and len(ex.variables(rule.condition)) < 2
    return rule not in known and not alone


def _ended(left: Mask, loosened: list[Loosened], step: Step, events: EventTable) -> Iterator[Ended]:
    """Each event is blamed on the first rule without which it would have been taken."""
    for each in loosened:
        if not left.any():
            return
        try:
            ends = tally_of(each.much, events, step.column).ends
        except CereusError:
            continue  # the pattern makes no sense without it, or needs more than the limits allow
        blamed = int((left & ends).sum())
        if blamed:
            yield Ended(each.rule.kind, each.rule.text, blamed)
        left = left & ~ends


# ---------------------------------------------------------------- counting matches


def tally_of(query: CompiledQuery, events: EventTable, column: str | None = None) -> Tally:
    """Count without listing where that is possible."""
    counting = query.counting() if column is None else None
    if counting is not None:
        with suppress(AmbiguousCount):
            return _counted(counting, events)
    return _listed(query, events, column)


def _counted(query: CompiledQuery, events: EventTable) -> Tally:
    ends, total = [np.zeros(0, np.int64)], 0.0
    run = Run.of(query, events)
    for batch in run.results():
        ends.append(batch.column("end").to_numpy())
        total += float(pc.sum(batch.column("count")).as_py() or 0)
    return Tally(int(total) if total < 2**53 else total, run.mask(ends))


def _listed(query: CompiledQuery, events: EventTable, column: str | None) -> Tally:
    ends, total = [np.zeros(0, np.int64)], 0
    shown = query.ending() if column is None else query
    run = Run.of(shown, events)
    for batch in run.results():
        rows = shown.rows_of(batch)
        total += int(pc.sum(pc.greater(pc.list_value_length(rows), 0)).as_py() or 0)
        ends.append(_last_rows(rows) if column is None else _all_rows(batch.column(column)))
        if total >= MOST_LISTED:
            return Tally(total, run.mask(ends), exact=False)
    return Tally(total, run.mask(ends))


def _all_rows(lists: pa.Array) -> Rows:
    rows: Rows = lists.flatten().to_numpy(zero_copy_only=False).astype(np.int64)
    return rows


def _last_rows(lists: pa.Array) -> Rows:
    """The last row of every list that has one."""
    rows, of = _all_rows(lists), lists.value_parent_indices().to_numpy()
    if not len(rows):
        return rows
    begins = np.flatnonzero(np.diff(of, prepend=-1))
    last: Rows = np.maximum.reduceat(rows, begins)
    return last


# ---------------------------------------------------------------- tests of single events


class TestedStep:
    """The events of a step's type, and those that pass its conditions."""

    __test__ = False  # not a pytest class

    def __init__(self, step: Step, stream: Stream, events: EventTable) -> None:
        self.step, self.events = step, events
        self.typed = np.zeros(len(events.rows), bool)
        self.passed = np.zeros(len(events.rows), bool)
        self.counts: dict[str, Mask] = {}
        for test in step.tests:
            self._add(test, stream)

    def _add(self, test: EventTest, stream: Stream) -> None:
        typed = self.events.passing(EventTest(test.type, test.stream), stream)
        passed = typed.copy()
        for condition in test.conditions:
            one = typed & self.events.satisfying(condition)
            text = condition_text(condition)
            self.counts[text] = self.counts.get(text, np.zeros(len(one), bool)) | one
            passed &= one
        self.typed |= typed
        self.passed |= passed

    def counted(self, tally: Tally, ended: tuple[Ended, ...], left: int) -> StepCounts:
        known = bool(self.step.tests)
        return StepCounts(
            self.step.name,
            int(self.typed.sum()) if known else None,
            tuple((text, int(passed.sum())) for text, passed in self.counts.items()),
            int(self.passed.sum()) if known else None,
            int(tally.ends.sum()),
            tally.total,
            tally.exact,
            ended,
            left - sum(each.events for each in ended),
        )
