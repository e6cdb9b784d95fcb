"""An expression of the event algebra in plain English."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta

from cereus.explain.phrases import (
    any_order_words,
    choice_words,
    event_words,
    grouped,
    keys_words,
    sentence,
    with_article,
)
from cereus.expr.tree import conjuncts
from cereus.languages.algebra import tree as algebra
from cereus.syntax.literals import duration_text


def words(expression: algebra.EventExpression, keys: Sequence[tuple[str, ...]]) -> str:
    return sentence([*_sentence_parts(expression), keys_words(keys) if keys else ""])


def _sentence_parts(expression: algebra.EventExpression) -> Iterator[str]:
    """The parts of a sentence: the outermost operators need no parentheses."""
    if isinstance(expression, algebra.Negation):
        yield from _sentence_parts(expression.left)
        yield f"without {grouped(_part(expression.right))} meanwhile"
    elif isinstance(expression, algebra.TemporalRestriction):
        yield from _sentence_parts(expression.body)
        yield f"all within {_length(expression.tau)}"
    else:
        yield _part(expression)


def _part(node: algebra.EventExpression) -> str:
    match node:
        case algebra.Primitive(name, condition):
            noun = "event" if name == algebra.ANY_TYPE else name
            conditions = () if condition is None else conjuncts(condition)
            return with_article(event_words(noun, conditions))
        case algebra.Sequence(left, right):
            return f"{_part(left)}, then {_part(right)}"
        case algebra.Disjunction():
            return choice_words(map(_part, _operands(node, algebra.Disjunction)))
        case algebra.Conjunction():
            return any_order_words(map(_part, _operands(node, algebra.Conjunction)))
        case algebra.Negation(left, right):
            return f"{grouped(_part(left))} without {grouped(_part(right))} meanwhile"
        case algebra.TemporalRestriction(body, tau):
            return f"{grouped(_part(body))} within {_length(tau)}"
    return "what never occurs"


def _operands(
    node: algebra.EventExpression, kind: type[algebra.EventExpression]
) -> Iterator[algebra.EventExpression]:
    """The operands of an operator, however it is nested."""
    if isinstance(node, kind):
        for child in node.children():
            yield from _operands(child, kind)
    else:
        yield node


def _length(tau: algebra.Tau) -> str:
    if isinstance(tau, timedelta):
        return duration_text(algebra.tau_length(tau))
    return f"{tau:,} tick{'' if tau == 1 else 's'}"
