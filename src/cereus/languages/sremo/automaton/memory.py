"""What the registers of a run hold, and how conditions on them are decided.

Two ways, chosen for a whole expression:

* by *values* (`Remembering`): a run holds, per register, the values that conditions read from it,
  or None while it is empty. Decides any condition, one run at a time.
* by *slots* (`Slotted`): a run holds the names of the registers that are set; their values are in
  slots of the kernel. Decides what the kernel can compute (`automata.terms`).

Either way a register is forgotten where nothing can read it any more (`lang.sremo.live`), so that
runs that differ in it become one.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from cereus.automata.memory.terms import FALSE, TRUE, Term, fails, holds, simplified
from cereus.automata.memory.values import Seen
from cereus.automata.model import Check, Letter, Update
from cereus.expr.tree import Attribute, Expression, rebuild, variables
from cereus.languages.sremo.tree import with_empty
from cereus.reference import conditions

Path = tuple[str, ...]
Row = tuple[Any, ...]
Held = tuple[Row | None, ...] | frozenset[str]
Checks = tuple[Check, ...]
Passed = tuple[Held, Checks, tuple[Update, ...]]


class Guard(ABC):
    """What one terminal asks of registers, and what it writes to them."""

    @abstractmethod
    def passing(self, held: Any, letter: Letter) -> Iterator[Passed]:
        """What is held afterwards, where the event may pass; and what slots must say to that."""

    @abstractmethod
    def failing(self, held: Any, letter: Letter) -> Iterator[Checks]:
        """What slots must say where the event may fail."""


# ---------------------------------------------------------------- by values


@dataclass(frozen=True)
class Registers:
    """The registers of an expression, and the attributes that any condition reads from each."""

    names: tuple[str, ...]
    reads: tuple[tuple[Path, ...], ...]

    @property
    def empty(self) -> Held:
        return (None,) * len(self.names)


@dataclass(frozen=True)
class Remembering(Guard):
    registers: Registers
    condition: Expression | None
    writes: str | None
    live: frozenset[str]

    def passing(self, held: Any, letter: Letter) -> Iterator[Passed]:
        if self._true(held, letter):
            kept = zip(self.registers.names, held, strict=True)
            after = [row if name in self.live else None for name, row in kept]
            if self.writes in self.live:
                place = self.registers.names.index(self.writes)
                after[place] = _row(letter, self.registers.reads[place])
            yield tuple(after), (), ()

    def failing(self, held: Any, letter: Letter) -> Iterator[Checks]:
        unseen = self.condition is not None and not isinstance(letter, Seen)
        if unseen or not self._true(held, letter):
            yield ()

    def _true(self, held: Any, letter: Letter) -> bool:
        """A letter without values, where an automaton is only looked at, may pass anything."""
        if self.condition is None or not isinstance(letter, Seen):
            return True
        bindings: dict[str, dict[str, Any]] = {}
        for name, paths, row in zip(self.registers.names, self.registers.reads, held, strict=True):
            if row is not None:
                bindings[name] = {".".join(p): v for p, v in zip(paths, row, strict=True)}
        empty = self._reads - bindings.keys()
        condition = with_empty(self._flat, empty) if empty else self._flat
        event = {name: letter.values[path] for name, path in self._asked}
        return conditions.holds(condition, event, bindings)

    @cached_property
    def _flat(self) -> Expression:
        assert self.condition is not None
        return _flattened(self.condition)

    @cached_property
    def _reads(self) -> frozenset[str]:
        return frozenset() if self.condition is None else variables(self.condition)

    @cached_property
    def _asked(self) -> list[tuple[str, Path]]:
        """The columns that the condition reads of the event at hand."""
        assert self.condition is not None
        nodes = (n for n in self.condition.walk() if isinstance(n, Attribute))
        return [(n.name, n.path) for n in nodes if n.variable is None]


def _row(letter: Letter, paths: tuple[Path, ...]) -> Row:
    if not isinstance(letter, Seen):
        return (None,) * len(paths)
    return tuple(_plain(letter.values[path]) for path in paths)


def _plain(value: Any) -> Any:
    """NaN compares as nothing does and would be a new value each time: one object for all."""
    return math.nan if isinstance(value, float) and value != value else value


def _flattened(node: Expression) -> Expression:
    if isinstance(node, Attribute):
        return Attribute((node.name,), node.variable)
    return rebuild(node, _flattened)


@dataclass(frozen=True)
class JoinRows:
    """What both sides of an intersection hold: from the left what it writes, else the right."""

    from_left: tuple[bool, ...]

    def __call__(self, left: Any, right: Any) -> Held:
        chosen = zip(self.from_left, left, right, strict=True)
        return tuple(one if own else two for own, one, two in chosen)


# ---------------------------------------------------------------- by slots


class Compared(NamedTuple):
    """A comparison of one slot of a register with a column of the event."""

    register: str
    check: Check

    def checks(self, held: frozenset[str]) -> Checks | None:
        return (self.check,) if self.register in held else None

    def otherwise(self, held: frozenset[str]) -> Checks | None:
        """Only equalities can be denied (`differs`)."""
        return (self.check._replace(op="differs"),) if self.register in held else ()


class Atom(NamedTuple):
    """A condition that is false while one of the registers that it reads is empty (Def. 13)."""

    registers: frozenset[str]
    term: Term


class Formula(NamedTuple):
    """AND, OR and NOT of atoms: a term whose holes they fill."""

    shape: Term
    atoms: tuple[Atom, ...]

    def checks(self, held: frozenset[str]) -> Checks | None:
        term = self.where(held)
        if term.op == "constant":
            return () if term == TRUE else None
        return (holds(term),)

    def otherwise(self, held: frozenset[str]) -> Checks | None:
        term = self.where(held)
        if term.op == "constant":
            return None if term == TRUE else ()
        return (fails(term),)

    def where(self, held: frozenset[str]) -> Term:
        """The term where these registers are set, and no others."""
        filled = [atom.term if atom.registers <= held else FALSE for atom in self.atoms]
        return simplified(self.shape.filled(filled))


@dataclass(frozen=True)
class Slotted(Guard):
    """`asked` of the registers, all of it; `updates` fill the slots of `writes`. What may be
    asked to fail (`next`) is asked as one."""

    asked: tuple[Compared | Formula, ...]
    writes: str | None
    updates: tuple[Update, ...]
    live: frozenset[str]

    def passing(self, held: Any, letter: Letter) -> Iterator[Passed]:
        checks: Checks = ()
        for each in self.asked:
            more = each.checks(held)
            if more is None:
                return
            checks += more
        kept = held | {self.writes} if self.writes is not None else held
        yield kept & self.live, checks, self.updates if self.writes in self.live else ()

    def failing(self, held: Any, letter: Letter) -> Iterator[Checks]:
        assert len(self.asked) <= 1
        for each in self.asked:
            checks = each.otherwise(held)
            if checks is not None:
                yield checks


@dataclass(frozen=True)
class JoinNames:
    from_left: frozenset[str]

    def __call__(self, left: Any, right: Any) -> Held:
        joined: frozenset[str] = (left & self.from_left) | (right - self.from_left)
        return joined
