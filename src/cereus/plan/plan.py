"""The Plan: all that is needed to run a query anywhere. Immutable, picklable, versioned."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from cereus.automata.memory.compare import Column
from cereus.automata.model import Automaton, Label, marks
from cereus.automata.selection import BEGINS_UNSEEN, Named
from cereus.clauses.tree import (
    AnyQuery,
    AttributeWindow,
    Consume,
    EventWindow,
    Strategy,
)
from cereus.expr.tree import attributes
from cereus.languages.ceql import tree as cel
from cereus.languages.ceql.binding import surely_bound
from cereus.languages.ceql.lower import SELECTIONS, ends_marked
from cereus.plan.tests import EventTest
from cereus.stream import Stream

PLAN_VERSION = 3
"""Raised whenever a snapshot taken with an older plan could be misread."""

NO_SCHEMA = "the types of the columns are not known yet"


class ChosenBy(Enum):
    """Who decides what a strategy at the top of a query keeps."""

    AUTOMATON = "the automaton"
    KERNEL = "the kernel, among the partial matches that it holds"
    REPLAY = "the strategy's automaton, which reads the events of the window once more"
    LISTING = "a comparison of all matches of an event"


class Total(NamedTuple):
    """A total over all matches, of an attribute's values, or (`ones`) of how many there are."""

    kind: str
    variable: str
    attribute: tuple[str, ...]
    ones: bool


