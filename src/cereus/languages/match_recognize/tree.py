"""The syntax tree of MATCH_RECOGNIZE.

Names of pattern variables are canonical: upper case, unless they were quoted. Nodes compare by
what they mean; `span` is carried along for error messages.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from functools import cached_property

from cereus.clauses.tree import TIMEOUTS as TIMEOUTS
from cereus.errors import Span
from cereus.expr import tree as ex
from cereus.syntax.tree import Tree

# ---------------------------------------------------------------- patterns


@dataclass(frozen=True)
class Pattern(Tree["Pattern"]):
    """A row pattern: it has an ordered list of matches at each row."""


@dataclass(frozen=True)
class Variable(Pattern):
    """One row that satisfies the variable's condition."""

    name: str


@dataclass(frozen=True)
class Empty(Pattern):
    """`()`: no row."""


@dataclass(frozen=True)
class PartitionStart(Pattern):
    """`^`: before the first row of the partition."""


@dataclass(frozen=True)
class PartitionEnd(Pattern):
    """`$`: behind the last row of the partition."""


@dataclass(frozen=True)
class Concatenation(Pattern):
    parts: tuple[Pattern, ...]


@dataclass(frozen=True)
class Alternation(Pattern):
    """A choice: all matches of a part are preferred to those of the later parts."""

    parts: tuple[Pattern, ...]


@dataclass(frozen=True)
class Permutation(Pattern):
    """`PERMUTE(a, b, c)`: all orders, in lexicographic order of the arguments."""

    parts: tuple[Pattern, ...]


@dataclass(frozen=True)
class Quantified(Pattern):
    """`low` to `high` rounds (None: any number); reluctant ones stop as early as they can."""

    part: Pattern
    low: int
    high: int | None
    reluctant: bool = False


@dataclass(frozen=True)
class Exclusion(Pattern):
    """`{- a -}`: its rows are matched, and left out of the output."""

    part: Pattern


# ---------------------------------------------------------------- expressions, as written


class Semantics(StrEnum):
    RUNNING = "RUNNING"
    FINAL = "FINAL"


@dataclass(frozen=True)
class Step(ex.Expression):
    """`PREV(e, n)`, `NEXT`, `FIRST`, `LAST`; `function` is the upper-case name. The offset is a
    number."""

    function: str
    argument: ex.Expression
    offset: int | None = None
    semantics: Semantics | None = None


@dataclass(frozen=True)
class Aggregate(ex.Expression):
    """`sum(a.x)`, `count(*)`, `count(a.*)`. `star` says that rows are counted, those of
    `variable` or, without one, all of them."""

    function: str
    arguments: tuple[ex.Expression, ...] = ()
    star: bool = False
    variable: str | None = None
    semantics: Semantics | None = None


@dataclass(frozen=True)
class Taken(ex.Expression):
    """A value taken out of a list or a map: `element_at(map_agg(a.x, a.y), 'k')`."""

    function: str
    collection: ex.Expression
    arguments: tuple[ex.Literal, ...] = ()


@dataclass(frozen=True)
class Listed(ex.Expression):
    """`ARRAY[a.x, 1]`: a list that is written out. Only `MAP` takes one."""

    items: tuple[ex.Expression, ...]


@dataclass(frozen=True)
class Classifier(ex.Expression):
    """`CLASSIFIER()`, `CLASSIFIER(a)`."""

    variable: str | None = None


@dataclass(frozen=True)
class MatchNumber(ex.Expression):
    """`MATCH_NUMBER()`."""


