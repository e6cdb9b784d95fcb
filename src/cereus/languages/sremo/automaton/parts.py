"""SREMO as automata that are made on demand, one construction per operator.

A *part* is an expression that reads events. A run inside it is a *configuration*: where it is, and
what its registers hold (`Held`, see `automata.sremo.memory`). Registers flow through
concatenation, so a part is entered with what is held, and left with what is held then. No ε: what
can be left is left at once, and the next part entered. A configuration that can read nothing more
is not kept, unless it is where a part can be left.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from cereus.automata.model import Check, Letter, State, Update
from cereus.languages.sremo.automaton.memory import Guard, Held

Configuration = State


class Step(NamedTuple):
    """One event read: is it marked, where is the run then, what must slots hold and take."""

    marked: bool
    to: Configuration
    checks: tuple[Check, ...] = ()
    updates: tuple[Update, ...] = ()


class Part(ABC):
    @abstractmethod
    def enter(self, held: Held) -> Iterable[Configuration]: ...

    @abstractmethod
    def steps(self, at: Any, letter: Letter) -> Iterator[Step]:
        """What a run may do on an event that looks like `letter`."""

    @abstractmethod
    def leave(self, at: Any) -> Iterable[Held]:
        """What is held where the part may end here; nothing where it may not."""

    @abstractmethod
    def held(self, at: Any) -> list[Held]:
        """All that a configuration holds."""

    def goes_on(self, at: Any) -> bool:
        """False when no event can be read any more."""
        return True

    def for_ever(self, at: Any) -> bool:
        """True when the part may end here and after any events to come."""
        return False


@dataclass(frozen=True)
class Epsilon(Part):
    def enter(self, held: Held) -> Iterable[Configuration]:
        return ((held,),)

    def steps(self, at: Any, letter: Letter) -> Iterator[Step]:
        return iter(())

    def leave(self, at: Any) -> Iterable[Held]:
        yield at[0]

    def held(self, at: Any) -> list[Held]:
        return [at[0]]

    def goes_on(self, at: Any) -> bool:
        return False


@dataclass(frozen=True)
class Nothing(Epsilon):
    def enter(self, held: Held) -> Iterable[Configuration]:
        return ()


@dataclass(frozen=True)
class One(Part):
    """φ↑o↓r: one event that passes test number `bit` (None: any event) and the guard."""

    bit: int | None
    marks: bool
    guard: Guard

    def enter(self, held: Held) -> Iterable[Configuration]:
        return ((False, held),)

    def steps(self, at: Any, letter: Letter) -> Iterator[Step]:
        over, held = at
        if not over and (self.bit is None or letter >> self.bit & 1):
            for after, checks, updates in self.guard.passing(held, letter):
                yield Step(self.marks, (True, after), checks, updates)

    def leave(self, at: Any) -> Iterable[Held]:
        return (at[1],) if at[0] else ()

    def held(self, at: Any) -> list[Held]:
        return [at[1]]

    def goes_on(self, at: Any) -> bool:
        return not at[0]


@dataclass(frozen=True)
class SkipAny(Part):
    """(⊤↑⊗)*: the run waits here, whatever comes."""

    def enter(self, held: Held) -> Iterable[Configuration]:
        return ((held,),)

    def steps(self, at: Any, letter: Letter) -> Iterator[Step]:
        yield Step(False, at)

    def leave(self, at: Any) -> Iterable[Held]:
        yield at[0]

    def held(self, at: Any) -> list[Held]:
        return [at[0]]

    def for_ever(self, at: Any) -> bool:
        return True


@dataclass(frozen=True)
class SkipUntil(SkipAny):
    """!(⊤* φ ⊤*): the run waits while no event satisfies φ, which `bit` and `guard` decide."""

    bit: int | None
    guard: Guard

    def steps(self, at: Any, letter: Letter) -> Iterator[Step]:
        if self.bit is not None and not letter >> self.bit & 1:
            yield Step(False, at)
            return
        for checks in self.guard.failing(at[0], letter):
            yield Step(False, at, checks)

    def for_ever(self, at: Any) -> bool:
        return False


@dataclass(frozen=True)
class Concatenation(Part):
    """A configuration is (False, of the left part) or (True, of the right part)."""

    left: Part
    right: Part

    def enter(self, held: Held) -> Iterable[Configuration]:
        for at in self.left.enter(held):
            yield from self._on(at)

    def _on(self, at: Configuration) -> Iterator[Configuration]:
        """A configuration of the left part, and those of the right part that it leads to."""
        if self.left.goes_on(at):
            yield (False, at)
        for held in self.left.leave(at):
            for begin in self.right.enter(held):
                yield (True, begin)

    def steps(self, at: Any, letter: Letter) -> Iterator[Step]:
        right, inner = at
        if right:
            for step in self.right.steps(inner, letter):
                yield step._replace(to=(True, step.to))
            return
        for step in self.left.steps(inner, letter):
            for to in self._on(step.to):
                yield step._replace(to=to)

    def leave(self, at: Any) -> Iterable[Held]:
        return self.right.leave(at[1]) if at[0] else ()

    def held(self, at: Any) -> list[Held]:
        return (self.right if at[0] else self.left).held(at[1])

    def goes_on(self, at: Any) -> bool:
        return self.right.goes_on(at[1]) if at[0] else True

    def for_ever(self, at: Any) -> bool:
        return bool(at[0]) and self.right.for_ever(at[1])


@dataclass(frozen=True)
class Disjunction(Part):
    """A configuration is (number of the part, configuration of that part)."""

    parts: tuple[Part, ...]

    def enter(self, held: Held) -> Iterable[Configuration]:
        return [(n, at) for n, part in enumerate(self.parts) for at in part.enter(held)]

    def _part(self, number: int) -> Part:
        return self.parts[number]

    def steps(self, at: Any, letter: Letter) -> Iterator[Step]:
        for step in self._part(at[0]).steps(at[1], letter):
            yield step._replace(to=(at[0], step.to))

    def leave(self, at: Any) -> Iterable[Held]:
        return self._part(at[0]).leave(at[1])

    def held(self, at: Any) -> list[Held]:
        return self._part(at[0]).held(at[1])

    def goes_on(self, at: Any) -> bool:
        return self._part(at[0]).goes_on(at[1])

    def for_ever(self, at: Any) -> bool:
        return self._part(at[0]).for_ever(at[1])


@dataclass(frozen=True)
class Iteration(Part):
    """e*, and e+ when it has to be `once`: (False, held) between two rounds, (True, …) in one."""

    body: Part
    once: bool

    def enter(self, held: Held) -> Iterable[Configuration]:
        begun = list(self.body.enter(held))
        if not self.once or any(True for at in begun for _ in self.body.leave(at)):
            yield (False, held)
        yield from ((True, at) for at in begun)

    def steps(self, at: Any, letter: Letter) -> Iterator[Step]:
        if not at[0]:
            return
        for step in self.body.steps(at[1], letter):
            if self.body.goes_on(step.to):
                yield step._replace(to=(True, step.to))
            for held in self.body.leave(step.to):
                yield step._replace(to=(False, held))
                for again in self.body.enter(held):
                    yield step._replace(to=(True, again))

    def leave(self, at: Any) -> Iterable[Held]:
        return () if at[0] else (at[1],)

    def held(self, at: Any) -> list[Held]:
        return self.body.held(at[1]) if at[0] else [at[1]]

    def goes_on(self, at: Any) -> bool:
        return bool(at[0])


@dataclass(frozen=True)
class Intersection(Part):
    """Both sides at once, marking alike; `merge` makes one of what the two hold in the end."""

    left: Part
    right: Part
    merge: Callable[[Held, Held], Held]

    def enter(self, held: Held) -> Iterable[Configuration]:
        rights = list(self.right.enter(held))
        return [(a, b) for a in self.left.enter(held) for b in rights]

    def steps(self, at: Any, letter: Letter) -> Iterator[Step]:
        rights = list(self.right.steps(at[1], letter))
        for one in self.left.steps(at[0], letter):
            for two in rights:
                if one.marked == two.marked:
                    yield Step(
                        one.marked,
                        (one.to, two.to),
                        one.checks + two.checks,
                        one.updates + two.updates,
                    )

    def leave(self, at: Any) -> Iterable[Held]:
        rights = list(self.right.leave(at[1]))
        return [self.merge(one, two) for one in self.left.leave(at[0]) for two in rights]

    def held(self, at: Any) -> list[Held]:
        return self.left.held(at[0]) + self.right.held(at[1])

    def goes_on(self, at: Any) -> bool:
        return self.left.goes_on(at[0]) and self.right.goes_on(at[1])

    def for_ever(self, at: Any) -> bool:
        return self.left.for_ever(at[0]) and self.right.for_ever(at[1])
