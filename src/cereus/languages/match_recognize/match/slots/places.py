"""Where conditions read values: the places of leaves, and the code that reads a column there."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from cereus.expr import tree as ex
from cereus.expr.types import Kind
from cereus.languages.match_recognize import values
from cereus.languages.match_recognize.binding import LABEL, NUMBER, Bound, Leaf
from cereus.languages.match_recognize.match import codes
from cereus.languages.match_recognize.match.needs import Part, names_in, parts
from cereus.languages.match_recognize.match.program import RowAutomaton
from cereus.languages.match_recognize.match.slots.code import Code
from cereus.languages.match_recognize.match.slots.columns import SlotColumns
from cereus.languages.match_recognize.match.slots.groups import SlotGroups
from cereus.languages.match_recognize.match.slots.tables import HERE, Base, Loaded, NotForSlots

FEW_ROWS, MOST_ROWS = 8, 65
"""From this many first or last rows of a variable on, only one is kept, if that is enough; and the
most that are kept."""
BEST = {
    "max_by": codes.MOST_ROW,
    "min_by": codes.LEAST_ROW,
    "arbitrary": codes.FIRST_VALID,
    "max": codes.MOST_ROW,
    "min": codes.LEAST_ROW,
}
"""Aggregates that are the value of one row, and the update that keeps it."""


class SlotPlaces:
    """The places that the conditions of a clause read, as slots and code."""

    def __init__(
        self,
        bound: Bound,
        automaton: RowAutomaton,
        variables: tuple[str, ...],
        columns: SlotColumns,
        groups: SlotGroups,
        code: Code,
    ) -> None:
        self.bound, self.automaton, self.variables = bound, automaton, variables
        self.columns, self.groups, self.code = columns, groups, code

    def base(self, leaf: Leaf) -> Base | Leaf:
        """The place that a leaf is read at; other aggregates and match numbers stand for
        themselves."""
        if isinstance(leaf, values.Over):
            return self.best_base(leaf) or leaf
        if not isinstance(leaf, values.At):
            return leaf
        place = leaf.place
        members = self.bound.clause.members(place.variable)
        universal = place.variable is None or members >= self.mapped
        read = names_in(leaf.argument)
        if NUMBER in read:
            raise NotForSlots
        if LABEL in read:
            return self.label_base(leaf, members, universal, read)
        return Base(None if universal else members, place.first, place.offset)

    @cached_property
    def mapped(self) -> frozenset[str]:
        """The variables that rows are mapped to."""
        joint = self.groups.joint
        each = (joint.get(label, frozenset((label,))) for label in self.automaton.labels)
        return frozenset[str]().union(*each)

    def best_base(self, leaf: values.Over) -> Base | None:
        """The row that an aggregate takes its value from, if it takes that from one row."""
        if leaf.then or any({LABEL, NUMBER} & names_in(each) for each in leaf.arguments):
            return None
        kind, compared = BEST.get(leaf.function), leaf.argument
        if leaf.function in ("max_by", "min_by"):
            (compared,) = leaf.more
        elif leaf.function in ("max", "min") and compared is not None:
            kind = kind if self.columns.argument(compared).kind is Kind.STRING else None
        if kind is None or compared is None:
            return None
        return Base(self.bound.clause.members(leaf.variable), best=(kind, compared))

    def label_base(
        self, leaf: values.At, members: frozenset[str], universal: bool, read: set[str]
    ) -> Base:
        place = leaf.place
        if read != {LABEL} or place.first or place.shift > 0 or (place.shift and not universal):
            raise NotForSlots
        of = self.mapped if universal else members
        return Base(of, offset=place.offset - place.shift, label=True)

    def largest_offset(self, base: Base) -> int:
        return self.offsets.get(replace(base, offset=0), 0)

    @cached_property
    def offsets(self) -> dict[Base, int]:
        """The largest offset that each place is read at."""
        largest: dict[Base, int] = {}
        for part in (part for name in self.variables for part in parts(self.bound, name)):
            for leaf in () if part.of_row else part.leaves.values():
                base = self.base(leaf)
                if isinstance(base, Base):
                    place = replace(base, offset=0)
                    largest[place] = max(largest.get(place, 0), base.offset)
        return largest

    def column(self, node: ex.Expression, part: Part, base: Base) -> Loaded:
        """Code that reads a column at a place."""
        number, kind, unit = self.columns.column_of(node, part, base)
        return self.at(number, base, kind, unit)

    def at(self, number: int, base: Base, kind: Kind, unit: str = "") -> Loaded:
        """Code that reads a column that is there already."""
        to = self.code.register()
        if base == HERE:
            self.code.add(codes.AT_ROW, to, number)
        elif base.members is None:
            op = codes.AT_FIRST if base.first else codes.AT_LAST
            self.code.add(op, to, number, base.offset)
        elif base.best is not None:
            group = self.groups.best_row(base, self.columns.ordered_column(base.best[1]))
            self.code.add(codes.AT_SLOT, to, number, group.at)
        elif self.counts_from_end(base):
            group = self.groups.one_end(base, 1 + self.largest_offset(base))
            self.code.constants.append(base.offset)
            self.code.add(codes.CONSTANT_INT, to, len(self.code.constants) - 1, 1)
            op = codes.AT_HEAD if base.first else codes.AT_TAIL
            self.code.add(op, to, number, group.at)
        else:
            size = 1 + self.largest_offset(base)
            if size > MOST_ROWS:
                raise NotForSlots
            group = self.groups.positions(base, size)
            self.code.add(codes.AT_SLOT, to, number, group.at + base.offset)
        return Loaded(to, kind, unit)

    def counts_from_end(self, base: Base) -> bool:
        """Whether many first or last rows of a variable are read that are consecutive: then one of
        them, and their number, is enough."""
        if base.label or self.largest_offset(base) < FEW_ROWS:
            return False
        assert base.members is not None
        return self.lie_together(base.members)

    def lie_together(self, members: frozenset[str]) -> bool:
        """Whether the rows of these variables are consecutive."""
        joint = self.groups.joint
        return self.automaton.lie_together(
            {
                q
                for q, label in enumerate(self.automaton.labels)
                if joint.get(label, frozenset((label,))) & members
            }
        )
