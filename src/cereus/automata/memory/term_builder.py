"""Turns conditions between events into terms of the kernel (`terms`).

Every part that reads only one variable is computed ahead, for a whole batch at once, and is a
column here. A term only combines columns of several events, kept in slots or of the event at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property, reduce
from typing import NamedTuple, Self

import pyarrow as pa

from cereus.automata.memory.refusal import CannotUseSlots
from cereus.automata.memory.terms import MOST_OPERANDS, LookedUp, Term, constant
from cereus.automata.memory.totals import BASE, DEVIATIONS, SQUARES
from cereus.expr import tree as ex
from cereus.expr.check import TIME_ARITHMETIC, value_kind
from cereus.expr.paths import type_at
from cereus.expr.print import condition_text
from cereus.expr.python.aggregates import EVERY_VALUE
from cereus.expr.tree import Expression, variables, without_variable
from cereus.expr.types import Kind, kind_of

DEEPEST = 60
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
ONE = ex.Literal(1.0)
COMPUTED = (Kind.INTEGER, Kind.FLOAT)
"""The kinds that the kernel computes with."""
LOOKED_UP = frozenset({Kind.BOOLEAN, *COMPUTED})
OPERANDS = frozenset({Kind.STRING, *LOOKED_UP})
"""The kinds of the values and operands of functions that are computed outside of the kernel and
looked up."""
IMPLEMENTED = (
    "abs", "sign", "least", "greatest", "floor", "ceil", "round", "sqrt", "exp", "ln", "log10",
    "power", "distance", "coalesce",
)  # fmt: skip
"""The functions of `expr.functions` that the kernel computes from values of several events. All
others are computed ahead, from values of one event, or looked up."""


class ValueRead(NamedTuple):
    """An expression on the event of one variable, and its kind. With `total`, its values are added
    up by an aggregate of the variable."""

    variable: str
    expression: Expression
    kind: Kind
    total: str | None = None
    fine: bool = False
    """A time in nanoseconds."""


class TimeCount(int):
    """A time as a count, shown as the literal that it stands for: `INTERVAL 5 seconds`."""

    literal: ex.Literal

    def __new__(cls, count: int, literal: ex.Literal) -> Self:
        made = super().__new__(cls, count)
        made.literal = literal
        return made

    def __reduce__(self) -> tuple[type[TimeCount], tuple[int, ex.Literal]]:
        return TimeCount, (int(self), self.literal)

    def __str__(self) -> str:
        return condition_text(self.literal)


class TypedTerm(NamedTuple):
    term: Term
    kind: Kind


Read = Callable[[ValueRead], Term]


@dataclass(frozen=True)
class TermBuilder:
    """Builds the term of one condition over one schema. Times are counted in microseconds; in
    nanoseconds if all columns of times have these."""

    condition: Expression
    schema: pa.Schema

    @cached_property
    def fine(self) -> bool:
        """Whether times are counted in nanoseconds."""
        types = {type_at(self.schema, path) for path in ex.attributes(self.condition)}
        times = [each for each in types if each is not None and kind_of(each) is Kind.TIMESTAMP]
        return bool(times) and all(str(each).startswith("timestamp[ns") for each in times)

    @property
    def readings(self) -> tuple[ValueRead, ...]:
        """All that the condition reads, without repetitions."""
        readings: dict[ValueRead, None] = {}

        def note(reading: ValueRead) -> Term:
            readings[reading] = None
            return constant(None)

        self.term(note)
        return tuple(readings)

    def term(self, read: Read) -> Term:
        """The condition as a term; `read` gives the terms of its readings."""
        term, kind = self._typed(self.condition, read)
        if kind not in (Kind.BOOLEAN, Kind.NULL):
            raise CannotUseSlots("it is not a condition")
        return not_too_deep(term)

    # ------------------------------------------------------------ by node

    def _typed(self, node: Expression, read: Read) -> TypedTerm:
        try:
            return self._computed(node, read)
        except CannotUseSlots:
            looked_up = self._looked_up(node, read)
            if looked_up is None:
                raise
            return looked_up

    def _looked_up(self, node: Expression, read: Read) -> TypedTerm | None:
        """A function of values of single events that is computed outside of the kernel and looked
        up; None if it cannot be."""
        leaves: dict[TypedTerm, int] = {}

        def with_holes(part: Expression) -> Expression:
            if not self._is_reading(part):
                return ex.rebuild(part, with_holes)
            leaf = self._computed(part, read)
            return ex.Attribute((str(leaves.setdefault(leaf, len(leaves))),))

        if self._is_reading(node) or ex.has_aggregates(node):
            return None
        kind = value_kind(node, self.schema)
        try:
            expression = with_holes(node)
        except CannotUseSlots:
            return None
        kinds = tuple(leaf.kind for leaf in leaves)
        fits = kind in LOOKED_UP and OPERANDS.issuperset(kinds)
        if not fits or not 0 < len(kinds) <= MOST_OPERANDS:
            return None
        function = LookedUp(expression, kinds, kind)
        return TypedTerm(Term("function", (function, *(leaf.term for leaf in leaves))), kind)

    def _computed(self, node: Expression, read: Read) -> TypedTerm:
        if isinstance(node, ex.Aggregate):
            return self._aggregate(node, read)
        if isinstance(node, ex.Literal):
            return self._literal(node)
        if self._is_reading(node):
            kind = kept_kind(node, self.schema, fine=self.fine)
            fine = self.fine and kind is Kind.TIMESTAMP
            (name,) = variables(node)
            return TypedTerm(read(ValueRead(name, without_variable(node), kind, fine=fine)), kind)
        match node:
            case ex.Negate(operand):
                return self._arithmetic(
                    "-", TypedTerm(constant(0), Kind.INTEGER), self._number(operand, read)
                )
            case ex.Arithmetic(op, left, right):
                return self._arithmetic(op, self._number(left, read), self._number(right, read))
            case ex.Comparison(op, left, right):
                return _compare(op, self._typed(left, read), self._typed(right, read))
            case ex.And(operands):
                return self._logic("and", operands, read)
            case ex.Or(operands):
                return self._logic("or", operands, read)
            case ex.Not(operand):
                return TypedTerm(Term("not", (self._truth(operand, read),)), Kind.BOOLEAN)
            case ex.IsNull(operand):
                return TypedTerm(Term("is null", (self._typed(operand, read).term,)), Kind.BOOLEAN)
            case ex.Between(operand, low, high):
                bounds = [("<=", high), (">=", low)]
                return self._logic(
                    "and", [ex.Comparison(op, operand, b) for op, b in bounds if b], read
                )
            case ex.In(operand, items):
                same = [ex.Comparison("=", operand, item) for item in items]
                return self._logic("or", same, read)
            case ex.Case(branches, default):
                return self._case(branches, default, read)
            case ex.Call("coalesce", (*values, last)):
                known = tuple((ex.Not(ex.IsNull(value)), value) for value in values)
                return self._case(known, last, read)
            case ex.Call(function, arguments):
                return self._call(function, [self._number(a, read) for a in arguments])
        raise CannotUseSlots(
            f"{type(node).__name__} of several events is not computed by the kernel"
        )

    def _number(self, node: Expression, read: Read) -> TypedTerm:
        """A number to compute with: decimals are compared exactly, but computed with as doubles."""
        if self._is_reading(node) and value_kind(node, self.schema) is Kind.DECIMAL:
            return self._typed(ex.Arithmetic("*", node, ONE), read)
        return self._typed(node, read)

    def _is_reading(self, node: Expression) -> bool:
        """Whether a batch has the values of a node as a column. The kernel computes with times
        itself, since it counts them."""
        if len(variables(node)) != 1 or ex.has_aggregates(node):
            return False
        return not isinstance(node, ex.Arithmetic) or not self._has_times(node)

    def _has_times(self, node: Expression) -> bool:
        if isinstance(node, ex.Arithmetic):
            return self._has_times(node.left) or self._has_times(node.right)
        return value_kind(node, self.schema) in (Kind.TIMESTAMP, Kind.INTERVAL)

    def _logic(self, op: str, operands: Sequence[Expression], read: Read) -> TypedTerm:
        terms = [self._truth(operand, read) for operand in operands]
        return TypedTerm(reduce(lambda a, b: Term(op, (a, b)), terms), Kind.BOOLEAN)

    def _truth(self, node: Expression, read: Read) -> Term:
        term, kind = self._typed(node, read)
        if kind not in (Kind.BOOLEAN, Kind.NULL):
            raise CannotUseSlots("a condition is expected")
        return term

    def _case(
        self,
        branches: Sequence[tuple[Expression, Expression]],
        default: Expression | None,
        read: Read,
    ) -> TypedTerm:
        """CASE: the value of the first branch whose condition is true."""
        values = [self._typed(value, read) for _, value in branches]
        values.append(self._typed(default or ex.Literal(None), read))
        kind = _common_kind([value.kind for value in values])
        *terms, last = _as(kind, *values)
        for (condition, _), term in zip(reversed(branches), reversed(terms), strict=True):
            last = Term("if", (self._truth(condition, read), term, last))
        return TypedTerm(last, kind)

    def _literal(self, node: ex.Literal) -> TypedTerm:
        value = node.value
        match value:
            case None:
                return TypedTerm(constant(None), Kind.NULL)
            case bool():
                return TypedTerm(constant(int(value)), Kind.BOOLEAN)
            case int() if abs(value) < 2**63:
                return TypedTerm(constant(value), Kind.INTEGER)
            case int() | float():
                return TypedTerm(constant(float(value)), Kind.FLOAT)
            case timedelta():
                return TypedTerm(self._count(value, node), Kind.INTERVAL)
            case datetime():
                instant = value if value.tzinfo else value.replace(tzinfo=UTC)
                return TypedTerm(self._count(instant - EPOCH, node), Kind.TIMESTAMP)
        raise CannotUseSlots("a string is compared with values of several events")

    def _count(self, value: timedelta, node: ex.Literal) -> Term:
        count = (1000 if self.fine else 1) * (value // MICROSECOND)
        if abs(count) >= 2**63:
            raise CannotUseSlots("a time is too far from others to be counted in nanoseconds")
        return constant(TimeCount(count, node))

    def _arithmetic(self, op: str, left: TypedTerm, right: TypedTerm) -> TypedTerm:
        kinds = (left.kind, right.kind)
        if Kind.NULL in kinds:
            return TypedTerm(constant(None), Kind.NULL)
        names = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "modulo"}
        if (op, *kinds) in TIME_ARITHMETIC:
            return TypedTerm(
                Term(f"{names[op]} int", (left.term, right.term)), TIME_ARITHMETIC[op, *kinds]
            )
        if not set(kinds) <= set(COMPUTED):
            raise CannotUseSlots("arithmetic on what is not a number")
        kind = Kind.INTEGER if kinds == (Kind.INTEGER, Kind.INTEGER) and op != "/" else Kind.FLOAT
        return TypedTerm(Term(f"{names[op]} {kind}", _as(kind, left, right)), kind)

    def _call(self, function: str, arguments: list[TypedTerm]) -> TypedTerm:
        kinds = {argument.kind for argument in arguments}
        if not kinds <= set(COMPUTED):
            raise CannotUseSlots(
                f"{function} of several events' values is not computed by the kernel"
            )
        kind = Kind.FLOAT if Kind.FLOAT in kinds else Kind.INTEGER
        if function == "abs":
            return TypedTerm(Term(f"abs {kind}", (arguments[0].term,)), kind)
        if function in ("least", "greatest"):
            terms = _as(kind, *arguments)
            return TypedTerm(reduce(lambda a, b: Term(f"{function} {kind}", (a, b)), terms), kind)
        if function in ("floor", "ceil"):
            term = arguments[0].term
            return TypedTerm(term if kind == Kind.INTEGER else Term(function, (term,)), kind)
        if function == "sign":
            return TypedTerm(Term(f"sign {kind}", (arguments[0].term,)), kind)
        if function == "round" and kind == Kind.FLOAT:
            return TypedTerm(Term("round", (arguments[0].term, _units(arguments[1:]))), kind)
        if function in ("sqrt", "exp", "ln", "log10", "power", "distance"):
            return TypedTerm(Term(function, _as(Kind.FLOAT, *arguments)), Kind.FLOAT)
        raise CannotUseSlots(f"{function} of several events' values is not computed by the kernel")

    def _aggregate(self, node: ex.Aggregate, read: Read) -> TypedTerm:
        """The term of an aggregate. `avg` is a sum over a count; everything else is one total,
        except sums of integers."""
        if node.attribute is None:
            return TypedTerm(
                read(ValueRead(node.variable, ex.Literal(1), Kind.INTEGER, "tally")), Kind.INTEGER
            )
        if node.function == "stddev":
            return self._deviation(node, read)
        if node.function in EVERY_VALUE:
            raise CannotUseSlots(f"{node.function} needs every value")
        value = ex.Attribute(node.attribute)
        kind = kept_kind(value, self.schema)
        if node.function == "count":
            return TypedTerm(read(ValueRead(node.variable, value, kind, "count")), Kind.INTEGER)
        if kind not in COMPUTED:
            raise CannotUseSlots(f"{node.function} of values that are not kept as numbers")
        if node.function == "avg":
            total = self._real_sum(node, kind, read)
            count = TypedTerm(read(ValueRead(node.variable, value, kind, "count")), Kind.INTEGER)
            return self._arithmetic("/", total, count)
        if node.function == "sum" and self._is_wide(value):
            return TypedTerm(Term("join int", self._sum_and_carry(node, read)), kind)
        if node.function in ("first", "last"):
            return TypedTerm(read(ValueRead(node.variable, value, kind, node.function)), kind)
        ranked = _without_nan(value) if kind == Kind.FLOAT and node.function != "sum" else value
        return TypedTerm(
            read(ValueRead(node.variable, ranked, kind, f"{node.function} {kind}")), kind
        )

    def _real_sum(self, node: ex.Aggregate, kind: Kind, read: Read) -> TypedTerm:
        """A sum that will be divided, so it need not fit 64 bits."""
        value = ex.Attribute(node.attribute or ())
        if not self._is_wide(value):
            return TypedTerm(read(ValueRead(node.variable, value, kind, f"sum {kind}")), kind)
        low, carry = (TypedTerm(each, kind) for each in self._sum_and_carry(node, read))
        unit = TypedTerm(constant(float(2**32)), Kind.FLOAT)
        return self._arithmetic("+", low, self._arithmetic("*", carry, unit))

    def _deviation(self, node: ex.Aggregate, read: Read) -> TypedTerm:
        """The deviation of a sample: from n distances d, the root of (n Σd² - (Σd)²) / n(n - 1).
        For n < 2 that is a division by zero, so NULL."""
        value: Expression = ex.Attribute(node.attribute or ())
        if kept_kind(number := ex.Arithmetic("*", value, ONE), self.schema) is not Kind.FLOAT:
            raise CannotUseSlots("its values are not kept as numbers")

        def total(how: str, kind: Kind = Kind.FLOAT) -> TypedTerm:
            return TypedTerm(read(ValueRead(node.variable, number, Kind.FLOAT, how)), kind)

        total(BASE)
        count, once = total("count", Kind.INTEGER), TypedTerm(constant(1), Kind.INTEGER)
        squares = self._arithmetic("*", count, total(SQUARES))
        squared = self._arithmetic("*", total(DEVIATIONS), total(DEVIATIONS))
        spread = self._arithmetic("-", squares, squared)
        above = Term("greatest float", (spread.term, constant(0.0)))
        pairs = self._arithmetic("*", count, self._arithmetic("-", count, once))
        variance = self._arithmetic("/", TypedTerm(above, Kind.FLOAT), pairs)
        return TypedTerm(Term("sqrt", (variance.term,)), Kind.FLOAT)

    def _is_wide(self, value: ex.Attribute) -> bool:
        """Whether a sum of few values may not fit 64 bits."""
        return bool(type_at(self.schema, value.path) == pa.int64())

    def _sum_and_carry(self, node: ex.Aggregate, read: Read) -> tuple[Term, Term]:
        value = ex.Attribute(node.attribute or ())
        low = read(ValueRead(node.variable, value, Kind.INTEGER, "sum int"))
        return low, read(ValueRead(node.variable, value, Kind.INTEGER, "carry int"))


def _units(digits: list[TypedTerm]) -> Term:
    """The unit that a number is rounded to: 1 divided by this, or (negative) multiples of it."""
    if digits and digits[0].term.op != "constant":
        raise CannotUseSlots("round takes a literal number of digits")
    count = digits[0].term.operands[0] if digits else 0
    scale = float(f"1e{min(abs(count), 300)}")
    return constant(scale if count >= 0 else -scale)


def _without_nan(value: ex.Expression) -> ex.Expression:
    """The expression with NULL for NaN, so that `min` and `max` skip it: NaN is not ordered."""
    return ex.Case(((ex.Comparison("=", value, value), value),))


def _compare(op: str, left: TypedTerm, right: TypedTerm) -> TypedTerm:
    kinds = {left.kind, right.kind}
    if Kind.NULL in kinds:
        return TypedTerm(constant(None), Kind.BOOLEAN)
    if kinds <= set(COMPUTED):
        kind = Kind.FLOAT if Kind.FLOAT in kinds else Kind.INTEGER
        return TypedTerm(Term(f"{op} {kind}", _as(kind, left, right)), Kind.BOOLEAN)
    if len(kinds) > 1:
        raise CannotUseSlots("it compares values of different kinds")
    if kinds == {Kind.STRING} and op not in ("=", "!="):
        raise CannotUseSlots("it compares strings by their order")
    return TypedTerm(Term(f"{op} int", (left.term, right.term)), Kind.BOOLEAN)


def _common_kind(kinds: list[Kind]) -> Kind:
    """The kind of a value that is one of several."""
    distinct = set(kinds) - {Kind.NULL}
    if len(distinct) > 1 and distinct <= set(COMPUTED):
        return Kind.FLOAT
    if len(distinct) > 1:
        raise CannotUseSlots("it chooses between values of different kinds")
    return next(iter(distinct), Kind.NULL)


def _as(kind: Kind, *operands: TypedTerm) -> tuple[Term, ...]:
    return tuple(
        Term("to float", (term,)) if kind == Kind.FLOAT and term_kind == Kind.INTEGER else term
        for term, term_kind in operands
    )


def not_too_deep(term: Term) -> Term:
    """The term, if the kernel's stack has room for it."""
    if _depth(term) > DEEPEST:
        raise CannotUseSlots("it is too deep")
    return term


