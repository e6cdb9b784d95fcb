"""SREMO as automata that are made on demand, one construction per operator.

A *part* is an expression that reads events. A run inside it is a *configuration*: where it is, and
what its registers hold (`Contents`, see `memory`). Registers flow through concatenation, so a part
is entered with some contents, and left with other contents. There is no ε: a part that can be left
is left at once, and the next part is entered. A configuration that can read nothing more is not
kept, unless a part can be left there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from cereus.automata.model import Check, Letter, State, Update
from cereus.errors import LimitError
from cereus.languages.sremo.automaton.memory import Contents, Guard

MOST_WAYS = 50_000
"""Configurations in which both sides of an intersection may begin: each side has several, and with
every & there are as many times more."""

Configuration = State


class PartStep(NamedTuple):
    """One event read: whether it is marked, where the run is then, and which checks and updates
    slots need."""

    marked: bool
    to: Configuration
    checks: tuple[Check, ...] = ()
    updates: tuple[Update, ...] = ()


class SremoPart(ABC):
    @abstractmethod
    def enter(self, contents: Contents) -> Iterable[Configuration]: ...

    @abstractmethod
    def steps(self, at: Any, letter: Letter) -> Iterator[PartStep]:
        """The steps of a run on an event with this letter."""

    @abstractmethod
    def leave(self, at: Any) -> Iterable[Contents]:
        """The contents with which the part may end here; empty if it may not."""

    @abstractmethod
    def contents(self, at: Any) -> list[Contents]:
        """All contents of a configuration."""

    def goes_on(self, at: Any) -> bool:
        """False if no event can be read any more."""
        return True

    def for_ever(self, at: Any) -> bool:
        """Whether the part may end here and after any further events."""
        return False


@dataclass(frozen=True)
class EpsilonPart(SremoPart):
    def enter(self, contents: Contents) -> Iterable[Configuration]:
        return ((contents,),)

    def steps(self, at: Any, letter: Letter) -> Iterator[PartStep]:
        return iter(())

    def leave(self, at: Any) -> Iterable[Contents]:
        yield at[0]

    def contents(self, at: Any) -> list[Contents]:
        return [at[0]]

    def goes_on(self, at: Any) -> bool:
        return False


@dataclass(frozen=True)
class NothingPart(EpsilonPart):
    def enter(self, contents: Contents) -> Iterable[Configuration]:
        return ()


@dataclass(frozen=True)
class OneEvent(SremoPart):
    """φ↑o↓r: one event that passes test number `bit` (None: any event) and the guard."""

    bit: int | None
    marks: bool
    guard: Guard

    def enter(self, contents: Contents) -> Iterable[Configuration]:
        return ((False, contents),)

    def steps(self, at: Any, letter: Letter) -> Iterator[PartStep]:
        over, contents = at
        if not over and (self.bit is None or letter >> self.bit & 1):
            for after, checks, updates in self.guard.passing(contents, letter):
                yield PartStep(self.marks, (True, after), checks, updates)

    def leave(self, at: Any) -> Iterable[Contents]:
        return (at[1],) if at[0] else ()

    def contents(self, at: Any) -> list[Contents]:
        return [at[1]]

    def goes_on(self, at: Any) -> bool:
        return not at[0]


@dataclass(frozen=True)
class SkipAny(SremoPart):
    """(⊤↑⊗)*: the run waits here, whatever comes."""

    def enter(self, contents: Contents) -> Iterable[Configuration]:
        return ((contents,),)

    def steps(self, at: Any, letter: Letter) -> Iterator[PartStep]:
        yield PartStep(False, at)

    def leave(self, at: Any) -> Iterable[Contents]:
        yield at[0]

    def contents(self, at: Any) -> list[Contents]:
        return [at[0]]

    def for_ever(self, at: Any) -> bool:
        return True


@dataclass(frozen=True)
class SkipUntil(SkipAny):
    """!(⊤* φ ⊤*): the run waits while no event satisfies φ, which `bit` and `guard` decide."""

    bit: int | None
    guard: Guard

    def steps(self, at: Any, letter: Letter) -> Iterator[PartStep]:
        if self.bit is not None and not letter >> self.bit & 1:
            yield PartStep(False, at)
            return
        for checks in self.guard.failing(at[0], letter):
            yield PartStep(False, at, checks)

    def for_ever(self, at: Any) -> bool:
        return False


@dataclass(frozen=True)
class ConcatenationPart(SremoPart):
    """A configuration is (False, of the left part) or (True, of the right part)."""

    left: SremoPart
    right: SremoPart

    def enter(self, contents: Contents) -> Iterable[Configuration]:
        for at in self.left.enter(contents):
            yield from self._on(at)

    def _on(self, at: Configuration) -> Iterator[Configuration]:
        """A configuration of the left part, and those of the right part that follow it."""
        if self.left.goes_on(at):
            yield (False, at)
        for contents in self.left.leave(at):
            for begin in self.right.enter(contents):
                yield (True, begin)

    def steps(self, at: Any, letter: Letter) -> Iterator[PartStep]:
        right, inner = at
        if right:
            for step in self.right.steps(inner, letter):
                yield step._replace(to=(True, step.to))
            return
        for step in self.left.steps(inner, letter):
            for to in self._on(step.to):
                yield step._replace(to=to)

    def leave(self, at: Any) -> Iterable[Contents]:
        return self.right.leave(at[1]) if at[0] else ()

    def contents(self, at: Any) -> list[Contents]:
        return (self.right if at[0] else self.left).contents(at[1])

    def goes_on(self, at: Any) -> bool:
        return self.right.goes_on(at[1]) if at[0] else True

    def for_ever(self, at: Any) -> bool:
        return bool(at[0]) and self.right.for_ever(at[1])


@dataclass(frozen=True)
class DisjunctionPart(SremoPart):
    """A configuration is (number of the part, configuration of that part)."""

    parts: tuple[SremoPart, ...]

    def enter(self, contents: Contents) -> Iterable[Configuration]:
        return [(n, at) for n, part in enumerate(self.parts) for at in part.enter(contents)]

    def _part(self, number: int) -> SremoPart:
        return self.parts[number]

    def steps(self, at: Any, letter: Letter) -> Iterator[PartStep]:
        for step in self._part(at[0]).steps(at[1], letter):
            yield step._replace(to=(at[0], step.to))

    def leave(self, at: Any) -> Iterable[Contents]:
        return self._part(at[0]).leave(at[1])

    def contents(self, at: Any) -> list[Contents]:
        return self._part(at[0]).contents(at[1])

    def goes_on(self, at: Any) -> bool:
        return self._part(at[0]).goes_on(at[1])

    def for_ever(self, at: Any) -> bool:
        return self._part(at[0]).for_ever(at[1])


@dataclass(frozen=True)
class IterationPart(SremoPart):
    """e*, and e+ if it has to be read `once`: (False, contents) between rounds, (True, …) in
    one."""

    body: SremoPart
    once: bool

    def enter(self, contents: Contents) -> Iterable[Configuration]:
        begun = list(self.body.enter(contents))
        if not self.once or any(True for at in begun for _ in self.body.leave(at)):
            yield (False, contents)
        yield from ((True, at) for at in begun)

    def steps(self, at: Any, letter: Letter) -> Iterator[PartStep]:
        if not at[0]:
            return
        for step in self.body.steps(at[1], letter):
            if self.body.goes_on(step.to):
                yield step._replace(to=(True, step.to))
            for contents in self.body.leave(step.to):
                yield step._replace(to=(False, contents))
                for again in self.body.enter(contents):
                    yield step._replace(to=(True, again))

    def leave(self, at: Any) -> Iterable[Contents]:
        return () if at[0] else (at[1],)

    def contents(self, at: Any) -> list[Contents]:
        return self.body.contents(at[1]) if at[0] else [at[1]]

    def goes_on(self, at: Any) -> bool:
        return bool(at[0])


@dataclass(frozen=True)
class IntersectionPart(SremoPart):
    """Both sides at once, marking alike; `merge` combines the contents of the two."""

    left: SremoPart
    right: SremoPart
    merge: Callable[[Contents, Contents], Contents]

    def enter(self, contents: Contents) -> Iterable[Configuration]:
        lefts, rights = list(self.left.enter(contents)), list(self.right.enter(contents))
        if len(lefts) * len(rights) > MOST_WAYS:
            raise LimitError(
                f"an intersection can begin in more than {MOST_WAYS:,} ways",
                hint="write fewer iterations side by side of &",
            )
        return [(a, b) for a in lefts for b in rights]

    def steps(self, at: Any, letter: Letter) -> Iterator[PartStep]:
        rights = list(self.right.steps(at[1], letter))
        for one in self.left.steps(at[0], letter):
            for two in rights:
                if one.marked == two.marked:
                    yield PartStep(
                        one.marked,
                        (one.to, two.to),
                        one.checks + two.checks,
                        one.updates + two.updates,
                    )

    def leave(self, at: Any) -> Iterable[Contents]:
        rights = list(self.right.leave(at[1]))
        return [self.merge(one, two) for one in self.left.leave(at[0]) for two in rights]

    def contents(self, at: Any) -> list[Contents]:
        return self.left.contents(at[0]) + self.right.contents(at[1])

    def goes_on(self, at: Any) -> bool:
        return self.left.goes_on(at[0]) and self.right.goes_on(at[1])

    def for_ever(self, at: Any) -> bool:
        return self.left.for_ever(at[0]) and self.right.for_ever(at[1])
