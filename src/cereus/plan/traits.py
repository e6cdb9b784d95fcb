"""Properties of a query that decide how it is run. They are computed once, when a plan is made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from cereus.automata.model import Automaton
from cereus.clauses.tree import AnyQuery, Consume, EventWindow, Strategy
from cereus.plan.lowered import Lowered
from cereus.plan.returned import returned_variables

CHOOSING = frozenset({Strategy.NEXT, Strategy.LAST, Strategy.MAX, Strategy.ANY})
"""The strategies that compare matches with each other."""


class ChosenBy(Enum):
    """How the choice of a strategy at the top of a query is made."""

    AUTOMATON = "the automaton"
    SIZE = "the number of their events, which is the same for all: none contains another"
    KERNEL = "the kernel, among the partial matches that it holds"
    CONTAINMENT = "the kernel, which keeps what no other partial match contains"
    GROWTH = "the kernel, where a run that can mark an event and go on does not pass it over"
    LONGEST = "the kernel: what begins first in the window contains the others"
    REPLAY = "the strategy's automaton, which reads the events of the window once more"
    LISTING = "a comparison of all matches of an event"


@dataclass(frozen=True)
class PatternFacts:
    """What a language knows of a pattern.

    open_ended          a match may be emitted at a later event than its last one
    closes              a match may be complete because its window has passed or the input ended
    ends_at_marks       a match ends at the last event that it has, wherever it is emitted
    detects             only the events that end a match are wanted
    distinct            a match is found in one way only
    one_size            all matches have the same number of events
    position_sensitive  events that satisfy no test still count, because their positions do
    counts_high         it has too many states for an automaton that compares whole runs
    always_bound        variables that hold events in every match
    looks_back          why a match may depend on more than its window; None if it does not
    """

    open_ended: bool = False
    closes: bool = False
    ends_at_marks: bool = False
    detects: bool = False
    distinct: bool = False
    one_size: bool = False
    position_sensitive: bool = True
    counts_high: bool = False
    always_bound: frozenset[str] = frozenset()
    looks_back: str | None = "the pattern may look back"


@dataclass(frozen=True)
class Traits:
    """The facts of a pattern, and what follows from them together with the clauses.

    registers         the automaton remembers values in slots of the kernel
    remembers_values  the automaton's states remember values, where slots cannot decide
    correlated        there are conditions between events
    chosen_by      who decides what a strategy keeps
    chosen_late    the kernel finds more than the strategy keeps
    emits_late     a match may be emitted after later events were read
    hides          marked events of which nothing is selected are still part of a match
    labelled       the kernel reports what each event of a match is marked with
    limit          the most results that one event may have
    limited_late   LIMIT waits until rows that are found in several ways are one
    consumes_late  the strategy's choice must be known to know what is consumed
    keys_sleep     an event that begins nothing is dropped while its key has no partial match
    looks_ahead    an event is dropped if no match can have it before its window has passed
    looks_back     why a match may depend on more than its window; None if it does not
    """

    registers: bool
    remembers_values: bool
    correlated: bool
    open_ended: bool
    closes: bool
    ends_at_marks: bool
    detects: bool
    position_sensitive: bool
    chosen_by: ChosenBy
    chosen_late: bool
    emits_late: bool
    hides: bool
    labelled: bool
    limit: int | None
    limited_late: bool
    consumes_late: bool
    keys_sleep: bool
    looks_ahead: bool
    looks_back: str | None

    @classmethod
    def of(
        cls, query: AnyQuery, facts: PatternFacts, lowered: Lowered[Automaton], *, keyed: bool
    ) -> Traits:
        """The traits of a query's pattern. `keyed`: some columns split the stream."""
        registers = lowered.correlated and lowered.in_slots
        remembers_values = lowered.correlated and not lowered.in_slots
        chosen_by = _chosen_by(query, facts, registers, lowered)
        chosen_late = chosen_by in (ChosenBy.REPLAY, ChosenBy.LISTING)
        names = selected(query)
        waits = query.unfollowed is not None or query.timeouts
        emits_late = facts.open_ended or facts.closes or waits
        chosen_inside = chosen_by in (ChosenBy.KERNEL, ChosenBy.GROWTH, ChosenBy.LONGEST)
        tells_apart = facts.open_ended or registers or chosen_inside
        hides = names is not None and tells_apart and not facts.distinct
        limit = _limit(query, facts)
        several_ways = (hides or registers) and not facts.distinct and not facts.detects
        looks_at_all = bool(lowered.past or lowered.watching)
        at_once = not (emits_late or chosen_late or remembers_values or looks_at_all)
        windowed = query.window is not None
        return cls(
            registers=registers,
            remembers_values=remembers_values,
            correlated=lowered.correlated,
            open_ended=facts.open_ended,
            closes=facts.closes,
            ends_at_marks=facts.ends_at_marks,
            detects=facts.detects,
            position_sensitive=facts.position_sensitive,
            chosen_by=chosen_by,
            chosen_late=chosen_late,
            emits_late=emits_late,
            hides=hides,
            labelled=(
                names is not None
                or facts.detects
                or bool(returned_variables(query))
                or (lowered.scoped and bool(query.totals))
            ),
            limit=limit,
            limited_late=limit is not None and several_ways,
            consumes_late=(
                query.consume is not Consume.NONE
                and names is not None
                and chosen_late
                and facts.always_bound.isdisjoint(names)
            ),
            # not where positions count, or where a match depends on events of other keys
            keys_sleep=(
                keyed
                and not facts.position_sensitive
                and at_once
                and query.consume is not Consume.ANY
            ),
            # where a match is complete at its last event, and an event counts only by its values
            looks_ahead=(
                windowed
                and not facts.position_sensitive
                and not keyed
                and at_once
                and not lowered.scoped
                and not facts.detects
            ),
            looks_back=_looks_back(query, facts),
        )


