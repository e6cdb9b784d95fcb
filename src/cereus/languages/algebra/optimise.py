"""Rewrites an expression by the laws until its static bounds are lower.

It is a best-first search that stops after a number of expressions among which none was cheaper. Its
answer is never worse than the given expression in memory units, steps or bytes of state, and
detects the same (start, end) pairs, because it is equivalent by the laws (Proposition 20).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, count

from cereus.languages.algebra.bounds import Bounds, bounds, units
from cereus.languages.algebra.laws import LAWS, Law, LawVariable
from cereus.languages.algebra.normal import TooManyTermsError, normal_form, rebuild
from cereus.languages.algebra.rewriting import DirectedLaw, RewriteStep, law_list, neighbours, rules
from cereus.languages.algebra.tree import EventExpression, check, size

PATIENCE = 8
"""How many expressions are examined in a row without finding a cheaper one, for each subexpression
of the expression."""
MOST_NODES = 150_000
"""The most nodes of all examined expressions together: a bound for long ones."""
MOST_LOOKED_AT = 2 * MOST_NODES
"""The same limit including expressions that were already known, as most are if one law can be
applied in many places."""
REPEATING = 15
"""Law 15 right to left, like every law whose right side is just A, only ever grows."""

Cost = tuple[int, int, int]


@dataclass(frozen=True)
class Optimised:
    before: EventExpression
    after: EventExpression
    bounds_before: Bounds
    bounds_after: Bounds
    steps: tuple[RewriteStep, ...]
    """The laws applied, one after the other, from `before` to `after`."""
    looked_at: int

    @property
    def laws(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(number for step in self.steps for number in step.laws))

    def __str__(self) -> str:
        if not self.steps:
            return f"{self.before}\n  {self.bounds_before}\n  no law lowers these bounds"
        lines = [f"{self.before}", f"  {self.bounds_before}", f"{self.after}"]
        lines += [f"  {self.bounds_after}", f"  by {law_list(self.laws)}"]
        return "\n".join(lines)


def optimise(
    expression: EventExpression,
    *,
    values: bool = False,
    patience: int = PATIENCE,
    laws: tuple[Law, ...] = LAWS,
) -> Optimised:
    """The cheapest equivalent expression of the search, and the way to it."""
    check(expression)
    before = bounds(expression, values=values)
    came_by, costs = search(expression, values=values, patience=patience, chosen=worthwhile(laws))
    for candidate in sorted(costs, key=costs.__getitem__):
        after = bounds(candidate, values=values)
        if candidate == expression or no_worse(after, before):
            break
    return Optimised(
        before=expression,
        after=candidate,
        bounds_before=before,
        bounds_after=after,
        steps=way(came_by, candidate),
        looked_at=len(came_by),
    )


def worthwhile(laws: tuple[Law, ...]) -> tuple[DirectedLaw, ...]:
    """The rules that can take part in lowering a bound."""
    return tuple(
        rule
        for rule in rules(laws)
        if not isinstance(rule.pattern, LawVariable)
        and not (rule.law.number == REPEATING and not rule.forward)
    )


def cost(expression: EventExpression, values: bool) -> Cost:
    return (*units(expression, values=values), size(expression))


def no_worse(after: Bounds, before: Bounds) -> bool:
    return (
        after.memory <= before.memory
        and after.steps <= before.steps
        and after.state_bytes <= before.state_bytes
    )


def search(
    expression: EventExpression, *, values: bool, patience: int, chosen: tuple[DirectedLaw, ...]
) -> tuple[dict[EventExpression, RewriteStep | None], dict[EventExpression, Cost]]:
    """The expressions reached, each with the step that led to it and its cost. Cheap ones are
    examined first. The search ends: whenever patience starts again, the cost has gone down; and it
    ends at MOST_NODES and MOST_LOOKED_AT at the latest, with the cheapest one so far."""
    came_by: dict[EventExpression, RewriteStep | None] = {expression: None}
    costs = {expression: cost(expression, values)}
    patience *= 10 + size(expression)
    allowed = {rule.law.number for rule in chosen}
    lowest, left, nodes, looks = costs[expression], patience, MOST_NODES, MOST_LOOKED_AT
    order = count()
    queue = [(lowest, next(order), expression)]
    while queue and left > 0:
        _, _, current = heapq.heappop(queue)
        rewritten = neighbours(current, chosen)
        for step in chain(normalised(current), rewritten) if current == expression else rewritten:
            looks -= size(current)
            if looks < 0:
                return came_by, costs
            if step.after in came_by or not allowed.issuperset(step.laws):
                continue
            came_by[step.after] = step
            reached_cost = costs[step.after] = cost(step.after, values)
            nodes -= size(step.after)
            if nodes < 0:
                return came_by, costs
            heapq.heappush(queue, (reached_cost, next(order), step.after))
            lowest, left = (reached_cost, patience) if reached_cost < lowest else (lowest, left - 1)
    return came_by, costs


def normalised(expression: EventExpression) -> Iterator[RewriteStep]:
    """The step to the normal form: many small steps at once, which alone would not lower the
    cost."""
    try:
        terms, used = normal_form(expression)
    except TooManyTermsError:
        return
    if used:
        yield RewriteStep(tuple(sorted(used)), expression, rebuild(terms))


def way(
    came_by: dict[EventExpression, RewriteStep | None], expression: EventExpression
) -> tuple[RewriteStep, ...]:
    """The steps from the first expression to this one."""
    steps: list[RewriteStep] = []
    while (step := came_by[expression]) is not None:
        steps.append(step)
        expression = step.before
    return tuple(reversed(steps))
