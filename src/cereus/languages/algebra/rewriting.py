"""Applies laws inside an expression, and remembers the steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cereus.languages.algebra.laws import LAWS, Law, LawVariable
from cereus.languages.algebra.tree import EventExpression
from cereus.syntax.tree import rebuild

Path = tuple[int, ...]


@dataclass(frozen=True)
class RewriteStep:
    """The expression before and after one law was applied, or several at once."""

    laws: tuple[int, ...]
    before: EventExpression
    after: EventExpression

    def __str__(self) -> str:
        return f"{self.before}  ≡  {self.after}  ({law_list(self.laws)})"


def law_list(numbers: Iterable[int]) -> str:
    """`law 6`, or `laws 6, 9 and 10`."""
    *most, last = [str(number) for number in numbers]
    return f"laws {', '.join(most)} and {last}" if most else f"law {last}"


@dataclass(frozen=True)
class DirectedLaw:
    """A law in one direction."""

    law: Law
    forward: bool

    def __call__(self, expression: EventExpression) -> EventExpression | None:
        return self.law.forward(expression) if self.forward else self.law.backward(expression)

    @property
    def pattern(self) -> EventExpression:
        return self.law.left if self.forward else self.law.right


def rules(laws: tuple[Law, ...] = LAWS) -> tuple[DirectedLaw, ...]:
    """Every law in every direction that invents nothing."""
    forward = [DirectedLaw(law, True) for law in laws if law.has_forward]
    return (*forward, *(DirectedLaw(law, False) for law in laws if law.has_backward))


def places(expression: EventExpression) -> Iterator[tuple[Path, EventExpression]]:
    """Every subexpression with the path to it, the root first."""
    yield (), expression
    for index, child in enumerate(expression.children()):
        for path, node in places(child):
            yield (index, *path), node


def replaced(expression: EventExpression, path: Path, node: EventExpression) -> EventExpression:
    """The expression with another one at the end of a path."""
    if not path:
        return node
    children = list(expression.children())
    children[path[0]] = replaced(children[path[0]], path[1:], node)
    parts = iter(children)
    return rebuild(expression, lambda _: next(parts))


def neighbours(
    expression: EventExpression, chosen: tuple[DirectedLaw, ...]
) -> Iterator[RewriteStep]:
    """Everything one step away by the chosen rules."""
    by_type: dict[type[EventExpression], list[DirectedLaw]] = {}
    anywhere = [rule for rule in chosen if isinstance(rule.pattern, LawVariable)]
    for rule in chosen:
        by_type.setdefault(type(rule.pattern), []).append(rule)
    for path, node in places(expression):
        for rule in (*by_type.get(type(node), ()), *anywhere):
            result = rule(node)
            if result is not None and result != node:
                after = replaced(expression, path, result)
                yield RewriteStep((rule.law.number,), expression, after)
