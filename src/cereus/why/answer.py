"""The answer to `why` in one sentence: what the counts come to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cereus.why.result import Ended, StepCounts, Why

MOST_NAMED = 80
"""Letters of a step's name that the answer has."""
SATISFYING = "that satisfy what this step asks of one event"
NOTHING_BEFORE = "that no partial match was waiting for"
NOT_LOOKED_AT = "that were not looked at"


def answer(why: Why) -> str:
    """How many matches there are; where there are none, what keeps them from coming; and the rule
    without which there would be most."""
    count = several(why.matches, "match", "matches")
    helpful = _most_helpful(why)
    if why.matches:
        return "; ".join(filter(None, [count, helpful]))
    reasons = "; ".join(filter(None, [_obstacle(why), helpful]))
    return f"{count}: {reasons}" if reasons else count


def _obstacle(why: Why) -> str | None:
    """The first step that every match goes through and nothing reaches, and what it lacks."""
    if why.unseen_types:
        return "; ".join(why.unseen_types)
    for number, step in enumerate(why.steps, 1):
        if not step.reached and not step.optional:
            return _lacking(step, f"step {number} ({_short(step.name)})")
    return None


def _short(name: str) -> str:
    return name if len(name) <= MOST_NAMED else f"{name[: MOST_NAMED - 1]}…"


def _lacking(step: StepCounts, place: str) -> str:
    if step.events == 0:
        return f"no event has the type of {place}" if step.typed else "there are no events"
    if step.passed == 0:
        failed = [text for text, count in step.conditions if not count]
        unmet = failed[0] if failed else "all of its conditions at once"
        return f"no event of {place} satisfies {unmet}"
    if step.ended:
        return f"no event reaches {place}, {_because(step.ended)}"
    if step.rest and not step.unseen:
        its = several(step.rest, "event", "events")
        return f"no event reaches {place}: no partial match was waiting for its {its}"
    return f"no event reaches {place}"


def _because(ended: Sequence[Ended]) -> str:
    """The rule that excludes most events; several, where these exclude as many."""
    most = max(each.events for each in ended)
    named = [f"the {each.kind} {each.text}" for each in ended if each.events == most]
    mostly = "mostly " if len(named) < len(ended) else ""
    return f"{mostly}because of {' and '.join(named)}"


def _most_helpful(why: Why) -> str | None:
    """The rule without which there are most matches; that there is none, where that is known."""
    best = max(why.rules, key=lambda rule: rule.more or 0, default=None)
    if best is None:
        return None
    if best.more:
        least = "" if best.exact else "at least "
        kind = "more" if why.matches else "match" if best.more == 1 else "matches"
        return f"without the {best.kind} {best.text} there would be {least}{best.more:,} {kind}"
    every = not why.untried and all(rule.more is not None and rule.exact for rule in why.rules)
    return "leaving out any one rule brings no match" if every and not why.matches else None


def several(count: int | float, one: str, many: str) -> str:
    """A number of things, in words."""
    return f"{count:,} {one if count == 1 else many}"
