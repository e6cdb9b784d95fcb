"""Explains one expected match: which rules of the query exclude it.

The match is looked for three times, among more and more events: alone, then with the events that
lie between its own, then with all. Where it is lost, the rules that exclude it are those without
which it is found: one that is enough, else two, else all; then as many as possible are put back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pyarrow as pa

from cereus.engine.interrupts import sharing
from cereus.errors import CereusError, LimitError
from cereus.expr import tree as ex
from cereus.expr.paths import column_at
from cereus.language.anatomy import Anatomy, QueryRule, RuleKind
from cereus.language.compiled import CompiledQuery
from cereus.why.html import expected_html
from cereus.why.in_the_way import ABOUT_OTHERS, in_the_way, stands_in_the_way
from cereus.why.loose import loosened_alone, without
from cereus.why.measure import measure, value_text
from cereus.why.running.events import EventTable, Rows
from cereus.why.running.runs import FoundMatch, Run, matched
from cereus.why.running.taken import at_others, with_taken
from cereus.why.running.tally import SHARES
from cereus.why.size import check_work
from cereus.why.steps import TestedStep
from cereus.writing.expressible import shown_rows
from cereus.writing.json_text import finite

MOST_LISTED = 200_000
"""The most matches of a loosened query among which the expected one is looked for."""
MOST_KEYS = 5
"""The most keys of the events of one expected match that are listed."""
MOST_PAIRS = 120
"""The most pairs of rules that are left out; if there are more, no pair is."""


@dataclass(frozen=True)
class Excluded:
    """A rule that excludes a match, and by how much the match misses it."""

    kind: RuleKind
    text: str
    by: str | None = None

    def __str__(self) -> str:
        return f"the {self.kind} {self.text}" + ("" if self.by is None else f": {self.by}")


@dataclass(frozen=True)
class ExpectedMatch:
    """Why some events are no match, or that they are one.

    matched    they are a match
    excluded   the rules that exclude them: without all of these, they are a match
    reason     in words
    """

    rows: tuple[int, ...]
    matched: bool
    excluded: tuple[Excluded, ...]
    reason: str
    events: pa.Table

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, as `cereus why --json` writes it."""
        return {
            "rows": list(self.rows),
            "matched": self.matched,
            "excluded": [asdict(each) for each in self.excluded],
            "reason": self.reason,
            "events": finite(shown_rows(self.events)),
        }

    @property
    def title(self) -> str:
        """The rows, and the reason."""
        rows = f"row{'s' * (len(self.rows) > 1)} {', '.join(map(str, self.rows))}"
        return f"{rows}: {self.reason}"

    def __str__(self) -> str:
        return "\n".join([self.title, *(f"  {each}" for each in self.excluded)])

    def _repr_html_(self) -> str:
        return expected_html(self)


ALONE = ""
BETWEEN = "the events between"
AROUND = "the events before and behind"


def expected(query: CompiledQuery, rows: Iterable[int], events: EventTable) -> ExpectedMatch:
    given = list(rows) if isinstance(rows, Iterable) else [None]
    if not all(isinstance(row, int | np.integer) for row in given):
        raise CereusError("the rows of a match are whole numbers", hint="write [3, 17, 20]")
    wanted = tuple(sorted(set(map(int, given))))
    _check(wanted, events)
    keys = _keys(query, wanted, events)
    if len(keys) > 1 and (unkeyed := query.unkeyed()) is not None:
        return _in_several_keys(query, keys, expected(unkeyed, wanted, events.in_order()))
    anatomy = query.anatomy(events.schema)
    shown = events.of_rows(np.array(wanted))
    if _is_reported(anatomy, wanted, events):
        return ExpectedMatch(wanted, True, (), _is_one(wanted), shown)
    for part, where in among(wanted, events, anatomy):
        if not _is_match(anatomy.query, wanted, part):
            excluded, reason = _blamed(anatomy, wanted, part, where)
            return ExpectedMatch(wanted, False, excluded, reason, shown)
    return ExpectedMatch(wanted, True, (), _is_one(wanted), shown)


def _is_one(rows: tuple[int, ...]) -> str:
    return "it is a match" if len(rows) == 1 else "they are a match"


def _check(rows: tuple[int, ...], events: EventTable) -> None:
    if not rows:
        raise CereusError("no rows were given", hint="write the rows of a match: 3,17,20")
    wanted, count = np.array(rows), len(events)
    missing = wanted[~events.have(wanted)].tolist()
    if missing:
        hint = f"rows are numbered from 0 to {count - 1}" if count else "there are no events"
        if events.stream.where is not None:
            hint = f"only events where {events.stream.where} are in the stream"
        raise CereusError(f"there is no row {missing[0]}", hint=hint)


