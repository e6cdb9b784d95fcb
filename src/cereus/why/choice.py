"""Chooses the rules that are left out, one at a time, if there are too many to try them all.

A query without one of its conditions has to be planned and run, and the plan of a hundred
conditions between events takes a while. So only the likeliest of many such rules are tried: the
query is run once without any of them, and its matches are tested with each. If a match fails only
one rule, there is a match without that rule. Of many strategies, each of which chooses among the
matches of those inside it, the outer ones are tried.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from cereus.engine.interrupts import sharing
from cereus.errors import CereusError
from cereus.expr import tree as ex
from cereus.language.anatomy import Anatomy, Loosened, QueryRule, RuleKind
from cereus.why.loose import without
from cereus.why.measure import failing
from cereus.why.running.events import EventTable
from cereus.why.running.runs import FoundMatch, Run, matched
from cereus.why.running.tally import SHARES

MOST_WORK, LEAST_TRIED = 600, 3
"""The most conditions between events, and the most strategies, in all queries that are tried
together; and the number of rules that are tried however many of these their queries have."""
MOST_FINDS = 500
"""The most matches of the query without all of these conditions that are tested with each of
them."""


@dataclass(frozen=True)
class TriedRules:
    """The rules that are tried, how many are not, and of what there are many."""

    tried: tuple[Loosened, ...]
    others: int = 0
    many: str = "conditions between events"

    def note(self) -> str | None:
        if not self.others:
            return None
        return (
            f"this query has many {self.many}: the {len(self.tried):,} rules that "
            f"are likeliest to matter were left out, one at a time; {self.others:,} others were not"
        )


def choice(
    anatomy: Anatomy, rules: tuple[Loosened, ...], events: EventTable, most: int
) -> TriedRules:
    """All rules, if these are few; `most` events are read to choose."""
    few = _with_few_strategies(rules)
    between = [each.rule for each in few if _is_between(each.rule)]
    if len(between) <= _room(len(between)):
        return TriedRules(few, len(rules) - len(few), "strategies")
    likely = set(_likeliest(anatomy, between, events, most)[: _room(len(between))])
    tried = tuple(each for each in few if not _is_between(each.rule) or each.rule in likely)
    return TriedRules(tried, len(rules) - len(tried))


def _room(rules: int) -> int:
    """How many of so many rules are tried."""
    return max(LEAST_TRIED, MOST_WORK // (1 + rules))


def _with_few_strategies(rules: tuple[Loosened, ...]) -> tuple[Loosened, ...]:
    """The rules without strategies that stand inside many others."""
    strategies = [place for place, each in enumerate(rules) if _is_strategy(each.rule)]
    inner = set(strategies[_room(len(strategies)) :])
    return tuple(each for place, each in enumerate(rules) if place not in inner)


def _is_strategy(rule: QueryRule) -> bool:
    return rule.kind is RuleKind.STRATEGY


def _is_between(rule: QueryRule) -> bool:
    """Whether a rule is a condition on several events."""
    several = rule.condition is None or len(ex.variables(rule.condition)) > 1
    return rule.kind is RuleKind.CONDITION and several


def _likeliest(
    anatomy: Anatomy, rules: Sequence[QueryRule], events: EventTable, most: int
) -> list[QueryRule]:
    """The rules, first those that the most matches fail alone, then those that the most fail."""
    matches = _finds(anatomy, rules, events, most)
    failed = [failing(rule, matches, events) for rule in rules]
    counts = Counter(number for each in failed for number in each)
    alone = [sum(counts[number] == 1 for number in each) for each in failed]
    order = sorted(range(len(rules)), key=lambda n: (-alone[n], -len(failed[n]), n))
    return [rules[n] for n in order]


def _finds(
    anatomy: Anatomy, rules: Sequence[QueryRule], events: EventTable, most: int
) -> list[FoundMatch]:
    """The first matches of the query without these rules; none if it makes no sense without
    them."""
    conditions = [rule.condition for rule in rules if rule.condition is not None]
    names = sorted(frozenset[str]().union(*map(ex.variables, conditions)))
    with suppress(CereusError), sharing(SHARES):
        loose = without(anatomy.query, rules, events.schema)
        shown = loose.anatomy(events.schema).bindings or loose
        return list(islice(matched(Run.of(shown, events, most=most), names), MOST_FINDS))
    return []
