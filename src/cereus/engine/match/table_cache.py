"""The table of a plan's automaton, kept from one run to the next."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakSet

from cereus.automata.model import Label
from cereus.automata.selection import BEGINS_UNSEEN
from cereus.engine.kernel.layout import FIRST_SHOWN, UNMARKED, UNSEEN
from cereus.engine.match.table import TransitionTable
from cereus.plan.plan import Plan
from cereus.state import checked


class LabelCodes:
    """Numbers for the labels of a plan, as the kernel knows them; `shown` are the visible ones."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._numbers: dict[Label, int] = {}
        self.shown: list[Label] = [frozenset()]  # HIDDEN

    def __call__(self, label: Label) -> int:
        if label not in self._numbers:
            self._numbers[label] = self._number(self._plan.label(label))
        return self._numbers[label]

    def _number(self, shown: Label | None) -> int:
        if shown is None:
            return UNMARKED
        return UNSEEN if shown == BEGINS_UNSEEN else self.number_shown(shown)

    def number_shown(self, shown: Label) -> int:
        if shown not in self.shown:
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


@dataclass(frozen=True)
class TableCache:
    """States and transitions that runs of one plan have explored, for the next run to start with.

    Runs may be in several threads: one that adds to it holds the lock. So that they need not wait
    for each other, a run takes a cache that no other one uses, where there is one (`users`).
    """

    labels: LabelCodes
    table: TransitionTable
    letters: dict[int, int]
    lock: threading.Lock = field(default_factory=threading.Lock)
    users: WeakSet[Any] = field(default_factory=WeakSet)

    @classmethod
    def empty(cls, plan: Plan, max_states: int) -> TableCache:
        labels = LabelCodes(plan)
        return cls(labels, TransitionTable(plan.runs, labels, max_states=max_states), {})
