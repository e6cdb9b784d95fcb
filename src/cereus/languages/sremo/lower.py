"""SREMO → automaton over event tests: a condition on one event becomes a test, a condition on
registers becomes a guard (`automaton.memory`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from cereus.automata.memory.values import RowReader
from cereus.clauses.tree import AttributeWindow, EventWindow, TimeWindow, Window
from cereus.expr import tree as ex
from cereus.expr.tree import conjuncts
from cereus.languages.sremo import tree as sremo
from cereus.languages.sremo.automaton import bounded, parts
from cereus.languages.sremo.automaton.memory import Contents, Guard, JoinRows, ValueGuard
from cereus.languages.sremo.automaton.parts import SremoPart
from cereus.languages.sremo.automaton.streaming import Streaming
from cereus.plan.lowered import Lowered
from cereus.plan.tests import EventTest, TestSet
from cereus.stream import Stream, time_window

Names = frozenset[str]


@dataclass
class ExpressionLowering(ABC):
    """The common part of lowering all parts of one expression. A subclass decides how registers are
    kept: in slots of the kernel (`slots`), or in states."""

    stream: Stream
    schema: pa.Schema | None
    tests: TestSet = field(default_factory=TestSet)
    compared: set[tuple[str, ...]] = field(default_factory=set)
    """The columns whose values the automaton reads."""

    # ------------------------------------------------------------ how registers are kept

    empty: Contents = frozenset()

    @abstractmethod
    def guard(self, node: sremo.Terminal, conditions: list[ex.Expression], after: Names) -> Guard:
        """The checks of a terminal on registers, and what it writes to them."""

    @abstractmethod
    def joined(self, node: sremo.Intersection) -> Any: ...

    @abstractmethod
    def complement(self, node: sremo.Complement) -> SremoPart: ...

    def until(self, node: sremo.Terminal) -> SremoPart:
        """The events before the next one that satisfies the terminal's condition."""
        bit, guard = self._test_and_guard(node, frozenset(), always=True)
        return parts.SkipUntil(bit, guard)

    # ------------------------------------------------------------ expressions

    def lowered(self, expression: sremo.Sremo) -> Lowered[Streaming]:
        automaton = self.streaming(expression)
        compared = frozenset(self.compared)
        reads = any(node.reads for node in terminals(expression))
        tests = self.tests.tests or (EventTest(),)
        return Lowered(automaton, tests, compared, correlated=reads or bool(compared))

    def streaming(self, expression: sremo.Sremo) -> Streaming:
        part = parts.ConcatenationPart(parts.SkipAny(), self.part(expression, frozenset()))
        return Streaming(part, self.empty)

    def part(self, node: sremo.Sremo, after: Names) -> SremoPart:
        """The part of an expression after which the registers `after` may be read."""
        match node:
            case sremo.Epsilon():
                return parts.EpsilonPart()
            case sremo.Nothing():
                return parts.NothingPart()
            case sremo.Terminal():
                bit, guard = self._test_and_guard(node, after, always=node.marks)
                return parts.OneEvent(bit, node.marks, guard)
            case sremo.Star(sremo.SKIP):
                return parts.SkipAny()
            case sremo.Star(body) | sremo.Plus(body):
                again = self.part(body, sremo.loop_live(body, after))
                return parts.IterationPart(again, once=isinstance(node, sremo.Plus))
            case sremo.Optional(body):
                return parts.DisjunctionPart((self.part(body, after), parts.EpsilonPart()))
            case sremo.Concatenation(left, right):
                between = sremo.live(right, after)
                return parts.ConcatenationPart(self.part(left, between), self.part(right, after))
            case sremo.Disjunction(left, right):
                return parts.DisjunctionPart((self.part(left, after), self.part(right, after)))
            case sremo.Intersection(left, right):
                both = self.part(left, after), self.part(right, after)
                return parts.IntersectionPart(*both, self.joined(node))
            case sremo.Complement():
                stop = sremo.stops_at(node)
                return self.complement(node) if stop is None else self.until(stop)
            case sremo.Windowed(body, EventWindow(size)):
                return bounded.WithinEvents(self.part(body, after), size)
            case sremo.Windowed(body, window):
                return self.within(self.part(body, after), window)
        raise TypeError(f"not a SREMO: {node!r}")

    def _test_and_guard(
        self, node: sremo.Terminal, after: Names, *, always: bool
    ) -> tuple[Any, Guard]:
        """The test of an event (None: any event passes), and the guard of its registers."""
        conditions = [c for c in conjuncts(node.condition) if c != sremo.TRUE]
        local = tuple(c for c in conditions if not ex.variables(c))
        others = [c for c in conditions if ex.variables(c)]
        guard = self.guard(node, others, after)
        bit = None
        if always or node.type is not None or conditions or node.register in after:
            bit = self.tests.bit(EventTest(node.type, None, local))
        return bit, guard

    def within(self, part: SremoPart, window: Window) -> SremoPart:
        """A window by times or by an attribute, inside an expression."""
        return bounded.WithinValues(part, *self._measured(window))

    def _measured(self, window: Window) -> tuple[tuple[str, ...], Any]:
        """The column that a window is measured by, and its size in the column's own values."""
        if isinstance(window, AttributeWindow):
            path, size = window.attribute, window.size
        else:
            assert isinstance(window, TimeWindow)
            path, size = time_window(window, self.stream, self.schema)
        self.compared.add(path)
        return path, size


# ---------------------------------------------------------------- registers as values


@dataclass
class RegistersInStates(ExpressionLowering):
    """Lowering with values in states: decides anything."""

    registers: RowReader = field(default_factory=RowReader)

    def streaming(self, expression: sremo.Sremo) -> Streaming:
        self.registers = RowReader.of(node.condition for node in terminals(expression))
        self.empty = (None,) * len(self.registers.names)
        return super().streaming(expression)

    def guard(self, node: sremo.Terminal, conditions: list[ex.Expression], after: Names) -> Guard:
        self.compared |= frozenset().union(*map(ex.attributes, conditions))
        condition = ex.And(tuple(conditions)) if conditions else None
        return ValueGuard(self.registers, condition, node.register, after)

    def joined(self, node: sremo.Intersection) -> Any:
        writes = sremo.written(node.left)
        return JoinRows(tuple(name in writes for name in self.registers.names))

    def complement(self, node: sremo.Complement) -> SremoPart:
        return bounded.ComplementPart(self.part(node.body, frozenset()))


def terminals(expression: sremo.Sremo) -> list[sremo.Terminal]:
    return [node for node in expression.walk() if isinstance(node, sremo.Terminal)]
