"""The Plan: all that is needed to run a query anywhere. Immutable, picklable, versioned."""

from __future__ import annotations

from dataclasses import Field, dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any, NamedTuple

from cereus.automata.gathering import Gathering
from cereus.automata.memory.exception import Watching
from cereus.automata.memory.slots import NANOSECONDS, Column
from cereus.automata.memory.term_builder import is_double
from cereus.automata.memory.terms import PastKind
from cereus.automata.model import Automaton, Label, marks
from cereus.automata.selection import BEGINS_UNSEEN, NamedAutomaton
from cereus.clauses.tree import AnyQuery, AttributeWindow
from cereus.expr.tree import Expression, attributes
from cereus.plan.gathering import gathering_of
from cereus.plan.lowered import Lowered
from cereus.plan.returned import ReturnedColumn, returned_columns, returned_variables
from cereus.plan.tests import EventTest
from cereus.plan.timeouts import TimeoutPlans
from cereus.plan.traits import ChosenBy, PatternFacts, Traits, keys_of, selected
from cereus.state.digest import digest_of
from cereus.stream import Stream

PLAN_VERSION = 3
"""Raised whenever a snapshot taken with an older plan could be misread."""


class Total(NamedTuple):
    """A total over all matches, of an attribute's values, or (`ones`) of how many there are."""

    kind: str
    variable: str
    attribute: tuple[str, ...]
    ones: bool


class Follower(NamedTuple):
    """An event that must not follow a match: the bit of its test, and conditions on it and on
    events of the match."""

    bit: int
    conditions: tuple[Expression, ...]


