"""The syntax tree of SASE+ (Diao, Immerman, Gyllstrom: "SASE+: An agile language for Kleene
closure over event streams", §2 and A.1).

An attribute of a single event, `b.price`, is `expr.tree.Attribute` with its variable; what is
read of a Kleene variable's array has nodes of its own: `Item` (`a[i].price`), `Aggregate`
(`avg(a[..i-1].price)`), and, in RETURN, `Series` (`a[].price`). `a.LEN` is read as `count(a[])`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, Protocol

from cereus.clauses.tree import ADDED, PatternTree, Skip, Window
from cereus.expr import tree as ex
from cereus.syntax.tree import Node

Path = tuple[str, ...]


class Strategy(StrEnum):
    """Event selection strategies (§2.2.1)."""

    STRICT = "strict_contiguity"
    PARTITION = "partition_contiguity"
    NEXT = "skip_till_next_match"
    ANY = "skip_till_any_match"


DEFAULT_STRATEGY = Strategy.NEXT


class Index(StrEnum):
    """Which element of a Kleene variable's array an identifier means (A.1)."""

    FIRST = "1"
    EACH = "i"
    PREVIOUS = "i-1"
    LAST = "LEN"


# ---------------------------------------------------------------- identifiers and terms


@dataclass(frozen=True)
class Item(ex.Attribute):
    """`a[1].price`, `a[i].price`, `a[i-1].price`, `a[a.LEN].price`."""

    at: Index = Index.EACH


@dataclass(frozen=True)
class Aggregate(ex.Aggregate):
    """`sum(a[].volume)`, and with `running` the aggregate of the events selected so far,
    `avg(a[..i-1].price)`. `attribute` is None in `count(a[])`, also written `a.LEN`; `k` is
    that of highest and lowest.
    """

    running: bool = False
    k: int | None = None


@dataclass(frozen=True)
class Series(ex.Expression):
    """`a[].price`: one value of every event, the sequence-simple type (§2.1)."""

    variable: str
    path: Path


@dataclass(frozen=True)
class Record(ex.Expression):
    """`b.(price, volume)`, `a[1].(price, volume)`: the atomic-composite type. `at` is None for
    a variable that holds one event."""

    variable: str
    paths: tuple[Path, ...]
    at: Index | None = None


@dataclass(frozen=True)
class Records(ex.Expression):
    """`a[].(price, volume)`: the sequence-composite type."""

    variable: str
    paths: tuple[Path, ...]


@dataclass(frozen=True)
class Equivalence(ex.Expression):
    """`[symbol]`, `[symbol, day]`: all events of the pattern agree on these attributes, those of
    negated components included. NULL agrees with NULL, as in GROUP BY."""

    paths: tuple[Path, ...]


HIGHEST, LOWEST = "highest", "lowest"
RANKED = (HIGHEST, LOWEST)
"""Aggregates with a `k`: the k highest (lowest) values, best first, as a sequence. A comparison
with a sequence is true if it is true for one of its values (§5)."""


def ranked(values: Iterable[Any], function: str, k: int) -> list[Any]:
    """The k highest or lowest values, best first. NaN is skipped, since it is not ordered."""
    return sorted((v for v in values if v == v), reverse=function == HIGHEST)[:k]


BUILT_IN = ("count", "sum", "avg", "min", "max", "first", "last", "stddev", "percentile", *RANKED)


class UserAggregate(Protocol):
    """A user's own aggregate: `combine` is associative and `identity` its identity."""

    @property
    def identity(self) -> Any: ...
    @property
    def combine(self) -> Callable[[Any, Any], Any]: ...


# ---------------------------------------------------------------- patterns


@dataclass(frozen=True)
class Component(Node):
    """`STOCK b`; with several types, `ANY(NEWS, STOCK) b`, one event of any of them."""

    types: tuple[str, ...]
    variable: str


@dataclass(frozen=True)
class Kleene(Component):
    """`STOCK+ a[]`: one or more events, in an array."""


@dataclass(frozen=True)
class Negated(Node):
    """`~B b`, `~(B+ b[])`: no such event, no such series (§2.2.3)."""

    component: Component

    @property
    def variable(self) -> str:
        return self.component.variable


