"""Rewrite rule: a condition between events moves to the smallest part that holds its variables.

There its scope is shortest, so its memory is forgotten soonest, and hopeless partial matches die
earliest: in `a ; b ; c ; d FILTER a.x < b.x` the filter moves to `a ; b`.
"""

from __future__ import annotations

from dataclasses import replace

from cereus.expr.tree import has_aggregates, variables
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.scope import bound
from cereus.syntax.tree import bottom_up


def narrow_filters(formula: cel.Formula) -> cel.Formula:
    def narrow(node: cel.Formula) -> cel.Formula:
        if isinstance(node, cel.Filter) and isinstance(node.predicate, cel.Holds):
            condition = node.predicate.condition
            names = variables(condition)
            plain = not any(">" in name for name in names)  # S>R is bound by R as well
            if len(names) > 1 and plain and not has_aggregates(condition):
                return _narrowed(node.body, node.predicate, variables(condition))
        return node

    return bottom_up(formula, narrow)


def _narrowed(body: cel.Formula, holds: cel.Holds, names: frozenset[str]) -> cel.Formula:
    """`body FILTER holds`, with the filter as far down as it can go.

    The filter stays above the alternatives of an OR that bind its variables: two copies of it would
    remember the same values twice, and find the same match in two ways. For the other alternatives
    it is true.
    """
    if not names <= bound(body):
        return body  # some variable holds nothing: the condition is true
    match body:
        case cel.Sequence():
            return _in_sequence(_parts(body), holds, names)
        case cel.Or(operands) if not all(names <= bound(part) for part in operands):
            full = tuple(part for part in operands if names <= bound(part))
            others = tuple(part for part in operands if not names <= bound(part))
            if not full:
                return body
            together = full[0] if len(full) == 1 else replace(body, operands=full)
            return replace(body, operands=(_narrowed(together, holds, names), *others))
        case cel.As(inner, variable) if variable not in names:
            return replace(body, body=_narrowed(inner, holds, names))
        case cel.Filter():
            return _under_filters(body, holds, names)
        case cel.Start(inner) | cel.Without(inner) | cel.Within(inner):
            return replace(body, body=_narrowed(inner, holds, names))
        case cel.Unless(left, _):
            return replace(body, left=_narrowed(left, holds, names))
    return cel.Filter(body, holds, span=holds.span)


def _under_filters(body: cel.Filter, holds: cel.Holds, names: frozenset[str]) -> cel.Formula:
    """The filter below other filters, which bind nothing."""
    others: list[cel.Filter] = []
    inner: cel.Formula = body
    while isinstance(inner, cel.Filter):
        others.append(inner)
        inner = inner.body
    made = _narrowed(inner, holds, names)
    for each in reversed(others):
        made = cel.Filter(made, each.predicate, span=each.span)
    return made


def _parts(formula: cel.Formula) -> list[cel.Formula]:
    """The parts of a sequence, however it is bracketed: `;` is associative."""
    if isinstance(formula, cel.Sequence):
        return [*_parts(formula.left), *_parts(formula.right)]
    return [formula]


def _sequence(parts: list[cel.Formula]) -> cel.Formula:
    sequence = parts[0]
    for part in parts[1:]:
        sequence = cel.Sequence(sequence, part)
    return sequence


def _in_sequence(parts: list[cel.Formula], holds: cel.Holds, names: frozenset[str]) -> cel.Formula:
    """The filter around the consecutive parts that bind its variables."""
    involved = [place for place, part in enumerate(parts) if bound(part) & names]
    first, last = involved[0], involved[-1] + 1
    if first + 1 == last:
        inner = _narrowed(parts[first], holds, names)
    else:
        inner = cel.Filter(_sequence(parts[first:last]), holds, span=holds.span)
    return _sequence([*parts[:first], inner, *parts[last:]])
