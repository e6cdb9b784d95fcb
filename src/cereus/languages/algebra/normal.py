"""A normal form by the laws: expressions with equal normal forms are equivalent.

An expression becomes a set of *terms*, its disjuncts (laws 7-11 and 19 bring `|` to the top; 1, 2
and 4 make it a set). A term is a primitive, a conjunction (3, 5: in a fixed order) or a sequence
(6: a list) of terms, restricted at most once (27), with one set of terms that must not occur in it
(14-16). A restriction or negation that follows from one further out is left out (12, 13, 17, 18,
20, 21, 23-25).

Each function is an operator of the algebra on normal forms and notes the laws that it used.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce

from cereus.languages.algebra.tree import (
    Conjunction,
    Disjunction,
    Empty,
    EventExpression,
    Negation,
    Primitive,
    Sequence,
    Tau,
    TemporalRestriction,
    restrictions,
    tau_length,
)

MOST_TERMS = 256
"""With more terms there is no normal form: distributing can square their number."""


@dataclass(frozen=True)
class NormalTerm:
    kind: type[EventExpression]
    """Primitive, Conjunction or Sequence."""
    parts: tuple[NormalTerm, ...] = ()
    primitive: Primitive | None = None
    tau: Tau | None = None
    without: frozenset[NormalTerm] = frozenset()

    @cached_property
    def text(self) -> str:
        return str(rebuild_term(self))

    @property
    def plain(self) -> bool:
        return self.tau is None and not self.without


Terms = frozenset[NormalTerm]


@dataclass
class Normaliser:
    zero: Tau = 0
    """The restriction that every primitive satisfies (law 26), in the expression's measure."""
    used: set[int] = field(default_factory=set)
    """The numbers of the laws that were used."""

    def of(self, expression: EventExpression) -> Terms:
        match expression:
            case Empty():
                return frozenset()
            case Primitive():
                return frozenset((NormalTerm(Primitive, primitive=expression),))
            case Disjunction(left, right):
                return self.either(self.of(left), self.of(right))
            case Conjunction(left, right):
                return self.both(self.of(left), self.of(right))
            case Sequence(left, right):
                return self.then(self.of(left), self.of(right))
            case Negation(left, right):
                return self.without(self.of(left), self.of(right))
            case TemporalRestriction(body, tau):
                return self.within(self.of(body), tau)
        raise TypeError(f"not an event expression: {expression!r}")

    def note(self, *laws: int, when: bool = True) -> None:
        if when:
            self.used.update(laws)

    # ------------------------------------------------------------ the operators

    def either(self, left: Terms, right: Terms) -> Terms:
        self.note(29, when=not left)
        self.note(30, when=not right)
        self.note(1, when=bool(left & right))
        self.note(4, when=len(right) > 1)
        self.note(2, when=_out_of_order(left, right))
        return _limited(left | right)

    def both(self, left: Terms, right: Terms) -> Terms:
        self.note(31, when=not left)
        self.note(32, when=not right)
        self.note(7, when=len(left) > 1)
        self.note(8, when=len(right) > 1)
        _refuse_more(len(left) * len(right))
        return frozenset(self.conjunction((s, t)) for s in left for t in right)

    def then(self, left: Terms, right: Terms) -> Terms:
        self.note(36, when=not left)
        self.note(37, when=not right)
        self.note(9, when=len(left) > 1)
        self.note(10, when=len(right) > 1)
        _refuse_more(len(left) * len(right))
        return frozenset(self.sequence((s, t)) for s in left for t in right)

    def without(self, terms: Terms, others: Terms) -> Terms:
        self.note(34, when=not terms)
        self.note(35, when=bool(terms) and not others)
        self.note(11, when=len(terms) > 1)
        kept = (self.negated(term, others) for term in terms)
        return frozenset(term for term in kept if term is not None)

    def within(self, terms: Terms, tau: Tau) -> Terms:
        self.note(38, when=not terms)
        self.note(19, when=len(terms) > 1)
        kept = (self.restricted(term, tau) for term in terms)
        return frozenset(term for term in kept if term is not None)

    # ------------------------------------------------------------ one term

    def conjunction(self, parts: tuple[NormalTerm, ...]) -> NormalTerm:
        flat = _spliced(Conjunction, parts)
        self.note(5, when=len(flat) > len(parts))
        ordered = tuple(sorted(flat, key=lambda term: term.text))
        self.note(3, when=ordered != flat)
        return NormalTerm(Conjunction, ordered)

    def sequence(self, parts: tuple[NormalTerm, ...]) -> NormalTerm:
        flat = _spliced(Sequence, parts)
        self.note(6, when=len(flat) > len(parts))
        return NormalTerm(Sequence, flat)

    def negated(self, term: NormalTerm, others: Terms) -> NormalTerm | None:
        self.note(14, when=bool(term.without and others))
        self.note(15, when=bool(term.without & others))
        return self.settled(replace(term, without=term.without | others), None, frozenset())

    def restricted(self, term: NormalTerm, tau: Tau) -> NormalTerm | None:
        self.note(26, when=term.kind is Primitive)
        self.note(27, when=term.tau is not None)
        self.note(22, when=bool(term.without))
        return self.settled(replace(term, tau=_shorter(term.tau, tau)), None, frozenset())

    def settled(self, term: NormalTerm, tau: Tau | None, others: Terms) -> NormalTerm | None:
        """The term where restriction τ and the negation of `others` hold further out, without
        repeating them; None if it cannot occur."""
        inner = self.zero if term.kind is Primitive else _shorter(term.tau, tau)
        absent = self.loosened(term.without, inner)
        outer = self.loosened(others, inner)
        parts = self.parts_settled(term, inner, absent | outer)
        if parts is None:
            return None
        again = replace(self.composed(term, parts), tau=term.tau, without=absent)
        if any(self.excludes(other, again) for other in absent | outer):
            return None
        implied = term.kind is Primitive or _at_least(term.tau, tau)
        return replace(again, tau=None if implied else term.tau, without=absent - outer)

    def composed(self, term: NormalTerm, parts: tuple[NormalTerm, ...]) -> NormalTerm:
        if term.kind is Primitive:
            return term
        return self.conjunction(parts) if term.kind is Conjunction else self.sequence(parts)

    def parts_settled(
        self, term: NormalTerm, tau: Tau | None, others: Terms
    ) -> tuple[NormalTerm, ...] | None:
        parts = tuple(self.settled(part, tau, others) for part in term.parts)
        conjoined = term.kind is Conjunction
        if parts != term.parts:
            self.note(*((12, 13) if conjoined else (17, 18)), when=bool(others))
            self.note(*((20, 21) if conjoined else (24, 25)), when=tau is not None)
        if None in parts:
            self.note(*((31, 32) if conjoined else (36, 37)))
            return None
        return tuple(part for part in parts if part is not None)

    def loosened(self, others: Terms, tau: Tau | None) -> Terms:
        """Terms that must not occur within τ may drop their longer restrictions (law 23)."""
        if tau is None:
            return others
        settled = frozenset(self.settled(other, tau, frozenset()) or other for other in others)
        self.note(23, when=settled != others)
        return settled

    def excludes(self, other: NormalTerm, term: NormalTerm) -> bool:
        """Whether `term - other` is 0 by law 33: `term` is `other`, perhaps narrowed further, or
        `other` is some of its parts."""
        same = (other.kind, other.parts, other.primitive) == (term.kind, term.parts, term.primitive)
        narrowed = same and other.without <= term.without and _at_least(other.tau, term.tau)
        if narrowed:
            self.note(14, 34, when=bool(term.without - {other}))
            self.note(22, 27, 38, when=term.tau is not None)
        elif other.plain and _contains(term, other):
            self.note(*((3, 5, 12, 31) if term.kind is Conjunction else (6, 17, 18, 36, 37)))
            self.note(34)
        else:
            return False
        self.note(33)
        return True


