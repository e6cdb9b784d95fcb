"""Finds the names that a formula binds, and checks that a query mentions only those."""

from __future__ import annotations

from typing import NamedTuple

from cereus.clauses.tree import Consume, Skip
from cereus.errors import RefusedError, Span, UnknownNameError, did_you_mean, nearest
from cereus.expr import tree as ex
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.operators.absence import is_own
from cereus.languages.ceql.operators.alternatives import check_alternatives
from cereus.languages.ceql.operators.counts import check_counts
from cereus.languages.ceql.operators.previous import PREV, check_previous
from cereus.languages.ceql.order import leaf_order
from cereus.languages.ceql.predicates import conditions_of, mentioned

ONE_EVENT = "NOT(…) is about one event: a type, possibly named with AS and filtered"
COLUMN = "a column stands in the brackets of its variable, a[{name}], or after RETURN, a.{name}"
ELSEWHERE = (
    "it belongs to another part of the pattern: a filter sees what stands before it in its "
    "parentheses, and nothing sees into NOT, the right of UNLESS, or what PROJECT leaves out"
)
ABSENT = "filter what must not occur where it stands: WITHOUT ({name} FILTER {name}[…])"
USE_UNLESS = "to say that a whole pattern does not occur, write φ UNLESS ψ"


def bound(formula: cel.Formula) -> frozenset[str]:
    """The variables that have events in a match of `formula`: AS names, types R, and S>R.

    A type without a stream, `R`, also answers to `S>R` for every stream S; `knows` handles that.
    """
    while isinstance(formula, cel.Filter):  # a hundred of them may be nested
        formula = formula.body
    match formula:
        case cel.Type("*"):
            return frozenset()
        case cel.Type(name, None):
            return frozenset((name,))
        case cel.Type(name, stream):
            return frozenset((name, f"{stream}>{name}"))
        case cel.As(body, variable):
            return bound(body) | {variable}
        case cel.Project(variables, body):
            return bound(body) & variables
        case cel.Not():
            return frozenset()
        case cel.Unless(left, _):
            return bound(left)
    return frozenset().union(*(bound(child) for child in formula.children()))


def _names_bound_by(node: cel.Formula) -> frozenset[str]:
    """The names that this one node binds, whatever the nodes around it do."""
    if isinstance(node, cel.As):
        return frozenset((node.variable,))
    return bound(node) if isinstance(node, cel.Type) else frozenset()


class Everywhere(NamedTuple):
    """The names of a whole formula: in its parts, and of events that must not occur."""

    names: frozenset[str]
    absent: frozenset[str]

    @classmethod
    def of(cls, formula: cel.Formula) -> Everywhere:
        nodes = list(formula.walk())
        absent = [each for n in nodes if isinstance(n, cel.Without) for each in n.events]
        return cls(
            frozenset().union(*map(_names_bound_by, nodes)),
            frozenset().union(*map(_names_of, absent)),
        )


def _names_of(event: cel.Excluded) -> frozenset[str]:
    """The names of an event that must not occur."""
    return bound(event.event) | frozenset(event.names)


def check_names(query: cel.CeqlTree) -> None:
    """Refuse a query that mentions an unknown variable or stream."""
    check_counts(query.formula)
    check_alternatives(query)
    everywhere = Everywhere.of(query.formula)
    for formula in query.formula.walk():
        _check_formula(formula, query.streams, everywhere)
    names = bound(query.formula)
    for output in query.select or ():
        _known(output.variable, names, query.streams, everywhere, output.span, selected=True)
    for total in query.totals:
        _known(total.variable, names, query.streams, everywhere, total.span)
    _check_returned(query, names, everywhere)
    _check_unfollowed(query, names, everywhere)
    _check_skip(query)


def _check_unfollowed(query: cel.CeqlTree, names: frozenset[str], everywhere: Everywhere) -> None:
    """Check that what must not follow is compared only with variables that hold one event."""
    if query.unfollowed is None:
        return
    for event in query.unfollowed.events:
        assert isinstance(event, cel.Excluded)
        _check_excluded(event, names, query.streams, everywhere)
    order = leaf_order(query.formula)
    for name in query.unfollowed.read:
        if order.may_follow(name, name):
            raise RefusedError(
                f"{name!r} may hold several events, and what must not follow is compared with one",
                span=query.unfollowed.span,
                hint="name the event that is meant, as in A+ ; A AS last",
            )


def _check_skip(query: cel.CeqlTree) -> None:
    """Check that nothing else decides about matches where skipping or waiting does."""
    clauses = {
        "WITH TIMEOUTS": query.timeouts,
        "NOT FOLLOWED BY": query.unfollowed is not None,
        "AFTER MATCH SKIP": query.skip is not None,
    }
    given = [title for title, there in clauses.items() if there]
    if not given:
        return
    clause, *more = given
    others = {"CONSUME BY": query.consume is not Consume.NONE, "COUNT(*)": query.count}
    others["LIMIT"] = query.limit is not None and not query.timeouts
    others |= dict.fromkeys(more, True)
    # when matches are taken, it is not known which of them SELECT shows nothing of
    others["a list after SELECT"] = query.skip is Skip.TO_NEXT and query.select is not None
    for title in (title for title, given in others.items() if given):
        raise RefusedError(
            f"{clause} does not go with {title}",
            span=query.span,
            hint="write SELECT *" if "SELECT" in title else "keep one of them",
        )


