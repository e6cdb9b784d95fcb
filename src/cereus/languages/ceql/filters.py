"""Turns the condition after FILTER into a predicate of the tree.

A FILTER is parsed as one condition in which `A[…]` is a primary. Its AND, OR and NOT are then taken
apart here, because `p OR q` is the OR of two filters (CEL paper, §4) while an OR inside `A[…]` is
decided event by event.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from cereus.errors import QuerySyntaxError, RefusedError, UnknownNameError
from cereus.expr import tree as ex
from cereus.languages.ceql import tree as cel
from cereus.syntax.literals import quote_string


@dataclass(frozen=True)
class Boxed(ex.Expression):
    """`A[condition]`, before its place in the filter is known."""

    variable: str
    condition: ex.Expression


def predicate(condition: ex.Expression, negated: bool = False) -> cel.Predicate:
    """The predicate of a parsed FILTER, under a NOT if `negated`."""
    condition = _of_stream(condition)
    if isinstance(condition, ex.Not):
        return predicate(condition.operand, not negated)
    if isinstance(condition, ex.And | ex.Or):
        operands = tuple(predicate(each, negated) for each in condition.operands)
        together = isinstance(condition, ex.And) != negated  # De Morgan
        return (cel.AllOf if together else cel.AnyOf)(operands, span=condition.span)
    checked = _boxed(condition) if isinstance(condition, Boxed) else _plain(condition)
    return cel.Holds(
        ex.Not(checked, span=checked.span) if negated else checked, span=condition.span
    )


def _of_stream(condition: ex.Expression) -> ex.Expression:
    """`S1>BUY[…]` was read as a comparison of S1 with BUY[…]."""
    match condition:
        case ex.Comparison(">", ex.Attribute(path=(stream,)), Boxed(variable, inner)):
            return Boxed(f"{stream}>{variable}", inner, span=condition.span)
    return condition


def _boxed(box: Boxed) -> ex.Expression:
    """The condition inside `A[…]`, on the events of A."""

    def of_variable(node: ex.Expression) -> ex.Expression:
        if isinstance(node, Boxed):
            raise QuerySyntaxError(
                "brackets inside brackets",
                span=node.span,
                hint=f"write {box.variable}[…] AND {node.variable}[…]",
            )
        if isinstance(node, ex.Aggregate):
            raise RefusedError(
                f"{node.function}(…) is about all events of a variable, not about one event",
                span=node.span,
                hint=f"write it outside the brackets, as {node.function}({_example(box, node)})",
            )
        if isinstance(node, ex.Attribute):
            return replace(node, variable=box.variable)
        return ex.rebuild(node, of_variable)

    return _about_variables(of_variable(box.condition))


def _example(box: Boxed, node: ex.Aggregate) -> str:
    return ".".join((box.variable, *(node.attribute or (node.variable,))))


def _plain(condition: ex.Expression) -> ex.Expression:
    """A condition outside brackets, whose attributes start with their variable: `a.price`."""
    return _about_variables(_with_variables(condition))


def returned_value(value: ex.Expression) -> ex.Expression:
    """A value in RETURN, whose attributes start with their variable."""
    if isinstance(value, ex.Attribute) and len(value.path) == 1:
        raise UnknownNameError(
            f"{value.name!r} is no value",
            span=value.span,
            hint=f"write {value.name}.price, or count({value.name}); SELECT {value.name} gives "
            "the events of a variable",
        )
    return _with_variables(value)


def _about_variables(condition: ex.Expression) -> ex.Expression:
    if ex.variables(condition):
        return condition
    raise RefusedError(
        "this condition reads no attribute of any variable",
        span=condition.span,
        hint="write a.price > 3 or a[price > 3]",
    )


def _with_variables(node: ex.Expression) -> ex.Expression:
    if isinstance(node, Boxed):
        raise QuerySyntaxError(
            f"{node.variable}[…] is a condition, not a value",
            span=node.span,
            hint=f"combine it with AND, OR and NOT; for its values write {node.variable}.price",
        )
    if isinstance(node, ex.Attribute):
        return _split(node)
    return ex.rebuild(node, _with_variables)


def _split(node: ex.Attribute) -> ex.Attribute:
    variable, *path = node.path
    if not path:
        raise UnknownNameError(
            f"{variable!r} names no variable's attribute",
            span=node.span,
            hint=f"write a.{variable} or a[{variable} …], for a variable a of the pattern; "
            f"a string stands in single quotes: {quote_string(variable)}",
        )
    return replace(node, variable=variable, path=tuple(path))
