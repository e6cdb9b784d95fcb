"""Negated components (§2.2.3), as runs follow them.

A plain one is decided event by event: `ForbiddenEvent`. The others need the events that have come
in their place: their conditions mention later components; or they stand first and so are about the
time before the run began; or a series of events decides. If one event is enough, the kernel looks
for it among the events of the past (`ForbiddenPast`); else runs remember in their states what has
come (`ForbiddenSeries`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

from cereus.automata.memory.terms import Absent, absent
from cereus.automata.memory.values import ValuedLetter, row_of
from cereus.automata.model import Check, Letter
from cereus.languages.sase.nfa.memory import NfaMemory, Remembered, ValueMemory
from cereus.languages.sase.nfa.stages import Literals, Question
from cereus.state.classes import state_class

Region = Any
"""What has come in the place of a negated component; for a plain one, whether a forbidden event
came."""


class NegatedComponent(ABC):
    """A negated component after `after` components. `at_the_end`: it is decided when all components
    have their events; `nothing` is the region when no event has come in its place."""

    after: int
    at_the_end: bool
    nothing: Region

    @property
    def leads(self) -> bool:
        return self.after == 0

    @abstractmethod
    def passed(
        self, region: Region, remembered: Remembered, letter: Letter, memory: NfaMemory
    ) -> list[tuple[Literals, Region]]:
        """Read an event in its place. Returns the possible outcomes, each with its conditions and
        region."""

    @abstractmethod
    def violated(self, region: Region, remembered: Remembered, memory: NfaMemory) -> bool:
        """Whether a forbidden event, or series of events, came."""

    def checked_at(self, stage: int) -> tuple[Check, ...]:
        """The checks of the kernel when a state selects an event."""
        return ()

    def older(self, region: Region) -> Region:
        """The region after one more event of the stream, whatever component that belongs to."""
        return region

    def inside(self, region: Region, letter: Letter) -> Region:
        """The part of the region that shares the window with an event."""
        return region


@dataclass(frozen=True)
class ForbiddenEvent(NegatedComponent):
    """Forbids events that satisfy `event`."""

    after: int
    event: Question
    at_the_end: bool = False
    nothing: Region = False

    def passed(
        self, region: Region, remembered: Remembered, letter: Letter, memory: NfaMemory
    ) -> list[tuple[Literals, Region]]:
        if region:
            return [((), True)]
        return [(((False, self.event),), False), (((True, self.event),), True)]

    def violated(self, region: Region, remembered: Remembered, memory: NfaMemory) -> bool:
        return bool(region)


@dataclass(frozen=True)
class ForbiddenPast(NegatedComponent):
    """Forbids events of the past that `event` describes. This is checked when a state selects an
    event: the first event of the last component that conditions mention; or, for a leading one, the
    last event of the match."""

    after: int
    stage: int
    event: Absent
    at_the_end: bool = False
    nothing: Region = ()

    def passed(
        self, region: Region, remembered: Remembered, letter: Letter, memory: NfaMemory
    ) -> list[tuple[Literals, Region]]:
        return [((), region)]

    def violated(self, region: Region, remembered: Remembered, memory: NfaMemory) -> bool:
        return False

    def checked_at(self, stage: int) -> tuple[Check, ...]:
        return (absent(self.event),) if stage == self.stage else ()


@state_class("sase.row")
class PastEvent(NamedTuple):
    """A remembered event: its letter, values, and how many events have come since."""

    letter: Letter
    values: tuple[Any, ...]
    age: int = 0


class Window(NamedTuple):
    """How far apart events may be: so many events, or by the values at a path, which conditions
    may have `compared` as well."""

    size: Any
    path: tuple[str, ...] | None = None
    compared: bool = False


@dataclass(frozen=True)
class ForbiddenSeries(NegatedComponent):
    """No event, or with `more` no series of events, that satisfies the conditions.

    first, more, last  questions about the first event, each later one, and all together
    outside  under partition contiguity, what an event fails that may be skipped: first, and later
    contiguous  whether only such events may be skipped; `strict`: none
    trails   whether nothing comes after it, so that a series may end early
    reads    the values that are remembered of an event
    window   of one that leads: what shares it with the end of the match
    """

    after: int
    variable: str
    reads: tuple[tuple[str, ...], ...]
    first: Question
    at_the_end: bool
    early: Question
    more: Question | None = None
    last: Question | None = None
    outside: tuple[Question, Question] | None = None
    contiguous: bool = False
    strict: bool = False
    trails: bool = False
    window: Window | None = None
    nothing: Region = ()

    def passed(
        self, region: Region, remembered: Remembered, letter: Letter, memory: NfaMemory
    ) -> list[tuple[Literals, Region]]:
        if self.leads:
            region = self.inside(region, letter)
        if not self.contiguous and memory.decide(self.early, remembered, letter) is not True:
            return [((), region)]
        row = PastEvent(int(letter), row_of(letter, self.reads))
        if self.more is None:
            region = self._unlike(region, row)
        return [((), (*region, row))]

    def _unlike(self, region: Region, row: PastEvent) -> Region:
        """The region without single events that differ only in age from this one: the youngest
        decides, since it is in the window longest."""
        return tuple(
            each for each in region if self._values_but_window(each) != self._values_but_window(row)
        )

    def _values_but_window(self, row: PastEvent) -> tuple[Any, ...]:
        path = None if self.window is None or self.window.compared else self.window.path
        return tuple(v for v, read in zip(row.values, self.reads, strict=True) if read != path)

    def older(self, region: Region) -> Region:
        if self.window is None or self.window.path is not None:
            return region
        return tuple(row._replace(age=row.age + 1) for row in region)

    def inside(self, region: Region, letter: Letter) -> Region:
        if self.window is None:
            return region
        size, path, _ = self.window
        if path is None:
            return tuple(row for row in region if row.age < size)
        assert isinstance(letter, ValuedLetter)
        now, place = letter.values[path], self.reads.index(path)
        return tuple(row for row in region if now - row.values[place] <= size)

    # ------------------------------------------------------------ whether there is such a series

    def violated(self, region: Region, remembered: Remembered, memory: NfaMemory) -> bool:
        assert isinstance(memory, ValueMemory)
        letters = [
            ValuedLetter.of(r.letter, dict(zip(self.reads, r.values, strict=True))) for r in region
        ]
        if self.more is None:
            return any(memory.decide(self.first, remembered, letter) for letter in letters)
        return self._series(letters, remembered, memory)

    def _series(
        self, letters: list[ValuedLetter], remembered: Remembered, memory: ValueMemory
    ) -> bool:
        """Whether there is a forbidden series. Follows all series at once: whether an event was
        taken, and what is remembered then."""
        waits = not self.contiguous or self.leads
        series = {(False, remembered)}
        for place, letter in enumerate(letters):
            after: set[tuple[bool, Remembered]] = set()
            for begun, values in series:
                question = self.more if begun else self.first
                assert question is not None
                if memory.decide(question, values, letter):
                    longer = memory.with_event(self.variable, values, letter, first=not begun)
                    after.add((True, longer))
                if (waits and not (begun and self.contiguous)) or self._skipped(
                    begun, values, letter, memory
                ):
                    after.add((begun, values))
            series = after
            ended = place == len(letters) - 1
            if (ended or not self.contiguous or self.trails) and self._ends(series, memory):
                return True
        return False

    def _skipped(
        self, begun: bool, values: Remembered, letter: ValuedLetter, memory: ValueMemory
    ) -> bool:
        """Whether contiguity lets a series skip the event."""
        if self.strict or self.outside is None:
            return False
        return not memory.decide(self.outside[begun], values, letter)

    def _ends(self, series: set[tuple[bool, Remembered]], memory: ValueMemory) -> bool:
        return any(
            begun and (self.last is None or memory.decide(self.last, values, 0) is True)
            for begun, values in series
        )
