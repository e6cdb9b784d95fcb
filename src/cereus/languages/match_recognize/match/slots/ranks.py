"""Percentiles and numbers of different values of consecutive rows, found by the ranks of values."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from cereus.expr import tree as ex
from cereus.expr.arrow import operators
from cereus.expr.types import Kind
from cereus.languages.match_recognize import values
from cereus.languages.match_recognize.binding import LABEL
from cereus.languages.match_recognize.match import codes
from cereus.languages.match_recognize.match.needs import names_in
from cereus.languages.match_recognize.match.slots.percentiles import Percentile
from cereus.languages.match_recognize.match.slots.places import SlotPlaces
from cereus.languages.match_recognize.match.slots.tables import Base, Loaded, NotForSlots, SlotGroup

MOST_PARTS = 10**6
"""The greatest denominator of a percentile: ranks times that must fit 64 bits."""
ANY_NUMBER = 2**31 - 1


@dataclass(frozen=True)
class SlotRanks:
    """Makes slots and code for them: the last row, and the number of rows, are enough."""

    places: SlotPlaces
    percentiles: list[Percentile] = field(default_factory=list)

    def percentile(
        self, leaf: values.Over, argument: ex.Expression, members: frozenset[str]
    ) -> Loaded:
        columns, part = self.places.columns, leaf.more[0]
        vector = columns.argument(argument)
        if vector.kind not in (Kind.INTEGER, Kind.FLOAT):
            raise NotForSlots
        assert isinstance(part, ex.Literal) and isinstance(part.value, int | float)
        share = Fraction(repr(part.value))
        if share.denominator > MOST_PARTS:
            raise NotForSlots
        group = self._last_rows(argument, members)
        number, _ = columns.argument_column(argument, operators.as_float(vector))
        percentile = Percentile(number, share.numerator, share.denominator)
        return self._computed(codes.PERCENTILE, percentile, group, Kind.FLOAT)

    def distinct(self, argument: ex.Expression, members: frozenset[str]) -> Loaded:
        """The number of different values: how many rows are the first with their value."""
        group = self._last_rows(argument, members)
        earlier = Percentile(self.places.columns.earlier(argument), 0, 1)
        return self._computed(codes.DISTINCT, earlier, group, Kind.INTEGER)

    def _last_rows(self, argument: ex.Expression, members: frozenset[str]) -> SlotGroup:
        """The last row of some variables, whose rows are consecutive, and how many there are."""
        columns = self.places.columns
        if not self.places.lie_together(members) or LABEL in names_in(argument):
            raise NotForSlots
        columns.ranked = True
        base = Base(members, best=(codes.LAST_ROWS, argument))
        return self.places.groups.rows(base, [columns.width - 1, 0], codes.LAST_ROWS, ANY_NUMBER)

    def _computed(self, op: int, percentile: Percentile, group: SlotGroup, kind: Kind) -> Loaded:
        to = self.places.code.register()
        self.places.code.add(op, to, len(self.percentiles), group.at)
        self.percentiles.append(percentile)
        return Loaded(to, kind)
