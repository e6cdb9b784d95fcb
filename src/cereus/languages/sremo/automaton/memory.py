"""The contents of the registers of a run, and how conditions on them are decided.

There are two ways, and one of them is used for a whole expression:

* by *values* (`ValueGuard`): a run holds, per register, the values that conditions read from it,
  or None while it is empty. Decides any condition, one run at a time.
* by *slots* (`SlotGuard`): a run holds the names of the registers that are set; their values are in
  slots of the kernel. Decides what the kernel can compute (`automata.memory.terms`).

Either way a register is forgotten when nothing can read it any more (`tree.live`), so that runs
that differ only in it become one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from cereus.automata.memory.terms import FALSE, TRUE, Term, fails, holds, simplified
from cereus.automata.memory.values import Path, Row, RowReader, ValuedLetter, flattened
from cereus.automata.model import Check, Letter, Update
from cereus.expr.python import evaluate as conditions
from cereus.expr.tree import Attribute, Expression, variables
from cereus.languages.sremo.tree import with_empty

Contents = tuple[Row | None, ...] | frozenset[str]
Checks = tuple[Check, ...]
Passed = tuple[Contents, Checks, tuple[Update, ...]]


class Guard(ABC):
    """The conditions of one terminal on registers, and what it writes to them."""

    @abstractmethod
    def passing(self, contents: Any, letter: Letter) -> Iterator[Passed]:
        """The contents after an event that may pass, and the checks of slots for that."""

    @abstractmethod
    def failing(self, contents: Any, letter: Letter) -> Iterator[Checks]:
        """The checks of slots for an event that may fail."""


# ---------------------------------------------------------------- by values


@dataclass(frozen=True)
class ValueGuard(Guard):
    """The guard of a terminal where registers hold rows: a condition on these, which `registers`
    reads; the event becomes the row of `writes`. Only the registers in `live` are kept."""

    registers: RowReader
    condition: Expression | None
    writes: str | None
    live: frozenset[str]

    def passing(self, contents: Any, letter: Letter) -> Iterator[Passed]:
        if self._true(contents, letter):
            kept = zip(self.registers.names, contents, strict=True)
            after = [row if name in self.live else None for name, row in kept]
            if self.writes in self.live:
                place = self.registers.names.index(self.writes)
                after[place] = self.registers.row(place, letter)
            yield tuple(after), (), ()

    def failing(self, contents: Any, letter: Letter) -> Iterator[Checks]:
        unseen = self.condition is not None and not isinstance(letter, ValuedLetter)
        if unseen or not self._true(contents, letter):
            yield ()

    def _true(self, contents: Any, letter: Letter) -> bool:
        """Whether the condition holds. A letter without values, of an automaton that is only
        explored, may pass anything."""
        if self.condition is None or not isinstance(letter, ValuedLetter):
            return True
        bindings = self.registers.bindings(contents)
        empty = self._reads - bindings.keys()
        condition = with_empty(self._flat, empty) if empty else self._flat
        event = {name: letter.values[path] for name, path in self._columns}
        return conditions.holds(condition, event, bindings)

    @cached_property
    def _flat(self) -> Expression:
        assert self.condition is not None
        return flattened(self.condition)

    @cached_property
    def _reads(self) -> frozenset[str]:
        return frozenset() if self.condition is None else variables(self.condition)

    @cached_property
    def _columns(self) -> list[tuple[str, Path]]:
        """The columns that the condition reads of the event at hand."""
        assert self.condition is not None
        nodes = (n for n in self.condition.walk() if isinstance(n, Attribute))
        return [(n.name, n.path) for n in nodes if n.variable is None]


@dataclass(frozen=True)
class JoinRows:
    """The contents after an intersection: those that the left side writes, else those of the
    right."""

    from_left: tuple[bool, ...]

    def __call__(self, left: Any, right: Any) -> Contents:
        chosen = zip(self.from_left, left, right, strict=True)
        return tuple(one if left_writes else two for left_writes, one, two in chosen)


# ---------------------------------------------------------------- by slots


class SlotCheck(NamedTuple):
    """A comparison of one slot of a register with a column of the event."""

    register: str
    check: Check

    def checks(self, contents: frozenset[str]) -> Checks | None:
        return (self.check,) if self.register in contents else None

    def otherwise(self, contents: frozenset[str]) -> Checks | None:
        """The checks for when the comparison fails. Only equalities can be negated (`differs`)."""
        return (self.check._replace(op="differs"),) if self.register in contents else ()


class RegisterAtom(NamedTuple):
    """A condition that is false while one of the registers that it reads is empty (Def. 13)."""

    registers: frozenset[str]
    term: Term


class RegisterFormula(NamedTuple):
    """AND, OR and NOT of atoms: a term whose holes they fill."""

    shape: Term
    atoms: tuple[RegisterAtom, ...]

    def checks(self, contents: frozenset[str]) -> Checks | None:
        term = self.where(contents)
        if term.op == "constant":
            return () if term == TRUE else None
        return (holds(term),)

    def otherwise(self, contents: frozenset[str]) -> Checks | None:
        term = self.where(contents)
        if term.op == "constant":
            return None if term == TRUE else ()
        return (fails(term),)

    def where(self, contents: frozenset[str]) -> Term:
        """The term if exactly these registers are set."""
        filled = [atom.term if atom.registers <= contents else FALSE for atom in self.atoms]
        return simplified(self.shape.filled(filled))


@dataclass(frozen=True)
class SlotGuard(Guard):
    """The guard of a terminal where registers are slots: conditions on these, which must all hold;
    `updates` fill the slots of `writes`. If the conditions may have to fail (`next`), they are one
    condition."""

    conditions: tuple[SlotCheck | RegisterFormula, ...]
    writes: str | None
    updates: tuple[Update, ...]
    live: frozenset[str]

    def passing(self, contents: Any, letter: Letter) -> Iterator[Passed]:
        checks: Checks = ()
        for each in self.conditions:
            more = each.checks(contents)
            if more is None:
                return
            checks += more
        kept = contents | {self.writes} if self.writes is not None else contents
        yield kept & self.live, checks, self.updates if self.writes in self.live else ()

    def failing(self, contents: Any, letter: Letter) -> Iterator[Checks]:
        assert len(self.conditions) <= 1
        for each in self.conditions:
            checks = each.otherwise(contents)
            if checks is not None:
                yield checks


@dataclass(frozen=True)
class JoinNames:
    from_left: frozenset[str]

    def __call__(self, left: Any, right: Any) -> Contents:
        joined: frozenset[str] = (left & self.from_left) | (right - self.from_left)
        return joined
