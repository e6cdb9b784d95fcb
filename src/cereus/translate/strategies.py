"""Finds strategies that have nothing to choose, or whose choice can be written without them."""

from __future__ import annotations

from dataclasses import replace

from cereus.clauses.tree import Strategy
from cereus.expr.tree import variables, without_variable
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.predicates import is_between
from cereus.translate.leaves import Around, NamedAs, VariableCondition

Events = list[tuple[cel.Type, Around]]


def only_one(formula: cel.Formula) -> bool:
    """Whether at most one complex event ends at an event: its size is known, and it has no gaps."""
    return _size(formula) is not None


def _size(formula: cel.Formula) -> int | None:
    match formula:
        case cel.Type():
            return 1
        case cel.As(body) | cel.Filter(body) | cel.Start(body) | cel.Select(_, body):
            return _size(body)
        case cel.Unless(left, _):
            return _size(left)
        case cel.ContiguousSequence(left, right):
            one, two = _size(left), _size(right)
            return None if one is None or two is None else one + two
        case cel.Or(operands):
            sizes = {_size(part) for part in operands}
            return sizes.pop() if len(sizes) == 1 else None
    return None


STRICTER: dict[type[cel.Formula], type[cel.Formula]] = {
    cel.Sequence: cel.ContiguousSequence,
    cel.Iteration: cel.ContiguousIteration,
}
MARKING = (cel.Type, cel.As, cel.Filter, cel.ContiguousSequence, cel.ContiguousIteration)
OTHERS = (cel.Or, cel.And, cel.Start)


def contiguous(formula: cel.Formula) -> cel.Formula | None:
    """STRICT(φ) without the keyword: `:` in place of `;`, if all events are marked; else None."""
    if isinstance(formula, cel.Select):
        return contiguous(formula.body) if formula.strategy is Strategy.STRICT else None
    if not isinstance(formula, (*MARKING, *OTHERS, *STRICTER, cel.Unless)):
        return None
    if isinstance(formula, cel.Or):
        strict_parts = [contiguous(part) for part in formula.operands]
        known = tuple(part for part in strict_parts if part is not None)
        return replace(formula, operands=known) if len(known) == len(strict_parts) else None
    parts: dict[str, cel.Formula] = {}
    for name in ("body", "left", "right"):
        if not hasattr(formula, name) or (isinstance(formula, cel.Unless) and name == "right"):
            continue
        part = contiguous(getattr(formula, name))
        if part is None:
            return None
        parts[name] = part
    strict = STRICTER.get(type(formula))
    return replace(formula, **parts) if strict is None else strict(**parts, span=formula.span)  # type: ignore[arg-type]


def chain(formula: cel.Formula) -> Events | None:
    """`φ1 ; … ; φn` of single events, each with the filters on it; else None."""
    return _chain(formula, ())


def _chain(formula: cel.Formula, around: Around) -> Events | None:
    match formula:
        case cel.Type():
            return [(formula, around)]
        case cel.As(body, variable):
            return _chain(body, (*around, NamedAs(variable)))
        case cel.Filter(body, cel.Holds(condition)) if not is_between(condition):
            (name,) = variables(condition)
            return _chain(body, (*around, VariableCondition(name, without_variable(condition))))
        case cel.Sequence(left, right):
            one, two = _chain(left, around), _chain(right, around)
            return None if one is None or two is None else one + two
    return None
