"""Takes a query apart: its steps, and the rules that may be loosened one at a time. `why` counts
with these only, whatever the language.

The queries in here are ordinary ones, so the counts are those of what really runs. They read the
events as they are, and, where results have no row numbers, the column `ROW`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from cereus.clauses.print import window_text
from cereus.clauses.tree import (
    AnyQuery,
    AttributeWindow,
    Consume,
    EventWindow,
    Strategy,
    TimeWindow,
    Window,
)
from cereus.expr.tree import Expression
from cereus.plan.tests import EventTest

if TYPE_CHECKING:
    from cereus.language.compiled import CompiledQuery

Part = TypeVar("Part")

ROW = "__row"
"""The column with the number of an event's row."""
TAKEN = "__taken"
"""The mark at events that a loosened part of a query takes."""
ROWS_OF = "__rows_of {}"
"""The column with the rows of a variable, so that it is not called like another column of the
results."""
WIDER = (2, 16)
"""How many times wider a window is made before it is left out."""


def variable_of(column: str) -> str:
    """The variable whose events a column has."""
    return column.removeprefix(ROWS_OF.format(""))


class RuleKind(StrEnum):
    """The kinds of rules that may exclude a match."""

    CONDITION = "condition"
    KEY = "key"
    WINDOW = "window"
    COUNT = "count"
    STRATEGY = "strategy"
    NEGATION = "negation"
    CONSUMPTION = "consumption"
    LIMIT = "limit"


@dataclass(frozen=True)
class QueryRule:
    """One thing that a query demands, as it is written in it.

    condition  the condition, where it can be computed from one event of each of its variables,
               or, without variables, from one event
    type       the type of that event
    window     the window, where it is one
    place      among rules with the same words, from 1; 0 where they are not told apart
    """

    kind: RuleKind
    words: str
    condition: Expression | None = None
    type: str | None = None
    window: Window | None = None
    place: int = 0

    @property
    def text(self) -> str:
        """The rule in words. The first of several rules with the same words keeps them as they are,
        so that a rule has the same name in the pattern up to each step."""
        if self.place < 2:
            return self.words
        return f"{self.words}, {ORDINALS.get(self.place, f'number {self.place}')}"

    def __str__(self) -> str:
        return f"{self.kind} {self.text}"


ORDINALS = {2: "the second", 3: "the third", 4: "the fourth"}


@dataclass(frozen=True, eq=False)
class Loosened:
    """The query without one of its rules: a wider window before none, so `queries` begin with the
    one that is loosened least. Where results do not name all events that led to them, `marked` is
    the query without the rule, which also marks (`TAKEN`) the events that the loosened part takes.
    The queries are made when they are asked for. Two rules are not the same even if the queries
    without them are."""

    rule: QueryRule
    make: Callable[[Any], CompiledQuery]
    trees: tuple[Any, ...]
    marking: Any = None

    @cached_property
    def queries(self) -> tuple[CompiledQuery, ...]:
        return tuple(map(self.make, self.trees))

    @cached_property
    def marked(self) -> CompiledQuery | None:
        return None if self.marking is None else self.make(self.marking)

    @property
    def without(self) -> CompiledQuery:
        """The query with the rule left out."""
        return self.queries[-1]

    @property
    def bounded(self) -> tuple[CompiledQuery, ...]:
        """The queries, except one without any window if the query has a window."""
        return self.queries[:-1] if len(self.queries) > 1 else self.queries

    @property
    def much(self) -> CompiledQuery:
        """The query without the rule. For a window, the query with a much wider one: without any
        window a query remembers the whole stream."""
        return self.bounded[-1]


@dataclass(frozen=True)
class Step:
    """A part of the pattern that takes events, and the query for all of the pattern up to it.

    tests   an event that passes one of them can be taken here; () where that is not known before
            the query runs
    column  the column of the query's results with the rows taken here; None: the last row
    alone   what ends here is one event, any that passes a test: there is nothing to run
    mark    the query counts several steps at once: what its results call this one
    last    its query is that of all steps, at most without clauses that choose among matches: it
            has none where the query that is taken apart has none
    optional  a match may go without an event here
    """

    name: str
    tests: tuple[EventTest, ...]
    query: CompiledQuery
    column: str | None = None
    alone: bool = False
    mark: str | None = None
    last: bool = False
    optional: bool = False