def _contains(term: NormalTerm, other: NormalTerm) -> bool:
    """Whether all parts of `other` are among those of `term`; for a sequence, side by side."""
    if other.kind is not term.kind or term.kind is Primitive:
        return False
    if term.kind is Conjunction:
        return Counter(other.parts) <= Counter(term.parts)
    length = len(other.parts)
    starts = range(len(term.parts) - length + 1)
    return any(term.parts[at : at + length] == other.parts for at in starts)


class TooManyTermsError(Exception):
    """The normal form would be too large to be worked out."""


def normal_form(expression: EventExpression) -> tuple[Terms, frozenset[int]]:
    """The terms of an expression, and the numbers of the laws used on the way."""
    taus = restrictions(expression)
    normaliser = Normaliser(zero=taus[0] - taus[0] if taus else 0)  # type: ignore[operator]
    terms = normaliser.of(expression)
    return terms, frozenset(normaliser.used)


# ---------------------------------------------------------------- and back


def rebuild(terms: Terms) -> EventExpression:
    """An expression with this normal form."""
    ordered = sorted(terms, key=lambda term: term.text)
    return _joined(Disjunction, [rebuild_term(term) for term in ordered]) if ordered else Empty()


def rebuild_term(term: NormalTerm) -> EventExpression:
    if term.primitive is not None:
        core: EventExpression = term.primitive
    else:
        core = _joined(term.kind, [rebuild_term(part) for part in term.parts])
    core = core if term.tau is None else core.within(term.tau)
    return core - rebuild(term.without) if term.without else core


def _joined(kind: type[EventExpression], parts: list[EventExpression]) -> EventExpression:
    return reduce(lambda left, right: kind(left, right), parts)  # type: ignore[call-arg, arg-type]


def _spliced(kind: type[EventExpression], parts: tuple[NormalTerm, ...]) -> tuple[NormalTerm, ...]:
    """The parts, those of the same operator replaced by their own parts."""
    nested = [part.parts if part.kind is kind and part.plain else (part,) for part in parts]
    return tuple(part for group in nested for part in group)


def _shorter(first: Tau | None, second: Tau | None) -> Tau | None:
    if first is None or second is None:
        return second if first is None else first
    return min(first, second, key=tau_length)


def _at_least(tau: Tau | None, other: Tau | None) -> bool:
    """Whether restricting by τ adds nothing to restricting by `other`."""
    return tau is None or (other is not None and tau_length(tau) >= tau_length(other))


def _out_of_order(left: Terms, right: Terms) -> bool:
    both = left and right
    return bool(both) and max(t.text for t in left) > min(t.text for t in right)


def _limited(terms: Terms) -> Terms:
    _refuse_more(len(terms))
    return terms


def _refuse_more(count: int) -> None:
    if count > MOST_TERMS:
        raise TooManyTermsError
