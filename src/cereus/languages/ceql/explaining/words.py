"""A CEQL query in plain English."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cereus.clauses.print import window_text
from cereus.clauses.tree import Returned
from cereus.explain.phrases import (
    CHOSEN,
    any_order_words,
    choice_words,
    clause_words,
    condition_words,
    event_words,
    grouped,
    listed,
    noun_of,
    number_word,
    plural,
    sentence,
    with_article,
)
from cereus.expr.print import condition_text
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.events import conditions_on_single_events
from cereus.languages.ceql.predicates import conjuncts_of
from cereus.languages.ceql.print import formula_text
from cereus.syntax.literals import duration_text

ANY_EVENT = "event"


def words(query: cel.CeqlTree, keys: Sequence[tuple[str, ...]]) -> str:
    phrasing = _Phrasing(query.formula)
    pattern = phrasing.part(query.formula)
    return sentence([pattern, *_unfollowed(query), *clause_words(query, keys), *_reported(query)])


def _reported(query: cel.CeqlTree) -> Iterator[str]:
    if query.returned:
        yield f"reporting {listed(map(_returned, query.returned))}"


def _returned(each: Returned) -> str:
    value = condition_text(each.value)
    return value if each.name is None else f"{value} as {each.name}"


def _unfollowed(query: cel.CeqlTree) -> Iterator[str]:
    if query.unfollowed is not None:
        every = query.unfollowed.events
        events = tuple(each for each in every if isinstance(each, cel.Excluded))
        window = window_text(query.unfollowed.window)
        yield f"not followed by any {_absent(events)} within {window}"


class _Phrasing:
    """Phrases a formula. Conditions on single events come with the event, the others after the part
    that they filter."""

    def __init__(self, formula: cel.Formula) -> None:
        self.on_events = list(conditions_on_single_events(formula))

    def part(self, node: cel.Formula) -> str:
        match node:
            case cel.Filter(body):
                between = list(self._between(node))
                where = f", where {listed(between)}" if between else ""
                return f"{self.part(body)}{where}"
            case cel.Sequence(left, right):
                return f"{self.part(left)}, then {self._behind(right)}"
            case cel.ContiguousSequence(left, right):
                return f"{self.part(left)}, directly followed by {self._behind(right)}"
            case cel.Gapped(left, right, gap, contiguous):
                word = "directly followed" if contiguous else "then"
                by = " by" if contiguous else ""
                behind = self._behind(right)
                return f"{self.part(left)}, {word}, {gap_words(gap)} later,{by} {behind}"
            case cel.Within(body, window):
                return f"{self._inner(body)} within {window_text(window)}"
            case cel.Or(operands):
                return choice_words(map(self.part, operands))
            case cel.And(left, right):
                return f"({self.part(left)}) that is also ({self.part(right)})"
            case cel.All():
                return any_order_words(map(self.part, _parts_of_all(node)))
            case cel.Unless(left, right):
                return f"{self.part(left)}, with no {self._noun(right)} meanwhile"
            case cel.Without(body, events, through):
                when = "as long as there is no" if through else "with no"
                what = _absent(events, "" if through else " in between")
                return f"{self.part(body)}, {when} {what}"
            case cel.Start(body):
                return f"beginning with the very first event, {self.part(body)}"
            case cel.Project(variables, body):
                return f"{self._inner(body)} (keeping only {listed(sorted(variables))})"
            case cel.Not(body):
                return f"an event that is not {self.part(body)}"
            case cel.Select(strategy, body):
                return f"{self._inner(body)} ({CHOSEN[strategy]})"
            case cel.Optional(body):
                return f"optionally {self.part(body)}"
            case cel.As(body, variable) if not isinstance(_event(body), cel.Type):
                together = "" if _is_one(body) else "together "
                return f"{self.part(body)} ({together}{variable})"
        return self._events(node)

    def _behind(self, node: cel.Formula) -> str:
        """The words for a part that follows another. What must not occur in it may occur in the
        other."""
        inner = node
        while isinstance(inner, cel.As | cel.Filter):
            inner = inner.body
        absent = isinstance(inner, cel.Unless | cel.Without)
        return f"({self.part(node)})" if absent else self.part(node)

    def _inner(self, node: cel.Formula) -> str:
        return grouped(self.part(node))

    def _events(self, node: cel.Formula) -> str:
        """An event, or several of a kind."""
        inner, apart = node, ""
        name: str | None = None
        count = "a"
        while True:
            match inner:
                case cel.As(body, variable):
                    name, inner = variable, body
                case cel.Iteration(body):
                    count, inner = "one or more", body
                case cel.ContiguousIteration(body):
                    count, apart, inner = "one or more", " without a gap", body
                case cel.Repeated(body, contiguous=contiguous):
                    apart = " without a gap" if contiguous else apart
                    if inner.gap is not None:
                        apart += f", {gap_words(inner.gap)} from one to the next"
                    count, inner = _rounds(inner), body
                case cel.Filter(body, _):
                    inner = body
                case _:
                    break
        if not isinstance(inner, cel.Type):
            return self._several(count, inner, apart, name) if count != "a" else self._other(inner)
        conditions = [condition for leaf, condition in self.on_events if leaf is inner]
        noun = ANY_EVENT if inner.name == "*" else inner.name
        stream = "" if inner.stream is None else f" of {inner.stream}"
        if count == "a":
            return with_article(event_words(f"{noun}{stream}", conditions, name))
        apart = f", {apart.lstrip(' ,')}" if conditions and apart else apart
        several = event_words(plural(f"{noun}{stream}"), conditions, name, many=True)
        return f"{count} {several}{apart}"

    def _several(self, count: str, body: cel.Formula, apart: str, name: str | None) -> str:
        named = "" if name is None else f" (together {name})"
        comma = "," if "," in apart else ""
        return f"{count} times{apart}{comma} ({self.part(body)}){named}"

    def _other(self, node: cel.Formula) -> str:
        children = [type(child) for child in node.children()]
        return formula_text(node) if not children else f"what {formula_text(node)} describes"

    def _noun(self, node: cel.Formula) -> str:
        """The words after `no`."""
        phrase = self.part(node)
        return noun_of(phrase) or f"({phrase})"

    def _between(self, node: cel.Filter) -> Iterator[str]:
        """The conditions of a filter that do not come with an event."""
        beside = [id(condition) for _, condition in self.on_events]
        for part in conjuncts_of(node.predicate):
            if not isinstance(part, cel.Holds):
                yield _predicate(part)
            elif id(part.condition) not in beside:
                yield condition_words(part.condition)


def _is_one(node: cel.Formula) -> bool:
    """Whether it takes at most one event."""
    match node:
        case cel.Type():
            return True
        case cel.Or(operands):
            return all(map(_is_one, operands))
        case cel.Filter(body) | cel.As(body) | cel.Optional(body):
            return _is_one(body)
    return False


def _absent(events: tuple[cel.Excluded, ...], place: str = "") -> str:
    """The words for what must not occur, and where: `X in between where the x of X is above 3`."""
    if len(events) == 1:
        return _absent_event(events[0], place)
    return listed(map(_absent_event, events), "or") + place


def _absent_event(event: cel.Excluded, place: str = "") -> str:
    noun = ANY_EVENT if event.event.name == "*" else event.event.name
    where = "" if event.predicate is None else f" where {_predicate(event.predicate)}"
    return f"{noun}{place}{where}"


def _parts_of_all(node: cel.Formula) -> Iterator[cel.Formula]:
    """The operands of ALL, however it is nested."""
    if isinstance(node, cel.All):
        yield from _parts_of_all(node.left)
        yield from _parts_of_all(node.right)
    else:
        yield node


def gap_words(gap: cel.GapLength) -> str:
    """`at most 5 minutes`, `1 minute to 5 minutes`, `at least 1 minute`"""
    if gap.most is None:
        return f"at least {duration_text(gap.least or 0)}"
    most = duration_text(gap.most)
    return f"at most {most}" if gap.least is None else f"{duration_text(gap.least)} to {most}"


def _event(node: cel.Formula) -> cel.Formula:
    """The innermost part of a repetition or filter."""
    while isinstance(
        node,
        cel.As | cel.Filter | cel.Iteration | cel.ContiguousIteration | cel.Repeated,
    ):
        node = node.body
    return node


def _rounds(node: cel.Repeated) -> str:
    if node.most is None:
        return "any number of" if node.least == 0 else f"{number_word(node.least)} or more"
    if node.least == node.most:
        return number_word(node.least)
    if node.least == 0:
        return f"up to {number_word(node.most)}"
    return f"{number_word(node.least)} to {number_word(node.most)}"


def _predicate(predicate: cel.Predicate) -> str:
    match predicate:
        case cel.AnyOf(operands):
            return "either " + listed(map(_predicate, operands), "or")
        case cel.AllOf(operands):
            return listed(map(_predicate, operands))
        case cel.Holds(condition):
            return condition_words(condition)
    return "a condition"
