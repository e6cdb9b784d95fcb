"""Names in a clause: which of them are pattern variables."""

from __future__ import annotations

from dataclasses import replace
from typing import Self

from cereus.expr import tree as ex
from cereus.languages.match_recognize import tree


class Name(str):
    """A name as it was written: whether it was quoted decides whether its case matters."""

    quoted: bool

    def __new__(cls, text: str, *, quoted: bool = False) -> Self:
        name = super().__new__(cls, text)
        name.quoted = quoted
        return name


def canonical(name: str) -> str:
    """The name of a pattern variable: in upper case, unless it was quoted."""
    return str(name) if getattr(name, "quoted", False) else name.upper()


def resolved(clause: tree.Clause) -> tree.Clause:
    """The clause where `a.x` of a pattern variable `a` is distinguished from the field `x` of a
    column `a`. Flink's MATCH_ROWTIME() is the time of the row, by which the rows are sorted."""
    variables = frozenset((*clause.variables(), *(subset.name for subset in clause.subsets)))

    def named(node: ex.Expression) -> ex.Expression:
        if isinstance(node, ex.Call) and node.function == "match_rowtime" and clause.order:
            return ex.Attribute(clause.order[0].path, span=node.span)
        if not isinstance(node, ex.Attribute):
            return ex.rebuild(node, named)
        path = tuple(map(str, node.path))
        first = canonical(node.path[0])
        if len(path) > 1 and first in variables:
            return replace(node, path=path[1:], variable=first)
        return replace(node, path=path)

    return replace(
        clause,
        measures=tuple(replace(each, value=named(each.value)) for each in clause.measures),
        define=tuple(replace(each, condition=named(each.condition)) for each in clause.define),
    )
