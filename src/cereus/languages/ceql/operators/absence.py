"""Events that must not occur: what stands after WITHOUT and UNTIL."""

from __future__ import annotations

from dataclasses import replace

from cereus.automata.memory.absence import THIS
from cereus.clauses.tree import TimeWindow, Unfollowed, Window
from cereus.errors import RefusedError
from cereus.expr import tree as ex
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.predicates import conditions_of

SINGLE_EVENTS = (
    "WITHOUT and UNTIL are about single events, possibly named, filtered and joined by OR"
)


def excluded(formula: cel.Formula) -> tuple[cel.Excluded, ...]:
    """The kinds of events in a formula of single events."""
    match formula:
        case cel.Type():
            return (cel.Excluded(formula, span=formula.span),)
        case cel.Or(operands):
            return tuple(event for part in operands for event in excluded(part))
        case cel.As(body, variable):
            return tuple(replace(e, names=(*e.names, variable)) for e in excluded(body))
        case cel.Filter(body, predicate):
            return tuple(_filtered(each, predicate) for each in excluded(body))
    raise RefusedError(
        SINGLE_EVENTS,
        span=formula.span,
        hint="WITHOUT binds looser than ; so write ((A ; C) WITHOUT B) ; D; that a whole pattern "
        "does not occur is said by UNLESS",
    )


def _filtered(event: cel.Excluded, predicate: cel.Predicate) -> cel.Excluded:
    if event.predicate is not None:
        predicate = cel.AllOf((event.predicate, predicate), span=predicate.span)
    return replace(event, predicate=predicate)


def is_own(event: cel.Excluded, variable: str) -> bool:
    """Whether a variable in the conditions on an excluded event means this event."""
    return variable in event.names or event.event.name in (variable, variable.rpartition(">")[2])


def is_correlated(event: cel.Excluded) -> bool:
    """Whether its conditions read other events too."""
    return any(
        not is_own(event, name) for c in conditions_of(event.predicate) for name in ex.variables(c)
    )


def of_this(event: cel.Excluded, condition: ex.Expression) -> ex.Expression:
    """A condition in which the event that must not occur is THIS."""
    if isinstance(condition, ex.Attribute):
        is_this = condition.variable is not None and is_own(event, condition.variable)
        return replace(condition, variable=THIS) if is_this else condition
    return ex.rebuild(condition, lambda child: of_this(event, child))


def unfollowed_by(formula: cel.Formula, window: Window) -> Unfollowed:
    """`NOT FOLLOWED BY B WITHIN 5 minutes`."""
    if not isinstance(window, TimeWindow):
        raise RefusedError(
            "NOT FOLLOWED BY waits for a time",
            span=window.span,
            hint="write a length of time: WITHIN 5 minutes",
        )
    events = excluded(formula)
    read = (
        name
        for event in events
        for condition in conditions_of(event.predicate)
        for name in ex.variables(condition)
        if not is_own(event, name)
    )
    return Unfollowed(events, window, tuple(sorted(set(read))), span=formula.span)
