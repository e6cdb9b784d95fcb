"""SASE+ → Plan, one for each query block: with values in slots of the kernel where these can
decide, else in states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa

from cereus.clauses.tree import EventWindow, Output, ParsedQuery
from cereus.errors import RefusedError
from cereus.expr import tree as ex
from cereus.languages.sase import tree as sase
from cereus.languages.sase.nfa.nfa import Nfa
from cereus.languages.sase.places import ClausePlace, place
from cereus.languages.sase.planning.implied import implied_keys
from cereus.languages.sase.planning.slots import BuffersInSlots
from cereus.languages.sase.planning.timeouts import timeout_plans
from cereus.languages.sase.planning.values import BuffersInStates
from cereus.languages.sase.print import to_text
from cereus.plan.lowered import Lowered, slots_else_values, with_tests
from cereus.plan.plan import Plan
from cereus.plan.tests import EventTest
from cereus.plan.traits import PatternFacts
from cereus.stream import Stream

Aggregates = Mapping[str, sase.UserAggregate]


def block_of(plan: Plan) -> sase.Query:
    """The query block from which a plan was made."""
    assert isinstance(plan.query.formula, sase.Pattern)
    return plan.query.formula.query


def build(
    query: sase.Query,
    stream: Stream,
    schema: pa.Schema | None = None,
    aggregates: Aggregates | None = None,
) -> Plan:
    """Make a plan for a block that has been checked (`schema.checked`, with a schema)."""
    keyed = is_keyed(query)
    lowered = _lowered(query, stream, schema, keyed, aggregates or {})
    equivalences = query.equivalences if keyed else ()
    source = () if query.source is None or stream.stream is None else (query.source,)
    parsed = ParsedQuery(
        sase.Pattern(query),
        select=tuple(Output(each.variable) for each in query.components),
        streams=source,
        partition_by=tuple(dict.fromkeys((*equivalences, *implied_keys(query)))),
        window=query.window,
        text=to_text(sase.Program((sase.Union((query,)),))),
        skip=query.skip,
        timeouts=query.timeouts,
    )
    _check_skip(query, closes=lowered.automaton.waits_for_time)
    facts = PatternFacts(
        closes=lowered.automaton.waits_for_time,
        ends_at_marks=True,
        distinct=True,
        position_sensitive=isinstance(query.window, EventWindow),
        # runs are independent, and a leading negation reaches back to the beginning of the window
        looks_back=None,
    )
    if not query.timeouts:
        return Plan.of(parsed, stream, lowered, facts)
    counted = [EventTest()] if facts.position_sensitive else []
    tested, _ = with_tests(lowered, counted)
    begins = 1 << (lowered.automaton.stages[0].select.bit or 0)

    def lower(part: sase.Query, alone: Stream, known: pa.Schema | None) -> Lowered[Nfa]:
        return _lowered(part, alone, known, keyed, aggregates or {})

    plans = timeout_plans(query, stream, schema, begins, lower)
    return replace(Plan.of(parsed, stream, tested, facts), timeouts=plans)


def _check_skip(query: sase.Query, *, closes: bool) -> None:
    """Check that it is known at the last event of a match where to go on after it."""
    if query.skip is not None and closes:
        raise RefusedError(
            "AFTER MATCH SKIP needs matches that are complete at their last event, and this one "
            "waits for what comes after it (a negation or a Kleene plus at the end)",
            span=query.span,
            hint="end the pattern with a single event",
        )


def is_keyed(query: sase.Query) -> bool:
    """Whether the attributes of equivalence tests split the stream. They do if nothing reads events
    of other keys, as counting events or strict contiguity would."""
    strict = any(query.strategy(part.variable) is sase.Strategy.STRICT for part in query.parts)
    by_places = isinstance(query.window, EventWindow)
    return bool(query.equivalences) and not strict and not by_places


def _lowered(
    query: sase.Query,
    stream: Stream,
    schema: pa.Schema | None,
    keyed: bool,
    aggregates: Aggregates,
) -> Lowered[Nfa]:
    return slots_else_values(
        schema,
        lambda types: BuffersInSlots(query, stream, types, keyed).lowered(),
        lambda: BuffersInStates(query, stream, schema, keyed, aggregates=aggregates).lowered(),
    )


def without_values(plan: Plan) -> Plan:
    """The plan without conditions for which states would have to remember values; slots can
    stay."""
    if not plan.traits.remembers_values:
        return plan
    block = block_of(plan)
    plain = tuple(part for part in block.parts if not isinstance(part, sase.Negated))
    where = tuple(_on_single_events(block, group) for group in block.where)
    plain_block = replace(
        block, pattern=sase.Sequence(plain), where=where, skip=None, timeouts=False
    )
    return build(plain_block, plan.stream)


def _on_single_events(block: sase.Query, group: sase.Group) -> sase.Group:
    heads = tuple(each for each in group.variables if not block.is_negated(each.name))
    clauses = tuple(
        clause
        for clause in group.clauses
        if is_local(clause) and not any(map(block.is_negated, ex.variables(clause.condition)))
    )
    return replace(group, variables=heads, clauses=clauses)


def is_local(clause: sase.Clause) -> bool:
    """Whether a clause is a condition on single events."""
    names = ex.variables(clause.condition)
    return len(names) == 1 and place(clause.condition, *names) in (
        ClausePlace.FIRST,
        ClausePlace.EACH,
    )
