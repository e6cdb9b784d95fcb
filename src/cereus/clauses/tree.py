"""The clauses of a query that are not its pattern: output, strategy, window, partitions,
consumption, limit.

Every language whose patterns run on the automaton kernel has these clauses, or some of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, TypeVar

from cereus.expr.tree import Aggregate, Expression
from cereus.syntax.tree import Node


@dataclass(frozen=True)
class PatternTree(Node):
    """The pattern of a query, in the syntax tree of its language."""


class Strategy(StrEnum):
    ALL = "ALL"
    ANY = "ANY"
    NEXT = "NEXT"
    LAST = "LAST"
    MAX = "MAX"
    STRICT = "STRICT"


TOTALS = ("sum", "min", "max", "avg")
"""Aggregates over all matches of a query."""


ADDED = {"added": True}
"""Marks clauses that came later: a query without them keeps its old fingerprint."""


class Consume(StrEnum):
    NONE = "NONE"
    ANY = "ANY"
    PARTITION = "PARTITION"


class Skip(StrEnum):
    """Where to go on after a match."""

    PAST_LAST = "PAST LAST EVENT"
    TO_NEXT = "TO NEXT EVENT"


@dataclass(frozen=True)
class Output(Node):
    """One selected variable: `a`, or `a[price, volume]` with attributes. Its column is named like
    it; a query that is made by another one may name it differently."""

    variable: str
    attributes: tuple[tuple[str, ...], ...] = ()
    column: str | None = field(default=None, metadata=ADDED)

    @property
    def name(self) -> str:
        return self.column or self.variable


@dataclass(frozen=True)
class Returned(Node):
    """A value that is computed for each match: `avg(b.price) AS mean`."""

    value: Expression
    name: str | None = None


@dataclass(frozen=True)
class EventWindow(Node):
    """`WITHIN n EVENTS`: end − start + 1 ≤ n."""

    size: int


@dataclass(frozen=True)
class TimeWindow(Node):
    """`WITHIN 1 hour 30 minutes`: at most this many microseconds, on the time column."""

    microseconds: int


@dataclass(frozen=True)
class AttributeWindow(Node):
    """`WITHIN 5000 [ts]`: a difference of at most `size` on an attribute that never decreases."""

    size: int | float
    attribute: tuple[str, ...]


Window = EventWindow | TimeWindow | AttributeWindow


@dataclass(frozen=True)
class Unfollowed(Node):
    """`NOT FOLLOWED BY B WITHIN 5 minutes`: no such event after the last one of a match, up to a
    deadline. The events are in the tree of the query's language."""

    events: tuple[Node, ...]
    window: TimeWindow
    read: tuple[str, ...] = field(default=(), metadata=ADDED)
    """The variables of the match that the events are compared with."""


TIMEOUTS = ("timed_out", "reached", "waiting_for", "deadline")
"""The columns of WITH TIMEOUTS: whether this is a partial match whose window ended, its last step,
what could have come next, and when the window ended."""

P_co = TypeVar("P_co", bound=PatternTree, covariant=True)


@dataclass(frozen=True)
class ParsedQuery(Node, Generic[P_co]):
    """A parsed query: a pattern in the tree of its language, and its clauses.

    `select` None is `SELECT *`. `count` is `SELECT COUNT(*)`, and `totals` are the aggregates over
    all matches beside it, `SUM(b.volume)`. `returned` are the values that are computed for each
    match. With `timeouts`, partial matches whose window ended are results too.
    """

    formula: P_co
    select: tuple[Output, ...] | None = None
    strategy: Strategy = Strategy.ALL
    streams: tuple[str, ...] = ()
    partition_by: tuple[tuple[str, ...], ...] = ()
    window: Window | None = None
    consume: Consume = Consume.NONE
    limit: int | None = None
    count: bool = False
    totals: tuple[Aggregate, ...] = ()
    text: str | None = field(default=None, compare=False, repr=False)
    returned: tuple[Returned, ...] = field(default=(), metadata=ADDED)
    skip: Skip | None = field(default=None, metadata=ADDED)
    unfollowed: Unfollowed | None = field(default=None, metadata=ADDED)
    timeouts: bool = field(default=False, metadata=ADDED)


AnyQuery = ParsedQuery[PatternTree]
"""A query of any language."""


def is_kept(variable: str, names: frozenset[str]) -> bool:
    """Whether a projection on `names` keeps a variable; `S>R` goes with `R`."""
    return variable in names or variable.rpartition(">")[2] in names
