"""Nearest misses: what the query finds when one of its rules is loosened, and by how much that
rule was missed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest

import pyarrow as pa

from cereus.errors import CereusError
from cereus.expr import tree as ex
from cereus.language.anatomy import Loosened
from cereus.language.compiled import CompiledQuery
from cereus.stream import Stream
from cereus.why.events import EventTable, FoundMatch, matched
from cereus.why.measure import measured
from cereus.why.result import Miss, RuleEffect
from cereus.why.steps import is_small

MOST_LOOKED_AT = 2_000
"""Matches of a loosened query that the nearest misses are chosen from."""
Known = frozenset[tuple[int, ...]]


@dataclass(frozen=True)
class Effect:
    """What loosening one rule brings."""

    rule: RuleEffect
    misses: tuple[Miss, ...] = ()


def effects(
    loosened: tuple[Loosened, ...], known: Known, events: EventTable, stream: Stream
) -> Iterator[Effect]:
    for each in loosened:
        try:
            yield _effect(each, known, events, stream)
        except CereusError as error:
            note = error.message.splitlines()[0]
            yield Effect(RuleEffect(each.rule.kind, each.rule.text, None, note=note))


def _effect(loosened: Loosened, known: Known, events: EventTable, stream: Stream) -> Effect:
    rule, more = loosened.rule, list[FoundMatch]()
    names = frozenset() if rule.condition is None else ex.variables(rule.condition)
    for query in loosened.bounded if not is_small(events) else loosened.queries:
        shown = _with_bindings(query, events.table.schema) if names else query
        more = list(islice(_new(shown, known, events, sorted(names)), MOST_LOOKED_AT + 1))
        if more:
            break
    looked_at = more[:MOST_LOOKED_AT]
    misses = _misses(loosened, looked_at, events, stream)
    exact = len(more) == len(looked_at) and query is loosened.without
    return Effect(RuleEffect(rule.kind, rule.text, len(looked_at), exact), misses)


def _with_bindings(query: CompiledQuery, schema: pa.Schema) -> CompiledQuery:
    return query.anatomy(schema).bindings or query


def _new(
    query: CompiledQuery, known: Known, events: EventTable, names: Sequence[str]
) -> Iterator[FoundMatch]:
    seen = set(known)
    for match in matched(query, events, names):
        if match.rows not in seen:
            seen.add(match.rows)
            yield match


def _misses(
    loosened: Loosened, found: list[FoundMatch], events: EventTable, stream: Stream
) -> tuple[Miss, ...]:
    """The nearest first."""
    rule = loosened.rule
    by = measured(rule, found, events, stream)
    misses = (
        Miss(match.rows, rule.kind, rule.text, *((None, None) if m is None else (m.text, m.amount)))
        for match, m in zip(found, by, strict=True)
    )
    return tuple(sorted(misses, key=_distance))


def _distance(miss: Miss) -> tuple[float, tuple[int, ...]]:
    return (float("inf") if miss.amount is None else abs(miss.amount), miss.rows)


def nearest(found: Sequence[Effect], most: int) -> tuple[Miss, ...]:
    """The nearest of every rule in turn; one set of events once, with what it misses least."""
    rounds = zip_longest(*(effect.misses for effect in found))
    chosen: dict[tuple[int, ...], Miss] = {}
    for each in rounds:
        for miss in sorted((m for m in each if m is not None), key=_distance):
            if len(chosen) < most:
                chosen.setdefault(miss.rows, miss)
        if len(chosen) == most:
            break
    return tuple(chosen.values())
