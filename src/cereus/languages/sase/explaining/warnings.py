"""Warnings that a person should read before running a SASE+ query block."""

from __future__ import annotations

from cereus.explain.analysis import GROWS
from cereus.explain.analysis import warnings as warnings_of
from cereus.languages.sase import tree as sase
from cereus.languages.sase.explaining.description import SaseDescription
from cereus.plan.plan import Plan

NEVER = "this pattern can never match"


def warnings(query: sase.Query, plan: Plan) -> list[str]:
    """Warnings from the automaton, and one if runs may wait for ever. The latter is decided by the
    text: which events are skipped may depend on values, which the automaton alone does not have."""
    texts = warnings_of(plan, SaseDescription())
    never = any(each.startswith(NEVER) for each in texts)
    if query.window is None and _waits(query) and not never and GROWS not in texts:
        texts.append(GROWS)
    return texts


def _waits(query: sase.Query) -> bool:
    """Whether a run that has begun may skip events; strict contiguity never does."""
    return any(
        query.strategy(component.variable) is not sase.Strategy.STRICT
        for place, component in enumerate(query.components)
        if place > 0 or isinstance(component, sase.Kleene)
    )
