"""Why a query has few matches, as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cereus.why.result import Miss, StepCounts, Why


MOST_EVENTS = 60
"""Events of misses that are listed; of one miss there may be thousands."""
MOST_NAMED = 12
"""Rows of one miss that are named."""


def why_html(why: Why) -> str:
    parts = [
        f"<p><b>{escape(why.answer)}</b></p>",
        _table(("step", "what", "how many"), _step_rows(why.steps)),
    ]
    effects = [
        (f"{effect.kind} {effect.text}", f"{'' if effect.exact else '≥ '}{effect.more:,}")
        for effect in why.rules
        if effect.more
    ]
    if effects:
        parts += ["<h3>Without one rule</h3>", _table(("rule", "more matches"), effects)]
    if why.misses:
        parts += ["<h3>Nearest misses</h3>", _table(("rows", "misses"), map(_miss, why.misses))]
        names = why.events.column_names
        shown = why.events.slice(0, MOST_EVENTS).to_pylist()
        rows = ([row[name] for name in names] for row in shown)
        parts += ["<h3>Their events</h3>", _table(names, rows)]
        if len(shown) < why.events.num_rows:
            parts.append(f'<p class="note">The first of {why.events.num_rows:,} events.</p>')
    parts += [f'<p class="note">{escape(note)}</p>' for note in why.notes]
    return "\n".join(parts)


def _step_rows(steps: Iterable[StepCounts]) -> Iterator[tuple[str, str, str]]:
    for number, step in enumerate(steps, 1):
        name = f"{number}. {step.name}"
        for what, count in _counts(step):
            yield name, what, count
            name = ""


def _counts(step: StepCounts) -> Iterator[tuple[str, str]]:
    if step.events is not None:
        yield step.counted, f"{step.events:,}"
    for text, count in step.conditions:
        yield f"of them with {text}", f"{count:,}"
    if len(step.conditions) > 1:
        yield "with all of that", f"{step.passed:,}"
    yield "events that end a partial match here", f"{step.reached:,}"
    yield "partial matches", f"{'' if step.exact else '≥ '}{step.partial:,}"
    for ended in step.ended:
        yield f"ended by the {ended.kind} {ended.text}", f"{ended.events:,}"
    if step.rest:
        yield "with nothing that they could continue", f"{step.rest:,}"
    if step.unseen:
        yield "later in the stream, of which that was not asked", f"{step.unseen:,}"


def _miss(miss: Miss) -> tuple[str, str]:
    by = "" if miss.by is None else f": {miss.by}"
    rows = ", ".join(map(str, miss.rows[:MOST_NAMED]))
    more = f", … {len(miss.rows):,} in all" if len(miss.rows) > MOST_NAMED else ""
    return f"{rows}{more}", f"the {miss.kind} {miss.text}{by}"


def _table(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(f'<td>{_cell(cell)}</td>' for cell in row)}</tr>" for row in rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="scroll">{table}</div>'


def _cell(value: object) -> str:
    return "" if value is None else escape(str(value))
