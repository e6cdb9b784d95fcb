"""WITH TIMEOUTS: plans that find how far a partial match came.

A pattern is a row of steps. A partial match of its first steps could have been completed if these
steps and one more event after them, whatever it is, are a match. So every construction (contiguity,
WITHOUT, UNLESS …) itself decides what still waits and what has failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pyarrow as pa

from cereus.clauses.tree import (
    AttributeWindow,
    EventWindow,
    Output,
    Returned,
    Strategy,
    TimeWindow,
    Window,
)
from cereus.errors import RefusedError
from cereus.expr import tree as ex
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.events import tests_of
from cereus.languages.ceql.operators.absence import is_own
from cereus.languages.ceql.operators.counts import may_be_nothing
from cereus.languages.ceql.planning.facts import looks_back
from cereus.languages.ceql.predicates import conditions_of, mentioned, operands_of
from cereus.languages.ceql.print import formula_text
from cereus.languages.ceql.scope import bound, knows
from cereus.plan.plan import Plan
from cereus.plan.returned import returned_variables
from cereus.plan.tests import EventTest
from cereus.plan.timeouts import EVERY, FIRST, WAITS, StepPlan, TimeoutPlans, window_schema
from cereus.stream import Stream

HOPED_FOR = "__hoped_for"
"""The variable of the event that could still come."""
MOST_ROUNDS = 16
"""Up to this many rounds of `φ{n}` are separate steps."""

Planned = Callable[[cel.CeqlTree, Stream, pa.Schema | None], Plan]


def timeout_plans(
    query: cel.CeqlTree,
    window: Window | None,
    stream: Stream,
    schema: pa.Schema | None,
    begins: int,
    planned: Planned,
) -> TimeoutPlans:
    """The plans for the windows of a query; `planned` makes a plan of a part of it."""
    assert isinstance(window, TimeWindow | EventWindow)
    query = replace(query, window=window)
    steps = tuple(units(query.formula))
    alone = replace(stream, keys=(), where=None)
    extended = None if schema is None else window_schema(schema)

    def plan(formula: cel.Formula) -> Plan:
        return planned(_of_window(query, formula), alone, extended)

    beginnings = (
        StepPlan(_name(steps[n - 1]), _waiting_for(steps[n:]), plan(hopeful(query.formula, n)))
        for n in reversed(range(1, len(steps)))
    )
    return TimeoutPlans(window, begins, plan(query.formula), tuple(beginnings))


def begun_formulas(query: cel.CeqlTree) -> Iterator[cel.Formula]:
    """The patterns of all beginnings that wait for an event."""
    return (hopeful(query.formula, n) for n in range(1, _count(query.formula)))


def first_tests(query: cel.CeqlTree, stream: Stream) -> Iterator[EventTest]:
    """The tests of the events that may begin a match."""
    for unit in units(query.formula):
        yield from tests_of(unit, query, stream, None)
        if not may_be_nothing(unit):
            return


def check_timeouts(query: cel.CeqlTree) -> None:
    """Refuse a query that cannot have time-outs."""
    if not query.timeouts:
        return
    for why, hint in _refusals(query):
        raise RefusedError(f"WITH TIMEOUTS {why}", text=query.text, span=query.span, hint=hint)


def _refusals(query: cel.CeqlTree) -> Iterator[tuple[str, str]]:
    if query.window is None:
        yield "needs a window, whose end is the time-out", "write WITHIN 5 minutes WITH TIMEOUTS"
    if isinstance(query.window, AttributeWindow):
        yield "needs a window of time or of events", "write WITHIN 5 minutes, or WITHIN 100 EVENTS"
    nodes = tuple(query.formula.walk())
    for kind, name in ((cel.Not, "NOT(…)"), (cel.Project, "PROJECT")):
        if any(isinstance(node, kind) for node in nodes):
            yield f"does not go with {name}", "write WITHOUT for what must not come in between"
    if (reason := looks_back(query.formula)) is not None:
        yield f"looks at the events from the first one of a match on, but {reason}", "leave it out"
    if _count(query.formula) < 2:
        hint = "write steps one after the other: A ; B"
        yield "needs a pattern of several steps, and this one is one step", hint


def _of_window(query: cel.CeqlTree, formula: cel.Formula) -> cel.CeqlTree:
    """The query of a part of the pattern, on windows that are keys. Its match begins with the first
    event, and NEXT chooses it."""
    if query.strategy is Strategy.STRICT:
        formula = cel.Select(Strategy.STRICT, formula)
    select, names = query.select, bound(formula)
    if select is not None:
        formula = cel.As(formula, EVERY)
        known = (each for each in select if knows(each.variable, names, ()))
        select = (*known, Output(EVERY))
    window = query.window
    if isinstance(window, EventWindow):
        window = EventWindow(window.size + 1)
    # returned values are computed from the events of the variables; here these are only marked
    returned = tuple(
        Returned(ex.Aggregate("count", name, None), f"__{name}")
        for name in sorted(returned_variables(query))
        if knows(name, names, ())
    )
    return replace(
        query,
        formula=cel.Start(formula),
        select=select,
        returned=returned,
        strategy=Strategy.NEXT,
        partition_by=((FIRST,),),
        window=window,
        limit=None,
        timeouts=False,
    )


def _name(unit: cel.Formula) -> str:
    """The name of a step: its variable, or its text."""
    while isinstance(unit, cel.Filter):
        unit = unit.body
    return unit.variable if isinstance(unit, cel.As) else formula_text(unit)


def _waiting_for(rest: tuple[cel.Formula, ...]) -> str:
    """What may come next: a step, and the later ones if it may be left out."""
    names: dict[str, None] = {}
    for unit in rest:
        names[_name(_certain(unit))] = None
        if not may_be_nothing(unit):
            break
    return " or ".join(names)


# ---------------------------------------------------------------- steps


def units(formula: cel.Formula) -> Iterator[cel.Formula]:
    """The steps of a pattern: the parts between `;` and `:`, and the rounds that must come."""
    match formula:
        case (
            cel.Sequence(left, right)
            | cel.ContiguousSequence(left, right)
            | cel.Gapped(left, right)
        ):
            yield from units(left)
            yield from units(right)
        case cel.Filter(body) | cel.Without(body) | cel.Select(_, body) | cel.Unless(body, _):
            yield from units(body)
        case cel.As(body) if _count(body) > 1:
            yield from units(body)
        case cel.Repeated() if _is_counted(formula):
            yield from units(_in_two(formula))
        case _:
            yield formula


def _count(formula: cel.Formula) -> int:
    return sum(1 for _ in units(formula))


def _is_counted(node: cel.Repeated) -> bool:
    return 2 <= node.least <= MOST_ROUNDS and node.gap is None


def _in_two(node: cel.Repeated) -> cel.Formula:
    """The first round, and the others."""
    most = None if node.most is None else node.most - 1
    rest: cel.Formula = replace(node, least=node.least - 1, most=most)
    if (node.least, most) == (2, 1):
        rest = node.body
    return _pair(node.contiguous)(node.body, rest)


def _pair(contiguous: bool) -> type[cel.Sequence] | type[cel.ContiguousSequence]:
    return cel.ContiguousSequence if contiguous else cel.Sequence


def hopeful(formula: cel.Formula, steps: int, *variables: str) -> cel.Formula:
    """The first steps of a pattern, which all must be there, and one more event, whatever it is.
    Conditions on later events are left out. `variables` hold the steps."""
    match formula:
        case cel.Sequence(left, right) | cel.ContiguousSequence(left, right):
            before = _count(left)
            if steps < before:
                return hopeful(left, steps, *variables)
            there = _named(_certain(left) if steps == before else left, variables)
            return replace(formula, left=there, right=hopeful(right, steps - before, *variables))
        case cel.Gapped(left, right, _, contiguous):
            if steps == _count(left):  # the full length is not known yet
                return hopeful(_pair(contiguous)(left, right), steps, *variables)
            if steps < _count(left):
                return hopeful(left, steps, *variables)
            there, rest = _named(left, variables), steps - _count(left)
            return replace(formula, left=there, right=hopeful(right, rest, *variables))
        case cel.Filter(body, predicate):
            return _decided(hopeful(body, steps, *variables), predicate, _later(body, steps))
        case cel.Without(body, events):
            inner = hopeful(body, steps, *variables)
            known = tuple(each for each in events if _is_known(each, bound(inner)))
            return replace(formula, body=inner, events=known) if known else inner
        case cel.Unless(left, _):
            return replace(formula, left=hopeful(left, steps, *variables))
        case cel.Select(strategy, body):
            inner = hopeful(body, steps, *variables)
            return replace(formula, body=inner) if strategy is Strategy.STRICT else inner
        case cel.As(body, variable) if _count(body) > 1:
            return hopeful(body, steps, variable, *variables)
        case cel.Repeated() if _is_counted(formula):
            return hopeful(_in_two(formula), steps, *variables)
    return _any_event()


def _any_event() -> cel.Formula:
    waits = ex.Comparison("=", ex.Attribute((WAITS,), HOPED_FOR), ex.Literal(1))
    return cel.Filter(cel.As(cel.Type("*"), HOPED_FOR), cel.Holds(waits))


def _named(formula: cel.Formula, variables: tuple[str, ...]) -> cel.Formula:
    for variable in variables:
        formula = cel.As(formula, variable)
    return formula


def _certain(formula: cel.Formula) -> cel.Formula:
    """The pattern with its last step, even if that is optional."""
    match formula:
        case cel.Sequence(_, right) | cel.ContiguousSequence(_, right) | cel.Gapped(_, right):
            return replace(formula, right=_certain(right))
        case cel.Unless(left, _):
            return replace(formula, left=_certain(left))
        case cel.Filter(body) | cel.Without(body) | cel.Select(_, body) | cel.As(body):
            return replace(formula, body=_certain(body))
        case cel.Optional(body):
            return _certain(body)
        case cel.Repeated(least=0):
            return replace(formula, least=1)
        case cel.Repeated() if _is_counted(formula):
            return _certain(_in_two(formula))
    return formula


# ---------------------------------------------------------------- conditions


def _later(formula: cel.Formula, steps: int) -> frozenset[str]:
    """The variables that hold events of later steps."""
    match formula:
        case (
            cel.Sequence(left, right)
            | cel.ContiguousSequence(left, right)
            | cel.Gapped(left, right)
        ):
            before = _count(left)
            if steps < before:
                return _later(left, steps) | bound(right)
            return _later(right, steps - before)
        case cel.Filter(body) | cel.Without(body) | cel.Select(_, body) | cel.Unless(body, _):
            return _later(body, steps)
        case cel.As(body, variable) if _count(body) > 1:
            return _later(body, steps) | {variable}
        case cel.Repeated() if _is_counted(formula):
            return _later(_in_two(formula), steps)
    return bound(formula)


def _decided(body: cel.Formula, predicate: cel.Predicate, later: frozenset[str]) -> cel.Formula:
    """The conditions on the events so far; those with aggregates only if all their events are
    there."""
    parts = tuple(part for part in operands_of(predicate) if _is_decided(part, bound(body), later))
    if not parts:
        return body
    return cel.Filter(body, parts[0] if len(parts) == 1 else cel.AllOf(parts))


def _is_decided(part: cel.Predicate, there: frozenset[str], later: frozenset[str]) -> bool:
    names = [name for name, _ in mentioned(part)]
    if not all(knows(name, there, ()) for name in names):
        return False
    return not (
        any(map(ex.has_aggregates, conditions_of(part)))
        and any(knows(name, later, ()) for name in names)
    )


def _is_known(event: cel.Excluded, there: frozenset[str]) -> bool:
    """Whether the conditions on what must not occur read only events that are there."""
    if event.predicate is None:
        return True
    read = (name for name, _ in mentioned(event.predicate) if not is_own(event, name))
    return all(knows(name, there, ()) for name in read)
