"""WITH TIMEOUTS: plans that find how far a run came in its window."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pyarrow as pa

from cereus.automata.model import Automaton
from cereus.clauses.tree import EventWindow, Output, ParsedQuery, Strategy, TimeWindow
from cereus.expr import tree as ex
from cereus.languages.sase import tree as sase
from cereus.languages.sase.nfa.begun import BegunNfa
from cereus.languages.sase.nfa.nfa import Nfa
from cereus.plan.lowered import Lowered, with_tests
from cereus.plan.plan import Plan
from cereus.plan.tests import EventTest
from cereus.plan.timeouts import EVERY, FIRST, WAITS, StepPlan, TimeoutPlans, window_schema
from cereus.plan.traits import PatternFacts
from cereus.stream import Stream

HOPED_FOR = EventTest(conditions=(ex.Comparison("=", ex.Attribute((WAITS,)), ex.Literal(1)),))

Lower = Callable[[sase.Query, Stream, pa.Schema | None], Lowered[Nfa]]


def timeout_plans(
    query: sase.Query, stream: Stream, schema: pa.Schema | None, begins: int, lower: Lower
) -> TimeoutPlans:
    """The plans for the windows of a block; `lower` makes its automaton."""
    window = query.window
    assert isinstance(window, TimeWindow | EventWindow)
    alone = replace(stream, keys=(), where=None)
    made = lower(query, alone, None if schema is None else window_schema(schema))

    def plan(steps: int | None) -> Plan:
        return _plan(query, alone, made, steps)

    components = query.components
    names = [each.variable for each in components]
    steps = [StepPlan(names[n - 1], names[n], plan(n)) for n in reversed(range(1, len(components)))]
    if made.automaton.stages[-1].last is not None:
        steps.insert(0, StepPlan(names[-1], names[-1], plan(len(components))))
    return TimeoutPlans(window, begins, plan(None), tuple(steps))


def _plan(query: sase.Query, stream: Stream, made: Lowered[Nfa], steps: int | None) -> Plan:
    tested: Lowered[Automaton]
    tested, mask = with_tests(made, [HOPED_FOR])
    automaton = BegunNfa(made.automaton, steps, mask.bit_length() - 1)
    window = query.window
    if isinstance(window, EventWindow):
        window = EventWindow(window.size + 1)
    parsed = ParsedQuery(
        sase.Pattern(query),
        select=tuple(map(Output, _names(query))),
        strategy=Strategy.NEXT,
        partition_by=((FIRST,),),
        window=window,
    )
    facts = PatternFacts(
        ends_at_marks=True, distinct=True, position_sensitive=isinstance(window, EventWindow)
    )
    lowered = replace(tested, automaton=automaton)
    return Plan.of(parsed, stream, lowered, facts)


def _names(query: sase.Query) -> Iterator[str]:
    yield from (each.variable for each in query.components)
    yield EVERY
