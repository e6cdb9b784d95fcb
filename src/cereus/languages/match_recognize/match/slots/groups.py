"""Slots: what a run remembers about its rows, what updates it, and which states still need it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cereus.languages.match_recognize.match import codes
from cereus.languages.match_recognize.match.program import DONE, RowAutomaton
from cereus.languages.match_recognize.match.slots.tables import Base, NotJoint, SlotGroup

Update = tuple[int, int, int, int]
ROWS_AND_LABELS = (codes.SHIFT_ROW, codes.FIRST_ROWS, codes.SHIFT_LABEL)
"""Updates that do not read a column."""


class SlotGroups:
    """The slots so far. What is read belongs to the condition of `variable`. A slot that holds a
    row begins with `none`, which stands for no row. Variables in `joint` stand for several; of
    rows that are only some of these, `masked` gives a column (None: of a 1 for each row)."""

    def __init__(
        self,
        variables: Sequence[str],
        none: int,
        joint: Mapping[str, frozenset[str]],
        masked: Callable[[int | None, frozenset[str]], int],
    ) -> None:
        self.none, self.variable = none, ""
        self.joint, self.masked = joint, masked
        self.initial: list[int] = []
        self.real_slots = 0
        self.groups: dict[Any, SlotGroup] = {}
        self.updates: dict[str, list[Update]] = {v: [] for v in variables}
        self.reads: dict[str, set[SlotGroup]] = {v: set() for v in variables}

    def read(self, group: SlotGroup) -> SlotGroup:
        self.reads[self.variable].add(group)
        return group

    def known(self, key: Any) -> SlotGroup | None:
        return self.read(self.groups[key]) if key in self.groups else None

    def numbers(self, key: Any, size: int, floats: int) -> SlotGroup:
        """New slots for numbers, which begin with 0."""
        group = SlotGroup(len(self.initial), size, self.real_slots, floats)
        self.initial += [0] * size
        self.real_slots += floats
        self.groups[key] = group
        return self.read(group)

    def positions(self, base: Base, size: int) -> SlotGroup:
        """The slots that hold the first or last rows of a variable, or their labels."""
        kind = codes.FIRST_ROWS if base.first else codes.SHIFT_ROW
        kind = codes.SHIFT_LABEL if base.label else kind
        return self.rows(base, [self.none] * size, kind, size)

    def best_row(self, base: Base, column: int) -> SlotGroup:
        """The slot that holds the row with the best value in a column."""
        assert base.best is not None
        return self.rows(base, [self.none], base.best[0], column)

    def one_end(self, base: Base, size: int) -> SlotGroup:
        """The first or the last row of a variable whose rows are consecutive, and how many there
        are, as far as they are read."""
        kind = codes.HEAD_ROWS if base.first else codes.LAST_ROWS
        return self.rows(base, [self.none, 0], kind, size)

    def rows(self, base: Base, initial: list[int], kind: int, size: int) -> SlotGroup:
        """Slots that hold rows of a variable."""
        assert base.members is not None
        key = (base.members, base.first, base.label, base.best)
        if key not in self.groups:
            group = SlotGroup(len(self.initial), len(initial))
            self.initial += initial
            self.groups[key] = group
            self.on_update(base.members, (kind, group.at, size, 0))
        return self.read(self.groups[key])

    def on_update(self, members: frozenset[str], update: Update) -> None:
        for member in members:
            if member in self.updates:
                self.updates[member].append(update)
        for name, of in self.joint.items():
            if of <= members and update[0] != codes.SHIFT_LABEL:
                self.updates[name].append(update)
            elif of & members:
                if any(update[:2] == each[:2] for each in self.updates[name]):
                    raise NotJoint  # each of the variables has a column of its own
                self.updates[name].append(self.of_some(update, of & members))

    def of_some(self, update: Update, members: frozenset[str]) -> Update:
        """The update where only some of the rows of a variable count."""
        kind, slot, column, of = update
        if kind == codes.COUNT_ROWS:
            return codes.COUNT_VALID, slot, self.masked(None, members), 0
        if kind in ROWS_AND_LABELS or kind >= codes.LAST_ROWS:
            raise NotJoint
        return kind, slot, self.masked(column, members), of

    def liveness(
        self, automaton: RowAutomaton
    ) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
        """Which slots a run that waits in a state may still need: those that the condition of this
        state or of a later one reads."""
        needed: list[set[SlotGroup]] = [set(self.reads[label]) for label in automaton.labels]
        changed = True
        while changed:
            changed = False
            for q in range(len(automaton) - 1, -1, -1):
                size = len(needed[q])
                for target in automaton.moves[q]:
                    if target != DONE:
                        needed[q] |= needed[target]
                changed |= len(needed[q]) != size
        live = np.zeros((max(len(automaton), 1), max(len(self.initial), 1)), np.uint8)
        real = np.zeros((max(len(automaton), 1), max(self.real_slots, 1)), np.uint8)
        for q, groups in enumerate(needed):
            for group in groups:
                live[q, group.at : group.at + group.size] = 1
                real[q, group.float_at : group.float_at + group.floats] = 1
        return live, real
