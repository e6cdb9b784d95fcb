"""Event tests: the atoms of a pattern, each a yes-or-no question about one event."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from cereus.expr.tree import Attribute, Comparison, Expression, Literal
from cereus.stream import Stream


@dataclass(frozen=True)
class EventTest:
    """The question whether an event is of this type and from this stream, and satisfies all
    conditions.

    `type` None is any type. `negated` asks the opposite.
    """

    type: str | None = None
    stream: str | None = None
    conditions: tuple[Expression, ...] = ()
    negated: bool = False

    def without(self, condition: Expression | None) -> EventTest:
        """The same test without one of its conditions: whatever passes it passes the new one."""
        if self.negated or condition not in self.conditions:
            return self
        return replace(self, conditions=tuple(c for c in self.conditions if c != condition))


@dataclass
class TestSet:
    """The distinct tests of a query; a test's number is its bit in the letters."""

    __test__ = False  # not a pytest class
    numbers: dict[EventTest, int] = field(default_factory=dict)

    def bit(self, test: EventTest) -> int:
        return self.numbers.setdefault(test, len(self.numbers))

    @property
    def tests(self) -> tuple[EventTest, ...]:
        return tuple(self.numbers)


def conditions_of(test: EventTest, stream: Stream) -> tuple[Expression, ...]:
    """A test as conditions on the columns of a stream, including those on type and stream."""
    conditions: list[Expression] = []
    for column, name in ((stream.type, test.type), (stream.stream, test.stream)):
        if name is not None and column is not None:
            conditions.append(Comparison("=", Attribute((column,)), Literal(name)))
        elif name not in (None, "EVENT"):
            conditions.append(Literal(False))
    return (*conditions, *test.conditions)
