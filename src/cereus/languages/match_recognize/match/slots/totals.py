"""Aggregates in conditions: counts and sums that runs carry along in slots."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cereus.expr import tree as ex
from cereus.expr.arrow import operators
from cereus.expr.arrow.vector import Vector, constant
from cereus.expr.types import Kind
from cereus.languages.match_recognize import values
from cereus.languages.match_recognize.binding import LABEL
from cereus.languages.match_recognize.match import codes
from cereus.languages.match_recognize.match.needs import names_in, with_label
from cereus.languages.match_recognize.match.slots.code import AS_INTS, Code
from cereus.languages.match_recognize.match.slots.columns import SlotColumns
from cereus.languages.match_recognize.match.slots.groups import SlotGroups
from cereus.languages.match_recognize.match.slots.tables import Loaded, NotForSlots, SlotGroup

IN_SLOTS = frozenset(("count", "count_if", "sum", "avg", "min", "max", "bool_and", "bool_or"))
"""Aggregates that need only a count and one number."""
SPREADS = {
    "var_pop": codes.VARIANCE,
    "stddev_pop": codes.VARIANCE,
    "var_samp": codes.SAMPLE_VARIANCE,
    "stddev_samp": codes.SAMPLE_VARIANCE,
}


@dataclass(frozen=True)
class Read:
    """What an aggregate reads of the rows of some variables."""

    members: frozenset[str]
    number: int
    kind: Kind
    unit: str


@dataclass(frozen=True)
class SlotTotals:
    """Makes slots and code for aggregates."""

    code: Code
    columns: SlotColumns
    groups: SlotGroups

    def counted(self, leaf: values.Over, members: frozenset[str]) -> Loaded:
        to = self.code.register()
        if leaf.variable is None:
            self.code.add(codes.MATCH_LENGTH, to, 0, 0)
        else:
            group = self.groups.known(("count", members))
            if group is None:
                group = self.groups.numbers(("count", members), 1, 0)
                self.groups.on_update(members, (codes.COUNT_ROWS, group.at, 0, 0))
            self.code.add(codes.SLOT_INT, to, 0, group.at)
        return Loaded(to, Kind.INTEGER)

    def aggregated(
        self, leaf: values.Over, argument: ex.Expression, members: frozenset[str]
    ) -> Loaded:
        function = leaf.function
        if function in SPREADS:
            return self.spread(function, argument, self.columns.argument(argument), members)
        if function not in IN_SLOTS:
            raise NotForSlots
        read = self.read(function, argument, members)
        kind, unit = read[0].kind, read[0].unit
        if any((each.kind, each.unit) != (kind, unit) for each in read):
            raise NotForSlots
        key = (function if function in ("min", "max") else "sum", members, repr(argument))
        group = self.groups.known(key)
        real = kind is Kind.FLOAT
        if function in ("sum", "avg") and not real:
            for each in read:
                self.columns.refuse_large_sums(each.number)
        if group is None:
            group = self.groups.numbers(key, 2, int(real))
            for each in read:
                self.update_with(key[0], each.number, real, group, each.members)
        return self.result(function, group, kind, unit)

    def read(self, function: str, argument: ex.Expression, members: frozenset[str]) -> list[Read]:
        """The columns of an argument: one, or one for each variable if it needs that."""
        if LABEL not in names_in(argument):
            return [self.read_column(function, argument, members)]
        return [
            self.read_column(function, with_label(argument, member), frozenset((member,)))
            for member in sorted(members)
        ]

    def read_column(self, function: str, argument: ex.Expression, members: frozenset[str]) -> Read:
        vector = self.columns.argument(argument)
        if function == "count" and vector.kind not in (*AS_INTS, Kind.FLOAT):
            vector = Vector(Kind.INTEGER, np.int64(0), vector.validity())
        number, kind = self.columns.argument_column(argument, vector)
        return Read(members, number, kind, vector.unit)

    def spread(
        self, function: str, argument: ex.Expression, vector: Vector, members: frozenset[str]
    ) -> Loaded:
        """A variance or a standard deviation: a count, a mean, and the distances from it."""
        if vector.kind not in (Kind.INTEGER, Kind.FLOAT):
            raise NotForSlots
        number, _ = self.columns.argument_column(argument, operators.as_float(vector))
        key = ("spread", members, repr(argument))
        group = self.groups.known(key)
        if group is None:
            group = self.groups.numbers(key, 1, 2)
            self.groups.on_update(members, (codes.SPREAD, group.float_at, number, group.at))
            self.groups.on_update(members, (codes.COUNT_VALID, group.at, number, 0))
        variance = Loaded(self.code.register(), Kind.FLOAT)
        self.code.add(SPREADS[function], variance.register, group.float_at, group.at)
        if function.startswith("var"):
            return variance
        return self.code.emit(codes.SQUARE_ROOT, Kind.FLOAT, variance)

    def update_with(
        self, function: str, number: int, real: bool, group: SlotGroup, members: frozenset[str]
    ) -> None:
        kinds = {
            ("sum", False): codes.SUM_INT,
            ("sum", True): codes.SUM_FLOAT,
            ("min", False): codes.MIN_INT,
            ("min", True): codes.MIN_FLOAT,
            ("max", False): codes.MAX_INT,
            ("max", True): codes.MAX_FLOAT,
        }
        slot = group.float_at if real else group.at + 1
        # the count is the group's first slot, and is updated last, since extremes read it. They
        # only need to know whether there is a value; a count would keep runs apart
        count = codes.COUNT_VALID if function == "sum" else codes.NOTE_VALID
        self.groups.on_update(members, (kinds[function, real], slot, number, group.at))
        self.groups.on_update(members, (count, group.at, number, 0))

    def result(self, function: str, group: SlotGroup, kind: Kind, unit: str) -> Loaded:
        if function == "avg":
            real = kind is Kind.FLOAT
            if not real and kind is not Kind.INTEGER:
                raise NotForSlots
            to = self.code.register()
            op = codes.AVERAGE_FLOAT if real else codes.AVERAGE_INT
            self.code.add(op, to, group.float_at if real else group.at + 1, group.at)
            return Loaded(to, Kind.FLOAT)
        if function == "count":
            return self.count(group)
        raw = Loaded(self.code.register(), kind, unit)
        if kind is Kind.FLOAT:
            self.code.add(codes.SLOT_FLOAT, raw.register, 0, group.float_at)
        else:
            self.code.add(codes.SLOT_INT, raw.register, 0, group.at + 1)
        if function in ("bool_or", "bool_and", "count_if"):
            return self.of_booleans(function, raw, group)
        return self.if_any(raw, group)

    def if_any(self, value: Loaded, group: SlotGroup) -> Loaded:
        to = self.code.register()
        self.code.add(codes.VALID_IF, to, value.register, group.at)
        return replace(value, register=to)

    def count(self, group: SlotGroup) -> Loaded:
        to = self.code.register()
        self.code.add(codes.SLOT_INT, to, 0, group.at)
        return Loaded(to, Kind.INTEGER)

    def of_booleans(self, function: str, true: Loaded, group: SlotGroup) -> Loaded:
        if function == "count_if":
            return replace(true, kind=Kind.INTEGER)
        if function == "bool_and":
            every = self.code.emit(codes.EQUAL, Kind.BOOLEAN, true, self.count(group))
            return self.if_any(every, group)
        none = self.code.literal(constant(0))
        return self.if_any(self.code.emit(codes.LESS, Kind.BOOLEAN, none, true), group)