def _keys(query: CompiledQuery, rows: tuple[int, ...], events: EventTable) -> list[str]:
    """The keys of some rows, in words: each once."""
    shown = events.of_rows(np.array(rows))
    columns = {".".join(path): column_at(shown, path) for path in query.keys}
    every = [", ".join(map(_key_text, row.values())) for row in shown_rows(pa.table(columns))]
    return list(dict.fromkeys(every))


def _key_text(value: Any) -> str:
    return value_text(value + 0.0 if isinstance(value, float) else value)  # -0.0 is 0.0


def _in_several_keys(
    query: CompiledQuery, keys: Sequence[str], unkeyed: ExpectedMatch
) -> ExpectedMatch:
    """The answer for events of several keys, given that of the query without keys."""
    if not unkeyed.matched and not unkeyed.excluded:
        return unkeyed
    names = ", ".join(".".join(path) for path in query.keys)
    by = " and ".join(f"({key})" if len(query.keys) > 1 else key for key in keys[:MOST_KEYS])
    more = f" and {len(keys) - MOST_KEYS:,} more" if len(keys) > MOST_KEYS else ""
    excluded = (Excluded(RuleKind.KEY, names, by + more), *unkeyed.excluded)
    reason = f"no match: {_how_many(excluded)} them"
    return replace(unkeyed, matched=False, excluded=excluded, reason=reason)


def among(
    rows: tuple[int, ...], events: EventTable, anatomy: Anatomy
) -> Iterator[tuple[EventTable, str]]:
    """More and more events among which the expected match is looked for, and what was added."""
    places = np.sort(events.places(np.array(rows)))
    if anatomy.complete:
        yield events.part(places), ALONE
        yield events.part(np.arange(places[0], places[-1] + 1)), BETWEEN
    yield _around(places, events, anatomy), AROUND if anatomy.complete else ALONE


def _around(places: Rows, events: EventTable, anatomy: Anatomy) -> EventTable:
    """All events that may decide about a match with the events at these places."""
    stretches = events.around(places, anatomy.query.span(events.schema))
    if stretches is not None:
        begins, ends = stretches
        return events.part(np.arange(begins[0], ends[-1]))
    return events if anatomy.query.emits_late else events.part(np.arange(places[-1] + 1))


def _is_reported(anatomy: Anatomy, rows: tuple[int, ...], events: EventTable) -> bool:
    """Whether a run reports these rows, where it reports parts of matches; False if there are too
    many matches to tell."""
    if anatomy.reported is None:
        return False
    places = np.sort(events.places(np.array(rows)))
    return _is_listed(anatomy.reported, rows, _around(places, events, anatomy)) is True


def _is_match(query: CompiledQuery, rows: tuple[int, ...], events: EventTable) -> bool:
    listed = _is_listed(query, rows, events)
    if listed is None:
        raise CereusError(
            f"the first {MOST_LISTED:,} matches do not have these events",
            hint="look at fewer events, or at a shorter window",
        )
    return listed


def _is_listed(query: CompiledQuery, rows: tuple[int, ...], events: EventTable) -> bool | None:
    """Whether rows are a match; None if they are not one of the first of very many."""
    for number, match in enumerate(matched(Run.of(query, events))):
        if match.rows == rows:
            return True
        if number > MOST_LISTED:
            return None
    return False


def _blamed(
    anatomy: Anatomy, rows: tuple[int, ...], events: EventTable, where: str
) -> tuple[tuple[Excluded, ...], str]:
    rules = [each.rule for each in anatomy.loosened]
    check_work(anatomy.query, len(rules), len(events), events.schema)
    blamed = _fewest(anatomy, rules, rows, events)
    if blamed is None:
        return (), _misfit(anatomy, rows, events)
    excluded = tuple(_measured(rule, anatomy, blamed, rows, events) for rule in blamed)
    they, them = ("it", "it") if len(rows) == 1 else ("they", "them")
    alone = f"; without {where} {them}, {they} would be a match" if where else ""
    return excluded, f"no match: {_how_many(excluded)} {them}{alone}"


def _how_many(rules: Sequence[Excluded]) -> str:
    return "one rule excludes" if len(rules) == 1 else f"{len(rules)} rules exclude"


