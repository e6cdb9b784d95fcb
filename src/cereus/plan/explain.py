"""explain: a plan in words that a person can read."""

from __future__ import annotations

from cereus.plan.plan import Plan


def explain(plan: Plan) -> str:
    return plan.text
