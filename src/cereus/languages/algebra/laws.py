"""The laws of §3 as rewrite rules: data, usable in both directions.

Each law is a pair of patterns in which A, B, C stand for any expression and τ, τ' for any
restriction. They hold for the full semantics; rewriting by them may change which of several
instances with equal start and end is picked, never the (start, end) pairs (Proposition 20).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from cereus.languages.algebra.tree import (
    Empty,
    EventExpression,
    Primitive,
    Tau,
    TemporalRestriction,
    restrictions,
    tau_length,
)
from cereus.syntax.tree import rebuild

Binding = dict[str, EventExpression | Tau]


@dataclass(frozen=True)
class LawVariable(EventExpression):
    """Any expression, the same wherever the name occurs."""

    name: str

    def __str__(self) -> str:
        return self.name


class TauVariable(int):
    """Any τ (an int, so that a pattern is an expression like any other)."""

    name: str
    least_of: tuple[str, str] | None = None

    def __new__(cls, name: str, least_of: tuple[str, str] | None = None) -> TauVariable:
        self = super().__new__(cls, 0)
        self.name, self.least_of = name, least_of
        return self

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Law:
    number: int
    name: str
    left: EventExpression
    right: EventExpression
    condition: Callable[[Binding], bool] | None = None

    def __str__(self) -> str:
        return f"law {self.number} ({self.name}): {self.left} ≡ {self.right}"

    def forward(self, expression: EventExpression) -> EventExpression | None:
        """The result of the law from left to right at the root; None if it does not apply."""
        return self._rewrite(self.left, self.right, expression) if self.has_forward else None

    def backward(self, expression: EventExpression) -> EventExpression | None:
        return self._rewrite(self.right, self.left, expression) if self.has_backward else None

    @cached_property
    def has_forward(self) -> bool:
        """Whether the law can be used from left to right: a direction that would have to invent an
        expression or a τ cannot."""
        return names(self.right) <= bound(self.left)

    @cached_property
    def has_backward(self) -> bool:
        return names(self.left) <= bound(self.right)

    def _rewrite(
        self, pattern: EventExpression, replacement: EventExpression, expression: EventExpression
    ) -> EventExpression | None:
        binding: Binding = {}
        if not matches(pattern, expression, binding):
            return None
        if self.condition is not None and not self.condition(binding):
            return None
        return fill(replacement, binding)


def names(pattern: EventExpression) -> frozenset[str]:
    """The variables that are needed to fill in a pattern."""
    taus = [cast(TauVariable, tau) for tau in restrictions(pattern)]
    of_taus = frozenset(name for tau in taus for name in tau.least_of or (tau.name,))
    return of_taus | frozenset(e.name for e in pattern.postorder() if isinstance(e, LawVariable))


def bound(pattern: EventExpression) -> frozenset[str]:
    """The variables that matching a pattern binds: for the least of two, neither."""
    taus = [cast(TauVariable, tau) for tau in restrictions(pattern)]
    unknown = {name for tau in taus for name in tau.least_of or ()}
    return names(pattern) - unknown


def matches(pattern: EventExpression, expression: EventExpression, binding: Binding) -> bool:
    """Whether the pattern fits at the root; the expressions of its variables go into `binding`."""
    if isinstance(pattern, LawVariable):
        return binding.setdefault(pattern.name, expression) == expression
    if type(pattern) is not type(expression):
        return False
    if isinstance(pattern, TemporalRestriction):
        tau, variable = cast(TemporalRestriction, expression).tau, cast(TauVariable, pattern.tau)
        if variable.least_of or binding.setdefault(variable.name, tau) != tau:
            return False
    pairs = zip(pattern.children(), expression.children(), strict=True)
    return all(matches(part, child, binding) for part, child in pairs)


def fill(pattern: EventExpression, binding: Binding) -> EventExpression:
    """The pattern with its variables replaced."""
    if isinstance(pattern, LawVariable):
        return cast(EventExpression, binding[pattern.name])
    if isinstance(pattern, TemporalRestriction):
        tau = _tau(cast(TauVariable, pattern.tau), binding)
        return TemporalRestriction(fill(pattern.body, binding), tau)
    return rebuild(pattern, lambda child: fill(child, binding))


def _tau(variable: TauVariable, binding: Binding) -> Tau:
    if variable.least_of is None:
        return cast(Tau, binding[variable.name])
    return min((cast(Tau, binding[name]) for name in variable.least_of), key=tau_length)


def _is_primitive(binding: Binding) -> bool:
    return isinstance(binding["A"], Primitive)


A, B, C = LawVariable("A"), LawVariable("B"), LawVariable("C")
T, U = TauVariable("τ"), TauVariable("τ'")
LEAST = TauVariable("min(τ, τ')", least_of=("τ", "τ'"))
ZERO = Empty()

LAWS: tuple[Law, ...] = (
    # Theorem 21
    Law(1, "disjunction is idempotent", A | A, A),
    Law(2, "disjunction commutes", A | B, B | A),
    Law(3, "conjunction commutes", A + B, B + A),
    Law(4, "disjunction associates", A | (B | C), (A | B) | C),
    Law(5, "conjunction associates", A + (B + C), (A + B) + C),
    Law(6, "sequence associates", A >> (B >> C), (A >> B) >> C),
    Law(7, "conjunction distributes from the left", (A | B) + C, (A + C) | (B + C)),
    Law(8, "conjunction distributes from the right", A + (B | C), (A + B) | (A + C)),
    Law(9, "sequence distributes from the left", (A | B) >> C, (A >> C) | (B >> C)),
    Law(10, "sequence distributes from the right", A >> (B | C), (A >> B) | (A >> C)),
    # Theorem 22
    Law(11, "negation distributes", (A | B) - C, (A - C) | (B - C)),
    Law(12, "negation enters a conjunction, left", (A + B) - C, ((A - C) + B) - C),
    Law(13, "negation enters a conjunction, right", (A + B) - C, (A + (B - C)) - C),
    Law(14, "two negations are one", (A - B) - C, A - (B | C)),
    Law(15, "negation is idempotent", (A - B) - B, A - B),
    Law(16, "negations commute", (A - B) - C, (A - C) - B),
    Law(17, "negation enters a sequence, left", (A >> B) - C, ((A - C) >> B) - C),
    Law(18, "negation enters a sequence, right", (A >> B) - C, (A >> (B - C)) - C),
    # Theorem 23
    Law(19, "restriction distributes", (A | B).within(T), A.within(T) | B.within(T)),
    Law(
        20, "restriction enters a conjunction, left", (A + B).within(T), (A.within(T) + B).within(T)
    ),
    Law(
        21,
        "restriction enters a conjunction, right",
        (A + B).within(T),
        (A + B.within(T)).within(T),
    ),
    Law(22, "restriction passes a negation", (A - B).within(T), A.within(T) - B),
    Law(23, "restriction enters what is negated", (A - B).within(T), (A - B.within(T)).within(T)),
    Law(
        24, "restriction enters a sequence, left", (A >> B).within(T), (A.within(T) >> B).within(T)
    ),
    Law(
        25, "restriction enters a sequence, right", (A >> B).within(T), (A >> B.within(T)).within(T)
    ),
    Law(26, "a primitive is instantaneous", A, A.within(T), _is_primitive),
    Law(27, "two restrictions are the shorter one", A.within(T).within(U), A.within(LEAST)),
    Law(28, "restrictions commute", A.within(T).within(U), A.within(U).within(T)),
    # Theorem 25
    Law(29, "0 or A", ZERO | A, A),
    Law(30, "A or 0", A | ZERO, A),
    Law(31, "0 and A", ZERO + A, ZERO),
    Law(32, "A and 0", A + ZERO, ZERO),
    Law(33, "A without itself", A - A, ZERO),
    Law(34, "0 without A", ZERO - A, ZERO),
    Law(35, "A without 0", A - ZERO, A),
    Law(36, "0 before A", ZERO >> A, ZERO),
    Law(37, "A before 0", A >> ZERO, ZERO),
    Law(38, "0 restricted", ZERO.within(T), ZERO),
)
BY_NUMBER = {law.number: law for law in LAWS}
