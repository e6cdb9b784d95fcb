"""Says what to write instead of `b[price = a.price]`: the brackets are about one event."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa

from cereus.errors import UnknownNameError
from cereus.expr import tree as ex
from cereus.expr.paths import type_at
from cereus.expr.print import condition_text
from cereus.expr.tree import conjuncts


def refuse_other_events(
    condition: ex.Expression, variables: Collection[str], schema: pa.Schema, text: str | None
) -> None:
    """Refuse a condition in brackets that reads another variable, if no column has its name."""
    for part in conjuncts(condition):
        for node in part.walk():
            if isinstance(node, ex.Attribute) and _is_other(node, variables, schema):
                outside = condition_text(_outside(part, variables, schema))
                raise UnknownNameError(
                    f"{node.path[0]!r} is another event, and brackets read only their own",
                    text=text,
                    span=node.span,
                    hint=f"write conditions between events without brackets: FILTER {outside}",
                )


def _is_other(node: ex.Attribute, variables: Collection[str], schema: pa.Schema) -> bool:
    first, *rest = node.path
    return bool(rest) and first in variables and type_at(schema, (first,)) is None


def _outside(node: ex.Expression, variables: Collection[str], schema: pa.Schema) -> ex.Expression:
    """`b.price = a.price` for `b[price = a.price]`"""
    if isinstance(node, ex.Attribute):
        other = _is_other(node, variables, schema)
        return ex.Attribute(node.path[1:], node.path[0]) if other else node
    return ex.rebuild(node, lambda child: _outside(child, variables, schema))
