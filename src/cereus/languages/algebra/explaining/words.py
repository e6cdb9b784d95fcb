"""What an expression of the event algebra asks, in plain English."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from cereus.explain.phrases import event_words, grouped, keys_words, sentence, with_article
from cereus.languages.algebra import tree as algebra
from cereus.plan.tests import conjuncts
from cereus.syntax.literals import duration_text


def words(expression: algebra.EventExpression, keys: Sequence[tuple[str, ...]]) -> str:
    return sentence([_part(expression), keys_words(keys) if keys else ""])


def _part(node: algebra.EventExpression) -> str:
    match node:
        case algebra.Primitive(name, condition):
            noun = "event" if name == algebra.ANY_TYPE else name
            conditions = () if condition is None else conjuncts(condition)
            return with_article(event_words(noun, conditions))
        case algebra.Sequence(left, right):
            return f"{_part(left)}, then {_part(right)}"
        case algebra.Disjunction(left, right):
            return f"either {grouped(_part(left))} or {grouped(_part(right))}"
        case algebra.Conjunction(left, right):
            return f"{grouped(_part(left))} and {grouped(_part(right))}, in any order"
        case algebra.Negation(left, right):
            return f"{grouped(_part(left))} without {grouped(_part(right))} meanwhile"
        case algebra.TemporalRestriction(body, tau):
            return f"{_part(body)}, all within {_length(tau)}"
    return "what never occurs"


def _length(tau: algebra.Tau) -> str:
    if isinstance(tau, timedelta):
        return duration_text(algebra.tau_length(tau))
    return f"{tau:,} tick{'' if tau == 1 else 's'}"
