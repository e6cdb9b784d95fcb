"""Nearest misses: what the query finds when one of its rules is loosened, and by how much that
rule was missed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest

import numpy as np

from cereus.errors import CereusError
from cereus.expr import tree as ex
from cereus.language.anatomy import WIDER, Loosened, QueryRule, RuleKind
from cereus.language.compiled import CompiledQuery
from cereus.why.events import EventTable, Rows
from cereus.why.measure import Measure, measure
from cereus.why.result import Miss, RuleEffect
from cereus.why.runs import FoundMatch, Run, matched
from cereus.why.steps import is_whole, most_read, rarest

MOST_LOOKED_AT = 500
"""Matches of a loosened query that the nearest misses are chosen from."""
Known = frozenset[tuple[int, ...]]


@dataclass(frozen=True)
class Effect:
    """What loosening one rule brings: matches, and by how much they miss it.

    cut   only the first events of the stream were read
    more  there are others that were not looked at
    """

    rule: RuleEffect
    found: Sequence[FoundMatch] = ()
    by: Measure | None = None
    cut: bool = False
    more: bool = False

    def nearest(self) -> Iterator[tuple[float, tuple[int, ...], int]]:
        """How far each lies, its rows, and its number."""
        amounts = np.full(len(self.found), np.inf) if self.by is None else self.by.distances()
        lying = zip(amounts.tolist(), (each.rows for each in self.found), strict=True)
        return iter(sorted((far, rows, n) for n, (far, rows) in enumerate(lying)))

    def miss(self, number: int) -> Miss:
        by = None if self.by is None else self.by.at(number)
        told = (None, None) if by is None else (by.text, by.amount)
        return Miss(self.found[number].rows, self.rule.kind, self.rule.text, *told)


def effects(
    loosened: Sequence[Loosened], known: Known, events: EventTable, centres: Rows | None = None
) -> Iterator[Effect]:
    """What loosening each of some rules brings. `centres` are where events stand one of which
    every match of the query has, if these are few."""
    for each in loosened:
        try:
            yield _effect(each, known, events, centres)
        except CereusError as error:
            note = error.message.splitlines()[0]
            yield Effect(RuleEffect(each.rule.kind, each.rule.text, None, note=note))


def _effect(loosened: Loosened, known: Known, events: EventTable, centres: Rows | None) -> Effect:
    rule = loosened.rule
    names = sorted(frozenset() if rule.condition is None else ex.variables(rule.condition))
    for query in _tried(loosened, events):
        more, cut = _more(query, known, events, names, centres if _stays(rule) else None)
        if more:
            break
    found = more[:MOST_LOOKED_AT]
    exact = len(more) == len(found) and query is loosened.without and not cut
    told = RuleEffect(rule.kind, rule.text, len(found), exact)
    by = measure(rule, found, events)
    return _close(Effect(told, found, by, cut, more=len(more) > len(found)))


def _stays(rule: QueryRule) -> bool:
    """Whether a query without the rule asks the same of single events."""
    if rule.kind is not RuleKind.CONDITION:
        return True
    return rule.condition is not None and len(ex.variables(rule.condition)) > 1


def _more(
    query: CompiledQuery,
    known: Known,
    events: EventTable,
    names: Sequence[str],
    centres: Rows | None,
) -> tuple[list[FoundMatch], bool]:
    """Matches of a query beside those that are known, one more than are looked at; and whether
    there may be others behind the part of the stream that was read."""
    anatomy = query.anatomy(events.table.schema)
    centres = rarest(anatomy, events) if centres is None else centres
    if centres is not None and not len(centres):
        return [], False
    shown = anatomy.bindings if names and anatomy.bindings else query
    run = Run.of(shown, events, centres=centres, most=most_read(events))
    return list(islice(_new(run, known, names), MOST_LOOKED_AT + 1)), run.cut


def _close(effect: Effect) -> Effect:
    """Of what is too long for a window only that which is less than twice as long, if there is
    such."""
    if effect.rule.kind is not RuleKind.WINDOW or effect.by is None:
        return effect
    near = np.flatnonzero(effect.by.distances() <= WIDER[0] - 1)
    if not len(near):
        return effect
    return replace(effect, found=[effect.found[n] for n in near.tolist()], by=effect.by.only(near))


def _tried(loosened: Loosened, events: EventTable) -> Sequence[CompiledQuery]:
    """A much wider window, then none; of a long stream, all that a query without any window
    remembers is too much."""
    both = loosened.much is not loosened.without and is_whole(events)
    return (loosened.much, loosened.without) if both else (loosened.much,)


def _new(run: Run, known: Known, names: Sequence[str]) -> Iterator[FoundMatch]:
    seen = set(known)
    for match in matched(run, names):
        if match.rows not in seen:
            seen.add(match.rows)
            yield match


def nearest(found: Sequence[Effect], most: int) -> tuple[Miss, ...]:
    """The nearest of every rule in turn; one set of events once, with what it misses least."""
    rounds = zip_longest(*(_of(effect) for effect in found))
    chosen: dict[tuple[int, ...], tuple[Effect, int]] = {}
    for each in rounds:
        for _, rows, number, effect in sorted(filter(None, each), key=lambda miss: miss[:2]):
            if len(chosen) < most:
                chosen.setdefault(rows, (effect, number))
        if len(chosen) == most:
            break
    return tuple(effect.miss(number) for effect, number in chosen.values())


def _of(effect: Effect) -> Iterator[tuple[float, tuple[int, ...], int, Effect]]:
    return ((far, rows, number, effect) for far, rows, number in effect.nearest())
