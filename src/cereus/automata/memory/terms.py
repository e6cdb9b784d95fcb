"""Terms: values that a move computes from slots, and from columns of the event that it reads.

A term is typed by its operations (`add` of integers is another operation than `add` of floats), so
that the kernel need not check types. Every value may be unknown (NULL), and then follows SQL. The
meaning is that of `expr.python`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from cereus.automata.model import Check, Slot
from cereus.expr.tree import Expression
from cereus.expr.types import Kind

LOADS = ("column", "slot", "constant", "past", "member")
UNARY = (
    "to float",
    "negate int", "negate float", "abs int", "abs float",
    "sqrt", "floor", "ceil", "sign int", "sign float", "exp", "ln", "log10",
    "not", "is null", "known",
)  # fmt: skip
BINARY = (
    "add int", "subtract int", "multiply int", "modulo int",
    "add float", "subtract float", "multiply float", "divide float", "modulo float",
    "= int", "!= int", "< int", "<= int", "> int", ">= int",
    "= float", "!= float", "< float", "<= float", "> float", ">= float",
    "and", "or",
    # totals: NULL adds nothing. A sum of integers that may overflow 64 bits on the way is kept as
    # two: the sum of the remainders of division by 2**32 (`sum int`), and the sum of the quotients
    # (`carry int`)
    "sum int", "sum float", "min int", "max int", "min float", "max float", "carry int",
    # NULL if either is, NaN if either is
    "least int", "greatest int", "least float", "greatest float",
    # a sum and its carry; NULL if it does not fit 64 bits
    "join int",
    # `round` to units of 1 / y, or of -y where y is negative
    "power", "round",
)  # fmt: skip
OPERATIONS = (*LOADS, *UNARY, *BINARY, "distance", "if", "function")
"""The kernel knows operations by their places here."""
MOST_OPERANDS = 4
"""The most operands that a function of several events may have."""


class LookedUp(NamedTuple):
    """A function that the kernel does not compute itself: its values are computed when they are
    first needed, and looked up from then on. `expression` reads its operands as columns `0`, `1` …,
    which are of these `kinds`; the value is of the kind `result`."""

    expression: Expression
    kinds: tuple[Kind, ...]
    result: Kind


class Term(NamedTuple):
    """A computation of the kernel: `op` of `operands`. They are terms, or for a load a Slot, the
    number of a column, or a constant. The first operand of a `function` is the LookedUp."""

    op: str
    operands: tuple[Any, ...]

    def filled(self, leaves: Sequence[Term]) -> Term:
        """A term with its holes, `leaf(i)`, filled."""
        if self.op == "leaf":
            place: int = self.operands[0]
            return leaves[place]
        if self.op in LOADS:
            return self
        return Term(
            self.op,
            tuple(
                operand.filled(leaves) if isinstance(operand, Term) else operand
                for operand in self.operands
            ),
        )


def leaf(place: int) -> Term:
    """A hole (`Term.filled`)."""
    return Term("leaf", (place,))


def has_hole(term: Term, place: int) -> bool:
    """Whether a term has this hole."""
    if term.op == "leaf":
        return bool(term.operands[0] == place)
    return any(has_hole(each, place) for each in term.operands if isinstance(each, Term))


def column(number: int) -> Term:
    return Term("column", (number,))


def slot(place: Slot) -> Term:
    return Term("slot", (place,))


def constant(value: float | None) -> Term:
    """An integer (booleans are 0 and 1), a float, or NULL."""
    return Term("constant", (value,))


def past(place: int) -> Term:
    """The value at a place of the event of the past that is looked at."""
    return Term("past", (place,))


MEMBER = Term("member", ())
"""The member of the set that is looked at."""


class Absent(NamedTuple):
    """The condition that no event of the past of a kind (`PastKind`) that makes `term` true came
    between two events, whose ordinals are in slots; without a term, no such event at all. Without
    `after`, those count that share the window with the event at hand; without `before`, all before
    this event."""

    kind: int
    after: Slot | None
    before: Slot | None
    term: Term | None


class PastKind(NamedTuple):
    """A kind of events that are remembered: those that pass the test `bit`, each with the values in
    `columns`. `always`: also while no run has started."""

    bit: int
    columns: tuple[int, ...]
    always: bool


TRUE, FALSE = constant(1), constant(0)


def simplified(term: Term) -> Term:
    """The same condition, without the known truth values in its AND, OR and NOT."""
    if term.op not in ("and", "or", "not"):
        return term
    first, *rest = map(simplified, term.operands)
    if not rest:
        return {TRUE: FALSE, FALSE: TRUE}.get(first, Term("not", (first,)))
    second, (idle, final) = rest[0], (TRUE, FALSE) if term.op == "and" else (FALSE, TRUE)
    if final in (first, second):
        return final
    if idle in (first, second):
        return second if first == idle else first
    return Term(term.op, (first, second))


def holds(term: Term) -> Check:
    """The check that the term is true."""
    return Check("holds", None, -1, -1, term)


def every(members: Slot, term: Term) -> Check:
    """The check that the term is true for every member of the set in a slot."""
    return Check("every", members, -1, -1, term)


def absent(what: Absent) -> Check:
    """The check that such an event has not come."""
    return Check("absent", None, -1, -1, what)


def present(what: Absent) -> Check:
    """The check that such an event has come."""
    return Check("present", None, -1, -1, what)


def fails(term: Term) -> Check:
    """The check that the term is not true: false, or NULL."""
    return Check("fails", None, -1, -1, term)
