"""Why a query has few matches, or some events are no match, as HTML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from html import escape
from typing import TYPE_CHECKING

from cereus.syntax.literals import time_text
from cereus.why.answer import NOT_LOOKED_AT, SATISFYING, rest_words
from cereus.writing.expressible import shown_rows

if TYPE_CHECKING:
    from cereus.why.expected import ExpectedMatch
    from cereus.why.result import Miss, RuleEffect, StepCounts, Why

MOST_NAMED = 12
"""The most events of one miss that are named and listed; there may be thousands."""


NUMBER = ' class="number"'
TEXT = ' style="text-align:left"'
"""Notebooks align all cells to the right."""


def why_html(why: Why) -> str:
    parts = [
        f"<p><b>{escape(why.answer)}</b></p>",
        _table(("step", "what", "how many"), _step_rows(why), numbers=(2,)),
    ]
    effects = [_effect(effect) for effect in why.rules if effect.more or effect.note]
    if effects:
        parts += [
            "<h3>More matches without one rule</h3>",
            _table(("without the", "more matches"), effects, numbers=(1,)),
        ]
    if why.misses:
        rows = (_miss(number, miss) for number, miss in enumerate(why.misses, 1))
        parts += ["<h3>Nearest misses</h3>", _table(("miss", "rows", "what it misses"), rows)]
        parts += ["<h3>Their events</h3>", *_events(why)]
    parts += [f'<p class="note">{escape(note)}</p>' for note in why.notes]
    return "\n".join(parts)


def expected_html(expected: ExpectedMatch) -> str:
    rules = "".join(f"<li>{escape(str(each))}</li>" for each in expected.excluded)
    names = expected.events.column_names
    events = (
        [row, *(event[name] for name in names)]
        for row, event in zip(expected.rows, shown_rows(expected.events), strict=True)
    )
    shown = [f"<p><b>{escape(expected.title)}</b></p>", f"<ul>{rules}</ul>" if rules else ""]
    return "\n".join([*shown, _table(("row", *names), events)])


def _effect(effect: RuleEffect) -> tuple[str, str]:
    rule = f"{effect.kind} {effect.text}"
    if effect.more is None:
        return f"{rule}: {effect.note}", "?"
    return rule, f"{'' if effect.exact else '≥ '}{effect.more:,}"


def _events(why: Why) -> Iterator[str]:
    """The first events of every miss."""
    names, seen = why.events.column_names, Counter[int]()
    shown = []
    for row in shown_rows(why.events):
        seen[row["miss"]] += 1
        if seen[row["miss"]] <= MOST_NAMED:
            shown.append([row[name] for name in names])
    yield _table(names, shown)
    if len(shown) < why.events.num_rows:
        yield f'<p class="note">The first {MOST_NAMED} events of every miss.</p>'


def _step_rows(why: Why) -> Iterator[tuple[str, str, str]]:
    for number, step in enumerate(why.steps, 1):
        name = f"{number}. {step.name}"
        for what, count in _counts(step, rest_words(why, number - 1)):
            yield name, what, count
            name = ""


def _counts(step: StepCounts, rest: str) -> Iterator[tuple[str, str]]:
    """`rest` says what is known of those that are left."""
    if step.events is not None:
        yield step.counted, f"{step.events:,}"
    for text, count in step.conditions:
        yield f"of them with {text}", f"{count:,}"
    if len(step.conditions) > 1:
        yield f"events {SATISFYING}", f"{step.passed:,}"
    yield "events that reached this step", f"{step.reached:,}"
    ends = "partial matches that end with them"
    name = ends if step.partial >= step.reached else "partial matches that have them"
    yield name, f"{'' if step.exact else '≥ '}{step.partial:,}"
    for ended in step.ended:
        yield f"excluded by the {ended.kind} {ended.text}", f"{ended.events:,}"
    if step.rest:
        yield f"events {rest}", f"{step.rest:,}"
    if step.unseen:
        yield f"events {NOT_LOOKED_AT}", f"{step.unseen:,}"


def _miss(number: int, miss: Miss) -> tuple[int, str, str]:
    by = "" if miss.by is None else f": {miss.by}"
    return number, rows_text(miss.rows), f"the {miss.kind} {miss.text}{by}"


def rows_text(rows: Sequence[int]) -> str:
    """`3, 17, 20`; of many rows, the first."""
    more = f", … ({len(rows):,} in all)" if len(rows) > MOST_NAMED else ""
    return ", ".join(map(str, rows[:MOST_NAMED])) + more


def _table(
    heads: Iterable[str], rows: Iterable[Iterable[object]], numbers: tuple[int, ...] = ()
) -> str:
    """A table; `numbers` are the columns of numbers, which are aligned to the right."""

    def cells(kind: str, texts: Iterable[str]) -> str:
        return "".join(
            f"<{kind}{NUMBER if place in numbers else TEXT}>{text}</{kind}>"
            for place, text in enumerate(texts)
        )

    head = cells("th", map(escape, heads))
    body = "".join(f"<tr>{cells('td', map(_cell, row))}</tr>" for row in rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="scroll">{table}</div>'


def _cell(value: object) -> str:
    if isinstance(value, datetime):
        return escape(time_text(value))
    return "" if value is None else escape(str(value))
