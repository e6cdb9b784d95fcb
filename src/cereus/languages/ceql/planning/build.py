"""CEQL → Plan. It uses slots where they can decide every condition between events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pyarrow as pa

from cereus.automata.model import Automaton
from cereus.automata.strategies import FirstEventsAutomaton, select
from cereus.clauses.tree import Strategy
from cereus.errors import RefusedError
from cereus.expr.check import check, coerce
from cereus.expr.tree import Expression
from cereus.languages.ceql import scope
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.desugar import desugared
from cereus.languages.ceql.planning.brackets import refuse_other_events
from cereus.languages.ceql.planning.choosing import choices, max_refusal
from cereus.languages.ceql.planning.facts import ends_marked, facts_of
from cereus.languages.ceql.planning.keys import KeyedFormula, with_keys
from cereus.languages.ceql.planning.lower import MatchChoice, lowered
from cereus.languages.ceql.planning.narrow import narrow_filters
from cereus.languages.ceql.planning.rewrite import RULES as LOCAL_RULES
from cereus.languages.ceql.planning.rewrite import Rule, rewrite
from cereus.languages.ceql.planning.span import with_implied_window
from cereus.languages.ceql.planning.streams import Streams, check_streams
from cereus.languages.ceql.planning.timeouts import check_timeouts, first_tests, timeout_plans
from cereus.languages.ceql.planning.unseen import with_single_rounds
from cereus.plan.checking import check_clauses
from cereus.plan.lowered import Lowered, with_tests
from cereus.plan.plan import Follower, Plan
from cereus.plan.tests import EventTest
from cereus.plan.traits import CHOOSING, ChosenBy, PatternFacts
from cereus.stream import Stream
from cereus.syntax.tree import bottom_up

SKIPPED = "AFTER MATCH SKIP compares whole runs"
"""Why slots cannot decide."""
RULES: tuple[Rule, ...] = (*LOCAL_RULES, narrow_filters)
"""All rewrite rules, in the order they are applied."""


def build(
    query: cel.CeqlTree,
    stream: Stream,
    schema: pa.Schema | None = None,
    rules: tuple[Rule, ...] = RULES,
    correlated: bool = True,
    *,
    keys: bool = True,
) -> Plan:
    """Make a plan; with a schema, every name and type in the query is checked against it. Without
    `correlated`, events that must not occur may occur if they are compared with other events. With
    `keys`, equalities over all variables split the stream."""
    query = desugared(query)
    _check(query, stream)
    if schema is not None:
        query = _checked(query, stream, schema)
    window, query = query.window, with_implied_window(query)
    keyed = with_keys(query) if keys else KeyedFormula(query.formula, ())
    facts = facts_of(query)
    streams = Streams.of(query, stream)
    choice = _choice(query, facts)
    lower = partial(
        lowered,
        streams=streams,
        schema=schema,
        stream=stream,
        choice=choice,
        correlated=correlated,
    )
    made, strict = _lowered(query, keyed.formula, rules, lower, grows=choice.grows)
    made, followers, compared = _with_followers(query, streams, made)
    begins = 0
    if query.timeouts:
        made, begins = with_tests(made, first_tests(query, stream))
        made, _ = with_tests(made, [EventTest()] if facts.position_sensitive else [])
    plan = Plan.of(query, stream, made, facts, keyed.keys)
    plan = replace(plan, followers=followers, compared_followers=compared)
    if query.timeouts:
        parts = partial(build, rules=rules, keys=False)
        timeouts = timeout_plans(query, window, stream, schema, begins, parts)
        plan = replace(plan, timeouts=timeouts)
    return _choosing(plan, query, made.automaton, strict=strict)


def _check(query: cel.CeqlTree, stream: Stream) -> None:
    """Refuse clauses that do not go together, or that the stream cannot answer."""
    check_streams(query, stream)
    _check_count(query)
    _check_unfollowed(query, stream)
    check_timeouts(query)


def _choice(query: cel.CeqlTree, facts: PatternFacts) -> MatchChoice:
    largest = query.strategy is Strategy.MAX and not facts.one_size and not facts.open_ended
    return MatchChoice(
        why_values=max_refusal(query, query.formula) if query.skip is None else SKIPPED,
        chooses=not query.timeouts,
        largest=largest,
        grows=largest and query.skip is None and not query.timeouts,
    )


def _lowered(
    query: cel.CeqlTree,
    formula: cel.Formula,
    rules: tuple[Rule, ...],
    lower: Callable[[cel.Formula], Lowered[Automaton]],
    *,
    grows: bool,
) -> tuple[Lowered[Automaton], bool]:
    """The automaton of the rewritten formula, and whether it contains the choice of STRICT."""
    rewritten = with_single_rounds(query, rewrite(formula, rules))
    strict = query.strategy is Strategy.STRICT and any(choices(rewritten))
    if strict:  # a match that it refuses still beats others
        rewritten = cel.Select(Strategy.STRICT, rewritten)
    made = lower(rewritten)
    if not grows or made.grows or made.nests:
        return made, strict
    # a filter of a part may forget values that a growing run still needs
    local = rewrite(formula, tuple(rule for rule in rules if rule is not narrow_filters))
    unnarrowed = lower(with_single_rounds(query, local))
    return (unnarrowed if unnarrowed.grows else made), strict


def _with_followers(
    query: cel.CeqlTree, streams: Streams, made: Lowered[Automaton]
) -> tuple[Lowered[Automaton], int, tuple[Follower, ...]]:
    """The same with tests of what must not follow a match: their bits, and those that are compared
    with it."""
    if query.unfollowed is None:
        return made, 0, ()
    events = (each for each in query.unfollowed.events if isinstance(each, cel.Excluded))
    mask, compared = 0, []
    for event in events:
        for test, conditions in streams.excluded(event):
            made, bits = with_tests(made, [test])
            if conditions:
                compared.append(Follower(bits.bit_length() - 1, conditions))
            else:
                mask |= bits
    return made, mask, tuple(compared)


def _choosing(plan: Plan, query: cel.CeqlTree, automaton: Automaton, *, strict: bool) -> Plan:
    """The plan with an automaton that chooses by itself, if that is how matches are chosen;
    `strict` where it does already."""
    by = plan.traits.chosen_by
    if by not in (ChosenBy.AUTOMATON, ChosenBy.SIZE):
        return plan
    if by is ChosenBy.AUTOMATON and not strict:
        automaton = select(query.strategy, automaton)
    if query.skip is not None:
        automaton = FirstEventsAutomaton(automaton)
    return replace(plan, automaton=plan.shown(automaton))


def _check_unfollowed(query: cel.CeqlTree, stream: Stream) -> None:
    if query.unfollowed is not None and stream.time is None:
        raise RefusedError(
            "NOT FOLLOWED BY waits for a time, and the stream has none",
            text=query.text,
            span=query.unfollowed.span,
            hint='say which column has it: Stream(time="…")',
        )


def _check_count(query: cel.CeqlTree) -> None:
    """Refuse COUNT(*) where matches would have to be listed. Not so if all matches count, and each
    is reported at its own last event."""
    if query.count and (
        query.strategy in CHOOSING or (query.window is not None and not ends_marked(query.formula))
    ):
        raise RefusedError(
            "COUNT(*) under NEXT, LAST, MAX or ANY, or of matches that end before the event they "
            "are reported at, would have to list them",
            text=query.text,
            span=query.span,
            hint="SELECT * and count the rows, or write len(q.run(…))",
        )


def _checked(query: cel.CeqlTree, stream: Stream, schema: pa.Schema) -> cel.CeqlTree:
    """The query after a check of every condition, with literals that fit the columns."""
    variables = scope.bound(query.formula)

    def condition(expression: Expression) -> Expression:
        refuse_other_events(expression, variables, schema, query.text)
        check(expression, schema, query.text)
        return coerce(expression, schema)

    def predicate(node: cel.Predicate) -> cel.Predicate:
        if isinstance(node, cel.Holds):
            return replace(node, condition=condition(node.condition))
        assert isinstance(node, cel.AllOf | cel.AnyOf)
        return replace(node, operands=tuple(map(predicate, node.operands)))

    def excluded(event: cel.Excluded) -> cel.Excluded:
        if event.predicate is None:
            return event
        return replace(event, predicate=predicate(event.predicate))

    def formula(node: cel.Formula) -> cel.Formula:
        if isinstance(node, cel.Filter):
            return replace(node, predicate=predicate(node.predicate))
        if isinstance(node, cel.Without):
            return replace(node, events=tuple(map(excluded, node.events)))
        return node

    check_clauses(query, stream, schema)
    if query.unfollowed is not None:
        kinds = (each for each in query.unfollowed.events if isinstance(each, cel.Excluded))
        unfollowed = replace(query.unfollowed, events=tuple(map(excluded, kinds)))
        query = replace(query, unfollowed=unfollowed)
    returned = tuple(replace(each, value=coerce(each.value, schema)) for each in query.returned)
    return replace(query, formula=bottom_up(query.formula, formula), returned=returned)
