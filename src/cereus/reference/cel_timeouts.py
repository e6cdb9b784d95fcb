"""WITH TIMEOUTS in CEQL, from its definition.

A pattern is a row of steps. Let e be an event, and S_e the events of its key from e to the end of
the window that begins with e. Then e timed out if no match of the whole pattern on S_e begins with
e, but the first k steps have one that could still be completed: it becomes a match of these steps
and of one more event, without type and attributes, that comes when the window ends. Of all k the
largest counts, and of its matches those that NEXT prefers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cereus.clauses.tree import EventWindow, Strategy, TimeWindow
from cereus.expr.tree import Aggregate, Attribute
from cereus.languages.ceql import tree as cel
from cereus.reference.cel import (
    Event,
    Match,
    Partition,
    Stream,
    is_interval,
    partitions_of,
    select,
    support,
    valuations,
)

HOPED_FOR = "the event that is waited for"
"""The variable of the event that could come."""


@dataclass(frozen=True)
class TimedOut:
    """A partial match: how many steps it has, its row, when its window ended."""

    steps: int
    match: Match
    deadline: Any


def timeouts(query: cel.CeqlTree, events: Sequence[Event], **stream: Any) -> list[TimedOut]:
    """All partial matches that timed out. `stream` as for `cel.matches`; the end of the input ends
    every window."""
    answer: list[TimedOut] = []
    for key, partition in partitions_of(query, events, **stream).items():
        for first in range(len(partition.rows)):
            answer.extend(_from(first, partition, key))
    return answer


def _from(first: int, partition: Partition, key: tuple[Any, ...]) -> Iterator[TimedOut]:
    """The time-outs of the matches that would begin at a local position."""
    query, every = partition.query, partition.stream.events
    reach = (p for p in range(first, len(every)) if partition.reach(first, p))
    window = [every[position] for position in reach]
    if _complete(query, replace(partition.stream, events=window, _memo={})):
        return
    hoping = replace(partition.stream, events=[*window, _nothing(window[0], partition)], _memo={})
    for steps in reversed(range(1, len(list(units(query.formula))))):
        formula = hopeful(query.formula, steps)
        rows: dict[Any, Match] = {}
        for valuation in _chosen(formula, query.strategy, hoping):
            there = frozenset((name, p + first) for name, p in valuation if p < len(window))
            row = partition.row(there, first, key)
            rows[row.positions, row.bindings, row.read] = row
        deadline = _deadline(query, hoping, window)
        yield from (TimedOut(steps, row, deadline) for row in rows.values())
        if rows:
            return


def _complete(query: cel.CeqlTree, stream: Stream) -> bool:
    every = range(len(stream.events))
    every_match = (v for j in every for v in valuations(query.formula, stream, 0, j))
    return any(0 in support(v) and _is_kept(v, query.strategy) for v in every_match)


def _chosen(formula: cel.Formula, strategy: Strategy, stream: Stream) -> frozenset[Any]:
    end = len(stream.events) - 1
    candidates = valuations(formula, stream, 0, end)
    begun = (v for v in candidates if 0 in support(v) and (HOPED_FOR, end) in v)
    return select(Strategy.NEXT, frozenset(v for v in begun if _is_kept(v, strategy)))


def _is_kept(valuation: Any, strategy: Strategy) -> bool:
    """Whether a strategy keeps a valuation: those that choose among matches do not apply; STRICT is
    about each of them."""
    return strategy is not Strategy.STRICT or is_interval(support(valuation))


def _nothing(first: Event, partition: Partition) -> Event:
    """An event without type and attributes, in the stream of the first one. Its time is never used:
    how long after another event it comes is left out of the pattern."""
    column = partition.stream.stream
    return dict.fromkeys(first) | ({} if column is None else {column: first[column]})


def _deadline(query: cel.CeqlTree, stream: Stream, window: Sequence[Event]) -> Any:
    if not isinstance(query.window, TimeWindow):
        assert isinstance(query.window, EventWindow)
        return None
    assert stream.time is not None
    return stream.time(window[0]) + query.window.microseconds


# ---------------------------------------------------------------- steps


def units(formula: cel.Formula) -> Iterator[cel.Formula]:
    """The steps of a pattern: the parts between `;` and `:`, also under filters."""
    match formula:
        case cel.Sequence(left, right) | cel.ContiguousSequence(left, right):
            yield from (*units(left), *units(right))
        case cel.Gapped(left, right):
            yield from (*units(left), *units(right))
        case cel.Filter(body) | cel.Without(body) | cel.Select(_, body) | cel.Unless(body, _):
            yield from units(body)
        case cel.As(body) if len(list(units(body))) > 1:
            yield from units(body)
        case cel.Repeated() if is_counted(formula):
            yield from units(_in_two(formula))
        case _:
            yield formula


def is_counted(node: cel.Repeated) -> bool:
    """Whether rounds are steps: two to sixteen have to come."""
    return 2 <= node.least <= 16 and node.gap is None


def _in_two(node: cel.Repeated) -> cel.Formula:
    more = None if node.most is None else node.most - 1
    rest: cel.Formula = replace(node, least=node.least - 1, most=more)
    if (node.least, more) == (2, 1):
        rest = node.body
    kind = cel.ContiguousSequence if node.contiguous else cel.Sequence
    return kind(node.body, rest)


def hopeful(formula: cel.Formula, steps: int, *variables: str) -> cel.Formula:
    """The first steps of a pattern, and the event that is waited for. All steps must be there, even
    optional ones. Conditions on later events are left out, and so are aggregates of what is not
    complete yet. `variables` hold the steps."""
    match formula:
        case cel.Sequence(left, right) | cel.ContiguousSequence(left, right):
            return _hopeful_pair(formula, left, right, steps, variables)
        case cel.Gapped(left, right, _, contiguous):
            before = len(list(units(left)))
            if steps != before:
                return _hopeful_pair(formula, left, right, steps, variables)
            kind = cel.ContiguousSequence if contiguous else cel.Sequence
            return kind(_named(_there(left), variables), hopeful(right, 0, *variables))
        case cel.Filter(body, predicate):
            inner, rest = hopeful(body, steps, *variables), later(body, steps)
            parts = [p for p in _conjuncts(predicate) if _is_decided(p, names(inner), rest)]
            return cel.Filter(inner, cel.AllOf(tuple(parts))) if parts else inner
        case cel.Without(body, events):
            inner = hopeful(body, steps, *variables)
            kept = tuple(each for each in events if _is_excluded(each, names(inner)))
            return replace(formula, body=inner, events=kept) if kept else inner
        case cel.Unless(left, _):
            return replace(formula, left=hopeful(left, steps, *variables))
        case cel.Select(strategy, body):
            inner = hopeful(body, steps, *variables)
            return replace(formula, body=inner) if strategy is Strategy.STRICT else inner
        case cel.As(body, variable) if len(list(units(body))) > 1:
            return hopeful(body, steps, variable, *variables)
        case cel.Repeated() if is_counted(formula):
            return hopeful(_in_two(formula), steps, *variables)
    assert steps == 0
    return cel.As(cel.Type("*"), HOPED_FOR)


def _hopeful_pair(
    formula: cel.Sequence | cel.ContiguousSequence | cel.Gapped,
    left: cel.Formula,
    right: cel.Formula,
    steps: int,
    variables: tuple[str, ...],
) -> cel.Formula:
    before = len(list(units(left)))
    if steps < before:
        return hopeful(left, steps, *variables)
    known = _named(_there(left) if steps == before else left, variables)
    return replace(formula, left=known, right=hopeful(right, steps - before, *variables))


def _named(formula: cel.Formula, variables: Sequence[str]) -> cel.Formula:
    for variable in variables:
        formula = cel.As(formula, variable)
    return formula


def _there(formula: cel.Formula) -> cel.Formula:
    """The pattern with its last step, even if that is optional."""
    match formula:
        case cel.Sequence(_, right) | cel.ContiguousSequence(_, right) | cel.Gapped(_, right):
            return replace(formula, right=_there(right))
        case cel.Unless(left, _):
            return replace(formula, left=_there(left))
        case cel.Filter(body) | cel.Without(body) | cel.Select(_, body) | cel.As(body):
            return replace(formula, body=_there(body))
        case cel.Optional(body):
            return _there(body)
        case cel.Repeated(least=0):
            return replace(formula, least=1)
        case cel.Repeated() if is_counted(formula):
            return _there(_in_two(formula))
    return formula


# ---------------------------------------------------------------- names and conditions


def names(formula: cel.Formula) -> set[str]:
    """The variables that hold events of a pattern."""
    match formula:
        case cel.Type(name):
            return {name} - {"*"}
        case cel.As(body, variable):
            return names(body) | {variable}
        case cel.Unless(left, _):
            return names(left)
        case cel.Not():
            return set()
    return {name for part in formula.children() for name in names(part)}


def later(formula: cel.Formula, steps: int) -> set[str]:
    """The variables that hold events of later steps."""
    match formula:
        case (
            cel.Sequence(left, right)
            | cel.ContiguousSequence(left, right)
            | cel.Gapped(left, right)
        ):
            before = len(list(units(left)))
            if steps < before:
                return later(left, steps) | names(right)
            return later(right, steps - before)
        case cel.Filter(body) | cel.Without(body) | cel.Select(_, body) | cel.Unless(body, _):
            return later(body, steps)
        case cel.As(body, variable) if len(list(units(body))) > 1:
            return later(body, steps) | {variable}
        case cel.Repeated() if is_counted(formula):
            return later(_in_two(formula), steps)
    return names(formula)


def _conjuncts(predicate: cel.Predicate) -> Iterator[cel.Predicate]:
    if isinstance(predicate, cel.AllOf):
        for operand in predicate.operands:
            yield from _conjuncts(operand)
    else:
        yield predicate


def _nodes(predicate: cel.Predicate) -> Iterator[Attribute | Aggregate]:
    if isinstance(predicate, cel.AllOf | cel.AnyOf):
        for operand in predicate.operands:
            yield from _nodes(operand)
    elif isinstance(predicate, cel.Holds):
        for node in predicate.condition.walk():
            if isinstance(node, Attribute | Aggregate) and node.variable is not None:
                yield node


def _is_bound(name: str, there: set[str]) -> bool:
    return name in there or name.rpartition(">")[2] in there


def _is_decided(part: cel.Predicate, there: set[str], unmade: set[str]) -> bool:
    nodes = list(_nodes(part))
    if not all(_is_bound(str(node.variable), there) for node in nodes):
        return False
    totals = any(isinstance(node, Aggregate) for node in nodes)
    return not (totals and any(_is_bound(str(node.variable), unmade) for node in nodes))


def _is_excluded(event: cel.Excluded, there: set[str]) -> bool:
    event_names = {*event.names, event.event.name}
    read = () if event.predicate is None else _nodes(event.predicate)
    others = (
        str(n.variable) for n in read if str(n.variable).rpartition(">")[2] not in event_names
    )
    return all(_is_bound(name, there) for name in others)