def _depth(term: Term) -> int:
    parts = [operand for operand in term.operands if isinstance(operand, Term)]
    return max((place + _depth(part) for place, part in enumerate(parts)), default=1)


# ---------------------------------------------------------------- kinds of single events' values


def kept_kind(node: Expression, schema: pa.Schema, *, fine: bool = False) -> Kind:
    """The kind of the values of an expression on one event, or CannotUseSlots. Where times are
    `fine`, columns have them in nanoseconds."""
    kind = value_kind(node, schema)
    fine &= not any(_is_time_literal(part) for part in node.walk())
    for part in _values(node):
        if isinstance(part, ex.Attribute):
            _check_kept(type_at(schema, part.path), kind, fine=fine)
        elif isinstance(part, ex.Arithmetic) and value_kind(part, schema) in (
            Kind.TIMESTAMP,
            Kind.INTERVAL,
        ):
            raise CannotUseSlots("it computes with times of one event")
    return kind


def is_double(node: Expression) -> bool:
    """Whether this node turns decimals into doubles."""
    return isinstance(node, ex.Arithmetic) and node.op == "*" and node.right == ONE


def _is_time_literal(node: Expression) -> bool:
    return isinstance(node, ex.Literal) and isinstance(node.value, datetime)


def _values(node: Expression) -> Iterator[Expression]:
    """The parts of an expression whose values can become its value."""
    yield node
    if isinstance(node, ex.Case):
        results = [then for _, then in node.branches] + ([node.default] if node.default else [])
        for result in results:
            yield from _values(result)
    elif not isinstance(node, ex.CONDITIONS):
        for child in node.children():
            yield from _values(child)


def _check_kept(type_: pa.DataType | None, made: Kind, *, fine: bool) -> None:
    """Refuse a column whose values cannot become values of this kind."""
    kind = Kind.OTHER if type_ is None else kind_of(type_)
    too_fine = not fine and made is Kind.TIMESTAMP and str(type_).startswith("timestamp[ns")
    exact = kind is Kind.DECIMAL and made is not Kind.FLOAT
    if kind in (Kind.INTERVAL, Kind.OTHER) or exact or type_ == pa.uint64() or too_fine:
        raise CannotUseSlots(f"values of the type {type_} are not kept as numbers")