def _fewest(
    anatomy: Anatomy, rules: Sequence[QueryRule], rows: tuple[int, ...], events: EventTable
) -> Sequence[QueryRule] | None:
    """A few rules without which the events are a match: one; else two, if there are few pairs; else
    as few as are left after others are put back."""
    wanted = _Wanted(anatomy, rows, events)
    limit: LimitError | None = None
    for few in _tried(rules):
        try:
            if wanted.is_match_without(few):
                return _put_back(few, wanted)
        except LimitError as reached:
            limit = reached
    if limit is not None:
        raise limit  # a rule that was not tried may be the one
    return None


def _tried(rules: Sequence[QueryRule]) -> Iterator[Sequence[QueryRule]]:
    """The rules that are left out: one, two, all. If there are many rules, all at once: planning
    the query without each of them would take too long."""
    if comb(len(rules), 2) <= MOST_PAIRS:
        yield from combinations(rules, 1)
        yield from combinations(rules, 2)
    yield rules


def _put_back(few: Sequence[QueryRule], wanted: _Wanted) -> Sequence[QueryRule]:
    """As few rules as possible without which the events are a match: half of them are put back if
    that does no harm, then fewer and fewer at once."""
    few, size = list(few), len(few) // 2
    while size:
        begin = 0
        while begin < len(few):
            fewer = few[:begin] + few[begin + size :]
            if fewer and wanted.is_known_without(fewer):
                few = fewer
            else:
                begin += size
        size //= 2
    return few


@dataclass(frozen=True)
class _Wanted:
    """The events that may be a match of a query without some of its rules."""

    anatomy: Anatomy
    rows: tuple[int, ...]
    events: EventTable

    def is_match_without(self, rules: Sequence[QueryRule]) -> bool:
        try:
            with sharing(SHARES):
                return _is_match(self._without(rules), self.rows, self.events)
        except LimitError:
            raise
        except CereusError:
            return False  # the pattern makes no sense without them

    def is_known_without(self, rules: Sequence[QueryRule]) -> bool:
        """Whether the events are known to be a match without these rules."""
        with suppress(LimitError):
            return self.is_match_without(rules)
        return False

    def _without(self, rules: Sequence[QueryRule]) -> CompiledQuery:
        """The query without some rules; without one rule, it was already made."""
        made = [each for each in self.anatomy.loosened if each.rule in rules]
        if len(rules) == len(made) == 1:
            return made[0].without
        return without(self.anatomy.query, rules, self.events.schema)


def _measured(
    rule: QueryRule,
    anatomy: Anatomy,
    left_out: Sequence[QueryRule],
    rows: tuple[int, ...],
    events: EventTable,
) -> Excluded:
    schema = events.schema
    loose = without(anatomy.query, left_out, schema)
    shown = loose.anatomy(schema).bindings or loose
    names = () if rule.condition is None else ex.variables(rule.condition)
    by: str | None = None
    for number, match in enumerate(matched(Run.of(shown, events), names)):
        if match.rows == rows or number > MOST_LISTED:
            missed = [FoundMatch(rows, match.variables)]
            loosened = loosened_alone(anatomy.query, rule, left_out, schema)
            if loosened is not None:
                missed = with_taken(loosened, missed, events)
            distance = measure(rule, missed, events)
            measured = None if distance is None else distance.at(0)
            by = None if measured is None else measured.text + at_others(missed[0])
            break
    if by is None and rule.kind in ABOUT_OTHERS:
        row = in_the_way(rows, anatomy, events)
        by = None if row is None else stands_in_the_way(row)
    return Excluded(rule.kind, rule.text, by)


def _misfit(anatomy: Anatomy, rows: tuple[int, ...], events: EventTable) -> str:
    """The text for events that are not a match without any of the rules: they do not have the shape
    of the pattern."""
    alone = events.part(events.places(np.array(rows)))
    fitting = [
        alone.tested.events(TestedStep(step, alone).typed) for step in anatomy.steps if step.tests
    ]
    if fitting:
        unfit = [
            row for row, fits in zip(alone.rows, np.any(fitting, axis=0), strict=True) if not fits
        ]
        if unfit:
            listed = ", ".join(map(str, unfit))
            return f"no match: the pattern has no place for row{'s' * (len(unfit) > 1)} {listed}"
    if anatomy.prefers:
        return (
            "no match: the pattern prefers other rows, or asks for another order or number of rows"
        )
    return "no match: the pattern asks for other types, another order or another number of events"