@dataclass(frozen=True)
class Plan:
    """A query made ready to run.

    tests      what is asked of every event; the answers are the letters of the automaton
    automaton  recognises the matches; labels are what is shown of them
    compared   the attributes that conditions between events read
    columns_compared  with registers: the columns whose values they hold
    slots      the most values that a partial match may have to remember
    why_values  where states remember values: why registers are not used
    """

    query: AnyQuery
    stream: Stream
    tests: tuple[EventTest, ...]
    automaton: Automaton
    compared: frozenset[tuple[str, ...]] = frozenset()
    columns_compared: tuple[Column, ...] = ()
    why_values: str | None = None
    slots: int = 0
    dialect: str = "ceql"
    version: int = PLAN_VERSION

    @property
    def text(self) -> str:
        return self.query.text or repr(self.query.formula)

    @cached_property
    def fingerprint(self) -> str:
        """Identifies what a snapshot's state means: same fingerprint, same states and tests."""
        said = repr((self.version, _said(self.query), self.stream))
        return hashlib.sha256(said.encode()).hexdigest()[:16]

    @property
    def keys(self) -> tuple[tuple[str, ...], ...]:
        """The paths of the columns that split the stream."""
        own = tuple((key,) for key in self.stream.keys)
        return own + tuple(path for path in self.query.partition_by if path not in own)

    @property
    def registers(self) -> bool:
        """Whether the automaton remembers values in registers."""
        return self.slots > 0

    @property
    def remembers_values(self) -> bool:
        """Whether the automaton's states remember values (what registers cannot decide)."""
        return self.correlated and not self.registers

    @property
    def correlated(self) -> bool:
        """Whether there are conditions between events (`count(a) > 3` reads no attribute)."""
        return bool(self.compared) or self.why_values is not None

    @cached_property
    def open_ended(self) -> bool:
        """Whether a match may be reported at a later event than its last one."""
        return not ends_marked(self.query.formula)

    @cached_property
    def chosen_by(self) -> ChosenBy:
        """Which matches a window has kept changes as it moves, so that no automaton can choose
        among them from the past alone; nor has it room for the values of other runs."""
        windowed = self.query.window is not None
        if self.query.strategy not in SELECTIONS:
            return ChosenBy.AUTOMATON
        if windowed and self.open_ended:
            return ChosenBy.LISTING
        if self.query.strategy is Strategy.MAX:
            return ChosenBy.REPLAY if windowed else ChosenBy.AUTOMATON
        return ChosenBy.KERNEL if windowed or self.registers else ChosenBy.AUTOMATON

    @property
    def chosen_late(self) -> bool:
        """Whether the kernel finds more than the strategy keeps."""
        return self.chosen_by in (ChosenBy.REPLAY, ChosenBy.LISTING)

    @property
    def closes(self) -> bool:
        """Whether matches may be complete because their window has passed, or the input ended."""
        return False

    @property
    def late(self) -> bool:
        """Whether a match may be told later than its own time is read."""
        return self.open_ended or self.closes

    @property
    def keys_sleep(self) -> bool:
        """Whether an event that begins nothing may be left out while its key has nothing begun: not
        where places count, or a match is told, chosen or consumed by what comes elsewhere."""
        together = self.query.consume is Consume.ANY
        apart = bool(self.keys) and not self.position_sensitive
        later = self.late or self.chosen_late
        return apart and not (later or together or self.remembers_values)

    @property
    def looks_ahead(self) -> bool:
        """Whether an event may be left out because no match can have it: where a match is complete
        at its last event, inside a window of time, and no event counts but for its looks."""
        windowed = self.query.window is not None and not self.position_sensitive
        later = self.late or self.chosen_late or self.detects
        return windowed and not self.keys and not later and not self.remembers_values

    @property
    def ends_at_marks(self) -> bool:
        """Whether a match ends at the last event that it has, wherever it is reported."""
        return False

    @property
    def hides(self) -> bool:
        """Whether marked events of which nothing is selected are still part of what is found."""
        compared = self.open_ended or self.registers or self.chosen_by is ChosenBy.KERNEL
        return self.names is not None and compared

    @property
    def detects(self) -> bool:
        """Whether only the events are asked for that end a match."""
        return False

    @property
    def limit(self) -> int | None:
        """The most results that one event may have."""
        return self.query.limit

    @property
    def labelled(self) -> bool:
        """Whether the kernel has to say what each event of a match is marked with, because some
        are not shown."""
        return self.names is not None

    @property
    def limited_late(self) -> bool:
        """Whether LIMIT has to wait until rows that are found several ways are one."""
        return self.limit is not None and (self.hides or self.registers)

    @cached_property
    def consumes_late(self) -> bool:
        """Whether it takes the strategy's choice to know that an event has output to consume:
        what it chooses may show nothing of the selected variables."""
        if self.query.consume is Consume.NONE or self.names is None or not self.chosen_late:
            return False
        return surely_bound(self.query.formula).isdisjoint(self.names)

    @cached_property
    def position_sensitive(self) -> bool:
        """Whether events that satisfy no test still count, because their places do."""
        return (
            isinstance(self.query.window, EventWindow)
            or self.query.strategy is Strategy.STRICT
            or any(map(_looks_at_places, self.query.formula.walk()))
        )

    @property
    def names(self) -> tuple[str, ...] | None:
        """The selected variables, or None for `SELECT *`."""
        if self.query.select is None:
            return None
        return tuple(output.variable for output in self.query.select)

    @cached_property
    def columns(self) -> frozenset[tuple[str, ...]]:
        """The paths of all columns that the plan reads (without those only shown)."""
        found = {path for test in self.tests for c in test.conditions for path in attributes(c)}
        found.update(self.keys)
        found.update(self.compared)
        found.update(total.attribute for total in self.query.totals if total.attribute)
        own = (self.stream.type, self.stream.time, self.stream.stream)
        found.update((name,) for name in own if name is not None)
        if isinstance(self.query.window, AttributeWindow):
            found.add(self.query.window.attribute)
        return frozenset(found)

    @cached_property
    def totals(self) -> tuple[Total, ...]:
        """The totals that are kept while counting; an average is a sum and a number of values."""
        found: dict[Total, None] = {}
        for node in self.query.totals:
            if node.function == "avg":
                found[Total("sum", node.variable, node.attribute or (), False)] = None
                found[Total("sum", node.variable, node.attribute or (), True)] = None
            else:
                found[Total(node.function, node.variable, node.attribute or (), False)] = None
        return tuple(found)

    def shown(self, automaton: Automaton) -> Automaton:
        """The automaton with what is not selected made invisible."""
        if self.names is None or self.hides:
            return automaton
        return Named(automaton, frozenset(self.names))

    def label(self, label: Label) -> Label | None:
        """What is shown of a marked event: None if it is not marked, BEGINS_UNSEEN or names."""
        if label == BEGINS_UNSEEN:
            return label
        if not marks(label):
            return None
        if self.query.totals:
            return frozenset({""}) | (label & {total.variable for total in self.query.totals})
        return frozenset({""}) if self.names is None else label & frozenset(self.names)


def _said(value: object) -> object:
    """A tree in words that are the same in every process, as the order in a set is not."""
    if isinstance(value, frozenset):
        return sorted(map(repr, value))
    if isinstance(value, tuple):
        return [_said(part) for part in value]
    if is_dataclass(value):
        parts = [_said(getattr(value, each.name)) for each in fields(value) if each.compare]
        return [type(value).__name__, *parts]
    return repr(value)


def _looks_at_places(node: cel.Formula) -> bool:
    if isinstance(node, cel.Select):
        return node.strategy is Strategy.STRICT
    return isinstance(node, cel.ContiguousSequence | cel.ContiguousIteration | cel.Start | cel.All)
