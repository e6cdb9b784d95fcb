"""Complement, which follows a set of runs, and windows, which follow the first mark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from cereus.automata.memory.values import ValuedLetter
from cereus.automata.model import Letter, Update
from cereus.languages.sremo.automaton.memory import Contents, RegisterFormula
from cereus.languages.sremo.automaton.parts import Configuration, PartStep, SremoPart


@dataclass(frozen=True)
class ComplementPart(SremoPart):
    """!e: (contents, all configurations of e). It may end wherever none of them may.

    `begin` is the contents of e's registers if it does not read the registers around it, else None.
    """

    body: SremoPart
    begin: Contents | None = None

    def enter(self, contents: Contents) -> Iterable[Configuration]:
        runs = frozenset(self.body.enter(contents if self.begin is None else self.begin))
        if not self._hopeless(runs):
            yield (contents, runs)

    def steps(self, at: Any, letter: Letter) -> Iterator[PartStep]:
        contents, runs = at
        reached = {
            step.to
            for run in runs
            for step in self.body.steps(run, letter)
            if self.body.goes_on(step.to) or any(True for _ in self.body.leave(step.to))
        }
        if not self._hopeless(reached):
            yield PartStep(False, (contents, frozenset(reached)))

    def _hopeless(self, runs: Iterable[Configuration]) -> bool:
        return any(map(self.body.for_ever, runs))

    def leave(self, at: Any) -> Iterable[Contents]:
        contents, runs = at
        return () if any(True for run in runs for _ in self.body.leave(run)) else (contents,)

    def contents(self, at: Any) -> list[Contents]:
        return [at[0]]

    def for_ever(self, at: Any) -> bool:
        return not at[1]


@dataclass(frozen=True)
class MeasuredPart(SremoPart):
    """A part with a measure: (configuration of the body, how far it is from its first mark)."""

    body: SremoPart

    def enter(self, contents: Contents) -> Iterable[Configuration]:
        return [(at, None) for at in self.body.enter(contents)]

    def leave(self, at: Any) -> Iterable[Contents]:
        return self.body.leave(at[0])

    def contents(self, at: Any) -> list[Contents]:
        return self.body.contents(at[0])

    def goes_on(self, at: Any) -> bool:
        return self.body.goes_on(at[0])

    def for_ever(self, at: Any) -> bool:
        return self.body.for_ever(at[0])


@dataclass(frozen=True)
class WithinEvents(MeasuredPart):
    """e[1..w]: counts events from the first mark on, up to w."""

    size: int

    def steps(self, at: Any, letter: Letter) -> Iterator[PartStep]:
        inner, age = at
        for step in self.body.steps(inner, letter):
            if age is None:
                yield step._replace(to=(step.to, 1 if step.marked else None))
            elif not step.marked or age < self.size:
                yield step._replace(to=(step.to, min(age + 1, self.size)))


@dataclass(frozen=True)
class WithinValues(MeasuredPart):
    """Like `WithinEvents`, by the values of a column: times, or an attribute that never
    decreases."""

    path: tuple[str, ...]
    size: Any

    def steps(self, at: Any, letter: Letter) -> Iterator[PartStep]:
        inner, first = at
        if not isinstance(letter, ValuedLetter):  # no values: the automaton is only explored
            yield from (s._replace(to=(s.to, first)) for s in self.body.steps(inner, letter))
            return
        now = letter.values[self.path]
        for step in self.body.steps(inner, letter):
            begin = now if first is None and step.marked else first
            # a distance from or to NULL is never within the window
            if not step.marked or (now is not None and now - begin <= self.size):
                yield step._replace(to=(step.to, begin))


@dataclass(frozen=True)
class WithinSlots(MeasuredPart):
    """The same, with the value of the first mark in slots of the kernel. They are those of a
    register of the window's own, which is set from the first mark on, until the part is left.

    name   what the register is called
    begun  the event at hand has a value
    near   it is near enough to the first mark
    """

    name: str
    begun: RegisterFormula
    near: RegisterFormula
    updates: tuple[Update, ...]

    def steps(self, at: Any, letter: Letter) -> Iterator[PartStep]:
        inner, first = at
        for step in self.body.steps(inner, letter):
            if not step.marked:
                yield step._replace(to=(step.to, first))
                continue
            checks = (self.near if first else self.begun).checks(frozenset({self.name}))
            if checks is not None:
                updates = () if first else self.updates
                yield PartStep(True, (step.to, True), step.checks + checks, step.updates + updates)

    def contents(self, at: Any) -> list[Contents]:
        inner, first = at
        within = self.body.contents(inner)
        if not first:
            return within
        # with slots, the contents are names of registers
        return [frozenset({self.name}).union(each) for each in within]  # type: ignore[arg-type]