AGGREGATES = frozenset(
    [
        "count",
        "sum",
        "avg",
        "min",
        "max",
        "array_agg",
        "bool_and",
        "bool_or",
        "every",
        "any_value",
        "arbitrary",
        "count_if",
        "max_by",
        "min_by",
        "stddev",
        "stddev_pop",
        "stddev_samp",
        "variance",
        "var_pop",
        "var_samp",
        "string_agg",
        "listagg",
        "percentile",
        "map_agg",
        "multimap_agg",
        "histogram",
        "min_n",
        "max_n",
        "min_by_n",
        "max_by_n",
    ]
)
"""Functions of many rows. `min_n` is `min(x, n)`, the n least values, and so on."""
ARGUMENTS = {
    "max_by": (2, 2),
    "min_by": (2, 2),
    "min_n": (2, 2),
    "max_n": (2, 2),
    "min_by_n": (3, 3),
    "max_by_n": (3, 3),
    "map_agg": (2, 2),
    "multimap_agg": (2, 2),
    "string_agg": (1, 2),
    "listagg": (1, 2),
    "percentile": (2, 2),
}
"""The least and most arguments of functions that do not take exactly one."""
SYNONYMS = {
    "substring": "substr",
    "char_length": "length",
    "character_length": "length",
    "ceiling": "ceil",
    "pow": "power",
    "nvl": "coalesce",
    "ifnull": "coalesce",
    "regexp_like": "regexp",
    "to_unixtime": "epoch",
}
"""Functions of one row that have another name in SQL."""
NAVIGATION = frozenset(("PREV", "NEXT", "FIRST", "LAST"))
OTHER_STEPS = {"LAG": "PREV", "LEAD": "NEXT"}
"""What Snowflake calls them."""


# ---------------------------------------------------------------- the clause


@dataclass(frozen=True)
class Order:
    """One column of ORDER BY. `nulls_first` None: nulls come last, whatever the direction."""

    path: tuple[str, ...]
    descending: bool = False
    nulls_first: bool | None = None
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Measure:
    value: ex.Expression
    name: str
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Definition:
    variable: str
    condition: ex.Expression
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Subset:
    name: str
    members: tuple[str, ...]
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


class Rows(StrEnum):
    """What a match emits."""

    ONE = "ONE ROW PER MATCH"
    SHOW = "ALL ROWS PER MATCH"
    OMIT = "ALL ROWS PER MATCH OMIT EMPTY MATCHES"
    UNMATCHED = "ALL ROWS PER MATCH WITH UNMATCHED ROWS"


class SkipTo(StrEnum):
    """Where the search goes on after a match."""

    PAST_LAST_ROW = "PAST LAST ROW"
    NEXT_ROW = "TO NEXT ROW"
    FIRST = "TO FIRST"
    LAST = "TO LAST"


@dataclass(frozen=True)
class Skip:
    to: SkipTo = SkipTo.PAST_LAST_ROW
    variable: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Within:
    """The last row of a match is less than `length` after the first. With `timeouts`, partial
    matches that the window ended are emitted too."""

    length: timedelta
    timeouts: bool = False
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Clause:
    """A MATCH_RECOGNIZE clause."""

    pattern: Pattern
    partition: tuple[tuple[str, ...], ...] = ()
    order: tuple[Order, ...] = ()
    measures: tuple[Measure, ...] = ()
    rows: Rows = Rows.ONE
    skip: Skip = Skip()
    within: Within | None = None
    subsets: tuple[Subset, ...] = ()
    define: tuple[Definition, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)
    text: str | None = field(default=None, compare=False, repr=False, kw_only=True)

    def variables(self) -> tuple[str, ...]:
        """The variables of the pattern, in the order in which they first stand there."""
        return self._variables

    @cached_property
    def _variables(self) -> tuple[str, ...]:
        """The variables, cached since everything that is made for a clause needs them."""
        names = (node.name for node in self.pattern.walk() if isinstance(node, Variable))
        return tuple(dict.fromkeys(names))

    @property
    def timeouts(self) -> bool:
        """Whether partial matches that the window ended are emitted too."""
        return self.within is not None and self.within.timeouts

    def members(self, name: str | None) -> frozenset[str]:
        """The variables that a name stands for: itself, those of a subset, or, for None, all."""
        if name is None:
            return frozenset(self.variables())
        for subset in self.subsets:
            if subset.name == name:
                return frozenset(subset.members)
        return frozenset((name,))


def remembers_keys(clause: Clause) -> bool:
    """Whether the later results of a key depend on all that came before: on the row before, on the
    number of matches, or on a row being the first."""
    if any(isinstance(node, PartitionStart) for node in clause.pattern.walk()):
        return True
    written = [each.value for each in clause.measures] + [each.condition for each in clause.define]
    return any(
        isinstance(node, MatchNumber) or (isinstance(node, Step) and node.function == "PREV")
        for expression in written
        for node in expression.walk()
    )