@dataclass(frozen=True)
class Plan:
    """A query made ready to run. `Plan.of` makes one.

    query      the clauses, and the pattern in its language's tree, which nothing here looks into
    tests      the tests of every event; the answers are the letters of the automaton
    automaton  recognises the matches; labels are what is shown of them
    traits     what follows for the way it is run
    compared   the attributes that conditions between events read
    columns_compared  with registers: the columns whose values they hold
    slots      the most values that a partial match may have to remember
    implied_keys  columns that split the stream because conditions make all events of a match agree
               on them; results do not show them
    why_values  where states remember values: why registers are not used
    followers  the tests, as bits, of events that must not follow a match
    compared_followers  those that are compared with the events of the match
    timeouts   what finds how far partial matches came that their window ended
    past       the events that are remembered by key, because conditions ask about them
    scoped     the kernel chooses for a strategy inside the pattern
    watching   what is watched beside the pattern, whose runs ask about it
    """

    query: AnyQuery
    stream: Stream
    tests: tuple[EventTest, ...]
    automaton: Automaton
    traits: Traits
    compared: frozenset[tuple[str, ...]] = frozenset()
    columns_compared: tuple[Column, ...] = ()
    why_values: str | None = None
    slots: int = 0
    implied_keys: tuple[tuple[str, ...], ...] = ()
    followers: int = 0
    compared_followers: tuple[Follower, ...] = ()
    timeouts: TimeoutPlans | None = None
    past: tuple[PastKind, ...] = ()
    scoped: bool = False
    watching: Watching | None = None
    version: int = PLAN_VERSION

    @classmethod
    def of(
        cls,
        query: AnyQuery,
        stream: Stream,
        lowered: Lowered[Automaton],
        facts: PatternFacts,
        implied_keys: tuple[tuple[str, ...], ...] = (),
    ) -> Plan:
        """The plan of a pattern that a language has lowered; `facts` are what the language knows
        about it."""
        declared = keys_of(query, stream.keys)
        implied_keys = tuple(path for path in implied_keys if path not in declared)
        keyed = bool(declared or implied_keys)
        return cls(
            query,
            stream,
            lowered.tests,
            lowered.automaton,
            Traits.of(query, facts, lowered, keyed=keyed),
            compared=lowered.compared,
            columns_compared=lowered.columns,
            why_values=lowered.why_values,
            slots=lowered.slots,
            past=lowered.past,
            scoped=lowered.scoped,
            watching=lowered.watching,
            implied_keys=implied_keys,
        )

    @cached_property
    def text(self) -> str:
        return self.query.text or repr(self.query.formula)

    @cached_property
    def fingerprint(self) -> str:
        """Identifies what a snapshot's state means: same fingerprint, same states and tests."""
        parts = (self.version, _described(self.query), self.stream)
        kinds = {
            "scoped": self.scoped,
            "growing": self.traits.chosen_by is ChosenBy.GROWTH,
            "nesting": self.traits.chosen_by is ChosenBy.LONGEST,
            "watching": self.watching is not None,
            "nanoseconds": any(each.kind == NANOSECONDS for each in self.columns_compared),
            "doubles": any(is_double(each.expression) for each in self.columns_compared),
            "gathering": self.gathering is not None,
            "ended": self.gathering is not None and self.gathering.ends,
        }
        more = (self.implied_keys, *(name for name, is_such in kinds.items() if is_such))
        return digest_of(repr((*parts, *more) if any(more) else parts))

    @cached_property
    def gathering(self) -> Gathering | None:
        """The automaton that gathers the events of each part of an ALL, if that is all there is to
        do."""
        return gathering_of(self)

    @property
    def counts_unlisted(self) -> bool:
        """Whether matches are counted without being listed: the kernel does not choose among
        them."""
        return self.query.count and not self.scoped

    @property
    def runs(self) -> Automaton:
        """The automaton that the kernel runs."""
        return self.automaton if self.gathering is None else self.gathering

    @cached_property
    def keys(self) -> tuple[tuple[str, ...], ...]:
        """The paths of the columns that split the stream: declared keys, then implied ones."""
        return (*self.declared_keys, *self.implied_keys)

    @cached_property
    def declared_keys(self) -> tuple[tuple[str, ...], ...]:
        """The keys that results show."""
        return keys_of(self.query, self.stream.keys)

    @cached_property
    def returned(self) -> tuple[ReturnedColumn, ...]:
        """The columns that are computed for each match."""
        return returned_columns(self.query, self.keys)

    @cached_property
    def shown_keys(self) -> tuple[tuple[str, ...], ...]:
        """The keys that have columns of their own: not those that are returned."""
        names = {column.name for column in self.returned}
        return tuple(path for path in self.declared_keys if ".".join(path) not in names)

    @property
    def names(self) -> tuple[str, ...] | None:
        """The variables that tell matches apart, or None for `SELECT *`."""
        return selected(self.query)

    @cached_property
    def _tested(self) -> frozenset[tuple[str, ...]]:
        """The columns that tests read, and the keys."""
        conditions = (c for test in self.tests for c in test.conditions)
        type_ = () if self.stream.type is None else ((self.stream.type,),)
        return frozenset(self.keys).union(type_, *map(attributes, conditions))

    @cached_property
    def _read_beside(self) -> frozenset[tuple[str, ...]]:
        """The columns that are read for other reasons."""
        query, stream = self.query, self.stream
        paths = {*self.compared, *stream.where_columns, *self.followed_columns}
        paths.update(p for each in self.columns_compared for p in attributes(each.expression))
        paths.update(total.attribute for total in query.totals if total.attribute)
        paths.update((name,) for name in (stream.time, stream.stream) if name is not None)
        if isinstance(query.window, AttributeWindow):
            paths.add(query.window.attribute)
        return frozenset(paths)

    @property
    def columns(self) -> frozenset[tuple[str, ...]]:
        """The paths of all columns that the plan reads (without those only shown)."""
        return self._tested | self._read_beside

    @cached_property
    def tested_only(self) -> frozenset[str]:
        """The columns that are read only by tests or as keys."""
        return frozenset(path[0] for path in self._tested) - {path[0] for path in self._read_beside}

    @cached_property
    def columns_beside_tests(self) -> frozenset[str]:
        """The columns that are still read when the passed tests of each event are known."""
        every = frozenset(path[0] for path in self.columns)
        if self.stream.condition is not None or self.stream.stream is not None:
            return every  # rows are chosen from batches, and these are tested again
        if self.traits.remembers_values or self.timeouts is not None:
            return every
        return every - (self.tested_only - {path[0] for path in self.keys})

    @property
    def followed_columns(self) -> frozenset[tuple[str, ...]]:
        """The columns that are read to compare events with matches that they must not follow."""
        every = (attributes(c) for kind in self.compared_followers for c in kind.conditions)
        return frozenset().union(*every)

    @cached_property
    def totals(self) -> tuple[Total, ...]:
        """The totals that are kept while counting; an average is a sum and a number of values."""
        kept: dict[Total, None] = {}
        for node in self.query.totals:
            if node.function == "avg":
                kept[Total("sum", node.variable, node.attribute or (), False)] = None
                kept[Total("sum", node.variable, node.attribute or (), True)] = None
            else:
                kept[Total(node.function, node.variable, node.attribute or (), False)] = None
        return tuple(kept)

    def shown(self, automaton: Automaton) -> Automaton:
        """The automaton with invisible labels for what is not selected."""
        if self.names is None or self.traits.hides:
            return automaton
        return NamedAutomaton(automaton, frozenset(self.names))

    def label(self, label: Label) -> Label | None:
        """The visible label of a marked event: None if it is not marked, BEGINS_UNSEEN or names."""
        if label == BEGINS_UNSEEN:
            return label
        if not marks(label):
            return None
        if self.query.totals:
            return frozenset({""}) | (label & {total.variable for total in self.query.totals})
        if self.names is None:
            return frozenset({""}) | (label & returned_variables(self.query))
        return label & frozenset(self.names)


def _counts(tree: object, each: Field[Any]) -> bool:
    """Whether a field is part of the fingerprint. A clause that was added to the language later is
    part of it only where it is given."""
    if each.metadata.get("added") and getattr(tree, each.name) == each.default:
        return False
    return each.compare


def _described(value: object) -> object:
    """A tree as a text that is the same in every process, unlike the order in a set."""
    if isinstance(value, frozenset):
        return sorted(map(repr, value))
    if isinstance(value, tuple):
        return [_described(part) for part in value]
    if is_dataclass(value):
        parts = [
            _described(getattr(value, each.name)) for each in fields(value) if _counts(value, each)
        ]
        return [type(value).__name__, *parts]
    return repr(value)