def selected(query: AnyQuery) -> tuple[str, ...] | None:
    """The variables that tell matches apart, or None for `SELECT *`: those that are selected, and
    those that the returned values read."""
    if query.select is None:
        return None
    names = [output.variable for output in query.select]
    return tuple(dict.fromkeys((*names, *sorted(returned_variables(query)))))


def keys_of(query: AnyQuery, stream_keys: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """The paths of the columns that split the stream: the stream's keys, then PARTITION BY."""
    declared = tuple((key,) for key in stream_keys)
    return declared + tuple(path for path in query.partition_by if path not in declared)


def _chosen_by(
    query: AnyQuery, facts: PatternFacts, registers: bool, lowered: Lowered[Automaton]
) -> ChosenBy:
    """How a strategy chooses. Under a window, the matches to choose from change as it moves, so no
    automaton can choose among them from the past alone; nor can it hold the values of other
    runs."""
    windowed = query.window is not None
    if query.strategy not in CHOOSING:
        return ChosenBy.AUTOMATON
    if query.strategy is Strategy.MAX and facts.one_size:
        return ChosenBy.SIZE
    if windowed and facts.open_ended:
        return ChosenBy.LISTING
    if lowered.grows and (windowed or registers):
        return ChosenBy.GROWTH
    if lowered.nests and windowed:
        return ChosenBy.LONGEST
    if query.strategy is Strategy.MAX and registers:
        return ChosenBy.CONTAINMENT
    if query.strategy is Strategy.MAX:
        return ChosenBy.REPLAY if windowed else ChosenBy.AUTOMATON
    in_kernel = windowed or registers or facts.counts_high
    return ChosenBy.KERNEL if in_kernel else ChosenBy.AUTOMATON


def _limit(query: AnyQuery, facts: PatternFacts) -> int | None:
    """The query's LIMIT; 1 for detecting, which emits one result at an event."""
    if not facts.detects:
        return query.limit
    return min(1, 1 if query.limit is None else query.limit)


COUNTS_EVENTS = "WITHIN counts events, not time"
"""The one reason that does not matter if the number of events between two events is known."""


def _looks_back(query: AnyQuery, facts: PatternFacts) -> str | None:
    """The reason why the stream cannot be cut into overlapping pieces; None if it can. It can if a
    match depends only on the events from its first to its last one."""
    if query.window is None:
        return "there is no WITHIN"
    if query.consume is not Consume.NONE:
        return "CONSUME makes a match depend on the ones before it"
    if query.skip is not None:
        return "AFTER MATCH SKIP makes a match depend on the ones before it"
    if query.unfollowed is not None:
        return "NOT FOLLOWED BY looks past the last event"
    if query.timeouts:
        return "WITH TIMEOUTS looks past the last event"
    if facts.open_ended:
        return "a match may be reported long after its last event"
    if facts.looks_back is None and isinstance(query.window, EventWindow):
        return COUNTS_EVENTS
    return facts.looks_back
