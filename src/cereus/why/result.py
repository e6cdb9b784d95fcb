"""The results of `why`: as objects, as a table, as text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cereus.language.anatomy import RuleKind
from cereus.syntax.literals import time_text
from cereus.why.answer import NOT_LOOKED_AT, SATISFYING, answer, rest_words, several
from cereus.why.html import MOST_NAMED, rows_text, why_html
from cereus.writing.expressible import shown_rows
from cereus.writing.json_text import finite


@dataclass(frozen=True)
class Ended:
    """Events that would have been taken here without one rule."""

    kind: RuleKind
    text: str
    events: int


@dataclass(frozen=True)
class StepCounts:
    """How far partial matches came.

    events      those of the step's type; None where it reads the results of another query
    typed       it has a type: else `events` are all there are
    optional    a match may go without an event here
    meant       the text that was probably meant, where no event has the one that a condition asks
                for
    conditions  how many of them pass each condition on a single event
    passed      how many pass all of these
    reached     events that were taken here, at the end of some partial match; of a row pattern,
                all rows that its preferred partial matches take here
    partial     partial matches that end here; `exact` is False where there are at least so many
    ended       of the events that passed and were not taken: which rule excludes them; the window,
                if one that is 16 times as wide would have let them in
    rest        those that no partial match was waiting for, or that are excluded by more than one
                rule, or that are far outside the window
    unseen      and those behind the part of a long stream in which that was looked at

    `passed` is `reached`, `ended`, `rest` and `unseen` together.
    """

    name: str
    events: int | None
    conditions: tuple[tuple[str, int], ...]
    passed: int | None
    reached: int
    partial: int | float
    exact: bool
    ended: tuple[Ended, ...]
    rest: int
    unseen: int = 0
    typed: bool = True
    optional: bool = False
    meant: str | None = None

    @property
    def counted(self) -> str:
        """What `events` are, in words."""
        return "events of its type" if self.typed else "events in all"


@dataclass(frozen=True)
class RuleEffect:
    """How many more matches there are without one rule; `exact` is False if there are at least this
    many. `more` is None if it could not be tried, for the reason in `note`."""

    kind: RuleKind
    text: str
    more: int | None
    exact: bool = True
    note: str | None = None


@dataclass(frozen=True)
class Miss:
    """Events that would be a match without one rule. `by` says by how much they miss it, if that
    can be measured; `amount` is the same as a number, relative to what the rule demands. `led` are
    the rows that fail the rule, if a match does not name them: for a program, what it took before
    it notified."""

    rows: tuple[int, ...]
    kind: RuleKind
    text: str
    by: str | None = None
    amount: float | None = None
    led: tuple[int, ...] = ()


@dataclass(frozen=True)
class Why:
    """Why a query has as many matches as it has: `print` it, or read its parts.

    `events` has the events of the misses, a row each, beside the number of their miss.
    `unseen_types` says which types of the query no event has, and what may have been meant; or that
    there are no events.
    `untried` is how many rules were not left out: because there are many, or because the query
    without one of them takes too many steps, or makes no sense.
    """

    matches: int | float
    steps: tuple[StepCounts, ...]
    rules: tuple[RuleEffect, ...]
    misses: tuple[Miss, ...]
    events: pa.Table
    notes: tuple[str, ...] = ()
    unseen_types: tuple[str, ...] = ()
    untried: int = 0

    @property
    def answer(self) -> str:
        """How many matches there are, and what keeps others from coming, in one sentence."""
        return answer(self)

    @property
    def table(self) -> pa.Table:
        """All counts, one a row: which step, what was counted, and how many."""
        return pa.Table.from_pylist(list(self._rows()), TABLE)

    def _rows(self) -> Iterator[dict[str, Any]]:
        for number, step in enumerate(self.steps, 1):
            first = {"step": number, "name": step.name}
            if step.events is not None:
                yield {**first, "what": "events", "count": step.events}
            for text, count in step.conditions:
                yield {**first, "what": "passed", "kind": "condition", "text": text, "count": count}
            if step.passed is not None:
                yield {**first, "what": "passed", "count": step.passed}
            yield {**first, "what": "reached", "count": step.reached}
            yield {**first, "what": "partial", "count": step.partial}
            for ended in step.ended:
                summary = {"kind": str(ended.kind), "text": ended.text, "count": ended.events}
                yield {**first, "what": "ended", **summary}
            yield {**first, "what": "rest", "count": step.rest}
            if step.unseen:
                yield {**first, "what": "unseen", "count": step.unseen}
        for effect in self.rules:
            if effect.more is not None:
                summary = {"kind": str(effect.kind), "text": effect.text, "count": effect.more}
                yield {"what": "more without", **summary}
        yield {"what": "matches", "count": self.matches}

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, as `cereus why --json` writes it."""
        described: dict[str, Any] = {
            "answer": self.answer,
            "matches": self.matches,
            "steps": [_plain(step) for step in self.steps],
            "rules": [asdict(effect) for effect in self.rules],
            "untried": self.untried,
            "misses": [
                {**asdict(miss), "events": self._events_of(number)}
                for number, miss in enumerate(self.misses, 1)
            ],
            "notes": list(self.notes),
        }
        return finite(described)  # type: ignore[no-any-return]

    def _events_of(self, number: int) -> list[dict[str, Any]]:
        events = self.events.filter(pc.equal(self.events["miss"], number))
        return shown_rows(events.drop_columns(["miss"]))

    def __str__(self) -> str:
        return "\n".join(_lines(self))

    def _repr_html_(self) -> str:
        return why_html(self)


