"""The answer of `why` in one sentence: a summary of the counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cereus.language.anatomy import RuleKind

if TYPE_CHECKING:
    from cereus.why.result import Ended, StepCounts, Why

MOST_NAMED = 80
"""The most letters of a step's name in the answer."""
SATISFYING = "that satisfy what this step asks of one event"
NOT_LOOKED_AT = "that were not looked at"


def answer(why: Why) -> str:
    """How many matches there are; if there are none, what prevents them; and the rule without which
    there would be most."""
    count = several(why.matches, "match", "matches")
    if why.matches:
        return "; ".join(filter(None, [count, _most_helpful(why)]))
    number = _first_unreached(why)
    blamed = _blamed(why.steps[number]) if number is not None and not why.unseen_types else []
    helpful = _most_helpful(why, blamed[0] if len(blamed) == 1 else None)
    known = any(rule.more for rule in why.rules)
    reasons = "; ".join(filter(None, [_obstacle(why, number, cause_known=known), helpful]))
    return f"{count}: {reasons}" if reasons else count


def _first_unreached(why: Why) -> int | None:
    """The first step that every match goes through and nothing reaches."""
    lacking = (n for n, step in enumerate(why.steps) if not step.reached and not step.optional)
    return next(lacking, None)


def _obstacle(why: Why, number: int | None, *, cause_known: bool) -> str | None:
    """What the step lacks that nothing reaches; `cause_known`: some rule is the cause alone."""
    if why.unseen_types:
        return "; ".join(why.unseen_types)
    if number is None:
        return None
    step = why.steps[number]
    place = f"step {number + 1} ({_short(step.name)})"
    return _lacking(step, place, None if cause_known else rest_words(why, number, its=True))


def _blamed(step: StepCounts) -> list[str]:
    """The rules that the answer says keep events from a step."""
    if not step.events or not step.passed or not step.ended:
        return []
    return _most_excluding(step.ended)


def rest_words(why: Why, number: int, *, its: bool = False) -> str:
    """What is known of events that pass a step and that no single rule keeps from it; `its`: with
    their number."""
    step, before = why.steps[number], why.steps[number - 1] if number else None
    them = f"no partial match was waiting for its {several(step.rest, 'event', 'events')}"
    waited = them if its else "that no partial match was waiting for"
    in_turn = before is not None and not step.optional and not before.optional
    if in_turn and before is not None and not before.reached:
        return f"{waited}: no event reached step {number}"
    each = ("it is" if step.rest == 1 else "they are") if its else "that are"
    excluded = f"{each} excluded by more than one rule"
    if any(rule.kind is RuleKind.WINDOW for rule in why.rules):
        return f"{waited}, or {excluded}, or far outside the window"
    return f"{waited}, or {excluded}"


def _short(name: str) -> str:
    return name if len(name) <= MOST_NAMED else f"{name[: MOST_NAMED - 1]}…"


def _lacking(step: StepCounts, place: str, rest: str | None) -> str:
    """`rest` says what is known of events that no single rule keeps out."""
    if step.events == 0:
        return f"no event has the type of {place}" if step.typed else "there are no events"
    if step.passed == 0:
        every = _unmet(step) or "all of its conditions at once"
        return f"no event of {place} satisfies {every}{_meant(step)}"
    if step.ended:
        return f"no event reaches {place}, {_because(step.ended)}"
    if unmet := _unmet(step):  # of several kinds of events, all of which are needed
        return f"no event reaches {place}: none satisfies {unmet}{_meant(step)}"
    if rest is not None and step.rest and not step.unseen:
        return f"no event reaches {place}: {rest}"
    return f"no event reaches {place}"


def _unmet(step: StepCounts) -> str | None:
    """The first condition that no event satisfies."""
    return next((text for text, count in step.conditions if not count), None)


def _meant(step: StepCounts) -> str:
    return "" if step.meant is None else f" (did you mean {step.meant!r}?)"


def _because(ended: Sequence[Ended]) -> str:
    """The rule that excludes most events; several rules, if they exclude as many."""
    named = _most_excluding(ended)
    mostly = "mostly " if len(named) < len(ended) else ""
    return f"{mostly}because of {' and '.join(named)}"


def _most_excluding(ended: Sequence[Ended]) -> list[str]:
    most = max(each.events for each in ended)
    return [f"the {each.kind} {each.text}" for each in ended if each.events == most]


def _most_helpful(why: Why, named: str | None = None) -> str | None:
    """The rule without which there are most matches; or that there is no such rule, if that is
    known and does not follow from a type that no event has. The rule that was `named` last is not
    named again."""
    best = max(why.rules, key=lambda rule: rule.more or 0, default=None)
    if best is None:
        return None
    if best.more:
        least = "" if best.exact else "at least "
        kind = "more" if why.matches else "match" if best.more == 1 else "matches"
        rule = f"the {best.kind} {best.text}"
        rule = "it" if rule == named else rule
        return f"without {rule} there would be {least}{best.more:,} {kind}"
    if why.matches or why.untried or why.unseen_types:
        return None
    every = all(rule.more is not None and rule.exact for rule in why.rules)
    return "leaving out any one rule brings no match" if every else None


def several(count: int | float, one: str, many: str) -> str:
    """A number of things, in words."""
    return f"{count:,} {one if count == 1 else many}"
