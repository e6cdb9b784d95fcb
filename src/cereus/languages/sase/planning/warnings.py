"""What a person should know before running a SASE+ query block."""

from __future__ import annotations

from cereus.explain.analysis import GROWS
from cereus.explain.analysis import warnings as warnings_of
from cereus.languages.sase import tree as sase
from cereus.languages.sase.planning.description import SaseDescription
from cereus.plan.plan import Plan

NEVER = "this pattern can never match"


def warnings(query: sase.Query, plan: Plan) -> list[str]:
    """What the automaton tells, and that runs may wait for ever. That is told by the text: which
    events are skipped may depend on values, which an automaton that is only looked at has not."""
    found = warnings_of(plan, SaseDescription())
    never = any(each.startswith(NEVER) for each in found)
    if query.window is None and _waits(query) and not never and GROWS not in found:
        found.append(GROWS)
    return found


def _waits(query: sase.Query) -> bool:
    """Whether a run that has begun may skip events; strict contiguity never does."""
    return any(
        query.strategy(component.variable) is not sase.Strategy.STRICT
        for place, component in enumerate(query.components)
        if place > 0 or isinstance(component, sase.Kleene)
    )