def _plain(step: StepCounts) -> dict[str, Any]:
    conditions = [{"text": text, "passed": count} for text, count in step.conditions]
    return {**asdict(step), "conditions": conditions}


TABLE = pa.schema(
    {
        "step": pa.int32(),
        "name": pa.string(),
        "what": pa.string(),
        "kind": pa.string(),
        "text": pa.string(),
        "count": pa.float64(),
    }
)


# ---------------------------------------------------------------- as text


def _lines(why: Why) -> Iterator[str]:
    yield why.answer
    for number, step in enumerate(why.steps, 1):
        yield ""
        yield f"step {number}  {step.name}"
        rest = rest_words(why, number - 1)
        yield from (f"  {line}" for line in _step_lines(step, rest))
    effects = [effect for effect in why.rules if effect.more or effect.note]
    if effects:
        yield ""
        yield "more matches without one rule"
        yield from (f"  {_effect_line(effect)}" for effect in effects)
    if why.misses:
        yield ""
        yield "nearest misses"
        yield from _miss_lines(why)
    for note in why.notes:
        yield ""
        yield f"note: {note}"


def _step_lines(step: StepCounts, rest: str) -> Iterator[str]:
    """`rest` says what is known of those that are left."""
    if step.events is not None:
        yield f"{step.events:>12,}  {step.counted}"
    for text, count in step.conditions:
        yield f"{count:>12,}  of them with {text}"
    if len(step.conditions) > 1:
        yield f"{step.passed:>12,}  {SATISFYING}"
    least = "" if step.exact else "at least "
    partial = several(step.partial, "partial match", "partial matches")
    inside = "at the end of" if step.partial >= step.reached else "in"
    ends = f", {inside} {least}{partial}" if step.partial else ""
    yield f"{step.reached:>12,}  reached this step{ends}"
    for ended in step.ended:
        yield f"{ended.events:>12,}  excluded by the {ended.kind} {ended.text}"
    if step.rest:
        yield f"{step.rest:>12,}  {rest}"
    if step.unseen:
        yield f"{step.unseen:>12,}  {NOT_LOOKED_AT}"


def _effect_line(effect: RuleEffect) -> str:
    if effect.more is None:
        return f"{'?':>12}  without the {effect.kind} {effect.text}: {effect.note}"
    more = f"{effect.more:,}" if effect.exact else f"at least {effect.more:,}"
    return f"{more:>12}  without the {effect.kind} {effect.text}"


def _miss_lines(why: Why) -> Iterator[str]:
    shown = shown_rows(why.events)
    for number, miss in enumerate(why.misses, 1):
        by = "" if miss.by is None else f": {miss.by}"
        rows = rows_text(miss.rows)
        miss_it = f"row {rows} misses" if len(miss.rows) == 1 else f"rows {rows} miss"
        yield f"  {number}  {miss_it} the {miss.kind} {miss.text}{by}"
        events = [event for event in shown if event["miss"] == number]
        yield from (f"       {_event_text(event)}" for event in events[:MOST_NAMED])
        if len(events) > MOST_NAMED:
            yield f"       … {len(events) - MOST_NAMED:,} more events"


def _event_text(event: dict[str, Any]) -> str:
    values = {name: value for name, value in event.items() if name not in ("miss", "row")}
    shown = (
        f"{name}={time_text(value) if isinstance(value, datetime) else value}"
        for name, value in values.items()
    )
    return f"{event['row']}  " + ", ".join(shown)
