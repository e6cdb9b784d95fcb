"""`prev(b.price)`: the event before in a repetition.

A condition with `prev(b.x)` must be true for every event of b except the first, together with the
event of b before it. In the tree it is an aggregate, since it is about all events of a variable.
"""

from __future__ import annotations

from cereus.automata.memory.distance import BEFORE, NOW
from cereus.errors import QuerySyntaxError, RefusedError, Span
from cereus.expr import tree as ex

PREV = "prev"


def previous(arguments: tuple[ex.Expression, ...], span: Span) -> ex.Expression:
    """The call `prev(b.price)`."""
    argument = arguments[0] if len(arguments) == 1 else None
    if not isinstance(argument, ex.Attribute) or len(argument.path) < 2:
        raise QuerySyntaxError(
            "prev takes one attribute of a variable, and gives that of its event before",
            span=span,
            hint="write b.price > prev(b.price), outside of brackets",
        )
    variable, *path = argument.path
    return ex.Aggregate(PREV, variable, tuple(path), span=span)


def reads_previous(condition: ex.Expression) -> bool:
    return any(_is_previous(node) for node in condition.walk())


def _is_previous(node: ex.Expression) -> bool:
    return isinstance(node, ex.Aggregate) and node.function == PREV


def check_previous(condition: ex.Expression) -> None:
    """Check that the event before is compared only with an event of the same variable."""
    if not reads_previous(condition):
        return
    if len(names := sorted(ex.variables(condition))) > 1:
        raise RefusedError(
            f"prev compares the events of one variable, and this condition is about "
            f"{' and '.join(names)}",
            span=condition.span,
            hint="write a condition of its own: … AND b.price > prev(b.price)",
        )
    for node in condition.walk():
        if isinstance(node, ex.Aggregate) and not _is_previous(node):
            raise RefusedError(
                f"{node.function} is about all events of {node.variable}, and prev about two",
                span=node.span,
                hint="write two conditions",
            )


def between_two(condition: ex.Expression) -> ex.Expression:
    """The condition on the event at hand and the one before."""
    if isinstance(condition, ex.Aggregate):
        return ex.Attribute(condition.attribute or (), BEFORE, span=condition.span)
    if isinstance(condition, ex.Attribute):
        return ex.Attribute(condition.path, NOW, span=condition.span)
    return ex.rebuild(condition, between_two)