Part = Component | Negated


@dataclass(frozen=True)
class Sequence(Node):
    """`SEQ(…)`. A SEQ inside a SEQ means the same as its parts in its place."""

    parts: tuple[Part | Sequence, ...]

    def flat(self) -> Iterator[Part]:
        for part in self.parts:
            if isinstance(part, Sequence):
                yield from part.flat()
            else:
                yield part


# ---------------------------------------------------------------- conditions


@dataclass(frozen=True)
class Clause(Node):
    """One clause of the CNF. `partition` marks it as part of the definition of a partition; the
    paper underlines such predicates, a text writes `partition(…)`."""

    condition: ex.Expression
    partition: bool = False


@dataclass(frozen=True)
class Variable(Node):
    """A variable in the head of a strategy; `stops` is its `!`."""

    name: str
    stops: bool = False


@dataclass(frozen=True)
class Group(Node):
    """`strategy(vars!, …) { clauses }`. Conditions without a head have the default strategy and
    no variables."""

    strategy: Strategy | None
    variables: tuple[Variable, ...]
    clauses: tuple[Clause, ...]


# ---------------------------------------------------------------- queries


@dataclass(frozen=True)
class Output(Node):
    """`RETURN values AS type(names) IN STREAM stream`; `names` is empty where none are given.
    Without values there is a column of rows for each variable, named like it or as `column` says:
    a format."""

    values: tuple[ex.Expression, ...]
    type: str | None = None
    names: tuple[str, ...] = ()
    stream: str | None = None
    column: str = field(default="{}", metadata=ADDED)


@dataclass(frozen=True)
class Query(Node):
    """One query block. `source` None is the input stream."""

    pattern: Sequence
    where: tuple[Group, ...] = ()
    window: Window | None = None
    having: ex.Expression | None = None
    output: Output = Output(())
    source: str | None = None
    skip: Skip | None = field(default=None, metadata=ADDED)
    timeouts: bool = field(default=False, metadata=ADDED)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The components in SEQ order, negated ones included."""
        return tuple(self.pattern.flat())

    @cached_property
    def components(self) -> tuple[Component, ...]:
        """The components that have events in a match."""
        return tuple(part for part in self.parts if isinstance(part, Component))

    @property
    def clauses(self) -> tuple[Clause, ...]:
        return tuple(clause for group in self.where for clause in group.clauses)

    @property
    def equivalences(self) -> tuple[Path, ...]:
        """The attributes of all equivalence tests."""
        tests = [c.condition for c in self.clauses if isinstance(c.condition, Equivalence)]
        return tuple(dict.fromkeys(path for test in tests for path in test.paths))

    def component(self, variable: str) -> Component:
        """The component that declares a variable, negated or not."""
        every = (p.component if isinstance(p, Negated) else p for p in self.parts)
        return next(each for each in every if each.variable == variable)

    def is_negated(self, variable: str) -> bool:
        return any(isinstance(p, Negated) and p.variable == variable for p in self.parts)

    def strategy(self, variable: str) -> Strategy:
        heads = [g.strategy for g in self.where for v in g.variables if v.name == variable]
        return (heads[0] if heads else None) or DEFAULT_STRATEGY

    def stops(self, variable: str) -> bool:
        """Whether the variable carries a `!` (§2.2.2)."""
        return any(v.stops for g in self.where for v in g.variables if v.name == variable)


@dataclass(frozen=True)
class Pattern(PatternTree):
    """A query block as the formula of a plan: what is matched, without what is returned."""

    query: Query


@dataclass(frozen=True)
class Union(Node):
    """`query UNION query …`; a single query is a union of one block."""

    blocks: tuple[Query, ...]

    @property
    def stream(self) -> str | None:
        return next((b.output.stream for b in self.blocks if b.output.stream), None)

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(b.source for b in self.blocks if b.source is not None))


@dataclass(frozen=True)
class Program(Node):
    """A text: one or more queries, which feed one another through the streams they name."""

    queries: tuple[Union, ...]
    text: str | None = field(default=None, compare=False, repr=False)
