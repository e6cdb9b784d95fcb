"""The parts of a predicate, which is what stands after FILTER: operands, conditions, variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from cereus.errors import Span
from cereus.expr import tree as ex
from cereus.expr.tree import conjuncts
from cereus.languages.ceql import tree as cel


def operands_of(predicate: cel.Predicate) -> Iterator[cel.Predicate]:
    """The operands of AND, however it is nested."""
    if isinstance(predicate, cel.AllOf):
        for operand in predicate.operands:
            yield from operands_of(operand)
    else:
        yield predicate


def conjuncts_of(predicate: cel.Predicate) -> tuple[cel.Predicate, ...]:
    """Like `operands_of`, also of the ANDs inside the conditions on one event."""
    return tuple(part for operand in operands_of(predicate) for part in _split(operand))


def _split(predicate: cel.Predicate) -> Iterable[cel.Predicate]:
    if isinstance(predicate, cel.Holds) and isinstance(predicate.condition, ex.And):
        return map(cel.Holds, conjuncts(predicate.condition))
    return (predicate,)


def conditions_of(predicate: cel.Predicate | None) -> Iterator[ex.Expression]:
    """All conditions in a predicate, whatever joins them."""
    if isinstance(predicate, cel.AllOf | cel.AnyOf):
        for operand in predicate.operands:
            yield from conditions_of(operand)
    elif isinstance(predicate, cel.Holds):
        yield predicate.condition


def as_condition(
    predicate: cel.Predicate, of_one: Callable[[ex.Expression], ex.Expression]
) -> ex.Expression:
    """A predicate on a single event as one condition, made of its conditions by `of_one`."""
    match predicate:
        case cel.Holds(condition):
            return of_one(condition)
        case cel.AllOf(operands):
            return ex.And(tuple(as_condition(each, of_one) for each in operands))
        case cel.AnyOf(operands):
            return ex.Or(tuple(as_condition(each, of_one) for each in operands))
    raise TypeError(f"not a predicate: {predicate!r}")


def alternatives(predicate: cel.Predicate | None) -> list[list[ex.Expression]]:
    """The predicate as an OR of ANDs of conditions."""
    match predicate:
        case None:
            return [[]]
        case cel.AnyOf(operands):
            return [each for operand in operands for each in alternatives(operand)]
        case cel.AllOf(operands):
            joined: list[list[ex.Expression]] = [[]]
            for operand in operands:
                joined = [[*one, *two] for one in joined for two in alternatives(operand)]
            return joined
        case cel.Holds(condition):
            return [[condition]]
    raise TypeError(f"not a predicate: {predicate!r}")


def mentioned(predicate: cel.Predicate) -> Iterator[tuple[str, Span | None]]:
    """The variables of a predicate with the place where each is written."""
    if isinstance(predicate, cel.AllOf | cel.AnyOf):
        for operand in predicate.operands:
            yield from mentioned(operand)
    elif isinstance(predicate, cel.Holds):
        for node in predicate.condition.walk():
            if isinstance(node, ex.Attribute | ex.Aggregate) and node.variable is not None:
                yield node.variable, predicate.span if _in_brackets(predicate) else node.span


def _in_brackets(predicate: cel.Holds) -> bool:
    # In `A[price > 3]` the variable stands at the start of the predicate, not in its attributes.
    inner = predicate.condition.span
    return bool(predicate.span and inner and predicate.span != inner)


def is_between(condition: ex.Expression) -> bool:
    """Whether a condition compares events, or is about all events of a variable."""
    return len(ex.variables(condition)) > 1 or ex.has_aggregates(condition)
