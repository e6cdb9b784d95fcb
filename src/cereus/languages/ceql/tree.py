"""The syntax tree of CEL (Grez, Riveros, Ugarte, Vansummeren 2021, Fig. 2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self, cast

from cereus.clauses.tree import AnyQuery, ParsedQuery, PatternTree, Strategy, Window
from cereus.expr.tree import Expression
from cereus.syntax.tree import Node, Tree

# ---------------------------------------------------------------- filters


@dataclass(frozen=True)
class Predicate(Node):
    """The condition after FILTER."""


@dataclass(frozen=True)
class Holds(Predicate):
    """A condition that must be true for every combination of events of the variables it mentions.

    `A[price > 3]` is kept as `A.price > 3`: its attributes carry the variable `A`. A condition that
    mentions one variable is unary (local); with several it is a correlation. The variable of a
    filter on one stream's events, `S1>BUY[…]`, is named `S1>BUY`.
    """

    condition: Expression


@dataclass(frozen=True)
class AllOf(Predicate):
    """`p AND q`: one filter after the other."""

    operands: tuple[Predicate, ...]


@dataclass(frozen=True)
class AnyOf(Predicate):
    """`p OR q`: the OR of two filters (semantics of the paper, §4), not a pointwise OR."""

    operands: tuple[Predicate, ...]


# ---------------------------------------------------------------- formulas


@dataclass(frozen=True)
class Formula(Tree["Formula"], PatternTree):
    """A formula of CEL."""

    def __rshift__(self, other: Formula) -> Formula:
        """`φ ; ψ`"""
        return Sequence(self, other)

    def __or__(self, other: Formula) -> Formula:
        """`φ OR ψ`"""
        return Or((*(self.operands if isinstance(self, Or) else (self,)), other))

    def plus(self) -> Formula:
        """`φ+`"""
        return Iteration(self)

    def times(self, least: int, most: int | None = -1) -> Formula:
        """`φ{least}`, or `φ{least,most}`; `most=None` is any number."""
        return Repeated(self, least, least if most == -1 else most)

    def optional(self) -> Formula:
        """`φ?`"""
        return Optional(self)

    def with_parts(self, **parts: Formula | tuple[Formula, ...]) -> Self:
        """The same formula with other parts; the formula itself if they are its own."""
        for name, part in parts.items():
            if getattr(self, name) is not part:
                return replace(self, **parts)  # type: ignore[arg-type]
        return self


@dataclass(frozen=True)
class Type(Formula):
    """`R`, or `S>R` for events of one stream; `*` stands for an event of any type (ours)."""

    name: str
    stream: str | None = None


@dataclass(frozen=True)
class As(Formula):
    """`φ AS A` (IN in the paper): A holds all events of φ."""

    body: Formula
    variable: str


@dataclass(frozen=True)
class Filter(Formula):
    body: Formula
    predicate: Predicate


@dataclass(frozen=True)
class Sequence(Formula):
    """`φ ; ψ`"""

    left: Formula
    right: Formula


@dataclass(frozen=True)
class ContiguousSequence(Formula):
    """`φ : ψ`"""

    left: Formula
    right: Formula


@dataclass(frozen=True)
class Iteration(Formula):
    """`φ+`"""

    body: Formula


@dataclass(frozen=True)
class ContiguousIteration(Formula):
    """`φ:+` (⊕ in the paper)"""

    body: Formula


@dataclass(frozen=True)
class GapLength(Node):
    """`[5 minutes]`, `[1 minute..5 minutes]`: microseconds from one event to the next."""

    least: int | None
    most: int | None


@dataclass(frozen=True)
class Repeated(Formula):
    """`φ{2}`, `φ{2,}`, `φ{2,5}`: `least` to `most` rounds of φ, one after the other (None: any
    number); `φ:{2,5}`, contiguous rounds. `φ{2,3}` is `(φ ; φ) OR (φ ; φ ; φ)`, and every round is
    a separate scope."""

    body: Formula
    least: int
    most: int | None
    contiguous: bool = False
    gap: GapLength | None = None
    """The time from one round to the next."""


@dataclass(frozen=True)
class Gapped(Formula):
    """`φ ;[5 minutes] ψ`, `φ :[1 minute..5 minutes] ψ`: ψ's first event comes within this distance
    after the last one of φ (ours)."""

    left: Formula
    right: Formula
    gap: GapLength
    contiguous: bool = False


@dataclass(frozen=True)
class Within(Formula):
    """`(φ) WITHIN 5 minutes`: every event of φ is within this distance of its first one (ours)."""

    body: Formula
    window: Window


@dataclass(frozen=True)
class Optional(Formula):
    """`φ?`: φ, or nothing at all. `φ? ; ψ` is `ψ OR (φ ; ψ)`."""

    body: Formula


@dataclass(frozen=True)
class Or(Formula):
    """`φ OR ψ OR …`"""

    operands: tuple[Formula, ...]


@dataclass(frozen=True)
class And(Formula):
    left: Formula
    right: Formula


@dataclass(frozen=True)
class All(Formula):
    left: Formula
    right: Formula


@dataclass(frozen=True)
class Unless(Formula):
    left: Formula
    right: Formula


@dataclass(frozen=True)
class Excluded(Node):
    """One kind of events that must not occur: a type, its names, its conditions. Conditions may
    mention variables of the pattern that it must not occur in."""

    event: Type
    names: tuple[str, ...] = ()
    predicate: Predicate | None = None


@dataclass(frozen=True)
class Without(Formula):
    """`φ WITHOUT B`: no B after the first and before the last event of φ's match (ours).
    `φ UNTIL B`, which goes `through`: none from the first to the last, both included."""

    body: Formula
    events: tuple[Excluded, ...]
    through: bool = False


@dataclass(frozen=True)
class Start(Formula):
    body: Formula


@dataclass(frozen=True)
class Project(Formula):
    """`PROJECT[a, b](φ)` (π in the paper)"""

    variables: frozenset[str]
    body: Formula


@dataclass(frozen=True)
class Not(Formula):
    """`NOT(A FILTER A[…])` as in CORE: one event that is not such an A. It takes its place in the
    stream (contiguity sees it) but is marked by no variable.

    The body is a Type, possibly under AS and FILTERs that mention only its own variables.
    """

    body: Formula


@dataclass(frozen=True)
class Select(Formula):
    """`NEXT(φ)`, `LAST(φ)`, `MAX(φ)`, `STRICT(φ)`, `ANY(φ)` inside a formula."""

    strategy: Strategy
    body: Formula


def types(formula: Formula) -> Iterator[Type]:
    """All types in a formula, also of events that must not occur."""
    for node in formula.walk():
        if isinstance(node, Type):
            yield node
        elif isinstance(node, Without):
            yield from (each.event for each in node.events)


def chain(formula: Sequence | ContiguousSequence | Or | All) -> list[Formula]:
    """φ₁, φ₂ … of `φ₁ ; φ₂ ; …`, from left to right, however many there are."""
    parts: list[Formula] = []
    todo: list[Formula] = [formula]
    while todo:
        part = todo.pop()
        if type(part) is type(formula):
            todo += reversed(part.children())
        else:
            parts.append(part)
    return parts


CeqlTree = ParsedQuery[Formula]
"""A CEQL query."""


def in_ceql(query: AnyQuery) -> CeqlTree:
    """A query whose pattern is known to be a formula."""
    assert isinstance(query.formula, Formula)
    return cast(CeqlTree, query)
