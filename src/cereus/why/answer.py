"""The answer to `why` in one sentence: what the counts come to."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cereus.why.result import RuleEffect, StepCounts, Why


def answer(why: Why) -> str:
    """How many matches there are, and, where there are none, what keeps them from coming."""
    count = several(why.matches, "match", "matches")
    if why.matches:
        return count
    said = _obstacle(why)
    helpful = _most_helpful(why.rules)
    if helpful is not None:
        said = "; ".join(filter(None, [said, helpful]))
    return f"{count}: {said}" if said else count


def _obstacle(why: Why) -> str | None:
    """The first step that nothing reaches, and what it lacks."""
    if why.unseen_types:
        return "; ".join(why.unseen_types)
    for number, step in enumerate(why.steps, 1):
        if not step.reached:
            return _lacking(step, f"step {number} ({step.name})")
    return None


def _lacking(step: StepCounts, place: str) -> str:
    if step.events == 0:
        return f"no event has the type of {place}" if step.typed else "there are no events"
    if step.passed == 0:
        failed = [text for text, count in step.conditions if not count]
        asked = failed[0] if failed else "all of its conditions at once"
        return f"no event of {place} satisfies {asked}"
    told = f"nothing reaches {place}"
    if not step.ended:
        return told
    most = max(step.ended, key=lambda each: each.events)
    return f"{told}, most often because of the {most.kind} {most.text}"


def _most_helpful(rules: tuple[RuleEffect, ...]) -> str | None:
    """The rule without which there are most matches."""
    best = max(rules, key=lambda rule: rule.more or 0, default=None)
    if best is None or not best.more:
        return None
    least = "" if best.exact else "at least "
    verb = "is" if best.more == 1 else "are"
    return f"without the {best.kind} {best.text} there {verb} {least}{best.more:,}"


def several(count: int | float, one: str, many: str) -> str:
    """A number of things, in words."""
    return f"{count:,} {one if count == 1 else many}"
