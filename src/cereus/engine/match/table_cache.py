"""Keeps the table of a plan's automaton from one run to the next."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, NamedTuple
from weakref import WeakSet

import pyarrow as pa

from cereus.automata.model import Label, stamps
from cereus.automata.selection import BEGINS_UNSEEN
from cereus.automata.subset import MOST_LETTERS
from cereus.engine.ingest.clock import Clock
from cereus.engine.ingest.letters import Letters, letters_of
from cereus.engine.kernel.layout import FIRST_SHOWN, LABEL_BITS, LABEL_MASK, UNMARKED, UNSEEN
from cereus.engine.match.table import TransitionTable
from cereus.errors import LimitError
from cereus.limits import Limits
from cereus.plan.alphabet import alphabet
from cereus.plan.plan import Plan
from cereus.state import checked

CORES = os.cpu_count() or 1


class LabelCodes:
    """The kernel's numbers for the labels of a plan; `shown` are the visible labels."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._numbers: dict[Label, int] = {}
        self.shown: list[Label] = [frozenset()]  # HIDDEN

    def __call__(self, label: Label) -> int:
        if label not in self._numbers:
            number = self._number(self._plan.label(label))
            self._numbers[label] = number + (stamps(label) << LABEL_BITS)
        return self._numbers[label]

    def _number(self, shown: Label | None) -> int:
        if shown is None:
            return UNMARKED
        return UNSEEN if shown == BEGINS_UNSEEN else self.number_shown(shown)

    def number_shown(self, shown: Label) -> int:
        if shown not in self.shown:
            if FIRST_SHOWN + len(self.shown) > LABEL_MASK:
                raise LimitError(
                    f"matches have more than {LABEL_MASK:,} different sets of variables",
                    hint="select fewer variables",
                )
            self.shown.append(shown)
        return FIRST_SHOWN + self.shown.index(shown)

    def restore(self, shown: list[Label]) -> None:
        """Take up saved labels: sets of names, the hidden one first."""
        checked.of_type(shown, list, "the list of labels")
        for label in shown:
            names = checked.of_type(label, frozenset, "a label")
            checked.refuse_unless(all(type(n) is str for n in names), "a label is not of names")
        distinct = shown[:1] == [frozenset()] and len(set(shown)) == len(shown)
        checked.refuse_unless(distinct, "its labels are not those of this query")
        self.shown[:] = shown


class Prepared(NamedTuple):
    """What every run of a plan over events of one schema needs and never changes."""

    schema: pa.Schema
    clock: Clock
    tests: Letters


@dataclass
class TableCache:
    """States and transitions that runs of one plan have explored, for the next run to start with,
    and the preparation of the last run.

    Several threads may run the plan: a run that adds to the cache holds the lock. So that runs need
    not wait for each other, each takes a cache that no other one uses, if there is one (`users`).
    """

    plan: Plan
    labels: LabelCodes
    table: TransitionTable
    letters: dict[int, int]
    choosers: dict[int, TransitionTable] = field(default_factory=dict)
    """The tables of a strategy that is decided again for every window, by the state in which each
    begins."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    users: WeakSet[Any] = field(default_factory=WeakSet)
    _prepared: Prepared | None = None

    @classmethod
    def empty(cls, plan: Plan, limits: Limits, *, alone: bool = True) -> TableCache:
        """A cache that knows nothing yet. `alone`: the tests belong to this plan only, not to
        others like it."""
        labels = LabelCodes(plan)
        table = TransitionTable(
            plan.runs,
            labels,
            alphabet=cache(partial(_alphabet, plan)) if alone else lambda: None,
            max_states=limits.states,
            max_steps=limits.steps_per_event,
        )
        return cls(plan, labels, table, {})

    def prepared(self, schema: pa.Schema) -> Prepared:
        """The preparation for events of a schema. That of the last run is reused if it had the same
        schema, since making one takes longer than reading a few events."""
        last, plan = self._prepared, self.plan
        if last is not None and last.schema.equals(schema):
            return last
        clock = Clock(plan.query.window, plan.stream, schema)
        made = Prepared(schema, clock, letters_of(plan.tests, plan.stream, schema))
        self._prepared = made
        return made


def _alphabet(plan: Plan) -> Sequence[int] | None:
    """The letters of all possible events, if they are few."""
    if plan.traits.remembers_values:
        return None
    possible = alphabet(plan.tests, plan.stream, MOST_LETTERS)
    return possible.letters if possible.complete else None


class TableCaches:
    """The caches of the plans of a query. They are not pickled: another process makes its own."""

    def __init__(self) -> None:
        self._of: dict[int, list[TableCache]] = {}

    def of(self, plan: Plan, limits: Limits) -> TableCache | None:
        """A cache that no other run uses, as far as there are cores for both. None for a plan whose
        states remember values: these states are forgotten again, so they cannot be shared."""
        if plan.traits.remembers_values:
            return None
        known = self._of.setdefault(id(plan), [])
        fewest = min(known, key=lambda cache: len(cache.users), default=None)
        if fewest is None or (fewest.users and len(known) < CORES):
            fewest = TableCache.empty(plan, limits)
            known.append(fewest)
        return fewest

    def __reduce__(self) -> tuple[type[TableCaches], tuple[()]]:
        return TableCaches, ()