@dataclass(frozen=True)
class Anatomy:
    """A query taken apart.

    query     the same matches, each with the rows that it is made of
    bindings  the same with a column of rows (`ROWS_OF`) for each variable
    complete  a result names all events that make it a match: they are one without any other
    chain     every match goes through all steps
    reported  the query with the results that a run reports, where these are parts of matches
    empty     a match may have no event at all: a run reports it, and no step or rule is about it
    prefers   of all ways to match from an event on, only the preferred one is a match

    Its steps and what may be loosened are made when they are asked for: most of the queries that
    `why` takes apart are asked for one of them only.
    """

    query: CompiledQuery
    make_steps: Callable[[], Iterable[Step]] = tuple
    make_loosened: Callable[[], Iterable[Loosened]] = tuple
    bindings: CompiledQuery | None = None
    complete: bool = True
    chain: bool = True
    reported: CompiledQuery | None = None
    empty: bool = False
    prefers: bool = False

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The parts that take events, in the order of the pattern."""
        return tuple(self.make_steps())

    @cached_property
    def loosened(self) -> tuple[Loosened, ...]:
        """The query without each of its rules."""
        return tuple(self.make_loosened())


Edit = tuple[QueryRule, tuple[Any, ...]]
"""A rule, and what to put in place of the node that has it: the least loosened first."""


def edited(tree: Any, edits: Callable[[Any], Iterable[Edit]]) -> Iterator[Edit]:
    """Every tree that differs from this one by one edit of one of its nodes. Conditions are not
    entered: the node that has them decides which part of them may be left out."""
    yield from edits(tree)
    for each in fields(tree):
        value = getattr(tree, each.name)
        for place, node in _nodes(value):
            for rule, changed in edited(node, edits):
                values = (_with(value, place, new) for new in changed)
                yield rule, tuple(replace(tree, **{each.name: new}) for new in values)


def loosened(make: Callable[[Any], CompiledQuery], edits: Iterable[Edit]) -> Iterator[Loosened]:
    """The query without each of the rules that edits leave out; `make` makes it of a tree."""
    return (Loosened(rule, make, trees) for rule, trees in edits)


def left_out(parts: tuple[Part, ...]) -> Iterator[tuple[Part, tuple[Part, ...]]]:
    """Each part, and all the others."""
    for place, part in enumerate(parts):
        yield part, (*parts[:place], *parts[place + 1 :])


def numbered_edits(every: Iterable[Edit]) -> Iterator[Edit]:
    """The edits, where rules with the same words get numbers."""
    seen: Counter[tuple[RuleKind, str]] = Counter()
    for rule, trees in every:
        seen[rule.kind, rule.words] += 1
        yield replace(rule, place=seen[rule.kind, rule.words]), trees


def _nodes(value: Any) -> Iterator[tuple[int | None, Any]]:
    if _is_node(value):
        yield None, value
    elif isinstance(value, tuple):
        yield from ((place, item) for place, item in enumerate(value) if _is_node(item))


def _is_node(value: Any) -> bool:
    return is_dataclass(value) and not isinstance(value, type) and not isinstance(value, Expression)


def _with(value: Any, place: int | None, new: Any) -> Any:
    return new if place is None else (*value[:place], new, *value[place + 1 :])


# ---------------------------------------------------------------- clauses that languages share


def window_rule(window: Window) -> QueryRule:
    return QueryRule(RuleKind.WINDOW, f"WITHIN {window_text(window)}", window=window)


def wider(window: Window) -> tuple[Window | None, ...]:
    """Ever wider windows, and None last."""
    return (*(_times(window, factor) for factor in WIDER), None)


def _times(window: Window, factor: int) -> Window:
    match window:
        case TimeWindow(microseconds):
            return TimeWindow(microseconds * factor)
        case EventWindow(size):
            return EventWindow(size * factor)
        case AttributeWindow(size, attribute):
            return AttributeWindow(size * factor, attribute)


def clause_edits(query: AnyQuery) -> Iterator[Edit]:
    """The edits of the clauses beside a pattern that may exclude a match."""
    if query.window is not None:
        wide = wider(query.window)
        yield window_rule(query.window), tuple(replace(query, window=each) for each in wide)
    if query.strategy is not Strategy.ALL:
        rule = QueryRule(RuleKind.STRATEGY, f"SELECT {query.strategy}")
        yield rule, (replace(query, strategy=Strategy.ALL),)
    if query.consume is not Consume.NONE:
        rule = QueryRule(RuleKind.CONSUMPTION, f"CONSUME BY {query.consume}")
        yield rule, (replace(query, consume=Consume.NONE),)
    if query.unfollowed is not None:
        rule = QueryRule(RuleKind.NEGATION, "NOT FOLLOWED BY")
        yield rule, (replace(query, unfollowed=None),)
    if query.skip is not None:
        rule = QueryRule(RuleKind.CONSUMPTION, f"AFTER MATCH SKIP {query.skip}")
        yield rule, (replace(query, skip=None),)
    if query.limit is not None:
        yield QueryRule(RuleKind.LIMIT, f"LIMIT {query.limit}"), (replace(query, limit=None),)
