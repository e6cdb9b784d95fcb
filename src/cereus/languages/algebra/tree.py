"""The event algebra's expressions (Carlson and Lisper 2010, Definition 1).

Nodes have the paper's names. They compare by meaning; `span` (the place in the text) is ignored.
Python writes them with operators: `A | B`, `A + B`, `A - B`, `A >> B` for `A;B`, and `A.within(2)`
for `A` restricted to two ticks. `str()` gives the text; `algebra.text` reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from cereus.errors import RefusedError
from cereus.expr.tree import Expression
from cereus.syntax.literals import length_of
from cereus.syntax.tree import Tree

Tau = int | timedelta
"""How long a restriction allows: a number of ticks, or a duration when time is a timestamp."""

MICROSECOND = timedelta(microseconds=1)
ANY_TYPE = "*"
HASH = "_hash"
DEEPEST = 250
"""The deepest nesting of operators: recursive functions stay well within Python's stack."""


@dataclass(frozen=True)
class EventExpression(Tree["EventExpression"]):
    """An expression of the algebra: it has instances, each with a start and an end."""

    def postorder(self) -> Iterator[EventExpression]:
        """The subexpressions E¹ … Eᵐ in the order of §4, the whole expression last."""
        for child in self.children():
            yield from child.postorder()
        yield self

    def __or__(self, other: EventExpression) -> Disjunction:
        return Disjunction(self, other)

    def __add__(self, other: EventExpression) -> Conjunction:
        return Conjunction(self, other)

    def __sub__(self, other: EventExpression) -> Negation:
        return Negation(self, other)

    def __rshift__(self, other: EventExpression) -> Sequence:
        return Sequence(self, other)

    def within(self, tau: Tau | str) -> TemporalRestriction:
        """The expression restricted to this many ticks, or to a length of time: a timedelta, or a
        text, "5 seconds"."""
        if not isinstance(tau, int):
            tau = timedelta(microseconds=length_of(tau, "within"))
        return TemporalRestriction(self, tau)

    def __str__(self) -> str:
        from cereus.languages.algebra.text import to_text

        return to_text(self)


@dataclass(frozen=True)
class Primitive(EventExpression):
    """An event type, or the events of a type (`*`: of any) that satisfy a condition."""

    name: str
    condition: Expression | None = None


@dataclass(frozen=True)
class Empty(EventExpression):
    """`0`, the event that never occurs (Definition 24)."""


@dataclass(frozen=True)
class Disjunction(EventExpression):
    """`A | B` (A ∨ B): either occurs."""

    left: EventExpression
    right: EventExpression


@dataclass(frozen=True)
class Conjunction(EventExpression):
    """`A + B`: both occur, in any order, also at the same time."""

    left: EventExpression
    right: EventExpression


@dataclass(frozen=True)
class Negation(EventExpression):
    """`A - B`: an A during which no B lies."""

    left: EventExpression
    right: EventExpression


@dataclass(frozen=True)
class Sequence(EventExpression):
    """`A ; B`: an A that ends before the B starts."""

    left: EventExpression
    right: EventExpression


@dataclass(frozen=True)
class TemporalRestriction(EventExpression):
    """`A_τ`: an A with end − start ≤ τ."""

    body: EventExpression
    tau: Tau

    def __post_init__(self) -> None:
        if tau_length(self.tau) < 0:
            raise RefusedError(
                f"a time restriction cannot be negative: {self.tau}",
                hint="write a number of ticks, _2, or a duration, _5s",
            )


def _remember_hash(kind: type[EventExpression]) -> None:
    """Compute the hash of a node once: rewriting looks expressions up all the time."""
    computed: Callable[[EventExpression], int] = kind.__hash__

    def remembered(self: EventExpression) -> int:
        if HASH not in self.__dict__:
            self.__dict__[HASH] = computed(self)
        value: int = self.__dict__[HASH]
        return value

    kind.__hash__ = remembered  # type: ignore[assignment]


for _kind in (Primitive, Disjunction, Conjunction, Negation, Sequence, TemporalRestriction):
    _remember_hash(_kind)


def size(expression: EventExpression) -> int:
    """subexp(E), the number m of subexpressions (Proposition 38)."""
    return 1 + sum(size(child) for child in expression.children())


def primitives(expression: EventExpression) -> tuple[Primitive, ...]:
    """The distinct primitives, in the order of their first occurrence."""
    return tuple(dict.fromkeys(e for e in expression.postorder() if isinstance(e, Primitive)))


def restrictions(expression: EventExpression) -> tuple[Tau, ...]:
    """Every τ of the expression, as often as it occurs."""
    return tuple(e.tau for e in expression.postorder() if isinstance(e, TemporalRestriction))


def tau_length(tau: Tau) -> int:
    """τ on the integer time line: ticks as they are, a duration in microseconds."""
    return tau // MICROSECOND if isinstance(tau, timedelta) else tau


def check(expression: EventExpression) -> None:
    """Refuse an expression that is well formed but cannot be handled."""
    _check_depth(expression)
    _check_one_measure(expression)


def _check_depth(expression: EventExpression) -> None:
    level: tuple[EventExpression, ...] = (expression,)
    for _ in range(DEEPEST):
        level = tuple(child for node in level for child in node.children())
        if not level:
            return
    raise RefusedError(
        f"operators are nested more than {DEEPEST} deep",
        span=level[0].span,
        hint="group long chains in the middle: (A | B | …) | (M | N | …)",
    )


def _check_one_measure(expression: EventExpression) -> None:
    """Check that an expression uses ticks or durations only: they are on different time lines."""
    first: TemporalRestriction | None = None
    for node in expression.postorder():
        if not isinstance(node, TemporalRestriction):
            continue
        first = first or node
        if isinstance(first.tau, timedelta) is not isinstance(node.tau, timedelta):
            raise RefusedError(
                "an expression restricts time in ticks or in durations, not both",
                span=node.span,
                hint="ticks (_2) fit an integer time column, durations (_5s) a timestamp",
            )
