"""The value of a SASE+ clause in a run, given the values of its identifiers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cereus.expr import tree as ex
from cereus.expr.python.evaluate import Known, evaluate
from cereus.languages.sase import tree as sase

Identifier = ex.Attribute | sase.Aggregate
Read = Callable[[Identifier], Any]


def clause_value(expression: ex.Expression, read: Read) -> Any:
    """The value of a term or a condition; `read` gives the values of its identifiers."""
    return evaluate(_known(expression, read), {})


def _known(node: ex.Expression, read: Read) -> ex.Expression:
    """The expression with every identifier replaced by its value."""
    match node:
        case ex.Attribute() | sase.Aggregate():
            return Known(read(node))
        case ex.Comparison(op, left, right):
            return ex.Or(
                tuple(
                    ex.Comparison(op, one, other)
                    for one in _side(left, read)
                    for other in _side(right, read)
                )
            )
    return ex.rebuild(node, lambda child: _known(child, read))


def _side(node: ex.Expression, read: Read) -> list[ex.Expression]:
    """The sides of a comparison: one value, or each of the k highest (§5: of a sequence, one)."""
    if isinstance(node, sase.Aggregate) and node.k is not None:
        return [Known(each) for each in read(node)]
    return [_known(node, read)]
