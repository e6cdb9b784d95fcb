"""SREMO with registers in slots of the kernel.

A comparison of one register with the event is a check of one slot, which can index partial matches.
Any other condition is AND, OR and NOT of *atoms*, each a term over slots and columns of the event,
and false while a register that it reads is empty (Def. 13).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from cereus.automata.memory.exception import Watched, WatchedPart, Watching
from cereus.automata.memory.filters import FLIPPED
from cereus.automata.memory.refusal import CannotUseSlots, naming
from cereus.automata.memory.slots import Column, Columns, comparable
from cereus.automata.memory.term_builder import TermBuilder, ValueRead, not_too_deep
from cereus.automata.memory.terms import Term, column, leaf, slot
from cereus.automata.model import Check, Slot, Update
from cereus.clauses.tree import EventWindow, Window
from cereus.errors import ConditionTypeError
from cereus.expr import tree as ex
from cereus.expr.print import condition_text
from cereus.expr.tree import conjuncts
from cereus.languages.sremo import tree as sremo
from cereus.languages.sremo.automaton import bounded
from cereus.languages.sremo.automaton.memory import (
    Guard,
    JoinNames,
    RegisterAtom,
    RegisterFormula,
    SlotCheck,
    SlotGuard,
)
from cereus.languages.sremo.automaton.parts import SremoPart
from cereus.languages.sremo.automaton.streaming import Streaming
from cereus.languages.sremo.automaton.watching import SkipWithout, SlotsOf, Unmarked
from cereus.languages.sremo.locality import may_be_empty
from cereus.languages.sremo.lower import ExpressionLowering, Names, terminals
from cereus.plan.lowered import Lowered
from cereus.plan.tests import EventTest

AT_HAND = "•"
"""The event that is read, as a variable beside the registers."""


PRIVATE = "◂"
"""The beginning of the names of registers that windows and ! inside an expression have for
themselves; no other register may have such a name."""


@dataclass
class RegistersInSlots(ExpressionLowering):
    """Values in slots of the kernel; raises CannotUseSlots where they cannot decide."""

    columns: Columns = field(default_factory=Columns)
    slots: dict[tuple[str, int, bool], Slot] = field(default_factory=dict)
    """The slots by register, column, and whether something other than an equality reads them."""
    registers: int = 0
    """How many registers windows and ! inside the expression have for themselves."""
    watched: list[tuple[SremoPart, int]] = field(default_factory=list)
    """The watched parts of the expression, and the columns of their answers."""
    stops: frozenset[ex.Expression] = frozenset()
    """The conditions that must fail for `next`, and that are more than an equality."""

    def lowered(self, expression: sremo.Sremo) -> Lowered[Streaming]:
        made = super().lowered(expression)
        watching = self._watching(made.automaton.of_register)
        columns, slots = tuple(self.columns.numbers), len(self.slots)
        return replace(made, columns=columns, slots=slots, in_slots=True, watching=watching)

    def _watching(self, of_register: SlotsOf) -> Watching | None:
        if not self.watched:
            return None
        parts = tuple(
            WatchedPart(Watched(Unmarked(part, self.empty, of_register)), column)
            for part, column in self.watched
        )
        return Watching(parts, self.columns.ordinal())

    def streaming(self, expression: sremo.Sremo) -> Streaming:
        ending = [stop for node in expression.walk() if (stop := sremo.stops_at(node))]
        self.stops = frozenset(stop.condition for stop in ending if not _is_equality(stop))
        self._find_slots(expression)
        if any(map(_bare, expression.walk())):
            self.tests.bit(EventTest())  # a gap may lead to several states: nothing is dropped
        made = super().streaming(expression)
        if self.watched:
            self.tests.bit(EventTest())  # the same holds of a gap in which nothing may occur
        names = sorted({name for name, _, _ in self.slots})
        of = {name: tuple(s for key, s in self.slots.items() if key[0] == name) for name in names}
        return Streaming(made.part, made.begin, tuple(of.items()))

    def _find_slots(self, expression: sremo.Sremo) -> None:
        """Find all slots before anything is stored; those of equalities first, so that terms can
        read their slots."""
        nodes = [node for node in terminals(expression) if node.reads]
        for condition in (each for node in nodes for each in self._apart(node)):
            if _compares_equal(condition):
                self._compared(condition)
        for node in nodes:
            self._decided(node)

    def _apart(self, node: sremo.Terminal) -> list[ex.Expression]:
        return [] if node.condition in self.stops else _of_registers(node)

    def guard(self, node: sremo.Terminal, conditions: list[ex.Expression], after: Names) -> Guard:
        updates = tuple(
            Update(place, "set", number)
            for (name, number, _), place in self.slots.items()
            if name == node.register
        )
        return SlotGuard(self._decided(node), node.register, updates, after)

    def joined(self, node: sremo.Intersection) -> Any:
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if any(sremo.written(one) & each.reads for each in terminals(other)):
                raise CannotUseSlots("one side of & reads a register that the other side stores")
        return JoinNames(sremo.written(node.left))

    def complement(self, node: sremo.Complement) -> SremoPart:
        body = node.body
        if not any(map(measures, body.walk())) and not any(each.reads for each in terminals(body)):
            return bounded.ComplementPart(self.part(body, frozenset()), frozenset())
        absent = sremo.absent(node)
        if absent is None or may_be_empty(absent):
            raise CannotUseSlots("! has to follow every run of a part that compares events")
        if sremo.live(absent, frozenset()):
            raise CannotUseSlots("! has to follow what reads a register that is set before it")
        return self._watched(absent)

    def _watched(self, absent: sremo.Sremo) -> SremoPart:
        """The part where the run waits as long as this does not occur."""
        part = self.part(absent, frozenset())
        column = self.columns.watched(len(self.watched))
        self.watched.append((part, column))
        name, ordinal = self._private_register(), self.columns.ordinal()
        begun = self._slot(name, ordinal, by_order=True)
        return SkipWithout(self._completing(absent), name, begun, column, ordinal)

    def _completing(self, absent: sremo.Sremo) -> int:
        """The tests of events that may complete this: all of them, if it may end unmarked."""
        if any(_bare(node) or isinstance(node, sremo.Complement) for node in absent.walk()):
            return -1
        bits = [self._test_and_guard(t, frozenset(), always=t.marks)[0] for t in terminals(absent)]
        return sum({1 << bit for bit in bits if bit is not None})

    def within(self, part: SremoPart, window: Window) -> SremoPart:
        path, size = self._measured(window)
        name = self._private_register()
        now, first = ex.Attribute(path), ex.Attribute(path, name)
        try:
            begun, near = (
                self._formula(ex.Comparison("<=", ex.Arithmetic("-", now, since), ex.Literal(size)))
                for since in (now, first)
            )
        except ConditionTypeError:  # a number of times
            raise CannotUseSlots(
                "a window of its own inside the expression has no length of time"
            ) from None
        updates = tuple(
            Update(place, "set", number)
            for (register, number, _), place in self.slots.items()
            if register == name
        )
        return bounded.WithinSlots(part, name, begun, near, updates)

    def _private_register(self) -> str:
        """A register that no terminal writes."""
        self.registers += 1
        return f"{PRIVATE}{self.registers}"

    # ------------------------------------------------------------ conditions

    def _decided(self, node: sremo.Terminal) -> tuple[SlotCheck | RegisterFormula, ...]:
        """What decides a terminal's conditions on registers. A condition that must fail somewhere
        is one term everywhere, so that it is clear that both never hold."""
        conditions = _of_registers(node)
        self.compared |= frozenset().union(*map(ex.attributes, conditions))
        if conditions and node.condition in self.stops:
            return (self._formula(sremo.conjunction(conditions)),)
        return tuple(self._compared(each) or self._formula(each) for each in conditions)

    def _compared(self, condition: ex.Expression) -> SlotCheck | None:
        """`f(r) op g(event)` as the register and the check of its slot."""
        if not isinstance(condition, ex.Comparison):
            return None
        sides = (condition.left, condition.right)
        kept, given = sides if ex.variables(sides[0]) else sides[::-1]
        names = {node.variable for node in kept.walk() if isinstance(node, ex.Attribute)}
        if ex.variables(given) or len(names) != 1 or None in names:
            return None
        assert self.schema is not None
        try:
            kind = comparable(condition, self.schema)
        except CannotUseSlots:
            return None
        if condition.op == "!=" and kind == "float":
            return None  # NaN, for which this kind has no value, differs from everything
        (name,) = ex.variables(kept)
        op = condition.op if kept is condition.left else FLIPPED[condition.op]
        number = self.columns.number(Column(ex.without_variable(kept), kind))
        place = self._slot(name, number, by_order=op != "=")
        return SlotCheck(name, Check(op, place, self.columns.number(Column(given, kind))))

    def _slot(self, name: str, number: int, *, by_order: bool) -> Slot:
        return self.slots.setdefault((name, number, by_order), Slot(by_order, len(self.slots), 0))

    # ------------------------------------------------------------ terms

    def _formula(self, condition: ex.Expression) -> RegisterFormula:
        atoms: dict[RegisterAtom, int] = {}
        with naming(condition_text(condition)):
            shape = self._shape(condition, atoms)
            not_too_deep(shape.filled([atom.term for atom in atoms]))
        return RegisterFormula(shape, tuple(atoms))

    def _shape(self, node: ex.Expression, atoms: dict[RegisterAtom, int]) -> Term:
        """A condition as a term of atoms: those of `tree.with_empty`, and conditions on the event
        alone, which are computed ahead."""
        if ex.variables(node) and isinstance(node, ex.And | ex.Or | ex.Not):
            parts = [self._shape(part, atoms) for part in node.children()]
            op = type(node).__name__.lower()
            if isinstance(node, ex.Not):
                return Term(op, tuple(parts))
            return reduce(lambda one, other: Term(op, (one, other)), parts)
        assert self.schema is not None
        term = TermBuilder(_about_events(node), self.schema).term(self._read)
        return leaf(atoms.setdefault(RegisterAtom(ex.variables(node), term), len(atoms)))

    def _read(self, value: ValueRead) -> Term:
        number = self.columns.read(value)
        if value.variable == AT_HAND:
            return column(number)
        indexed = (value.variable, number, False) in self.slots
        return slot(self._slot(value.variable, number, by_order=not indexed))


def _about_events(node: ex.Expression) -> ex.Expression:
    """The expression with the event at hand as a variable like the registers."""
    if isinstance(node, ex.Attribute) and node.variable is None:
        return replace(node, variable=AT_HAND)
    return ex.rebuild(node, _about_events)


def _of_registers(node: sremo.Terminal) -> list[ex.Expression]:
    return [part for part in conjuncts(node.condition) if ex.variables(part)]


def _compares_equal(condition: ex.Expression) -> bool:
    return isinstance(condition, ex.Comparison) and condition.op == "="


def _is_equality(node: sremo.Terminal) -> bool:
    """Whether the only condition on registers is an equality."""
    conditions = _of_registers(node)
    return not conditions or (len(conditions) == 1 and _compares_equal(conditions[0]))


def measures(node: sremo.Sremo) -> bool:
    """Whether a part has a window by times or by an attribute."""
    return isinstance(node, sremo.Windowed) and not isinstance(node.window, EventWindow)


def _bare(node: sremo.Sremo) -> bool:
    """Whether a ⊤↑⊗ occurs anywhere except alone under a star."""
    return not isinstance(node, sremo.Star) and sremo.SKIP in node.children()