def _check_returned(query: cel.CeqlTree, names: frozenset[str], everywhere: Everywhere) -> None:
    """Check that RETURN reads bound variables, and only aggregates of one that may hold several
    events."""
    if not query.returned:
        return
    if query.count:
        raise RefusedError(
            "RETURN is about each match, and COUNT(*) about all of them",
            span=query.returned[0].span,
            hint="write SELECT *",
        )
    order = leaf_order(query.formula)
    for node in (part for each in query.returned for part in each.value.walk()):
        if not isinstance(node, ex.Attribute | ex.Aggregate):
            continue
        variable = str(node.variable)
        if isinstance(node, ex.Aggregate) and node.function == PREV:
            raise RefusedError(
                "prev is for conditions: it has a value for every event but the first",
                span=node.span,
                hint="write first(b.price) or last(b.price)",
            )
        _known(variable, names, query.streams, everywhere, node.span)
        if isinstance(node, ex.Attribute) and order.may_follow(variable, variable):
            raise RefusedError(
                f"{variable!r} may hold several events, and a column has one value",
                span=node.span,
                hint=f"write first({variable}.{node.name}), last, min, max, sum, avg or count",
            )


def _check_formula(formula: cel.Formula, streams: tuple[str, ...], everywhere: Everywhere) -> None:
    match formula:
        case cel.Type(_, str(stream)) if streams and stream not in streams:
            raise UnknownNameError(
                f"stream {stream!r} is not in FROM",
                span=formula.span,
                hint=did_you_mean(stream, streams),
            )
        case cel.Filter(body, predicate):
            names = bound(body)
            for name, span in mentioned(predicate):
                _known(name, names, streams, everywhere, span)
            for condition in conditions_of(predicate):
                check_previous(condition)
        case cel.Project(variables, body):
            names = bound(body)
            for name in sorted(variables):
                _known(name, names, streams, everywhere, formula.span)
        case cel.Not(body):
            _check_negated(body, streams, everywhere)
        case cel.Without(body, events):
            names = bound(body)
            for event in events:
                _check_excluded(event, names, streams, everywhere)


def _check_excluded(
    event: cel.Excluded, names: frozenset[str], streams: tuple[str, ...], everywhere: Everywhere
) -> None:
    """Check that its conditions are about the event, or about events of the pattern it must not
    occur in."""
    _check_formula(event.event, streams, everywhere)
    if event.predicate is None:
        return
    for name, span in mentioned(event.predicate):
        _known(name, names | _names_of(event), streams, everywhere, span)
    for condition in conditions_of(event.predicate):
        if ex.has_aggregates(condition):
            raise RefusedError(
                "totals cannot be compared with an event that must not occur",
                span=condition.span,
                hint="compare it with single events of the pattern",
            )
        others = [name for name in ex.variables(condition) if not is_own(event, name)]
        if others and any(">" in name for name in ex.variables(condition)):
            raise RefusedError(
                "a condition between events is about variables, not about S>R",
                span=condition.span,
                hint="name the events with AS",
            )


def _check_negated(formula: cel.Formula, streams: tuple[str, ...], everywhere: Everywhere) -> None:
    match formula:
        case cel.Type():
            return
        case cel.As(body, _):
            _check_negated(body, streams, everywhere)
        case cel.Filter(body, predicate):
            _check_negated_filter(predicate, body, streams, everywhere)
            _check_negated(body, streams, everywhere)
        case _:
            raise RefusedError(ONE_EVENT, span=formula.span, hint=USE_UNLESS)


def _check_negated_filter(
    predicate: cel.Predicate,
    body: cel.Formula,
    streams: tuple[str, ...],
    everywhere: Everywhere,
) -> None:
    """Check that a filter inside NOT mentions only its own event; other variables are not known
    there."""
    inside = bound(body)
    for name, span in mentioned(predicate):
        if name in everywhere.names and not knows(name, inside, streams):
            raise RefusedError(
                f"a filter inside NOT(…) cannot compare with {name!r}", span=span, hint=USE_UNLESS
            )


def _known(
    name: str,
    names: frozenset[str],
    streams: tuple[str, ...],
    everywhere: Everywhere,
    span: Span | None,
    *,
    selected: bool = False,
) -> None:
    if knows(name, names, streams):
        return
    if name in everywhere.names | everywhere.absent:
        hint = ELSEWHERE if name in everywhere.names else ABSENT.format(name=name)
        raise UnknownNameError(f"variable {name!r} is not bound here", span=span, hint=hint)
    raise UnknownNameError(
        f"variable {name!r} is not bound by the pattern",
        span=span,
        hint=_hint(name, names, selected),
    )


def _hint(name: str, names: frozenset[str], selected: bool) -> str | None:
    near = did_you_mean(name, names)
    if not selected or nearest(name, sorted(names)) is not None:
        return near
    return "; ".join(filter(None, (near, COLUMN.format(name=name))))


def knows(name: str, names: frozenset[str], streams: tuple[str, ...]) -> bool:
    if name in names:
        return True
    stream, _, event = name.rpartition(">")
    return bool(stream) and event in names and (not streams or stream in streams)
