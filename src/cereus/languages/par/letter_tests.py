"""Programs that decide on one event: succeed at some letters, fail at others, wait at the rest.

The building blocks of synthesis. Where atoms allow it, the test is `try a | b unless c | d`;
overlapping atoms may need Boolean combinations, which PAR has because a program that completes
at the very next event is a Boolean: `!x` is not, `x | y` is or.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from cereus.languages.par.laws import selection_of
from cereus.languages.par.machine.machine import Machine
from cereus.languages.par.tree import ANY, Negation, Preemption, Program, Repetition, Simple

Letters = frozenset[int]
NO_ATOM = 0
"""The letter of an event that satisfies no atom."""


@dataclass(frozen=True, eq=False)
class LetterTests:
    """Tests over the letters of one machine."""

    machine: Machine

    @cached_property
    def all(self) -> Letters:
        return frozenset(self.machine.letters)

    @cached_property
    def satisfying(self) -> tuple[tuple[Program, Letters], ...]:
        """The letters of every atom."""
        return tuple(
            (Simple(atom), frozenset(each for each in self.machine.letters if each >> i & 1))
            for i, atom in enumerate(self.machine.atoms)
        )

    def decide(self, succeed: Letters, fail: Letters) -> Program:
        """Success at the first letter of `succeed`, failure at the first of `fail`."""
        return (
            self.decide_by_atoms(succeed, fail)
            or negated(self.decide_by_atoms(fail, succeed))
            or self.decide_by_cases(succeed, fail)
        )

    def decide_by_atoms(self, succeed: Letters, fail: Letters) -> Program | None:
        """A test by atoms, `try a | b unless c | d`; None if there are no such atoms. At an event
        that satisfies atoms of both, success wins."""
        wanted = self.cover(succeed, within=succeed)
        if wanted is None or not fail:
            return wanted
        unwanted = self.cover(fail, within=succeed | fail)
        return None if unwanted is None else Preemption(wanted, unwanted)

    def decide_by_cases(self, succeed: Letters, fail: Letters) -> Program:
        if succeed | fail == self.all:
            return self.now(succeed, self.all)
        first = self.first(succeed)
        return Preemption(first, self.first(fail)) if fail else first

    def first(self, letters: Letters) -> Program:
        """Success at the first of `letters`, ignoring all others."""
        others = self.all - letters - {NO_ATOM}
        waits_now = self.now(letters, letters | others)
        return self.cover(letters, within=letters) or Negation(Repetition(Negation(waits_now)))

    def cover(self, letters: Letters, within: Letters) -> Program | None:
        """A selection of few atoms that occur in all of `letters` and only in `within`."""
        left, chosen = letters, list[Program]()
        usable = [(atom, accepted) for atom, accepted in self.satisfying if accepted <= within]
        while left:
            best = max(usable, key=lambda each: len(each[1] & left), default=None)
            if best is None or not best[1] & left:
                return None
            chosen.append(best[0])
            left -= best[1]
        return selection_of(tuple(chosen)) if chosen else None

    def now(self, letters: Letters, among: Letters) -> Program:
        """Success or failure at the next event of `among`: is it one of `letters`?

        Shannon's expansion, atom by atom. Letters outside `among` do not occur, or are the
        letter of no atom and are to be ignored.
        """
        every = ANY if NO_ATOM in among else self.cover(among, within=among) or ANY
        return self.expand(letters, among, every)

    def expand(self, letters: Letters, among: Letters, every: Program) -> Program:
        if letters == among:
            return every
        if not letters:
            return Negation(every)
        atom, accepted = next(
            (a, accepted)
            for a, accepted in self.satisfying
            if accepted & among not in (set(), among)
        )
        holds = Preemption(atom, every)
        yes, no = self.cases(letters, among, accepted, every)
        if yes is every or no is every:  # the other case needs no guard
            return either(holds if yes is every else Negation(holds), no if yes is every else yes)
        return either(yes and both(holds, yes), no and both(Negation(holds), no))

    def cases(
        self, letters: Letters, among: Letters, accepted: Letters, every: Program
    ) -> tuple[Program | None, Program | None]:
        """What is left to test if an atom is true and if it is not; None: the answer is no."""
        yes, no = letters & accepted, letters - accepted
        return (
            self.expand(yes, among & accepted, every) if yes else None,
            self.expand(no, among - accepted, every) if no else None,
        )


def either(*alternatives: Program | None) -> Program:
    return selection_of(tuple(each for each in alternatives if each is not None))


def both(x: Program, y: Program) -> Program:
    """x and y, for programs that complete at the next event."""
    return Negation(Negation(x) | Negation(y))


def negated(program: Program | None) -> Program | None:
    return None if program is None else Negation(program)
