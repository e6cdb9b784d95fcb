"""Negated components (§2.2.3): which accepted matches they drop.

A negated component is about the events between the components around it; at an end of the pattern,
about those that share the window with the match. `~B b`: no such event satisfies all the conditions
on b. `~(B+ b[])`: no series of them does. Under a contiguity strategy the series is made of
everything there (everything of the partition); otherwise any events may be left out of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from cereus.languages.sase import tree as sase
from cereus.languages.sase.places import ClausePlace
from cereus.reference.conditions import Event
from cereus.reference.sase.nfa import Automaton, Buffer, Positions, places_of

CONTIGUOUS = (sase.Strategy.STRICT, sase.Strategy.PARTITION)


@dataclass(frozen=True)
class Region:
    """The positions that a negated component is about. If it is not `closed` before (after), there
    is no component there: a series may begin late (end early)."""

    positions: Positions
    closed_before: bool
    closed_after: bool


@dataclass(frozen=True)
class Negations:
    automaton: Automaton

    def block(self, buffer: Buffer) -> bool:
        """Whether some negated component has a forbidden event or series."""
        parts = self.automaton.query.parts
        return any(
            self.forbidden(part.component, self.region(index, buffer), buffer)
            for index, part in enumerate(parts)
            if isinstance(part, sase.Negated)
        )

    def known_at(self, buffer: Buffer, at: int | None) -> int | None:
        """The event on which a match is known: with a negation at the end, the first event after
        the window."""
        if isinstance(self.automaton.query.parts[-1], sase.Component):
            return at
        start = buffer[0][0]
        outside = (p for p in self.rows() if p > start and not self.automaton.within(start, p))
        after = next(outside, None)
        return None if at is None or after is None else max(at, after)

    def rows(self) -> range:
        return range(len(self.automaton.stream.events))

    def region(self, index: int, buffer: Buffer) -> Region:
        parts = self.automaton.query.parts
        before = sum(isinstance(part, sase.Component) for part in parts[:index])
        leads, trails = before == 0, before == len(buffer)
        low = -1 if leads else buffer[before - 1][-1]
        high = len(self.rows()) if trails else buffer[before][0]
        start, end = buffer[0][0], buffer[-1][-1]
        positions = tuple(
            p
            for p in range(low + 1, high)
            if not (leads and not self.automaton.within(p, end))
            and not (trails and not self.automaton.within(start, p))
        )
        return Region(positions, not leads, not trails)

    def forbidden(self, component: sase.Component, region: Region, buffer: Buffer) -> bool:
        if isinstance(component, sase.Kleene):
            return self.series(component, region, buffer, 0, ())
        return any(self.selects(component, buffer, (p,)) for p in region.positions)

    def series(
        self,
        component: sase.Component,
        region: Region,
        buffer: Buffer,
        index: int,
        taken: Positions,
    ) -> bool:
        """Whether the events of the region from `index` on complete `taken` to a series."""
        contiguous = self.automaton.query.strategy(component.variable) in CONTIGUOUS
        ended = index == len(region.positions)
        may_end = ended or not (contiguous and region.closed_after)
        if taken and may_end and self.hold(component, (ClausePlace.LAST,), buffer, taken):
            return True
        if ended:
            return False
        longer = (*taken, region.positions[index])
        if self.selects(component, buffer, longer) and self.series(
            component, region, buffer, index + 1, longer
        ):
            return True
        waits = not taken and not region.closed_before
        skips = waits or not contiguous or self.outside(component, buffer, longer)
        return skips and self.series(component, region, buffer, index + 1, taken)

    def selects(self, component: sase.Component, buffer: Buffer, taken: Positions) -> bool:
        """Whether the last of `taken` can be selected after the others."""
        automaton, event = self.automaton, taken[-1]
        places = places_of(len(taken) > 1)
        return (
            automaton.stream.type_of(event) in component.types
            and automaton.agrees(buffer, event)
            and self.hold(component, places, buffer, taken)
        )

    def outside(self, component: sase.Component, buffer: Buffer, taken: Positions) -> bool:
        """Whether the last of `taken` may be skipped under the contiguity of the component."""
        if self.automaton.query.strategy(component.variable) is sase.Strategy.STRICT:
            return False
        places = places_of(len(taken) > 1)
        same = self.automaton.agrees(buffer, taken[-1])
        return not (same and self.hold(component, places, buffer, taken, partition=True))

    def hold(
        self,
        component: sase.Component,
        places: tuple[ClausePlace, ...],
        buffer: Buffer,
        taken: Positions,
        *,
        partition: bool = False,
    ) -> bool:
        events: list[Event] = [self.automaton.stream.events[p] for p in taken]
        everything = {**self.automaton.events_of(buffer), component.variable: events}
        variable = component.variable
        return self.automaton.all_hold(variable, places, everything, partition=partition)
